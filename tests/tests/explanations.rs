//! What the solver says of universes without resolution: reasons of which none can be left out,
//! and repairs that repair.
//!
//! `SEEDS=100000` asks for more universes than the usual number.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, RegistryName, ReleaseSource, Spec, Version};
use pkgres_resolver::{CompiledIndex, Conflict, Reason, ReasonKind, Resolver, Step, Supply};
use pkgres_tests::build::{Build, package, release, spec};
use pkgres_tests::solver::{Supplies, Verdict, request, run, solve};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 10_000;

fn seeds() -> u64 {
    let asked = std::env::var("SEEDS").ok();
    asked.map_or(SEEDS, |asked| asked.parse().expect("SEEDS is a number"))
}

fn conflict(universe: &Universe) -> Option<Box<Conflict>> {
    match solve(universe) {
        Verdict::Solved(_) => None,
        Verdict::Conflict(conflict) => Some(conflict),
    }
}

fn releases(universe: &mut Universe) -> impl Iterator<Item = &mut IndexRecord> {
    std::iter::once(&mut universe.root).chain(&mut universe.records)
}

#[test]
fn repairs_repair() {
    let mut tried = 0;
    for seed in 0..seeds() {
        let universe = Universe::random(seed);
        let Some(conflict) = conflict(&universe) else {
            continue;
        };
        for repair in &conflict.repairs {
            let mut mended = universe.clone();
            let mut changed = false;
            for record in releases(&mut mended) {
                let is_owner =
                    record.name == repair.owner && repair.versions.contains(&record.version);
                for requirement in record.requirements.to_mut() {
                    if is_owner && requirement.package == repair.package {
                        requirement.spec = Spec::exactly(&repair.allow);
                        changed = true;
                    }
                }
            }
            // The core library is required without being written.
            if !changed {
                continue;
            }
            tried += 1;
            assert!(
                matches!(solve(&mended), Verdict::Solved(_)),
                "seed {seed}: {}\n{universe}",
                repair.text
            );
        }
    }
    assert!(tried > 500, "only {tried} repairs were tried");
}

/// An override stands in place of what everyone wrote, so that it is mended for everyone.
#[test]
fn an_override_is_repaired_for_all_who_require_the_package() {
    let root = release("R", "1")
        .requires("Z", "*")
        .requires("B", "*")
        .requires("C", "*")
        .defines("R", &["Z.K"]);
    let records = vec![
        release("Z", "1"),
        release("Z", "2").defines("Z.K", &[]),
        release("B", "1").requires("Z", "*"),
        release("C", "1").requires("Z", "1"),
    ];
    let universe = Universe::new(root, records);
    let mut request = request(&universe);
    request.overrides = BTreeMap::from([(package("Z"), spec("1"))]);
    let Verdict::Conflict(conflict) = run(&universe, Supplies::OnDemand, request) else {
        panic!("Z 1 has no class Z.K");
    };
    let texts: Vec<&str> = (conflict.repairs.iter())
        .map(|repair| repair.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["it can be solved if the override of Z allows Z 2.0.0"]
    );
}

/// Why there is no resolution is a matter of what there is, not of what it took to find out.
#[test]
fn what_the_search_used_up_does_not_change_the_explanation() {
    let (mut compared, mut narrow) = (0, 0);
    for seed in 0..seeds() {
        let universe = Universe::random(seed);
        let Some(expected) = conflict(&universe) else {
            continue;
        };
        assert!(expected.is_minimal, "seed {seed}");
        let explained = (0..40).find_map(|max_steps| {
            let mut request = request(&universe);
            request.options.max_steps = max_steps;
            let mut resolver = Resolver::new(request);
            let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a name"));
            let index = CompiledIndex::compile(&universe.records);
            resolver.attach(source, Arc::new(index));
            loop {
                match resolver.step() {
                    Step::Need(names) => {
                        for name in names {
                            resolver.provide(&name, Supply::Unknown);
                        }
                    }
                    Step::Impossible => {}
                    Step::Conflict(conflict) => return Some((max_steps, conflict)),
                    Step::GaveUp { .. } => return None,
                    other => panic!("seed {seed}: {other:?}"),
                }
            }
        });
        if let Some((max_steps, found)) = explained {
            assert_eq!(found, expected, "seed {seed} in {max_steps} steps");
            compared += 1;
            narrow += usize::from(max_steps > 2);
        }
    }
    assert!(compared > 500 && narrow > 20, "{compared} {narrow}");
}

