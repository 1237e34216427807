//! Long, deep and expensive universes. They are solved and explained on a small stack, which recursion
//! over the input would overflow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use pkgres_manifest::{IndexRecord, IndexedClass, Release, Requirement, Shared, Spec, Version};
use pkgres_resolver::{
    CompiledIndex, Engine, Locked, Request, Resolver, SolveOptions, Step, Update, UpdateTarget,
};
use pkgres_tests::build::{Build as _, class, package, release, spec, version};
use pkgres_tests::drive::{Records, attached, drive};
use pkgres_tests::random::Random;

/// The stack size of solving threads.
const STACK_BYTES: usize = 512 << 10;

/// The answer of the solver on a small stack.
fn solve(root: IndexRecord, records: Vec<IndexRecord>, options: SolveOptions) -> Step {
    thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(root, records, options))
        .expect("a thread can be started")
        .join()
        .expect("the solver does not panic")
}

fn run(root: IndexRecord, records: Vec<IndexRecord>, options: SolveOptions) -> Step {
    let mut request = Request::new(root);
    request.core = None;
    request.options = options;
    answer(request, records)
}

fn answer(request: Request, records: Vec<IndexRecord>) -> Step {
    drive(&mut Resolver::new(request), &mut Records::new(records))
}

/// A chain of packages: `P0` requires `P1`, which requires `P2`, and so on.
fn chain(length: usize) -> Vec<IndexRecord> {
    let one = version("1.0.0");
    let any = spec("1");
    let name = |at: usize| package(&format!("P{at}"));
    (0..length)
        .map(|at| {
            let mut record = IndexRecord::new(name(at), one.clone());
            record.classes = Some(Shared::default());
            if at + 1 < length {
                let next = Requirement {
                    package: name(at + 1),
                    spec: any.clone(),
                    location: None,
                };
                record.requirements = vec![next].into();
            }
            record
        })
        .collect()
}

const CHAIN: usize = 100_000;

