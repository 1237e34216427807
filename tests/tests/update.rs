//! Updates: what is named moves, and as little else as possible.
//!
//! `SEEDS=100000` asks for more universes than the usual number.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use pkgres_manifest::{IndexRecord, PackageName, Spec, Version};
use pkgres_resolver::{
    Conflict, Preference, Reason, ReasonKind, Resolution, SolveOptions, Target, Update,
    UpdateReport,
};
use pkgres_tests::build::{Build, package, release, solution, version};
use pkgres_tests::random::Random;
use pkgres_tests::reference::{Answer, Rule, Rules, Solution, is_valid, search};
use pkgres_tests::solver::{self, Supplies, Verdict};
use pkgres_tests::universe::{PrereleasePolicy, Universe};

const SEEDS: u64 = 20_000;
/// So little that the search in the order of decisions is left in some of the universes.
const PATIENCE: u64 = 2;
/// Universes of more combinations than this are left to other seeds.
const MAX_LOOKED_AT: usize = 20_000;

fn newest(names: &[&str]) -> Update {
    let packages = names.iter().map(|name| (package(name), Target::Newest));
    Update {
        packages: packages.collect(),
    }
}

fn exactly(name: &str, number: &str) -> Update {
    Update {
        packages: BTreeMap::from([(package(name), Target::Exactly(version(number)))]),
    }
}

fn update(root: IndexRecord, records: Vec<IndexRecord>, lock: &[&str], update: Update) -> Verdict {
    let universe = Universe {
        locked: Some(solution(lock)),
        ..Universe::new(root, records)
    };
    let patience = SolveOptions::default().patience;
    solver::update(&universe, Supplies::OnDemand, update, patience)
}

fn solved(verdict: Verdict) -> Resolution {
    match verdict {
        Verdict::Solved(resolution) => *resolution,
        Verdict::Conflict(conflict) => panic!("{conflict:#?}"),
    }
}

fn conflict(verdict: Verdict) -> Conflict {
    match verdict {
        Verdict::Solved(resolution) => panic!("{resolution:#?}"),
        Verdict::Conflict(conflict) => *conflict,
    }
}

fn report(resolution: &Resolution) -> &UpdateReport {
    resolution.update().expect("an update was asked for")
}

