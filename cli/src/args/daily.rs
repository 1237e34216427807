//! The arguments of the commands that are about a project and its lockfile.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
    pub(crate) registry: RegistryArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
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

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The packages that are to move; all if none is named
    pub(crate) packages: Vec<String>,

    /// The version that the package is to have
    #[arg(long, value_name = "VERSION", requires = "packages")]
    pub(crate) precise: Option<String>,

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

    /// Show who requires this package, and who requires them
    #[arg(long, short, value_name = "PACKAGE")]
    pub(crate) invert: Option<String>,

    /// How deep the tree is shown
    #[arg(long, value_name = "N")]
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
    pub(crate) registry: RegistryArgs,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
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
    /// Packages, `NAME` or `NAME@SPEC`; without a spec, what is compatible with the newest version
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

/// What a schema is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// manifest.yaml
    Manifest,
    /// Class files
    Class,
    /// pkgres.lock
    Lock,
    /// pkgres.toml and the user's settings
    Settings,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// What it is about
    #[arg(value_enum)]
    pub(crate) kind: SchemaKind,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting
    List {
        /// Show where each comes from
        #[arg(long)]
        show_origin: bool,

        /// The folder whose project's settings count
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command; the page of `pkgres` itself if none is given
    pub(crate) command: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// The page
    #[arg(value_enum)]
    pub(crate) kind: ReferenceKind,
}

/// A page of the book that is made of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceKind {
    /// Every command
    Commands,
    /// Every setting
    Settings,
    /// Every code
    Errors,
}
