//! `pkgres fetch`, `verify` and `vendor`: what is locked.

use std::path::Path;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, ReadOptions, ReleaseSource, Version};
use pkgres_registry_client::{Artifact, PackageFolder};
use serde_json::json;

use crate::args::{LockedArgs, VendorArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::given;
use crate::output::Output;
use crate::project::{Project, lock_missing};
use crate::registries;
use crate::show::counted;

/// What is locked, once all of it was had.
struct Visited {
    /// How many releases the lockfile holds.
    packages: usize,
    /// Those that cannot be compared with anything: the host supplies them, or the lock has no digest.
    without_digest: Vec<String>,
}

/// Gets every locked release that has a digest; `each` does something with it.
fn visit(
    args: &LockedArgs,
    output: &mut Output,
    mut each: impl FnMut(&PackageName, &Version, &Artifact) -> Result<()>,
) -> Result<Visited> {
    let options = registries::read_options(&args.registry)?;
    let project = Project::open(&args.manifest, &options)?;
    let Some(lock) = project.lockfile(&options)? else {
        return Err(lock_missing("beside the manifest"));
    };
    let places = registries::locations(&args.registry, Some(&project.folder))?;
    let registries = registries::open_all(&places, &args.registry, &options)?;
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
    let ahead: Vec<_> = wanted
        .iter()
        .map(|(_, _, registry, digest)| (*registry, *digest))
        .collect();
    registries.prefetch(&ahead)?;
    let mut absent = Vec::new();
    for (name, version, registry, digest) in wanted {
        match registries.artifact_from(registry, &digest)? {
            Some(artifact) => each(name, version, &artifact)?,
            None => absent.push(format!("{name} {version}")),
        }
    }
    output.findings(&registries.take_findings());
    if !absent.is_empty() {
        return Err(missing(&absent));
    }
    Ok(Visited {
        packages: lock.packages.len(),
        without_digest,
    })
}

/// What is said of releases that cannot be had.
fn missing(all: &[String]) -> Failure {
    let mut findings: Vec<Diagnostic> = all
        .iter()
        .map(|release| {
            let message = format!("no registry has {release} with the digest that is locked");
            Diagnostic::error(Code::Digest, message)
        })
        .collect();
    let check = given::command("lock --check");
    if let Some(last) = findings.pop() {
        findings.push(
            last.hint(format!("`{check}` says whether releases changed or are gone"))
                .hint("an index file says what there is and holds no artifacts: name the registry that does"),
        );
    }
    Failure {
        findings,
        exit: Exit::Integrity,
    }
}

pub(crate) fn fetch(args: &LockedArgs, output: &mut Output) -> Result<Exit> {
    run(args, "fetched", "Fetched", output)
}

pub(crate) fn verify(args: &LockedArgs, output: &mut Output) -> Result<Exit> {
    run(args, "verified", "Verified", output)
}

/// To have fetched an artifact and to have compared it with its digest is the same.
fn run(args: &LockedArgs, status: &str, done: &str, output: &mut Output) -> Result<Exit> {
    let visited = visit(args, output, |_, _, _| Ok(()))?;
    let (count, without) = (visited.packages, visited.without_digest.len());
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

pub(crate) fn vendor(args: &VendorArgs, output: &mut Output) -> Result<Exit> {
    let mut written = 0;
    let visited = visit(&args.locked, output, |name, version, artifact| {
        let path = args.folder.join(PackageFolder::archive_name(name, version));
        write_artifact(artifact, &path)?;
        written += 1;
        Ok(())
    })?;
    for release in &visited.without_digest {
        output.note(&format!("{release} has no digest and was left out"));
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

/// Writes an archive; one that comes from a folder is made.
fn write_artifact(artifact: &Artifact, path: &Path) -> Result<()> {
    let options = ReadOptions::default();
    let made;
    let bytes = match artifact {
        Artifact::Archive(archive) => archive.bytes(),
        Artifact::Folder(folder) => {
            made = super::pack::archive_of(folder, &options)?;
            &made
        }
    };
    write_file(&RealFileSystem, path, bytes)?;
    Ok(())
}
