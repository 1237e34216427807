//! `pkgres install`, and `pkgres verify --installed`: collections where ansible-core finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_files::{FileLock, RealFileSystem, lock_folder, make_folder, remove_empty_folder};
use pkgres_formats::Format;
use pkgres_formats::ansible::CollectionFiles;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Lockfile, PackageName, Release, ReleaseSource, Requirement, Version};
use pkgres_registry_client::{
    Installation, InstalledState, PreparedCollection, ReceivedArtifact, collection_files,
};
use serde_json::json;

use super::fetch;
use super::locked_artifacts::{WithoutDigest, fetch_and_read, locked_project};
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
type InstalledReleases = BTreeMap<Release, InstalledState>;

/// The releases that are ready to be installed.
type PreparedReleases<'projects> = BTreeMap<Release, PreparedRelease<'projects>>;

/// A release that was fetched and checked, and is ready to be installed.
struct PreparedRelease<'projects> {
    collection: PreparedCollection,
    /// The address of its Galaxy server.
    server: Option<String>,
    /// The project that locks it.
    project: &'projects Project,
}

pub(super) fn install(args: &InstallArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let installation = Installation::new(&args.folder);
    let mut projects = Vec::new();
    for manifest in manifests(&args.locked, context, output)? {
        let (project, lock) = locked_project(&args.locked, &manifest, context, output)?;
        require_collections(&project, "install")?;
        projects.push((project, lock));
    }
    let is_new = !installation.path().exists();
    let is_new_folder = !args.folder.exists();
    let mut alone = None;
    if !is_new {
        let wait = || output.note_waiting(&args.folder);
        alone = Some(lock_folder(installation.path(), wait)?);
    }
    let prepared = prepare(&projects, &installation, &mut alone, context, output);
    let prepared = prepared.inspect_err(|_| {
        let names = projects.iter().flat_map(|(_, lock)| lock.packages.keys());
        if is_new {
            installation.remove_empty_folders(names.map(|Release { name, .. }| name));
        }
        if is_new_folder {
            remove_empty_folder(&args.folder);
        }
    })?;
    let mut before = InstalledReleases::new();
    for (Release { name, version }, release) in prepared {
        let state = release.collection.commit()?;
        installation.write_source(&name, &version, release.server.as_deref())?;
        before.insert(Release::new(name, version), state);
    }
    if alone.is_none() {
        // There is nothing to install.
        make_folder(&RealFileSystem, installation.path())?;
    }
    drop(alone);
    report_installed(&before, &installation, &args.folder, output);
    Ok(Exit::Done)
}

/// Fetches and checks the locked releases of projects, and writes each beside the place where it will be installed. If
/// one artifact is wrong, nothing is installed: some of the locked releases among older ones are versions that nobody
/// has tried together.
///
/// No other run installs into the same folder while it is locked, or they would replace each other's collections. If
/// there is no folder yet, the first artifact makes one.
fn prepare<'projects>(
    projects: &'projects [(Project, Lockfile)],
    installation: &Installation,
    alone: &mut Option<FileLock>,
    context: &Context,
    output: &mut Output,
) -> Result<PreparedReleases<'projects>> {
    let mut prepared = PreparedReleases::new();
    let mut findings = Vec::new();
    for (project, lock) in projects {
        let servers = servers(project, context)?;
        let prepare = |release: &Release, _: ReceivedArtifact, files: CollectionFiles| {
            let source = lock.packages.get(release);
            findings.extend(unlocked_requirements(&files, release, lock));
            let server = source.and_then(|locked| match &locked.source {
                ReleaseSource::Registry(registry) => servers.get(registry.as_str()).cloned(),
                _ => None,
            });
            if alone.is_none() {
                make_folder(&RealFileSystem, installation.path())?;
                *alone = Some(lock_folder(installation.path(), || ())?);
            }
            let prepared_release = PreparedRelease {
                collection: installation.prepare(&files, &context.read_options)?,
                server,
                project,
            };
            prepared.insert(release.clone(), prepared_release);
            Ok(())
        };
        let all = WithoutDigest::Rejected;
        fetch_and_read(
            project,
            lock,
            all,
            context,
            output,
            collection_files,
            prepare,
        )?;
    }
    output.findings(&findings);
    require_one_version(&prepared)?;
    Ok(prepared)
}

