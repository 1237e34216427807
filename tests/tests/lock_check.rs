//! The check of a lockfile: every kind of staleness, and changes that do not make a lockfile stale.

use pkgres_manifest::{
    ArtifactDigest, Bindings, IndexRecord, LockedPackage, LockedRequirement, Lockfile,
    RegistryName, Release, ReleaseSource, Shared,
};
use pkgres_resolver::{LockCheck, LockReport, Request, Staleness, Supply};
use pkgres_tests::build::{Build as _, class, package, release, spec, version};
use pkgres_tests::solver::{Verdict, solve};
use pkgres_tests::universe::Universe;

/// A root and the contents of registries.
#[derive(Clone)]
struct World {
    root: IndexRecord,
    records: Vec<IndexRecord>,
    provided: Vec<IndexRecord>,
    source: &'static str,
}

fn digest(letter: char) -> ArtifactDigest {
    ArtifactDigest::parse(&letter.to_string().repeat(64)).expect("64 hexadecimal digits")
}

fn with_digest(mut record: IndexRecord, letter: char) -> IndexRecord {
    record.digest = Some(digest(letter));
    record
}

fn world() -> World {
    World {
        root: release("App", "1.0.0")
            .requires("Db", "1")
            .requires("Web", "2")
            .defines("app.Main", &["web.Site"]),
        records: vec![
            with_digest(release("Db", "1.1.0").defines("db.Table", &[]), 'a'),
            with_digest(
                release("Web", "2.0.0")
                    .requires("Db", ">=1")
                    .defines("web.Site", &["db.Table"]),
                'b',
            ),
        ],
        provided: Vec::new(),
        source: "test",
    }
}

impl World {
    /// The lockfile that the solver would write.
    fn lock(&self) -> Lockfile {
        let mut universe = Universe::new(self.root.clone(), self.records.clone());
        universe.core = None;
        match solve(&universe) {
            Verdict::Solved(resolution) => {
                resolution.to_lockfile().expect("the roots are packages")
            }
            Verdict::Conflict(conflict) => panic!("{}", conflict.summary),
        }
    }

    fn record(&mut self, name: &str) -> &mut IndexRecord {
        self.records
            .iter_mut()
            .find(|record| record.name == package(name))
            .expect("the world has it")
    }

    fn report(&self, lock: Lockfile) -> LockReport {
        let mut request = Request::new(self.root.clone());
        request.core = None;
        request.host_releases.clone_from(&self.provided);
        let mut check = LockCheck::new(request, lock);
        for name in check.needs() {
            let records: Vec<IndexRecord> = self
                .records
                .iter()
                .filter(|record| record.name == name)
                .cloned()
                .collect();
            let supply = if records.is_empty() {
                Supply::Unknown
            } else {
                let name = RegistryName::parse(self.source).expect("a valid name");
                let source = ReleaseSource::Registry(name);
                Supply::Releases { source, records }
            };
            let provided = check.provide(&name, supply);
            provided.expect("the records are of the package");
        }
        check.report()
    }

    /// Why the lock of the initial world is stale in this one.
    fn stale(&self) -> Vec<Staleness> {
        self.report(world().lock()).stale
    }
}

/// Why a lock is stale in the initial world.
fn stale(lock: Lockfile) -> Vec<Staleness> {
    world().report(lock).stale
}

fn key(name: &str, number: &str) -> Release {
    Release::new(package(name), version(number))
}

#[test]
fn a_new_lockfile_is_up_to_date() {
    assert_eq!(world().report(world().lock()), LockReport::default());
}

#[test]
fn a_binding_to_a_release_that_is_not_locked_is_stale() {
    let mut lock = world().lock();
    lock.packages.remove(&key("Db", "1.1.0"));
    let expected = Staleness::NotBound {
        owner: package("App"),
        owner_version: version("1.0.0"),
        package: package("Db"),
    };
    assert_eq!(stale(lock), [expected]);
}

