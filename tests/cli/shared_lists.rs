//! Lists of inputs from real life, which are not part of the project: each item has a test.

use std::path::Path;

use pkgres_tests::shared;

use crate::shared_cases::LISTS;

/// Where the items of a list are tested: the beginning of an item, a file, and a test or a line in it.
type Tested = (&'static str, &'static str, &'static str);

const HOSTILE: &[Tested] = &[
    (
        "memory grows with the square of depth",
        "tests/cli/hostile.rs",
        "fn the_output_about_a_chain_of_packages_grows_with_its_length",
    ),
    (
        "steps do not bound time",
        "tests/cli/hostile.rs",
        "fn a_search_without_end_is_given_up_by_default",
    ),
    (
        "other readers see other content",
        "manifest/tests/bad_inputs.rs",
        "fn line_ends_of_other_readers_are_rejected",
    ),
    (
        "time grows with the square of length",
        "fuzz/tests/growth/documents.rs",
        "\"keys without values\"",
    ),
    (
        "terminal escapes",
        "tests/cli/terminal.rs",
        "fn control_characters_in_names_are_escaped",
    ),
    (
        "success that is none",
        "tests/cli/network/fetching.rs",
        "fn what_is_fetched_is_in_the_cache",
    ),
    (
        "a server that drips",
        "tests/cli/network/lying.rs",
        "fn limits_come_from_variables_and_settings_files",
    ),
    (
        "fails open",
        "tests/cli/network/fetching.rs",
        "fn a_registry_is_not_used_without_a_place_for_its_state",
    ),
    (
        "folders are not counted",
        "manifest/tests/archive/limits.rs",
        "fn folders_without_entries_count",
    ),
    (
        "leftovers",
        "tests/cli/network/killed.rs",
        "fn a_killed_unpack_leaves_nothing",
    ),
    (
        "blocking",
        "tests/cli/hostile.rs",
        "fn a_pipe_is_not_waited_for",
    ),
    (
        "`pin` of 40,000 objects",
        "fuzz/tests/growth/pinning.rs",
        "\"objects\"",
    ),
    (
        "`pin` of 40,000 objects",
        "tests/cli/hostile.rs",
        "fn findings_about_a_model_are_capped",
    ),
    (
        "names that only look different",
        "manifest/tests/archive/entries.rs",
        "fn names_must_stay_as_they_are",
    ),
    (
        "queries",
        "registry-server/tests/http/pages.rs",
        "fn a_long_query_is_an_error",
    ),
    (
        "a torn lock",
        "tests/cli/damaged-locks.md",
        "$ pkgres lock torn --registry",
    ),
];

const REGISTRY: &[Tested] = &[
    (
        "1. Token",
        "registry-server/tests/gabbi/writing_preconditions.yaml",
        "- name: a token that reads some packages",
    ),
    (
        "2. `PUT",
        "registry-server/tests/http/preconditions.rs",
        "fn a_change_whose_precondition_does_not_hold_is_not_made",
    ),
    (
        "3. `HEAD` with `Range`",
        "registry-server/tests/gabbi/writing_preconditions.yaml",
        "- name: the head has no range",
    ),
    (
        "4. Catalog upload",
        "registry-server/tests/http/catalog/mod.rs",
        "fn forms_and_lists_are_those_of_real_clients",
    ),
    (
        "5. A bundle",
        "registry-server/tests/http/catalog/mod.rs",
        "\"Version\":1}",
    ),
    (
        "6. A package name",
        "registry-server/tests/registry/cases/publishing.rs",
        "fn too_long_for_a_file",
    ),
    (
        "7. On a full disk",
        "tests/serve/full_disk.rs",
        "fn a_full_disk_is_unavailable_and_loses_nothing",
    ),
    (
        "8. A token from",
        "tests/cli/network/publishing.rs",
        "fn a_token_of_a_netrc_file_publishes",
    ),
];

/// The items of a list: the rows of a table below its head, or numbered paragraphs.
fn items(text: &str) -> Vec<&str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let numbered = text
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    rows.skip(1).chain(numbered).collect()
}

#[test]
fn every_item_of_a_list_has_a_test() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (list, tested) in LISTS.into_iter().zip([HOSTILE, REGISTRY]) {
        let text = std::fs::read_to_string(cases.join(list).join("README.md"));
        let text = text.expect("the list is there");
        let items = items(&text);
        assert!(items.len() >= 8, "{items:#?}");
        for item in &items {
            let is_tested = tested.iter().any(|(begin, ..)| item.starts_with(begin));
            assert!(is_tested, "no test of: {item}");
        }
        for (begin, file, test) in tested {
            let is_there = items.iter().any(|item| item.starts_with(begin));
            assert!(is_there, "the list has no `{begin}`");
            let code = std::fs::read_to_string(workspace.join(file)).expect(file);
            assert!(code.contains(test), "{file} has no `{test}`");
        }
    }
}
