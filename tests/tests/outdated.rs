//! Outdated packages: which versions are newer, and what holds packages back.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, ReadOptions, RegistryName, Release};
use pkgres_registry_client::{Answer, MemoryRegistry, Outdated, RegistrySet, drive, outdated};
use pkgres_resolver::{Locked, Preference, Request, Resolver};
use pkgres_tests::build::{Build, package, release, spec};

/// The report on the resolution of a request in which these releases are preferred.
fn look(
    mut request: Request,
    records: Vec<IndexRecord>,
    preferred: &[(&str, &str)],
) -> Vec<String> {
    let mut registry = MemoryRegistry::new(RegistryName::parse("default").expect("a name"));
    for record in records {
        registry.add_record(record);
    }
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let preferred = preferred
        .iter()
        .map(|(name, number)| Release::new(package(name), pkgres_tests::build::version(number)));
    request.locked = Locked::preferring(preferred.collect());
    let options = ReadOptions::default();
    let answer = drive(&mut Resolver::new(request.clone()), &registries, &options);
    let Ok(Answer::Solved(resolution)) = answer else {
        panic!("{answer:?}");
    };
    let found = outdated(&request, &resolution, &registries, &options).expect("all is in memory");
    let downgrades = found.downgrades.iter();
    let downgrades = downgrades.map(|it| format!("{} {} back to {}", it.package, it.now, it.to));
    found.packages.iter().map(shown).chain(downgrades).collect()
}

fn shown(entry: &Outdated) -> String {
    let allowed = entry.allowed.as_ref();
    let allowed = allowed.map_or_else(|| "-".to_owned(), ToString::to_string);
    let holders = entry.held_back_by.iter().map(|holder| {
        let mark = if holder.is_override {
            " (override)"
        } else {
            ""
        };
        format!(", {} wants {}{mark}", holder.owner, holder.spec)
    });
    let reasons = entry.reasons().map(|reason| &reason.text);
    let because = reasons.chain(&entry.because);
    let because = because.map(|line| format!(", {line}"));
    let (package, now, latest) = (&entry.package, &entry.now, &entry.latest);
    let rest: String = holders.chain(because).collect();
    format!("{package} {now} {allowed} {latest}{rest}")
}

fn request(root: IndexRecord) -> Request {
    let mut request = Request::new(root);
    request.core = None;
    request
}

#[test]
fn requirements_hold_packages_back() {
    let root = release("R", "1").requires("X", "1").requires("Y", "*");
    let records = || {
        vec![
            release("X", "1"),
            release("X", "1.1"),
            release("X", "2"),
            release("Y", "1"),
            release("Y", "2"),
            release("Y", "3").yanked(),
            release("Y", "4.0.0-rc.1"),
        ]
    };
    assert_eq!(
        look(request(root.clone()), records(), &[("X", "1"), ("Y", "1")]),
        [
            "X 1.0.0 1.1.0 2.0.0, R 1.0.0 wants 1",
            "Y 1.0.0 2.0.0 2.0.0"
        ]
    );
    assert_eq!(
        look(request(root.clone()), records(), &[]),
        ["X 1.1.0 1.1.0 2.0.0, R 1.0.0 wants 1"]
    );
    let mut overridden = request(root);
    overridden.overrides = BTreeMap::from([(package("X"), spec("1.0"))]);
    assert_eq!(
        look(overridden, records(), &[("Y", "2")]),
        ["X 1.0.0 1.0.0 2.0.0, R 1.0.0 wants 1.0 (override)"]
    );
}

#[test]
fn a_package_that_an_update_removes_is_not_held_back() {
    let root = release("R", "1").requires("B", "*");
    let records = vec![
        release("B", "1").requires("C", "<2"),
        release("B", "2"),
        release("C", "1"),
        release("C", "2"),
    ];
    assert_eq!(
        look(request(root), records, &[("B", "1")]),
        [
            "B 1.0.0 2.0.0 2.0.0",
            "C 1.0.0 - 2.0.0, an update removes it: nothing requires it then"
        ]
    );
}

#[test]
fn a_removed_class_holds_a_package_back() {
    let root = release("R", "1")
        .requires("Z", "*")
        .defines("R.A", &["Z.D"]);
    let records = vec![
        release("Z", "1").defines("Z.D", &[]),
        release("Z", "2").defines("Z.E", &[]),
    ];
    let found = look(request(root), records, &[]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("Z 1.0.0 1.0.0 2.0.0, ") && found[0].contains("Z.D"),
        "{found:?}"
    );
}

#[test]
fn a_package_that_is_decided_before_holds_others_back() {
    let root = release("R", "1").requires("D", "*").requires("B", "*");
    let records = vec![
        release("B", "1"),
        release("B", "2").requires("D", "<2"),
        release("D", "1"),
        release("D", "2"),
    ];
    assert_eq!(
        look(request(root), records, &[]),
        ["B 1.0.0 1.0.0 2.0.0, D would go from 2.0.0 to 1.0.0"]
    );
}