#[test]
fn newer_versions_and_yanked_releases_do_not_make_a_lock_stale() {
    let mut now = world();
    now.records
        .push(release("Db", "1.2.0").defines("db.Table", &[]));
    now.record("Db").yanked = true;
    let report = now.report(world().lock());
    assert_eq!(report.stale, []);
    assert_eq!(report.yanked, [key("Db", "1.1.0")]);
}

#[test]
fn an_equivalent_spec_does_not_make_a_lock_stale() {
    let mut now = world();
    now.root = release("App", "1.0.0")
        .requires("Web", "==2.*")
        .requires("Db", ">=1.0.0, <2")
        .defines("app.Main", &["web.Site"]);
    assert_eq!(now.stale(), []);
}

#[test]
fn changed_roots_make_a_lock_stale() {
    let mut lock = world().lock();
    let requirements = lock.roots.remove(&package("App")).expect("it is the root");
    lock.roots.insert(package("Other"), requirements);
    assert_eq!(
        stale(lock),
        [
            Staleness::NotARoot(package("Other")),
            Staleness::RootNotLocked(package("App")),
        ]
    );
}

#[test]
fn changed_requirements_of_the_root_make_a_lock_stale() {
    let mut now = world();
    now.root = release("App", "1.0.0")
        .requires("Db", ">=1.1")
        .requires("Mail", "1")
        .defines("app.Main", &[]);
    assert_eq!(
        now.stale(),
        [
            Staleness::RequirementChanged {
                root: package("App"),
                package: package("Db"),
                locked: spec("1"),
                spec: spec(">=1.1"),
                location: None,
            },
            Staleness::RequirementAdded {
                root: package("App"),
                package: package("Mail"),
                spec: spec("1"),
                location: None,
            },
            Staleness::RequirementRemoved {
                root: package("App"),
                package: package("Web"),
            },
        ]
    );
}

/// A release that is no longer required is not reported in addition to its removed requirement.
#[test]
fn a_removed_requirement_is_reported_once() {
    let mut now = world();
    let lock = now.lock();
    now.root = release("App", "1.0.0")
        .requires("Db", "1")
        .defines("app.Main", &[]);
    now.records.retain(|record| record.name != package("Web"));
    let removed = Staleness::RequirementRemoved {
        root: package("App"),
        package: package("Web"),
    };
    assert_eq!(
        now.report(lock.clone()).stale,
        std::slice::from_ref(&removed)
    );
    now.records.clear();
    let is_gone = |entry: &Staleness| matches!(entry, Staleness::Gone { package: gone, .. } if *gone == package("Db"));
    let stale = now.report(lock).stale;
    assert!(
        matches!(stale.as_slice(), [first, gone] if *first == removed && is_gone(gone)),
        "{stale:?}"
    );
}

#[test]
fn a_binding_outside_of_the_locked_spec_is_stale() {
    let mut lock = world().lock();
    let bound = lock
        .roots
        .get_mut(&package("App"))
        .and_then(|requirements| requirements.get_mut(&package("Db")))
        .expect("the root requires it");
    *bound = LockedRequirement {
        spec: bound.spec.clone(),
        version: version("3.0.0"),
    };
    let mut now = world();
    now.records.push(release("Db", "3.0.0"));
    assert_eq!(
        now.report(lock).stale,
        [Staleness::NotAllowed {
            owner: package("App"),
            owner_version: version("1.0.0"),
            package: package("Db"),
            spec: spec("1"),
            is_override: false,
            version: version("3.0.0"),
            location: None,
        }]
    );
}

