//! Minimality: the reasons are enough, and none can be left out.

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Requirement, Spec, Version};
use pkgres_resolver::{Conflict, Reason, ReasonKind};
use pkgres_tests::build::{self, Build, release};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::solver::{Verdict, solve, solve_by};
use pkgres_tests::universe::Universe;

use crate::{SEEDS, engine, releases};

/// Whether a reason is a certain requirement of a release.
fn states(reason: &Reason, record: &IndexRecord, required: &PackageName, spec: &Spec) -> bool {
    match &reason.kind {
        ReasonKind::Requires {
            package,
            spec: stated,
            ..
        } => {
            reason.owner.as_ref() == Some(&record.name)
                && reason.versions.contains(&record.version)
                && package == required
                && stated == spec.written()
        }
        _ => false,
    }
}

/// The universe without the requirements that no reason states.
fn reduced(universe: &Universe, reasons: &[&Reason]) -> Universe {
    let mut reduced = universe.clone();
    for record in releases(&mut reduced) {
        let whole = record.clone();
        let is_stated = |requirement: &Requirement| {
            let states_it =
                |reason: &&Reason| states(reason, &whole, &requirement.package, &requirement.spec);
            reasons.iter().any(states_it)
        };
        record.requirements.change(|all| all.retain(is_stated));
    }
    reduced
}

/// Asserts that the reasons are enough, and that none of them, as printed, can be left out. Returns
/// their number.
fn assert_minimal(name: &str, universe: &Universe, conflict: &Conflict) -> usize {
    let is_requirement = |reason: &Reason| matches!(reason.kind, ReasonKind::Requires { .. });
    assert!(
        conflict.reasons.iter().all(is_requirement),
        "{name}: there are no classes\n{universe}{conflict:#?}"
    );
    let all: Vec<&Reason> = conflict.reasons.iter().collect();
    assert!(
        matches!(solve(&reduced(universe, &all)), Verdict::Conflict(_)),
        "{name}: the reasons are not enough\n{universe}{conflict:#?}"
    );
    for (at, left_out) in all.iter().enumerate() {
        let mut others = all.clone();
        others.remove(at);
        assert!(
            matches!(solve(&reduced(universe, &others)), Verdict::Solved(_)),
            "{name}: `{}` can be left out\n{universe}{conflict:#?}",
            left_out.text
        );
    }
    all.len()
}

#[test]
fn no_reason_can_be_left_out() {
    let mut checked = 0;
    for seed in 0..seeds::count(SEEDS) {
        let mut universe = Universe::random(seed);
        universe.locked = None;
        // An implicit requirement cannot be removed from a universe.
        universe.core = None;
        // Without classes all reasons are requirements.
        for record in releases(&mut universe) {
            record.classes = None;
        }
        if let Some(conflict) = solve_by(&universe, engine(seed)).conflict() {
            checked += assert_minimal(&format!("seed {seed}"), &universe, &conflict);
        }
    }
    assert!(checked > 500, "only {checked} reasons were checked");
}

#[test]
fn no_reason_can_be_left_out_where_specs_are_equivalent() {
    let (mut checked, mut respelled) = (0, 0);
    for seed in 0..seeds::count(SEEDS) {
        let universe = spelled(&mut Random::new(seed));
        let Some(conflict) = solve_by(&universe, engine(seed)).conflict() else {
            continue;
        };
        checked += assert_minimal(&format!("seed {seed}"), &universe, &conflict);
        let mut ends: Vec<(&PackageName, &PackageName)> = (conflict.reasons.iter())
            .filter_map(|reason| match &reason.kind {
                ReasonKind::Requires { package, .. } => Some((reason.owner.as_ref()?, package)),
                _ => None,
            })
            .collect();
        ends.sort_unstable();
        respelled += usize::from(ends.windows(2).any(|two| two[0] == two[1]));
    }
    assert!(checked > 500, "only {checked} reasons were checked");
    assert!(
        respelled > 50,
        "only {respelled} conflicts have several requirements of one package on another"
    );
}

