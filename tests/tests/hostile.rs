//! Hostile inputs: each is rejected, and the valid controls among them are accepted.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use pkgres_checks::{Defines, RequiredPackages, check_package};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::{
    Archive, ClassName, Package, PackageManifest, PackageName, ReadOptions, Spec, Version,
};
use pkgres_registry_client::PackageFolder;
use pkgres_tests::shared;
use serde_json::Value;

/// The core library that the inputs refer to.
struct Core;

impl RequiredPackages for Core {
    fn defines(&self, package: &PackageName, _: &Spec, class: &ClassName) -> Defines {
        let known = ["io.murano.Object", "io.murano.Application"];
        if package.as_str() == "io.murano" && known.contains(&class.as_str()) {
            Defines::Yes
        } else {
            Defines::No
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        None
    }
}

fn is_accepted(kind: &str, path: &Path, bytes: Option<Vec<u8>>) -> bool {
    let options = ReadOptions::default();
    let limits = &options.limits;
    match kind {
        "zip" => read_file(path, limits.archive_bytes, Follow::Links)
            .ok()
            .and_then(|bytes| Archive::open("case", bytes, limits).ok())
            .is_some_and(|archive| {
                Package::from_archive("case", &archive, &options)
                    .into_result()
                    .is_ok()
            }),
        "manifest" => bytes
            .or_else(|| read_file(path, limits.manifest_bytes, Follow::Links).ok())
            .is_some_and(|bytes| {
                PackageManifest::read("case", &bytes, &options)
                    .into_result()
                    .is_ok()
            }),
        "class" => PackageFolder::open(path, &options).is_ok_and(|folder| {
            folder
                .package(&options)
                .into_result()
                .is_ok_and(|(package, _)| {
                    let core = PackageName::default_core_library();
                    let findings = check_package(&package, Some(&core), &Core);
                    !findings
                        .iter()
                        .any(pkgres_manifest::diagnostic::Diagnostic::is_error)
                })
        }),
        other => panic!("an unknown kind: {other}"),
    }
}

#[test]
fn hostile_inputs_are_rejected_and_controls_accepted() {
    let Some(script) = shared::path("security/make_bad_inputs.py") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = Command::new("python3")
        .arg(&script)
        .arg(folder.path().join("cases"))
        .output()
        .expect("python3 makes the cases");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let folder = folder.path().join("cases");
    let index = std::fs::read(folder.join("index.json")).expect("an index");
    let cases: Vec<Value> = serde_json::from_slice(&index).expect("the index is JSON");
    let mut wrong = Vec::new();
    let mut deviations = BTreeSet::new();
    let mut count = 0;
    for case in &cases {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        if text("kind") == "lock" {
            // The lockfiles of the shared data have a different format.
            continue;
        }
        count += 1;
        let path = folder.join(text("path"));
        let bytes = (text("encoding") == "gzip").then(|| {
            let mut bytes = Vec::new();
            let packed = std::fs::read(&path).expect("the case is there");
            flate2::read::GzDecoder::new(packed.as_slice())
                .read_to_end(&mut bytes)
                .expect("the case unpacks");
            bytes
        });
        let accepted = is_accepted(text("kind"), &path, bytes);
        if accepted == (text("expect") == "accept") {
            continue;
        }
        if shared::ACCEPTED
            .iter()
            .any(|(path, _)| *path == text("path"))
        {
            deviations.insert(text("path").to_owned());
        } else {
            wrong.push(format!(
                "{} ({}): {}",
                text("path"),
                text("rule"),
                text("why")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}: {wrong:#?}", wrong.len());
    let expected: BTreeSet<String> = shared::ACCEPTED
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .collect();
    assert_eq!(deviations, expected);
}
