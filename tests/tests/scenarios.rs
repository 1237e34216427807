//! Scenarios from the test suites of other resolvers, and large random universes with known answers.

use std::collections::BTreeMap;
use std::path::Path;

use pkgres_manifest::{IndexRecord, PackageName, Release, Requirement, Shared, Spec, Version};
use pkgres_resolver::{
    Conflict, Locked, PrereleasePolicy, Request, Resolution, Resolver, SolveOptions, Step,
};
use pkgres_tests::drive::{Records, drive};
use pkgres_tests::reference::{Rules, is_valid};
use pkgres_tests::shared;
use pkgres_tests::solver::solution;
use pkgres_tests::universe::{self, Universe};
use serde_json::{Map, Value};

/// The greatest number of lines in the explanation of a small conflict.
const MAX_EXPLANATION_LINES: usize = 10;

/// A package name. Names of other ecosystems contain characters that FQNs do not allow.
fn name(text: &str) -> PackageName {
    PackageName::parse(&text.replace('-', "_")).expect("a name")
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

fn record(package: &str, number: &str, requirements: &Map<String, Value>) -> IndexRecord {
    let mut record = IndexRecord::new(name(package), version(number));
    record.classes = Some(Shared::default());
    record.requirements = requirements
        .iter()
        .map(|(package, spec)| Requirement {
            package: name(package),
            spec: Spec::parse(spec.as_str().expect("a range is text")).expect("a spec"),
            location: None,
        })
        .collect();
    record
}

/// The answer without a core library and with one version of each package.
fn solve(
    root: &IndexRecord,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    locked: Locked,
    prerelease: PrereleasePolicy,
) -> Result<Box<Resolution>, Box<Conflict>> {
    let mut options = SolveOptions::default();
    options.prerelease = prerelease;
    options.single_version = true;
    let mut resolver = Resolver::new(Request {
        core: None,
        locked,
        options,
        ..Request::new(root.clone())
    });
    let mut packages = Records::new(records.values().flatten().cloned());
    match drive(&mut resolver, &mut packages) {
        Step::Solved(resolution) => Ok(resolution),
        Step::Conflict(conflict) => Err(conflict),
        other => panic!("{other:?}"),
    }
}

#[test]
fn scenarios_of_other_resolvers_have_the_expected_answers() {
    let Some(path) = shared::path("scenarios/scenarios.json") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the scenarios can be read");
    let document: Value = serde_json::from_str(&text).expect("the scenarios are JSON");
    let scenarios = document["scenarios"]
        .as_array()
        .expect("a list of scenarios");
    assert_eq!(scenarios.len(), 67);
    let mut skipped = 0;
    let mut too_long: Vec<String> = Vec::new();
    for scenario in scenarios {
        let shown = scenario["name"].as_str().expect("a scenario has a name");
        let tags: Vec<&str> = scenario["tags"]
            .as_array()
            .expect("tags")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let has = |tag: &str| tags.contains(&tag);
        if has("yanked") {
            // The data does not say which versions are yanked.
            skipped += 1;
            continue;
        }
        let root = record(
            "root",
            "1.0.0",
            scenario["root"].as_object().expect("the root's ranges"),
        );
        let mut records: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for (package, versions) in scenario["packages"].as_object().expect("packages") {
            for (number, requirements) in versions.as_object().expect("versions") {
                let requirements = requirements.as_object().expect("ranges");
                let record = record(package, number, requirements);
                records.entry(record.name.clone()).or_default().push(record);
            }
        }
        let locked = scenario
            .get("locked")
            .and_then(Value::as_object)
            .map(|locked| {
                let pins = locked.iter().map(|(package, number)| {
                    Release::new(name(package), version(number.as_str().expect("a version")))
                });
                Locked::preferring(pins.collect())
            });
        let prerelease = if has("prerelease-opt-in") {
            PrereleasePolicy::Allow
        } else if has("prerelease") && has("policy-decides") {
            PrereleasePolicy::Never
        } else {
            PrereleasePolicy::IfNecessary
        };
        let expected = &scenario["expected"];
        let found = solve(&root, &records, locked.unwrap_or_default(), prerelease);
        assert_eq!(
            Some(found.is_ok()),
            expected["satisfiable"].as_bool(),
            "{shown}"
        );
        let resolution = match found {
            Ok(resolution) => resolution,
            Err(conflict) => {
                // The summary, and a line for each reason and each hint.
                let lines = 1 + conflict.reasons.len() + conflict.hints.len();
                if lines > MAX_EXPLANATION_LINES {
                    too_long.push(format!("{shown}: {lines} lines"));
                }
                continue;
            }
        };
        let universe = Universe {
            prerelease: universe::PrereleasePolicy::Allow,
            single_version: true,
            ..Universe::new(root, records.into_values().flatten().collect())
        };
        assert_eq!(
            is_valid(&universe, &solution(&resolution), &Rules::default()),
            Ok(()),
            "{shown}"
        );
        if let Some(wanted) = expected["solution"]
            .as_object()
            .filter(|_| !has("heuristic-decides"))
        {
            let wanted: BTreeMap<PackageName, Version> = wanted
                .iter()
                .map(|(package, number)| {
                    (name(package), version(number.as_str().expect("a version")))
                })
                .collect();
            let found: BTreeMap<PackageName, Version> = resolution
                .packages()
                .iter()
                .map(|package| (package.name.clone(), package.version.clone()))
                .collect();
            assert_eq!(found, wanted, "{shown}");
        }
    }
    assert_eq!(skipped, 6);
    assert_eq!(too_long, [""; 0]);
}

/// Each case has the ranges of the root, releases as name, version, whether it is yanked, and ranges,
/// then the lock and the expected answer.
#[test]
fn yanked_releases_are_chosen_only_if_locked() {
    type WrittenRelease<'a> = (&'a str, &'a str, bool, &'a [(&'a str, &'a str)]);
    type Case<'a> = (
        &'a str,
        &'a [(&'a str, &'a str)],
        &'a [WrittenRelease<'a>],
        &'a [(&'a str, &'a str)],
        Option<&'a [(&'a str, &'a str)]>,
    );
    let cases: [Case<'_>; 10] = [
        (
            "the only version is yanked",
            &[("a", "*")],
            &[("a", "1.0.0", true, &[])],
            &[],
            None,
        ),
        (
            "the newest is yanked",
            &[("a", "*")],
            &[("a", "1.0.0", false, &[]), ("a", "2.0.0", true, &[])],
            &[],
            Some(&[("a", "1.0.0")]),
        ),
        (
            "an exact requirement does not allow it",
            &[("a", "==2.0.0")],
            &[("a", "1.0.0", false, &[]), ("a", "2.0.0", true, &[])],
            &[],
            None,
        ),
        (
            "a lock keeps it",
            &[("a", "*")],
            &[("a", "1.0.0", false, &[]), ("a", "2.0.0", true, &[])],
            &[("a", "2.0.0")],
            Some(&[("a", "2.0.0")]),
        ),
        (
            "a lock keeps the only version",
            &[("a", "*")],
            &[("a", "1.0.0", true, &[])],
            &[("a", "1.0.0")],
            Some(&[("a", "1.0.0")]),
        ),
        (
            "a lock of another version does not allow it",
            &[("a", ">=2.0.0")],
            &[("a", "1.0.0", false, &[]), ("a", "2.0.0", true, &[])],
            &[("a", "1.0.0")],
            None,
        ),
        (
            "a requirement of a release is yanked: an older release is chosen",
            &[("a", "*")],
            &[
                ("a", "1.0.0", false, &[("b", "1")]),
                ("a", "2.0.0", false, &[("b", "2")]),
                ("b", "1.0.0", false, &[]),
                ("b", "2.0.0", true, &[]),
            ],
            &[],
            Some(&[("a", "1.0.0"), ("b", "1.0.0")]),
        ),
        (
            "a locked one is a candidate for everyone",
            &[("a", "*")],
            &[
                ("a", "2.0.0", false, &[("b", "2")]),
                ("b", "1.0.0", false, &[]),
                ("b", "2.0.0", true, &[]),
            ],
            &[("b", "2.0.0")],
            Some(&[("a", "2.0.0"), ("b", "2.0.0")]),
        ),
        (
            "a lock does not keep it if it no longer matches",
            &[("a", "<2.0.0")],
            &[("a", "1.0.0", false, &[]), ("a", "2.0.0", true, &[])],
            &[("a", "2.0.0")],
            Some(&[("a", "1.0.0")]),
        ),
        (
            "a yanked prerelease is no candidate",
            &[("a", ">=1.0.0-rc.1")],
            &[
                ("a", "1.0.0-rc.1", false, &[]),
                ("a", "1.0.0-rc.2", true, &[]),
            ],
            &[],
            Some(&[("a", "1.0.0-rc.1")]),
        ),
    ];
    let ranges = |pairs: &[(&str, &str)]| -> Map<String, Value> {
        pairs
            .iter()
            .map(|(package, range)| ((*package).to_owned(), Value::from(*range)))
            .collect()
    };
    for (shown, root, releases, locked, expected) in cases {
        let mut records: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for (package, number, yanked, requirements) in releases {
            let mut record = record(package, number, &ranges(requirements));
            record.yanked = *yanked;
            records.entry(record.name.clone()).or_default().push(record);
        }
        let root = record("root", "1.0.0", &ranges(root));
        let locked = locked
            .iter()
            .map(|(package, number)| Release::new(name(package), version(number)));
        let locked = Locked::preferring(locked.collect());
        let found = solve(&root, &records, locked, PrereleasePolicy::IfNecessary);
        let found: Option<Vec<(String, String)>> = found.ok().map(|resolution| {
            let packages = resolution.packages().iter();
            packages
                .map(|package| (package.name.to_string(), package.version.to_string()))
                .collect()
        });
        let expected: Option<Vec<(String, String)>> = expected.map(|packages| {
            packages
                .iter()
                .map(|(name, number)| ((*name).to_owned(), (*number).to_owned()))
                .collect()
        });
        assert_eq!(found, expected, "{shown}");
    }
}

