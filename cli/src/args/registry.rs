//! The arguments of the commands that are about registries and what is kept of them.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{NetworkArgs, RegistryArgs};

/// One registry on the network.
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address; the first one
    /// on the network if it is not given
    #[arg(long, value_name = "REGISTRY")]
    pub(crate) registry: Option<String>,

    #[command(flatten)]
    pub(super) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The package: a folder or an archive
    #[arg(default_value = ".")]
    pub(crate) package: PathBuf,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Send nothing; say what would be sent
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Publish even if the registry has nothing that meets the requirements
    #[arg(long)]
    pub(crate) allow_unsatisfiable: bool,
}

#[derive(Debug, Args)]
pub(crate) struct YankArgs {
    /// The package, or `NAME@VERSION`
    pub(crate) name: String,

    /// The version
    pub(crate) version: Option<String>,

    /// Why; the registry shows it with the release
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "undo",
        conflicts_with = "undo"
    )]
    pub(crate) reason: Option<String>,

    /// Let it be chosen again
    #[arg(long)]
    pub(crate) undo: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address
    pub(crate) registry: Option<String>,

    /// Read the token from a file instead of stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Forget the token that is kept
    #[arg(long, conflicts_with = "token_file")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(super) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LockedArgs {
    /// The manifest of the root, or its folder
    #[arg(default_value = "manifest.yaml")]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(super) registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VendorArgs {
    /// The folder for the archives, which must be there
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) locked: LockedArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print where the cache is
    Dir,
    /// List what is kept of registries, and how many artifacts there are
    List,
    /// Remove everything in the cache
    Clean,
    /// Compare every artifact with its digest, and remove those that are damaged
    Verify,
    /// Forget a registry: its documents, and what was seen of its state
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address
    pub(crate) registry: String,
}

/// Where a registry keeps its data.
#[derive(Debug, Args)]
pub(crate) struct StorageArgs {
    /// The folder for the data; made if there is none
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// A PostgreSQL database, `postgres://...`, which several servers can share
    ///
    /// With `?sslmode=verify-full` it is asked over TLS, and has to show a certificate for its host
    /// by an authority of the system, or of the file in `sslrootcert=FILE`. `verify-ca` takes any
    /// host, `require` any certificate; `prefer`, which is what happens when nothing is said, takes
    /// TLS if there is some, and `disable` does without.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PKGRES_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,

    /// A bucket for archives, `s3://BUCKET[?endpoint=...&region=...]`
    ///
    /// The credentials are taken from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
    /// `AWS_SESSION_TOKEN`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) blobs: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportStaticArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The folder to make; it must not exist, or be empty
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The address to listen on; port 0 takes any, and the first line on stdout says which
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8642")]
    pub(crate) listen: std::net::SocketAddr,

    /// Ask for a token for reading, too
    #[arg(long)]
    pub(crate) private: bool,
}