#[test]
fn a_missing_release_makes_a_lock_stale() {
    let named =
        |text: &str| ReleaseSource::Registry(RegistryName::parse(text).expect("a valid name"));
    let gone = |found: Option<ReleaseSource>, newest: Option<&str>| Staleness::Gone {
        package: package("Db"),
        version: version("1.1.0"),
        locked: named("test"),
        found,
        newest: newest.map(version),
    };
    let mut now = world();
    now.records.retain(|record| record.name != package("Db"));
    assert_eq!(now.stale(), [gone(None, None)], "the package is gone");
    now.records.push(release("Db", "1.2.0"));
    let from_test = gone(Some(named("test")), Some("1.2.0"));
    assert_eq!(now.stale(), [from_test], "the version is gone");
    now.provided.push(release("Db", "1.3.0"));
    let from_host = gone(Some(ReleaseSource::Host), Some("1.3.0"));
    assert_eq!(now.stale(), [from_host], "the host has another");
}

#[test]
fn another_source_makes_a_lock_stale() {
    let mut now = world();
    now.source = "elsewhere";
    let differs = |name: &str, number: &str| {
        let named =
            |text: &str| ReleaseSource::Registry(RegistryName::parse(text).expect("a valid name"));
        Staleness::SourceDiffers {
            package: package(name),
            version: version(number),
            locked: named("test"),
            found: named("elsewhere"),
        }
    };
    assert_eq!(
        now.stale(),
        [differs("Db", "1.1.0"), differs("Web", "2.0.0")]
    );
}

#[test]
fn a_registry_without_a_name_replaces_others_with_the_same_artifacts() {
    let mut now = world();
    now.source = RegistryName::DEFAULT;
    for name in ["Db", "Web"] {
        now.record(name).digest = None;
    }
    let kinds = |stale: &[Staleness]| {
        let differs = |entry: &&Staleness| matches!(entry, Staleness::SourceDiffers { .. });
        stale.iter().filter(differs).count()
    };
    assert_eq!(kinds(&now.stale()), 2, "without digests nothing is known");
    let mut now = world();
    now.source = RegistryName::DEFAULT;
    assert_eq!(now.stale(), []);
    now.record("Web").digest = Some(digest('c'));
    assert_eq!(kinds(&now.stale()), 1, "only other content counts");
}

#[test]
fn another_digest_makes_a_lock_stale() {
    let differs = |found: Option<char>| Staleness::DigestDiffers {
        package: package("Db"),
        version: version("1.1.0"),
        locked: Some(digest('a')),
        found: found.map(digest),
    };
    let mut now = world();
    now.record("Db").digest = Some(digest('c'));
    assert_eq!(now.stale(), [differs(Some('c'))]);
    now.record("Db").digest = None;
    assert_eq!(now.stale(), [differs(None)]);
}

#[test]
fn changed_requirements_of_releases_make_a_lock_stale() {
    let mut now = world();
    now.record("Web").requirements = Shared::new();
    *now.record("Web") = now.record("Web").clone().requires("Mail", "1");
    assert_eq!(
        now.stale(),
        [
            Staleness::NotBound {
                owner: package("Web"),
                owner_version: version("2.0.0"),
                package: package("Mail"),
            },
            Staleness::NotRequired {
                owner: package("Web"),
                owner_version: version("2.0.0"),
                package: package("Db"),
            },
        ]
    );
    let mut now = world();
    now.record("Web").requirements[0].spec = spec(">=1.2");
    assert_eq!(
        now.stale(),
        [Staleness::NotAllowed {
            owner: package("Web"),
            owner_version: version("2.0.0"),
            package: package("Db"),
            spec: spec(">=1.2"),
            is_override: false,
            version: version("1.1.0"),
            location: None,
        }]
    );
}

#[test]
fn a_root_version_outside_of_a_requirement_makes_a_lock_stale() {
    let mut before = world();
    *before.record("Web") = before.record("Web").clone().requires("App", "1");
    let lock = before.lock();
    let mut now = before.clone();
    now.root.version = version("1.4.0");
    assert_eq!(now.report(lock.clone()).stale, []);
    now.root.version = version("2.0.0");
    assert_eq!(
        now.report(lock).stale,
        [Staleness::NotAllowed {
            owner: package("Web"),
            owner_version: version("2.0.0"),
            package: package("App"),
            spec: spec("1"),
            is_override: false,
            version: version("2.0.0"),
            location: None,
        }]
    );
}

