//! Random universes, resolved by the resolver of ansible-core and by this one.
//!
//! `PKGRES_ANSIBLE` names an environment with ansible-core, which `.ci/run` makes. `SEEDS` makes the run longer.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use pkgres_formats::ansible::ECOSYSTEM;
use pkgres_manifest::Version;
use pkgres_resolver::ClassRules;
use pkgres_tests::ansible::{package, record, request};
use pkgres_tests::random::Random;
use pkgres_tests::{seeds, skip};
use serde_json::{Value, json};

use super::resolve::{Picks, picks, registries};

/// How many universes are resolved by default.
const USUAL: u64 = 10_000;

/// The most answers in a thousand that may be different ones without either being better. ansible-core decides the
/// package with the fewest candidates first, and backtracks without learning.
const DIFFERENT_IN_THOUSAND: usize = 100;

/// The version of a number: mostly stable ones, in ascending order.
fn versions(random: &mut Random) -> Vec<String> {
    let mut versions = Vec::new();
    for major in 1..=random.between(1, 3) {
        for minor in 0..random.between(1, 2) {
            if random.chance(12) {
                versions.push(format!("{major}.{minor}.0-rc.1"));
            }
            if random.chance(85) {
                versions.push(format!("{major}.{minor}.0"));
            }
        }
    }
    if versions.is_empty() {
        versions.push("1.0.0".to_owned());
    }
    versions
}

/// A range that has to do with some versions.
fn range(random: &mut Random, versions: &[String]) -> String {
    let one = random.below(versions.len());
    let other = random.between(one, versions.len() - 1);
    let (one, other) = (&versions[one], &versions[other]);
    match random.below(8) {
        0 | 1 => "*".to_owned(),
        2 | 3 => format!(">={one}"),
        4 => format!("<={other}"),
        5 => format!(">={one},<={other}"),
        6 => format!("!={one}"),
        _ if random.chance(50) => one.clone(),
        _ => format!("=={one}"),
    }
}

/// A universe of some collections, and what is required of it.
fn universe(seed: u64) -> Value {
    let mut random = Random::new(seed);
    let names: Vec<String> = (0..random.between(2, 6))
        .map(|number| format!("acme.p{number}"))
        .collect();
    let all: Vec<Vec<String>> = names.iter().map(|_| versions(&mut random)).collect();
    let mut requirements = |of: Option<usize>, most: usize| {
        let mut chosen = BTreeMap::new();
        for _ in 0..random.between(usize::from(of.is_none()), most) {
            let target = random.below(names.len());
            if of != Some(target) {
                chosen.insert(names[target].clone(), range(&mut random, &all[target]));
            }
        }
        chosen
    };
    let mut packages = serde_json::Map::new();
    for (at, name) in names.iter().enumerate() {
        let releases: serde_json::Map<String, Value> = all[at]
            .iter()
            .map(|version| (version.clone(), json!(requirements(Some(at), 2))))
            .collect();
        packages.insert(name.clone(), Value::Object(releases));
    }
    let roots: Vec<(String, String)> = requirements(None, 3).into_iter().collect();
    json!({"roots": roots, "packages": packages})
}

/// What this resolver picks.
fn own_picks(universe: &Value) -> Picks {
    let mut records = Vec::new();
    for (name, releases) in universe["packages"].as_object().expect("packages") {
        for (version, requires) in releases.as_object().expect("releases") {
            records.push(record(&json!({
                "name": name, "version": version, "require": requires, "classes": {},
            })));
        }
    }
    let mut root = record(&json!({"name": "acme.root", "version": "1.0.0", "classes": {}}));
    for pair in universe["roots"].as_array().expect("roots") {
        let text = |at: usize| pair[at].as_str().expect("a text");
        let spec = ECOSYSTEM.spec(text(1));
        root = root.with_requirement(package(text(0)), spec.expect("a range"));
    }
    let request = request(root, None, ClassRules::Ignored);
    picks(request, &registries(records))
}

