//! Conflicts about real packages are explained in few lines.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{DirectoryRegistry, Registry as _};
use pkgres_resolver::{ClassRules, CompiledIndex, Conflict, ReasonKind, Request, Step};
use pkgres_tests::drive::{NoPackages, attached, drive};
use pkgres_tests::random::Random;
use pkgres_tests::{ansible, opcua, seeds, shared};

/// The greatest number of lines of an explanation.
const MAX_LINES: usize = 10;

/// How many requests are tried in each corpus.
const SEEDS: u64 = 300;

/// The summary, a line for each reason and each path of classes, and one for each hint.
fn lines(conflict: &Conflict) -> usize {
    let of_reason = |kind: &ReasonKind| match kind {
        ReasonKind::Inherits { paths } => paths.len(),
        _ => 1,
    };
    let reasons = conflict
        .reasons
        .iter()
        .map(|reason| of_reason(&reason.kind));
    1 + reasons.sum::<usize>() + conflict.hints.len()
}

/// Solves requests about some packages, and expects that conflicts are short. Returns how many there are.
fn conflicts_are_short(
    kind: &str,
    records: &[IndexRecord],
    ask: impl Fn(u64) -> Request + Sync,
    count: u64,
) -> usize {
    let index = Arc::new(CompiledIndex::compile(records));
    let lengths = seeds::for_all(count, |seed| {
        let mut resolver = attached(ask(seed), index.clone());
        let Step::Conflict(conflict) = drive(&mut resolver, &mut NoPackages) else {
            return None;
        };
        Some((lines(&conflict), seed, conflict))
    });
    let lengths: Vec<_> = lengths.into_iter().flatten().collect();
    if let Some((length, seed, conflict)) = lengths.iter().max_by_key(|(length, ..)| *length) {
        println!(
            "{kind}: {} conflicts of up to {length} lines",
            lengths.len()
        );
        assert!(*length <= MAX_LINES, "{kind}, {seed}: {conflict:#?}");
    }
    lengths.len()
}

fn at(seed: u64) -> usize {
    usize::try_from(seed).expect("it is small")
}

#[test]
fn conflicts_of_class_packages_are_short() {
    let Some(folder) = shared::path("corpus") else {
        return;
    };
    let name = RegistryName::parse("corpus").expect("a name");
    let registry = DirectoryRegistry::open(name, &folder, &ReadOptions::default());
    let registry = registry.expect("it can be read");
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records = registry
        .records(&names)
        .expect("no release is listed twice");
    let records: Vec<IndexRecord> = records.into_iter().flatten().flatten().collect();
    let ask = |seed| Request::new(records[at(seed)].clone());
    let count = conflicts_are_short("murano", &records, ask, records.len() as u64);
    assert!(count > 0);
}

#[test]
fn conflicts_of_collections_are_short() {
    let Some(releases) = ansible::releases() else {
        return;
    };
    let records: Vec<IndexRecord> = releases.into_values().collect();
    let stable = records.iter().filter(|one| !one.version.is_prerelease());
    let stable: Vec<&IndexRecord> = stable.collect();
    let ask = |seed| {
        let mut random = Random::new(seed);
        let root = ansible::project(&stable, &mut random);
        let core = *random.pick(&[None, Some("2.15.0"), Some("2.18.1")]);
        ansible::request(root, core, ClassRules::Definition)
    };
    let count = conflicts_are_short("ansible", &records, ask, seeds::count(SEEDS));
    assert!(count > 10, "{count}");
}

#[test]
fn conflicts_of_information_models_are_short() {
    let Some(releases) = opcua::releases() else {
        return;
    };
    // Each release as the root, alone and with what a host has, which is often too old.
    let ask = |seed: u64| {
        let mut request = Request::new(releases[at(seed) % releases.len()].clone());
        request.core = None;
        request.options.single_version = true;
        request.options.classes = ClassRules::Definition;
        if at(seed) >= releases.len() {
            let of_host = Random::new(seed).pick(&releases).clone();
            request.host_releases.push(of_host);
        }
        request
    };
    let count = 4 * releases.len() as u64;
    let count = conflicts_are_short("opcua", &releases, ask, count);
    assert!(count > 10, "{count}");
}
