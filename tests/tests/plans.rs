//! Plans for object models: which versions replace those that are gone, and which package of several is meant.

use std::sync::Arc;

use pkgres_manifest::{Limits, ObjectModel, ReadOptions, RegistryName};
use pkgres_registry_client::{
    Answer, FinishedPlan, MemoryRegistry, RegistrySet, drive, finish_plan,
};
use pkgres_resolver::{
    Fallback, Locked, ModelPlan, ModelRoot, PrereleasePolicy, Request, Resolver, Root, SolveOptions,
};
use pkgres_tests::build::{Build, release};

/// The versions of the objects of a model, or the errors.
fn pin(
    header: &str,
    records: Vec<pkgres_manifest::IndexRecord>,
    options: &SolveOptions,
    fallback: Fallback,
) -> Result<Vec<String>, String> {
    pin_all(&[header], records, options, fallback)
}

/// The same for a model with several objects.
fn pin_all(
    headers: &[&str],
    records: Vec<pkgres_manifest::IndexRecord>,
    options: &SolveOptions,
    fallback: Fallback,
) -> Result<Vec<String>, String> {
    let objects = headers.iter().map(|header| format!("- ?: {{{header}}}\n"));
    let text: String = objects.collect();
    let model = ObjectModel::read("model.yaml", text.as_bytes(), &Limits::default());
    let model = Arc::new(model.into_result().expect("the model is valid").0);
    let mut registry = MemoryRegistry::new(RegistryName::parse("default").expect("a name"));
    for record in records {
        registry.add_record(record);
    }
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let locked = Locked::default();
    let plan = ModelPlan::new(model, &locked, &[], options.clone(), fallback);
    let planned = finish_plan(plan, &registries).expect("memory can be read");
    let mut planned = match planned {
        FinishedPlan::Planned(planned) => planned,
        FinishedPlan::Wrong(wrong) => return Err(wrong.findings[0].to_string()),
    };
    let mut locked = locked;
    locked.kept.clone_from(&planned.pinned);
    let solve = |root: &ModelRoot| {
        let request = Request {
            roots: vec![Root::Model(root.clone())],
            core: None,
            host_releases: Vec::new(),
            locked: locked.clone(),
            overrides: std::collections::BTreeMap::new(),
            options: options.clone(),
            update: None,
        };
        let mut resolver = Resolver::new(request);
        drive(&mut resolver, &registries, &ReadOptions::default())
    };
    let is_solvable =
        |root: &ModelRoot| solve(root).map(|found| matches!(found, Answer::Solved(_)));
    planned
        .choose_replacements(is_solvable)
        .expect("memory can be read");
    match solve(&planned.root).expect("memory can be read") {
        Answer::Solved(resolution) => {
            let bound = resolution.roots()[0].requires.iter();
            let bound = bound.map(|bound| format!("{} {}", bound.package, bound.version));
            Ok(bound.collect())
        }
        Answer::Conflict(conflict) => Err(conflict.summary),
        answer => panic!("{answer:?}"),
    }
}

const GONE: &str = "id: p, type: P.K, package: P, version: 1.1.0";

#[test]
fn a_version_that_cannot_be_chosen_replaces_none_that_is_gone() {
    let usable = || release("P", "1.2").defines("P.K", &[]);
    let mut options = SolveOptions::default();
    options.exclude_newer = Some("2026-01-01T00:00:00Z".parse().expect("a time"));
    let newest = || release("P", "1.3").defines("P.K", &[]);
    let mut too_new = newest();
    too_new.published = Some("2026-06-01T00:00:00Z".into());
    for unusable in [
        newest().yanked(),
        release("P", "1.3").defines("P.Other", &[]),
        newest().requires("Gone", "1"),
        too_new,
    ] {
        let records = vec![usable(), unusable];
        let found = pin(GONE, records, &options, Fallback::Newer);
        assert_eq!(found, Ok(vec!["P 1.2.0".to_owned()]));
    }
    let found = pin(GONE, vec![usable(), newest()], &options, Fallback::Newer);
    assert_eq!(found, Ok(vec!["P 1.3.0".to_owned()]));
}

