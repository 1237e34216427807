//! `pkgres fetch`, `verify` and `vendor`: the artifacts of locked releases.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use pkgres_files::{
    FileError, FileSystem as _, FolderWriter, Follow, RealFileSystem, lock_folder, read_file,
    write_file,
};
use pkgres_formats::Format;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, Lockfile, PackageName, ReadOptions, ReleaseSource, Version};
use pkgres_registry_client::{
    Artifact, PackageFolder, ReceivedArtifact, VENDORED_FILE, WantedArtifact,
};
use serde_json::json;

use crate::args::{LockedArgs, VendorArgs};
use crate::commands::members::Projects;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_missing;
use crate::output::Output;
use crate::problem::Problem;
use crate::project::Project;
use crate::show::{counted, locked_mode};
use crate::solve::require_current_lock;

/// The result of fetching everything that is locked.
pub(super) struct Fetched {
    /// How many releases the lockfile has, without those that the host provides.
    packages: usize,
    /// The releases without a digest to verify.
    pub(super) without_digest: Vec<String>,
}

/// Fetches the artifact of every locked release that has a digest.
fn fetch_all(
    args: &LockedArgs,
    manifest: &Path,
    context: &Context,
    output: &mut Output,
    on_artifact: impl FnMut(&PackageName, &Version, &ReceivedArtifact) -> Result<()> + Send,
) -> Result<Fetched> {
    let (project, lock) = locked_project(args, manifest, context, output)?;
    fetch_locked(&project, &lock, context, output, on_artifact)
}

