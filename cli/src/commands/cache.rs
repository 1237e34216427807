//! `pkgres cache`

use std::path::{Path, PathBuf};

use pkgres_files::{FileSystem as _, RealFileSystem};
use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::HttpRegistry;
use pkgres_registry_client::http::{ArtifactCache, cached_registries};
use serde_json::json;

use crate::args::{CacheArgs, CacheCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::registries::RemoteRegistry;
use crate::show::counted;

/// The folders of a cache. `cache clean` removes nothing else.
const PARTS: [&str; 5] = ["artifacts", "checked", "compiled", "registries", "stamps"];

pub(super) fn run(args: &CacheArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let folder = context
        .registries
        .cache_folder()
        .ok_or_else(|| Failure::usage("there is no cache folder: set PKGRES_CACHE or HOME"))?;
    match &args.command {
        CacheCommand::Dir => show_folder(folder, output),
        CacheCommand::List => list(folder, output),
        CacheCommand::Clean => clean(folder, output)?,
        CacheCommand::Verify => verify(folder, output)?,
        CacheCommand::Forget(args) => forget(&args.registry, context, output)?,
    }
    Ok(Exit::Done)
}

fn show_folder(folder: &Path, output: &mut Output) {
    let shown = folder.to_string_lossy();
    if output.is_json() {
        output.json(&json!({"schema_version": 1, "folder": shown}));
    } else {
        output.data(&format!("{shown}\n"));
    }
}

fn list(folder: &Path, output: &mut Output) {
    let registries = cached_registries(folder);
    let (artifacts, artifact_bytes) = ArtifactCache::new(folder).count();
    if output.is_json() {
        let registries: Vec<_> = registries
            .iter()
            .map(|registry| {
                json!({
                    "address": registry.address,
                    "documents": registry.documents,
                    "bytes": registry.bytes,
                })
            })
            .collect();
        output.json(&json!({
            "schema_version": 1,
            "registries": registries,
            "artifacts": artifacts,
            "artifact_bytes": artifact_bytes,
        }));
        return;
    }
    for registry in &registries {
        let documents = counted(registry.documents, "package");
        let address = Escaped::new(&registry.address);
        let bytes = registry.bytes;
        output.data(&format!("{address}  {documents}, {bytes} bytes\n"));
    }
    let count = counted(artifacts, "artifact");
    output.data(&format!("{count}, {artifact_bytes} bytes\n"));
}

fn clean(folder: &Path, output: &mut Output) -> Result<()> {
    let artifacts = ArtifactCache::new(folder);
    let paths = PARTS.map(|part| folder.join(part));
    let exists = |path: &&PathBuf| RealFileSystem.kind(path).ok().flatten().is_some();
    let found: Vec<_> = paths.iter().filter(exists).collect();
    for path in &found {
        artifacts.remove(path)?;
    }
    let shown = folder.to_string_lossy();
    if output.is_json() {
        output.json(&json!({"schema_version": 1, "status": "cleaned", "folder": shown}));
    }
    output.note(&if found.is_empty() {
        format!("There is nothing to remove in {shown}")
    } else {
        format!("Removed the content of {shown}")
    });
    Ok(())
}

/// Compares each artifact with its digest, and removes the damaged ones.
fn verify(folder: &Path, output: &mut Output) -> Result<()> {
    let artifacts = ArtifactCache::new(folder);
    let report = artifacts.verify(Limits::default().archive_bytes);
    for path in &report.damaged {
        artifacts.remove(path)?;
    }
    let checked = report.artifacts;
    output.note(&format!("Checked {}", counted(checked, "artifact")));
    if !report.damaged.is_empty() {
        let findings = report.damaged.iter().map(|path| {
            let message = format!("{}: damaged; removed", Escaped::path(&path));
            Diagnostic::error(Code::Digest, message)
                .hint("`pkgres fetch MANIFEST` fetches the locked releases of a project again")
        });
        return Err(Failure {
            findings: findings.collect(),
            exit: Exit::Integrity,
        });
    }
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "verified",
            "artifacts": checked,
        }));
    }
    Ok(())
}

fn forget(registry: &str, context: &Context, output: &mut Output) -> Result<()> {
    let RemoteRegistry { registry, address } = context.registries.remote(Some(registry))?;
    let options = context.registries.http(&registry)?;
    let was_known =
        HttpRegistry::forget(&address, &options).map_err(|error| error.to_diagnostic())?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if was_known { "forgotten" } else { "unknown" },
            "address": address.as_str(),
        }));
    }
    output.note(&if was_known {
        format!("Forgot {address}")
    } else {
        format!("Nothing is known of {address}")
    });
    Ok(())
}
