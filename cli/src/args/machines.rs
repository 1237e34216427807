//! The arguments of the commands that look at machines.

use std::path::PathBuf;

use clap::Args;
use pkgres_engine::{SshOptions, TargetLocation};
use pkgres_manifest::ClassName;

use super::project::ProjectArgs;

/// How machines are reached by ssh.
#[derive(Debug, Args)]
pub(crate) struct SshArgs {
    /// The configuration file for `ssh`, instead of those of the user and the system
    #[arg(long, value_name = "FILE")]
    ssh_config: Option<PathBuf>,
}

impl SshArgs {
    /// How the engine reaches machines by ssh.
    pub(crate) fn options(&self) -> SshOptions {
        match &self.ssh_config {
            Some(file) => SshOptions::default().config(file),
            None => SshOptions::default(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The package folder or archive, or a validation file
    pub(crate) package: PathBuf,

    /// The machine: `local:` is this one, `rootfs:PATH` a folder with the root file system of another one, and
    /// `ssh://USER@HOST:PORT` a machine that `ssh` connects to
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: TargetLocation,

    #[command(flatten)]
    pub(crate) ssh: SshArgs,

    /// Set up what is missing, instead of only testing
    #[arg(long)]
    pub(crate) reconcile: bool,

    /// An argument for the validation; can be repeated
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) arguments: Vec<(String, String)>,

    /// Also reconcile on an overlay of the machine, list what would change, and fail if a test passed although
    /// something had to change
    #[arg(long, conflicts_with = "reconcile")]
    pub(crate) prove: bool,

    /// The longest time in seconds that a script or an installation may run
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// The machine: `local:` is this one, `rootfs:PATH` a folder with the root file system of another one, and
    /// `ssh://USER@HOST:PORT` a machine that `ssh` connects to
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: TargetLocation,

    #[command(flatten)]
    pub(crate) ssh: SshArgs,

    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A call of a function of a class.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The class, of the project or of a locked package
    pub(crate) class: ClassName,

    /// The function: a method of the class or of one that it extends
    pub(crate) function: String,

    /// The arguments of the function
    #[arg(value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) arguments: Vec<(String, String)>,

    /// The machine: `local:` is this one, `rootfs:PATH` a folder with the root file system of another one, and
    /// `ssh://USER@HOST:PORT` a machine that `ssh` connects to
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: TargetLocation,

    #[command(flatten)]
    pub(crate) ssh: SshArgs,

    /// An object model with versions; the function gets the properties of the object that has the class
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,

    /// The id of the object, if several objects of the model have the class
    #[arg(long, value_name = "ID", requires = "model")]
    pub(crate) object: Option<String>,

    /// Run the function while the file systems of the machine are read-only
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Fail if the function returns what its interface does not allow, instead of warning
    #[arg(long)]
    pub(crate) strict: bool,

    /// The longest time in seconds that the function may run
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is expected")?;
    Ok((name.to_owned(), value.to_owned()))
}
