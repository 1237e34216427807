//! The arguments of the commands about packages, specs and object models.

use std::path::PathBuf;

use clap::Args;

use super::{CertificateArgs, ConformanceArgs, PolicyArgs, RegistryArgs, ecosystem_names};

#[derive(Debug, Args)]
pub(crate) struct SpecArgs {
    /// The spec, such as `>=1.2,<2`
    #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
    pub(crate) spec: Option<String>,

    /// Versions to match against the spec
    pub(crate) versions: Vec<String>,

    #[arg(
        help = format!("The ecosystem of the spec and the versions: {}", ecosystem_names()),
        id = "spec_ecosystem",
        long = "ecosystem",
        value_name = "NAME",
        default_value = "murano"
    )]
    pub(crate) ecosystem: String,

    /// Read lines `{"spec":...,"version":...}` from stdin, and print each with its result
    #[arg(long, conflicts_with_all = ["spec", "versions"])]
    pub(crate) batch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// The folder of the packages
    pub(crate) folder: PathBuf,

    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    /// The package folder
    #[arg(default_value = ".", value_name = "FOLDER")]
    pub(crate) package: PathBuf,

    /// The archive to write; by default, `NAME-VERSION.zip` in this folder
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UnpackArgs {
    /// The archive
    pub(crate) archive: PathBuf,

    /// The folder to create; it must not exist, or must be empty
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Package folders, archives, and their files: manifests, class, interface, resources and validation files; also
    /// roots of other ecosystems, collections and NodeSet2 files
    #[arg(default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,

    /// Check all members of the workspace in the nearest pkgres.toml
    #[arg(long, conflicts_with = "paths")]
    pub(crate) workspace: bool,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// Check the members that method bodies use, against the locked versions of required packages or, without a
    /// lockfile, those of a new resolution
    #[arg(long)]
    pub(crate) members: bool,

    #[command(flatten)]
    pub(crate) conformance: ConformanceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SemverArgs {
    /// The old version: a package folder, an archive, a git revision, REVISION:FOLDER, or `[NAME]@VERSION` of a
    /// registry
    ///
    /// A revision means the package at that revision in the folder of the other side. `@newest` is the newest version
    /// in the registries that is lower than that of the other side. Collections and OPC UA models can be folders,
    /// artifacts, NodeSet2 files, or releases of a registry.
    pub(crate) old: String,

    /// The new version, in the same forms
    #[arg(default_value = ".")]
    pub(crate) new: String,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// For each major difference, write a package that is valid with the old version and invalid with the new one
    #[arg(long, value_name = "FOLDER")]
    pub(crate) witness: Option<PathBuf>,

    /// Fail if there are differences that a person has to review
    #[arg(long)]
    pub(crate) deny_review: bool,
}

// The switches are independent.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The object model, as JSON or YAML; `-` for stdin
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    #[command(flatten)]
    pub(super) certificate: CertificateArgs,

    /// A lockfile whose versions are preferred
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Check a pinned model, and write nothing
    #[arg(long)]
    pub(crate) check: bool,

    /// If a pinned version is gone, use the newest release of the same minor version, or else of the same
    /// major version
    #[arg(long, conflicts_with = "check")]
    pub(crate) fallback: bool,

    /// With `--fallback`, use an older version if there is no newer one
    #[arg(long, requires = "fallback")]
    pub(crate) allow_older: bool,

    /// Write the result to a file instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["check", "in_place"])]
    pub(crate) output: Option<PathBuf>,

    /// Write the result back to the model file
    #[arg(long, conflicts_with = "check")]
    pub(crate) in_place: bool,
}
