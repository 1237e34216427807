//! `pkgres fetch`, `verify` and `vendor`: the artifacts of locked releases.

use std::path::Path;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, ReadOptions, ReleaseSource, Version};
use pkgres_registry_client::{Artifact, PackageFolder};
use serde_json::json;

use crate::args::{LockedArgs, VendorArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_missing;
use crate::output::Output;
use crate::project::Project;
use crate::problem::Problem;
use crate::show::counted;
use crate::solve::require_current_lock;

/// The result of fetching everything that is locked.
struct Fetched {
    /// How many releases the lockfile has.
    packages: usize,
    /// The releases without a digest to verify: the host provides them, or the lockfile has none.
    without_digest: Vec<String>,
}

/// Fetches the artifact of every locked release that has a digest.
fn fetch_all(
    args: &LockedArgs,
    context: &Context,
    output: &mut Output,
    mut on_artifact: impl FnMut(&PackageName, &Version, &Artifact) -> Result<()>,
) -> Result<Fetched> {
    let project = Project::open(&args.manifest, context)?;
    if args.locked {
        let problem = Problem::of_project(&project, context)?;
        require_current_lock(&project, &problem, context, output)?;
    }
    let Some(lock) = project.lockfile(context)? else {
        return Err(lock_missing("beside the manifest", context));
    };
    let registries = context.registries.for_root(Some(&project.folder))?;
    let registries = context
        .registries
        .open(&registries, &context.read_options)?;
    let mut wanted = Vec::with_capacity(lock.packages.len());
    let mut without_digest = Vec::new();
    for ((name, version), locked) in &lock.packages {
        match (&locked.source, &locked.digest) {
            (ReleaseSource::Registry(registry), Some(digest)) => {
                wanted.push((name, version, registry, *digest));
            }
            _ => without_digest.push(format!("{name} {version}")),
        }
    }
    let prefetched: Vec<_> = wanted
        .iter()
        .map(|(_, _, registry, digest)| (*registry, *digest))
        .collect();
    registries.prefetch(&prefetched)?;
    let mut absent = Vec::new();
    for (name, version, registry, digest) in wanted {
        match registries.artifact_from(registry, &digest)? {
            Some(artifact) => on_artifact(name, version, &artifact)?,
            None => absent.push(format!("{name} {version}")),
        }
    }
    output.findings(&registries.take_findings());
    if !absent.is_empty() {
        return Err(missing(&absent, context));
    }
    Ok(Fetched {
        packages: lock.packages.len(),
        without_digest,
    })
}

/// The error for releases that no registry has.
fn missing(releases: &[String], context: &Context) -> Failure {
    let mut findings: Vec<Diagnostic> = releases
        .iter()
        .map(|release| {
            let message = format!("no registry has {release} with the locked digest");
            Diagnostic::error(Code::Digest, message)
        })
        .collect();
    let check = context.invocation.command("lock --check");
    if let Some(last) = findings.pop() {
        findings.push(
            last.hint(format!(
                "`{check}` checks whether releases changed or are gone"
            ))
            .hint("an index file has no artifacts: name the registry that has them"),
        );
    }
    Failure {
        findings,
        exit: Exit::Integrity,
    }
}

pub(super) fn fetch(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    run(args, "fetched", "Fetched", context, output)
}

pub(super) fn verify(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    run(args, "verified", "Verified", context, output)
}

/// Fetching an artifact verifies its digest, so that both commands do the same.
fn run(
    args: &LockedArgs,
    status: &str,
    done: &str,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let fetched = fetch_all(args, context, output, |_, _, _| Ok(()))?;
    let (count, without) = (fetched.packages, fetched.without_digest.len());
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": status,
            "packages": count,
            "without_digest": without,
        }));
    }
    let rest = match without {
        0 => String::new(),
        without => format!("; {} without a digest", counted(without, "package")),
    };
    let with = counted(count - without, "package");
    output.note(&format!("{done} {with}{rest}"));
    Ok(Exit::Done)
}

pub(super) fn vendor(args: &VendorArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let mut written = 0;
    let fetched = fetch_all(&args.locked, context, output, |name, version, artifact| {
        let path = args.folder.join(PackageFolder::archive_name(name, version));
        write_artifact(artifact, &path)?;
        written += 1;
        Ok(())
    })?;
    for release in &fetched.without_digest {
        output.note(&format!("{release} has no digest; skipped"));
    }
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "vendored",
            "folder": args.folder.to_string_lossy(),
            "archives": written,
        }));
    }
    let shown = args.folder.to_string_lossy();
    output.note(&format!("Wrote {} to {shown}", counted(written, "archive")));
    Ok(Exit::Done)
}

/// Writes the archive of a release; the release of a folder registry is packed first.
fn write_artifact(artifact: &Artifact, path: &Path) -> Result<()> {
    let options = ReadOptions::default();
    let packed;
    let bytes = match artifact {
        Artifact::Archive(archive) => archive.bytes(),
        Artifact::Folder(folder) => {
            packed = super::pack::archive_of(folder, &options)?;
            &packed
        }
    };
    write_file(&RealFileSystem, path, bytes)?;
    Ok(())
}
