//! The arguments about interfaces.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use pkgres_manifest::{ClassName, ConformanceStatus};

use super::{PolicyArgs, RegistryArgs};

/// How conformance is checked and reported.
#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// Check that classes have the functions of the interfaces that the manifest says they implement; the options
    /// `--facts`, `--warn`, `--allow`, `--baseline` and `--write-baseline`, and `--deny STATUS`, need this one
    #[arg(long)]
    pub(crate) interfaces: bool,

    /// A file with the facts of a platform, such as `os: Debian`, instead of those of this machine; can be repeated
    ///
    /// The name of the file is the name of the platform in reports.
    #[arg(long, value_name = "FILE", requires = "interfaces")]
    pub(crate) facts: Vec<PathBuf>,

    /// Fail if there are warnings about the packages, or if a function has this status; can be repeated
    #[arg(long, value_name = "warnings|STATUS", requires_ifs = denied_statuses(), value_parser = denied())]
    pub(crate) deny: Vec<Denied>,

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

/// What makes a check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// A warning.
    Warnings,
    /// The status of a function of an interface.
    Status(ConformanceStatus),
}

impl ConformanceArgs {
    /// Whether a check fails if there are warnings.
    pub(crate) fn denies_warnings(&self) -> bool {
        self.deny.contains(&Denied::Warnings)
    }

    /// The statuses of functions that make a check fail.
    pub(crate) fn denied_statuses(&self) -> Vec<ConformanceStatus> {
        let statuses = self.deny.iter().filter_map(|denied| match denied {
            Denied::Status(status) => Some(*status),
            Denied::Warnings => None,
        });
        statuses.collect()
    }
}

/// The violations of interfaces with which packages are deployed.
#[derive(Debug, Args)]
pub(crate) struct AcceptedViolationArgs {
    /// Deploy packages although classes of theirs have functions with this status of an interface; can be repeated
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    pub(crate) allow: Vec<ConformanceStatus>,

    /// Deploy packages with the violations of interfaces in this file, which `pkgres check --interfaces --baseline FILE
    /// --write-baseline` writes
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
}

/// The statuses whose level can be set.
fn settable_statuses() -> impl Iterator<Item = &'static str> {
    let settable = ConformanceStatus::ALL.into_iter();
    let settable = settable.filter(|status| *status != ConformanceStatus::Implemented);
    settable.map(ConformanceStatus::as_str)
}

fn statuses() -> impl TypedValueParser<Value = ConformanceStatus> {
    PossibleValuesParser::new(settable_statuses())
        .map(|word| ConformanceStatus::parse(&word).expect("only words of statuses are accepted"))
}

/// The word for all warnings among the statuses.
const WARNINGS: &str = "warnings";

fn denied() -> impl TypedValueParser<Value = Denied> {
    let words = std::iter::once(WARNINGS).chain(settable_statuses());
    PossibleValuesParser::new(words).map(|word| {
        if word == WARNINGS {
            return Denied::Warnings;
        }
        Denied::Status(
            ConformanceStatus::parse(&word).expect("only words of statuses are accepted"),
        )
    })
}

/// The denied statuses with the option that checks interfaces, which they need.
fn denied_statuses() -> impl Iterator<Item = (&'static str, &'static str)> {
    settable_statuses().map(|status| (status, "interfaces"))
}

#[derive(Debug, Args)]
pub(crate) struct InterfaceArgs {
    #[command(subcommand)]
    pub(crate) command: InterfaceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InterfaceCommand {
    /// Write an interface from a class, or from what most classes of a package have in common
    Init(Box<InterfaceInitArgs>),
    /// Show the differences between two versions of an interface, and the version bump that they require
    Diff(InterfaceDiffArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InterfaceInitArgs {
    /// A class of the package, for its functions, or the package, for the functions that at least half of its classes
    /// have
    #[arg(long, value_name = "CLASS|PACKAGE")]
    pub(crate) from: String,

    /// The package folder or archive
    #[arg(default_value = ".", value_name = "PATH")]
    pub(crate) package: PathBuf,

    /// The name of the interface; by default, the name of the class or package followed by `Interface`
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<ClassName>,

    /// Write to a file instead of stdout; it must not exist, and its folder is created
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InterfaceDiffArgs {
    /// The file of the old version
    pub(crate) old: PathBuf,

    /// The file of the new version
    pub(crate) new: PathBuf,
}
