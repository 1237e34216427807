//! Notes about releases of registries that are not preferred.

use crate::program::{pkgres, write};

#[test]
fn what_the_preferred_registry_has_as_well_is_not_noted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let records = |versions: &[&str]| -> String {
        versions
            .iter()
            .map(|version| {
                format!(
                    "{{\"ecosystem\":\"ansible\",\"name\":\"a.b\",\"version\":\"{version}\"}}\n"
                )
            })
            .collect()
    };
    let registries = [
        "--registry",
        "one=index:one.nd",
        "--registry",
        "two=index:two.nd",
    ];
    let said = |command: &str| {
        let output = pkgres(
            folder,
            &[&[command, "requirements.yml"], &registries[..]].concat(),
        );
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    write(&folder.join("requirements.yml"), "collections: [a.b]\n");
    write(&folder.join("one.nd"), &records(&["1.0.0"]));
    write(&folder.join("two.nd"), &records(&["1.10.0", "1.9.0"]));
    let note = "in index:two.nd is not used: index:one.nd comes first";
    assert!(said("lock").contains(&format!("a.b 1.10.0 {note}")));

    // A document has the note as text has it.
    for command in [
        &["resolve", "requirements.yml"][..],
        &["tree", "requirements.yml"],
        &["update", "--manifest-path", "requirements.yml", "--dry-run"],
    ] {
        let output = pkgres(
            folder,
            &[command, &["--format", "json"], &registries].concat(),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command:?}: {error}: {said}"));
        let notes = document["notes"].to_string();
        let expected = format!("a.b 1.10.0 {note}");
        assert!(notes.contains(&expected), "{command:?}: {document}");
        assert!(!said.contains(note), "{command:?}: {said}");
    }

    // The lockfile is why 1.0.0 is chosen.
    write(&folder.join("one.nd"), &records(&["1.0.0", "1.10.0"]));
    let resolved = said("resolve");
    assert!(!resolved.contains("is not used"), "{resolved}");
}
