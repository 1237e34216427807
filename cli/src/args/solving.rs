//! The arguments of the commands that solve: registries and version policies.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pkgres_manifest::CLASS_PACKAGES;
use pkgres_manifest::diagnostic::sentence_list;
use pkgres_resolver::SolveOptions;

/// The sources of releases.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegistryArgs {
    /// A registry: `[NAME=]dir:FOLDER`, `index:FILE`, `https://ADDRESS` or `galaxy:https://ADDRESS`, or the name of one
    /// in the settings; can be repeated, and a package comes from the first one that has it
    ///
    /// Without this option, pkgres uses the first of these: the variable `PKGRES_REGISTRY` (a list separated by
    /// commas), `registries` in the nearest pkgres.toml or in the user's settings, and the folder that contains the
    /// package folder.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<String>,

    #[arg(
        long = "provide",
        value_name = "FILE",
        help = format!(
            "A file with the index records of the releases built into the host, such as plug-ins; a NodeSet file; or {}; \
             replaces `provide` in pkgres.toml",
            named_hosts()
        )
    )]
    pub(crate) provided: Vec<PathBuf>,

    /// Do not use the cache
    ///
    /// The cache keeps compiled indexes, artifacts and documents of registries for later runs. It is the
    /// folder in the variable `PKGRES_CACHE`, or `pkgres` in the user's cache folder.
    #[arg(long)]
    pub(crate) no_cache: bool,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    #[command(flatten)]
    pub(crate) core: CoreArgs,
}

/// The core library.
#[derive(Debug, Clone, Args)]
pub(crate) struct CoreArgs {
    /// The core library, which every package requires
    ///
    /// If neither a registry nor the host has `io.murano`, a release that is built into pkgres is used.
    #[arg(long, value_name = "NAME", default_value = "io.murano")]
    pub(crate) core_library: String,

    /// Resolve without a core library
    #[arg(long, conflicts_with = "core_library")]
    pub(crate) no_core_library: bool,
}

/// The options for registries on the network.
#[derive(Debug, Clone, Args)]
pub(crate) struct NetworkArgs {
    /// Use the cache instead of the network
    #[arg(long)]
    pub(crate) offline: bool,

    /// A PEM file of CA certificates to trust in addition to those of the system
    #[arg(long = "ca-file", value_name = "FILE")]
    pub(crate) ca_files: Vec<PathBuf>,

    /// Allow unencrypted HTTP to other machines; to this machine, it is always allowed
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// A project, and the options for solving it.
#[derive(Debug, Clone, Args)]
pub(crate) struct SolveArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// Ignore the lockfile
    #[arg(long)]
    pub(crate) ignore_lock: bool,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,
}

/// The lock modes.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModeArgs {
    /// Fail if the lockfile is missing or out of date
    #[arg(long, conflicts_with = "ignore_lock")]
    pub(crate) locked: bool,

    /// Use the lockfile as it is, without reading class files or registries
    #[arg(long, conflicts_with_all = ["locked", "ignore_lock"])]
    pub(crate) frozen: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyArgs {
    /// Whether prereleases can be chosen
    #[arg(long, value_enum, default_value_t = Prerelease::IfNecessary)]
    pub(crate) prerelease: Prerelease,

    /// Which versions are preferred
    #[arg(long, value_enum, default_value_t = Prefer::Newest)]
    pub(crate) prefer: Prefer,

    /// Exclude releases published after a date, or less than a duration ago
    ///
    /// A date such as `2026-06-01` includes that day, in UTC. A time such as `2026-06-01T12:00:00Z` is
    /// exact. A duration is written `7 days`, `2w` or `P7D`. Releases without a publication date, such
    /// as those in folders, and locked releases are never excluded.
    #[arg(long, value_name = "DATE|DURATION")]
    pub(crate) exclude_newer: Option<String>,

    /// Never choose several releases of a package
    #[arg(long)]
    pub(crate) single_version: bool,

    /// Choose versions without looking at classes
    #[arg(long)]
    pub(crate) ignore_classes: bool,

    /// Exclude versions that lack a used class, not only those that lack an extended one
    #[arg(long, conflicts_with = "ignore_classes")]
    pub(crate) strict_uses: bool,

    #[arg(
        long,
        value_name = "NAME",
        help = "The ecosystem of the root",
        long_help = format!(
            "The ecosystem of the root\n\n{}. By default, it is recognized from the file.",
            ecosystem_names()
        )
    )]
    pub(crate) ecosystem: Option<String>,

    /// Give up after this many steps
    #[arg(
        long,
        value_name = "N",
        default_value_t = SolveOptions::DEFAULT_MAX_STEPS,
        allow_negative_numbers = true
    )]
    pub(crate) max_steps: u64,

    /// The solver; both find valid resolutions, but not always the same one
    #[arg(long, value_enum, default_value_t = Solver::Native)]
    pub(crate) solver: Solver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    /// The solver of pkgres
    Native,
    /// The `pubgrub` crate, for comparison
    Pubgrub,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// Newer versions
    Newest,
    /// Older versions, to test the lower bounds of requirements
    Oldest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prerelease {
    /// Only if no stable version fits, or if a requirement names one
    IfNecessary,
    /// Like any other version
    Allow,
    /// Only if the lockfile has them
    Never,
}

/// The certificate of the verdict.
#[derive(Debug, Clone, Args)]
pub(crate) struct CertificateArgs {
    /// Write a proof of the result into a folder
    ///
    /// The folder gets a problem, a description and a proof for each claim. `pkgres verify-certificate` and `veripb`
    /// check them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) certificate: Option<PathBuf>,
}

/// The ids of all ecosystems, as a part of a sentence.
pub(super) fn ecosystem_names() -> String {
    let ids = pkgres_formats::ALL.iter().map(|format| {
        let ecosystem = format.ecosystem();
        let id = ecosystem.id();
        if ecosystem == CLASS_PACKAGES {
            format!("`{id}` (class packages)")
        } else {
            format!("`{id}`")
        }
    });
    sentence_list(ids, "or")
}

/// How the versions of packages that hosts provide are stated.
fn named_hosts() -> String {
    let hosts = pkgres_formats::ALL
        .iter()
        .filter_map(|format| format.rules().host);
    sentence_list(hosts.map(|host| format!("`{host}=VERSION`")), "or")
}
