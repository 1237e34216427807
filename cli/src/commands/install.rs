//! `pkgres install`, and `pkgres verify --installed`: collections where ansible-core finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_files::{RealFileSystem, lock_folder, make_folder};
use pkgres_formats::Format;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, ReleaseSource, Version};
use pkgres_registry_client::{
    Artifact, Installation, InstalledState, ReceivedArtifact, collection_files,
};
use serde_json::json;

use super::fetch;
use super::locked_artifacts::{WithoutDigest, fetch_locked, locked_project};
use crate::args::{InstallArgs, LockedArgs, VerifyArgs};
use crate::commands::members::Projects;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::output::Output;
use crate::project::Project;
use crate::show::counted;

/// The most differences of a collection that are shown.
const SHOWN_DIFFERENCES: usize = 5;

/// A release of a lockfile, and what was there in its place.
type InstalledReleases = BTreeMap<(PackageName, Version), InstalledState>;

pub(super) fn install(args: &InstallArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let options = &context.read_options;
    let mut before = InstalledReleases::new();
    let installation = Installation::new(&args.folder);
    let mut alone = None;
    for manifest in manifests(&args.locked, context)? {
        let (project, lock) = locked_project(&args.locked, &manifest, context, output)?;
        require_collections(&project, "install")?;
        if alone.is_none() {
            make_folder(&RealFileSystem, installation.path())?;
            // Two runs would replace the same folders.
            let wait = || output.note_waiting(&args.folder);
            alone = Some(lock_folder(installation.path(), wait)?);
        }
        let servers = servers(&project, context)?;
        let mut put = |name: &PackageName, version: &Version, received: &ReceivedArtifact| {
            let files = read_files(&received.artifact, name, version, context)?;
            let source = lock.packages.get(&(name.clone(), version.clone()));
            let server = source.and_then(|locked| match &locked.source {
                ReleaseSource::Registry(registry) => servers.get(registry.as_str()),
                _ => None,
            });
            let state = installation.install(&files, server.map(String::as_str), options)?;
            before.insert((name.clone(), version.clone()), state);
            Ok(())
        };
        let all = WithoutDigest::Rejected;
        fetch_locked(&project, &lock, all, context, output, &mut put)?;
    }
    report_installed(&before, &installation, &args.folder, output);
    Ok(Exit::Done)
}

/// Reports what changed.
fn report_installed(
    before: &InstalledReleases,
    installation: &Installation,
    folder: &Path,
    output: &mut Output,
) {
    let mut changed = 0;
    let mut entries = Vec::new();
    for ((name, version), state) in before {
        let (word, line) = match state {
            InstalledState::Same => ("unchanged", None),
            InstalledState::Absent => ("installed", Some(format!("  + {name} {version}"))),
            InstalledState::OtherVersion(other) => {
                let other = shown_version(other.as_ref());
                ("replaced", Some(format!("  ~ {name} {other} -> {version}")))
            }
            InstalledState::Different(differences) => {
                let count = counted(differences.len(), "difference");
                let line = format!("  ~ {name} {version} (had {count})");
                ("repaired", Some(line))
            }
        };
        if let Some(line) = line {
            changed += 1;
            output.note(&line);
        }
        entries.push(json!({"name": name, "version": version, "change": word}));
    }
    let names: BTreeSet<PackageName> = before.keys().map(|(name, _)| name.clone()).collect();
    let others = installation.others(&names);
    for other in &others {
        output.note(&format!("left as it is: {other} (not locked)"));
    }
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "installed",
            "folder": folder.to_string_lossy(),
            "collections": entries,
            "left": others,
        }));
    }
    let shown = folder.to_string_lossy();
    let rest = match before.len() - changed {
        0 => String::new(),
        1 => "; 1 was there already".to_owned(),
        rest => format!("; {rest} were there already"),
    };
    output.note(&format!(
        "Installed {} in {}{rest}",
        counted(changed, "collection"),
        Escaped::new(&shown)
    ));
}

pub(super) fn verify(args: &VerifyArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    match &args.installed {
        Some(folder) => verify_installed(&args.locked, folder, context, output),
        None => fetch::verify(&args.locked, context, output),
    }
}

