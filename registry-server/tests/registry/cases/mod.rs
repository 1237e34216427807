//! The cases.

mod holders;
mod keeping;
mod publishing;
mod reading;

use crate::support::Place;

type Case = fn(&Place);

pub(crate) const CASES: &[(&str, Case)] = &[
    ("a release is published once", publishing::published_once),
    (
        "what is published is there after opening again",
        keeping::reopened,
    ),
    ("documents say what was published", reading::documents),
    (
        "one of many writers of a version wins",
        publishing::one_wins,
    ),
    ("serials have no gaps", publishing::gapless),
    (
        "a refused release leaves nothing behind",
        publishing::refused,
    ),
    ("texts that cannot be kept", publishing::unkept),
    (
        "a release that is too long for the index",
        publishing::too_long_for_the_index,
    ),
    ("names that differ in case alone", publishing::folded),
    (
        "requirements have to be satisfiable",
        publishing::satisfiable,
    ),
    ("yanking and taking it back", publishing::yanked),
    ("owners", holders::owners),
    ("tokens", holders::tokens),
    ("tokens for tokens", holders::rights_of_tokens),
    ("the first token is made once", holders::first_token),
    ("a batch is of one state", reading::batch),
    ("a batch has bounds", reading::batch_bounds),
    ("snapshots are signed anew", reading::snapshots),
    ("search", reading::search_and_dependants),
    ("deleting releases", crate::catalog::deleted),
    ("the release for a spec", crate::catalog::chosen),
    ("artifacts without a release are removed", keeping::swept),
    (
        "no artifact is removed from under a release",
        crate::sweeping::never_from_under_a_release,
    ),
];