#[test]
fn a_long_chain_is_resolved_on_a_small_stack() {
    let root = release("Root", "1.0.0").requires("P0", "1");
    match solve(root, chain(CHAIN), SolveOptions::default()) {
        Step::Solved(resolution) => {
            assert_eq!(resolution.len(), CHAIN);
            assert!(resolution.side_by_side().is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_long_chain_with_a_broken_end_is_explained_on_a_small_stack() {
    let root = release("Root", "1.0.0").requires("P0", "1");
    let mut records = chain(CHAIN);
    let last = records.last_mut().expect("a chain has an end");
    *last = last.clone().requires("Missing", "1");
    match solve(root, records, SolveOptions::default()) {
        Step::Conflict(conflict) => {
            assert_eq!(conflict.summary, "no registry has a package `Missing`");
            let first = conflict.reasons.first().expect("there is a reason");
            assert_eq!(first.owner, Some(package(&format!("P{}", CHAIN - 1))));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deep_hierarchy_of_classes_is_walked_on_a_small_stack() {
    let depth = 10_000;
    let name = |at: usize| class(&format!("deep.C{at:05}"));
    let mut library = IndexRecord::new(package("Deep"), version("1.0.0"));
    library.classes = Some(
        (0..depth)
            .map(|at| IndexedClass {
                name: name(at),
                internal: false,
                extends: if at + 1 < depth {
                    vec![name(at + 1)]
                } else {
                    Vec::new()
                },
                implements: Vec::new(),
                uses: Vec::new(),
            })
            .collect(),
    );
    let root = release("Root", "1.0.0")
        .requires("Deep", "1")
        .defines("root.Main", &["deep.C00000"]);
    match solve(root, vec![library], SolveOptions::default()) {
        Step::Solved(resolution) => assert_eq!(resolution.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_deep_hierarchy_across_packages_is_walked_on_a_small_stack() {
    let depth = 10_000;
    let records: Vec<IndexRecord> = chain(depth)
        .into_iter()
        .enumerate()
        .map(|(at, record)| {
            let parent = format!("deep.C{}", at + 1);
            let parents = if at + 1 < depth {
                vec![parent.as_str()]
            } else {
                Vec::new()
            };
            record.defines(&format!("deep.C{at}"), &parents)
        })
        .collect();
    let root = release("Root", "1.0.0")
        .requires("P0", "1")
        .defines("root.Main", &["deep.C0"]);
    match solve(root, records, SolveOptions::default()) {
        Step::Solved(resolution) => assert_eq!(resolution.len(), depth),
        other => panic!("{other:?}"),
    }
}

/// The pigeonhole problem with one hole too few, whose resolution proofs are exponentially long.
fn pigeons(holes: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let mut root = release("Root", "1.0.0");
    let mut records = Vec::new();
    for pigeon in 0..=holes {
        let name = format!("Pigeon{pigeon}");
        root = root.requires(&name, "*");
        for hole in 0..holes {
            // A hole has a version for each pigeon, so two pigeons in one hole require two versions.
            records.push(
                release(&name, &format!("{hole}.0.0"))
                    .requires(&format!("Hole{hole}"), &format!("=={pigeon}.0.0")),
            );
        }
    }
    for hole in 0..holes {
        for pigeon in 0..=holes {
            records.push(release(&format!("Hole{hole}"), &format!("{pigeon}.0.0")));
        }
    }
    (root, records)
}

#[test]
fn an_exhausted_budget_is_not_reported_as_a_conflict() {
    let (root, records) = pigeons(5);
    let with_steps = |max_steps: u64| {
        let mut options = SolveOptions::default();
        options.max_steps = max_steps;
        options.single_version = true;
        solve(root.clone(), records.clone(), options)
    };
    let Step::Conflict(conflict) = with_steps(10_000_000) else {
        panic!("there is one hole too few");
    };
    assert!(!conflict.reasons.is_empty());
    let mut gave_up = BTreeSet::new();
    for max_steps in 0..200 {
        match with_steps(max_steps) {
            Step::GaveUp { steps } => {
                gave_up.insert(max_steps);
                assert!(steps >= max_steps, "{steps} of {max_steps}");
            }
            // With a sufficient budget, every greater one is sufficient too.
            Step::Conflict(_) => assert!(gave_up.iter().all(|fewer| *fewer < max_steps)),
            other => panic!("{max_steps} steps: {other:?}"),
        }
    }
    assert!(gave_up.contains(&0), "no step is no answer");
    assert!(gave_up.len() > 1, "small budgets end the search");
}

/// An update of `P` to a version that is required only by releases that nothing requires. Each of the
/// `pairs` pairs of packages can avoid it in two ways.
fn update_with_ways_around(pairs: usize) -> Step {
    let mut root = release("R", "1").requires("X", "*");
    let mut records = vec![
        release("P", "1"),
        release("P", "2"),
        release("X", "1"),
        release("X", "2").requires("P", "1"),
    ];
    let bound = |name: &str, number: &str| Release::new(package(name), version(number));
    let mut of_root = vec![bound("X", "2")];
    let mut locked = Locked::default();
    let of_x = [bound("P", "1")].into_iter().collect();
    locked.packages.insert(bound("X", "2"), of_x);
    for pair in 0..pairs {
        let [a, b, c] = ["A", "B", "C"].map(|letter| format!("{letter}{pair}"));
        root = root.requires(&a, "*");
        of_root.push(bound(&a, "2"));
        let of_a = [bound(&b, "1")].into_iter().collect();
        locked.packages.insert(bound(&a, "2"), of_a);
        records.push(release(&a, "1").requires(&c, "1"));
        records.push(release(&a, "2").requires(&b, "1"));
        for name in [b, c] {
            records.push(release(&name, "1"));
            records.push(release(&name, "2").requires("P", "2"));
        }
    }
    (locked.roots).insert(package("R"), of_root.into_iter().collect());
    let mut request = Request::new(root);
    request.core = None;
    request.options.max_steps = 100_000;
    request.locked = locked;
    let to_two = UpdateTarget::Exactly(version("2")).into();
    request.update = Some(Update::from(BTreeMap::from([(package("P"), to_two)])));
    answer(request, records)
}

#[test]
fn an_update_with_many_alternatives_exhausts_the_budget() {
    let Step::Conflict(conflict) = update_with_ways_around(3) else {
        panic!("nothing that is required requires P 2");
    };
    assert!(conflict.is_minimal);
    // Without any one of these, P 2 would be possible.
    let texts: Vec<&str> = (conflict.reasons.iter())
        .map(|it| it.text.as_str())
        .collect();
    for pair in 0..3 {
        for reason in [
            format!("A{pair} 2.0.0 requires B{pair} 1"),
            format!("A{pair} 1.0.0 requires C{pair} 1"),
        ] {
            assert!(texts.contains(&reason.as_str()), "{reason}: {texts:#?}");
        }
    }
    let Step::GaveUp { steps } = update_with_ways_around(30) else {
        panic!("there are too many ways");
    };
    // A conflict counts all looks since the one before at once.
    assert!((100_000..101_000).contains(&steps), "{steps}");
}

/// `A` 2 requires `B`, and every version of `B` contradicts the root. A thousand other packages would be
/// decided between `A` and `B`; probing `A` 2 finds the contradiction first.
#[test]
fn probing_finds_an_impossible_release_before_other_packages_are_decided() {
    const BETWEEN: u32 = 1000;
    let mut root = release("Root", "1.0.0")
        .requires("A", "*")
        .requires("C", "2");
    let mut records = vec![
        release("A", "1.0.0"),
        release("A", "2.0.0").requires("B", "*"),
        release("C", "1.0.0"),
        release("C", "2.0.0"),
    ];
    for at in 1..=3 {
        let major = format!("{at}.0.0");
        records.push(release("B", &major).requires("C", "1"));
    }
    for at in 0..BETWEEN {
        let name = format!("F{at}");
        root = root.requires(&name, "*");
        records.extend(["1.0.0", "2.0.0"].map(|version| release(&name, version)));
    }
    let mut options = SolveOptions::default();
    options.single_version = true;
    let Step::Solved(resolution) = solve(root, records, options) else {
        panic!("A 1 requires nothing");
    };
    let chosen = resolution.package(&package("A")).expect("it is required");
    assert_eq!(chosen.version, version("1.0.0"));
    // Once in the greedy phase and once in the search; nothing is decided a third time. Propagation takes a step for
    // each 32 looks at a clause.
    let steps = resolution.stats().steps;
    assert!(steps < u64::from(2 * BETWEEN + 100), "{steps}");
}

/// Each search with several releases of `P` expands all releases again, and their requirements count: with few
/// decisions and very many requirements, a step would take any time.
#[test]
fn searches_side_by_side_count_the_requirements_that_they_expand() {
    const PACKAGES: u32 = 200;
    const REQUIRED: u32 = 100;
    let name = |number: u32| format!("F{}", number % PACKAGES);
    let mut root = release("Root", "1").requires("P", "1").requires("Q", "1");
    let mut records = vec![
        release("P", "1"),
        release("P", "2"),
        release("Q", "1").requires("P", "2"),
    ];
    for number in 0..PACKAGES {
        root = root.requires(&name(number), "1");
        let others = number + 1..=number + REQUIRED;
        let record = release(&name(number), "1");
        records.push(others.fold(record, |record, other| record.requires(&name(other), "1")));
    }
    let Step::Solved(resolution) = solve(root, records, SolveOptions::default()) else {
        panic!("P 1 and P 2 go side by side");
    };
    assert_eq!(resolution.side_by_side().len(), 1);
    // One in sixteen of four looks at each requirement, in more than one search.
    let steps = resolution.stats().steps;
    let expanded = u64::from(PACKAGES * REQUIRED);
    assert!(steps > expanded / 4, "{steps} for {expanded} requirements");
}

#[test]
fn many_versions_do_not_exhaust_the_budget() {
    let versions = 2_000_u64;
    let numbered = |name: &str, major: u64| {
        let mut record = IndexRecord::new(package(name), Version::new(major, 0, 0));
        record.classes = Some(Shared::default());
        record
    };
    // Only the oldest pair fits.
    let records: Vec<IndexRecord> = (0..versions)
        .flat_map(|major| {
            let mut one = numbered("One", major);
            let other = Requirement {
                package: package("Two"),
                spec: Spec::parse(&format!("=={}.0.0", versions - 1 - major)).expect("a spec"),
                location: None,
            };
            one.requirements = vec![other].into();
            [one, numbered("Two", major)]
        })
        .collect();
    let root = release("Root", "1.0.0")
        .requires("One", "*")
        .requires("Two", ">=1999");
    let mut options = SolveOptions::default();
    options.single_version = true;
    match solve(root, records, options) {
        Step::Solved(resolution) => {
            let one = resolution.package(&package("One")).expect("it is required");
            assert_eq!(one.version, version("0.0.0"));
        }
        other => panic!("{other:?}"),
    }
}

/// Two chains of ten packages with three releases each, whose ends require different releases of `Z`. If
/// `inherits`, the classes along each chain extend each other, and the root extends both.
fn chains_to_different_releases(inherits: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let length = 10;
    let mut root = release("Root", "1.0.0");
    let mut firsts = Vec::new();
    let mut records = Vec::new();
    for chain in 1..=2 {
        let name = |link: usize| format!("C{chain}L{link}");
        root = root.requires(&name(1), "*");
        firsts.push(format!("c{chain}.l1"));
        for link in 1..=length {
            let (next, next_class, spec) = if link < length {
                let next_class = format!("c{chain}.l{}", link + 1);
                (name(link + 1), next_class, "*".to_owned())
            } else {
                ("Z".to_owned(), "z.D".to_owned(), chain.to_string())
            };
            let extended = [next_class.as_str()];
            let extends: &[&str] = if inherits { &extended } else { &[] };
            for minor in 0..3 {
                let record = release(&name(link), &format!("1.{minor}.0")).requires(&next, &spec);
                records.push(record.defines(&format!("c{chain}.l{link}"), extends));
            }
        }
        for minor in 0..3 {
            let record = release("Z", &format!("{chain}.{minor}.0"));
            records.push(record.defines("z.D", &[]));
        }
    }
    let firsts: Vec<&str> = firsts.iter().map(String::as_str).collect();
    let root = root.defines("root.Main", if inherits { &firsts } else { &[] });
    (root, records)
}

/// The options of both engines with a small budget. What the other engine learned counts more, as its crate looks at it
/// more often.
fn with_few_steps() -> impl Iterator<Item = SolveOptions> {
    let engines = [(Engine::Native, 2_000), (Engine::Pubgrub, 120_000)].into_iter();
    engines.map(|(engine, max_steps)| {
        let mut options = SolveOptions::default();
        options.max_steps = max_steps;
        options.engine = engine;
        options
    })
}

#[test]
fn a_diamond_at_the_ends_of_chains_is_proved_without_enumerating_the_chains() {
    let (root, records) = chains_to_different_releases(true);
    for options in with_few_steps() {
        match solve(root.clone(), records.clone(), options) {
            Step::Conflict(conflict) => {
                assert_eq!(conflict.summary, "`root.Main` would inherit `z.D` twice");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn chains_to_different_releases_of_a_package_split_only_that_package() {
    let (root, records) = chains_to_different_releases(false);
    for options in with_few_steps() {
        match solve(root.clone(), records.clone(), options) {
            Step::Solved(resolution) => {
                let names = resolution.side_by_side().iter().map(|split| &split.name);
                assert_eq!(names.collect::<Vec<_>>(), [&package("Z")]);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Six packages with five releases each, in which every class extends the classes of about half of the
/// other packages: in every selection some classes extend themselves.
fn entangled(seed: u64) -> (IndexRecord, Vec<IndexRecord>) {
    let mut random = Random::new(seed);
    let name = |package: usize| format!("P{package}");
    let class = |package: usize| format!("P{package}.C");
    let mut records = Vec::new();
    for package in 0..6 {
        for version in 1..=5 {
            let mut record = release(&name(package), &version.to_string());
            let mut extends = Vec::new();
            for other in (0..6).filter(|other| *other != package) {
                if random.chance(50) {
                    let spec = format!("<={}", random.between(1, 5));
                    record = record.requires(&name(other), &spec);
                    extends.push(class(other));
                }
            }
            let extends: Vec<&str> = extends.iter().map(String::as_str).collect();
            records.push(record.defines(&class(package), &extends));
        }
    }
    let root = release("Root", "1").requires("P0", "*");
    (root.defines("Root.C", &["P0.C"]), records)
}

/// There are too many cycles of classes to exclude them one by one, so learned clauses must be strong.
#[test]
fn cycles_of_classes_are_excluded_within_the_budget() {
    for seed in [5, 15, 48, 49, 73] {
        let (root, records) = entangled(seed);
        let mut options = SolveOptions::default();
        options.max_steps = 160_000;
        let answer = run(root, records, options);
        assert!(matches!(answer, Step::Conflict(_)), "{seed}: {answer:?}");
    }
}

/// The versions that are chosen for a root that requires a package, out of one compiled index.
fn chosen_from_index(required: &str, records: &[IndexRecord]) -> Vec<String> {
    let root = release("Root", "1.0.0").requires(required, "*");
    let mut request = Request::new(root);
    request.core = None;
    let index = Arc::new(CompiledIndex::compile(records));
    let mut resolver = attached(request, index);
    let step = drive(&mut resolver, &mut Records::new([]));
    let Step::Solved(resolution) = step else {
        panic!("{step:?}");
    };
    let packages = resolution.packages().iter();
    packages
        .map(|chosen| format!("{} {}", chosen.name, chosen.version))
        .collect()
}

/// An index has no set of what is allowed of a package with so many releases, nor of a few of them.
#[test]
fn requirements_of_and_on_thousands_of_releases_hold() {
    let many = |name: &str| -> Vec<IndexRecord> {
        let versions = (0..1_500).map(|major| format!("{major}.0.0"));
        versions.map(|version| release(name, &version)).collect()
    };
    let mut records = many("X");
    records.push(release("Few", "1.0.0").requires("X", "<3"));
    records.push(release("Few", "2.0.0").requires("Gone", "*"));
    assert_eq!(chosen_from_index("Few", &records), ["Few 1.0.0", "X 2.0.0"]);

    for (number, release) in many("Many").into_iter().enumerate() {
        // All but one require a package of their own that does not exist; that one requires X.
        records.push(match number {
            700 => release.requires("X", ">=10, <20"),
            _ => release.requires(&format!("Gone{number}"), "*"),
        });
    }
    assert_eq!(
        chosen_from_index("Many", &records),
        ["Many 700.0.0", "X 19.0.0"]
    );
}
