//! Object models: the solver against the reference.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pkgres_manifest::{PackageName, Requirement, Spec};
use pkgres_resolver::{Conflict, Engine, Request, Resolution, SuggestedChange};
use pkgres_tests::build::{package, spec};
use pkgres_tests::examples::variation;
use pkgres_tests::models::{Model, examples, same_objects};
use pkgres_tests::reference::{Answer, Rules, is_valid, search, search_where};
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, run_with_classes};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 6_000;

/// How often contracts decided the answer.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    solved: usize,
    /// Contracts exclude the best resolution.
    other_resolution: usize,
    /// Contracts exclude all resolutions.
    no_resolution: usize,
    /// A package is split only because of contracts.
    split: usize,
    wrong: Vec<String>,
}

fn solve(model: &Model, supplies: Supplies, request: Request) -> Verdict {
    run_with_classes(&model.universe, supplies, request, |release| {
        model.classes(release)
    })
}

fn answer(model: &Model, verdict: &Verdict) -> Answer {
    match verdict {
        Verdict::Solved(resolution) => Answer::Solved(model.solution(resolution)),
        Verdict::Conflict(_) => Answer::NoSolution,
    }
}

/// The error in the answers to a model, if there is one.
fn mistake(model: &Model, expected: &Answer) -> Option<String> {
    for (engine, supplies) in [
        (Engine::Native, Supplies::OnDemand),
        (Engine::Native, Supplies::Attached),
        (Engine::Pubgrub, Supplies::OnDemand),
    ] {
        let mut request = model.request();
        request.options.engine = engine;
        let verdict = solve(model, supplies, request);
        let found = answer(model, &verdict);
        if found != *expected {
            return Some(format!("{engine:?}, {supplies:?} found:\n{found}"));
        }
        let more = match &verdict {
            Verdict::Solved(resolution) => wrong_when_locked(model, resolution)
                .or_else(|| wrong_when_pinned(model, resolution)),
            Verdict::Conflict(conflict) => wrong_reasons(model, conflict),
        };
        if more.is_some() {
            return more;
        }
    }
    wrong_in_order_of_conflicts(model, expected)
}

/// The resolution as a lock gives the same resolution, without a step.
fn wrong_when_locked(model: &Model, resolution: &Resolution) -> Option<String> {
    let mut request = model.request();
    request.locked = resolution.to_locked();
    let Verdict::Solved(again) = solve(model, Supplies::OnDemand, request) else {
        return Some("it is not found again".to_owned());
    };
    let steps = again.stats().steps;
    let again = model.solution(&again);
    (again != model.solution(resolution) || steps > 0)
        .then(|| format!("after {steps} steps the lock gives:\n{again}"))
}

/// A model whose objects require the versions that they are bound to has the same resolution.
fn wrong_when_pinned(model: &Model, resolution: &Resolution) -> Option<String> {
    if !resolution.prereleases().is_empty() {
        // A spec that names a prerelease changes the order of candidates.
        return None;
    }
    let mut pinned = model.clone();
    for (object, bound) in pinned
        .objects
        .iter_mut()
        .zip(&resolution.roots()[0].requires)
    {
        object.spec = Spec::exactly(&bound.version);
    }
    let found = solve(&pinned, Supplies::Attached, pinned.request());
    let found = answer(&pinned, &found);
    let is_same = found.solution() == Some(&model.solution(resolution));
    (!is_same).then(|| format!("once pinned it is:\n{found}"))
}

/// The reasons are minimal, and every repair works.
fn wrong_reasons(model: &Model, conflict: &Conflict) -> Option<String> {
    if conflict.reasons.is_empty() || !conflict.is_minimal {
        return Some(format!("the reasons:\n{:#?}", conflict.reasons));
    }
    // Contracts compare with requirements, so a repair allows exactly the version.
    let helps = |repair: &SuggestedChange| {
        let exactly = Spec::exactly(&repair.allow);
        [exactly, spec("*")]
            .iter()
            .any(|spec| repairs(model, repair, spec))
    };
    let useless = conflict.suggestions.iter().find(|repair| !helps(repair));
    useless.map(|repair| format!("does not help: {}", repair.text))
}

/// Whether a model has a resolution once a repair changes a spec to this one.
fn repairs(model: &Model, repair: &SuggestedChange, spec: &Spec) -> bool {
    let mut repaired = model.clone();
    for record in &mut repaired.universe.records {
        if record.name == repair.owner && repair.versions.contains(&record.version) {
            record
                .requirements
                .change(|all| allow(all, &repair.package, spec));
        }
    }
    let verdict = solve(&repaired, Supplies::OnDemand, repaired.request());
    matches!(verdict, Verdict::Solved(_))
}

