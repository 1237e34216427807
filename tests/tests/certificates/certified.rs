//! Certificates of universes.

use std::collections::BTreeMap;

use pkgres_certificate::{Certificate, NotCertified, certify_impossible};
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{Request, Resolver, Step};
use pkgres_tests::drive::{Records, advance};
use pkgres_tests::solver::request;
use pkgres_tests::universe::Universe;

/// The verdict of a request, with a certificate if there is no resolution.
pub(crate) enum Outcome {
    Solved,
    Impossible(Result<Certificate, NotCertified>),
}

/// The releases of a universe by package.
pub(crate) fn records(universe: &Universe) -> BTreeMap<PackageName, Vec<IndexRecord>> {
    let records = universe.records.iter().cloned();
    Records::new(records).by_name().clone()
}

/// Solves a universe, and certifies that it has no resolution.
pub(crate) fn certified(universe: &Universe) -> Outcome {
    certified_request(universe, request(universe))
}

/// Answers a request about a universe, and certifies that there is no resolution.
pub(crate) fn certified_request(universe: &Universe, mut request: Request) -> Outcome {
    request.options.record_derivation = true;
    let mut packages = Records::new(universe.records.iter().cloned());
    let mut resolver = Resolver::new(request.clone());
    match advance(&mut resolver, &mut packages) {
        Step::Solved(_) => Outcome::Solved,
        Step::Impossible => {
            let derivation = resolver.take_derivation();
            let derivation = derivation.expect("a search proved it");
            let certificate = certify_impossible(&request, packages.by_name(), &derivation);
            Outcome::Impossible(certificate)
        }
        step => panic!("there is no verdict: {step:?}"),
    }
}
