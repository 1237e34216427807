//! The arguments about interfaces.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use pkgres_manifest::ConformanceStatus;

/// How conformance is checked and reported.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// Check that classes have the functions of the interfaces that the manifest says they implement
    #[arg(long)]
    pub(crate) interfaces: bool,

    /// A file with the facts of a platform, such as `os: Debian`; can be repeated. By default, this machine
    ///
    /// The name of the file is the name of the platform in reports.
    #[arg(long, value_name = "FILE", requires = "interfaces")]
    pub(crate) facts: Vec<PathBuf>,

    /// Fail if a function has this status; can be repeated
    #[arg(long, value_name = "STATUS", requires = "interfaces", value_parser = statuses())]
    pub(crate) deny: Vec<ConformanceStatus>,

    /// Warn if a function has this status; can be repeated
    #[arg(long, value_name = "STATUS", requires = "interfaces", value_parser = statuses())]
    pub(crate) warn: Vec<ConformanceStatus>,

    /// Do not report functions with this status; can be repeated
    #[arg(long, value_name = "STATUS", requires = "interfaces", value_parser = statuses())]
    pub(crate) allow: Vec<ConformanceStatus>,

    /// A file of known violations, which are not reported
    #[arg(long, value_name = "FILE", requires = "interfaces")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all violations into the file of `--baseline`
    #[arg(long, requires = "baseline")]
    pub(crate) write_baseline: bool,
}

/// The statuses whose level can be set.
fn statuses() -> impl TypedValueParser<Value = ConformanceStatus> {
    let settable = ConformanceStatus::ALL.into_iter();
    let settable = settable.filter(|status| *status != ConformanceStatus::Implemented);
    PossibleValuesParser::new(settable.map(ConformanceStatus::as_str))
        .map(|word| ConformanceStatus::parse(&word).expect("only words of statuses are accepted"))
}