/// Compares what is installed with the releases of a lockfile.
fn verify_installed(
    locked: &LockedArgs,
    folder: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let installation = Installation::new(folder);
    let mut found = InstalledReleases::new();
    let mut without_digest = BTreeSet::new();
    for manifest in manifests(locked, context)? {
        let (project, lock) = locked_project(locked, &manifest, context, output)?;
        require_collections(&project, "verify --installed")?;
        let compare = |name: &PackageName, version: &Version, received: &ReceivedArtifact| {
            let files = read_files(&received.artifact, name, version, context)?;
            let state = installation.state(&files, &context.read_options)?;
            found.insert((name.clone(), version.clone()), state);
            Ok(())
        };
        let counted_only = WithoutDigest::Counted;
        let fetched = fetch_locked(&project, &lock, counted_only, context, output, compare)?;
        without_digest.extend(fetched.without_digest);
    }
    for release in &without_digest {
        let (name, version) = release;
        let state = installation.state_of_version(name, version, &context.read_options);
        found.insert(release.clone(), state);
    }
    let shown = folder.to_string_lossy();
    let shown = Escaped::new(&shown).to_string();
    let mut findings = Vec::new();
    for ((name, version), state) in &found {
        let error = |message: String| Diagnostic::error(Code::Digest, message);
        match state {
            InstalledState::Same => {}
            InstalledState::Absent => {
                findings.push(error(format!(
                    "{name} {version} is not installed in {shown}"
                )));
            }
            // It can be what somebody works on, which `install` leaves as it is.
            InstalledState::OtherVersion(None) => {
                let message = format!("the folder of {name} in {shown} is no installed collection");
                findings.push(error(message).hint("move that folder away"));
            }
            InstalledState::OtherVersion(other) => {
                let other = shown_version(other.as_ref());
                findings.push(error(format!(
                    "{name} is installed in {shown} in version {other}; {version} is locked"
                )));
            }
            InstalledState::Different(differences) => {
                let mut parts: Vec<String> = differences
                    .iter()
                    .take(SHOWN_DIFFERENCES)
                    .map(ToString::to_string)
                    .collect();
                if differences.len() > SHOWN_DIFFERENCES {
                    parts.push(counted(differences.len() - SHOWN_DIFFERENCES, "other"));
                }
                findings.push(error(format!(
                    "{name} {version} in {shown} is not as it was released: {}",
                    parts.join(", ")
                )));
            }
        }
    }
    if let Some(last) = findings.pop() {
        let command = format!("install {}", quoted(folder));
        let command = context.invocation.command(&command);
        findings.push(last.hint(format!("`{command}` installs what is locked")));
        return Err(Failure {
            findings,
            exit: Exit::Integrity,
        });
    }
    let names: BTreeSet<PackageName> = found.keys().map(|(name, _)| name.clone()).collect();
    let others = installation.others(&names);
    for other in &others {
        output.note(&format!("not locked: {other}"));
    }
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "verified",
            "packages": found.len() - without_digest.len(),
            "without_digest": without_digest.len(),
            "not_locked": others,
        }));
    }
    let count = counted(found.len() - without_digest.len(), "collection");
    let rest = match without_digest.len() {
        0 => String::new(),
        without => format!("; {} without a digest", counted(without, "collection")),
    };
    output.note(&format!("Verified {count} in {shown}{rest}"));
    Ok(Exit::Done)
}

fn manifests(args: &LockedArgs, context: &Context) -> Result<Vec<PathBuf>> {
    Ok(
        match Projects::of(&args.members, &args.manifest, context)? {
            Projects::One(manifest) => vec![manifest],
            Projects::Several(batch) => batch.manifests,
        },
    )
}

/// Fails for packages other than collections.
fn require_collections(project: &Project, command: &str) -> Result<()> {
    let collections: &dyn Format = &pkgres_formats::ansible::Collections;
    if project.format.ecosystem() == collections.ecosystem() {
        return Ok(());
    }
    let message = format!(
        "`pkgres {command}` is for collections of Ansible: other packages are used as archives, and nothing reads them unpacked"
    );
    Err(Diagnostic::error(Code::Usage, message)
        .hint("`pkgres vendor FOLDER` writes the archives of locked releases into a folder")
        .into())
}

/// The addresses of Galaxy servers, by the names of registries.
pub(super) fn servers(project: &Project, context: &Context) -> Result<BTreeMap<String, String>> {
    let registries = project.registries(context)?;
    let servers = registries.iter().filter_map(|registry| {
        let location = &registry.location;
        let address = location.address().filter(|_| location.is_galaxy())?;
        Some((location.name.to_string(), address.to_string()))
    });
    Ok(servers.collect())
}

/// The files of an artifact, once all of its digests were compared.
fn read_files(
    artifact: &Artifact,
    name: &PackageName,
    version: &Version,
    context: &Context,
) -> Result<pkgres_formats::ansible::CollectionFiles> {
    let files = collection_files(artifact, name, version, &context.read_options);
    files.map_err(|errors| Failure {
        exit: Exit::Integrity,
        ..Failure::from(errors)
    })
}

fn shown_version(version: Option<&Version>) -> String {
    version.map_or_else(|| "(unknown)".to_owned(), ToString::to_string)
}
