//! Overrides, the cutoff date and the preference for old versions. Each policy is compared with an
//! equivalent universe that needs no policy: with rewritten requirements, yanked releases or mirrored
//! versions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pkgres_manifest::{
    IndexRecord, LockDiff, PackageName, Release, ReleaseSource, Requirement, Spec, Version,
};
use pkgres_resolver::{
    Engine, LockCheck, PolicyExclusion, Preference, PrereleaseReason, ReasonKind, Request,
    Resolution, Resolver, Staleness, Step, Supply,
};
use pkgres_tests::build::{Build, package, release, spec, version};
use pkgres_tests::drive::{NoPackages, drive};
use pkgres_tests::random::Random;
use pkgres_tests::reference::Answer;
use pkgres_tests::solver::{Supplies, Verdict, request, run};
use pkgres_tests::universe::{PrereleasePolicy, Universe};

const SEEDS: u64 = 3_000;
const SUPPLIES: [Supplies; 4] = [
    Supplies::OnDemand,
    Supplies::Attached,
    Supplies::PartlyCompiled,
    Supplies::AttachedWhenNeeded,
];

fn cutoff() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().expect("a time")
}

fn requires_explicitly(record: &mut IndexRecord, target: &PackageName, spec: &Spec) {
    let requirement = Requirement {
        package: target.clone(),
        spec: spec.clone(),
        location: None,
    };
    record.requirements.change(|all| all.push(requirement));
}

#[test]
fn an_override_equals_rewritten_requirements() {
    let mut overridden = 0;
    for seed in 0..SEEDS {
        let universe = Universe::random(seed);
        let mut random = Random::new(seed);
        let target = universe.records[random.below(universe.records.len())].clone();
        let overriding = match random.below(3) {
            0 => Spec::exactly(&target.version),
            1 => Spec::parse(&format!(">={}", target.version.major())).expect("a spec"),
            _ => Spec::any(),
        };
        let mut rewritten = universe.clone();
        for record in rewritten.records.iter_mut().chain([&mut rewritten.root]) {
            let is_core = universe.core.as_ref() == Some(&target.name);
            let is_written = |record: &IndexRecord| {
                let mut requirements = record.requirements.iter();
                requirements.any(|requirement| requirement.package == target.name)
            };
            if is_core && record.name != target.name && !is_written(record) {
                requires_explicitly(record, &target.name, &overriding);
            }
            for requirement in record.requirements.iter_mut() {
                if requirement.package == target.name {
                    requirement.spec = overriding.clone();
                    overridden += 1;
                }
            }
        }
        let expected = run(&rewritten, Supplies::OnDemand, request(&rewritten)).answer();
        for supplies in SUPPLIES {
            let mut request = request(&universe);
            request.overrides = BTreeMap::from([(target.name.clone(), overriding.clone())]);
            let found = run(&universe, supplies, request).answer();
            assert_eq!(
                found, expected,
                "{seed} {supplies:?} {}\n{universe}",
                target.name
            );
        }
    }
    assert!(overridden > 1_000, "{overridden}");
}

#[test]
fn releases_after_the_cutoff_equal_yanked_releases() {
    let mut mattered = 0;
    for seed in 0..SEEDS {
        let mut universe = Universe::random(seed);
        let mut yanked = universe.clone();
        let mut random = Random::new(seed);
        for (record, other) in universe.records.iter_mut().zip(&mut yanked.records) {
            let (published, is_new) = match random.below(4) {
                0 => (Some("2026-06-01T00:00:00Z"), true),
                1 => (Some("2026-06-01T01:59:59+02:00"), false),
                2 => (Some("soon"), true),
                _ => (None, false),
            };
            record.published = published.map(str::to_owned);
            other.yanked |= is_new;
        }
        let expected = run(&yanked, Supplies::OnDemand, request(&yanked)).answer();
        let without = run(&universe, Supplies::OnDemand, request(&universe)).answer();
        mattered += u64::from(without != expected);
        for supplies in SUPPLIES {
            let mut request = request(&universe);
            request.options.exclude_newer = Some(cutoff());
            let found = run(&universe, supplies, request).answer();
            assert_eq!(found, expected, "{seed} {supplies:?}\n{universe}");
        }
    }
    assert!(mattered > SEEDS / 10, "{mattered}");
}

