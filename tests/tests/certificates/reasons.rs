//! Conflicts: their reasons suffice, and none of them can be left out.

use std::collections::BTreeMap;

use pkgres_certificate::{Certificate, NotCertified, certify_reasons, unknown_packages, verify};
use pkgres_resolver::{Conflict, Request, Resolver, Step};
use pkgres_tests::drive::{Records, drive};
use pkgres_tests::seeds;
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

use crate::veripb::VeriPb;

const SEEDS: u64 = 600;

/// What became of a universe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    Solved,
    /// The certificate was accepted; the number of reasons.
    Accepted(usize),
    NotCertified,
}

/// The certificate for the reasons of a conflict.
pub(crate) fn certified_reasons(
    universe: &Universe,
    request: &Request,
    conflict: &Conflict,
) -> Result<Certificate, NotCertified> {
    let packages = Records::new(universe.records.iter().cloned());
    let mut records = BTreeMap::new();
    loop {
        let unknown = unknown_packages(request, &records, conflict);
        if unknown.is_empty() {
            return certify_reasons(request, &records, conflict);
        }
        for name in unknown {
            let of_package = packages.by_name().get(&name).cloned();
            records.insert(name, of_package.unwrap_or_default());
        }
    }
}

/// The conflict of a request; `None` if it has a resolution.
pub(crate) fn conflict_of(universe: &Universe, request: Request) -> Option<Box<Conflict>> {
    let mut packages = Records::new(universe.records.iter().cloned());
    match drive(&mut Resolver::new(request), &mut packages) {
        Step::Solved(_) => None,
        Step::Conflict(conflict) => Some(conflict),
        step => panic!("there is no verdict: {step:?}"),
    }
}

/// Certifies the reasons of a conflict, and checks the certificate.
pub(crate) fn checked(
    universe: &Universe,
    request: &Request,
    veripb: Option<&VeriPb>,
    name: &str,
) -> Checked {
    let Some(conflict) = conflict_of(universe, request.clone()) else {
        return Checked::Solved;
    };
    let certificate = match certified_reasons(universe, request, &conflict) {
        Ok(certificate) => certificate,
        Err(error) => {
            println!("{name}: {error}");
            if std::env::var_os("SHOW").is_some() {
                println!(
                    "{universe}\n{:#?}",
                    conflict
                        .reasons
                        .iter()
                        .map(|one| &one.text)
                        .collect::<Vec<_>>()
                );
            }
            return Checked::NotCertified;
        }
    };
    let accepted = verify(&certificate);
    let accepted = accepted.unwrap_or_else(|error| {
        panic!(
            "{name}: {error}\n{universe}\n{}\n{}\n{}",
            certificate.names, certificate.problem, certificate.proof
        )
    });
    let stated = accepted.claim.needed().count();
    assert_eq!(stated, certificate.without.len(), "{name}\n{universe}");
    if let Some(veripb) = veripb {
        assert!(veripb.accepts(&certificate, name), "{name}\n{universe}");
        for without in &certificate.without {
            let is_shown = veripb.accepts_solution(without, name);
            assert!(is_shown, "{name}, {}\n{universe}", without.number);
        }
    }
    Checked::Accepted(stated)
}

fn check_all(kind: &str, universe: impl Fn(u64) -> Universe + Sync) {
    let veripb = VeriPb::find();
    let results = seeds::for_all(seeds::count(SEEDS), |seed| {
        let universe = universe(seed);
        let name = format!("{kind}-{seed}");
        checked(&universe, &request(&universe), veripb.as_ref(), &name)
    });
    let reasons = results.iter().filter_map(|one| match one {
        Checked::Accepted(reasons) => Some(*reasons),
        _ => None,
    });
    let reasons: Vec<usize> = reasons.collect();
    let not = results
        .iter()
        .filter(|one| **one == Checked::NotCertified)
        .count();
    println!(
        "{kind}: {} conflicts with {} reasons accepted, {not} not certified",
        reasons.len(),
        reasons.iter().sum::<usize>(),
    );
    assert!(
        reasons.len() > results.len() / 100,
        "{kind}: only {}",
        reasons.len()
    );
    assert!(not <= reasons.len() / 20, "{kind}: {not}");
}

#[test]
fn reasons_of_random_universes_are_certified() {
    check_all("reasons-random", Universe::random);
}

#[test]
fn reasons_of_the_first_tier_are_certified() {
    check_all("reasons-single", |seed| Universe {
        single_version: true,
        ..Universe::random(seed)
    });
}

#[test]
fn reasons_about_shared_classes_are_certified() {
    check_all("reasons-hubs", |seed| Universe {
        single_version: seed % 2 == 0,
        ..Universe::around_hubs(seed).with_interfaces(seed)
    });
}

#[test]
fn reasons_about_cycles_of_packages_are_certified() {
    check_all("reasons-entangled", |seed| Universe {
        single_version: seed % 2 == 0,
        ..Universe::entangled(seed)
    });
}
