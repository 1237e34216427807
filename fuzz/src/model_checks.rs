//! Checks of object models: whatever contracts and values are, the findings can be shown.

use std::sync::Arc;

use pkgres_checks::{
    BoundPackage, BoundPackages, check_model, check_pinned, check_previous_versions,
};
use pkgres_manifest::diagnostic::{Escaped, SourceText, capped};
use pkgres_manifest::{
    Limits, ObjectModel, Package, PackageManifest, PackageName, ReadOptions, Release, Version,
};

use crate::property::{are_safe, checked, is_safe_line};
use crate::seeds::texts;
use crate::target::Target;

/// The line between a class file and a model.
const SEPARATOR: &str = "\n=====\n";

/// The fuzz targets of model checks.
pub(crate) const TARGETS: &[Target] = &[Target {
    name: "model_check",
    run: model_check,
    seeds: || {
        let seeds = [(CLASSES, MODEL), (REDECLARED, OTHER_MODEL)];
        let seeds = seeds.map(|(classes, model)| format!("{classes}{SEPARATOR}{model}"));
        texts(&[&seeds[0], &seeds[1]])
    },
    words: &[
        "$.class(a.B)",
        "$.class(a.C, null, '>=1')",
        "$.template(a.C)",
        "$.int().notNull()",
        "$.string()",
        "$.bool()",
        ".check($ > 0)",
        ".owned()",
        ".notOwned()",
        "[$, 1, 2]",
        "{k: $}",
        "{$.string(): $.int()}",
        "Default: x",
        "Usage: Out",
        "\"?\": ",
        "null",
        "\\u202e",
        "-1.5e300",
        "true",
    ],
    quick: 4_000,
}];

const CLASSES: &str = "\
Name: a.B
Properties:
  one: {Contract: $.class(a.C).notNull()}
  many: {Contract: [$.class(a.C, null, '1').owned(), 1, 3], Default: []}
  map: {Contract: {$.string().notNull(): $.int()}}
  fixed: {Contract: {k: $.bool(), $.string(): $.template(a.C)}, Usage: In}
  size: {Contract: $.int().check($ > 0), Default: 1}
  out: {Contract: $.string(), Usage: Out}
---
Name: a.C
Extends: a.D
Properties:
  name: {Contract: $.string().notNull()}
---
Name: a.D
Properties:
  name: {Contract: $.string().check($ != '')}
  back: {Contract: $.class(a.B).notOwned()}
";

const MODEL: &str = r#"{"?": {"id": "b", "type": "a.B", "package": "a", "version": "1.0.0"},
"one": {"?": {"id": "c", "type": "a.C", "package": "a", "version": "1.0.0"}, "name": "x", "back": "b"},
"many": ["c", {"name": 1}], "map": {"x": 1, "y": "z"}, "fixed": {"k": true, "t": {"name": null}}, "size": -1}
"#;

const REDECLARED: &str = "\
Name: a.B
Extends: [a.C, a.D]
Properties: {p: {Contract: [[$.int()]]}}
---
Name: a.C
Properties: {p: {Contract: $.string()}}
---
Name: a.D
Properties: {p: {Contract: {k: [$.class(a.B), 2]}}}
";

const OTHER_MODEL: &str = "\
Objects:
- '?': {id: x, type: a.B/1.0.0@a}
  p: [[1, 'a', x], {k: [x]}]
SystemData: {Packages: {a: 1.0.0}}
";

/// Each finding is safe to show, there is a limit of them, and a second check has the same.
fn model_check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let Some((classes, model)) = text.split_once(SEPARATOR) else {
        return;
    };
    let limits = Limits::default();
    let Some(model) = checked(ObjectModel::read("model", model.as_bytes(), &limits)) else {
        return;
    };
    let options = ReadOptions::default();
    let manifest = SourceText::new("manifest.yaml", MANIFEST);
    let manifest = checked(PackageManifest::parse(&manifest, &options)).expect("a manifest");
    let package = Package::assemble(manifest, &options, |_| Some(classes.as_bytes().to_vec()));
    let Some(package) = checked(package) else {
        return;
    };
    let name = PackageName::parse("a").expect("a name");
    let release = BoundPackage {
        package: Some(Arc::new(package)),
        requires: Vec::new(),
    };
    let root = Release::new(name, Version::new(1, 0, 0));
    let mut packages = BoundPackages::default();
    packages.releases.insert(root, release);
    let report = check_model(&model, &packages);
    are_safe(&report.findings);
    for finding in capped(report.findings.clone()) {
        // All that is printed, with the lines that it is about.
        finding.to_string().lines().for_each(is_safe_line);
    }
    for written in &report.not_checked {
        is_safe_line(&Escaped::shortened(written).to_string());
    }
    let again = check_model(&model, &packages);
    assert_eq!(again.findings, report.findings);
    assert_eq!(again.not_checked, report.not_checked);
    are_safe(&check_pinned(&model));
    are_safe(&check_previous_versions(&model, model.previous_versions()));
}

/// A package in which one file has all classes.
const MANIFEST: &str = "\
FullName: a
Type: Library
Version: 1.0.0
Classes: {a.B: B.yaml, a.C: B.yaml, a.D: B.yaml}
";
