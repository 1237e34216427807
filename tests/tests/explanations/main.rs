//! Explanations of conflicts: no reason can be left out, and every repair works.
//!
//! Conflicts of real packages are explained in few lines.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

#![expect(clippy::print_stdout, reason = "a long run shows what it checked")]

mod length;
mod minimality;
mod sufficiency;

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Spec};
use pkgres_resolver::{CompiledIndex, Conflict, Engine, InheritingClass, ReasonKind, Step};
use pkgres_tests::build::{Build, package, release, spec};
use pkgres_tests::drive::{NoPackages, attached, drive};
use pkgres_tests::examples::variation;
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, request, run, solve};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 10_000;

fn conflict(universe: &Universe) -> Option<Box<Conflict>> {
    solve(universe).conflict()
}

/// The engine for a seed: the other engine is slower, so it gets a third of them.
fn engine(seed: u64) -> Engine {
    if seed.is_multiple_of(3) {
        Engine::Pubgrub
    } else {
        Engine::Native
    }
}

fn releases(universe: &mut Universe) -> impl Iterator<Item = &mut IndexRecord> {
    std::iter::once(&mut universe.root).chain(&mut universe.records)
}

#[test]
fn every_repair_makes_the_universe_solvable() {
    let mut tried = 0;
    for seed in 0..seeds::count(SEEDS) {
        let universe = Universe::random(seed);
        let Some(conflict) = conflict(&universe) else {
            continue;
        };
        for repair in &conflict.suggestions {
            let mut repaired = universe.clone();
            let mut changed = false;
            for record in releases(&mut repaired) {
                let is_owner =
                    record.name == repair.owner && repair.versions.contains(&record.version);
                for requirement in record.requirements.iter_mut() {
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
                matches!(solve(&repaired), Verdict::Solved(_)),
                "seed {seed}: {}\n{universe}",
                repair.text
            );
        }
    }
    assert!(tried > 500, "only {tried} repairs were tried");
}

/// A repaired universe may still need several releases of a package.
#[test]
fn a_repair_may_need_packages_side_by_side() {
    let root = release("R", "1")
        .requires("X", "1")
        .requires("Y", "1")
        .requires("A", "3");
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "2"),
        release("A", "2"),
    ];
    let conflict = conflict(&Universe::new(root, records)).expect("there is no A 3");
    let texts: Vec<&str> = (conflict.suggestions.iter())
        .map(|repair| repair.text.as_str())
        .collect();
    assert_eq!(texts, ["the conflict can be solved if R allows A 2.0.0"]);
}

#[test]
fn the_repair_of_a_long_chain_is_at_its_end() {
    let name = |number: usize| format!("L{number:02}");
    let root = release("R", "1").requires(&name(0), "1");
    let chain = (0..40).map(|at| release(&name(at), "1").requires(&name(at + 1), "1"));
    let end = [
        release(&name(40), "1").requires("A", "1"),
        release("A", "2"),
    ];
    let universe = Universe::new(root, chain.chain(end).collect());
    let conflict = conflict(&universe).expect("there is no A 1");
    let texts: Vec<&str> = (conflict.suggestions.iter())
        .map(|repair| repair.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["the conflict can be solved with a release of L40 that allows A 2.0.0"]
    );
}

/// With several releases of a package, a cycle may pass it again and again.
#[test]
fn a_cycle_of_classes_is_one_reason_whichever_versions_it_passes() {
    let root = release("R", "1").requires("X", "*");
    let versions = ["1", "2", "3"];
    let records = versions.iter().flat_map(|version| {
        [
            release("X", version)
                .requires("Y", "*")
                .defines("X.A", &["Y.A"]),
            release("Y", version)
                .requires("X", "*")
                .defines("Y.A", &["X.A"]),
        ]
    });
    let conflict = conflict(&Universe::new(root, records.collect())).expect("classes are a cycle");
    let texts: Vec<&str> = (conflict.reasons.iter())
        .map(|reason| reason.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "X.A (every version of X) > Y.A (every version of Y) > X.A",
            "R 1.0.0 requires X *",
            "every version of X requires Y *",
            "every version of Y requires X *",
        ]
    );
}

