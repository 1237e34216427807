//! The arguments of the commands that bring machines into order.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pkgres_engine::TargetLocation;
use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::Location;

use super::Format;
use super::interfaces::AcceptedViolationArgs;
use super::machines::SshArgs;
use super::solving::{PolicyArgs, RegistryArgs};

/// What is deployed, and where.
#[derive(Debug, Args)]
// They are independent switches.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct DeploymentArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    pub(crate) manifest: PathBuf,

    /// A machine: `local:` is this one, `rootfs:PATH` a folder with the root file system of another one, and
    /// `ssh://USER@HOST:PORT` a machine that `ssh` connects to; can be repeated
    #[arg(
        long = "target",
        value_name = "TARGET",
        required_unless_present = "inventory"
    )]
    pub(crate) targets: Vec<TargetLocation>,

    /// A file that lists machines, or a program that prints such a list
    #[arg(long, value_name = "FILE")]
    pub(crate) inventory: Option<PathBuf>,

    /// Work only on these machines of the inventory, by name; can be repeated, or a list with commas
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        requires = "inventory"
    )]
    pub(crate) limit: Vec<String>,

    /// How many machines to work on at once; with `--watch`, all of them
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) forks: u16,

    /// Start no other machine after one has failed
    #[arg(long)]
    pub(crate) fail_fast: bool,

    #[command(flatten)]
    pub(crate) ssh: SshArgs,

    /// An object model with versions, whose objects get the resources of their classes
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    /// Unpack the archive of each locked release on the machine
    #[arg(long)]
    pub(crate) artifacts: bool,

    /// The folder on the machine that keeps the earlier state of resources with `reverse`
    #[arg(long, value_name = "DIR", default_value = "/var/lib/pkgres/state", value_parser = absolute_path)]
    pub(crate) state: PathBuf,

    /// Ignore the automatic order of resources, such as a folder before its files
    #[arg(long)]
    pub(crate) no_autoedges: bool,

    /// Change each resource separately, even those that could be changed together
    #[arg(long)]
    pub(crate) no_autogroup: bool,

    /// How many resources to check or change at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: u16,

    /// Do not run the validations of the packages
    #[arg(long)]
    pub(crate) no_validate: bool,

    /// An argument for validations: `NAME=VALUE`, or `PACKAGE:NAME=VALUE` for the validation of one package; can be
    /// repeated
    #[arg(long = "arg", value_name = "[PACKAGE:]NAME=VALUE", value_parser = validation_value)]
    pub(crate) arguments: Vec<ValidationValue>,

    #[command(flatten)]
    pub(crate) violations: AcceptedViolationArgs,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

/// A value for an argument of validations.
#[derive(Debug, Clone)]
pub(crate) struct ValidationValue {
    /// The package whose validation gets it; `None` for every validation with such an argument.
    pub(crate) package: Option<PackageName>,
    pub(crate) argument: String,
    pub(crate) value: String,
    /// Its place in an inventory; `None` if it is an argument of the command line.
    pub(crate) location: Option<Location>,
}

/// Reads a path of a machine, where no folder is the current one.
fn absolute_path(text: &str) -> Result<PathBuf, String> {
    if text.starts_with('/') {
        Ok(PathBuf::from(text))
    } else {
        Err("it is a folder on the machine, and must be an absolute path".to_owned())
    }
}

/// Reads the value of an argument of a validation.
pub(crate) fn validation_value(text: &str) -> Result<ValidationValue, String> {
    let expected = "[PACKAGE:]NAME=VALUE is expected";
    let (name, value) = text.split_once('=').ok_or(expected)?;
    let (package, argument) = match name.split_once(':') {
        Some((package, argument)) => {
            let package = PackageName::parse(package).map_err(|error| error.to_string())?;
            (Some(package), argument)
        }
        None => (None, name),
    };
    Ok(ValidationValue {
        package,
        argument: argument.to_owned(),
        value: value.to_owned(),
        location: None,
    })
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) deployment: DeploymentArgs,

    /// End with 10 if something would change
    #[arg(long)]
    pub(crate) exit_code: bool,

    /// Make the changes on an overlay, so that the machine stays as it is, and show which files would change
    #[arg(long)]
    pub(crate) diff: bool,

    /// Draw the resources and their order; the same as `--format FORMAT`
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["diff", "exit_code"])]
    pub(crate) graph: Option<GraphFormat>,
}

/// A format for graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A graph in the DOT language of Graphviz
    Dot,
    /// A Mermaid graph for Markdown
    Mermaid,
    /// A picture of up to 500 nodes
    Svg,
    /// The same picture as pixels
    Png,
}

impl From<GraphFormat> for Format {
    fn from(format: GraphFormat) -> Self {
        match format {
            GraphFormat::Dot => Self::Dot,
            GraphFormat::Mermaid => Self::Mermaid,
            GraphFormat::Svg => Self::Svg,
            GraphFormat::Png => Self::Png,
        }
    }
}

#[derive(Debug, Args)]
// They are independent switches.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) deployment: DeploymentArgs,

    /// Check everything, and change nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) noop: bool,

    /// With `--noop`, end with 10 if something would change
    #[arg(long, requires = "noop")]
    pub(crate) exit_code: bool,

    /// Let validations set up what is missing before the changes, instead of only testing
    #[arg(long, conflicts_with_all = ["noop", "no_validate"])]
    pub(crate) reconcile: bool,

    /// Keep watching the machine, and restore what changes
    #[arg(long)]
    pub(crate) watch: bool,

    /// Write metrics for Prometheus to this file whenever they change; the textfile collector of the node exporter
    /// reads only files whose names end with `.prom`
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,

    /// The number of seconds without any event after which the machine counts as up to date
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) converged_timeout: u64,

    /// With `--watch`, end once the machine is up to date, or nothing else can be done
    #[arg(long, requires = "watch")]
    pub(crate) converged_exit: bool,

    /// The number of seconds to wait for another run on the machine; by default, there is no limit
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lock_timeout: Option<u64>,

    /// End after this many seconds: commands that still run are asked to end, and killed ten seconds later
    #[arg(long, value_name = "SECONDS")]
    pub(crate) max_runtime: Option<u64>,
}
