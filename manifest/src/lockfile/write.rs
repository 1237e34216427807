//! Writing lockfiles.

use std::fmt::Write as _;

use super::{DECISION_ORDER, LOCK_FORMAT, Lockfile};

/// What every lockfile begins with. The second line is what an older pkgres quotes when it meets
/// a format that it does not know.
pub(super) const HEADER: &str = "\
# Written by pkgres; `pkgres lock` keeps it in step with the manifest.
# Format 1, read by pkgres 0.1.0 and later.
";

pub(super) fn write(lock: &Lockfile) -> String {
    let mut text = String::from(HEADER);
    write_body(&mut text, lock).expect("writing to a string does not fail");
    text
}

fn write_body(text: &mut String, lock: &Lockfile) -> std::fmt::Result {
    writeln!(text, "lock: {LOCK_FORMAT}")?;
    writeln!(text, "order: {DECISION_ORDER}")?;
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
            writeln!(text, "      spec: \"{}\"", bound.spec.normal_form())?;
            writeln!(text, "      version: {}", bound.version)?;
        }
    }
    if !lock.overrides.is_empty() {
        writeln!(text, "overrides:")?;
    }
    for (package, spec) in &lock.overrides {
        writeln!(text, "- name: {package}")?;
        writeln!(text, "  spec: \"{}\"", spec.normal_form())?;
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
    for ((name, version), package) in &lock.packages {
        writeln!(text, "- name: {name}")?;
        writeln!(text, "  version: {version}")?;
        writeln!(text, "  source: {}", package.source)?;
        if let Some(digest) = &package.digest {
            writeln!(text, "  sha256: {digest}")?;
        }
        if !package.requires.is_empty() {
            writeln!(text, "  requires:")?;
        }
        for (required, version) in &package.requires {
            writeln!(text, "    {required}: {version}")?;
        }
    }
    writeln!(text, "complete: true")
}