/// A domain is stored in words of 64 bits, one bit of which means "absent".
#[test]
fn the_number_of_versions_does_not_change_the_explanation() {
    let summary = |count: u32| {
        let root = release("R", "1").requires("A", "<30");
        let records = (1..=count).map(|major| {
            let record = release("A", &major.to_string());
            if major < 30 {
                record.requires("Nowhere", "1")
            } else {
                record
            }
        });
        let conflict = conflict(&Universe::new(root, records.collect())).expect("a conflict");
        let reasons = conflict.reasons.iter();
        let texts: Vec<String> = reasons.map(|reason| reason.text.clone()).collect();
        texts.join("; ")
    };
    let few = summary(40);
    assert!(few.contains("<30") && few.contains("Nowhere"), "{few}");
    for count in [61, 62, 63, 64, 65, 127, 128] {
        assert_eq!(summary(count), few, "{count} versions");
    }
}

/// A reason that is the same for many releases appears once, with all their versions.
#[test]
fn a_diamond_of_many_releases_is_one_reason() {
    let root = release("R", "1")
        .requires("X", "1")
        .requires("Y", "1")
        .defines("r.A", &["x.B", "y.C"]);
    let mut records = Vec::new();
    for minor in 0..12 {
        let number = format!("1.{minor}.0");
        let (of_x, of_y) = (minor % 2, 2 + minor % 2);
        records.push(release("Z", &number).defines("z.D", &[]));
        records.push(
            release("X", &number)
                .requires("Z", &format!("1.{of_x}"))
                .defines("x.B", &["z.D"]),
        );
        records.push(
            release("Y", &number)
                .requires("Z", &format!("1.{of_y}"))
                .defines("y.C", &["z.D"]),
        );
    }
    let conflict = conflict(&Universe::new(root, records)).expect("Z cannot be one release");
    let inherited: Vec<&str> = (conflict.reasons.iter())
        .filter(|reason| matches!(reason.kind, ReasonKind::Inherits { .. }))
        .map(|reason| reason.text.as_str())
        .collect();
    let expected = "r.A (R 1.0.0) > x.B (every version of X) > z.D (Z 1.0.0, 1.1.0); \
                    r.A (R 1.0.0) > y.C (every version of Y) > z.D (Z 1.2.0, 1.3.0)";
    assert_eq!(inherited, [expected]);
    assert_eq!(conflict.reasons.len(), 7);
}

/// An override replaces the specs of all requirements on a package, so one repair changes it for all.
#[test]
fn an_override_is_repaired_once_for_all_requirements() {
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
    let texts: Vec<&str> = (conflict.suggestions.iter())
        .map(|repair| repair.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["the conflict can be solved if the override of Z allows Z 2.0.0"]
    );
}

/// The requirements of two releases allow equally many versions with the same newest one, so only the
/// sets themselves can order them.
#[test]
fn the_order_of_reasons_does_not_depend_on_unrelated_packages() {
    let reasons_beside = |others: usize| {
        let mut root = release("R", "1");
        let mut records = vec![
            release("E", "1.1.0"),
            release("E", "2.0.0"),
            release("E", "2.0.1"),
            release("E", "3"),
            release("F", "1").requires("E", "!=2.0.0,<3"),
            release("F", "2").requires("E", "2"),
        ];
        for other in 0..others {
            let name = format!("X{other}");
            root = root.requires(&name, "*");
            records.push(release(&name, "1"));
        }
        let root = root.requires("F", "*").requires("E", "3");
        let mut universe = Universe::new(root, records);
        universe.single_version = true;
        let conflict = conflict(&universe).expect("E 3 is not what F requires");
        let reasons = conflict.reasons.iter();
        reasons
            .map(|reason| reason.text.clone())
            .collect::<Vec<_>>()
    };
    let expected = reasons_beside(0);
    assert_eq!(expected.len(), 4, "{expected:?}");
    for others in 1..32 {
        assert_eq!(reasons_beside(others), expected, "{others}");
    }
}

