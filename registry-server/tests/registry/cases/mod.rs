//! The cases, each of which runs on every kind of storage.

mod collections;
mod permissions;
mod persistence;
mod publishing;
mod reading;

use crate::support::Place;

type Case = fn(&Place);

pub(crate) const CASES: &[(&str, Case)] = &[
    ("a release is published once", publishing::published_once),
    ("releases persist", persistence::reopened),
    (
        "data of a newer version are refused",
        persistence::newer_data,
    ),
    ("documents have the releases", reading::documents),
    (
        "one of many writers of a version wins",
        publishing::one_wins,
    ),
    ("serials have no gaps", publishing::gapless),
    (
        "an invalid release leaves nothing behind",
        publishing::invalid,
    ),
    ("texts that cannot be stored", publishing::nul),
    (
        "a release that is too long for the index",
        publishing::too_long_for_the_index,
    ),
    (
        "a release that makes the document too long",
        publishing::too_long_for_a_document,
    ),
    (
        "a name that is too long for a file",
        publishing::too_long_for_a_file,
    ),
    ("names that differ only in case", publishing::folded),
    (
        "requirements have to be satisfiable",
        publishing::satisfiable,
    ),
    ("yanking and undoing it", publishing::yanked),
    ("collections beside class packages", collections::beside),
    ("owners", permissions::owners),
    ("tokens", permissions::tokens),
    ("rights of tokens", permissions::rights_of_tokens),
    (
        "limited tokens of older versions",
        permissions::limited_tokens_of_older_versions,
    ),
    ("the first token is created once", permissions::first_token),
    (
        "one of many nodes creates the first token",
        permissions::first_token_of_many,
    ),
    ("a registry that exists is exported", persistence::exported),
    ("a batch is of one state", reading::batch),
    ("a batch has limits", reading::batch_limits),
    ("snapshots are renewed", reading::snapshots),
    (
        "a database that is restored under a running node",
        persistence::restored,
    ),
    ("search", reading::search_and_dependants),
    ("deleting releases", crate::catalog::deleted),
    ("the release for a spec", crate::catalog::release_for_spec),
    (
        "artifacts without a release are removed",
        persistence::swept,
    ),
    (
        "artifacts of another registry stay",
        persistence::artifacts_of_another_registry,
    ),
    (
        "no artifact is removed from under a release",
        crate::sweeping::never_from_under_a_release,
    ),
];