/// A root may have a date of publication, as an information model has. It is there whenever it was published, and so are
/// the reasons that it takes part in.
#[test]
fn a_root_that_is_newer_than_the_cutoff_date() {
    let mut root = release("R", "1").requires("X", "1");
    let mut late = release("X", "1");
    for record in [&mut root, &mut late] {
        record.published = Some("2026-07-01T00:00:00Z".to_owned());
    }
    let universe = Universe::new(root, vec![late]);
    for supplies in SUPPLIES {
        let mut request = request(&universe);
        request.options.exclude_newer = Some(cutoff());
        let Verdict::Conflict(conflict) = run(&universe, supplies, request) else {
            panic!("the only release was published too late");
        };
        let reasons = conflict.reasons.iter().map(|reason| reason.text.as_str());
        assert_eq!(reasons.collect::<Vec<_>>(), ["R 1.0.0 requires X 1"]);
        let hints = conflict.hints.iter().map(|hint| hint.text.as_str());
        assert_eq!(
            hints.collect::<Vec<_>>(),
            ["X 1.0.0 matches but was published too late for `exclude-newer`"]
        );
    }
}

#[test]
fn a_provided_release_that_is_newer_than_the_cutoff_date() {
    let mut provided = release("Core", "2");
    provided.published = Some("2026-07-01T00:00:00Z".to_owned());
    let universe = Universe::new(release("R", "1").requires("Core", "2"), vec![]);
    let mut request = request(&universe);
    request.options.exclude_newer = Some(cutoff());
    let mut resolver = Resolver::new(request);
    let supply = Supply::Releases {
        source: ReleaseSource::Host,
        records: vec![provided],
    };
    resolver
        .provide(&package("Core"), supply)
        .expect("it is provided once");
    let step = drive(&mut resolver, &mut NoPackages);
    assert!(matches!(step, Step::Solved(_)), "{step:?}");
}

/// The universe with the order of versions reversed; `None` if it has prereleases.
fn mirrored(universe: &Universe) -> Option<Universe> {
    let mut versions: BTreeMap<&PackageName, Vec<&Version>> = BTreeMap::new();
    for record in &universe.records {
        versions
            .entry(&record.name)
            .or_default()
            .push(&record.version);
    }
    for versions in versions.values_mut() {
        versions.sort();
        if versions.iter().any(|version| version.is_prerelease()) {
            return None;
        }
    }
    let mirror = |name: &PackageName, version: &Version| {
        let versions = &versions[name];
        let at = versions.iter().position(|known| *known == version);
        let from_end = versions.len() - at.expect("every version is listed");
        Version::new(u64::try_from(from_end).expect("few versions"), 0, 0)
    };
    let mirror_spec = |requirement: &Requirement| {
        let (name, spec) = (&requirement.package, &requirement.spec);
        let none = Vec::new();
        let known: Vec<(&Version, Version)> = if *name == universe.root.name {
            vec![(&universe.root.version, universe.root.version.clone())]
        } else {
            let versions = versions.get(name).unwrap_or(&none).iter();
            versions
                .map(|version| (*version, mirror(name, version)))
                .collect()
        };
        let excluded = known.iter().filter(|(version, _)| !spec.matches(version));
        let clauses = excluded.map(|(_, mirrored)| format!("!={mirrored}"));
        let clauses: Vec<String> = ["*".to_owned()].into_iter().chain(clauses).collect();
        Spec::parse(&clauses.join(",")).expect("a spec")
    };
    let mut other = universe.clone();
    let kept = universe.kept.iter();
    other.kept = kept
        .map(|Release { name, version }| Release::new(name.clone(), mirror(name, version)))
        .collect();
    for record in other.records.iter_mut().chain([&mut other.root]) {
        if record.name != universe.root.name {
            record.version = mirror(&record.name, &record.version);
        }
        for requirement in record.requirements.iter_mut() {
            requirement.spec = mirror_spec(requirement);
        }
        if let Some(core) = &universe.core
            && record.name != *core
        {
            let mut requirements = record.requirements.iter();
            if !requirements.any(|requirement| requirement.package == *core) {
                let implicit = Requirement {
                    package: core.clone(),
                    spec: Spec::unspecified(),
                    location: None,
                };
                let spec = mirror_spec(&implicit);
                requires_explicitly(record, core, &spec);
            }
        }
    }
    Some(other)
}