#[test]
fn a_missing_class_makes_a_lock_stale() {
    let mut now = world();
    now.record("Db").classes = Some(Shared::default());
    assert_eq!(
        now.stale(),
        [Staleness::ClassNotFound {
            owner: package("Web"),
            owner_version: version("2.0.0"),
            class: class("db.Table"),
        }]
    );
}

#[test]
fn a_diamond_makes_a_lock_stale() {
    let mut before = world();
    before
        .records
        .push(release("Db", "1.0.0").defines("db.Table", &[]));
    let mut lock = before.lock();
    // The root's class now inherits the table from both releases, each bound by another requirer.
    let mut now = before.clone();
    now.root = release("App", "1.0.0")
        .requires("Db", "1")
        .requires("Web", "2")
        .defines("app.Main", &["web.Site", "db.Table"]);
    let web = lock
        .packages
        .get_mut(&key("Web", "2.0.0"))
        .expect("it is locked");
    web.requires.insert(package("Db"), version("1.0.0"));
    let db = LockedPackage {
        source: web.source.clone(),
        digest: None,
        requires: Bindings::default(),
    };
    lock.packages.insert(key("Db", "1.0.0"), db);
    lock.side_by_side.insert(package("Db"));
    assert_eq!(
        now.report(lock).stale,
        [Staleness::InheritsTwice {
            class: class("app.Main"),
            inherited: class("db.Table"),
        }]
    );
}

#[test]
fn a_cycle_of_classes_makes_a_lock_stale() {
    let mut now = world();
    *now.record("Db") = with_digest(
        release("Db", "1.1.0")
            .requires("Web", "2")
            .defines("db.Table", &["web.Site"]),
        'a',
    );
    let mut lock = world().lock();
    let db = lock
        .packages
        .get_mut(&key("Db", "1.1.0"))
        .expect("it is locked");
    db.requires.insert(package("Web"), version("2.0.0"));
    let found = now.report(lock).stale;
    let [Staleness::ClassCycle(cycle)] = found.as_slice() else {
        panic!("{found:?}");
    };
    let mut cycle = cycle.clone();
    cycle.sort();
    assert_eq!(cycle, [class("db.Table"), class("web.Site")]);
}

#[test]
fn an_unreached_release_makes_a_lock_stale() {
    let mut now = world();
    now.records.push(with_digest(release("Old", "1.0.0"), 'd'));
    let mut lock = world().lock();
    let old = LockedPackage {
        digest: Some(digest('d')),
        requires: Bindings::default(),
        ..lock.packages[&key("Db", "1.1.0")].clone()
    };
    lock.packages.insert(key("Old", "1.0.0"), old);
    assert_eq!(
        now.report(lock).stale,
        [Staleness::NotReached {
            package: package("Old"),
            version: version("1.0.0"),
        }]
    );
}

#[test]
fn another_digest_is_a_violation_and_another_source_is_not() {
    let mut now = world();
    now.record("Db").digest = Some(digest('f'));
    assert!(now.stale().iter().all(Staleness::is_violation));
    now.record("Db").digest = None;
    assert!(now.stale().iter().all(Staleness::is_violation));
    let mut moved = world();
    moved.source = "other";
    let stale = moved.stale();
    assert_eq!(stale.len(), 2);
    assert!(!stale.iter().any(Staleness::is_violation));
    // A digest where none was known is no violation.
    let mut before = world();
    before.record("Db").digest = None;
    let stale = world().report(before.lock()).stale;
    assert_eq!(stale.len(), 1);
    assert!(!stale.iter().any(Staleness::is_violation));
}
