//! The prerelease rule of Ansible collections: a prerelease of a package with a stable version is in a resolution only
//! if a requirement in the resolution names exactly it.

use std::collections::BTreeMap;

use pkgres_manifest::{
    IndexRecord, Limits, PackageName, RegistryName, Release, ReleaseSource, Version,
};
use pkgres_resolver::{Conflict, PrereleasePolicy, Request, Resolver, Step, Supply};
use pkgres_tests::random::Random;

/// A release: its package, its version and what it requires.
type Listed<'texts> = (
    &'texts str,
    &'texts str,
    &'texts [(&'texts str, &'texts str)],
);

/// Versions by package; the root is not among them.
type Picks = BTreeMap<String, String>;

fn record(name: &str, version: &str, requirements: &[(String, String)]) -> IndexRecord {
    let line = serde_json::json!({"name": name, "version": version, "require": requirements});
    IndexRecord::parse_line(&line.to_string(), &Limits::default()).expect("a record")
}

fn request(root: IndexRecord) -> Request {
    let mut request = Request::new(root);
    request.core = None;
    request.options.prerelease = PrereleasePolicy::IfNamed;
    request.options.single_version = true;
    request
}

fn solve(root: IndexRecord, releases: &[IndexRecord]) -> Result<Picks, Box<Conflict>> {
    solve_request(request(root), releases)
}

fn solve_request(request: Request, releases: &[IndexRecord]) -> Result<Picks, Box<Conflict>> {
    let mut resolver = Resolver::new(request);
    loop {
        match resolver.step() {
            Step::Need(names) => {
                for name in names {
                    let of_name = releases.iter().filter(|record| record.name == name);
                    let supply = Supply::Releases {
                        source: ReleaseSource::Registry(
                            RegistryName::parse("demo").expect("a name"),
                        ),
                        records: of_name.cloned().collect(),
                    };
                    resolver.provide(&name, supply).expect("it was needed");
                }
            }
            Step::Impossible => {}
            Step::Conflict(conflict) => return Err(conflict),
            Step::Solved(resolution) => {
                let packages = resolution.packages().iter();
                return Ok(packages
                    .map(|package| (package.name.to_string(), package.version.to_string()))
                    .collect());
            }
            other => panic!("{other:?}"),
        }
    }
}

fn requires(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, spec): &(&str, &str)| ((*name).to_owned(), (*spec).to_owned());
    all.iter().map(owned).collect()
}