/// Without some of the requirements, a package is needed only after its place in the order of
/// decisions was passed.
#[test]
fn a_package_that_is_needed_late_is_decided() {
    let mut universe = Universe::new(
        release("p.Root", "1.0.0")
            .requires("p.A", "*")
            .requires("p.C", "*"),
        vec![
            release("p.A", "1.0.0").requires("p.C", "3"),
            release("p.A", "2.0.0").requires("p.D", ">=3"),
            release("p.A", "3.0.0").requires("p.B", ">=3"),
            release("p.B", "3.0.0").requires("p.D", "3"),
            release("p.C", "2.0.0").requires("p.A", "1"),
            release("p.C", "3.0.0")
                .requires("p.A", ">=2")
                .requires("p.D", "1"),
            release("p.D", "1.0.0"),
            release("p.D", "3.0.0"),
        ],
    );
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("D cannot be 1 and 3");
    assert!(conflict.is_minimal);
    assert_minimal("late", &universe, &conflict);
}

/// A small universe without classes whose releases write the same requirement in different ways.
fn spelled(random: &mut Random) -> Universe {
    const NAMES: [&str; 4] = ["p.A", "p.B", "p.C", "p.D"];
    const SPECS: [&str; 10] = [
        "*", ">=1", ">=1,<9", "<2", "1.0.0", "1", ">=2", ">=2,<9", "3", ">=3",
    ];
    let mut require = |mut record: IndexRecord, percent: usize| {
        for name in NAMES {
            if name != record.name.as_str() && random.chance(percent) {
                record = record.requires(name, random.pick::<&str>(&SPECS));
            }
        }
        record
    };
    let root = require(release("p.Root", "1.0.0"), 50);
    let mut records = Vec::new();
    for name in NAMES {
        for version in ["1.0.0", "2.0.0", "3.0.0"] {
            records.push(require(release(name, version), 40));
        }
    }
    let mut universe = Universe::new(root, records);
    universe.single_version = random.chance(50);
    universe
}

/// A small universe in which each package has one class, which some of its releases lack and releases of others extend.
fn with_classes(random: &mut Random) -> Universe {
    const NAMES: [&str; 4] = ["p.A", "p.B", "p.C", "p.D"];
    const SPECS: [&str; 5] = ["*", "*", "*", ">=2", "<3"];
    let mut fill = |mut record: IndexRecord, percent: usize| {
        let own = record.name.clone();
        if random.chance(50) {
            record = record.defines(&format!("{own}.Base"), &[]);
        }
        for name in NAMES {
            if name != own.as_str() && random.chance(percent) {
                record = record.requires(name, random.pick::<&str>(&SPECS));
                if random.chance(50) {
                    let page = format!("{own}.{}", name.replace('.', ""));
                    record = record.hides(&page, &[&format!("{name}.Base")]);
                }
            }
        }
        record
    };
    let root = fill(release("p.Root", "1.0.0"), 50);
    let mut records = Vec::new();
    for name in NAMES {
        for version in ["1.0.0", "2.0.0", "3.0.0"] {
            records.push(fill(release(name, version), 40));
        }
    }
    let mut universe = Universe::new(root, records);
    universe.single_version = random.chance(50);
    universe
}

/// Whether a reason is that a release extends a class.
fn extends(reason: &Reason, record: &IndexRecord, class: &ClassName) -> bool {
    matches!(&reason.kind, ReasonKind::Extends { class: stated } if stated == class)
        && reason.owner.as_ref() == Some(&record.name)
        && reason.versions.contains(&record.version)
}

/// The universe without what no reason states. A package is required in any version if a reason is that a class of it is
/// extended.
fn reduced_to(universe: &Universe, reasons: &[&Reason]) -> Universe {
    let mut reduced = universe.clone();
    for record in releases(&mut reduced) {
        let whole = record.clone();
        let is_extended = |class: &ClassName| reasons.iter().any(|it| extends(it, &whole, class));
        record.classes.get_or_insert_default().change(|all| {
            for class in all.iter_mut() {
                class.extends.retain(|parent| is_extended(parent));
            }
        });
        record.requirements.change(|all| {
            for requirement in all.iter_mut() {
                let Requirement { package, spec, .. } = &*requirement;
                if !reasons.iter().any(|it| states(it, &whole, package, spec)) {
                    requirement.spec = build::spec("*");
                }
            }
            all.retain(|requirement| {
                let Requirement { package, spec, .. } = requirement;
                let is_stated = reasons.iter().any(|it| states(it, &whole, package, spec));
                is_stated || is_extended(&build::class(&format!("{package}.Base")))
            });
        });
    }
    reduced
}

