//! `pkgres cache`

use clap::{Args, Subcommand};
use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::HttpRegistry;
use pkgres_registry_client::http::{ArtifactCache, cached_registries};
use serde_json::json;

use crate::args::NetworkArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::network;
use crate::output::Output;
use crate::registries::cache_folder;
use crate::show::counted;

/// The folders that a cache is made of. Nothing else in it is touched.
const PARTS: [&str; 5] = ["artifacts", "checked", "compiled", "registries", "stamps"];

#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
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
struct ForgetArgs {
    /// The registry: its name in pkgres.toml or `PKGRES_REGISTRY`, or its address
    registry: String,
}

pub(crate) fn run(args: &CacheArgs, output: &mut Output) -> Result<Exit> {
    let folder = cache_folder(false)
        .ok_or_else(|| Failure::usage("there is no place for a cache: set PKGRES_CACHE or HOME"))?;
    let artifacts = ArtifactCache::new(&folder);
    let limit = Limits::default().archive_bytes;
    match &args.action {
        Action::Dir => {
            let shown = folder.to_string_lossy();
            if output.is_json() {
                output.json(&json!({"schema_version": 1, "folder": shown}));
            } else {
                output.data(&format!("{shown}\n"));
            }
        }
        Action::List => {
            let registries = cached_registries(&folder);
            let report = artifacts.verify(limit);
            if output.is_json() {
                let registries: Vec<_> = registries
                    .iter()
                    .map(|(address, documents, bytes)| {
                        json!({"address": address, "documents": documents, "bytes": bytes})
                    })
                    .collect();
                output.json(&json!({
                    "schema_version": 1,
                    "registries": registries,
                    "artifacts": report.artifacts,
                    "artifact_bytes": report.bytes,
                }));
                return Ok(Exit::Done);
            }
            for (address, documents, bytes) in &registries {
                let documents = counted(*documents, "package");
                let address = Escaped::new(address);
                output.data(&format!("{address}  {documents}, {bytes} bytes\n"));
            }
            let count = counted(report.artifacts, "artifact");
            output.data(&format!("{count}, {} bytes\n", report.bytes));
        }
        Action::Clean => {
            for part in PARTS {
                let path = folder.join(part);
                if RealFileSystem.kind(&path).ok().flatten().is_some() {
                    artifacts.remove(&path)?;
                }
            }
            output.note(&format!("Removed what was in {}", folder.to_string_lossy()));
        }
        Action::Verify => {
            let report = artifacts.verify(limit);
            for path in &report.damaged {
                artifacts.remove(path)?;
            }
            output.note(&format!(
                "Checked {}",
                counted(report.artifacts, "artifact")
            ));
            if !report.damaged.is_empty() {
                let findings = report.damaged.iter().map(|path| {
                    let path = path.to_string_lossy();
                    let message = format!("{path}: damaged, and removed");
                    Diagnostic::error(Code::Digest, message)
                });
                return Err(Failure {
                    findings: findings.collect(),
                    exit: Exit::Integrity,
                });
            }
        }
        Action::Forget(args) => forget(&args.registry, output)?,
    }
    Ok(Exit::Done)
}

fn forget(registry: &str, output: &mut Output) -> Result<()> {
    let place = network::place(Some(registry))?;
    let address = place.location.address().expect("it is on the network");
    let network = NetworkArgs {
        offline: true,
        ca_files: Vec::new(),
        allow_http: false,
    };
    let options = network::options(&network, &place, cache_folder(false))?;
    output.note(&if HttpRegistry::forget(address, &options) {
        format!("Forgot {address}")
    } else {
        format!("Nothing is known of {address}")
    });
    Ok(())
}