#[test]
fn the_same_minor_version_comes_first_and_stable_versions_before_prereleases() {
    let records = || {
        ["1.0.1", "1.1.1", "1.1.2", "1.1.3-rc.1", "1.2.0", "2.0.0"]
            .map(|version| release("P", version).defines("P.K", &[]))
            .to_vec()
    };
    let options = SolveOptions::default();
    let found = |header: &str, fallback| pin(header, records(), &options, fallback);
    assert_eq!(found(GONE, Fallback::Newer), Ok(vec!["P 1.1.2".to_owned()]));
    let newest = "id: p, type: P.K, package: P, version: 1.1.4";
    assert_eq!(found(newest, Fallback::Any), Ok(vec!["P 1.2.0".to_owned()]));
    let newest = "id: p, type: P.K, package: P, version: 1.9.0";
    assert_eq!(found(newest, Fallback::Any), Ok(vec!["P 1.2.0".to_owned()]));
    let error = found(newest, Fallback::Newer).expect_err("all are older");
    assert!(error.contains("the nearest version is 2.0.0"), "{error}");
}

#[test]
fn the_nearest_version_is_one_that_can_be_chosen() {
    let options = SolveOptions::default();
    let records = vec![
        release("P", "1.0").defines("P.K", &[]),
        release("P", "1.2").defines("P.K", &[]).yanked(),
    ];
    let error = pin(GONE, records, &options, Fallback::Never).expect_err("it is gone");
    assert!(error.contains("the nearest version is 1.0.0"), "{error}");
    let records = vec![
        release("P", "1.0").defines("P.K", &[]),
        release("P", "2.0.0-a").defines("P.K", &[]),
    ];
    let error = pin(GONE, records, &options, Fallback::Never).expect_err("it is gone");
    assert!(error.contains("the nearest version is 1.0.0"), "{error}");
    let records = vec![release("P", "1.2").defines("P.K", &[]).yanked()];
    let error = pin(GONE, records, &options, Fallback::Newer).expect_err("it is gone");
    assert!(
        error.contains("no other version of `P` can be chosen"),
        "{error}"
    );
}

#[test]
fn every_spelling_of_a_version_is_a_pin() {
    let mut options = SolveOptions::default();
    options.prerelease = PrereleasePolicy::Never;
    let records = || {
        vec![
            release("P", "1.0").defines("P.K", &[]),
            release("P", "1.1").defines("P.K", &[]).yanked(),
        ]
    };
    for header in [
        "id: p, type: P.K, version: 1.1.0",
        "id: p, type: P.K, classVersion: 1.1.0",
        "id: p, type: P.K/1.1.0",
        "id: p, type: P.K/1.1.0@P",
        "id: p, type: P.K, package: P, version: 1.1.0",
    ] {
        let found = pin(header, records(), &options, Fallback::Never);
        assert_eq!(found, Ok(vec!["P 1.1.0".to_owned()]), "{header}");
    }
}

#[test]
fn a_package_without_a_release_that_can_be_chosen_makes_no_class_ambiguous() {
    let header = "id: p, type: P.K";
    let options = SolveOptions::default();
    let of_p = || release("P", "1").defines("P.K", &[]);
    let of_q = || release("Q", "1").defines("P.K", &[]);
    let found = pin(
        header,
        vec![of_p(), of_q().yanked()],
        &options,
        Fallback::Never,
    );
    assert_eq!(found, Ok(vec!["P 1.0.0".to_owned()]));
    let error = pin(header, vec![of_p(), of_q()], &options, Fallback::Never);
    let error = error.expect_err("both define it");
    assert!(error.contains("several packages define"), "{error}");
}

#[test]
fn a_pin_to_a_yanked_version_does_not_pass_to_another_package() {
    let options = SolveOptions::default();
    let yanked = |version| release("P", version).defines("P.K", &[]).yanked();
    let foreign = |version| release("Q", version).defines("P.K", &[]);
    let pinned = "id: p, type: P.K, version: 1.2.4";
    for records in [
        vec![yanked("1.2.4"), yanked("1.3"), foreign("1.2.4")],
        vec![yanked("1.2.4"), yanked("1.3"), foreign("1.2.5")],
        // The version is gone, so that nothing says which package has been meant.
        vec![yanked("1.3"), foreign("1.2.5")],
    ] {
        for fallback in [Fallback::Never, Fallback::Newer, Fallback::Any] {
            let error = pin(pinned, records.clone(), &options, fallback);
            let error = error.expect_err("both define it");
            assert!(error.contains("several packages define"), "{error}");
        }
    }
    let records = vec![yanked("1.2.4"), foreign("1.2.5").yanked()];
    let found = pin(pinned, records, &options, Fallback::Newer);
    assert_eq!(found, Ok(vec!["P 1.2.4".to_owned()]));
    let records = vec![yanked("1.3"), foreign("1.2.4")];
    let found = pin(pinned, records, &options, Fallback::Newer);
    assert_eq!(found, Ok(vec!["Q 1.2.4".to_owned()]));
}

