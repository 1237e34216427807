//! The arguments of the commands about a project and its lockfile.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{CertificateArgs, CoreArgs, PolicyArgs, RegistryArgs, SolveArgs};

/// A project that is an option, because the arguments of the command are packages.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder
    #[arg(
        long = "manifest-path",
        value_name = "PATH",
        default_value = "manifest.yaml",
        hide_default_value = true
    )]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,
}

/// The members of a workspace that are the projects of a command.
#[derive(Debug, Clone, Args)]
pub(crate) struct MemberArgs {
    /// A member of the workspace: the name of its package, or its folder; can be repeated
    #[arg(
        long = "package",
        short = 'p',
        value_name = "MEMBER",
        conflicts_with = "manifest"
    )]
    pub(crate) members: Vec<String>,

    /// All members of the workspace in the nearest pkgres.toml
    #[arg(long, conflicts_with_all = ["manifest", "members"])]
    pub(crate) workspace: bool,
}

/// The write modes of commands that change lockfiles.
#[derive(Debug, Clone, Args)]
pub(crate) struct WriteArgs {
    /// Show what would change, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Fail: the lockfile must not change
    #[arg(long, hide = true)]
    pub(crate) locked: bool,

    /// Fail: the lockfile must not change
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct UpdateArgs {
    /// The packages to update; without any, all packages
    ///
    /// If several releases of a package are locked, `NAME@VERSION` updates one of them.
    #[arg(value_name = "PACKAGE[@VERSION]")]
    pub(crate) packages: Vec<String>,

    /// Update the package to exactly this version
    #[arg(long, value_name = "VERSION", requires = "packages")]
    pub(crate) precise: Option<String>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) members: MemberArgs,

    #[command(flatten)]
    pub(crate) write: WriteArgs,

    #[command(flatten)]
    pub(super) certificate: CertificateArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutdatedArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    #[command(flatten)]
    pub(crate) members: MemberArgs,

    /// Exit with code 10 if a package is outdated
    #[arg(long)]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A lockfile, a project, a git revision, or REVISION:PATH
    ///
    /// A revision means the lockfile of the same project at that revision.
    #[arg(default_value = "HEAD")]
    pub(crate) before: String,

    /// What to compare it with; by default, the lockfile in this folder, or all lockfiles below the root of a repository
    pub(crate) after: Option<String>,

    /// Exit with code 10 if there are differences
    #[arg(long)]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    #[command(flatten)]
    pub(crate) members: MemberArgs,

    /// Show what requires this package or release, directly and indirectly
    #[arg(long, short, value_name = "PACKAGE[@VERSION]")]
    pub(crate) invert: Option<String>,

    /// Show only this many levels of the tree
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) depth: Option<usize>,

    /// Show what requires each package that has several releases
    #[arg(long, short, conflicts_with = "invert")]
    pub(crate) duplicates: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    /// Also show the inheritance of classes
    #[arg(long)]
    pub(crate) classes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// An error code such as PK0012, a rule of compatibility such as class-removed, the manifest of the project, or its
    /// folder; by default, the project in this folder
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    pub(crate) subject: PathBuf,

    /// List all codes and rules, each with its title
    #[arg(long, conflicts_with = "subject")]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    #[command(flatten)]
    pub(super) certificate: CertificateArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    manifest: PathBuf,

    /// The manifest as an option, as for `add` and `update`
    #[arg(long, value_name = "PATH", conflicts_with = "manifest")]
    manifest_path: Option<PathBuf>,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    /// Make the changes with this number in the list, and write the lockfile
    #[arg(long, value_name = "N", value_parser = number_of_list)]
    pub(crate) apply: Option<usize>,

    /// Repair the conflict of an update of this package instead
    ///
    /// If several releases of a package are locked, `NAME@VERSION` names one of them.
    #[arg(long, value_name = "PACKAGE[@VERSION]", requires = "precise")]
    pub(crate) update: Vec<String>,

    /// The version to which `--update` updates the package
    #[arg(long, value_name = "VERSION", requires = "update")]
    pub(crate) precise: Option<String>,

    /// List all cheapest ways, not only the first five
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