#[test]
fn prefer_oldest_equals_newest_in_a_mirrored_universe() {
    let mut solved = 0;
    for seed in 0..SEEDS {
        let mut universe = Universe::random(seed);
        universe.locked = None;
        universe.prerelease = PrereleasePolicy::Allow;
        let Some(mirror) = mirrored(&universe) else {
            continue;
        };
        let versions = |answer: &Answer| {
            answer.solution().map(|solution| {
                let bindings = solution.bindings.iter();
                let mut found: Vec<(PackageName, PackageName, Version)> = bindings
                    .map(|((owner, _, name), version)| {
                        (owner.clone(), name.clone(), version.clone())
                    })
                    .collect();
                found.sort();
                found
            })
        };
        let expected = versions(&run(&mirror, Supplies::OnDemand, request(&mirror)).answer());
        for supplies in SUPPLIES {
            let mut request = request(&universe);
            request.options.prefer = Preference::Oldest;
            let found = run(&universe, supplies, request).answer();
            let found = mirror_answer(&universe, versions(&found));
            assert_eq!(found, expected, "{seed} {supplies:?}\n{universe}");
            solved += usize::from(expected.is_some());
        }
    }
    assert!(solved > 1_000, "{solved}");
}

type Bound = Vec<(PackageName, PackageName, Version)>;

fn mirror_answer(universe: &Universe, found: Option<Bound>) -> Option<Bound> {
    let mut found: Bound = found?
        .into_iter()
        .map(|(owner, name, version)| {
            let mut versions: Vec<&Version> = universe
                .records
                .iter()
                .filter(|record| record.name == name)
                .map(|record| &record.version)
                .collect();
            versions.sort();
            let at = versions.iter().position(|known| **known == version);
            let version = at.map_or(version, |at| {
                let from_end = versions.len() - at;
                Version::new(u64::try_from(from_end).expect("few versions"), 0, 0)
            });
            (owner, name, version)
        })
        .collect();
    found.sort();
    Some(found)
}

#[test]
fn conflicts_and_locks_record_the_override() {
    let root = release("R", "1").requires("X", "*").requires("Y", "1");
    let records = vec![
        release("X", "1").requires("Y", "2"),
        release("Y", "1"),
        release("Y", "2"),
        release("Y", "3"),
    ];
    let universe = Universe::new(root, records);
    let mut overridden = request(&universe);
    overridden.overrides = BTreeMap::from([(package("Y"), spec("4"))]);
    let Verdict::Conflict(conflict) = run(&universe, Supplies::OnDemand, overridden) else {
        panic!("there is no Y 4");
    };
    assert!(
        conflict.reasons.iter().any(|reason| {
            reason.text == "R 1.0.0 requires Y 1, which is overridden with 4"
                && matches!(&reason.kind, ReasonKind::Requires { overridden_by: Some(by), .. } if by == "4")
        }),
        "{conflict:#?}"
    );

    let mut overridden = request(&universe);
    overridden.overrides = BTreeMap::from([(package("Y"), spec(">=2,<3"))]);
    let Verdict::Solved(resolution) = run(&universe, Supplies::OnDemand, overridden.clone()) else {
        panic!("Y 2 is there");
    };
    let lock = resolution.to_lockfile().expect("the roots are packages");
    assert_eq!(
        lock.overrides[&package("Y")].normal_form(),
        ">=2.0.0,<3.0.0"
    );
    assert_eq!(
        resolution.roots()[0].requires[1].overridden,
        Some(spec("1"))
    );
    let check = |request| {
        let mut check = LockCheck::new(request, lock.clone());
        for name in check.needs() {
            let of_name = universe.records.iter().filter(|record| record.name == name);
            let source = resolution.packages()[0].source.clone();
            let records = of_name.cloned().collect();
            let provided = check.provide(&name, Supply::Releases { source, records });
            provided.expect("the records are of the package");
        }
        check.report().stale
    };
    assert_eq!(check(overridden), []);
    let stale = check(request(&universe));
    assert!(
        matches!(&stale[0], Staleness::OverrideChanged { spec: None, .. }),
        "{stale:?}"
    );
}

#[test]
fn a_frozen_lock_gives_the_resolution_that_it_was_written_from() {
    let mut solved = 0;
    for seed in 0..SEEDS {
        let universe = Universe::random(seed);
        let Verdict::Solved(resolution) = run(&universe, Supplies::OnDemand, request(&universe))
        else {
            continue;
        };
        solved += 1;
        let lock = resolution.to_lockfile().expect("the roots are packages");
        let root = &universe.root;
        let again = Resolution::from_lockfile(&lock, &root.name, Some(&root.version));
        let again = again.unwrap_or_else(|error| panic!("{seed}: {error}\n{universe}"));
        let diff = LockDiff::between(&lock, &again.to_lockfile().expect("the roots are packages"));
        assert!(diff.is_empty(), "{seed}: {diff:?}");
    }
    assert!(solved > 1_000, "{solved}");
    let lock = pkgres_manifest::Lockfile::default();
    assert!(Resolution::from_lockfile(&lock, &package("R"), Some(&version("1"))).is_err());
}

