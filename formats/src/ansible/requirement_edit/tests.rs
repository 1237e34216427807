use proptest::prelude::*;

use super::*;
use crate::ansible::{REQUIREMENTS_FILE, range, read_requirements};

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
                Some("<2.0.0"),
                "collections:\n- name: acme.db\n  version: \"<2.0.0\"\n",
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
fn a_word_for_nothing_is_replaced() {
    for (word, rest) in [
        (" null", ""),
        (" ~", ""),
        ("   NULL", " # none yet"),
        ("\n  null", ""),
        ("", ""),
        ("", " # none yet"),
    ] {
        check(
            "galaxy.yml",
            &format!("dependencies:{word}{rest}\nname: web\n"),
            &[(
                "acme.net",
                Some("*"),
                &format!("dependencies:{rest}\n  acme.net: \"*\"\nname: web\n"),
            )],
        );
    }
    check(
        "requirements.yml",
        "collections: ~",
        &[(
            "acme.db",
            Some("<2"),
            "collections:\n  - name: acme.db\n    version: \"<2\"\n",
        )],
    );
}

#[test]
fn what_only_a_person_should_edit_is_an_error() {
    let odd = "the requirements are written in a way that cannot be edited";
    for (text, package, range, reason) in [
        ("- geerlingguy.nginx\n", "acme.db", Some("*"), odd),
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

/// A file with requirements on `acme.cN`, each in one of four styles, with a comment before each one.
fn file_of(entries: &[(u8, u8)], is_flow: bool, is_crlf: bool) -> String {
    if is_flow {
        let items = entries.iter().map(|(name, style)| match style {
            0 => format!("acme.c{name}"),
            1 => format!("{{name: acme.c{name}}}"),
            _ => format!("{{name: acme.c{name}, version: '<{style}'}}"),
        });
        let items: Vec<String> = items.collect();
        return format!(
            "# all\ncollections: [{}] # end\nroles: []\n",
            items.join(", ")
        );
    }
    let mut text = "# all\ncollections:\n".to_owned();
    for (name, style) in entries {
        text += &format!("  # about c{name}\n");
        text += &match style {
            0 => format!("  - acme.c{name} # plain\n"),
            1 => format!("  - name: acme.c{name}\n"),
            2 => format!("  - name: acme.c{name} # named\n    version: '<2' # low\n"),
            _ => format!("  - {{name: acme.c{name}, version: <3}}\n"),
        };
    }
    text += "\n# end\nroles: []\n";
    if is_crlf {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}

/// The requirements of a file, as they are read.
fn requirements(text: &str) -> Vec<(String, String)> {
    let read = read_requirements(REQUIREMENTS_FILE, text.as_bytes(), &Limits::default());
    let (root, _) = read.into_result().expect("the file is valid");
    let stated = root.record.requirements.iter();
    let mut stated: Vec<(String, String)> = stated
        .map(|one| (one.package.to_string(), one.spec.written().to_owned()))
        .collect();
    stated.sort();
    stated
}

proptest! {
    #[test]
    fn an_edit_changes_one_requirement(
        names in proptest::sample::subsequence(vec![0_u8, 1, 2, 3, 4, 5], 0..=6).prop_shuffle(),
        styles in proptest::collection::vec(0_u8..4, 6),
        meant in 0_u8..8,
        is_set: bool,
        is_flow: bool,
        is_crlf: bool,
    ) {
        let entries: Vec<(u8, u8)> = names.into_iter().zip(styles).collect();
        let text = file_of(&entries, is_flow, is_crlf);
        let package = format!("acme.c{meant}");
        let range = is_set.then_some(">=1.0.0,<7.0.0");
        let mut expected = requirements(&text);
        expected.retain(|(name, _)| *name != package);
        if let Some(range) = range {
            expected.push((package.clone(), range.to_owned()));
            expected.sort();
        }
        let after = edited(REQUIREMENTS_FILE, &text, &package, range);
        let is_there = entries.iter().any(|(name, _)| *name == meant);
        if !is_set && !is_there {
            prop_assert_eq!(after, Err(format!("`{package}` is not required")));
            return Ok(());
        }
        let after = after.expect("each of these styles can be edited");
        prop_assert_eq!(requirements(&after), expected, "{}", after);
        // Nothing else is lost: the comments of other requirements, and the way in which lines end.
        for line in text.lines().filter(|line| line.trim_start().starts_with('#')) {
            let is_kept = after.lines().any(|after| after == line);
            let is_last = !is_set && entries.len() == 1;
            prop_assert!(is_kept || is_last, "{line}\n{after}");
        }
        let line_feeds = after.matches('\n').count();
        prop_assert_eq!(after.matches("\r\n").count(), if is_crlf && !is_flow { line_feeds } else { 0 });
    }
}

#[test]
fn comments_that_are_indented_deeper_stay_with_the_last_entry() {
    check(
        "requirements.yml",
        "collections:\n  - name: acme.db\n    version: '<2'\n    # until the migration\n    # of May\n  # not sorted\n# theirs\n",
        &[(
            "acme.web",
            Some("1.0.0"),
            "collections:\n  - name: acme.db\n    version: '<2'\n    # until the migration\n    # of May\n  - name: acme.web\n    version: \"1.0.0\"\n  # not sorted\n# theirs\n",
        )],
    );
    check(
        "requirements.yml",
        "collections:\n- acme.db\n  # why",
        &[(
            "acme.web",
            Some("1.0.0"),
            "collections:\n- acme.db\n  # why\n- name: acme.web\n  version: \"1.0.0\"\n",
        )],
    );
    check(
        "galaxy.yml",
        "namespace: acme\nname: app\nversion: 1.0.0\ndependencies:\n  acme.db: '*'\n    # why\ntags: []\n",
        &[(
            "acme.web",
            Some("1.0.0"),
            "namespace: acme\nname: app\nversion: 1.0.0\ndependencies:\n  acme.db: '*'\n    # why\n  acme.web: \"1.0.0\"\ntags: []\n",
        )],
    );
}

#[test]
fn a_package_that_is_required_twice_is_required_once_or_not_at_all() {
    let text = "collections:\n- name: acme.db\n  version: '>=1'\n- acme.net\n- name: acme.db\n  version: '<2'\n";
    check(
        "requirements.yml",
        text,
        &[
            ("acme.db", None, "collections:\n- acme.net\n"),
            (
                "acme.db",
                Some(">=2.0.0"),
                "collections:\n- name: acme.db\n  version: '>=2.0.0'\n- acme.net\n",
            ),
        ],
    );
}

#[test]
fn a_range_that_holds_already_is_not_written() {
    let text = "collections:\n- acme.net\n- name: acme.db\n- {name: acme.web, version: '>=1'}\n";
    let cases = [("acme.net", "*"), ("acme.db", "*"), ("acme.web", ">=1")];
    for (package, range) in cases {
        let after = edited("requirements.yml", text, package, Some(range));
        assert_eq!(after.as_deref(), Ok(text), "{package}");
    }
}

#[test]
fn comments_above_the_only_entry_stay() {
    check(
        "requirements.yml",
        "collections:\n  # ask Eva\n  - name: acme.db\nroles: []\n",
        &[("acme.db", None, "collections: []\n  # ask Eva\nroles: []\n")],
    );
    check(
        "galaxy.yml",
        "dependencies: # ours\n  acme.db: '*'\n",
        &[("acme.db", None, "dependencies: {} # ours\n")],
    );
}

#[test]
fn ranges_are_written_as_ansible_galaxy_reads_them() {
    check(
        "requirements.yml",
        "collections: []\n",
        &[(
            "acme.db",
            Some(">= 1.0.0, <2"),
            "collections: [{name: acme.db, version: \">=1.0.0,<2\"}]\n",
        )],
    );
}

#[test]
fn lists_can_begin_with_a_requirement_in_braces() {
    let text = "collections:\n- {name: acme.net} # net\n# of db\n- acme.db # db\n";
    check(
        "requirements.yml",
        text,
        &[
            (
                "acme.db",
                None,
                "collections:\n- {name: acme.net} # net\n# of db\n",
            ),
            ("acme.net", None, "collections:\n# of db\n- acme.db # db\n"),
            (
                "acme.net",
                Some("1.0.0"),
                "collections:\n- {name: acme.net, version: \"1.0.0\"} # net\n# of db\n- acme.db # db\n",
            ),
            (
                "acme.web",
                Some("1.0.0"),
                "collections:\n- {name: acme.net} # net\n# of db\n- acme.db # db\n- name: acme.web\n  version: \"1.0.0\"\n",
            ),
        ],
    );
    check(
        "requirements.yml",
        "collections:\n- {name: acme.net,\n   version: 1.0.0\n  }\n",
        &[
            ("acme.net", None, "collections: []\n"),
            (
                "acme.web",
                Some("1.0.0"),
                "collections:\n- {name: acme.net,\n   version: 1.0.0\n  }\n- name: acme.web\n  version: \"1.0.0\"\n",
            ),
        ],
    );
    check(
        "requirements.yml",
        "collections:\n- [other]\n- acme.net # net\n- acme.db\n",
        &[("acme.net", None, "collections:\n- [other]\n- acme.db\n")],
    );
}
