//! Certificates: proofs of verdicts that other programs check.
//!
//! *Accepted.* Each verdict "there is no resolution" about a random universe has a certificate, and both our own checker
//! and `VeriPB`, a program of others, accept it.
//!
//! *Agreement.* The problem of a certificate has the solutions that a search by brute force finds, and no others. A solver of
//! others lists them.
//!
//! *Corruption.* A certificate that was changed in one place is rejected, or the problem that it then has is unsatisfiable
//! all the same, as that solver finds out.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs. `VeriPB` is found on the path; `.ci/run`
//! installs it.

#![expect(clippy::print_stdout, reason = "a long run shows what it checked")]

mod agreement;
mod certified;
mod corruption;
mod random;
mod reasons;
mod satisfiable;
mod veripb;
