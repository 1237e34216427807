//! Edits of real class files, of kinds whose rules are known.
//!
//! The rule of each edit has to be the one of its kind. Each major difference has a witness, which has to be right
//! before the edit and wrong after it. An edit without a major or undecidable difference must leave random dependants
//! right. Edits change the text of class files, and the expected rules are written down here, independent of the
//! comparison.

mod corpus;
mod dependants;
mod edits;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_checks::{Impact, compare_apis};
use pkgres_tests::random::Random;

use crate::corpus::Corpus;
use crate::dependants::{errors, random_dependants};
use crate::edits::{Edit, edits};

/// The dependants that are tried after each compatible edit.
const DEPENDANTS: usize = 20;

/// How many edits there are.
#[derive(Debug, Default)]
struct Counts {
    kinds: BTreeMap<&'static str, usize>,
    /// Edits whose rules are known exactly.
    decided: usize,
    witnesses: usize,
    dependants: usize,
}

#[test]
fn edits_of_real_classes_are_classified() {
    let Some(corpus) = Corpus::read() else {
        return;
    };
    let mut counts = Counts::default();
    let mut random = Random::new(1);
    for texts in &corpus.texts {
        let old = corpus.bind(texts.package().expect("it was read before"));
        let unedited = compare_apis(old.api(), old.api());
        assert!(unedited.differences.is_empty());
        for edit in edits(&corpus, texts) {
            let Some(package) = edit.texts.package() else {
                panic!("{} of {} cannot be read", edit.kind, edit.what);
            };
            let new = corpus.bind(package);
            check(&edit, &old, &new, &mut counts, &mut random);
        }
    }
    let edits: usize = counts.kinds.values().sum();
    assert!(edits >= 3000 && counts.kinds.len() >= 17, "{counts:?}");
    assert!(counts.decided >= 2500, "{counts:?}");
    assert!(
        counts.witnesses >= 2000 && counts.dependants >= 20_000,
        "{counts:?}"
    );
}

fn check(
    edit: &Edit,
    old: &corpus::Bound,
    new: &corpus::Bound,
    counts: &mut Counts,
    random: &mut Random,
) {
    *counts.kinds.entry(edit.kind).or_default() += 1;
    let what = || format!("{} of {}", edit.kind, edit.what);
    let comparison = compare_apis(old.api(), new.api());
    let found: BTreeSet<&str> = comparison
        .differences
        .iter()
        .map(|it| it.rule.id())
        .collect();
    counts.decided += usize::from(!edit.is_open);
    if edit.is_open {
        assert!(found.is_superset(&edit.expected), "{}: {found:?}", what());
        let forbidden = ["method-removed", "property-removed"];
        let is_of_a_class = edit.kind == "other parent";
        assert!(
            is_of_a_class || forbidden.iter().all(|rule| !found.contains(rule)),
            "{}: {found:?}",
            what()
        );
    } else {
        assert_eq!(
            found,
            edit.expected,
            "{}: {:#?}",
            what(),
            comparison.differences
        );
    }
    let mut is_compatible = true;
    for difference in &comparison.differences {
        is_compatible &= !matches!(difference.impact(), Impact::Major | Impact::Review);
        let witness = difference.witness(&old.release.name);
        assert_eq!(
            witness.is_some(),
            difference.impact() == Impact::Major,
            "{}",
            what()
        );
        if let Some(witness) = witness {
            assert_eq!(
                witness.errors_with(old.api()),
                [],
                "{}: {witness:?}",
                what()
            );
            assert_ne!(
                witness.errors_with(new.api()),
                [],
                "{}: {witness:?}",
                what()
            );
            counts.witnesses += 1;
        }
    }
    if is_compatible {
        let dependants = random_dependants(old, DEPENDANTS, random);
        assert_eq!(errors(&dependants, old), [], "{}:\n{dependants}", what());
        assert_eq!(errors(&dependants, new), [], "{}:\n{dependants}", what());
        counts.dependants += DEPENDANTS;
    }
}
