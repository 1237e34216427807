//! Validators: in which order they ask and change what, on machines that only record and on real ones.

mod packages;
mod proofs;
mod real_specs;
mod recorded;
mod scripts;
mod support;
