//! How models resolve: the known cases, and every release of the corpus as a root.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, drive};
use pkgres_resolver::{Request, Resolution, Resolver};
use pkgres_tests::opcua::releases;

const UA: &str = "http://opcfoundation.org/UA/";

fn registry(releases: &[IndexRecord]) -> RegistrySet {
    let name = RegistryName::parse("corpus").expect("a name");
    let mut registry = MemoryRegistry::new(name);
    for release in releases {
        registry.add_record(release.clone());
    }
    RegistrySet::new(vec![Box::new(registry)])
}

/// A request by the rules of models: no core library, and one release of each.
fn request(root: &IndexRecord) -> Request {
    let mut request = Request::new(root.clone());
    request.core = None;
    request.options.single_version = true;
    request
}

/// The versions that were picked, or what the conflict says.
fn solve(request: Request, registries: &RegistrySet) -> Result<BTreeMap<String, String>, String> {
    let mut resolver = Resolver::new(request);
    let options = ReadOptions::default();
    match drive(&mut resolver, registries, &options).expect("it is in memory") {
        Answer::Solved(resolution) => Ok(picks(&resolution)),
        Answer::Conflict(conflict) => Err(format!("{conflict:?}")),
        Answer::GaveUp { steps } => panic!("gave up after {steps} steps"),
        Answer::Cancelled => panic!("the solver is not cancelled"),
    }
}

fn picks(resolution: &Resolution) -> BTreeMap<String, String> {
    let releases = resolution.packages().iter();
    releases
        .map(|release| (release.name.to_string(), release.version.to_string()))
        .collect()
}

fn find<'list>(releases: &'list [IndexRecord], name: &str, version: &str) -> &'list IndexRecord {
    let mut found = releases.iter().filter(|one| one.name.as_str() == name);
    let found = found.find(|one| one.version.to_string() == version);
    found.unwrap_or_else(|| panic!("{name} {version} is in the corpus"))
}

/// The release of UA that is picked for a root, from all releases but some.
fn core_for(name: &str, version: &str, without: &[&str]) -> Option<String> {
    let mut releases = releases()?;
    let root = find(&releases, name, version).clone();
    releases.retain(|one| one.name.as_str() != UA || !without.contains(&&*one.version.to_string()));
    let picks = solve(request(&root), &registry(&releases));
    Some(picks.expect("there is a resolution")[UA].clone())
}

/// The releases of UA whose numbers are older than their dates, without those that are newer than the right ones.
#[test]
fn a_later_date_is_not_enough() {
    let fx = "http://opcfoundation.org/UA/FX/AC/";
    let version = "1.00.02@2024-02-02";
    let Some(core) = core_for(fx, version, &[]) else {
        return;
    };
    assert_eq!(core, "1.05.03@2023-12-15");
    let core = core_for(fx, version, &["1.05.03@2023-12-15"]);
    assert_eq!(core.as_deref(), Some("1.05.02@2022-11-01"));
    // DI needs the type of interfaces, PADIM another one of those that 1.03.8 and 1.03.9 lack.
    let core = core_for("http://opcfoundation.org/UA/DI/", "1.02@2019-05-01", &[]);
    assert_eq!(core.as_deref(), Some("1.05.03@2023-12-15"));
    // Two releases of one date.
    let newer = [
        "1.05.03@2023-12-15",
        "1.04.12@2024-02-15",
        "1.04.12@2024-01-05",
        "1.05.02@2022-11-01",
        "1.04.11@2022-03-29",
        "1.03.9@2022-03-29",
        "1.05.01@2022-02-24",
        "1.05@2021-10-26",
    ];
    let core = core_for(
        "http://opcfoundation.org/UA/PADIM/",
        "1.0.3@2022-06-27",
        &newer,
    );
    assert_eq!(core.as_deref(), Some("1.04.10@2021-09-15"));
    let both = [&newer[..], &["1.04.10@2021-09-15"]].concat();
    let releases = releases().map(|mut releases| {
        releases
            .retain(|one| one.name.as_str() != UA || !both.contains(&&*one.version.to_string()));
        releases
    });
    let releases = releases.expect("the corpus is there");
    let root = find(
        &releases,
        "http://opcfoundation.org/UA/PADIM/",
        "1.0.3@2022-06-27",
    );
    let conflict = solve(request(root), &registry(&releases)).expect_err("1.03.8 lacks a type");
    // It lacks several of the types that PADIM extends, and one of them is enough of a reason.
    let lacks_a_type = conflict.contains("code: ClassUnavailable");
    assert!(
        lacks_a_type && conflict.contains("1.03.8@2021-09-15"),
        "{conflict}"
    );
}

#[test]
fn what_the_host_provides_has_to_define_the_types() {
    let Some(releases) = releases() else { return };
    let root = find(
        &releases,
        "http://opcfoundation.org/UA/FX/AC/",
        "1.00.02@2024-02-02",
    );
    let mut request = request(root);
    request.host_releases = vec![find(&releases, UA, "1.04.12@2024-02-15").clone()];
    let conflict = solve(request, &registry(&releases)).expect_err("1.04.12 lacks two types");
    assert!(
        conflict.contains("i=25257") || conflict.contains("i=25263"),
        "{conflict}"
    );
}

#[test]
fn every_release_resolves() {
    let Some(releases) = releases() else { return };
    let registries = registry(&releases);
    let mut known: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for release in &releases {
        known
            .entry(release.name.clone())
            .or_default()
            .push(release.clone());
    }
    for root in &releases {
        match solve(request(root), &registries) {
            Ok(picks) => assert_loadable(root, &picks, &known),
            Err(conflict) => panic!("{} {}: {conflict}", root.name, root.version),
        }
    }
}

/// Asserts that all that is extended is defined, with the same kind, by what was picked, which is not too old.
fn assert_loadable(
    root: &IndexRecord,
    picks: &BTreeMap<String, String>,
    known: &BTreeMap<PackageName, Vec<IndexRecord>>,
) {
    let picked = picks.iter().map(|(name, version)| {
        let releases = known.iter().find(|(package, _)| package.as_str() == name);
        let mut releases = releases.expect("it is known").1.iter();
        let release = releases.find(|one| one.version.to_string() == *version);
        release.expect("it is known")
    });
    let picked: Vec<&IndexRecord> = std::iter::once(root).chain(picked).collect();
    let defined: BTreeSet<&str> = picked
        .iter()
        .flat_map(|record| record.classes.iter().flatten())
        .map(|class| class.name.as_str())
        .collect();
    for record in &picked {
        for class in record.classes.iter().flatten() {
            for parent in &class.extends {
                assert!(defined.contains(parent.as_str()), "{}: {parent}", root.name);
            }
        }
        for requirement in &record.requirements {
            let mut others = picked.iter().filter(|one| one.name == requirement.package);
            let other = others.next().expect("it was picked");
            assert!(
                requirement.spec.matches(&other.version),
                "{} {}",
                root.name,
                other.version
            );
        }
    }
}
