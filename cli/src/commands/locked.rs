//! `pkgres fetch`, `verify` and `vendor`: what is locked.

use std::path::{Path, PathBuf};

use clap::Args;
use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, LockedPackage, PackageName, ReadOptions, ReleaseSource, Version};
use pkgres_registry_client::{Artifact, PackageFolder, RegistrySet};
use serde_json::json;

use crate::args::RegistryArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::registries;
use crate::show::counted;

#[derive(Debug, Args)]
pub(crate) struct LockedArgs {
    /// The manifest of the root, or its folder
    #[arg(default_value = "manifest.yaml")]
    manifest: PathBuf,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VendorArgs {
    /// The folder for the archives, which must be there
    folder: PathBuf,

    #[command(flatten)]
    locked: LockedArgs,
}

/// What became of a locked release.
enum Found {
    Artifact(Artifact),
    /// The host supplies it, or the lock has no digest.
    NoDigest,
    Missing,
}

/// Asks for every locked release; `each` does something with it.
fn visit(
    args: &LockedArgs,
    output: &mut Output,
    mut each: impl FnMut(&PackageName, &Version, Found, &mut Output) -> Result<()>,
) -> Result<usize> {
    let options = registries::read_options(&args.registry)?;
    let project = Project::open(&args.manifest, &options)?;
    let Some(lock) = project.lockfile(&options)? else {
        let message = format!("there is no {LOCK_FILE} beside the manifest");
        let finding = Diagnostic::error(Code::LockMissing, message).hint("`pkgres lock` writes it");
        return Err(Failure {
            findings: vec![finding],
            exit: Exit::Failed,
        });
    };
    let places = registries::locations(&args.registry, Some(&project.folder))?;
    let registries = registries::open_all(&places, &args.registry, &options)?;
    let wanted: Vec<_> = lock
        .packages
        .values()
        .filter_map(|locked| match (&locked.source, locked.digest) {
            (ReleaseSource::Registry(registry), Some(digest)) => Some((registry, digest)),
            _ => None,
        })
        .collect();
    registries.fetch_ahead(&wanted)?;
    for ((name, version), locked) in &lock.packages {
        let found = find(locked, &registries)?;
        each(name, version, found, output)?;
    }
    output.findings(&registries.take_findings());
    Ok(lock.packages.len())
}

fn find(locked: &LockedPackage, registries: &RegistrySet) -> Result<Found> {
    let (ReleaseSource::Registry(registry), Some(digest)) = (&locked.source, &locked.digest) else {
        return Ok(Found::NoDigest);
    };
    Ok(match registries.artifact_from(registry, digest)? {
        Some(artifact) => Found::Artifact(artifact),
        None => Found::Missing,
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
    if let Some(last) = findings.pop() {
        findings.push(
            last.hint("`pkgres lock --check` says whether releases changed or are gone")
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
    let mut absent = Vec::new();
    let mut without = 0;
    let count = visit(args, output, |name, version, found, _| {
        match found {
            Found::Artifact(_) => {}
            Found::NoDigest => without += 1,
            Found::Missing => absent.push(format!("{name} {version}")),
        }
        Ok(())
    })?;
    if !absent.is_empty() {
        return Err(missing(&absent));
    }
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
        without => format!(", of which {without} without a digest were left out"),
    };
    output.note(&format!("{done} {}{rest}", counted(count, "package")));
    Ok(Exit::Done)
}

pub(crate) fn vendor(args: &VendorArgs, output: &mut Output) -> Result<Exit> {
    let mut absent = Vec::new();
    let mut written = 0;
    visit(&args.locked, output, |name, version, found, output| {
        match found {
            Found::Artifact(artifact) => {
                let path = args.folder.join(PackageFolder::archive_name(name, version));
                write_artifact(&artifact, &path)?;
                written += 1;
            }
            Found::NoDigest => {
                output.note(&format!("{name} {version} has no digest and was left out"));
            }
            Found::Missing => absent.push(format!("{name} {version}")),
        }
        Ok(())
    })?;
    if !absent.is_empty() {
        return Err(missing(&absent));
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