/// The explanation has its own budget, so it depends on the universe and not on the search.
#[test]
fn the_steps_of_the_search_do_not_change_the_explanation() {
    let (mut compared, mut narrow) = (0, 0);
    let universes = |seed| [Universe::random(seed), variation(seed)];
    for (seed, universe) in
        (0..seeds::count(SEEDS)).flat_map(|seed| universes(seed).map(|universe| (seed, universe)))
    {
        let Some(expected) = conflict(&universe) else {
            continue;
        };
        assert!(expected.is_minimal, "seed {seed}");
        let explained = (0..40).find_map(|max_steps| {
            let mut request = request(&universe);
            request.options.max_steps = max_steps;
            let index = Arc::new(CompiledIndex::compile(&universe.records));
            match drive(&mut attached(request, index), &mut NoPackages) {
                Step::Conflict(conflict) => Some((max_steps, conflict)),
                Step::GaveUp { .. } => None,
                other => panic!("seed {seed}: {other:?}"),
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

/// A proof with very many facts is not reduced to a minimal one.
#[test]
fn an_explanation_that_was_not_reduced_is_not_called_minimal() {
    let last = 600;
    let name = |number: usize| format!("P{number}");
    let root = release("R", "1").requires(&name(0), "1");
    let chain = (0..last).map(|at| release(&name(at), "1").requires(&name(at + 1), "1"));
    let universe = Universe::new(root, chain.chain([release(&name(last), "2")]).collect());
    let conflict = conflict(&universe).expect("the last one is too new");
    assert_eq!(conflict.reasons.len(), last + 1);
    assert!(!conflict.is_minimal);
}

#[test]
fn reasons_omit_requirements_of_excluded_releases() {
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.C", ">=2"),
        vec![
            release("p.C", "1.0.0").requires("p.A", "1.0.0"),
            release("p.C", "2.0.0").requires("p.A", "*"),
            release("p.A", "1.0.0").requires("p.Gone", "1"),
        ],
    );
    assert_eq!(
        texts(&universe),
        [
            "p.A 1.0.0 requires p.Gone 1",
            "p.Root 1.0.0 requires p.C >=2",
            "p.C 2.0.0 requires p.A *",
        ]
    );
}

/// A reason names the class that extends a missing class if it is the same in all releases.
#[test]
fn reasons_omit_releases_that_other_reasons_exclude() {
    let records = || {
        vec![
            release("B", "1").requires("C", "2"),
            release("B", "2"),
            release("B", "3").requires("C", "2"),
            release("C", "2").requires("D", "1"),
            release("D", "2"),
        ]
    };
    let texts = |root: IndexRecord| {
        let conflict = conflict(&Universe::new(root, records())).expect("D 1 does not exist");
        let texts = conflict.reasons.iter().map(|reason| reason.text.clone());
        texts.collect::<Vec<String>>()
    };
    let required = release("R", "1").requires("B", "1");
    assert_eq!(
        texts(required),
        [
            "C 2.0.0 requires D 1",
            "R 1.0.0 requires B 1",
            "B 1.0.0 requires C 2"
        ]
    );
    // Either release is possible.
    let both = release("R", "1").requires("B", "!=2.0.0");
    assert!(texts(both).contains(&"B 1.0.0, 3.0.0 require C 2".to_owned()));
}

#[test]
fn a_reason_names_the_class_that_extends_a_missing_class() {
    let first = |newer: IndexRecord| {
        let root = release("p.Root", "1.0.0").requires("p.C", "*");
        let older = release("p.C", "1.0.0").defines("p.C.A", &["p.C.Gone"]);
        texts(&Universe::new(root, vec![older, newer]))[0].clone()
    };
    let newer = || release("p.C", "2.0.0");
    assert_eq!(
        first(newer().defines("p.C.A", &["p.C.Gone"])),
        "the class p.C.A of every version of p.C extends p.C.Gone"
    );
    assert_eq!(
        first(newer().defines("p.C.B", &["p.C.Gone"])),
        "a class of every version of p.C extends p.C.Gone"
    );
}

#[test]
fn reasons_omit_missing_classes_of_excluded_releases() {
    let mut universe = Universe::new(
        release("p.Root", "1.0.0")
            .requires("p.C", ">=2")
            .requires("p.A", "2"),
        vec![
            release("p.C", "1.0.0")
                .requires("p.B", "*")
                .defines("p.C.C", &["p.A.C"]),
            release("p.C", "2.0.0")
                .requires("p.A", "*")
                .defines("p.C.C", &["p.A.C"]),
            release("p.A", "1.0.0").defines("p.A.C", &[]),
            release("p.A", "2.0.0"),
            release("p.B", "1.0.0").defines("p.A.C", &[]),
            release("p.B", "2.0.0"),
        ],
    );
    universe.single_version = true;
    assert_eq!(
        texts(&universe),
        [
            "the class p.C.C of p.C 2.0.0 extends p.A.C",
            "p.A 2.0.0 no longer defines the class p.A.C; 1.0.0 does",
            "p.Root 1.0.0 requires p.A 2",
            "p.Root 1.0.0 requires p.C >=2",
        ]
    );
}

#[test]
fn reasons_omit_versions_without_a_class_that_cannot_be_required() {
    let root = release("p.Root", "1.0.0")
        .requires("p.A", ">=1,<3")
        .defines("p.Root.C", &["p.A.C"]);
    let universe = Universe::new(
        root,
        vec![
            release("p.A", "0.1.0"),
            release("p.A", "1.0.0"),
            release("p.A", "2.0.0")
                .requires("p.Gone", "1")
                .defines("p.A.C", &[]),
            release("p.A", "3.0.0").defines("p.A.C", &[]),
        ],
    );
    assert_eq!(
        texts(&universe),
        [
            "the class p.Root.C of p.Root 1.0.0 extends p.A.C",
            "p.A 1.0.0 does not define the class p.A.C; 3.0.0 does",
            "p.A 2.0.0 requires p.Gone 1",
            "p.Root 1.0.0 requires p.A >=1,<3",
        ]
    );
}

#[test]
fn no_line_is_repeated() {
    let mut universe = Universe::new(
        release("p.Root", "1.0.0")
            .requires("p.A", "1.3")
            .requires("p.D", "*")
            .defines("p.Root.Q", &["p.A.C"]),
        vec![
            release("p.A", "1.2.0").defines("p.A.C", &[]),
            release("p.A", "1.3.0"),
            release("p.D", "1.0.0"),
            release("p.D", "1.1.0")
                .requires("p.C", "*")
                .defines("p.A.C", &[]),
            release("p.C", "1.0.0")
                .requires("p.A", "*")
                .defines("p.C.C", &["p.A.C"]),
        ],
    );
    universe.single_version = true;
    let messages = texts(&universe);
    let lacking = "p.A 1.3.0 no longer defines the class p.A.C; 1.2.0 does";
    let count = messages.iter().filter(|text| *text == lacking).count();
    assert_eq!(count, 1, "{messages:#?}");
}

/// A release without a candidate for a requirement has that as its reason, and its classes are not
/// looked for. A class that is missing everywhere is a reason for all releases alike.
#[test]
fn no_requirement_is_listed_beside_a_class_that_is_missing_everywhere() {
    let extends_gone = "the class p.A.C of every version of p.A extends p.B.Gone";
    for (package, spec) in [("p.B", "0"), ("p.Unknown", "*")] {
        let universe = Universe::new(
            release("p.Root", "1.0.0").requires("p.A", "*"),
            vec![
                release("p.A", "1.0.0")
                    .requires("p.B", "*")
                    .defines("p.A.C", &["p.B.Gone"]),
                release("p.A", "2.0.0")
                    .requires(package, spec)
                    .defines("p.A.C", &["p.B.Gone"]),
                release("p.B", "1.0.0"),
            ],
        );
        let expected = [extends_gone, "p.Root 1.0.0 requires p.A *"];
        assert_eq!(texts(&universe), expected, "{package}");
        assert!(conflict(&universe).expect("the same").is_minimal);
    }
    // Here p.B 1.0.0 defines the class, so the requirement is a reason.
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.A", "*"),
        vec![
            release("p.A", "1.0.0")
                .requires("p.B", "2")
                .defines("p.A.C", &["p.B.Old"]),
            release("p.A", "2.0.0")
                .requires("p.B", "0")
                .defines("p.A.C", &["p.B.Old"]),
            release("p.B", "1.0.0").defines("p.B.Old", &[]),
            release("p.B", "2.0.0"),
        ],
    );
    let messages = texts(&universe);
    let requirement = "p.A 2.0.0 requires p.B 0".to_owned();
    assert!(messages.contains(&requirement), "{messages:#?}");
}

/// The steps of an explanation are enough for many facts that are each hard to leave out.
#[test]
fn each_of_many_reasons_is_known_to_be_needed() {
    let pigeons = 7;
    let name = |pigeon: usize| format!("p.P{pigeon}");
    let root = (0..pigeons).fold(release("p.Root", "1"), |root, pigeon| {
        root.requires(&name(pigeon), "*")
    });
    let records = (0..pigeons).flat_map(|pigeon| {
        (1..pigeons).map(move |hole| {
            let others = (0..pigeons).filter(|other| *other != pigeon);
            let record = release(&name(pigeon), &hole.to_string());
            others.fold(record, |record, other| {
                record.requires(&name(other), &format!("!={hole}.0.0"))
            })
        })
    });
    let mut universe = Universe::new(root, records.collect());
    universe.single_version = true;
    let conflict = conflict(&universe).expect("there are too many");
    assert!(conflict.reasons.len() > 50, "{}", conflict.reasons.len());
    assert!(conflict.is_minimal);
}

#[test]
fn a_class_path_names_all_its_versions() {
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.F", "2"),
        vec![
            release("p.C", "1.0.0")
                .requires("p.F", "*")
                .defines("p.C.C", &["p.F.D"]),
            release("p.F", "1.0.0").defines("p.F.D", &[]),
            release("p.F", "2.0.0")
                .requires("p.C", "*")
                .defines("p.F.D", &["p.C.C"]),
            release("p.F", "3.0.0")
                .requires("p.C", "*")
                .defines("p.F.D", &["p.C.C"]),
        ],
    );
    let messages = texts(&universe);
    assert_eq!(
        messages[..2],
        [
            "p.F.D (p.F 2.0.0) > p.C.C (p.C 1.0.0) > p.F.D",
            "p.F.D (p.F 2.0.0); p.F.D (p.F 2.0.0) > p.C.C (p.C 1.0.0) > p.F.D (p.F 1.0.0, 3.0.0)",
        ]
    );
    let conflict = conflict(&universe).expect("there is no resolution");
    let paths = conflict
        .reasons
        .iter()
        .filter_map(|reason| match &reason.kind {
            ReasonKind::Inherits { paths } => Some(paths.iter()),
            _ => None,
        });
    let step = |at: &InheritingClass| {
        let versions: Vec<String> = at.versions.iter().map(ToString::to_string).collect();
        format!("{} ({} {})", at.class, at.package, versions.join(", "))
    };
    let paths: Vec<String> = (paths.flatten())
        .map(|path| path.iter().map(step).collect::<Vec<_>>().join(" > "))
        .collect();
    // A cycle ends where it begins.
    assert_eq!(
        paths,
        [
            "p.F.D (p.F 2.0.0) > p.C.C (p.C 1.0.0) > p.F.D (p.F 2.0.0)",
            "p.F.D (p.F 2.0.0)",
            "p.F.D (p.F 2.0.0) > p.C.C (p.C 1.0.0) > p.F.D (p.F 1.0.0, 3.0.0)",
        ]
    );
}

/// The reasons why a universe has no resolution.
fn texts(universe: &Universe) -> Vec<String> {
    let conflict = conflict(universe).expect("there is no resolution");
    let reasons = conflict.reasons.into_iter();
    reasons.map(|reason| reason.text).collect()
}
