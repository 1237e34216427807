//! Folders with releases of other ecosystems.

// Fixtures are written without ceremony.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};

use pkgres_manifest::{ArtifactDigest, ClassName, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{Artifact, DirectoryRegistry, Registry as _};

const MOTOR: &str = "http://acme.example/Motor/";
const UA: &str = "http://opcfoundation.org/UA/";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/opcua/registry")
}

fn open(folder: &Path) -> DirectoryRegistry {
    let name = RegistryName::parse("models").expect("a name");
    DirectoryRegistry::open(name, folder, &ReadOptions::default()).expect("the folder is there")
}

fn versions(registry: &DirectoryRegistry, package: &str) -> Vec<String> {
    let name = PackageName::native(package).expect("a name");
    let mut found = registry.records(&[name]).expect("it can be read");
    let records = found.pop().flatten().unwrap_or_default();
    records
        .iter()
        .map(|record| record.version.to_string())
        .collect()
}

/// Copies files of the fixtures into a folder, by the paths that they get.
fn copy(folder: &Path, files: &[(&str, &str)]) {
    for (from, to) in files {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().expect("it has one")).expect("created");
        fs::copy(fixtures().join(from), to).expect("copied");
    }
}

#[test]
fn node_set_files_are_releases() {
    let registry = open(&fixtures());
    assert_eq!(
        versions(&registry, MOTOR),
        ["1.0@2021-05-01", "1.1@2023-05-01"]
    );
    assert_eq!(
        versions(&registry, UA),
        [
            "1.03.9@2022-03-29",
            "1.05.02@2022-11-01",
            "1.04.12@2024-02-15"
        ]
    );
    let names: Vec<&str> = registry.names().map(PackageName::as_str).collect();
    assert_eq!(names, [MOTOR, UA]);
    let class = ClassName::native("http://acme.example/Motor/;i=1001").expect("a name");
    let defining = registry.defining(&class).expect("it can be read");
    assert_eq!(defining, [PackageName::native(MOTOR).expect("a name")]);
    assert!(registry.defined_classes().contains(&class));
    assert_eq!(registry.take_findings(), []);
}

#[test]
fn an_artifact_is_the_file() {
    let registry = open(&fixtures());
    let file = fs::read(fixtures().join("Motor/Acme.Motor.NodeSet2.1.0.xml")).expect("it is there");
    let digest = ArtifactDigest::of_archive(&file);
    let artifact = registry.artifact(&digest).expect("it can be read");
    assert!(matches!(artifact, Some(Artifact::File(bytes)) if *bytes == *file));
}

#[test]
fn equal_files_are_one_release_and_different_ones_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let motor = "Motor/Acme.Motor.NodeSet2.1.0.xml";
    copy(
        folder.path(),
        &[
            (motor, "a.xml"),
            (motor, "b/a.xml"),
            ("Motor/Acme.Motor.NodeSet2.1.1.xml", "c.xml"),
        ],
    );
    let registry = open(folder.path());
    assert_eq!(
        versions(&registry, MOTOR),
        ["1.0@2021-05-01", "1.1@2023-05-01"]
    );
    assert_eq!(registry.take_findings(), []);

    let changed = folder.path().join("b/a.xml");
    let text = fs::read_to_string(&changed).expect("it is there");
    fs::write(&changed, text.replace("2019-11-20", "2019-11-21")).expect("written");
    let registry = open(folder.path());
    assert_eq!(versions(&registry, MOTOR), ["1.1@2023-05-01"]);
    let findings = registry.take_findings();
    assert_eq!(findings.len(), 1);
    let message = findings[0]
        .to_string()
        .replace(&*folder.path().to_string_lossy(), "FOLDER");
    assert_eq!(
        message,
        "warning[PK0041]: http://acme.example/Motor/ 1.0@2021-05-01 has two contents, so it is not used: \
         FOLDER/a.xml and FOLDER/b/a.xml; hint: remove the one that is not the release"
    );
    // Whoever finds no version learns why.
    let name = PackageName::native(MOTOR).expect("a name");
    let sentences = registry.unreadable(&name);
    assert_eq!(sentences.len(), 1);
    assert!(sentences[0].contains("has two contents"), "{sentences:?}");
}

#[test]
fn a_broken_file_hides_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let motor = "Motor/Acme.Motor.NodeSet2.1.0.xml";
    copy(
        folder.path(),
        &[(motor, "a.xml"), (motor, "Opc.Ua.NodeSet2.Services.xml")],
    );
    fs::write(folder.path().join("other.xml"), "<project/>").expect("written");
    let broken = "<UANodeSet xmlns='http://opcfoundation.org/UA/2011/03/UANodeSet.xsd'><Models>";
    fs::write(folder.path().join("broken.xml"), broken).expect("written");
    let registry = open(folder.path());
    assert_eq!(versions(&registry, MOTOR), ["1.0@2021-05-01"]);
    let findings = registry.take_findings();
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].to_string().contains("broken.xml:1:"),
        "{}",
        findings[0]
    );
}

/// Such files are usually there beside the whole model, which is enough.
#[test]
fn a_package_that_only_a_file_called_like_a_piece_has_is_said_to_be_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let motor = "Motor/Acme.Motor.NodeSet2.1.0.xml";
    copy(folder.path(), &[(motor, "Motor-old.xml")]);
    let name = PackageName::native(MOTOR).expect("a name");
    let registry = open(folder.path());
    assert_eq!(versions(&registry, MOTOR), [""; 0]);
    let sentences = registry.unreadable(&name);
    let [sentence] = sentences.as_slice() else {
        panic!("{sentences:?}");
    };
    assert!(
        sentence.contains("Motor-old.xml has the package `http://acme.example/Motor/`, but"),
        "{sentence}"
    );
    // Another name is not in the file.
    let other = PackageName::native("http://acme.example/Pump/").expect("a name");
    assert_eq!(registry.unreadable(&other), [""; 0]);

    copy(folder.path(), &[(motor, "Motor.xml")]);
    let registry = open(folder.path());
    assert_eq!(versions(&registry, MOTOR), ["1.0@2021-05-01"]);
    assert_eq!(registry.unreadable(&name), [""; 0]);
}

#[test]
fn releases_of_one_ecosystem_can_be_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let motor = "Motor/Acme.Motor.NodeSet2.1.0.xml";
    // The folder of a class package, which has no other releases, and a manifest of something else.
    copy(folder.path(), &[(motor, "web/a.xml")]);
    fs::write(folder.path().join("web/manifest.yaml"), "kind: Service").expect("written");
    let open = |ecosystem| {
        let mut options = ReadOptions::default();
        options.ecosystem = ecosystem;
        let name = RegistryName::parse("models").expect("a name");
        DirectoryRegistry::open(name, folder.path(), &options).expect("the folder is there")
    };
    let all = open(None);
    assert!(versions(&all, MOTOR).is_empty());
    assert_eq!(all.take_findings().len(), 1);
    let models = open(Some("opcua"));
    assert_eq!(versions(&models, MOTOR), ["1.0@2021-05-01"]);
    assert_eq!(models.take_findings(), []);
}
