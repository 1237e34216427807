//! Claims about data of others: scenarios of other resolvers, large universes, and real packages of three ecosystems.

use pkgres_manifest::{
    IndexRecord, PackageName, ReadOptions, RegistryName, Requirement, Spec, Version,
};
use pkgres_registry_client::{DirectoryRegistry, Registry as _};
use pkgres_resolver::{ClassRules, Request};
use pkgres_tests::drive::Records;
use pkgres_tests::random::Random;
use pkgres_tests::{ansible, opcua, seeds, shared};
use serde_json::{Map, Value};

use crate::claims::Tally;
use crate::veripb::VeriPb;

/// How many requests are certified in each set of data.
const SEEDS: u64 = 12;

/// Certifies the verdicts of requests about a set of packages.
fn check_all(
    kind: &str,
    claims: &[&str],
    packages: &Records,
    ask: impl Fn(u64) -> Request + Sync,
    count: u64,
) {
    let veripb = VeriPb::find();
    let tallies = seeds::for_all(count, |seed| {
        let mut tally = Tally::default();
        let name = format!("{kind}-{seed}");
        tally.add(packages, &ask(seed), veripb.as_ref(), &name);
        tally
    });
    Tally::join(tallies).expect(kind, claims);
}

/// A record of other ecosystems, whose names contain what ours do not allow.
fn record(name: &str, version: &str, ranges: &Map<String, Value>) -> IndexRecord {
    let package = |name: &str| PackageName::parse(&name.replace('-', "_")).expect("a name");
    let version = Version::parse(version).expect("a version");
    let mut record = IndexRecord::new(package(name), version);
    record.classes = Some(Vec::new().into());
    let requirements = ranges.iter().map(|(target, range)| Requirement {
        package: package(target),
        spec: Spec::parse(range.as_str().expect("a range is text")).expect("a spec"),
        location: None,
    });
    record.requirements = requirements.collect();
    record
}

#[test]
fn claims_about_scenarios_of_other_resolvers_are_certified() {
    let Some(path) = shared::path("scenarios/scenarios.json") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the scenarios can be read");
    let document: Value = serde_json::from_str(&text).expect("the scenarios are JSON");
    let veripb = VeriPb::find();
    let mut tally = Tally::default();
    for scenario in document["scenarios"].as_array().expect("a list") {
        let ranges = |value: &Value| value.as_object().cloned().expect("ranges");
        let mut records = Vec::new();
        for (package, versions) in scenario["packages"].as_object().expect("packages") {
            for (version, requirements) in versions.as_object().expect("versions") {
                records.push(record(package, version, &ranges(requirements)));
            }
        }
        let mut request = Request::new(record("root", "1.0.0", &ranges(&scenario["root"])));
        request.core = None;
        let packages = Records::new(records);
        let name = scenario["name"].as_str().expect("a name").replace('/', "-");
        for single_version in [true, false] {
            request.options.single_version = single_version;
            tally.add(&packages, &request, veripb.as_ref(), &name);
        }
    }
    tally.expect("scenarios", &["none", "reasons", "better", "single"]);
}

/// The releases of a large random universe; `None` if its file is not there.
fn large(file: &str) -> Option<Vec<IndexRecord>> {
    let path = shared::path(&format!("scenarios/{file}.jsonl"))?;
    let text = std::fs::read_to_string(path).expect("the universe can be read");
    let rows = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row is JSON"));
    let rows = rows.filter(|row: &Value| row.get("p").is_some());
    let records = rows.map(|row| {
        let ranges = row["deps"].as_object().expect("dependencies").iter();
        let ranges = ranges.map(|(package, ranges)| {
            let range = match (&ranges[0][0], &ranges[0][1]) {
                (low, Value::Null) => format!(">={low}.0.0"),
                (low, high) => format!(">={low}.0.0,<{high}.0.0"),
            };
            (format!("P{package}"), Value::from(range))
        });
        let (name, version) = (format!("P{}", row["p"]), format!("{}.0.0", row["v"]));
        record(&name, &version, &ranges.collect())
    });
    Some(records.collect())
}

#[test]
fn claims_about_large_universes_are_certified() {
    // The searches of both tiers take seconds where several packages are side by side.
    for (file, claims) in [
        ("large_case", &["better"][..]),
        ("large_case_1", &["none", "better"]),
        ("large_case_2", &["none", "better"]),
    ] {
        let Some(records) = large(file) else {
            return;
        };
        let packages = Records::new(records.iter().cloned());
        // A sample of the roots: all of them, in both tiers, with `SEEDS`.
        let all = u64::try_from(records.len()).expect("it is small");
        let count = seeds::count(SEEDS).min(2 * all);
        let every = (2 * all / count).max(1);
        let ask = |seed: u64| {
            let at = usize::try_from(seed * every / 2 % all).expect("it is small");
            let mut request = Request::new(records[at].clone());
            request.core = None;
            request.options.single_version = if every == 1 {
                seed.is_multiple_of(2)
            } else {
                seed % 4 != 3
            };
            request
        };
        check_all(file, claims, &packages, ask, count);
    }
}

#[test]
fn claims_about_real_packages_are_certified() {
    let Some(folder) = shared::path("corpus") else {
        return;
    };
    let name = RegistryName::parse("corpus").expect("a name");
    let options = ReadOptions::default();
    let registry = DirectoryRegistry::open(name, &folder, &options).expect("it can be read");
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records = registry
        .records(&names)
        .expect("no release is listed twice");
    let records: Vec<IndexRecord> = records.into_iter().flatten().flatten().collect();
    let packages = Records::new(records.iter().cloned());
    let ask =
        |seed: u64| Request::new(records[usize::try_from(seed).expect("it is small")].clone());
    let count = u64::try_from(records.len()).expect("it is small");
    check_all("murano", &["none", "reasons"], &packages, ask, count);
}

#[test]
fn claims_about_collections_are_certified() {
    let Some(releases) = ansible::releases() else {
        return;
    };
    let stable = releases.values().filter(|one| !one.version.is_prerelease());
    let stable: Vec<&IndexRecord> = stable.collect();
    let packages = Records::new(releases.values().cloned());
    let ask = |seed: u64| {
        let mut random = Random::new(seed);
        let root = if seed.is_multiple_of(4) {
            (*random.pick(&stable)).clone()
        } else {
            ansible::project(&stable, &mut random)
        };
        let core = *random.pick(&[None, Some("2.15.0"), Some("2.18.1")]);
        ansible::request(root, core, ClassRules::Definition)
    };
    let claims = ["none", "reasons", "better"];
    check_all("ansible", &claims, &packages, ask, seeds::count(4 * SEEDS));
}

#[test]
fn claims_about_information_models_are_certified() {
    let Some(releases) = opcua::releases() else {
        return;
    };
    let packages = Records::new(releases.iter().cloned());
    let ask = |seed: u64| {
        let mut random = Random::new(seed);
        let mut request = Request::new(random.pick(&releases).clone());
        request.core = None;
        request.options.single_version = true;
        request.options.classes = ClassRules::Definition;
        // What the host has is often too old.
        if random.chance(60) {
            let of_host = random.pick(&releases).name.clone();
            let mut of_name = releases.iter().filter(|one| one.name == of_host);
            request.host_releases.extend(of_name.next().cloned());
        }
        request
    };
    let claims = ["none", "reasons"];
    check_all("opcua", &claims, &packages, ask, seeds::count(8 * SEEDS));
}