#[test]
fn large_random_universes_have_their_known_answers() {
    for (file, solvable) in [
        ("large_case", None),
        ("large_case_1", Some(384)),
        ("large_case_2", Some(502)),
    ] {
        let Some(path) = shared::path(&format!("scenarios/{file}.jsonl")) else {
            return;
        };
        let found = solve_every_root(&path);
        assert!(
            solvable.is_none_or(|solvable| solvable == found),
            "{file}: {found}"
        );
    }
}

/// Solves with each release as the root, and compares with the known answer. Returns the number of
/// roots with a resolution.
fn solve_every_root(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).expect("the universe can be read");
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row is JSON"))
        .filter(|row: &Value| row.get("p").is_some())
        .collect();
    let read = |row: &Value| {
        let ranges: Map<String, Value> = row["deps"]
            .as_object()
            .expect("dependencies")
            .iter()
            .map(|(package, ranges)| {
                let ranges = ranges.as_array().expect("a list of ranges");
                assert_eq!(ranges.len(), 1, "each dependency in the data has one range");
                let spec = match (&ranges[0][0], &ranges[0][1]) {
                    (low, Value::Null) => format!(">={low}.0.0"),
                    (low, high) => format!(">={low}.0.0,<{high}.0.0"),
                };
                (format!("p{package}"), Value::from(spec))
            })
            .collect();
        record(
            &format!("p{}", row["p"]),
            &format!("{}.0.0", row["v"]),
            &ranges,
        )
    };
    let mut records: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for row in &rows {
        let record = read(row);
        records.entry(record.name.clone()).or_default().push(record);
    }
    let mut solvable = 0;
    for row in &rows {
        let root = read(row);
        let found = solve(
            &root,
            &records,
            Locked::default(),
            PrereleasePolicy::IfNecessary,
        );
        solvable += usize::from(found.is_ok());
        if let Some(known) = row.get("sat") {
            assert_eq!(Some(found.is_ok()), known.as_bool(), "{row}");
        }
    }
    solvable
}
