//! Sufficiency: the reasons of a conflict are one by themselves, with packages side by side if these are allowed.

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, Spec};
use pkgres_resolver::{Conflict, InheritingClass, Reason, ReasonKind};
use pkgres_tests::reference::{Rules, search};
use pkgres_tests::seeds;
use pkgres_tests::solver::{Verdict, solve};
use pkgres_tests::universe::Universe;

use crate::releases;

/// How many universes of each kind are tried, and in how many of these the reference searches as well, which takes
/// longer.
const SEEDS: u64 = 12_000;
const REFERENCE_EVERY: u64 = 8;

/// Whether a reason states that a class of a release extends another one.
fn extends(reason: &Reason, record: &IndexRecord, class: &ClassName, parent: &ClassName) -> bool {
    let is_owner =
        reason.owner.as_ref() == Some(&record.name) && reason.versions.contains(&record.version);
    let is_at = |place: &InheritingClass| {
        place.package == record.name
            && place.versions.contains(&record.version)
            && place.class == *class
    };
    match &reason.kind {
        ReasonKind::Extends { class } | ReasonKind::Implements { interface: class } => {
            is_owner && class == parent
        }
        ReasonKind::OwnCycle => is_owner,
        ReasonKind::Inherits { paths } => paths.iter().any(|path| {
            let steps = path.windows(2);
            steps
                .clone()
                .any(|step| is_at(&step[0]) && step[1].class == *parent)
        }),
        _ => false,
    }
}

/// The universe with what the reasons state, and nothing else: other requirements allow every version, and no other class
/// extends one.
fn stated(universe: &Universe, conflict: &Conflict) -> Universe {
    let mut stated = universe.clone();
    for record in releases(&mut stated) {
        let whole = record.clone();
        let requires = |reason: &Reason, requirement: &pkgres_manifest::Requirement| {
            matches!(&reason.kind, ReasonKind::Requires { package, spec, .. }
                if reason.owner.as_ref() == Some(&whole.name)
                    && reason.versions.contains(&whole.version)
                    && *package == requirement.package
                    && *spec == requirement.spec.written())
        };
        record.requirements.change(|requirements| {
            for requirement in requirements {
                if !conflict
                    .reasons
                    .iter()
                    .any(|reason| requires(reason, requirement))
                {
                    requirement.spec = Spec::any();
                }
            }
        });
        let Some(classes) = record.classes.take() else {
            continue;
        };
        let classes = classes.iter().cloned().map(|mut class: IndexedClass| {
            let name = class.name.clone();
            let is_stated = |parent: &ClassName| {
                let mut reasons = conflict.reasons.iter();
                reasons.any(|reason| extends(reason, &whole, &name, parent))
            };
            class.extends.retain(is_stated);
            class.implements.retain(is_stated);
            class
        });
        let mut classes: Vec<IndexedClass> = classes.collect();
        classes.extend(defined_unless_lacking(&whole, conflict));
        *record = record.clone().with_classes(classes);
    }
    stated
}

/// The classes that the reasons say other versions of a release lack, if the release lacks them without a reason that
/// says so.
fn defined_unless_lacking(record: &IndexRecord, conflict: &Conflict) -> Vec<IndexedClass> {
    let mut defined: Vec<IndexedClass> = Vec::new();
    let mut lacking = Vec::new();
    for reason in &conflict.reasons {
        let ReasonKind::Lacks { class } = &reason.kind else {
            continue;
        };
        if reason.owner.as_ref() != Some(&record.name) {
            continue;
        }
        if reason.versions.contains(&record.version) {
            lacking.push(class);
        }
        let known = record.classes.iter().flat_map(|classes| classes.iter());
        if known.chain(&defined).all(|known| known.name != *class) {
            defined.push(IndexedClass {
                name: class.clone(),
                internal: false,
                extends: Vec::new(),
                implements: Vec::new(),
                uses: Vec::new(),
            });
        }
    }
    defined.retain(|class| !lacking.contains(&&class.name));
    defined
}

fn reasons_suffice(kind: &str, universe: impl Fn(u64) -> Universe + Sync) {
    let checked = seeds::for_all(seeds::count(SEEDS), |seed| {
        let universe = Universe {
            locked: None,
            core: None,
            ..universe(seed)
        };
        let conflict = solve(&universe).conflict()?;
        let alone = stated(&universe, &conflict);
        assert!(
            matches!(solve(&alone), Verdict::Conflict(_)),
            "{kind} {seed}: the reasons are not enough\n{universe}{conflict:#?}"
        );
        if seed.is_multiple_of(REFERENCE_EVERY) {
            let answer = search(&alone, &Rules::default());
            assert!(
                answer.solution().is_none(),
                "{kind} {seed}: the reasons are not enough\n{universe}{conflict:#?}"
            );
        }
        Some(())
    });
    let checked = checked.iter().flatten().count();
    assert!(checked > 20, "{kind}: only {checked} conflicts");
    println!("{kind}: the reasons of {checked} conflicts suffice");
}

#[test]
fn reasons_suffice_with_packages_side_by_side() {
    reasons_suffice("random", |seed| Universe {
        single_version: false,
        ..Universe::random(seed)
    });
}

#[test]
fn reasons_suffice_with_shared_classes_side_by_side() {
    reasons_suffice("hubs", |seed| Universe {
        single_version: false,
        ..Universe::around_hubs(seed).with_interfaces(seed)
    });
}

#[test]
fn reasons_suffice_with_cycles_of_packages_side_by_side() {
    reasons_suffice("entangled", |seed| Universe {
        single_version: false,
        ..Universe::entangled(seed)
    });
}