/// Lines `NAME FROM -> TO`.
fn moves(resolution: &Resolution) -> Vec<String> {
    let shown = |version: &Option<Version>| {
        let version = version.as_ref();
        version.map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let moved = report(resolution).moved.iter();
    moved
        .map(|moved| {
            let (from, to) = (shown(&moved.from), shown(&moved.to));
            format!("{} {from} -> {to}", moved.package)
        })
        .collect()
}

fn texts(reasons: &[Reason]) -> Vec<&str> {
    reasons.iter().map(|reason| reason.text.as_str()).collect()
}

fn root() -> IndexRecord {
    release("R", "1").requires("X", "*").requires("Y", "*")
}

fn two_of_each() -> Vec<IndexRecord> {
    ["X", "Y"]
        .into_iter()
        .flat_map(|name| ["1", "2"].map(|number| release(name, number)))
        .collect()
}

const AT_ONE: &[&str] = &["R 1 X 1", "R 1 Y 1"];

#[test]
fn one_package_moves_and_nothing_else() {
    let found = solved(update(root(), two_of_each(), AT_ONE, newest(&["X"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0"]);
    let report = report(&found);
    assert!(report.is_minimal);
    assert_eq!(report.held_back, []);
    assert_eq!(texts(&report.moved[0].because), ["X 2.0.0 was asked for"]);
}

#[test]
fn with_nothing_named_only_what_has_to_move_does() {
    let found = solved(update(root(), two_of_each(), AT_ONE, Update::default()));
    assert_eq!(moves(&found), Vec::<String>::new());
    let narrower = release("R", "1").requires("X", "*").requires("Y", "2");
    let found = solved(update(narrower, two_of_each(), AT_ONE, Update::default()));
    assert_eq!(moves(&found), ["Y 1.0.0 -> 2.0.0"]);
    assert_eq!(
        texts(&report(&found).moved[0].because),
        ["R 1.0.0 requires Y 2", "the lock holds Y at 1.0.0"]
    );
}

/// What was withdrawn since is the last that a package goes to, and what it stays at if nothing else
/// will do.
#[test]
fn what_was_withdrawn_is_a_last_resort() {
    let records = || {
        let mut records = two_of_each();
        records[1] = release("X", "2").yanked();
        records
    };
    let lock = &["R 1 X 2", "R 1 Y 1"];
    let found = solved(update(root(), records(), lock, newest(&["X"])));
    assert_eq!(moves(&found), ["X 2.0.0 -> 1.0.0"]);
    assert_eq!(report(&found).held_back, []);
    let found = solved(update(root(), records(), lock, newest(&["Y"])));
    assert_eq!(moves(&found), ["Y 1.0.0 -> 2.0.0"]);
    assert!(!found.withdrawn()[0].was_asked_for);
    let narrower = || release("R", "1").requires("X", "2").requires("Y", "*");
    let found = solved(update(narrower(), records(), lock, newest(&["X"])));
    assert_eq!(moves(&found), Vec::<String>::new());
    assert_eq!(report(&found).held_back, []);
    let at_one = update(root(), records(), AT_ONE, exactly("X", "2"));
    assert!(solved(at_one).withdrawn()[0].was_asked_for);
}

/// So it is where everything may move.
#[test]
fn what_was_withdrawn_does_not_stop_an_update_of_everything() {
    let records = vec![
        release("X", "1"),
        release("X", "2").yanked(),
        release("Y", "1"),
    ];
    let version_of_x = |spec| {
        let root = release("R", "1").requires("X", spec).requires("Y", "*");
        let universe = Universe::new(root, records.clone());
        let mut request = solver::request(&universe);
        request.locked.kept = BTreeSet::from([(package("X"), version("2"))]);
        let found = solved(solver::run(&universe, Supplies::Attached, request));
        let found = found.package(&package("X")).expect("it is required");
        found.version.clone()
    };
    assert_eq!(version_of_x("*"), version("1"));
    assert_eq!(version_of_x("2"), version("2"));
}

#[test]
fn what_is_gone_has_to_move() {
    let lock = &["R 1 X 1.5", "R 1 Y 1"];
    let found = solved(update(root(), two_of_each(), lock, Update::default()));
    assert_eq!(moves(&found), ["X 1.5.0 -> 2.0.0"]);
    assert_eq!(
        texts(&report(&found).moved[0].because),
        [
            "R 1.0.0 requires X *",
            "the lock holds X at 1.5.0, which no registry has"
        ]
    );
}

#[test]
fn a_chain_has_to_move() {
    let records = || {
        vec![
            release("X", "1").requires("Y", "1"),
            release("X", "2").requires("Y", "2"),
            release("Y", "1").requires("Z", "1"),
            release("Y", "2").requires("Z", "2"),
            release("Z", "1"),
            release("Z", "2"),
            release("W", "1"),
            release("W", "2"),
        ]
    };
    let root = || release("R", "1").requires("X", "*").requires("W", "*");
    let lock = &["R 1 X 1", "X 1 Y 1", "Y 1 Z 1", "R 1 W 1"];
    let found = solved(update(root(), records(), lock, exactly("X", "2")));
    assert_eq!(
        moves(&found),
        ["X 1.0.0 -> 2.0.0", "Y 1.0.0 -> 2.0.0", "Z 1.0.0 -> 2.0.0"]
    );
    let report = report(&found);
    let because: Vec<Vec<&str>> = (report.moved.iter())
        .map(|moved| texts(&moved.because))
        .collect();
    let of_y = [
        "X 2.0.0 requires Y 2",
        "the lock holds Y at 1.0.0",
        "X 2.0.0 was asked for",
    ];
    let sorted = |mut texts: Vec<&'static str>| {
        texts.sort_unstable();
        texts
    };
    let mut found_of_y = because[1].clone();
    found_of_y.sort_unstable();
    assert_eq!(found_of_y, sorted(of_y.to_vec()));
    assert!(because[2].contains(&"the lock holds Z at 1.0.0"));
    assert!(because[2].contains(&"Y 2.0.0 requires Z 2"));
}

/// X 2 needs Y or Z to move. By name Y is the first that may stay.
#[test]
fn of_two_alternatives_one_moves() {
    let records = vec![
        release("X", "1"),
        release("X", "2").requires("V", "*"),
        release("V", "1").requires("Y", "2"),
        release("V", "2").requires("Z", "2"),
        release("Y", "1"),
        release("Y", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let root = root().requires("Z", "*");
    let lock = &["R 1 X 1", "R 1 Y 1", "R 1 Z 1"];
    let found = solved(update(root, records, lock, newest(&["X"])));
    assert_eq!(
        moves(&found),
        ["V - -> 2.0.0", "X 1.0.0 -> 2.0.0", "Z 1.0.0 -> 2.0.0"]
    );
    assert!(report(&found).is_minimal);
}

#[test]
fn an_exact_version_is_impossible() {
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("X", "2").requires("Z", "2"),
        release("Y", "1").requires("Z", "1"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Z 1", "Y 1 Z 1"];
    let found = conflict(update(root(), records, lock, exactly("X", "2")));
    let mut texts = texts(&found.reasons);
    texts.sort_unstable();
    assert_eq!(
        texts,
        [
            "R 1.0.0 requires Y *",
            "X 2.0.0 requires Z 2",
            "X 2.0.0 was asked for",
            "Y 1.0.0 requires Z 1",
        ]
    );
    let found = conflict(update(root(), two_of_each(), AT_ONE, exactly("X", "3")));
    assert_eq!(found.summary, "there is no such version of `X`");
    assert_eq!(
        found.reasons[0].text,
        "X 3.0.0 was asked for, which no registry has"
    );
}

#[test]
fn better_versions_are_held_back() {
    let mut records = two_of_each();
    records.extend(["3", "4"].map(|number| release("X", number)));
    records.push(release("Y", "1.1").requires("X", "<3"));
    let root = release("R", "1")
        .requires("X", "*")
        .requires("Y", ">=1.1,<2");
    let lock = &["R 1 X 1", "R 1 Y 1.1", "Y 1.1 X 1"];
    let found = solved(update(root, records, lock, newest(&["X"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0"]);
    let [held_back] = &report(&found).held_back[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(held_back.version, version("4"));
    assert_eq!(held_back.alike, [version("3")]);
    let texts = texts(&held_back.because.reasons);
    assert!(texts.contains(&"X 4.0.0 was asked for"), "{texts:?}");
    assert!(texts.contains(&"Y 1.1.0 requires X <3"), "{texts:?}");
}

/// Which versions are better is a matter of preference: where the oldest is preferred they are the
/// lower ones.
#[test]
fn what_is_held_back_is_better_whichever_way_round() {
    let root = |wanted: &str| release("A", "1").requires("B", "*").requires("C", wanted);
    let records = |refused: &str, wanted: &str| {
        let mut records = vec![release("C", "1"), release("C", "2")];
        records.push(release("B", refused).requires("C", if wanted == "1" { "2" } else { "1" }));
        records.push(release("B", "2"));
        records
    };
    for (prefer, refused, wanted) in [
        (Preference::Newest, "3", "1"),
        (Preference::Oldest, "1", "2"),
    ] {
        let universe = Universe::new(root(wanted), records(refused, wanted));
        let mut request = solver::request(&universe);
        request.options.prefer = prefer;
        request.update = Some(newest(&["B"]));
        let found = solved(solver::run(&universe, Supplies::OnDemand, request));
        let [held_back] = &report(&found).held_back[..] else {
            panic!("{prefer:?}: {found:#?}");
        };
        assert_eq!(held_back.version, version(refused), "{prefer:?}");
        assert_eq!(held_back.alike, []);
    }
}

/// A stable version is better than a prerelease that is newer.
#[test]
fn stable_versions_are_held_back() {
    let root = release("A", "1").requires("B", "*").requires("C", "2");
    let records = vec![
        release("B", "1").requires("C", "1"),
        release("B", "1.1").requires("C", "1"),
        release("B", "2.0.0-rc.1"),
        release("C", "1"),
        release("C", "2"),
    ];
    let found = solved(update(root, records, &[], newest(&["B"])));
    let [held_back] = &report(&found).held_back[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(held_back.version, version("1.1"));
    assert_eq!(held_back.alike, [version("1")]);
}

/// A package that vanishes would be free of all conflicts. That is no way to update it.
#[test]
fn an_update_does_not_drop_what_it_updates() {
    let records = vec![
        release("A", "0.9"),
        release("A", "1").requires("P", "1"),
        release("P", "1"),
        release("P", "1.1"),
        release("P", "2"),
    ];
    let root = || release("R", "1").requires("A", "*");
    let lock = &["R 1 A 1", "A 1 P 1"];
    let found = solved(update(root(), records.clone(), lock, newest(&["P"])));
    assert_eq!(moves(&found), ["P 1.0.0 -> 1.1.0"]);
    assert_eq!(report(&found).held_back[0].version, version("2"));
    let found = conflict(update(root(), records, lock, exactly("P", "2")));
    assert_eq!(
        texts(&found.reasons),
        ["P 2.0.0 was asked for", "A 1.0.0 requires P 1"]
    );
}

#[test]
fn packages_vanish_and_come_in() {
    let records = vec![
        release("X", "1").requires("Old", "1"),
        release("X", "2").requires("New", "1"),
        release("Y", "1"),
        release("Old", "1"),
        release("New", "1"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Old 1"];
    let found = solved(update(root(), records, lock, newest(&["X"])));
    assert_eq!(
        moves(&found),
        ["New - -> 1.0.0", "Old 1.0.0 -> -", "X 1.0.0 -> 2.0.0"]
    );
    assert!(report(&found).moved[1].because.is_empty());
}

#[test]
fn what_is_no_longer_required_may_go_though_it_is_named() {
    let root = release("R", "1").requires("X", "*");
    let found = solved(update(root, two_of_each(), AT_ONE, newest(&["X", "Y"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0", "Y 1.0.0 -> -"]);
    assert_eq!(report(&found).held_back, []);
}

#[test]
fn side_by_side_nothing_is_proved() {
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "1.1"),
        release("Z", "2"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Z 1", "Y 1 Z 2"];
    let found = solved(update(root(), records.clone(), lock, newest(&["Z"])));
    assert_eq!(moves(&found), ["Z 1.0.0 -> 1.1.0"]);
    assert!(!report(&found).is_minimal);
    let found = solved(update(root(), records, lock, newest(&["X"])));
    assert_eq!(moves(&found), Vec::<String>::new());
}

/// A lock with two releases of a package side by side.
fn side_by_side() -> (Vec<IndexRecord>, &'static [&'static str]) {
    let records = vec![
        release("A", "1").requires("Q", "1"),
        release("A", "2").requires("Q", "2"),
        release("P", "1"),
        release("P", "2").requires("Q", "2"),
        release("Q", "1"),
        release("Q", "2"),
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "1"),
        release("Y", "2").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let lock = &[
        "R 1 A 1", "R 1 P 1", "R 1 X 1", "R 1 Y 2", "A 1 Q 1", "X 1 Z 1", "Y 2 Z 2",
    ];
    (records, lock)
}

fn root_of_five() -> IndexRecord {
    let packages = ["A", "P", "X", "Y"];
    packages
        .iter()
        .fold(release("R", "1"), |root, name| root.requires(name, "*"))
}

#[test]
fn a_package_moves_beside_others_that_are_side_by_side() {
    let (records, lock) = side_by_side();
    let to_newest = update(root_of_five(), records.clone(), lock, newest(&["P"]));
    let moved = ["A 1.0.0 -> 2.0.0", "P 1.0.0 -> 2.0.0", "Q 1.0.0 -> 2.0.0"];
    assert_eq!(moves(&solved(to_newest)), moved);
    let to_two = update(root_of_five(), records, lock, exactly("P", "2"));
    assert_eq!(moves(&solved(to_two)), moved);
}

#[test]
fn what_is_side_by_side_stays_so() {
    let (records, lock) = side_by_side();
    // There is a resolution with one release of each package, for which Y would have to go back.
    let found = update(root_of_five(), records, lock, newest(&["X"]));
    assert_eq!(moves(&solved(found)), Vec::<String>::new());
}

#[test]
fn beside_others_an_exact_version_is_impossible() {
    let (records, lock) = side_by_side();
    let found = conflict(update(root_of_five(), records, lock, exactly("P", "3")));
    let mut reasons = found.reasons.iter();
    assert!(reasons.any(|reason| reason.kind == ReasonKind::Wanted));
}

/// Resolutions by brute force: whether there is one in which all releases are allowed and one is
/// there.
struct Walk<'universe> {
    universe: &'universe Universe,
    allows: &'universe dyn Fn(&PackageName, &Version) -> bool,
    wanted: Option<&'universe (PackageName, Version)>,
    looked_at: usize,
}

impl Walk<'_> {
    /// `None` if that takes too long to find out.
    fn finds(&mut self) -> Option<bool> {
        let mut chosen = BTreeMap::new();
        let root = &self.universe.root;
        chosen.insert(root.name.clone(), root.version.clone());
        self.walk(&mut chosen)
    }

    fn record(&self, name: &PackageName, version: &Version) -> &IndexRecord {
        if *name == self.universe.root.name {
            return &self.universe.root;
        }
        let mut records = self.universe.records.iter();
        records
            .find(|record| record.name == *name && record.version == *version)
            .expect("only what there is is chosen")
    }

    fn walk(&mut self, chosen: &mut BTreeMap<PackageName, Version>) -> Option<bool> {
        self.looked_at += 1;
        if self.looked_at > MAX_LOOKED_AT {
            return None;
        }
        let mut bindings = BTreeMap::new();
        let mut open: Option<PackageName> = None;
        for (name, version) in &*chosen {
            let record = self.record(name, version);
            let mut required: Vec<&PackageName> = Vec::new();
            for requirement in &record.requirements {
                if let Some(bound) = chosen.get(&requirement.package)
                    && !requirement.spec.matches(bound)
                {
                    return Some(false);
                }
                required.push(&requirement.package);
            }
            required.extend(self.universe.core.as_ref().filter(|core| *core != name));
            for package in required {
                match chosen.get(package) {
                    Some(bound) => {
                        let key = (name.clone(), version.clone(), package.clone());
                        bindings.insert(key, bound.clone());
                    }
                    None => open = Some(package.clone()),
                }
            }
        }
        let Some(open) = open else {
            let is_there = self
                .wanted
                .is_none_or(|(name, version)| chosen.get(name) == Some(version));
            let rules = Rules::without(Rule::SecondTier);
            let found = Solution::new(bindings);
            return Some(is_there && is_valid(self.universe, &found, &rules).is_ok());
        };
        let records = self.universe.records.iter();
        let versions: Vec<Version> = records
            .filter(|record| record.name == open && (self.allows)(&open, &record.version))
            .map(|record| record.version.clone())
            .collect();
        for version in versions {
            chosen.insert(open.clone(), version);
            if self.walk(chosen)? {
                return Some(true);
            }
            chosen.remove(&open);
        }
        Some(false)
    }
}

fn exists(
    universe: &Universe,
    allows: &dyn Fn(&PackageName, &Version) -> bool,
    wanted: Option<&(PackageName, Version)>,
) -> Option<bool> {
    let mut walk = Walk {
        universe,
        allows,
        wanted,
        looked_at: 0,
    };
    walk.finds()
}

/// A lock that keeps to some rules, and an update of one of its packages.
fn problem(seed: u64, rules: &Rules) -> Option<(Universe, PackageName, Target)> {
    let mut universe = Universe::random(seed);
    let mut random = Random::new(seed);
    let mut earlier = universe.clone();
    earlier.locked = None;
    // Not everything was there when the lock was written.
    let newer = |record: &IndexRecord, random: &mut Random| {
        let records = universe.records.iter();
        let mut others = records.filter(|other| other.name == record.name);
        others.all(|other| other.version <= record.version) && random.chance(50)
    };
    (earlier.records).retain(|record| !newer(record, &mut random));
    if random.chance(25) && !earlier.root.requirements.is_empty() {
        let chosen = random.below(earlier.root.requirements.len());
        earlier.root.requirements[chosen].spec = Spec::any();
    }
    let lock = match search(&earlier, rules) {
        Answer::Solved(lock) => lock,
        Answer::NoSolution => return None,
    };
    let names: Vec<PackageName> = (lock.releases(&universe.root.name).into_iter())
        .map(|(name, _)| name)
        .collect();
    universe.locked = Some(lock);
    if names.is_empty() {
        return None;
    }
    let name = random.pick(&names).clone();
    let versions: Vec<&Version> = (universe.records.iter())
        .filter(|record| record.name == name)
        .filter(|record| !record.yanked)
        .filter(|record| {
            let is_refused = universe.prerelease == PrereleasePolicy::Never;
            !(is_refused && record.version.is_prerelease())
        })
        .map(|record| &record.version)
        .collect();
    let target = if versions.is_empty() || random.chance(50) {
        Target::Newest
    } else {
        Target::Exactly((*random.pick(&versions)).clone())
    };
    Some((universe, name, target))
}

#[derive(Default)]
struct Tally {
    minimal: usize,
    several: usize,
    impossible: usize,
    held_back: usize,
    others: usize,
}

/// What is wrong with the answer to a universe, and what kind of answer it is.
fn check(seed: u64, patience: u64, tally: &mut Tally) -> Option<String> {
    let (universe, name, target) = problem(seed, &Rules::without(Rule::SecondTier))?;
    let anything = |_: &PackageName, _: &Version| true;
    let possible = exists(&universe, &anything, None)?;
    let update = Update {
        packages: BTreeMap::from([(name.clone(), target.clone())]),
    };
    let verdict = solver::update(&universe, Supplies::OnDemand, update, patience);
    let resolution = match (&verdict, &target) {
        (Verdict::Solved(resolution), _) => resolution,
        (Verdict::Conflict(conflict), Target::Exactly(version)) if possible => {
            tally.impossible += 1;
            let wanted = (name, version.clone());
            if exists(&universe, &anything, Some(&wanted))? {
                return Some(format!("{} {} is possible", wanted.0, wanted.1));
            }
            let mut reasons = conflict.reasons.iter();
            let is_said = reasons.any(|reason| reason.kind == ReasonKind::Wanted);
            return (!is_said).then(|| "it is not said what was asked for".to_owned());
        }
        (Verdict::Conflict(_), _) => {
            tally.others += 1;
            return possible.then(|| "there is a resolution".to_owned());
        }
    };
    let found = solver::solution(resolution);
    let report = resolution.update().expect("an update was asked for");
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Some(text);
    }
    if report.is_minimal != possible {
        return Some("the tiers are not told apart".to_owned());
    }
    if !possible {
        tally.others += 1;
        return None;
    }
    tally.minimal += 1;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let held: BTreeMap<PackageName, Version> =
        lock.releases(&universe.root.name).into_iter().collect();
    let now: BTreeMap<PackageName, Version> =
        found.releases(&universe.root.name).into_iter().collect();
    let differing: BTreeSet<&PackageName> = (held.keys().chain(now.keys()))
        .filter(|name| held.get(*name) != now.get(*name))
        .collect();
    let moved: BTreeSet<&PackageName> = report.moved.iter().map(|moved| &moved.package).collect();
    if moved != differing {
        return Some("what moved is not what differs".to_owned());
    }
    let at = now.get(&name).cloned();
    let wanted = at.map(|version| (name.clone(), version));
    match (&target, &wanted) {
        (Target::Exactly(version), Some((_, at))) if at != version => {
            return Some(format!("{at} was not asked for"));
        }
        (Target::Exactly(_), None) => return Some("it was dropped".to_owned()),
        _ => {}
    }
    // Newer stable versions would have been better in any case.
    if target == Target::Newest {
        let records = universe.records.iter();
        for record in records.filter(|record| record.name == name) {
            let at = wanted.as_ref().map(|(_, at)| at);
            let is_better = at.is_none_or(|at| record.version > *at);
            let is_told = (report.held_back.iter()).any(|held_back| {
                held_back.version == record.version || held_back.alike.contains(&record.version)
            });
            tally.held_back += usize::from(is_told);
            let is_stable = !record.version.is_prerelease();
            let other = (name.clone(), record.version.clone());
            if is_better && (is_stable || is_told) && exists(&universe, &anything, Some(&other))? {
                return Some(format!("{} {} is possible", other.0, other.1));
            }
            let is_candidate = is_stable && !record.yanked;
            if is_better && is_candidate && at.is_some() && !is_told {
                return Some(format!("{} {} is not mentioned", other.0, other.1));
            }
        }
    }
    let changed: Vec<&PackageName> = (report.moved.iter())
        .filter(|moved| moved.from.is_some() && moved.to.is_some())
        .map(|moved| &moved.package)
        .collect();
    tally.several += usize::from(changed.len() > 1);
    for one in changed.iter().filter(|one| ***one != name) {
        // All that stayed, and this one, stay.
        let stays = |package: &PackageName, version: &Version| {
            let may_move = (changed.contains(&package) && package != *one) || *package == name;
            may_move || held.get(package).is_none_or(|held| held == version)
        };
        if exists(&universe, &stays, wanted.as_ref())? {
            return Some(format!("{one} could have stayed"));
        }
        let because = &(report.moved.iter())
            .find(|moved| moved.package == **one)
            .expect("it moved")
            .because;
        if !because
            .iter()
            .any(|reason| reason.kind == ReasonKind::Stays)
        {
            return Some(format!("it is not said why {one} moved"));
        }
    }
    None
}

/// What is wrong with an update of a lock in which some package has several releases, and whether there
/// was one.
fn check_side_by_side(seed: u64) -> Option<Result<(), String>> {
    let (universe, name, target) = problem(seed, &Rules::default())?;
    let lock = universe.locked.as_ref().expect("there is a lock");
    let held = lock.releases(&universe.root.name);
    let names: BTreeSet<&PackageName> = held.iter().map(|(name, _)| name).collect();
    if names.len() == held.len() {
        return None;
    }
    let update = Update {
        packages: BTreeMap::from([(name.clone(), target.clone())]),
    };
    let verdict = solver::update(&universe, Supplies::OnDemand, update, u64::MAX);
    let Verdict::Solved(resolution) = verdict else {
        return Some(Ok(()));
    };
    let found = solver::solution(&resolution);
    if let Err(text) = is_valid(&universe, &found, &Rules::default()) {
        return Some(Err(text));
    }
    let now = found.releases(&universe.root.name);
    let mut at = now.iter().filter(|(other, _)| *other == name);
    let is_right = match &target {
        Target::Exactly(version) => at.next().is_some() && at.all(|(_, at)| at == version),
        Target::Newest => true,
    };
    if !is_right {
        return Some(Err("what was asked for was not done".to_owned()));
    }
    // Where it was enough that the named package moves, nothing else did.
    let moved = resolution.update().expect("an update was asked for");
    let stays = |releases: &BTreeSet<(PackageName, Version)>| {
        let others = releases.iter().filter(|(other, _)| *other != name);
        others.cloned().collect::<BTreeSet<_>>()
    };
    let is_kept = stays(&held) == stays(&now);
    let is_said = moved.moved.iter().all(|moved| moved.package == name);
    (is_kept == is_said)
        .then_some(Ok(()))
        .or_else(|| Some(Err("what moved is not what differs".to_owned())))
}

#[test]
fn random_updates_beside_others_do_what_was_asked_for() {
    let found: Vec<Result<(), String>> = for_all_seeds(check_side_by_side)
        .into_iter()
        .flatten()
        .collect();
    let wrong: Vec<&String> = found.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong: {:?}",
        wrong.len(),
        wrong.iter().take(5).collect::<Vec<_>>()
    );
    assert!(
        found.len() > 20,
        "only {} locks have several releases",
        found.len()
    );
}

fn seeds() -> u64 {
    let asked = std::env::var("SEEDS").ok();
    asked.map_or(SEEDS, |asked| asked.parse().expect("SEEDS is a number"))
}

/// Does something for every seed, on two threads.
fn for_all_seeds<T: Send>(each: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let (seeds, each) = (seeds(), &each);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|first| {
                scope.spawn(move || (first..seeds).step_by(2).map(each).collect::<Vec<T>>())
            })
            .collect();
        let results = workers.into_iter();
        results
            .flat_map(|worker| worker.join().expect("no seed panics"))
            .collect()
    })
}

/// Nothing that moved could have stayed, and nothing better was possible.
#[test]
fn random_updates_are_minimal() {
    for patience in [SolveOptions::default().patience, PATIENCE] {
        let mut all = Tally::default();
        let results = for_all_seeds(|seed| {
            let mut tally = Tally::default();
            let wrong = check(seed, patience, &mut tally);
            (wrong.map(|text| format!("seed {seed}: {text}")), tally)
        });
        let mut wrong = Vec::new();
        for (text, tally) in results {
            wrong.extend(text);
            all.minimal += tally.minimal;
            all.several += tally.several;
            all.impossible += tally.impossible;
            all.held_back += tally.held_back;
            all.others += tally.others;
        }
        assert!(
            wrong.is_empty(),
            "{} are wrong: {:?}",
            wrong.len(),
            &wrong[..wrong.len().min(5)]
        );
        let Tally {
            minimal,
            several,
            impossible,
            held_back,
            others,
        } = all;
        // Fewer universes were asked for.
        if seeds() < SEEDS {
            continue;
        }
        assert!(
            minimal > 3000 && several > 100 && impossible > 100 && held_back > 100 && others > 0,
            "{minimal} {several} {impossible} {held_back} {others}"
        );
    }
}

/// The order in which records and packages arrive shows nowhere, reasons and counts included.
#[test]
fn shuffled_input() {
    let each = |seed: u64| {
        let (universe, name, target) = problem(seed, &Rules::without(Rule::SecondTier))?;
        let update = Update {
            packages: BTreeMap::from([(name, target)]),
        };
        let mut shuffled = universe.clone();
        Random::new(seed).shuffle(&mut shuffled.records);
        let patience = if seed.is_multiple_of(2) {
            PATIENCE
        } else {
            200
        };
        let expected = solver::update(&universe, Supplies::OnDemand, update.clone(), patience);
        [Supplies::OnDemand, Supplies::Beforehand, Supplies::Attached]
            .map(|supplies| solver::update(&shuffled, supplies, update.clone(), patience))
            .into_iter()
            .find(|found| *found != expected)
            .map(|found| format!("seed {seed}\n{universe}{expected:#?}\n{found:#?}"))
    };
    let wrong: Vec<String> = for_all_seeds(each).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
}
