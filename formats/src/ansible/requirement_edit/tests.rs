use super::*;
use crate::ansible::range;

fn edited(path: &str, text: &str, package: &str, range: Option<&str>) -> Result<String, String> {
    let file = FormatFile {
        path,
        bytes: text.as_bytes(),
    };
    let package = package_name(package).expect(package);
    let edit = match range {
        Some(range) => RequirementEdit::Set(package, range::parse(range).expect(range)),
        None => RequirementEdit::Remove(package),
    };
    with_requirement(&file, &edit, &Limits::default()).map_err(|error| error.message)
}

/// Edits of a text: the package, its new range, and what becomes of the text.
fn check(path: &str, text: &str, cases: &[(&str, Option<&str>, &str)]) {
    for (package, range, expected) in cases {
        let after = edited(path, text, package, *range);
        assert_eq!(
            after.as_deref(),
            Ok(*expected),
            "{package} {range:?}\n{text}"
        );
    }
}

#[test]
fn requirements_files_keep_everything_else() {
    let text = "---\n# ours\ncollections:\n  - acme.net # plain\n  - name: acme.db # pinned\n    version: '<2'   # until the migration\n\n# theirs\nroles: []\n";
    check(
        "requirements.yml",
        text,
        &[
            (
                "acme.web",
                Some(">=1.0.0"),
                "---\n# ours\ncollections:\n  - acme.net # plain\n  - name: acme.db # pinned\n    version: '<2'   # until the migration\n  - name: acme.web\n    version: \">=1.0.0\"\n\n# theirs\nroles: []\n",
            ),
            (
                "acme.net",
                Some("1.0.0"),
                "---\n# ours\ncollections:\n  - name: acme.net # plain\n    version: \"1.0.0\"\n  - name: acme.db # pinned\n    version: '<2'   # until the migration\n\n# theirs\nroles: []\n",
            ),
            (
                "acme.db",
                Some(">=2.0.0"),
                "---\n# ours\ncollections:\n  - acme.net # plain\n  - name: acme.db # pinned\n    version: '>=2.0.0'   # until the migration\n\n# theirs\nroles: []\n",
            ),
            (
                "acme.db",
                None,
                "---\n# ours\ncollections:\n  - acme.net # plain\n\n# theirs\nroles: []\n",
            ),
        ],
    );
    check(
        "requirements.yml",
        "collections:\n- name: acme.db\n",
        &[
            (
                "acme.db",
                Some("*"),
                "collections:\n- name: acme.db\n  version: \"*\"\n",
            ),
            ("acme.db", None, "collections: []\n"),
        ],
    );
    check(
        "requirements.yml",
        "collections: [acme.net, {name: acme.db}]",
        &[
            (
                "acme.web",
                Some("1.0.0"),
                "collections: [acme.net, {name: acme.db}, {name: acme.web, version: \"1.0.0\"}]",
            ),
            (
                "acme.db",
                Some("1.0.0"),
                "collections: [acme.net, {name: acme.db, version: \"1.0.0\"}]",
            ),
            ("acme.net", None, "collections: [{name: acme.db}]"),
            ("acme.db", None, "collections: [acme.net]"),
        ],
    );
}

#[test]
fn the_first_requirement_of_a_file_is_added() {
    let entry = "  - name: acme.net\n    version: \">=1.0.0,<2.0.0\"\n";
    let range = Some(">=1.0.0,<2.0.0");
    for (text, expected) in [
        ("", format!("collections:\n{entry}")),
        ("roles: []", format!("roles: []\ncollections:\n{entry}")),
        (
            "collections:\nroles: []\n",
            format!("collections:\n{entry}roles: []\n"),
        ),
        (
            "collections: []\n",
            "collections: [{name: acme.net, version: \">=1.0.0,<2.0.0\"}]\n".to_owned(),
        ),
    ] {
        let after = edited("requirements.yml", text, "acme.net", range);
        assert_eq!(after, Ok(expected), "{text}");
    }
}

#[test]
fn the_metadata_of_a_collection_keeps_everything_else() {
    let text =
        "namespace: acme\nname: web\nversion: 1.0.0\ndependencies:\n  acme.db: '<2' # ours\n";
    check(
        "galaxy.yml",
        text,
        &[
            (
                "acme.net",
                Some("*"),
                "namespace: acme\nname: web\nversion: 1.0.0\ndependencies:\n  acme.db: '<2' # ours\n  acme.net: \"*\"\n",
            ),
            (
                "acme.db",
                None,
                "namespace: acme\nname: web\nversion: 1.0.0\ndependencies: {}\n",
            ),
        ],
    );
    check(
        "galaxy.yml",
        "dependencies: {}\nname: web\n",
        &[(
            "acme.net",
            Some("*"),
            "dependencies: {acme.net: \"*\"}\nname: web\n",
        )],
    );
    check(
        "galaxy.yml",
        "name: web\n",
        &[(
            "acme.net",
            Some("*"),
            "name: web\ndependencies:\n  acme.net: \"*\"\n",
        )],
    );
}

#[test]
fn what_only_a_person_should_edit_is_an_error() {
    let odd = "the requirements are written in a way that cannot be edited";
    for (text, package, range, reason) in [
        ("- geerlingguy.nginx\n", "acme.db", Some("*"), odd),
        ("collections: ~\n", "acme.db", Some("*"), odd),
        (
            "collections:\n- name: acme.db\n  version:\n",
            "acme.db",
            Some("*"),
            odd,
        ),
        ("collections:\n- [acme.net]\n", "acme.db", Some("*"), odd),
        (
            "collections: [acme.db]\n",
            "acme.dp",
            None,
            "`acme.dp` is not required",
        ),
    ] {
        let after = edited("requirements.yml", text, package, range);
        assert_eq!(after, Err(reason.to_owned()), "{text}");
    }
}
