//! Published cases of Resolver.jl, which lists every cheapest repair for Julia, with packages of our own.
//!
//! It works with one release of each package, as these cases do.

use pkgres_resolver::{Change, Repair};
use pkgres_tests::build::{Build, package, release, spec};
use pkgres_tests::solver::{Supplies, repairs_of, request, run};
use pkgres_tests::universe::Universe;

/// The repairs of a universe with one release of each package, in words, and the number of blocked requirements.
fn listed(universe: Universe, overrides: &[(&str, &str)]) -> (Vec<String>, usize) {
    let universe = Universe {
        single_version: true,
        ..universe
    };
    let mut request = request(&universe);
    for (name, overriding) in overrides {
        (request.overrides).insert(package(name), spec(overriding));
    }
    let conflict = run(&universe, Supplies::OnDemand, request.clone()).conflict();
    let found = repairs_of(&universe, &request, &conflict.expect("they clash"));
    assert!(found.is_complete);
    let of_change = |change: &Change| match change {
        Change::Requirement { package, allow, .. } => format!("require {package} {allow}"),
        Change::Override { package, allow, .. } => format!("override {package} {allow}"),
        Change::NoOverride { package, .. } => format!("no override of {package}"),
        Change::Release {
            owner,
            package,
            allow,
            ..
        } => format!("release {owner} for {package} {allow}"),
        other => panic!("{other:?}"),
    };
    let of_repair = |repair: &Repair| {
        let changes: Vec<String> = repair.changes.iter().map(of_change).collect();
        changes.join(" and ")
    };
    // Julia does not have several releases of a package.
    let found_there = (found.found.iter()).filter(|repair| repair.changes != [Change::SideBySide]);
    (found_there.map(of_repair).collect(), found.blocked.len())
}

/// The case of Resolver.jl's documentation in which a bound allows no version. Both list one repair: to relax it.
#[test]
fn one_missing_version() {
    let root = release("p.Root", "1").requires("p.Sodium", "3");
    let universe = Universe::new(root, vec![release("p.Sodium", "1.0.21")]);
    assert_eq!(
        listed(universe, &[]),
        (vec!["require p.Sodium 1.0.21".into()], 0)
    );
}

/// The case of Resolver.jl's documentation in which two packages work with different versions of a third one. It lists
/// two repairs, to drop either package, and two releases that others could make. pkgres lists the releases and an
/// override, which Julia does not have. It keeps what a root requires: without a package, the root would not work.
#[test]
fn two_clashing_caps() {
    let root = release("p.Root", "1")
        .requires("p.A", "*")
        .requires("p.B", "*");
    let records = vec![
        release("p.A", "1").requires("p.C", "1"),
        release("p.B", "1").requires("p.C", "2"),
        release("p.C", "1"),
        release("p.C", "2"),
    ];
    let expected = [
        "override p.C 2.0.0",
        "release p.A for p.C 2.0.0",
        "release p.B for p.C 1.0.0",
    ];
    let expected = expected.map(String::from).to_vec();
    assert_eq!(listed(Universe::new(root, records), &[]), (expected, 2));
}

/// The case of Resolver.jl's first diagnoses in which caps of the user exclude old versions of one package and all
/// versions of another one that new ones need. It lists three repairs: to relax either cap, or to drop the package.
/// pkgres lists the first two, and a release. A cap on a package that the root does not require is an override.
#[test]
fn a_chain_of_caps() {
    let root = release("p.Root", "1").requires("p.Frames", "1");
    let records = vec![
        release("p.Frames", "0.21.8"),
        release("p.Frames", "1.8.2").requires("p.Tables", "3"),
        release("p.Tables", "3.4.5"),
    ];
    let universe = Universe::new(root, records);
    let expected = ["require p.Frames 0.21.8", "no override of p.Tables"];
    let expected = expected.map(String::from).to_vec();
    assert_eq!(listed(universe, &[("p.Tables", "9")]), (expected, 0));
}

/// The case of Resolver.jl's explanations in which a package holds an upgrade of another one back. It lists two repairs,
/// to relax the cap on the second, or to drop the first, and one that is blocked: to relax the cap on the first. pkgres
/// lists the first of these, a release in place of dropping, and the same one as blocked.
#[test]
fn a_blocked_upgrade() {
    let root = release("p.Root", "1")
        .requires("p.Plots", "0.18.3")
        .requires("p.Colors", "3.31.0");
    let records = vec![
        release("p.Plots", "0.18.2").requires("p.Colors", "<=3.30.0"),
        release("p.Plots", "0.18.3").requires("p.Colors", "<=3.30.0"),
        release("p.Colors", "3.30.0"),
        release("p.Colors", "3.31.0"),
    ];
    let expected = [
        "require p.Colors 3.30.0",
        "release p.Plots for p.Colors 3.31.0",
    ];
    let expected = expected.map(String::from).to_vec();
    assert_eq!(listed(Universe::new(root, records), &[]), (expected, 1));
}
