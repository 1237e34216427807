//! Certificates: proofs of verdicts that other programs check.
//!
//! *Accepted.* Each verdict about a random universe has a certificate, and both our own checker and `VeriPB`, a program of
//! others, accept it: that there is no resolution, that the reasons for it are all needed, that a better version is
//! impossible, that an update moved no more than necessary.
//!
//! *Agreement.* The problem of a certificate has the solutions that a search by brute force finds, and no others. A solver of
//! others lists them.
//!
//! *Object models.* So it is for the objects of a model and the contracts of their properties.
//!
//! *Scopes.* Where a problem gives packages one release although several are allowed, this excludes no solution, as the same
//! solver finds out for random parts of the rules.
//!
//! *Corruption.* A certificate that was changed in one place is rejected, or the problem that it then has is unsatisfiable
//! all the same, as that solver finds out.
//!
//! *Lengths.* A proof grows with the problem, and what follows without a decision takes no steps.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs. `VeriPB` is found on the path; `.ci/run`
//! installs it.

#![expect(clippy::print_stdout, reason = "a long run shows what it checked")]

mod agreement;
mod certified;
mod claims;
mod corpora;
mod corruption;
mod lengths;
mod models;
mod satisfiable;
mod scopes;
mod veripb;
