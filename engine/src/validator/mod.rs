//! Validators: tests a machine as a validation says, and brings about what is missing.
//!
//! A validation runs in one of two ways. A *test* gets a [`Probe`](crate::Probe), so that nothing here can write while it
//! tests, and scripts run where file systems are read-only. To *reconcile* gets a [`Target`](crate::Target). Which
//! scripts only pretend to test is found out by a [proof](PreparedValidation::prove): it reconciles on an overlay, and
//! reports every script whose test succeeded and which changes something all the same.
//!
//! ```compile_fail
//! use pkgres_engine::{CustomValidator, EntryAttributes, Probe};
//!
//! let motd = CustomValidator::new("motd").testing(|_, probe: &dyn Probe, _| {
//!     let attributes = EntryAttributes::with_mode(0o644);
//!     probe.write_file("/etc/motd".as_ref(), b"", attributes).map_err(|error| error.to_string())
//! });
//! ```
//!
//! What is wrong with a validation, or with the values for it, is known before anything runs, and is another error than
//! a machine that fails a test.

mod arguments;
mod custom;
mod leaf;
mod packages;
mod prepare;
mod proof;
mod report;
mod run;
mod script;

pub use arguments::ArgumentValues;
pub use custom::CustomValidator;
pub use prepare::PreparedValidation;
pub use proof::{ChangedPath, ValidationProof};
pub use report::{StepOutcome, ValidationError, ValidationReport, ValidationStep};
