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
//!   If the search or this module has a defect, the checker rejects the proof; it never accepts a wrong one.
//! - [`Question`] is a verdict about some of the releases, for which a separate search finds the proof.
//! - [`certify_reasons`] does not use the search: `decision` solves the small problem that the reasons of a conflict
//!   state.
//! - [`certify_model`] does the same for the objects of a model and the contracts of their properties.
//!
//! Only the rules that the proof needs are part of the problem. With fewer rules there are more solutions, so a proof
//! that there is none also holds with all rules.

mod claim;
mod decision;
mod description;
mod encoding;
mod formula;
mod model;
mod proof;
mod question;
mod reasons;
mod scope;
mod universe;
mod verify;

pub use claim::{Claim, ClaimError, ClaimedReason, Tiers};
pub use encoding::Encoding;
pub use formula::{Formula, Meaning, Row};
pub use model::{certify_model, packages_of_model};
pub use question::Question;
pub use reasons::{certify_reasons, unknown_packages};
pub use scope::Scope;
pub use universe::Universe;
pub use verify::{Accepted, Rejected, verify};

use std::collections::BTreeMap;

use claim::Verdict;
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{Derivation, Request};

/// The texts of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The problem in the OPB format.
    pub problem: String,
    /// The claim and the meanings of the problem's variables, as JSON.
    pub names: String,
    /// The proof in the format of `VeriPB` 3.
    pub proof: String,
    /// For each reason of a conflict, that it is needed.
    pub without: Vec<WithoutReason>,
}

/// A solution of a problem without what one reason states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutReason {
    /// The number of the reason, from 1.
    pub number: usize,
    /// The rest of the problem.
    pub problem: String,
    /// The solution, in the format of proofs.
    pub proof: String,
}

/// Why there is no certificate of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotCertified {
    /// A root is an object model, and the claim is another one than that it has no resolution.
    #[error("of an object model, only that it has no resolution can be certified")]
    Model,
    /// The verdict is that of an update with goals.
    #[error("the problem of this certificate does not contain what an update asks for")]
    Update,
    /// Which prereleases are candidates depends on the resolution.
    #[error(
        "which prereleases can be used depends on all requirements, also those that the proof is not about"
    )]
    Prereleases,
    /// A release could evade the update by dropping the package that was asked for.
    #[error("there is such a resolution without {0}, which was asked for")]
    Dropped(PackageName),
    /// The engine kept no derivation.
    #[error("it was proved without a search by the native engine")]
    NoDerivation,
    /// The proof uses a rule that is not encoded.
    #[error("the proof uses a rule that certificates do not contain yet: {0}")]
    Rule(&'static str),
    /// A step of the search was not found to follow from the encoding.
    #[error("a step of the proof could not be derived from the encoding: {0}")]
    Step(&'static str),
    /// The explanation did not prove that all reasons are needed.
    #[error("whether all of the reasons are needed is not known")]
    NotMinimal,
    /// The others suffice without this reason.
    #[error("the conflict has no need for its reason {0}")]
    NotNeeded(usize),
    /// The claim is wrong.
    #[error("there is another resolution")]
    Possible,
    /// The problem takes too much time.
    #[error("it would take too much time")]
    TooLarge,
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
    let claim = Claim::new(request, tiers, Verdict::None);
    certify(&universe, &claim, derivation)
}

/// The certificate of a claim that a search proved of a universe.
fn certify(
    universe: &Universe,
    claim: &Claim,
    derivation: &Derivation,
) -> Result<Certificate, NotCertified> {
    let scope = Scope::of_derivation(derivation, universe, claim.tiers)?;
    let encoding = Encoding::new(universe, &scope);
    let proof = proof::write(&encoding, derivation)?;
    Ok(Certificate {
        problem: encoding.formula().to_opb(),
        names: description::write(claim, encoding.formula()),
        proof,
        without: Vec::new(),
    })
}

/// The packages that a derivation is about, in the order of names.
pub fn packages_of(derivation: &Derivation) -> Vec<PackageName> {
    scope::packages_of(derivation).into_iter().collect()
}
