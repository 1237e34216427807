//! Checks of a file by itself: a manifest, class file, interface file, validation file or resources file.

use std::path::{Path, PathBuf};

use pkgres_checks::{check_classes, check_interface, check_manifest, check_validation};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Parsed};
use pkgres_manifest::{
    ClassName, LOCK_FILE, PackageManifest, Script, read_class_file, read_interface_file,
    read_validation_file,
};

use crate::commands::deployment::check_resources_file;
use crate::context::Context;
use crate::invocation::quoted;
use crate::read_manifest::folder_of;

/// Keys that only class files have.
const CLASS_KEYS: [&str; 5] = [
    "Namespaces:",
    "Extends:",
    "Properties:",
    "Methods:",
    "Workflow:",
];

/// Keys that only manifests have.
const MANIFEST_KEYS: [&str; 6] = [
    "FullName:",
    "Type:",
    "Version:",
    "Format:",
    "Require:",
    "Classes:",
];

/// The class or interface that a file is for, by its name: it may have no name in it, and the manifest that has it is not
/// at hand.
fn requested_by_name(file: &Path) -> Option<ClassName> {
    let stem = file.file_stem().and_then(|stem| stem.to_str())?;
    ClassName::parse(stem).ok()
}

/// Checks a single manifest, class file, interface file, validation file or resources file. A validation has
/// validators, an interface has functions, and a resources file has resources of a package. It is a class file if it has
/// keys that only class files have, or the key `Name` and none that only manifests have.
pub(super) fn check_file(file: &Path, context: &Context) -> Vec<Diagnostic> {
    let options = &context.read_options;
    let limit = options
        .limits
        .manifest_bytes
        .max(options.limits.class_file_bytes);
    let bytes = match read_file(file, limit, Follow::Links) {
        Ok(bytes) => bytes,
        Err(error) => return vec![error.to_diagnostic()],
    };
    let shown = file.to_string_lossy();
    // Only their keys distinguish the two kinds of files.
    let has_line = |keys: &[&str]| {
        bytes
            .split(|byte| *byte == b'\n')
            .any(|line| keys.iter().any(|key| line.starts_with(key.as_bytes())))
    };
    if has_line(&["validators:"]) && !has_line(&["FullName:"]) {
        let folder = folder_of(file);
        let has_script = |script: &Script| folder.join(script.path.value.as_str()).is_file();
        let read = read_validation_file(&shown, &bytes, options);
        return with_checks(read, |validation| check_validation(&validation, has_script));
    }
    if has_line(&["Functions:"]) && !has_line(&["FullName:"]) {
        let read = read_interface_file(&shown, &bytes, requested_by_name(file).as_ref(), options);
        return with_checks(read, |interface| check_interface(&interface));
    }
    if has_line(&["Package:"]) && !has_line(&["FullName:"]) {
        return check_resources_file(&shown, &bytes, options);
    }
    let is_class_file = if has_line(&CLASS_KEYS) {
        !has_line(&["FullName:"])
    } else {
        has_line(&["Name:"]) && !has_line(&MANIFEST_KEYS)
    };
    if is_class_file {
        let named = requested_by_name(file);
        let requested: Vec<&ClassName> = named.iter().collect();
        let read = read_class_file(&shown, &bytes, &requested, options);
        return with_checks(read, |classes| check_classes(&classes));
    }
    if let Some(finding) = lockfile_or_index(file, &bytes) {
        return vec![finding];
    }
    if is_object_model(&bytes) && !has_line(&MANIFEST_KEYS) {
        let message = format!(
            "{} is an object model, and not a file of a package",
            Escaped::new(&shown)
        );
        let words = format!("pin --check {}", quoted(file));
        let command = context.invocation.command_for_none(&words);
        let hint = format!("`{command}` checks an object model and its pins");
        return vec![Diagnostic::error(Code::PackageShape, message).hint(hint)];
    }
    // All files of a package are mappings.
    if has_line(&["- "]) && !has_line(&MANIFEST_KEYS) {
        let message = format!(
            "{} has a list, like a playbook or the tasks of a role, and is not a file of a package",
            Escaped::new(&shown)
        );
        let hint = match requirements_around(file) {
            Some(path) => format!(
                "`pkgres check {}` checks the playbooks and roles around that file",
                quoted(&path)
            ),
            None => "playbooks and roles are checked with the requirements.yml of their project"
                .to_owned(),
        };
        return vec![Diagnostic::error(Code::PackageShape, message).hint(hint)];
    }
    let read = PackageManifest::read(&shown, &bytes, options);
    with_checks(read, |manifest| check_manifest(&manifest))
}

/// The finding about a lockfile or index file, which other commands read.
fn lockfile_or_index(file: &Path, bytes: &[u8]) -> Option<Diagnostic> {
    let is_index = || {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let record: Option<serde_json::Value> = serde_json::from_slice(line).ok();
        record.is_some_and(|record| record["name"].is_string() && record["version"].is_string())
    };
    let (what, hint) = if file.file_name() == Some(LOCK_FILE.as_ref()) {
        let folder = quoted(&folder_of(file));
        (
            "a lockfile",
            format!("`pkgres lock --check {folder}` checks a lockfile"),
        )
    } else if is_index() {
        let registry = format!("index:{}", quoted(file));
        (
            "an index file",
            format!("commands that look for packages take it as the registry `{registry}`"),
        )
    } else {
        return None;
    };
    let message = format!(
        "{} is {what}, and not a file of a package",
        Escaped::path(&file)
    );
    Some(Diagnostic::error(Code::PackageShape, message).hint(hint))
}

/// Whether a file has an object model: an object with a header `?`, a list of such objects, or the key `Objects` of an
/// environment.
fn is_object_model(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_json = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with(['{', '[']);
    let mut lines = text.lines();
    if is_json {
        let without_space: String = text.split_whitespace().collect();
        return without_space.contains("\"?\":{") || without_space.starts_with("{\"Objects\":");
    }
    lines.any(|line| {
        ["?:", "'?':", "\"?\":", "Objects:"]
            .iter()
            .any(|key| line.trim_start_matches("- ").starts_with(key))
    })
}

/// The nearest `requirements.yml` of a project of Ansible around a playbook or role.
fn requirements_around(file: &Path) -> Option<PathBuf> {
    let folder = folder_of(file);
    let mut paths = folder.ancestors().flat_map(|folder| {
        ["requirements.yml", "collections/requirements.yml"].map(|path| folder.join(path))
    });
    paths.find(|path| path.is_file())
}

/// The findings of a reader, and those of the checks on what it read.
fn with_checks<T>(read: Parsed<T>, check: impl FnOnce(T) -> Vec<Diagnostic>) -> Vec<Diagnostic> {
    match read.into_result() {
        Ok((value, mut findings)) => {
            findings.extend(check(value));
            findings
        }
        Err(errors) => errors,
    }
}
