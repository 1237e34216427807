//! Certificates: proofs of a resolver's verdicts that other programs can check.
//!
//! # Problem
//!
//! "There is no resolution" is the result of a search that few people can review. A certificate makes the review
//! unnecessary: it has the problem and a proof, and a simple program checks the proof.
//!
//! # Idea
//!
//! - `encoding` writes the problem as linear inequalities over variables that are 0 or 1. It is written from the
//!   rules and the metadata, and uses nothing of the search. This is what has to be trusted.
//! - `proof` turns the [`Derivation`] of a search into steps that follow from that problem by reverse unit propagation.
//!   A mistake in the search, or here, gives a proof that is rejected, never a wrong one that is accepted.
//!
//! Only the rules that the proof needs are part of the problem. With fewer rules there are more solutions, so a proof
//! that these have none holds for all of them.

mod claim;
mod encoding;
mod formula;
mod names;
mod proof;
mod scope;
mod universe;

pub use claim::{Claim, ClaimError, Tiers};
pub use encoding::Encoding;
pub use formula::{Formula, Meaning, Row};
pub use scope::Scope;
pub use universe::Universe;

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{Derivation, Request};

/// The texts of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The problem in the OPB format: `problem.opb`.
    pub problem: String,
    /// What is claimed, and what the variables of the problem stand for, as JSON: `names.json`.
    pub names: String,
    /// The proof in the format of `VeriPB` 3: `proof.pbp`.
    pub proof: String,
}

/// Why there is no certificate of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCertified {
    /// A root is an object model.
    #[error("verdicts about object models have no certificates yet")]
    Model,
    /// The engine kept no derivation.
    #[error(
        "it was proved without a search by the native engine, or with goals of an update or objects of a model"
    )]
    NoDerivation,
    /// The proof uses a rule that is not encoded.
    #[error("the proof uses a rule that certificates do not contain yet: {0}")]
    Rule(&'static str),
    /// A step of the search was not found to follow from the encoding.
    #[error("a step of the proof could not be derived from the encoding: {0}")]
    Step(&'static str),
}

/// The certificate that a request has no resolution, from how a search proved it.
///
/// `records` are the releases that registries have of the packages that [`packages_of`] names. Those of roots and of
/// the host are part of the request.
///
/// # Errors
///
/// The proof uses something that certificates do not contain yet.
pub fn certify_impossible(
    request: &Request,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    derivation: &Derivation,
) -> Result<Certificate, NotCertified> {
    let universe = Universe::new(request, records)?;
    let tiers = if request.options.single_version {
        Tiers::First
    } else {
        Tiers::Both
    };
    let scope = Scope::of_derivation(derivation, &universe, tiers)?;
    let encoding = Encoding::new(&universe, &scope);
    let proof = proof::write(&encoding, derivation)?;
    let claim = Claim::impossible(&universe, tiers);
    Ok(Certificate {
        problem: encoding.formula().to_opb(),
        names: names::write(&claim, encoding.formula()),
        proof,
    })
}

/// The packages that a derivation is about, in the order of names.
pub fn packages_of(derivation: &Derivation) -> Vec<PackageName> {
    scope::packages_of(derivation).into_iter().collect()
}
