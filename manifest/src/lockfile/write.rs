//! Writes lockfiles.

use std::fmt::Write as _;

use super::{DECISION_ORDER, LOCK_FORMAT, LockedImplementation, Lockfile};
use crate::index_record::CLASS_PACKAGES;
use crate::name::PackageName;
use crate::release::Release;
use crate::spec::Spec;
use crate::version::Version;

/// The first lines of every lockfile. An older pkgres that does not know the format quotes the second one.
pub(super) const HEADER: &str = "\
# Written by pkgres; `pkgres lock` keeps it in step with the manifest.
# Format 1, read by pkgres 0.1.0 and later.
";

pub(super) fn write(lock: &Lockfile) -> String {
    let mut text = String::with_capacity(usual_length(lock));
    text.push_str(HEADER);
    write_body(&mut text, lock).expect("writing to a string does not fail");
    text
}

fn write_body(text: &mut String, lock: &Lockfile) -> std::fmt::Result {
    writeln!(text, "lock: {LOCK_FORMAT}")?;
    writeln!(text, "order: {DECISION_ORDER}")?;
    if lock.ecosystem != CLASS_PACKAGES {
        writeln!(text, "ecosystem: {}", lock.ecosystem.id())?;
    }
    if !lock.roots.is_empty() {
        writeln!(text, "roots:")?;
    }
    for (root, requirements) in &lock.roots {
        writeln!(text, "- name: {root}")?;
        if !requirements.is_empty() {
            writeln!(text, "  requires:")?;
        }
        for (package, bound) in requirements {
            writeln!(text, "    {package}:")?;
            push_spec(text, "      spec: ", &bound.spec);
            text.push_str("      version: ");
            push_version(text, &bound.version);
        }
    }
    if !lock.overrides.is_empty() {
        writeln!(text, "overrides:")?;
    }
    for (package, spec) in &lock.overrides {
        writeln!(text, "- name: {package}")?;
        push_spec(text, "  spec: ", spec);
    }
    if !lock.side_by_side.is_empty() {
        writeln!(text, "side_by_side:")?;
    }
    for name in &lock.side_by_side {
        writeln!(text, "- {name}")?;
    }
    if !lock.packages.is_empty() {
        writeln!(text, "packages:")?;
    }
    for (Release { name, version }, package) in &lock.packages {
        // These lines are nearly all of the file, so they are written without formatting machinery.
        push_all(text, &["- name: ", name.as_str(), "\n  version: "]);
        push_version(text, version);
        if version.native_text().is_some() {
            writeln!(text, "  order: {}", version.in_order())?;
        }
        push_all(text, &["  source: ", package.source.as_str(), "\n"]);
        if let Some(digest) = &package.digest {
            writeln!(text, "  sha256: {digest}")?;
        }
        if !package.requires.is_empty() {
            text.push_str("  requires:\n");
        }
        for (required, version) in package.requires.iter() {
            push_all(text, &["    ", required.as_str(), ": "]);
            push_version(text, version);
        }
    }
    if !lock.capabilities.is_empty() {
        writeln!(text, "capabilities:")?;
    }
    for (implementation, conformance) in &lock.capabilities {
        let LockedImplementation {
            class,
            package,
            version,
            interface,
        } = implementation;
        writeln!(text, "- class: {class}\n  release: {package} {version}")?;
        writeln!(text, "  interface: {interface}")?;
        if let Some(Release {
            name: package,
            version,
        }) = &conformance.defined_by
        {
            writeln!(text, "  defined_by: {package} {version}")?;
        }
        let functions = &conformance.functions;
        if !functions.is_empty() {
            writeln!(text, "  functions:")?;
        }
        for (function, capability) in functions {
            push_all(text, &["    ", function, ": "]);
            push_quoted(text, &capability.to_string());
            text.push('\n');
        }
    }
    writeln!(text, "complete: true")
}

/// Appends a version and ends the line. A native version is in quotes, because it can begin with any character.
fn push_version(text: &mut String, version: &Version) {
    match version.native_text() {
        None => version.push_to(text),
        Some(native) => push_quoted(text, native),
    }
    text.push('\n');
}

/// Appends a key with a spec in quotes, and ends the line.
fn push_spec(text: &mut String, key: &str, spec: &Spec) {
    text.push_str(key);
    push_quoted(text, &spec.normal_form());
    text.push('\n');
}

fn push_quoted(text: &mut String, content: &str) {
    text.push('"');
    for character in content.chars() {
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
}

fn push_all(text: &mut String, parts: &[&str]) {
    for part in parts {
        text.push_str(part);
    }
}

/// The length of the text, unless versions or specs are long. It is generous: unused capacity costs nothing,
/// whereas a string that grows is copied.
fn usual_length(lock: &Lockfile) -> usize {
    const AROUND_PACKAGE: usize = 160;
    const AROUND_REQUIREMENT: usize = 24;
    const AROUND_ROOT_REQUIREMENT: usize = 96;
    let bound = |name: &PackageName| name.as_str().len() + AROUND_REQUIREMENT;
    let packages = lock.packages.iter().map(|(Release { name, .. }, package)| {
        let requires: usize = package.requires.packages().map(bound).sum();
        name.as_str().len() + AROUND_PACKAGE + requires
    });
    let roots = lock.roots.values().flat_map(|requires| requires.keys());
    let roots = roots.map(|name| name.as_str().len() + AROUND_ROOT_REQUIREMENT);
    HEADER.len() + AROUND_PACKAGE + packages.sum::<usize>() + roots.sum::<usize>()
}
