//! Certificates of universes.

use std::collections::BTreeMap;
use std::convert::Infallible;

use pkgres_certificate::{
    Certificate, NotCertified, Question, certify_impossible, certify_reasons, unknown_packages,
    verify,
};
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{Conflict, Request, Resolution, Resolver, Step};
use pkgres_tests::drive::{Records, advance, drive};
use pkgres_tests::universe::Universe;

use crate::veripb::VeriPb;

/// The releases of a universe by package.
pub(crate) fn records(universe: &Universe) -> BTreeMap<PackageName, Vec<IndexRecord>> {
    packages(universe).by_name().clone()
}

/// The packages of a universe.
pub(crate) fn packages(universe: &Universe) -> Records {
    Records::new(universe.records.iter().cloned())
}

/// The certificate that a request has no resolution.
fn none(packages: &Records, request: &Request) -> Result<Certificate, NotCertified> {
    let mut request = request.clone();
    request.options.record_derivation = true;
    let mut supplied = Records::new(packages.by_name().values().flatten().cloned());
    let mut resolver = Resolver::new(request.clone());
    assert_eq!(advance(&mut resolver, &mut supplied), Step::Impossible);
    let derivation = resolver.take_evidence().derivation;
    let derivation = derivation.ok_or(NotCertified::NoDerivation)?;
    certify_impossible(&request, packages.by_name(), &derivation)
}

/// Certificates of the verdict of a request, each with the name of its claim. With an update, the reasons of a conflict
/// are the only claim about it.
pub(crate) fn all(
    packages: &Records,
    request: &Request,
) -> Vec<(&'static str, Result<Certificate, NotCertified>)> {
    let mut supplied = Records::new(packages.by_name().values().flatten().cloned());
    match drive(&mut Resolver::new(request.clone()), &mut supplied) {
        Step::Solved(resolution) => questions(request, &resolution)
            .into_iter()
            .map(|(claim, question)| (claim, refuted(packages, &question)))
            .collect(),
        Step::Conflict(conflict) => {
            let mut found = vec![("reasons", reasons(packages, request, &conflict))];
            if request.update.is_none() {
                found.push(("none", none(packages, request)));
            }
            found
        }
        Step::GaveUp { .. } => Vec::new(),
        step => panic!("there is no verdict: {step:?}"),
    }
}

/// The certificate for the reasons of a conflict.
fn reasons(
    packages: &Records,
    request: &Request,
    conflict: &Conflict,
) -> Result<Certificate, NotCertified> {
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

/// The questions whose answers make a resolution the best one.
fn questions(request: &Request, resolution: &Resolution) -> Vec<(&'static str, Question)> {
    if let Some(report) = resolution.update() {
        if !report.is_minimal {
            return Vec::new();
        }
        let stays = Question::stays(request, resolution).into_iter();
        return stays.map(|question| ("stays", question)).collect();
    }
    if !resolution.side_by_side().is_empty() {
        return vec![("single", Question::single(request))];
    }
    let compromise = resolution.first_compromise();
    let question = compromise.map(|compromise| Question::better(request, &compromise));
    question
        .into_iter()
        .map(|question| ("better", question))
        .collect()
}

fn refuted(packages: &Records, question: &Question) -> Result<Certificate, NotCertified> {
    let mut searched = Records::new(packages.by_name().values().flatten().cloned());
    let answer = question.refute(
        |resolver| Ok::<_, Infallible>(advance(resolver, &mut searched)),
        |names| {
            let all = names.iter().map(|name| packages.supply_of(name));
            Ok(all.collect())
        },
    );
    answer.expect("records are in memory")
}

/// Checks a certificate with both checkers.
pub(crate) fn accept(certificate: &Certificate, veripb: Option<&VeriPb>, name: &str) {
    let accepted = verify(certificate).unwrap_or_else(|error| {
        panic!(
            "{name}: {error}\n{}\n{}\n{}",
            certificate.names, certificate.problem, certificate.proof
        )
    });
    let needed = accepted.claim.needed().count();
    assert_eq!(needed, certificate.without.len(), "{name}");
    if let Some(veripb) = veripb {
        assert!(veripb.accepts(certificate, name), "{name}");
        for without in &certificate.without {
            let is_shown = veripb.accepts_solution(without, name);
            assert!(is_shown, "{name}, {}", without.number);
        }
    }
}
