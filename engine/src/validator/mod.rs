//! Validators: they test a machine as a validation says, and set up what is missing.
//!
//! A validation runs in one of two ways. A *test* gets a [`Probe`](crate::Probe), so no code here can write during a
//! test, and scripts run while file systems are read-only. *Reconciling* gets a [`Target`](crate::Target). A
//! [proof](PreparedValidation::prove) detects scripts that only pretend to test: it reconciles on an overlay, and
//! reports every script that changes something although its test succeeded.
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
//! Errors in a validation, or in the values for it, are detected before anything runs, and differ from the error for a
//! machine that fails a test.

mod arguments;
mod custom;
mod leaf;
mod overlay_proof;
mod packages;
mod prepare;
mod report;
mod run;
mod script;

pub use arguments::ArgumentValues;
pub use custom::CustomValidator;
pub use overlay_proof::{ChangedPath, ValidationProof};
pub use prepare::PreparedValidation;
pub use report::{StepOutcome, ValidationError, ValidationReport, ValidationStep};
