//! Checks at the root of a repository whose projects, of every ecosystem, are in subfolders.

use std::path::Path;

use pkgres_files::{RealFileSystem, make_folder};

use super::program::{pkgres, write};

const COLLECTIONS: &str = r#"{"ecosystem":"ansible","name":"a.b","version":"1.0.0","classes":{}}
{"ecosystem":"ansible","name":"a.b","version":"2.0.0","classes":{}}
"#;

fn model(required: &str) -> String {
    format!(
        r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>http://acme.example/Pump/</Uri></NamespaceUris>
<Models><Model ModelUri="http://acme.example/Pump/" Version="1.0" PublicationDate="2024-01-01T00:00:00Z">
<RequiredModel ModelUri="http://acme.example/Motor/" Version="1.0" PublicationDate="{required}T00:00:00Z"/>
</Model></Models></UANodeSet>
"#
    )
}

const MOTORS: &str = r#"{"ecosystem":"opcua","name":"http://acme.example/Motor/","version":"1.0@2023-01-01","classes":{}}
{"ecosystem":"opcua","name":"http://acme.example/Motor/","version":"1.1@2023-06-01","classes":{}}
"#;

/// The projects: folder, root, its content, content that makes the lockfile stale, content that `check` rejects.
fn projects() -> [(&'static str, &'static str, String, String, String); 4] {
    let package =
        |rest: &str| format!("FullName: org.example.Web\nType: Library\nVersion: 1.0.0\n{rest}\n");
    let collection = |range: &str| {
        format!(
            "namespace: acme\nname: web\nversion: 1.0.0\nreadme: README.md\nauthors: [A]\ndependencies: {{a.b: '{range}'}}\n"
        )
    };
    let requirements = |range: &str| format!("collections: [{{name: a.b, version: '{range}'}}]\n");
    [
        (
            "packages/web",
            "manifest.yaml",
            package(""),
            package("Require: {org.example.Db: 1}"),
            package("Classes: {org.example.Web: Gone.yaml}"),
        ),
        (
            "site/collections",
            "requirements.yml",
            requirements(">=1.0.0"),
            requirements("<2.0.0"),
            requirements(">=1.0.0,nonsense"),
        ),
        (
            "collections/web",
            "galaxy.yml",
            collection(">=1.0.0"),
            collection("<2.0.0"),
            collection(">=1.0.0,nonsense"),
        ),
        (
            "models/pump",
            "Pump.NodeSet2.xml",
            model("2023-06-01"),
            model("2024-01-01"),
            model("20"),
        ),
    ]
}

fn repository(folder: &Path) {
    write(
        &folder.join("pkgres.toml"),
        "registries = [\"index:collections.ndjson\", \"index:motors.ndjson\"]\nno-core-library = true\n",
    );
    write(&folder.join("collections.ndjson"), COLLECTIONS);
    write(&folder.join("motors.ndjson"), MOTORS);
    for (place, root, right, ..) in projects() {
        let place = folder.join(place);
        make_folder(&RealFileSystem, &place).expect("a temporary folder can be written");
        write(&place.join(root), &right);
    }
    write(&folder.join("collections/web/README.md"), "Web\n");
    // An installed release is nobody's project, and neither is what it contains.
    let installed = folder.join("installed/ansible_collections/a/b/tests");
    make_folder(&RealFileSystem, &installed).expect("a temporary folder can be written");
    write(
        &installed.join("requirements.yml"),
        "collections: [no.no]\n",
    );
    write(
        &installed.with_file_name("MANIFEST.json"),
        "{\"collection_info\": {\"namespace\": \"a\", \"name\": \"b\", \"version\": \"1.0.0\"}}",
    );
}

#[test]
fn projects_of_every_ecosystem_are_checked_from_the_root() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    repository(folder);
    for (place, root, ..) in projects() {
        let output = pkgres(folder, &["lock", &format!("{place}/{root}")]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{place}: {said}");
    }
    let run = |arguments: &[&str]| {
        let output = pkgres(folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = run(&["lock", "--check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Checked 4 projects"), "{said}");
    let (code, said) = run(&["check"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Checked 4 inputs: 0 errors"), "{said}");

    for (place, root, right, stale, wrong) in projects() {
        let path = folder.join(place).join(root);
        write(&path, &stale);
        let (code, said) = run(&["lock", "--check"]);
        assert_ne!(code, Some(0), "{place}: {said}");
        assert!(said.contains("of which 1 failed"), "{place}: {said}");
        assert!(said.contains(place), "{place}: {said}");
        write(&path, &wrong);
        let (code, said) = run(&["check"]);
        assert_ne!(code, Some(0), "{place}: {said}");
        assert!(said.contains(&format!("{place}/{root}")), "{place}: {said}");
        write(&path, &right);
    }
}

/// A root in the folder itself does not hide what is below it.
#[test]
fn a_root_at_the_top_is_one_of_several() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    repository(folder);
    write(&folder.join("requirements.yml"), "collections: [a.b]\n");
    let output = pkgres(folder, &["check"]);
    let said = String::from_utf8_lossy(&output.stderr);
    // The model is checked as well, whether or not it has a lockfile.
    assert!(said.contains("Checked 5 inputs: 0 errors"), "{said}");
    let lock = pkgres(folder, &["lock", "requirements.yml", "packages/web"]);
    assert!(lock.status.success());
    let output = pkgres(folder, &["lock", "--check"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Checked 2 projects"), "{said}");
}
