//! What the commands take that solve: registries, and how versions are chosen.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where releases come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegistryArgs {
    /// A registry, `[NAME=]dir:FOLDER`, `index:FILE` or `https://ADDRESS`; the first that has a
    /// package wins
    ///
    /// Without it: the variable `PKGRES_REGISTRY` (several are separated by commas), then
    /// `registries` in the nearest pkgres.toml, then the folder that contains the package folder.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<String>,

    /// A file of index records that the host supplies, such as plug-ins; in place of `provide` in
    /// pkgres.toml
    #[arg(long = "provide", value_name = "FILE")]
    pub(crate) provided: Vec<PathBuf>,

    /// Read index files themselves, and keep nothing of them
    ///
    /// Otherwise what is worked out about them is kept for later runs in the folder that the
    /// variable `PKGRES_CACHE` names, or `pkgres` in the user's folder of caches.
    #[arg(long)]
    pub(crate) no_cache: bool,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// The core library, which every package requires
    #[arg(long, value_name = "NAME", default_value = "io.murano")]
    pub(crate) core_library: String,

    /// There is no core library
    #[arg(long, conflicts_with = "core_library")]
    pub(crate) no_core_library: bool,
}

/// How registries on the network are asked.
#[derive(Debug, Clone, Args)]
pub(crate) struct NetworkArgs {
    /// Ask no registry on the network; what is in the cache has to do
    #[arg(long)]
    pub(crate) offline: bool,

    /// Certificates of authorities to believe besides those of the system, as PEM
    #[arg(long = "ca-file", value_name = "FILE")]
    pub(crate) ca_files: Vec<PathBuf>,

    /// Let registries be asked without encryption; on this machine they always may
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// How versions are chosen.
#[derive(Debug, Clone, Args)]
pub(crate) struct SolveArgs {
    /// The manifest of the root, or its folder
    #[arg(default_value = "manifest.yaml")]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// Do not look at the lockfile beside the manifest
    #[arg(long)]
    pub(crate) ignore_lock: bool,

    #[command(flatten)]
    pub(crate) mode: ModeArgs,
}

/// How far the lockfile is binding.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModeArgs {
    /// Fail if the lockfile is missing or out of date
    #[arg(long, conflicts_with = "ignore_lock")]
    pub(crate) locked: bool,

    /// Take the lockfile as it is: read no class files and no registries
    #[arg(long, conflicts_with_all = ["locked", "ignore_lock"])]
    pub(crate) frozen: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyArgs {
    /// Whether prereleases are taken
    #[arg(long, value_enum, default_value_t = Prerelease::IfNecessary)]
    pub(crate) prerelease: Prerelease,

    /// Which versions are better
    #[arg(long, value_enum, default_value_t = Prefer::Newest)]
    pub(crate) prefer: Prefer,

    /// Leave out releases that were published after a date, or less than a duration ago
    ///
    /// A date such as `2026-06-01` includes that day, in UTC; a time such as `2026-06-01T12:00:00Z`
    /// is meant to the second; a duration is written `7 days`, `2w` or `P7D`. Releases without a
    /// date of publication, such as those in folders, stay, and so does what is locked.
    #[arg(long, value_name = "DATE|DURATION")]
    pub(crate) exclude_newer: Option<String>,

    /// Never choose several releases of a package
    #[arg(long)]
    pub(crate) single_version: bool,

    /// Give up after this many steps
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000_000,
        allow_negative_numbers = true
    )]
    pub(crate) max_steps: u64,

    /// Which engine searches; both find valid resolutions, and the best one where that is easy
    #[arg(long, value_enum, default_value_t = Solver::Native)]
    pub(crate) solver: Solver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Solver {
    /// The engine of our own
    Native,
    /// The `pubgrub` crate, for comparison
    Pubgrub,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prefer {
    /// Newer ones
    Newest,
    /// Older ones, to try out whether a package works with what it says
    Oldest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prerelease {
    /// Only where no stable version fits, or where a requirement names one
    IfNecessary,
    /// Like any other version
    Allow,
    /// Not unless the lockfile holds it
    Never,
}