/// Solves a root against some releases.
fn picks(root: &[(&str, &str)], releases: &[Listed<'_>]) -> Result<Picks, String> {
    let releases: Vec<IndexRecord> = releases
        .iter()
        .map(|(name, version, required)| record(name, version, &requires(required)))
        .collect();
    let root = record("root", "1.0.0", &requires(root));
    solve(root, &releases).map_err(|conflict| {
        let reasons = conflict.reasons.iter().map(|reason| reason.text.clone());
        reasons.collect::<Vec<String>>().join("; ")
    })
}

fn version_of(picks: &Result<Picks, String>, name: &str) -> Option<String> {
    picks.as_ref().ok()?.get(name).cloned()
}

#[test]
fn a_range_does_not_choose_a_prerelease() {
    let both: &[Listed<'_>] = &[("q", "1.0.0", &[]), ("q", "2.0.0-rc.1", &[])];
    let found = picks(&[("q", ">=1.0.0-0")], both);
    assert_eq!(version_of(&found, "q").as_deref(), Some("1.0.0"));
    // The text names a prerelease, but not exactly that one.
    let reasons = picks(&[("q", ">=2.0.0-rc.0")], both).expect_err("only a prerelease fits");
    assert!(
        reasons.contains("no requirement names the prerelease q 2.0.0-rc.1"),
        "{reasons}"
    );
    // Without a stable version, any is a candidate.
    let found = picks(&[("q", ">=2.0.0-rc.0")], &both[1..]);
    assert_eq!(version_of(&found, "q").as_deref(), Some("2.0.0-rc.1"));
}

#[test]
fn a_requirement_that_is_present_names_it() {
    let releases: &[Listed<'_>] = &[
        ("q", "1.0.0", &[]),
        ("q", "2.0.0-rc.1", &[]),
        ("b", "1.0.0", &[("q", "==2.0.0-rc.1")]),
        ("b", "2.0.0", &[]),
    ];
    let found = picks(&[("q", "==2.0.0-rc.1")], releases);
    assert_eq!(version_of(&found, "q").as_deref(), Some("2.0.0-rc.1"));
    // The newest `b` names nothing, so that an older one is chosen, which does.
    let found = picks(&[("q", ">=2.0.0-rc.0"), ("b", "*")], releases);
    assert_eq!(
        version_of(&found, "b").as_deref(),
        Some("1.0.0"),
        "{found:?}"
    );
    assert_eq!(version_of(&found, "q").as_deref(), Some("2.0.0-rc.1"));
}

#[test]
fn a_kept_prerelease_is_chosen_if_nothing_else_is_possible() {
    let releases = [("q", "1.0.0-rc.1"), ("q", "1.0.0-rc.2"), ("q", "2.0.0")];
    let releases = releases.map(|(name, version)| record(name, version, &[]));
    let update = |spec: &str| {
        let mut request = request(record("root", "1.0.0", &requires(&[("q", spec)])));
        let name = PackageName::parse("q").expect("a name");
        let version = Version::parse("1.0.0-rc.1").expect("a version");
        request.locked.kept.insert(Release::new(name, version));
        solve_request(request, &releases).map_err(|_| "conflict".to_owned())
    };
    assert_eq!(
        version_of(&update("<2.0.0"), "q").as_deref(),
        Some("1.0.0-rc.1")
    );
    assert_eq!(version_of(&update("*"), "q").as_deref(), Some("2.0.0"));
}

#[test]
fn a_conflict_over_an_unnamed_prerelease_has_the_option_that_allows_it() {
    let releases = [("q", "1.0.0"), ("q", "2.0.0-rc.1")];
    let releases = releases.map(|(name, version)| record(name, version, &[]));
    let root = record("root", "1.0.0", &requires(&[("q", ">=2.0.0-rc.0")]));
    let conflict = solve(root, &releases).expect_err("only a prerelease fits");
    let hints: Vec<&str> = (conflict.hints.iter())
        .map(|hint| hint.text.as_str())
        .collect();
    assert_eq!(
        hints.first(),
        Some(&"`--prerelease allow` lets q 2.0.0-rc.1 in"),
        "{hints:?}"
    );
}

/// Whether releases, one of each name, are a valid resolution.
fn is_valid(root: &IndexRecord, chosen: &[&IndexRecord], all: &[IndexRecord]) -> bool {
    let owners = || std::iter::once(root).chain(chosen.iter().copied());
    let bound = |name: &PackageName| chosen.iter().find(|record| record.name == *name);
    let requirements = || owners().flat_map(|owner| owner.requirements.iter());
    let fits = requirements().all(|requirement| {
        bound(&requirement.package).is_some_and(|target| requirement.spec.matches(&target.version))
    });
    let is_required = |record: &&IndexRecord| {
        // Reached from the root: the universes of this test have no cycles.
        requirements().any(|requirement| requirement.package == record.name)
    };
    let is_named = |record: &&IndexRecord| {
        let has_stable =
            (all.iter()).any(|other| other.name == record.name && !other.version.is_prerelease());
        let exact = format!("=={}", record.version);
        !record.version.is_prerelease()
            || !has_stable
            || requirements().any(|requirement| {
                requirement.package == record.name && requirement.spec.written() == exact
            })
    };
    fits && chosen.iter().all(is_required) && chosen.iter().all(is_named)
}

/// Whether there is a valid resolution at all.
fn has_resolution(root: &IndexRecord, names: &[&str], all: &[IndexRecord]) -> bool {
    let mut choices: Vec<Vec<&IndexRecord>> = vec![Vec::new()];
    for name in names {
        let of_name = || all.iter().filter(|record| record.name.as_str() == *name);
        choices = choices
            .into_iter()
            .flat_map(|chosen| {
                let with = of_name().map(|record| {
                    let mut longer = chosen.clone();
                    longer.push(record);
                    longer
                });
                let with: Vec<Vec<&IndexRecord>> = with.collect();
                std::iter::once(chosen).chain(with)
            })
            .collect();
    }
    choices.iter().any(|chosen| is_valid(root, chosen, all))
}

#[test]
fn random_universes_agree_with_brute_force() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    const VERSIONS: [&str; 5] = ["1.0.0-rc.1", "1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0"];
    const SPECS: [&str; 8] = [
        "*",
        ">=1.0.0-0",
        "==1.0.0-rc.1",
        "==2.0.0-rc.1",
        ">=2.0.0-0",
        ">=1.1.0",
        "<2.0.0",
        "==1.0.0",
    ];
    let mut solved = 0;
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let mut pick = |count: usize| random.below(count);
        let mut all = Vec::new();
        for (at, name) in NAMES.iter().enumerate() {
            for version in VERSIONS {
                if pick(3) == 0 {
                    continue;
                }
                let mut required = Vec::new();
                for later in &NAMES[at + 1..] {
                    if pick(3) == 0 {
                        required.push(((*later).to_owned(), SPECS[pick(SPECS.len())].to_owned()));
                    }
                }
                all.push(record(name, version, &required));
            }
        }
        let mut required = Vec::new();
        for name in NAMES {
            if pick(2) == 0 {
                required.push((name.to_owned(), SPECS[pick(SPECS.len())].to_owned()));
            }
        }
        let root = record("root", "1.0.0", &required);
        let expected = has_resolution(&root, &NAMES, &all);
        match solve(root.clone(), &all) {
            Ok(picks) => {
                solved += 1;
                let chosen: Vec<&IndexRecord> = all
                    .iter()
                    .filter(|record| {
                        let version = picks.get(record.name.as_str());
                        version.is_some_and(|version| {
                            Version::parse(version).is_ok_and(|version| version == record.version)
                        })
                    })
                    .collect();
                assert!(is_valid(&root, &chosen, &all), "seed {seed}: {picks:?}");
            }
            Err(_) => assert!(!expected, "seed {seed}: there is a resolution"),
        }
    }
    assert!(solved > 300, "{solved}");
}