/// Opens a project with its lockfile.
pub(super) fn locked_project(
    args: &LockedArgs,
    manifest: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<(Project, Lockfile)> {
    let project = Project::open(manifest, context)?;
    if args.locked {
        let problem = Problem::of_project(&project, context)?;
        let mode = locked_mode(context);
        require_current_lock(&project, &problem, &mode, context, output)?;
    }
    let Some(lock) = project.lockfile(context)? else {
        return Err(lock_missing("beside the manifest", context));
    };
    // The command works with what is locked all the same, and this takes no registries.
    if !args.locked && !project.agrees_with(&lock, context.core()) {
        let command = context.invocation.command("lock");
        output.note(&format!(
            "The lockfile is out of date: `{command}` updates it"
        ));
    }
    Ok((project, lock))
}

/// Fetches the artifact of every release of a lockfile that has a digest.
pub(super) fn fetch_locked(
    project: &Project,
    lock: &Lockfile,
    context: &Context,
    output: &mut Output,
    mut on_artifact: impl FnMut(&PackageName, &Version, &ReceivedArtifact) -> Result<()> + Send,
) -> Result<Fetched> {
    let options = context
        .read_options
        .of_ecosystem(project.format.ecosystem().id());
    let registries = project.registries(context)?;
    let registries = context.registries.open(&registries, &options)?;
    let mut wanted = Vec::with_capacity(lock.packages.len());
    let mut without_digest = Vec::new();
    let mut hosted = 0;
    for ((name, version), locked) in &lock.packages {
        match (&locked.source, &locked.digest) {
            (ReleaseSource::Registry(registry), Some(digest)) => {
                wanted.push((name, version, registry, *digest));
            }
            // The host comes with it: there is nothing to fetch.
            (ReleaseSource::Host, None) => hosted += 1,
            _ => without_digest.push(format!("{name} {version}")),
        }
    }
    let sources: Vec<_> = wanted
        .iter()
        .map(|(package, version, registry, digest)| {
            let artifact = WantedArtifact {
                package,
                version,
                digest: *digest,
            };
            (*registry, artifact)
        })
        .collect();
    let release = |at: usize| {
        let (name, version, ..) = wanted[at];
        format!("{name} {version}")
    };
    let mut problems = Problems::default();
    let progress = output.progress(
        &format!("Fetching {}", counted(wanted.len(), "release")),
        context.registries.activity(),
    );
    registries.artifacts(&sources, &mut |at, found| {
        let (name, version, ..) = wanted[at];
        match found {
            Ok(Some(artifact)) => {
                if let Err(failure) = on_artifact(name, version, &artifact) {
                    problems.failed(at, failure.about(&release(at)));
                    return ControlFlow::Break(());
                }
            }
            Ok(None) => {
                problems.absent.insert(at);
            }
            Err(error) => {
                let failure = Failure::from(error);
                let is_offline = |finding: &Diagnostic| finding.code == Code::Offline;
                if failure.findings.iter().any(is_offline) {
                    problems.offline.insert(at);
                } else {
                    problems.failed(at, failure.about(&release(at)));
                }
            }
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    output.registry_findings(&registries.take_findings());
    problems.check(&release, context)?;
    Ok(Fetched {
        packages: lock.packages.len() - hosted,
        without_digest,
    })
}

/// What kept artifacts from being fetched. They arrive in any order; what is reported does not depend on it.
#[derive(Default)]
struct Problems {
    /// The failure of the first artifact that has one.
    first: Option<(usize, Failure)>,
    /// The artifacts that are not in the cache, with `--offline`.
    offline: BTreeSet<usize>,
    /// The artifacts that no registry has.
    absent: BTreeSet<usize>,
}

impl Problems {
    fn failed(&mut self, at: usize, failure: Failure) {
        if self.first.as_ref().is_none_or(|(first, _)| at < *first) {
            self.first = Some((at, failure));
        }
    }

    /// Fails if there are any.
    fn check(self, release: &dyn Fn(usize) -> String, context: &Context) -> Result<()> {
        if let Some((_, failure)) = self.first {
            return Err(failure);
        }
        if !self.offline.is_empty() {
            return Err(not_in_cache(self.offline.into_iter().map(release)));
        }
        if !self.absent.is_empty() {
            return Err(no_registry_has(
                self.absent.into_iter().map(release),
                context,
            ));
        }
        Ok(())
    }
}

/// The error for releases that are not in the cache. Registries know digests; the lockfile says of what.
fn not_in_cache(mut releases: impl ExactSizeIterator<Item = String>) -> Failure {
    const MOST: usize = 5;
    let mut named: Vec<String> = releases.by_ref().take(MOST).collect();
    if releases.len() > 0 {
        named.push(counted(releases.len(), "other"));
    }
    let message = format!(
        "not in the cache, and `--offline` is set: {}",
        named.join(", ")
    );
    let finding = Diagnostic::error(Code::Offline, message).hint("run once without `--offline`");
    Failure {
        findings: vec![finding],
        exit: Exit::of_registry_error(Code::Offline),
    }
}

/// The error for releases that no registry has.
fn no_registry_has(releases: impl Iterator<Item = String>, context: &Context) -> Failure {
    let mut findings: Vec<Diagnostic> = releases
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
            .hint("index files have no artifacts: if it was locked from one, add the registry that has the artifacts"),
        );
    }
    Failure {
        findings,
        exit: Exit::Integrity,
    }
}

pub(super) fn fetch(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let hint = if args.registry.no_cache {
        let from = context.settings.from("no-cache");
        format!("run it without `--no-cache`{from}, or use `pkgres verify`, which keeps nothing")
    } else if context.registries.cache_folder().is_none() {
        "set PKGRES_CACHE or HOME to a folder for the cache".to_owned()
    } else {
        "PKGRES_CACHE names another folder for the cache".to_owned()
    };
    // What is fetched is there afterwards: without the network, the next command finds it.
    let keep = |received: &ReceivedArtifact| {
        let Some(reason) = &received.not_kept else {
            return Ok(());
        };
        let message = format!("not kept in the cache: {}", reason.message);
        Err(Diagnostic::error(reason.code, message).hint(&hint).into())
    };
    let projects = Projects::of(&args.members, &args.manifest, context)?;
    projects.run(
        ("Fetching", "Fetched"),
        context,
        output,
        |manifest, output| {
            let words = ("fetched", "Fetched");
            fetch_project(args, manifest, words, &keep, context, output)
        },
    )
}

pub(super) fn verify(args: &LockedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let projects = Projects::of(&args.members, &args.manifest, context)?;
    projects.run(
        ("Verifying", "Verified"),
        context,
        output,
        |manifest, output| {
            let words = ("verified", "Verified");
            fetch_project(args, manifest, words, &|_| Ok(()), context, output)
        },
    )
}

/// Fetches the artifacts of one project, which verifies their digests; `check` decides whether one is enough.
fn fetch_project(
    args: &LockedArgs,
    manifest: &Path,
    (status, done): (&str, &str),
    check: &(dyn Fn(&ReceivedArtifact) -> Result<()> + Sync),
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let fetched = fetch_all(args, manifest, context, output, |_, _, received| {
        check(received)
    })?;
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
    let writer = FolderWriter::open(&RealFileSystem, &args.folder)?;
    // Two runs with different lockfiles would remove what the other one wrote.
    let _alone = lock_folder(&args.folder, || {
        let shown = args.folder.to_string_lossy();
        let shown = Escaped::new(&shown);
        output.note(&format!("Waiting for another pkgres to finish in {shown}"));
    })?;
    let mut written = BTreeSet::new();
    let mut without_digest = BTreeSet::new();
    let manifests = match Projects::of(&args.locked.members, &args.locked.manifest, context)? {
        Projects::One(manifest) => vec![manifest],
        Projects::Several(batch) => batch.manifests,
    };
    for manifest in &manifests {
        let (project, lock) = locked_project(&args.locked, manifest, context, output)?;
        let names = vendored_names(&lock, project.format);
        let write = |name: &PackageName, version: &Version, received: &ReceivedArtifact| {
            let release = (name.clone(), version.clone());
            let file = match names.get(&release) {
                Some(file) => file.clone(),
                None => PackageFolder::archive_name(name, version),
            };
            if matches!(received.artifact, Artifact::Folder(_))
                && project.format.ecosystem() != CLASS_PACKAGES
            {
                return Err(no_artifact());
            }
            write_artifact(&received.artifact, &writer, &file)?;
            written.insert(file);
            Ok(())
        };
        let fetched = fetch_locked(&project, &lock, context, output, write)?;
        without_digest.extend(fetched.without_digest);
    }
    writer.finish()?;
    for release in &without_digest {
        output.note(&format!("{release} has no digest; skipped"));
    }
    let (removed, left) = clean(&args.folder, &written)?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "vendored",
            "folder": args.folder.to_string_lossy(),
            "archives": written.len(),
            "removed": removed,
            "left": left,
        }));
    }
    for file in &removed {
        output.note(&format!("removed: {} (not locked)", Escaped::new(file)));
    }
    for file in &left {
        output.note(&format!("left as it is: {}", Escaped::new(file)));
    }
    let shown = args.folder.to_string_lossy();
    let shown = Escaped::new(&shown);
    output.note(&format!(
        "Wrote {} to {shown}",
        counted(written.len(), "archive")
    ));
    Ok(Exit::Done)
}

