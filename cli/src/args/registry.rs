//! The arguments of the commands about registries and the cache.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, Subcommand};

use super::{MemberArgs, NetworkArgs, RegistryArgs};

/// One registry on the network.
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address; by default, the
    /// first one on the network, and for a package the one that its name is bound to
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

    /// Show what would be published, but send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Publish even if the registry cannot satisfy the requirements, or lacks classes that the package uses
    #[arg(long)]
    pub(crate) allow_unsatisfiable: bool,

    /// Publish even if the differences from the newest lower version require a larger version bump
    #[arg(long)]
    pub(crate) allow_incompatible: bool,
}

#[derive(Debug, Args)]
pub(crate) struct YankArgs {
    /// The package, or `NAME@VERSION`
    pub(crate) name: String,

    /// The version
    pub(crate) version: Option<String>,

    /// The reason, which the registry shows with the release; required unless `--undo`
    #[arg(
        long,
        value_name = "TEXT",
        required_unless_present = "undo",
        conflicts_with = "undo"
    )]
    pub(crate) reason: Option<String>,

    /// Undo a yank
    #[arg(long)]
    pub(crate) undo: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LockedArgs {
    /// The manifest of the project, or its folder; by default, the project in this folder
    #[arg(default_value = "manifest.yaml", hide_default_value = true)]
    pub(crate) manifest: PathBuf,

    #[command(flatten)]
    pub(crate) members: MemberArgs,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,

    /// Fail if the lockfile is out of date
    #[arg(long)]
    pub(crate) locked: bool,

    /// Use the lockfile as it is, as without any option
    #[arg(long, hide = true, conflicts_with = "locked")]
    pub(crate) frozen: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VendorArgs {
    /// The folder for the archives; created if it does not exist
    #[arg(
        default_value = "vendor",
        value_parser = PathBufValueParser::new().try_map(folder_to_write)
    )]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) locked: LockedArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The folder for `ansible_collections`, one of those in Ansible's `collections_path`; created if it does not exist
    #[arg(value_parser = PathBufValueParser::new().try_map(folder_to_write))]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) locked: LockedArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) locked: LockedArgs,

    /// Compare the collections that are installed in a folder with the locked releases
    #[arg(long, value_name = "FOLDER")]
    pub(crate) installed: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) command: CacheCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Print the folder of the cache
    Dir,
    /// List the cached registries and the number of artifacts
    List,
    /// Remove everything in the cache
    Clean,
    /// Verify the digest of every artifact, and remove damaged ones
    Verify,
    /// Forget a registry: its documents, its key and its last known state
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address
    pub(crate) registry: String,
}

/// The storage of a registry.
#[derive(Debug, Args)]
pub(crate) struct StorageArgs {
    /// The folder for the data; `pkgres serve` creates it if it does not exist, `pkgres export-static` does not
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// A PostgreSQL database, `postgres://...`, which several servers can share
    ///
    /// With `?sslmode=verify-full`, the connection uses TLS, and the server needs a certificate for its host
    /// from a CA of the system, or of the file in `sslrootcert=FILE`. `verify-ca` accepts any host,
    /// `require` any certificate. `prefer`, the default, uses TLS if the server supports it, and `disable`
    /// does not.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PKGRES_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,

    /// A bucket for archives, `s3://BUCKET[?endpoint=...&region=...]`
    ///
    /// The credentials come from `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
    /// `AWS_SESSION_TOKEN`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) blobs: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportStaticArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The folder to create; it must not exist, or must be empty
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) storage: StorageArgs,

    /// The address to listen on; with port 0, any free port, which the first line on stdout shows
    #[arg(
        long,
        alias = "bind",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8642",
        value_parser = listen_address
    )]
    pub(crate) listen: SocketAddr,

    /// Also require a token for reading
    #[arg(long)]
    pub(crate) private: bool,

    /// Create another administrator's token in `DIR/admin-token`, for example because the last one was lost
    ///
    /// It replaces the file. Other tokens stay valid: revoke those that were lost.
    #[arg(long)]
    pub(crate) new_admin_token: bool,
}

/// The address to listen on. A port alone, or with `localhost`, is one of this machine only.
fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let is_name = |(host, port): (&str, &str)| {
        host.starts_with(char::is_alphabetic) && port.parse::<u16>().is_ok()
    };
    text.parse().map_err(|_| {
        if text.rsplit_once(':').is_some_and(is_name) {
            return "an IP address is expected in front of the port, not the name of a host";
        }
        "an address and a port are expected, such as 127.0.0.1:8642 for this machine only, or 0.0.0.0:8642 for all \
         networks"
    })
}

/// The folder that a command writes into. A file in its place is probably the manifest, which comes after it.
fn folder_to_write(path: PathBuf) -> Result<PathBuf, &'static str> {
    if path.is_file() {
        Err("this is a file; name the folder to write into first, then the manifest")
    } else {
        Ok(path)
    }
}
