//! Packages: the solver against the reference.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use pkgres_resolver::{Engine, SolveOptions};
use pkgres_tests::examples::{examples, variation};
use pkgres_tests::random::Random;
use pkgres_tests::reference::{Answer, Rule, Rules, better_exchange, is_valid, search};
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, solve, solve_by, solve_with};
use pkgres_tests::tally::Tally;
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 20_000;
/// A small number of conflicts, after which some searches leave the order of decisions.
const CONFLICT_LIMIT: u64 = 3;

#[test]
fn examples_have_their_known_answers() {
    let conflict_limit = SolveOptions::default().conflict_limit;
    for example in examples() {
        for supplies in [Supplies::OnDemand, Supplies::Attached] {
            let verdict = solve_with(&example.universe, supplies, conflict_limit);
            assert_eq!(
                verdict.answer().to_string(),
                example.answer.to_string(),
                "{}, {supplies:?}\n{}",
                example.name,
                example.universe
            );
        }
    }
}

/// The result of comparing one universe.
struct Outcome {
    tally: Tally,
    /// For each rule, whether the solver disagrees with a reference that ignores it.
    disagrees: [bool; Rule::ALL.len()],
    wrong: Option<String>,
}

impl Outcome {
    fn of(seed: u64) -> Self {
        let universe = Universe::random(seed);
        let mut tally = Tally::default();
        let answers = tally.add(&universe);
        let found = solve(&universe).answer();
        let is_valid = found
            .solution()
            .is_none_or(|solution| is_valid(&universe, solution, &Rules::default()).is_ok());
        // The other engine is slower, so it gets a part of the seeds.
        let by_other = seed
            .is_multiple_of(4)
            .then(|| solve_by(&universe, Engine::Pubgrub).answer());
        let other_differs = by_other.is_some_and(|by_other| by_other != found);
        let wrong = (found != answers.answer || !is_valid || other_differs).then(|| {
            format!(
                "seed {seed}\n{universe}expected:\n{}found:\n{found}valid: {is_valid}, engines differ: {other_differs}",
                answers.answer
            )
        });
        Self {
            tally,
            disagrees: answers.without.map(|without| without != found),
            wrong,
        }
    }
}

/// Both give the same valid answers. The universes exercise every rule: a solver that ignores any one
/// rule would fail.
#[test]
fn random_universes_have_the_answers_of_the_reference() {
    let mut tally = Tally::default();
    let mut disagreements = [0_usize; Rule::ALL.len()];
    let mut wrong = Vec::new();
    for outcome in seeds::for_all(seeds::count(SEEDS), Outcome::of) {
        tally.merge(&outcome.tally);
        for (count, disagrees) in disagreements.iter_mut().zip(outcome.disagrees) {
            *count += usize::from(disagrees);
        }
        wrong.extend(outcome.wrong);
    }
    show(&tally.to_string());
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
    tally.assert_every_rule_decides();
    for (rule, count) in Rule::ALL.iter().zip(disagreements) {
        assert!(
            count > 0,
            "no universe shows whether the solver obeys {rule}"
        );
    }
}

/// Both engines, on small changes to the examples.
#[test]
fn varied_examples_have_the_answers_of_the_reference() {
    assert_same_answers(variation);
}

/// Both engines, where the order of class lookup matters most.
#[test]
fn universes_around_hubs_have_the_answers_of_the_reference() {
    assert_same_answers(Universe::around_hubs);
}

