//! The arguments of the commands that are about packages, specs and models as such.

use std::path::PathBuf;

use clap::Args;

use super::{PolicyArgs, RegistryArgs};

#[derive(Debug, Args)]
pub(crate) struct SpecArgs {
    /// The spec, such as `>=1.2,<2`
    #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
    pub(crate) spec: Option<String>,

    /// Versions to match
    pub(crate) versions: Vec<String>,

    /// Read lines `{"spec":...,"version":...}` from stdin and write each back with its answer
    #[arg(long, conflicts_with_all = ["spec", "versions"])]
    pub(crate) batch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// The folder with the packages
    pub(crate) folder: PathBuf,

    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    /// The package folder
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The archive to write; `NAME-VERSION.zip` in this folder if it is not given
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UnpackArgs {
    /// The archive
    pub(crate) archive: PathBuf,

    /// The folder to make; it must not exist, or be empty
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Package folders, archives, manifests or class files
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,
}

// Each switch is one of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The object model, JSON or YAML; `-` is stdin
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// A lockfile whose versions are preferred
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Write nothing; check a pinned model
    #[arg(long)]
    pub(crate) check: bool,

    /// Where a pinned version is gone, take the newest of the same minor or major version
    #[arg(long, conflicts_with = "check")]
    pub(crate) fallback: bool,

    /// With `--fallback`, take an older version where there is no newer one
    #[arg(long, requires = "fallback")]
    pub(crate) allow_older: bool,

    /// Write the result to a file instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["check", "in_place"])]
    pub(crate) output: Option<PathBuf>,

    /// Write the result back to the file it was read from
    #[arg(long, conflicts_with = "check")]
    pub(crate) in_place: bool,
}
