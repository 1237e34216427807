//! The arguments of the commands that are about a project and its lockfile.

use std::path::PathBuf;

use clap::Args;

use super::{PolicyArgs, RegistryArgs, SolveArgs};

/// A project that is named by an option, because the arguments are something else.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectArgs {
    /// The manifest of the root, or its folder
    #[arg(
        long = "manifest-path",
        value_name = "PATH",
        default_value = "manifest.yaml"
    )]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

/// How far the lockfile is binding, for commands that are there to change it.
#[derive(Debug, Clone, Args)]
pub(crate) struct WriteArgs {
    /// Say what would change, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Refuse to change the lockfile
    #[arg(long, hide = true)]
    pub(crate) locked: bool,

    /// Likewise
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct UpdateArgs {
    /// The packages that are to move; all if none is named
    ///
    /// Of a package that is locked side by side, `NAME@VERSION` moves one release.
    #[arg(value_name = "PACKAGE[@VERSION]")]
    pub(crate) packages: Vec<String>,

    /// The version that the package is to have
    #[arg(long, value_name = "VERSION", requires = "packages")]
    pub(crate) precise: Option<String>,

    /// Update the members of the workspace that the nearest pkgres.toml names
    #[arg(long, conflicts_with = "manifest")]
    pub(crate) workspace: bool,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutdatedArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// End with exit code 10 if anything is out of date
    #[arg(long)]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A lockfile, a folder with one, or a git revision
    #[arg(default_value = "HEAD")]
    pub(crate) before: String,

    /// What it is compared with: the lockfile in this folder if nothing is given
    pub(crate) after: Option<String>,

    /// End with exit code 10 if there are differences
    #[arg(long)]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// Show who requires this package, or this release of it, and who requires them
    #[arg(long, short, value_name = "PACKAGE[@VERSION]")]
    pub(crate) invert: Option<String>,

    /// How deep the tree is shown
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) depth: Option<usize>,

    /// Show who requires packages that have several releases
    #[arg(long, short, conflicts_with = "invert")]
    pub(crate) duplicates: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// Show which class inherits from which, too
    #[arg(long)]
    pub(crate) classes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An error code such as PK0012, or the manifest of the root or its folder
    #[arg(default_value = "manifest.yaml")]
    pub(crate) subject: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder of the package, which is made if it is not there
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The package's full name; made of the folder's name if it is not given
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// A library instead of an application
    #[arg(long)]
    pub(crate) library: bool,

    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Packages, `NAME` or `NAME@SPEC`; without a spec, what is compatible with the newest version, or what
    /// is required already
    #[arg(required = true, value_name = "PACKAGE[@SPEC]")]
    pub(crate) packages: Vec<String>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) write: WriteArgs,

    /// Leave the lockfile alone
    #[arg(long)]
    pub(crate) no_lock: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Packages
    #[arg(required = true, value_name = "PACKAGE")]
    pub(crate) packages: Vec<String>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) write: WriteArgs,

    /// Leave the lockfile alone
    #[arg(long)]
    pub(crate) no_lock: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// Print this object model with the versions written into it, instead of the resolution
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
}

// Each switch is one of its own.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// The manifest of the root, or its folder; several are locked beside each other
    #[arg(default_value = "manifest.yaml")]
    pub(crate) manifest: Vec<PathBuf>,

    /// Lock the members of the workspace that the nearest pkgres.toml names
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Solve all manifests together, so that they agree on versions
    #[arg(long)]
    pub(crate) one_solve: bool,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// Write nothing; fail if the lockfile is out of date
    #[arg(long)]
    pub(crate) check: bool,

    /// The same as `--check`
    #[arg(long, conflicts_with_all = ["ignore_lock", "accept_changed"])]
    pub(crate) locked: bool,

    /// Take the lockfile as it is, which leaves nothing to do
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,

    /// Say what would change, and write nothing
    #[arg(long, conflicts_with_all = ["check", "locked"])]
    pub(crate) dry_run: bool,

    /// Start afresh instead of keeping the versions that are locked
    #[arg(long, conflicts_with = "check")]
    pub(crate) ignore_lock: bool,

    /// Take releases whose content is not what was locked
    #[arg(long, conflicts_with = "check")]
    pub(crate) accept_changed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The package, or one release of it
    #[arg(value_name = "PACKAGE[@VERSION]")]
    pub(crate) package: String,

    #[command(flatten)]
    pub(crate) solve: SolveArgs,
}