/// Warnings about requirements of an artifact that its lockfile does not meet: when it was locked, the registry described
/// the release otherwise.
fn unlocked_requirements(
    files: &CollectionFiles,
    release: &Release,
    lock: &Lockfile,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for Requirement { package, spec, .. } in &*files.requirements {
        let is_overridden = lock.overrides.contains_key(package);
        let mut locked = lock.packages.keys().filter(|one| one.name == *package);
        let problem = match locked.next() {
            None => "which is not locked".to_owned(),
            Some(locked) if is_overridden || spec.matches(&locked.version) => continue,
            Some(locked) => format!("and {} is locked", locked.version),
        };
        let message = format!(
            "the artifact of {release} requires {package} {}, {problem}: the registry described the release otherwise",
            Escaped::shortened(spec.written()),
        );
        let finding = Diagnostic::warning(Code::Digest, message);
        findings.push(finding.hint(format!(
            "require `{package}` in your own file, with that range, and lock again"
        )));
    }
    findings
}

/// Fails if projects lock different versions of a collection: a folder has one of each.
fn require_one_version(prepared: &PreparedReleases<'_>) -> Result<()> {
    let pairs = prepared.iter().zip(prepared.iter().skip(1));
    for (
        (Release { name, version }, release),
        (
            Release {
                name: next_name,
                version: next_version,
            },
            next,
        ),
    ) in pairs
    {
        if name == next_name {
            let [first, second] =
                [release, next].map(|release| Escaped::path(&release.project.manifest).to_string());
            let message = format!(
                "{first} locks {name} {version}, and {second} locks {name} {next_version}: a folder has one version of a collection"
            );
            return Err(Diagnostic::error(Code::Usage, message)
                .hint("install the projects into different folders")
                .into());
        }
    }
    Ok(())
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
    for (Release { name, version }, state) in before {
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
    let names: BTreeSet<PackageName> = before
        .keys()
        .map(|Release { name, .. }| name.clone())
        .collect();
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
    let rest = match before.len() - changed {
        0 => String::new(),
        1 => "; 1 already up to date".to_owned(),
        rest => format!("; {rest} already up to date"),
    };
    output.note(&format!(
        "Installed {} in {}{rest}",
        counted(changed, "collection"),
        Escaped::path(&folder)
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
    for manifest in manifests(locked, context, output)? {
        let (project, lock) = locked_project(locked, &manifest, context, output)?;
        require_collections(&project, "verify --installed")?;
        let compare = |release: &Release, _: ReceivedArtifact, files: CollectionFiles| {
            let state = installation.state(&files, &context.read_options)?;
            found.insert(release.clone(), state);
            Ok(())
        };
        let (without, read) = (WithoutDigest::Counted, collection_files);
        let fetched = fetch_and_read(&project, &lock, without, context, output, read, compare)?;
        without_digest.extend(fetched.without_digest);
    }
    for release in &without_digest {
        let Release { name, version } = release;
        let state = installation.state_of_version(name, version, &context.read_options);
        found.insert(release.clone(), state);
    }
    let shown = folder.to_string_lossy();
    let shown = Escaped::new(&shown).to_string();
    let mut findings = differences(&found, &shown);
    if let Some(last) = findings.pop() {
        let command = format!("install {}", quoted(folder));
        let command = context.invocation.command(&command);
        findings.push(last.hint(format!("`{command}` installs what is locked")));
        return Err(Failure {
            findings,
            exit: Exit::Integrity,
        });
    }
    let names: BTreeSet<PackageName> = found
        .keys()
        .map(|Release { name, .. }| name.clone())
        .collect();
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

/// The errors for releases that are not installed as they were released. `shown` is the folder.
fn differences(installed: &InstalledReleases, shown: &str) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (Release { name, version }, state) in installed {
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
    findings
}

fn manifests(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Vec<PathBuf>> {
    Ok(
        match Projects::of(&args.members, &args.manifest, context)? {
            Projects::One(manifest) => vec![manifest],
            Projects::Several(batch) => {
                batch.report_left_out(context, output);
                batch.manifests
            }
        },
    )
}

/// Fails for packages other than collections.
fn require_collections(project: &Project, command: &str) -> Result<()> {
    let collections: &dyn Format = &pkgres_formats::ansible::Collections;
    if project.format.ecosystem() == collections.ecosystem() {
        return Ok(());
    }
    let shown = Escaped::path(&project.manifest);
    let message = format!(
        "{shown} requires no Ansible collections, and `pkgres {command}` is only for these"
    );
    Err(Diagnostic::error(Code::Usage, message)
        .hint("`pkgres vendor FOLDER` writes the artifacts of locked releases into a folder")
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

fn shown_version(version: Option<&Version>) -> String {
    version.map_or_else(|| "(unknown)".to_owned(), ToString::to_string)
}