/// Changes the spec of a requirement on a package; the requirement on the core library may be
/// implicit.
fn allow(requirements: &mut Vec<Requirement>, package: &PackageName, spec: &Spec) {
    let mut known = requirements.iter_mut();
    match known.find(|requirement| requirement.package == *package) {
        Some(requirement) => requirement.spec = spec.clone(),
        None => requirements.push(Requirement {
            package: package.clone(),
            spec: spec.clone(),
            location: None,
        }),
    }
}

/// A search in the order of conflicts finds a valid resolution exactly if there is one.
fn wrong_in_order_of_conflicts(model: &Model, expected: &Answer) -> Option<String> {
    let mut request = model.request();
    request.options.conflict_limit = 0;
    let found = answer(model, &solve(model, Supplies::Attached, request));
    let (Some(_), Some(solution)) = (expected.solution(), found.solution()) else {
        let is_same = expected.solution().is_none() && found.solution().is_none();
        return (!is_same).then(|| format!("in the order of conflicts:\n{found}"));
    };
    let packages = model.as_packages();
    if let Err(flaw) = is_valid(&packages, solution, &Rules::default()) {
        return Some(format!("in the order of conflicts, {flaw}:\n{found}"));
    }
    let meets_contracts = model.meets_contracts(&packages, solution);
    (!meets_contracts).then(|| format!("in the order of conflicts, violating a contract:\n{found}"))
}

fn tally(universe: impl Fn(u64) -> Universe + Sync) -> Tally {
    let each = |seed: u64| {
        let model = Model::random(seed, universe(seed))?;
        let packages = model.as_packages();
        let expected = search_where(&packages, &|solution| {
            model.meets_contracts(&packages, solution)
        });
        let without = search(&packages, &Rules::default());
        let mistake = mistake(&model, &expected);
        let wrong = mistake.map(|text| format!("seed {seed}\n{model}expected:\n{expected}{text}"));
        Some((expected, without, wrong))
    };
    let mut tally = Tally::default();
    for (expected, without, wrong) in seeds::for_all(seeds::count(SEEDS), each)
        .into_iter()
        .flatten()
    {
        tally.models += 1;
        tally.solved += usize::from(expected.solution().is_some());
        tally.other_resolution += usize::from(expected.solution().is_some() && expected != without);
        tally.no_resolution += usize::from(expected.solution().is_none() && expected != without);
        tally.split += usize::from(expected.is_side_by_side() && !without.is_side_by_side());
        tally.wrong.extend(wrong);
    }
    tally
}

fn assert_right(tally: &Tally) {
    let Tally { wrong, .. } = tally;
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
    let counts = [
        tally.solved,
        tally.other_resolution,
        tally.no_resolution,
        tally.split,
    ];
    assert!(counts.iter().all(|count| *count > 0), "{tally:?}");
}

/// The solver infers nothing about the ancestors of a class in versions that it has not seen.
#[test]
fn example_models_have_the_answers_of_the_reference() {
    let mut wrong = String::new();
    for (name, model) in examples() {
        let packages = model.as_packages();
        let expected = search_where(&packages, &|solution| {
            model.meets_contracts(&packages, solution)
        });
        if let Some(mistake) = mistake(&model, &expected) {
            write!(wrong, "{name}:\n{model}expected:\n{expected}{mistake}")
                .expect("there is memory");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A contract that many releases and objects violate in the same way is one reason, about one object.
#[test]
fn equal_objects_have_one_reason() {
    let model = same_objects();
    let Verdict::Conflict(conflict) = solve(&model, Supplies::OnDemand, model.request()) else {
        panic!("every version of X inherits W 2");
    };
    let reasons = conflict.reasons.iter();
    let reasons: Vec<&str> = reasons.map(|reason| reason.text.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "`0`.p: the object `1` is of class W (W 2.0.0), but H (H 1.0.0) wants W 1",
            "the object `0` needs H *",
            "the object `1` needs X *",
            "every version of X requires W 2",
        ]
    );
    assert!(conflict.is_minimal);
}

/// An override does not apply to objects, so it is no reason why a model has no resolution.
#[test]
fn explanations_of_models_with_overrides_are_minimal() {
    for (name, model) in examples() {
        for overridden in [package("W"), package("X")] {
            for spec in [spec("1"), spec("=9")] {
                let mut request = model.request();
                request.overrides = BTreeMap::from([(overridden.clone(), spec)]);
                let verdict = solve(&model, Supplies::OnDemand, request);
                if let Verdict::Conflict(conflict) = verdict {
                    assert!(conflict.is_minimal, "{name}: {:#?}", conflict.reasons);
                }
            }
        }
    }
}

/// Both engines, on models over random universes.
#[test]
fn random_models_have_the_answers_of_the_reference() {
    let tally = tally(Universe::random);
    assert_right(&tally);
}

/// Both engines, on models over varied examples.
#[test]
fn models_of_varied_examples_have_the_answers_of_the_reference() {
    let tally = tally(variation);
    assert_right(&tally);
}