/// Whether picks have what the roots and all picks require, and nothing that is not required. A prerelease has to be
/// the only kind of release, or named.
fn is_right(universe: &Value, picks: &BTreeMap<String, String>) -> bool {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let roots = universe["roots"].as_array().expect("roots").iter();
    let mut required: Vec<(String, String)> =
        roots.map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    for (name, version) in picks {
        let dependencies = universe["packages"][name][version].as_object();
        let dependencies = dependencies.expect("a release").iter();
        required.extend(dependencies.map(|(name, range)| (name.clone(), text(range))));
    }
    let fits = required.iter().all(|(name, range)| {
        let spec = ECOSYSTEM.spec(range).expect("a range");
        let picked = picks.get(name);
        picked.is_some_and(|one| spec.matches(&Version::parse(one).expect("a version")))
    });
    fits && picks.iter().all(|(name, version)| {
        let releases = universe["packages"][name].as_object().expect("releases");
        let mut named = required.iter().filter(|(other, _)| other == name);
        let is_stable = !version.contains('-') || releases.keys().all(|one| one.contains('-'));
        required.iter().any(|(other, _)| other == name)
            && (is_stable || named.any(|(_, range)| range.trim_start_matches('=') == version))
    })
}

/// Whether some picks are at least as new as others wherever both have a package, and newer somewhere. A prerelease is not
/// better than a stable version.
fn is_newer(picks: &BTreeMap<String, String>, others: &BTreeMap<String, String>) -> bool {
    let version = |text: &String| Version::parse(text).expect("a version");
    let common = picks
        .iter()
        .filter_map(|(name, one)| Some((version(one), version(others.get(name)?))));
    let common: Vec<(Version, Version)> = common.collect();
    let is_as_good = |one: &Version, other: &Version| {
        one >= other && (!one.is_prerelease() || other.is_prerelease())
    };
    let mut pairs = common.iter();
    pairs.all(|(one, other)| is_as_good(one, other))
        && common.iter().any(|(one, other)| one > other)
}

#[test]
fn ansible_core_picks_the_same_in_random_universes() {
    let Some(environment) = std::env::var_os("PKGRES_ANSIBLE") else {
        skip::without_service("PKGRES_ANSIBLE is not set");
        return;
    };
    let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ansible/resolver.py");
    let mut process = Command::new(PathBuf::from(environment).join("bin/python"))
        .arg(driver)
        .env("HOME", std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let universes: Vec<Value> = (0..seeds::count(USUAL)).map(universe).collect();
    let lines: String = universes.iter().map(|one| format!("{one}\n")).collect();
    let mut input = process.stdin.take().expect("it was piped");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = process.wait_with_output().expect("it ends");
    writer.join().expect("it ends").expect("all was written");
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).expect("it is text");
    let answers: Vec<Value> = answers
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(answers.len(), universes.len());

    let (mut solved, mut different, mut crashed, mut missed) = (0, 0, 0, 0);
    for (seed, (universe, answer)) in universes.iter().zip(&answers).enumerate() {
        let own = own_picks(universe);
        if answer.get("crash").is_some() {
            // Its backtracking runs out of states.
            crashed += 1;
            continue;
        }
        let theirs: Picks = answer
            .get("picks")
            .map(|picks| serde_json::from_value(picks.clone()).expect("names and versions"));
        match (own, theirs) {
            (None, None) => {}
            (Some(own), Some(theirs)) if own == theirs => solved += 1,
            // After backtracking it may keep a prerelease that no requirement names any more.
            (_, Some(theirs)) if !is_right(universe, &theirs) => missed += 1,
            (Some(own), Some(theirs)) => {
                solved += 1;
                different += 1;
                assert!(
                    !is_newer(&theirs, &own),
                    "seed {seed}: {own:?} is older than {theirs:?}: {universe}"
                );
            }
            // Its backtracking gives up too early in rare cases: what it does not find has to be right.
            (Some(own), None) => {
                missed += 1;
                assert!(
                    is_right(universe, &own),
                    "seed {seed}: {own:?} is wrong: {universe}"
                );
            }
            (None, Some(theirs)) => {
                panic!("seed {seed}: {theirs:?} is an answer that is not found: {universe}")
            }
        }
    }
    let count = universes.len();
    let summary = format!(
        "{count} universes: {solved} solved, {different} of them differently; ansible-core crashed in {crashed}, and \
         has a wrong answer or none in {missed}"
    );
    assert!(solved > count / 2, "{summary}");
    assert!(crashed <= count / 50, "{summary}");
    assert!(missed <= count / 50, "{summary}");
    let most = (count * DIFFERENT_IN_THOUSAND).div_ceil(1000);
    assert!(different <= most, "{summary}");
}