/// The file names of the releases of a lockfile of another ecosystem. If files are loaded one after the other, the names
/// begin with numbers, so that those that a file requires come before it.
fn vendored_names(
    lock: &Lockfile,
    format: &'static dyn Format,
) -> BTreeMap<(PackageName, Version), String> {
    if format.ecosystem() == CLASS_PACKAGES {
        return BTreeMap::new();
    }
    let name = |(package, version): &(PackageName, Version)| format.artifact_name(package, version);
    if !format.rules().load_order {
        let releases = lock.packages.keys();
        return releases
            .map(|release| (release.clone(), name(release)))
            .collect();
    }
    let order = load_order(lock);
    let digits = order.len().to_string().len().max(2);
    let numbered = order.into_iter().enumerate();
    numbered
        .map(|(at, release)| {
            let file = format!("{:0digits$}-{}", at + 1, name(release));
            (release.clone(), file)
        })
        .collect()
}

/// The releases of a lockfile, each after those that it requires. In a cycle, the first by name comes last.
fn load_order(lock: &Lockfile) -> Vec<&(PackageName, Version)> {
    let mut order = Vec::with_capacity(lock.packages.len());
    let mut entered = BTreeSet::new();
    for release in lock.packages.keys() {
        // A release is entered, and left once all that it requires was left.
        let mut rest = vec![(release, false)];
        while let Some((release, is_done)) = rest.pop() {
            if is_done {
                order.push(release);
                continue;
            }
            if !entered.insert(release) {
                continue;
            }
            rest.push((release, true));
            let Some(locked) = lock.packages.get(release) else {
                continue;
            };
            let mut required: Vec<_> = locked
                .requires
                .iter()
                .filter_map(|(package, version)| {
                    let key = (package.clone(), version.clone());
                    Some(lock.packages.get_key_value(&key)?.0)
                })
                .collect();
            required.reverse();
            rest.extend(required.into_iter().map(|required| (required, false)));
        }
    }
    order
}