impl RepairArgs {
    /// The manifest of the project, or its folder.
    pub(crate) fn manifest(&self) -> &Path {
        self.manifest_path.as_ref().unwrap_or(&self.manifest)
    }
}

/// A number of a printed list.
fn number_of_list(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "a number of the list is expected, such as 1".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder of the package; created if it does not exist
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,

    /// The full name of the package; by default, `org.example.` and the name of the folder
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// What to create
    #[arg(long, value_enum, default_value_t = Template::Application)]
    pub(crate) template: Template,

    /// The same as `--template library`
    #[arg(long, conflicts_with = "template")]
    pub(crate) library: bool,

    #[command(flatten)]
    pub(super) core: CoreArgs,

    /// Show what would be written, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What `init` creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// An application, which can be deployed
    Application,
    /// A library of classes for other packages
    Library,
    /// A library that uses a class of a plug-in of the deployment engine
    Plugin,
}

/// The arguments of the commands that edit the requirements of one project.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// The member of the workspace whose requirements change: the name of its package, or its folder
    #[arg(
        long = "package",
        short = 'p',
        value_name = "MEMBER",
        conflicts_with = "manifest"
    )]
    pub(crate) member: Option<String>,

    #[command(flatten)]
    pub(crate) write: WriteArgs,

    /// Do not write the lockfile
    #[arg(long)]
    pub(crate) no_lock: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The packages to require; without a spec, an existing requirement stays, and a new one allows the
    /// versions compatible with the newest
    #[arg(required = true, value_name = "PACKAGE[@SPEC]")]
    pub(crate) packages: Vec<String>,

    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The packages to remove
    #[arg(required = true, value_name = "PACKAGE")]
    pub(crate) packages: Vec<String>,

    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    #[command(flatten)]
    pub(crate) members: MemberArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    pub(crate) solve: SolveArgs,

    #[command(flatten)]
    pub(crate) members: MemberArgs,

    /// Print this object model, pinned to the resolution, instead of the tree
    #[arg(long, value_name = "FILE", conflicts_with_all = ["members", "workspace"])]
    pub(crate) model: Option<PathBuf>,

    #[command(flatten)]
    pub(super) certificate: CertificateArgs,
}

// The switches are independent.
#[expect(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Args)]
pub(crate) struct LockArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder; several projects get a
    /// lockfile each
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    pub(crate) manifest: Vec<PathBuf>,

    /// Lock the members of the workspace in the nearest pkgres.toml
    #[arg(long)]
    pub(crate) workspace: bool,

    /// Solve all projects together, so that they agree on versions
    #[arg(long)]
    pub(crate) one_solve: bool,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,

    #[command(flatten)]
    pub(super) policy: PolicyArgs,

    #[command(flatten)]
    pub(super) certificate: CertificateArgs,

    /// Check that the lockfile is up to date, and write nothing
    #[arg(long)]
    pub(crate) check: bool,

    /// The same as `--check`
    #[arg(long, conflicts_with_all = ["ignore_lock", "accept_changed"])]
    pub(crate) locked: bool,

    /// Fail: the lockfile must not change
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,

    /// Show what would change, but write nothing
    #[arg(long, conflicts_with_all = ["check", "locked"])]
    pub(crate) dry_run: bool,

    /// Choose all versions again instead of keeping the locked ones
    #[arg(long, conflicts_with = "check")]
    pub(crate) ignore_lock: bool,

    /// Accept releases whose content differs from the locked digest
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

    #[command(flatten)]
    pub(crate) members: MemberArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyCertificateArgs {
    /// The folder with `claims.json` and the files of the certificates
    pub(crate) folder: PathBuf,
}