#[test]
fn an_update_that_moves_a_package_back_says_so() {
    let root = release("R", "1").requires("D", "*").requires("B", "*");
    let records = || {
        vec![
            release("B", "1"),
            release("B", "2").requires("D", "<2"),
            release("D", "1"),
            release("D", "2"),
        ]
    };
    let preferred = [("B", "2"), ("D", "1")];
    assert_eq!(
        look(request(root.clone()), records(), &preferred),
        ["D 1.0.0 2.0.0 2.0.0", "B 2.0.0 back to 1.0.0"]
    );
    // An update that prefers old versions moves most of them back.
    let mut oldest = request(root);
    oldest.options.prefer = Preference::Oldest;
    assert_eq!(look(oldest, records(), &preferred), Vec::<String>::new());
}

#[test]
fn releases_after_the_cutoff_are_not_newer() {
    let mut new = release("X", "2");
    new.published = Some("2026-07-01T00:00:00Z".to_owned());
    let records = || vec![release("X", "1"), new.clone()];
    let root = release("R", "1").requires("X", "*");
    let mut early = request(root.clone());
    early.options.exclude_newer = "2026-06-01T00:00:00Z".parse().ok();
    assert_eq!(look(early, records(), &[("X", "1")]), Vec::<String>::new());
    assert_eq!(
        look(request(root), records(), &[("X", "1")]),
        ["X 1.0.0 2.0.0 2.0.0"]
    );
}

/// An update to an older version, which the preference wants, is none to a latest version.
#[test]
fn a_preferred_older_version_is_not_newer() {
    let root = |spec: &str| release("R", "1").requires("X", spec);
    let records = || vec![release("X", "1"), release("X", "2"), release("X", "3")];
    let oldest = |spec: &str| {
        let mut request = request(root(spec));
        request.options.prefer = Preference::Oldest;
        request
    };
    for locked in ["1", "2", "3"] {
        let found = look(oldest("*"), records(), &[("X", locked)]);
        assert_eq!(found, Vec::<String>::new(), "{locked}");
    }
    // The oldest Y requires a newer X.
    let mut both = request(release("R", "1").requires("Y", "*").requires("X", "*"));
    both.options.prefer = Preference::Oldest;
    let mut all = records();
    all.extend([release("Y", "1").requires("X", "2"), release("Y", "2")]);
    assert_eq!(
        look(both, all, &[("X", "1"), ("Y", "2")]),
        ["X 1.0.0 2.0.0 2.0.0"]
    );
}

#[test]
fn each_release_of_a_split_package_is_reported() {
    let root = release("R", "1")
        .requires("A", "*")
        .requires("P", "*")
        .requires("X", "1")
        .requires("Y", "1");
    let records = vec![
        release("A", "1").requires("Q", "1"),
        release("A", "2").requires("Q", "2"),
        release("Q", "1"),
        release("Q", "2"),
        release("P", "1"),
        release("P", "2").requires("Q", "2"),
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    assert_eq!(
        look(
            request(root),
            records,
            &[("A", "1"), ("P", "1"), ("Q", "1")]
        ),
        [
            "A 1.0.0 2.0.0 2.0.0",
            "P 1.0.0 2.0.0 2.0.0",
            "Q 1.0.0 2.0.0 2.0.0",
            "Z 1.0.0 1.0.0 2.0.0, X 1.0.0 wants 1",
        ]
    );
}

#[test]
fn each_release_of_a_split_package_has_its_own_reason() {
    let root = release("R", "1").requires("X", "1").requires("Y", "1");
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "1.1"),
        release("Z", "2"),
        release("Z", "2.1"),
        release("Z", "3"),
    ];
    assert_eq!(
        look(request(root), records, &[("Z", "1"), ("Z", "2")]),
        [
            "Z 1.0.0 1.1.0 3.0.0, X 1.0.0 wants 1",
            "Z 2.0.0 2.1.0 3.0.0, Y 1.0.0 wants 2",
        ]
    );
}

/// The reason for one release of a split package is found by moving only that release.
#[test]
fn requirements_on_other_releases_of_a_split_package_are_no_reason() {
    let root = release("R", "1").requires("X", "1").requires("Y", "1");
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("Y", "1")
            .requires("Z", ">=2")
            .defines("Y.A", &["Z.D"]),
        release("Z", "1").defines("Z.D", &[]),
        release("Z", "2").defines("Z.D", &[]),
        release("Z", "3").defines("Z.E", &[]),
    ];
    assert_eq!(
        look(request(root), records, &[]),
        [
            "Z 1.0.0 1.0.0 3.0.0, X 1.0.0 wants 1",
            "Z 2.0.0 2.0.0 3.0.0, the class Y.A of Y 1.0.0 extends Z.D, \
             Z 3.0.0 no longer defines the class Z.D; 2.0.0 does, R 1.0.0 requires Y 1",
        ]
    );
}