/// The chosen versions of `L` and `N`, which the engines agree on.
fn chosen(root: IndexRecord, records: &[IndexRecord]) -> Vec<String> {
    let universe = Universe::new(root, records.to_vec());
    let answers = [Engine::Native, Engine::Pubgrub].map(|engine| {
        [0, u64::MAX].map(|conflict_limit| {
            let mut request = request(&universe);
            request.options.engine = engine;
            request.options.conflict_limit = conflict_limit;
            let Verdict::Solved(resolution) = run(&universe, Supplies::OnDemand, request) else {
                panic!("there is a resolution");
            };
            let packages = resolution.packages().iter();
            packages
                .map(|package| format!("{} {}", package.name, package.version))
                .collect::<Vec<_>>()
        })
    });
    let [first, others @ ..] = answers.as_flattened() else {
        unreachable!("there are four answers");
    };
    assert!(others.iter().all(|other| other == first), "{answers:?}");
    first.clone()
}

/// Which requirements count must not depend on the choice itself: if `L 1` alone leads to the requirement that makes
/// `L 2` the better one, neither would be the best.
#[test]
fn a_prerelease_is_preferred_if_it_is_named_before_its_package_is_decided() {
    let root = || release("R", "1");
    let named = [
        release("L", "1"),
        release("L", "2.0.0-a"),
        release("N", "1").requires("L", "<2.0.0-b"),
    ];
    let first = root().requires("L", "*").requires("N", "*");
    assert_eq!(chosen(first, &named), ["L 1.0.0", "N 1.0.0"]);
    let second = root().requires("N", "*").requires("L", "*");
    assert_eq!(chosen(second, &named), ["L 2.0.0-a", "N 1.0.0"]);

    let only_by_the_older = [
        release("L", "1").requires("N", "1"),
        release("L", "2.0.0-a"),
        release("N", "1").requires("L", "<2.0.0-b"),
    ];
    let root = root().requires("L", "*");
    assert_eq!(chosen(root, &only_by_the_older), ["L 1.0.0", "N 1.0.0"]);
}

#[test]
fn the_reason_of_a_prerelease_says_why_no_stable_version_is_chosen() {
    let reason = |spec: &str, change: &dyn Fn(&mut IndexRecord), policy: &dyn Fn(&mut Request)| {
        let mut stable = release("L", "1");
        change(&mut stable);
        let records = vec![release("L", "0.9.0"), stable, release("L", "1.1.0-a")];
        let universe = Universe::new(release("R", "1").requires("L", spec), records);
        let mut request = request(&universe);
        policy(&mut request);
        match run(&universe, Supplies::OnDemand, request) {
            Verdict::Solved(resolution) => resolution.prereleases()[0].because.clone(),
            other @ Verdict::Conflict(_) => panic!("{other:?}"),
        }
    };
    let excluded = |exclusion| PrereleaseReason::StableExcluded {
        version: version("1.0.0"),
        exclusion,
    };
    let yank = |record: &mut IndexRecord| record.yanked = true;
    let publish =
        |record: &mut IndexRecord| record.published = Some("2026-07-01T00:00:00Z".to_owned());
    let nothing = |_: &mut Request| {};
    let cut_off = |request: &mut Request| request.options.exclude_newer = Some(cutoff());
    assert_eq!(
        reason("1", &yank, &nothing),
        excluded(PolicyExclusion::Yanked)
    );
    assert_eq!(
        reason("1", &publish, &cut_off),
        excluded(PolicyExclusion::TooNew)
    );
    // What does not fit anyway is no reason.
    assert_eq!(
        reason(">=1.0.1,<2", &yank, &nothing),
        PrereleaseReason::NoStable
    );
    let keep = |request: &mut Request| {
        request.options.prerelease = pkgres_resolver::PrereleasePolicy::Never;
        let kept = Release::new(package("L"), version("1.1.0-a"));
        request.locked.kept.insert(kept);
    };
    assert_eq!(reason("1", &yank, &keep), PrereleaseReason::Locked);
}
