//! Input that the solver rejects, and packages that it needs but does not get.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, RegistryName, ReleaseSource};
use pkgres_resolver::{CompiledIndex, ProvideError, Request, Resolver, Step, Supply};
use pkgres_tests::build::{Build as _, package, release, version};

/// A solve of a root that requires `Db`.
fn resolver() -> Resolver {
    Resolver::new(request())
}

fn request() -> Request {
    let mut request = Request::new(release("Web", "1.0.0").requires("Db", "*"));
    request.core = None;
    request
}

fn source() -> ReleaseSource {
    ReleaseSource::Registry(RegistryName::parse("demo").expect("a valid name"))
}

fn supply(records: Vec<IndexRecord>) -> Supply {
    Supply::Releases {
        source: source(),
        records,
    }
}

/// The packages that the next step asks for.
fn needed(resolver: &mut Resolver) -> Vec<String> {
    match resolver.step() {
        Step::Need(names) => names.iter().map(ToString::to_string).collect(),
        other => panic!("the step needs no packages: {other:?}"),
    }
}

/// Whether the next step solves the problem with `Db` 1.0.0.
fn is_solved(resolver: &mut Resolver) -> bool {
    match resolver.step() {
        Step::Solved(resolution) => resolution.packages()[0].version == version("1.0.0"),
        _ => false,
    }
}

#[test]
fn records_of_another_package_are_rejected_and_nothing_is_used() {
    let mut resolver = resolver();
    assert_eq!(needed(&mut resolver), ["Db"]);
    let mixed = vec![release("Db", "2.0.0"), release("Log", "1.0.0")];
    let error = resolver.provide(&package("Db"), supply(mixed));
    assert_eq!(
        error,
        Err(ProvideError::OtherPackage {
            expected: package("Db"),
            found: package("Log"),
        })
    );
    let provided = resolver.provide(&package("Db"), supply(vec![release("Db", "1.0.0")]));
    assert_eq!(provided, Ok(()));
    assert!(is_solved(&mut resolver));
}

#[test]
fn a_package_cannot_be_provided_twice() {
    let mut resolver = resolver();
    needed(&mut resolver);
    let first = resolver.provide(&package("Db"), supply(vec![release("Db", "1.0.0")]));
    assert_eq!(first, Ok(()));
    let second = resolver.provide(&package("Db"), supply(vec![release("Db", "2.0.0")]));
    assert_eq!(second, Err(ProvideError::ProvidedTwice(package("Db"))));
    assert!(is_solved(&mut resolver));
}

#[test]
fn classes_of_a_release_that_was_not_provided_are_rejected() {
    let mut resolver = resolver();
    let unknown = |name: &str, number: &str| {
        Err(ProvideError::UnknownRelease {
            name: package(name),
            version: version(number),
        })
    };
    let before = resolver.provide_classes(&package("Db"), &version("1.0.0"), None);
    assert_eq!(before, unknown("Db", "1.0.0"));
    needed(&mut resolver);
    let records = supply(vec![release("Db", "1.0.0")]);
    assert_eq!(resolver.provide(&package("Db"), records), Ok(()));
    let other = resolver.provide_classes(&package("Db"), &version("2.0.0"), None);
    assert_eq!(other, unknown("Db", "2.0.0"));
    let known = resolver.provide_classes(&package("Db"), &version("1.0.0"), None);
    assert_eq!(known, Ok(()));
}

#[test]
fn an_index_without_dates_is_rejected_if_newer_releases_are_excluded() {
    let index = Arc::new(CompiledIndex::compile([&release("Db", "1.0.0")]));
    let mut request = request();
    request.options.exclude_newer = Some("2026-01-01T00:00:00Z".parse().expect("a timestamp"));
    let mut dated = Resolver::new(request);
    assert!(dated.needs_dates());
    let attached = dated.attach(source(), Arc::clone(&index));
    assert_eq!(attached, Err(ProvideError::DatesNeeded));
    assert_eq!(needed(&mut dated), ["Db"]);

    let mut undated = resolver();
    assert!(!undated.needs_dates());
    assert_eq!(undated.attach(source(), index), Ok(()));
    assert!(is_solved(&mut undated));
}

#[test]
fn a_step_without_an_answer_to_the_last_one_ends_the_solve() {
    let mut resolver = resolver();
    assert_eq!(needed(&mut resolver), ["Db"]);
    let Step::Unanswered(names) = resolver.step() else {
        panic!("nothing was provided");
    };
    assert_eq!(names, [package("Db")]);
    // It is not too late.
    assert_eq!(
        resolver.provide(&package("Db"), supply(vec![release("Db", "1.0.0")])),
        Ok(())
    );
    assert!(is_solved(&mut resolver));
}