/// The largest such file, in bytes.
const MAX_WRITTEN_BYTES: u64 = 16 << 20;

/// Removes the archives that an earlier run wrote and this one did not; returns their names and those of all other files
/// that were not `written`.
fn clean(folder: &Path, written: &BTreeSet<String>) -> Result<(Vec<String>, Vec<String>)> {
    let system = RealFileSystem;
    let failed = |action: &'static str| {
        move |source| FileError::System {
            action,
            path: folder.to_owned(),
            source,
        }
    };
    let record = folder.join(VENDORED_FILE);
    let before = match read_file(&record, MAX_WRITTEN_BYTES, Follow::Nothing) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.is_not_found() => String::new(),
        Err(error) => return Err(error.into()),
    };
    let before: BTreeSet<&str> = before.lines().collect();
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let mut names = system.names(folder).map_err(failed("cannot read"))?;
    names.sort_unstable();
    for name in names {
        if written.contains(&name) || name == VENDORED_FILE {
            continue;
        }
        // Also the name has to be that of an artifact: the record is a file that anybody can write.
        let is_artifact = PackageFolder::release_of_archive(&name).is_some()
            || pkgres_formats::ALL.iter().any(|format| {
                format.ecosystem() != CLASS_PACKAGES && format.is_release_name(&name)
            });
        if is_artifact && before.contains(name.as_str()) {
            system
                .remove(&folder.join(&name))
                .map_err(failed("cannot clean"))?;
            removed.push(name);
        } else {
            left.push(name);
        }
    }
    let text: String = written.iter().map(|name| format!("{name}\n")).collect();
    write_file(&system, &record, text.as_bytes())?;
    Ok((removed, left))
}

/// The error about a release of another ecosystem that is only there as a folder: pkgres does not make its artifact.
fn no_artifact() -> Failure {
    Failure::usage(
        "it comes from a folder and has no artifact to copy: build the artifact, as with `ansible-galaxy collection build`, and put it into a registry in place of the folder",
    )
}

/// Writes the archive of a release; the release of a folder registry is packed first.
fn write_artifact(
    artifact: &Artifact,
    writer: &FolderWriter<'_, RealFileSystem>,
    file: &str,
) -> Result<()> {
    let options = ReadOptions::default();
    let packed;
    let bytes = match artifact {
        Artifact::Archive(archive) => archive.bytes(),
        Artifact::Folder(folder) => {
            packed = super::pack::archive_of(folder, &options)?;
            &packed
        }
        Artifact::File(bytes) => bytes,
    };
    writer.write(file, bytes)?;
    Ok(())
}