/// Both engines, and every way of supply, where classes implement interfaces.
#[test]
fn universes_with_interfaces_have_the_answers_of_the_reference() {
    let with_interfaces = |seed: u64| {
        let universe = if seed.is_multiple_of(3) {
            Universe::around_hubs(seed)
        } else {
            Universe::random(seed)
        };
        universe.with_interfaces(seed)
    };
    assert_same_answers(with_interfaces);
    let conflict_limit = SolveOptions::default().conflict_limit;
    let each = |seed: u64| {
        let universe = with_interfaces(seed);
        let expected = search(&universe, &Rules::default());
        let all = [
            Supplies::OnDemand,
            Supplies::Beforehand,
            Supplies::Attached,
            Supplies::PartlyCompiled,
        ];
        for supplies in all {
            let found = solve_with(&universe, supplies, conflict_limit).answer();
            assert_eq!(
                found.to_string(),
                expected.to_string(),
                "{seed} {supplies:?}\n{universe}"
            );
        }
        // Interfaces decide if the answer is another one without them.
        let mut without = universe;
        let all = without.records.iter_mut().chain([&mut without.root]);
        for classes in all.filter_map(|record| record.classes.as_mut()) {
            classes.change(|all| all.iter_mut().for_each(|class| class.implements.clear()));
        }
        usize::from(search(&without, &Rules::default()) != expected)
    };
    let count = seeds::count(SEEDS) / 4;
    let decided: usize = seeds::for_all(count, each).into_iter().sum();
    assert!(
        decided > 20,
        "interfaces decide {decided} of {count} answers"
    );
}

fn assert_same_answers(universe: impl Fn(u64) -> Universe + Sync) {
    let each = |seed: u64| {
        let universe = universe(seed);
        let expected = search(&universe, &Rules::default());
        let engines = [Engine::Native, Engine::Pubgrub];
        let found = engines.map(|engine| solve_by(&universe, engine).answer());
        let wrong = found.into_iter().find(|found| *found != expected)?;
        Some(format!(
            "seed {seed}\n{universe}expected:\n{expected}found:\n{wrong}"
        ))
    };
    let found = seeds::for_all(seeds::count(SEEDS), each);
    let wrong: Vec<String> = found.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
}

/// Domains of more than 64 releases use other data structures; the answer must be the same.
#[test]
fn the_number_of_releases_does_not_change_the_answer() {
    /// Numbers around one and two words of 64 bits; one bit of a domain means "absent".
    const RELEASES: [usize; 9] = [62, 63, 64, 65, 80, 126, 127, 128, 129];
    assert_same_answers_with(&RELEASES, 40, &[Supplies::Attached]);
}

/// Indexes of packages with more than a thousand releases have no sets for a few of them.
#[test]
fn thousands_of_releases_do_not_change_the_answer() {
    let all = [
        Supplies::OnDemand,
        Supplies::Attached,
        Supplies::PartlyCompiled,
    ];
    assert_same_answers_with(&[1_100], 400, &all);
}

/// Every so many seeds, solves a universe with more releases of each package.
fn assert_same_answers_with(releases: &[usize], every: u64, supplies: &[Supplies]) {
    /// More conflicts than the added releases cause.
    const PATIENT: u64 = 1_000_000;
    let each = |seed: u64| {
        if !seed.is_multiple_of(every) {
            return None;
        }
        let universe = Universe::random(seed);
        let expected = solve_with(&universe, Supplies::OnDemand, PATIENT).answer();
        releases.iter().find_map(|releases| {
            let padded = universe.padded(*releases);
            supplies.iter().find_map(|supplies| {
                let found = solve_with(&padded, *supplies, PATIENT).answer();
                let wrong = || {
                    format!(
                        "seed {seed}, {releases} releases, {supplies:?}\n{universe}{expected}\n{found}"
                    )
                };
                (found != expected).then(wrong)
            })
        })
    };
    let found = seeds::for_all(seeds::count(SEEDS), each);
    let wrong: Vec<String> = found.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
}

/// The difference if records and packages arrive in another order.
fn differs_if_shuffled(seed: u64) -> Option<String> {
    let universe = Universe::random(seed);
    let mut shuffled = universe.clone();
    Random::new(seed).shuffle(&mut shuffled.records);
    let differs = |conflict_limit| {
        let expected = solve_with(&universe, Supplies::OnDemand, conflict_limit);
        [Supplies::OnDemand, Supplies::Beforehand, Supplies::Attached]
            .map(|supplies| solve_with(&shuffled, supplies, conflict_limit))
            .into_iter()
            .find(|found| *found != expected)
            .map(|found| format!("seed {seed}\n{universe}{expected:#?}\n{found:#?}"))
    };
    differs(SolveOptions::default().conflict_limit).or_else(|| differs(CONFLICT_LIMIT))
}

