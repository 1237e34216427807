//! Notes about releases of registries that are not preferred.

use crate::program::{check_hints, command, pkgres, write};

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

/// A binding protects an internal name whatever registries a run uses: a registry that anybody can publish to must not
/// take the place of the one that is left out.
#[test]
fn a_bound_name_is_not_looked_up_elsewhere_if_its_registry_is_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let bound = "{\"name\":\"org.acme.Db\",\"version\":\"1.1.0\"}\n";
    write(&folder.join("acme"), bound);
    let public = "{\"name\":\"pub.Kit\",\"version\":\"1.0.0\",\"require\":[[\"org.acme.Db\",\"1\"]]}\n\
                  {\"name\":\"org.acme.Db\",\"version\":\"1.9.0\"}\n";
    write(&folder.join("pub"), public);
    write(
        &folder.join("pkgres.toml"),
        "no-core-library = true\n[registries.acme]\nlocation = \"index:acme\"\nnamespaces = [\"org.acme.*\"]\n\
         [registries.public]\nlocation = \"index:pub\"\n",
    );
    write(
        &folder.join("app/manifest.yaml"),
        "Type: Library\nFullName: t.App\nVersion: 1.0.0\nRequire:\n  pub.Kit: 1\n",
    );
    write(
        &folder.join("free/manifest.yaml"),
        "Type: Library\nFullName: t.Free\nVersion: 1.0.0\n",
    );
    let run = |app: &str, registries: &[&str], variable: Option<&str>| {
        let options = registries.iter().flat_map(|one| ["--registry", one]);
        let words: Vec<&str> = ["tree", app].into_iter().chain(options).collect();
        let mut command = command(folder, &words);
        if let Some(variable) = variable {
            command.env("PKGRES_REGISTRY", variable);
        }
        let output = command.output().expect("the program starts");
        check_hints(&output);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is text");
        (
            output.status.code(),
            text(output.stdout) + &text(output.stderr),
        )
    };
    for (registries, variable) in [
        (&["public"][..], None),
        (&["index:pub"], None),
        (&[], Some("index:pub")),
        (&[], Some("public=index:pub")),
    ] {
        let (code, said) = run("app", registries, variable);
        assert_eq!(code, Some(2), "{said}");
        for part in [
            "`org.acme.Db` is bound to the registry `acme`, which is not among the registries of this run",
            "`namespaces` of `registries.acme` has `org.acme.*`",
        ] {
            assert!(said.contains(part), "{registries:?} {variable:?}: {said}");
        }
        // Other names need no registry that is left out.
        let (code, said) = run("free", registries, variable);
        assert_eq!(code, Some(0), "{said}");
    }
    // A name that was made for a registry without one is not that of the settings.
    let settings = folder.join("pkgres.toml");
    let text = std::fs::read_to_string(&settings).expect("it is there");
    write(
        &settings,
        &text.replace("registries.acme", "registries.default"),
    );
    let (code, said) = run("app", &["index:pub"], None);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("binds names to the registry `default`"),
        "{said}"
    );
    let (code, said) = run("app", &["public=index:pub", "index:acme"], None);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("org.acme.Db 1.1.0"), "{said}");
    write(&settings, &text);
    // The registry is recognized by its name or its location.
    for (registries, variable) in [
        (&["public", "acme"][..], None),
        (&["public", "acme=index:acme"], None),
        (&["public=index:pub", "index:acme"], None),
        (&[], Some("public=index:pub,acme=index:acme")),
    ] {
        let (code, said) = run("app", registries, variable);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("org.acme.Db 1.1.0"), "{said}");
    }
}
