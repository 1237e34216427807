use std::cell::Cell;

use super::problem::Problem;
use super::tiers::best_in_tiers;
use super::walk::Walk;
use super::{Answer, Rule, Rules, SplitOrder, is_valid, search};
use crate::build::{Build, release, solution};
use crate::examples::examples;
use crate::solution::Solution;
use crate::universe::Universe;

#[test]
fn the_reference_finds_the_answers_of_the_examples() {
    for example in examples() {
        let answer = search(&example.universe, &Rules::default());
        assert_eq!(
            answer, example.answer,
            "{}:\n{}\nfound:\n{answer}\nexpected:\n{}",
            example.name, example.universe, example.answer
        );
    }
}

#[test]
fn answers_of_the_reference_are_valid() {
    let variants = Rule::ALL.map(Rules::without);
    for seed in 0..2000 {
        let universe = Universe::random(seed);
        for rules in [Rules::default()].iter().chain(&variants) {
            if let Answer::Solved(solution) = search(&universe, rules) {
                let verdict = is_valid(&universe, &solution, rules);
                assert_eq!(verdict, Ok(()), "{seed} {rules:?}\n{universe}\n{solution}");
            }
        }
    }
}

/// The answer with the same tiers and order of decisions, in which [`is_valid`] checks every rule, and
/// only on complete solutions.
fn search_without_checks(universe: &Universe, rules: &Rules, budget: u32) -> Option<Answer> {
    if rules.locks
        && let Some(lock) = &universe.locked
        && is_valid(universe, lock, rules).is_ok()
    {
        return Some(Answer::Solved(Solution::new(lock.bindings.clone())));
    }
    let left = Cell::new(budget);
    let problem = Problem::new(universe, rules);
    // Whether packages may be split is decided by the tiers, not by validity.
    let judge = |solution: &Solution| {
        left.set(left.get().saturating_sub(1));
        left.get() == 0 || is_valid(universe, solution, rules).is_ok()
    };
    let may_split = rules.second_tier && !universe.single_version;
    let answer = best_in_tiers(&problem, may_split, SplitOrder::Names, |single| {
        Walk::new(&problem, single, &judge)
            .judged_at_the_end()
            .run()
    });
    (left.get() > 0).then(|| answer.map_or(Answer::NoSolution, Answer::Solved))
}

#[test]
fn checks_on_partial_resolutions_do_not_change_the_answer() {
    let variants = Rule::ALL.map(Rules::without);
    let (mut compared, mut side_by_side, mut unsolvable) = (0, 0, 0);
    for seed in 0..400 {
        let universe = Universe::random(seed);
        for rules in [Rules::default()].iter().chain(&variants) {
            if let Some(expected) = search_without_checks(&universe, rules, 400) {
                let answer = search(&universe, rules);
                assert_eq!(
                    answer, expected,
                    "{seed} {rules:?}\n{universe}\nfound:\n{answer}\nexpected:\n{expected}"
                );
                compared += 1;
                side_by_side += usize::from(answer.is_side_by_side());
                unsolvable += usize::from(answer == Answer::NoSolution);
            }
        }
    }
    let counts = (compared, side_by_side, unsolvable);
    assert!(
        compared > 2000 && side_by_side > 100 && unsolvable > 300,
        "{counts:?}"
    );
}

/// A package is split only if one release of it is impossible, given one release of each unsplit
/// package that comes before it in the order of names.
#[test]
fn no_package_is_split_without_need() {
    let mut split = 0;
    for seed in 0..2000 {
        let mut universe = Universe::random(seed);
        universe.locked = None;
        let rules = Rules::default();
        let Answer::Solved(solution) = search(&universe, &rules) else {
            continue;
        };
        let first_tier = search(&universe, &Rules::without(Rule::SecondTier));
        assert_eq!(
            solution.side_by_side.is_empty(),
            first_tier != Answer::NoSolution,
            "{seed}"
        );
        let problem = Problem::new(&universe, &rules);
        for package in &solution.side_by_side {
            let single: Vec<bool> = problem
                .packages
                .iter()
                .map(|other| {
                    other == package || (other < package && !solution.side_by_side.contains(other))
                })
                .collect();
            let found = Walk::new(&problem, &single, &|_| true).run();
            assert_eq!(found, None, "{seed}: {package}\n{universe}");
            split += 1;
        }
    }
    assert!(split > 200, "{split}");
}

#[test]
fn is_valid_names_the_broken_rule() {
    let universe = Universe::new(
        release("R", "1").requires("X", "1").defines("A", &["X.B"]),
        vec![
            release("X", "1")
                .requires("Y", "*")
                .defines("X.B", &["Y.C"]),
            release("X", "1.1").requires("Y", "*"),
            release("X", "2").requires("Y", "*").defines("X.B", &[]),
            release("Y", "1")
                .requires("X", "*")
                .defines("Y.C", &["X.B"]),
            release("Y", "2").defines("Y.C", &[]),
            release("Y", "3").defines("Y.C", &[]).yanked(),
        ],
    );
    let problem = |lines: &[&str]| {
        is_valid(&universe, &solution(lines), &Rules::default()).expect_err("a rule is broken")
    };
    let good = solution(&["R 1 X 1", "X 1 Y 2"]);
    assert_eq!(is_valid(&universe, &good, &Rules::default()), Ok(()));
    for (lines, reason) in [
        (&["R 1 X 1"][..], "which is not bound"),
        (&["R 1 X 2", "X 2 Y 2"], "does not match"),
        (&["R 1 X 1.1", "X 1.1 Y 2"], "which is not found"),
        (&["R 1 X 1", "X 1 Y 3"], "is no candidate"),
        (&["R 1 X 1", "X 1 Y 4"], "is no candidate"),
        (&["R 1 X 1", "X 1 Y 1", "Y 1 X 1"], "extends itself"),
        (
            &["R 1 X 1", "X 1 Y 1", "Y 1 X 2", "X 2 Y 2"],
            "two classes of one name",
        ),
        (&["R 1 X 1", "X 1 Y 2", "Y 1 X 1"], "is not reached"),
    ] {
        let found = problem(lines);
        assert!(found.contains(reason), "{lines:?}: {found}");
    }
}

/// A class is one of its own family for rule 3.
#[test]
fn a_class_does_not_inherit_another_version_of_itself() {
    let universe = Universe::new(
        release("R", "1").requires("X", "2"),
        vec![
            release("X", "1").defines("X.B", &[]),
            release("X", "2")
                .requires("Y", "*")
                .defines("X.B", &["Y.C"]),
            release("Y", "1")
                .requires("X", "1")
                .defines("Y.C", &["X.B"]),
        ],
    );
    let cycle = solution(&["R 1 X 2", "X 2 Y 1", "Y 1 X 1"]);
    let verdict = is_valid(&universe, &cycle, &Rules::default());
    assert!(verdict.is_err_and(|reason| reason.contains("two classes of one name")));
    let lenient = Rules::without(Rule::Diamonds);
    assert_eq!(is_valid(&universe, &cycle, &lenient), Ok(()));
    assert_eq!(search(&universe, &lenient), Answer::Solved(cycle));
}

#[test]
fn releases_exclude_the_root() {
    let solution = solution(&["R 1 X 1", "X 1 R 1", "X 1 Y 2"]);
    let releases = solution.releases(&crate::build::package("R"));
    let texts: Vec<String> = releases.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["X 1.0.0", "Y 2.0.0"]);
}