/// The order of arrival of records and packages changes nothing, not even explanations and counts.
#[test]
fn the_order_of_arrival_does_not_change_the_answer() {
    let found = seeds::for_all(seeds::count(SEEDS), differs_if_shuffled);
    let wrong: Vec<String> = found.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
}

/// A search that stops for packages while clauses are new continues with the same steps.
#[test]
fn an_interruption_does_not_change_the_steps() {
    assert_eq!(differs_if_shuffled(87_695), None);
}

/// A thousand orders of arrival give one answer: lock and explanation are equal byte for byte.
#[test]
fn a_thousand_orders_of_arrival_give_the_same_bytes() {
    let text = |universe: &Universe, supplies| {
        let conflict_limit = SolveOptions::default().conflict_limit;
        match solve_with(universe, supplies, conflict_limit) {
            Verdict::Solved(resolution) => resolution
                .to_lockfile()
                .expect("the roots are packages")
                .to_text(),
            Verdict::Conflict(conflict) => format!("{conflict:#?}"),
        }
    };
    let kinds: [fn(&Answer) -> bool; 3] = [
        |answer| answer.solution().is_none(),
        Answer::is_side_by_side,
        |answer| answer.solution().is_some() && !answer.is_side_by_side(),
    ];
    for is_wanted in kinds {
        let universe = (0..SEEDS)
            .map(Universe::random)
            .filter(|universe| universe.records.len() > 12)
            .find(|universe| is_wanted(&solve(universe).answer()))
            .expect("there are such universes");
        let expected = text(&universe, Supplies::OnDemand);
        for seed in 0..1_000 {
            let mut shuffled = universe.clone();
            Random::new(seed).shuffle(&mut shuffled.records);
            for supplies in [Supplies::OnDemand, Supplies::Beforehand, Supplies::Attached] {
                assert_eq!(text(&shuffled, supplies), expected, "{seed} {supplies:?}");
            }
        }
    }
}

/// What is wrong with the answer of a search in the order of conflicts: it must find a locally best
/// resolution exactly if there is one.
fn wrong_in_order_of_conflicts(universe: &Universe, supplies: Supplies) -> (bool, Option<String>) {
    let expected = search(universe, &Rules::default());
    let found = solve_with(universe, supplies, 0).answer();
    let complaint = match (&expected, &found) {
        // A valid lock is kept even if another resolution would be preferred.
        _ if found == expected => None,
        (Answer::Solved(best), Answer::Solved(solution)) => {
            let exchange = || {
                let exchange = better_exchange(universe, solution);
                exchange.map(|release| format!("{release} is better"))
            };
            let more = || {
                let same = best.side_by_side == solution.side_by_side;
                (!same).then(|| "other packages are split".to_owned())
            };
            let validity = is_valid(universe, solution, &Rules::default());
            let is_single = solution.side_by_side.is_empty();
            validity
                .err()
                .or_else(more)
                .or_else(|| is_single.then(exchange).flatten())
        }
        _ => Some("only one of them has a solution".to_owned()),
    };
    let message =
        |text| format!("{supplies:?}: {text}\n{universe}best:\n{expected}found:\n{found}");
    (found != expected, complaint.map(message))
}

#[test]
fn searches_in_order_of_conflicts_are_locally_best() {
    let ways = [Supplies::OnDemand, Supplies::Attached];
    for example in examples() {
        for way in ways {
            let (_, complaint) = wrong_in_order_of_conflicts(&example.universe, way);
            assert_eq!(complaint, None, "{}", example.name);
        }
    }
    let mut wrong = Vec::new();
    let mut others = 0;
    let each = |seed| {
        [Universe::random(seed), variation(seed)]
            .map(|universe| ways.map(|way| wrong_in_order_of_conflicts(&universe, way)))
    };
    let found = seeds::for_all(seeds::count(SEEDS), each);
    for (is_other, complaint) in found.into_iter().flatten().flatten() {
        others += usize::from(is_other);
        wrong.extend(complaint);
    }
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
    assert!(others > 0, "the order of conflicts makes no difference");
}

// Long runs are made for this table.
#[allow(clippy::print_stdout)]
fn show(text: &str) {
    println!("{text}");
}