/// A class that must be found needs a package that defines it. A requirement on this package that excludes no other
/// release is not among the reasons.
#[test]
fn no_reason_can_be_left_out_beside_classes() {
    let (mut checked, mut open) = (0, 0);
    for seed in 0..seeds::count(SEEDS) {
        let universe = with_classes(&mut Random::new(seed));
        let Some(conflict) = solve_by(&universe, engine(seed)).conflict() else {
            continue;
        };
        let is_about = |kinds: fn(&ReasonKind) -> bool| {
            let mut reasons = conflict.reasons.iter();
            reasons.any(|reason| kinds(&reason.kind))
        };
        if is_about(|kind| matches!(kind, ReasonKind::Inherits { .. }))
            || !is_about(|kind| matches!(kind, ReasonKind::Extends { .. }))
        {
            continue;
        }
        assert!(conflict.is_minimal, "seed {seed}");
        let all: Vec<&Reason> = conflict.reasons.iter().collect();
        assert!(
            matches!(solve(&reduced_to(&universe, &all)), Verdict::Conflict(_)),
            "seed {seed}: the reasons are not enough\n{universe}{conflict:#?}"
        );
        open += usize::from(is_about(|kind| matches!(kind, ReasonKind::Lacks { .. })));
        for (at, left_out) in all.iter().enumerate() {
            if matches!(left_out.kind, ReasonKind::Lacks { .. }) {
                continue;
            }
            let mut others = all.clone();
            others.remove(at);
            checked += 1;
            assert!(
                matches!(solve(&reduced_to(&universe, &others)), Verdict::Solved(_)),
                "seed {seed}: `{}` can be left out\n{universe}{conflict:#?}",
                left_out.text
            );
        }
    }
    assert!(checked > 500, "only {checked} reasons were checked");
    assert!(open > 100, "only {open} conflicts are about some releases");
}

/// Releases of a package that have a requirement which allows the same releases. All of them are one fact.
type Fact = (PackageName, PackageName, Vec<Version>);

/// The facts of a universe, in its order.
fn facts(universe: &Universe) -> Vec<Fact> {
    let mut facts = Vec::new();
    for record in std::iter::once(&universe.root).chain(&universe.records) {
        for requirement in &record.requirements {
            let fact = fact(universe, record, requirement);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }
    facts
}

fn fact(universe: &Universe, owner: &IndexRecord, requirement: &Requirement) -> Fact {
    let allowed = allowed_by(universe, &requirement.package, &requirement.spec);
    (owner.name.clone(), requirement.package.clone(), allowed)
}

/// The versions of a package that a spec allows.
fn allowed_by(universe: &Universe, package: &PackageName, spec: &Spec) -> Vec<Version> {
    let mut allowed: Vec<Version> = (universe.records.iter())
        .filter(|record| record.name == *package)
        .map(|record| record.version.clone())
        .filter(|version| spec.matches(version))
        .collect();
    allowed.sort();
    allowed
}

/// Whether some facts alone have no resolution.
fn contradict(universe: &Universe, facts: &[&Fact]) -> bool {
    let mut reduced = universe.clone();
    for record in releases(&mut reduced) {
        let whole = record.clone();
        record.requirements.change(|all| {
            all.retain(|requirement| facts.contains(&&fact(universe, &whole, requirement)));
        });
    }
    matches!(solve(&reduced), Verdict::Conflict(_))
}

/// Whether a set of so many facts, `chosen` among them, has no resolution.
fn some_contradict<'facts>(
    universe: &Universe,
    facts: &'facts [Fact],
    count: usize,
    chosen: &mut Vec<&'facts Fact>,
) -> bool {
    if count == 0 {
        return contradict(universe, chosen);
    }
    facts.iter().enumerate().any(|(at, fact)| {
        chosen.push(fact);
        let found = some_contradict(universe, &facts[at + 1..], count - 1, chosen);
        chosen.pop();
        found
    })
}

