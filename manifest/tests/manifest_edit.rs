//! Edits of manifests: everything else stays byte for byte.

use pkgres_manifest::{PackageManifest, PackageName, ReadOptions, RequirementEdit, Spec};

const HEAD: &str = "FullName: Web # the name\nType: Application\n";

fn set(name: &str, spec: &str) -> RequirementEdit {
    let name = PackageName::parse(name).expect("a name");
    RequirementEdit::Set(name, Spec::parse(spec).expect("a spec"))
}

fn remove(name: &str) -> RequirementEdit {
    RequirementEdit::Remove(PackageName::parse(name).expect("a name"))
}

fn edited(text: &str, edits: &[RequirementEdit]) -> Result<String, String> {
    let options = ReadOptions::default();
    let read = PackageManifest::read("manifest.yaml", text.as_bytes(), &options);
    let (manifest, _) = read.into_result().expect("the test writes a manifest");
    manifest
        .with_requirements(edits, &options)
        .map_err(|error| format!("{} {:?}", error.message, error.hints))
}

/// The rest of a manifest.
fn rest(text: &str, edits: &[RequirementEdit]) -> String {
    let edited = edited(&format!("{HEAD}{text}"), edits).expect("it can be edited");
    let rest = edited.strip_prefix(HEAD);
    rest.expect("the beginning stays").to_owned()
}

#[test]
fn requirements_are_added() {
    for (before, after) in [
        ("", "Require:\n  Db: \"1\"\n"),
        ("# end", "# end\nRequire:\n  Db: \"1\"\n"),
        ("Require:\n", "Require:\n  Db: \"1\"\n"),
        (
            "Require: # none yet\n",
            "Require: # none yet\n  Db: \"1\"\n",
        ),
        ("Require: ~\nName: W\n", "Require: \n  Db: \"1\"\nName: W\n"),
        ("Require: {}\n", "Require: {Db: \"1\"}\n"),
        (
            "Require: { A: 1 } # x\n",
            "Require: { A: 1, Db: \"1\" } # x\n",
        ),
        (
            "Require:\n    A: '1' # a\n    # between\n    Z: '2' # z\nName: W\n",
            "Require:\n    A: '1' # a\n    # between\n    Db: '1'\n    Z: '2' # z\nName: W\n",
        ),
        (
            "Require:\n  Z: 2\n  A: \"1\" # a\n\n# about the name\nName: W\n",
            "Require:\n  Z: 2\n  A: \"1\" # a\n  Db: \"1\"\n\n# about the name\nName: W\n",
        ),
        ("Require:\n  Z:", "Require:\n  Z:\n  Db: \"1\"\n"),
        (
            "Require:\n  A: \"1\"\n...\n",
            "Require:\n  A: \"1\"\n  Db: \"1\"\n...\n",
        ),
        (
            "Tags: [a]\n...\n",
            "Tags: [a]\nRequire:\n  Db: \"1\"\n...\n",
        ),
        (
            "Description: |\n  two\n  lines\n",
            "Description: |\n  two\n  lines\nRequire:\n  Db: \"1\"\n",
        ),
    ] {
        assert_eq!(rest(before, &[set("Db", "1")]), after, "{before}");
    }
}

#[test]
fn specs_are_replaced() {
    for (before, after) in [
        (
            "Require:\n  Db: 1 # one\n",
            "Require:\n  Db: \">=2,<3\" # one\n",
        ),
        ("Require:\n  Db: '1'\n", "Require:\n  Db: '>=2,<3'\n"),
        (
            "Require:\n  Db:\n  X: 1\n",
            "Require:\n  Db: \">=2,<3\"\n  X: 1\n",
        ),
        (
            "Require: {Db: 1, X: 2}\n",
            "Require: {Db: \">=2,<3\", X: 2}\n",
        ),
    ] {
        assert_eq!(rest(before, &[set("Db", ">=2,<3")]), after, "{before}");
    }
}

#[test]
fn requirements_are_removed() {
    for (before, after) in [
        ("Require:\n  Db: 1 # one\nName: W\n", "Name: W\n"),
        (
            "Require:\n  A: 1\n  # about Db\n  Db: 1 # one\n  # end\n  X: 1\n",
            "Require:\n  A: 1\n  # about Db\n  # end\n  X: 1\n",
        ),
        ("Require: {Db: 1, X: 2}\n", "Require: {X: 2}\n"),
        ("Require: {X: 2, Db: 1}\n", "Require: {X: 2}\n"),
        ("Require: {Db: 1}\n", "Require: {}\n"),
        ("Require:\n  A: 1\n  Db:", "Require:\n  A: 1\n"),
    ] {
        assert_eq!(rest(before, &[remove("Db")]), after, "{before}");
    }
}

#[test]
fn line_ends_stay() {
    let text = "FullName: Web\r\nType: Library\r\nRequire:\r\n  A: '1'\r\n";
    assert_eq!(
        edited(text, &[set("Db", "1"), set("A", "2")]).as_deref(),
        Ok("FullName: Web\r\nType: Library\r\nRequire:\r\n  A: '2'\r\n  Db: '1'\r\n")
    );
}

#[test]
fn an_added_requirement_can_be_removed_again() {
    let before = format!("{HEAD}Require:\n  A: \"1\"\n  Z: \"1\"\n");
    let added = edited(&before, &[set("Db", "1")]).expect("it can be edited");
    assert_eq!(edited(&added, &[remove("Db")]), Ok(before));
}

#[test]
fn impossible_edits_are_errors() {
    let text = format!("{HEAD}Require:\n  Db: 1\n");
    assert_eq!(
        edited(&text, &[remove("Dv")]),
        Err("`Dv` is not required [\"did you mean `Db`?\"]".to_owned())
    );
    let odd = "{FullName: Web, Type: Library}\n";
    let error = edited(odd, &[set("Db", "1")]).expect_err("everything is in braces");
    assert!(
        error.starts_with("the requirements are written in a way"),
        "{error}"
    );
}

#[test]
fn names_that_yaml_does_not_read_as_text_are_quoted() {
    for (before, after) in [
        ("", "Require:\n  \"Null\": \"1\"\n"),
        ("Require:\n", "Require:\n  \"Null\": \"1\"\n"),
        ("Require: ~\n", "Require: \n  \"Null\": \"1\"\n"),
        ("Require: {}\n", "Require: {\"Null\": \"1\"}\n"),
        ("Require: {A: 1}\n", "Require: {A: 1, \"Null\": \"1\"}\n"),
        (
            "Require:\n  A: 1\n",
            "Require:\n  A: 1\n  \"Null\": \"1\"\n",
        ),
    ] {
        assert_eq!(rest(before, &[set("Null", "1")]), after);
    }
}
