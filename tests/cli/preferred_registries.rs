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
    let said = |command: &str| {
        let registries = [
            "--registry",
            "one=index:one.nd",
            "--registry",
            "two=index:two.nd",
        ];
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

    // The lockfile is why 1.0.0 is chosen.
    write(&folder.join("one.nd"), &records(&["1.0.0", "1.10.0"]));
    let resolved = said("resolve");
    assert!(!resolved.contains("is not used"), "{resolved}");
}