#[test]
fn no_smaller_set_of_reasons_conflicts() {
    let (mut checked, mut proved) = (0, 0);
    for seed in 0..seeds::count(SEEDS) / 10 {
        let mut universe = Universe::random(seed);
        universe.locked = None;
        universe.core = None;
        universe.single_version = true;
        for record in releases(&mut universe) {
            record.classes = None;
        }
        let Some(conflict) = solve_by(&universe, engine(seed)).conflict() else {
            continue;
        };
        proved += usize::from(conflict.is_smallest);
        let facts = facts(&universe);
        let of_reasons = facts.iter().filter(|(owner, package, allowed)| {
            conflict.reasons.iter().any(|reason| match &reason.kind {
                ReasonKind::Requires {
                    package: required,
                    spec,
                    ..
                } => {
                    let spec = Spec::parse(spec).expect("it was parsed before");
                    let versions = allowed_by(&universe, required, &spec);
                    reason.owner.as_ref() == Some(owner)
                        && required == package
                        && versions == *allowed
                }
                _ => false,
            })
        });
        let count = of_reasons.count();
        if count > 4 || !conflict.is_smallest {
            continue;
        }
        assert!(count > 0, "seed {seed}");
        checked += usize::from(count > 1);
        for smaller in 1..count {
            assert!(
                !some_contradict(&universe, &facts, smaller, &mut Vec::new()),
                "seed {seed}: {smaller} facts conflict\n{universe}{conflict:#?}"
            );
        }
    }
    assert!(checked > 50, "only {checked} conflicts were checked");
    assert!(
        proved > checked,
        "only {proved} sets are proved to be smallest"
    );
}

/// The search meets the four requirements that lead to two versions of K before K 1 asks for a missing version of H.
#[test]
fn the_smaller_of_two_conflicts_is_explained() {
    let mut universe = Universe::new(
        release("R", "1").requires("E", "1").requires("H", "1"),
        vec![
            release("E", "1").requires("K", "2"),
            release("H", "1").requires("K", "1"),
            release("K", "1").requires("H", "7"),
            release("K", "2"),
        ],
    );
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("there is no H 7");
    assert!(conflict.is_smallest);
    let mut texts: Vec<&str> = (conflict.reasons.iter())
        .map(|reason| reason.text.as_str())
        .collect();
    texts.sort_unstable();
    let expected = [
        "H 1.0.0 requires K 1",
        "K 1.0.0 requires H 7",
        "R 1.0.0 requires H 1",
    ];
    assert_eq!(texts, expected);
}

/// What B 1 and B 2 require of C is one fact, which takes two lines. Another set of
/// as many facts, with what C 1 requires of B in place of what the root does, takes one line less.
#[test]
fn a_set_with_two_lines_of_a_fact_is_not_called_smallest() {
    let mut universe = Universe::new(
        release("R", "1").requires("C", ">=1").requires("B", "*"),
        vec![
            release("B", "1").requires("C", "<1"),
            release("B", "2").requires("C", "0.0.0"),
            release("C", "0"),
            release("C", "1").requires("B", "!=2.0.0"),
        ],
    );
    universe.single_version = true;
    let conflict = solve(&universe).conflict().expect("B rules out C 1");
    assert!(conflict.is_minimal);
    assert_eq!(conflict.is_smallest, conflict.reasons.len() == 3);
}

/// The requirement of PE on a newer PC and the class of PK contradict each other only while PC has one release. Several
/// are allowed, so that a reason says what is wrong with the older one, too.
#[test]
fn a_smaller_set_must_hold_for_packages_side_by_side() {
    let universe = Universe::random(8466);
    let conflict = solve(&universe)
        .conflict()
        .expect("PC 1.0.1 cannot be used");
    let texts: Vec<&str> = (conflict.reasons.iter())
        .map(|reason| reason.text.as_str())
        .collect();
    let about_the_older = |text: &&str| text.contains("PC 1.0.1") || text.contains("PE.B");
    assert!(texts.iter().any(about_the_older), "{texts:#?}");
}