/// The states that a version can be in.
const STATES: [&str; 6] = [
    "absent",
    "usable",
    "yanked",
    "of another class",
    "needs Gone",
    "needs Q 1",
];

/// The version `version` of P in a state.
fn version_in(state: &str, version: &str) -> Option<pkgres_manifest::IndexRecord> {
    let built = || release("P", version).defines("P.K", &[]);
    match state {
        "absent" => None,
        "usable" => Some(built()),
        "yanked" => Some(built().yanked()),
        "of another class" => Some(release("P", version).defines("P.Other", &[])),
        "needs Gone" => Some(built().requires("Gone", "1")),
        _ => Some(built().requires("Q", "1")),
    }
}

/// If any newer version of the same major version can be used, a missing pin is replaced: by the newest of the same
/// minor version that can be used, or else of the same major version, and by a prerelease only if no other fits. The
/// result can be pinned again.
#[test]
fn a_missing_pin_is_replaced_if_any_version_can_be_used() {
    const VERSIONS: [&str; 4] = ["1.1.1", "1.1.2", "1.2.0", "1.3.0-rc.1"];
    let options = SolveOptions::default();
    let mut replaced = 0;
    for universe in 0..STATES.len().pow(4) {
        let states = [0, 1, 2, 3].map(|at| STATES[universe / STATES.len().pow(at) % STATES.len()]);
        let mut records = vec![
            release("P", "1.0").defines("P.K", &[]),
            release("P", "2").defines("P.K", &[]),
            release("Q", "2"),
        ];
        let versions = VERSIONS.iter().zip(states);
        records.extend(versions.filter_map(|(version, state)| version_in(state, version)));
        let at_version = |version: &str| {
            let header = format!("id: p, type: P.K, package: P, version: {version}");
            pin(&header, records.clone(), &options, Fallback::Never)
        };
        // From the preferred one on.
        let preferred = ["1.1.2", "1.1.1", "1.2.0", "1.3.0-rc.1"];
        let usable = |version: &&str| {
            let at = VERSIONS.iter().position(|known| known == version);
            states[at.expect("a version")] == "usable"
        };
        let expected = preferred.into_iter().find(usable);
        let found = pin(GONE, records.clone(), &options, Fallback::Newer).ok();
        let expected = expected.map(|version| vec![format!("P {version}")]);
        assert_eq!(found, expected, "{states:?}");
        if let Some(found) = found {
            let version = found[0].trim_start_matches("P ");
            assert_eq!(at_version(version), Ok(found.clone()), "{states:?}");
            replaced += 1;
        }
    }
    assert!(replaced > 600, "{replaced}");
}

#[test]
fn only_the_pins_that_have_to_leave_their_minor_version_do() {
    let options = SolveOptions::default();
    let records = vec![
        release("P", "1.1.2")
            .defines("P.K", &[])
            .requires("Gone", "1"),
        release("P", "1.2").defines("P.K", &[]),
        release("R", "1.1.2").defines("R.K", &[]),
        release("R", "1.2").defines("R.K", &[]),
    ];
    let headers = ["id: r, type: R.K, package: R, version: 1.1.0", GONE];
    let found = pin_all(&headers, records.clone(), &options, Fallback::Newer);
    let expected = vec!["R 1.1.2".to_owned(), "P 1.2.0".to_owned()];
    assert_eq!(found, Ok(expected));
    // The conflict is about all versions that may replace the missing one.
    let mut records = records;
    records[1] = records[1].clone().requires("Gone", "1");
    let error = pin_all(&headers, records, &options, Fallback::Newer);
    let error = error.expect_err("both need what is gone");
    assert!(error.contains("Gone"), "{error}");
}