/// A proof of very many facts is not looked through for those that can be left out.
#[test]
fn what_is_not_known_to_be_minimal_says_so() {
    let last = 600;
    let name = |number: usize| format!("P{number}");
    let root = release("R", "1").requires(&name(0), "1");
    let chain = (0..last).map(|at| release(&name(at), "1").requires(&name(at + 1), "1"));
    let universe = Universe::new(root, chain.chain([release(&name(last), "2")]).collect());
    let conflict = conflict(&universe).expect("the last one is too new");
    assert_eq!(conflict.reasons.len(), last + 1);
    assert!(!conflict.is_minimal);
}

/// A requirement that takes part: who requires what, and which releases that leaves.
type Key = (PackageName, PackageName, Vec<Version>);

fn key(universe: &Universe, owner: &PackageName, package: &PackageName, spec: &Spec) -> Key {
    let mut left: Vec<Version> = universe
        .records
        .iter()
        .filter(|record| record.name == *package && !record.yanked)
        .map(|record| record.version.clone())
        .filter(|version| spec.matches(version))
        .collect();
    left.sort();
    (owner.clone(), package.clone(), left)
}

fn key_of(universe: &Universe, reason: &Reason) -> Option<Key> {
    match &reason.kind {
        ReasonKind::Requires { package, spec, .. } => {
            let spec = Spec::parse(spec).expect("a spec as it was written");
            Some(key(universe, &reason.owner, package, &spec))
        }
        _ => None,
    }
}

/// The universe with no requirements but those of the reasons.
fn reduced(
    universe: &Universe,
    keys: &BTreeMap<Key, Vec<&Reason>>,
    without: Option<&Key>,
) -> Universe {
    let mut reduced = universe.clone();
    for record in releases(&mut reduced) {
        let (name, version) = (record.name.clone(), record.version.clone());
        record.requirements.to_mut().retain(|requirement| {
            let key = key(universe, &name, &requirement.package, &requirement.spec);
            let is_reason = keys.get(&key).is_some_and(|reasons| {
                let mut versions = reasons.iter().flat_map(|reason| &reason.versions);
                versions.any(|known| *known == version)
            });
            is_reason && Some(&key) != without
        });
    }
    reduced
}

#[test]
fn no_reason_can_be_left_out() {
    let mut checked = 0;
    for seed in 0..seeds() {
        let mut universe = Universe::random(seed);
        universe.locked = None;
        // What is required without being written cannot be left out.
        universe.core = None;
        // Without classes all reasons are requirements.
        for record in releases(&mut universe) {
            record.classes = None;
        }
        let Some(conflict) = conflict(&universe) else {
            continue;
        };
        let mut keys: BTreeMap<Key, Vec<&Reason>> = BTreeMap::new();
        for reason in &conflict.reasons {
            let key = key_of(&universe, reason).expect("there are no classes");
            keys.entry(key).or_default().push(reason);
        }
        let all = reduced(&universe, &keys, None);
        assert!(
            matches!(solve(&all), Verdict::Conflict(_)),
            "seed {seed}: the reasons are not enough\n{universe}{conflict:#?}"
        );
        for key in keys.keys() {
            checked += 1;
            let without = reduced(&universe, &keys, Some(key));
            assert!(
                matches!(solve(&without), Verdict::Solved(_)),
                "seed {seed}: {key:?} can be left out\n{universe}{conflict:#?}"
            );
        }
    }
    assert!(checked > 500, "only {checked} reasons were checked");
}
