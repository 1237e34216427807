//! Checks the certificates in a folder, with the independent proof checker.

use std::collections::BTreeMap;

use pkgres_proof_checker::{CheckError, Conclusion, check, leaves_out};

use crate::claim::{Claim, ClaimError};
use crate::{Certificate, WithoutReason};

/// A certificate that proves its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The proved claim.
    pub claim: Claim,
    /// The number of inequalities of the problem.
    pub constraints: usize,
    /// The number of inequalities that the proof derives.
    pub steps: usize,
}

/// Why a certificate proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The claim cannot be read.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The proof is wrong.
    #[error(transparent)]
    Proof(#[from] CheckError),
    /// The proof is right, and shows the opposite of the claim.
    #[error("the proof shows a solution, but the claim is that there is none")]
    Satisfiable,
    /// Nothing shows that a reason is needed.
    #[error("nothing shows that the reason {0} is needed")]
    Missing(usize),
    /// The problem without a reason differs from the whole problem in more than that reason.
    #[error("the problem without the reason {0} differs in more than the reason")]
    OtherProblem(usize),
    /// The solution without a reason is none.
    #[error("without the reason {0}: {1}")]
    Without(usize, #[source] CheckError),
    /// The problem without a reason has no solution.
    #[error("without the reason {0}, the proof shows no solution")]
    NotNeeded(usize),
}

/// Verifies a certificate with the checker of proofs.
///
/// # Errors
///
/// It proves nothing.
pub fn verify(certificate: &Certificate) -> Result<Accepted, Rejected> {
    let claim = Claim::read(&certificate.names)?;
    let verified = check(&certificate.problem, &certificate.proof)?;
    if verified.conclusion != Conclusion::Unsatisfiable {
        return Err(Rejected::Satisfiable);
    }
    let without = certificate.without.iter();
    let without: BTreeMap<usize, &WithoutReason> =
        without.map(|without| (without.number, without)).collect();
    for (number, constraints) in claim.needed() {
        let without = without.get(&number).ok_or(Rejected::Missing(number))?;
        let is_in_problem = *constraints.end() <= verified.problem_count;
        if !is_in_problem || !leaves_out(&certificate.problem, &constraints, &without.problem) {
            return Err(Rejected::OtherProblem(number));
        }
        let checked = check(&without.problem, &without.proof);
        let checked = checked.map_err(|error| Rejected::Without(number, error))?;
        if checked.conclusion != Conclusion::Satisfiable {
            return Err(Rejected::NotNeeded(number));
        }
    }
    Ok(Accepted {
        claim,
        constraints: verified.problem_count,
        steps: verified.derived_count,
    })
}
