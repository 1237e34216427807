//! Fetches the artifacts of the releases in a lockfile, for the commands that need them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_manifest::diagnostic::{Code, Diagnostic, sentence_list};
use pkgres_manifest::{
    ArtifactDigest, IndexRecord, Lockfile, PackageName, ReadOptions, RegistryName, Release,
    ReleaseSource,
};
use pkgres_registry_client::{
    Artifact, ReceivedArtifact, RegistrySet, WantedArtifact, check_artifact_release,
    stated_releases,
};
use pkgres_resolver::{Staleness, Supply};

use super::supplied::Supplied;
use crate::args::LockedArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_owner::{OWN_FOLDER, other_root};
use crate::lockfile::lock_missing_beside;
use crate::output::Output;
use crate::project::Project;
use crate::registries::{is_override, is_reserved, title_of};
use crate::show::{self, counted, locked_mode};
use crate::solve::require_current_lock;
use crate::solve_task::SolveTask;

/// The result of fetching everything that is locked.
pub(super) struct Fetched {
    /// How many releases the lockfile has, without those that the host provides.
    pub(super) packages: usize,
    /// The releases without a digest to verify.
    pub(super) without_digest: Vec<Release>,
}

/// How to treat locked releases without a digest: their registries have no artifacts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutDigest {
    /// They are counted.
    Counted,
    /// They are an error: the command is useless without all artifacts.
    Rejected,
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
        let task = SolveTask::of_project(&project, context)?;
        let mode = locked_mode(context);
        require_current_lock(&project, &task, &mode, context, output)?;
    }
    let Some(lock) = project.lockfile(context)? else {
        return Err(lock_missing_beside(&project.manifest, context));
    };
    // Nothing in it is about this project: it belongs to another file of the folder, or the package was renamed.
    if !lock.roots.contains_key(project.name()) {
        return Err(made_for_others(&project, &lock, context));
    }
    // The command works with what is locked all the same, and this takes no registries.
    let is_current = || {
        let agrees = project.agrees_with(&lock, context.core());
        Ok::<_, Failure>(agrees && Supplied::to(&project, context)?.agrees_with(&lock))
    };
    if !args.locked && !is_current()? {
        let command = context.invocation.command("lock");
        output.remarks([format!(
            "The lockfile is out of date: `{command}` updates it"
        )]);
    }
    Ok((project, lock))
}

/// The error for a lockfile that was not made for a project.
fn made_for_others(project: &Project, lock: &Lockfile, context: &Context) -> Failure {
    let roots: Vec<String> = lock.roots.keys().map(ToString::to_string).collect();
    let message = format!(
        "the lockfile belongs to {}, not to {}",
        roots.join(", "),
        project.name()
    );
    let finding = Diagnostic::error(Code::LockStale, message);
    let finding = if other_root(project, lock.roots.keys(), context).is_some() {
        finding.hint(OWN_FOLDER)
    } else {
        let command = context.invocation.command("lock");
        finding.hint(format!("`{command}` replaces it"))
    };
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

/// The releases of a lockfile, by what there is to fetch.
#[derive(Default)]
struct LockedArtifacts<'lock> {
    /// The artifacts, each with the registry that it was locked from.
    wanted: Vec<(&'lock RegistryName, WantedArtifact<'lock>)>,
    without_digest: Vec<Release>,
    /// The releases without a digest that should have one if a registry has one.
    undigested: Vec<Undigested<'lock>>,
    /// How many come with the host.
    hosted: usize,
}

/// A release that is locked without a digest.
struct Undigested<'lock> {
    release: &'lock Release,
    source: &'lock ReleaseSource,
}

impl Undigested<'_> {
    /// Whether it was locked from a registry, which should still have it.
    fn is_of_registry(&self) -> bool {
        matches!(self.source, ReleaseSource::Registry(_))
    }
}

impl<'lock> LockedArtifacts<'lock> {
    fn of(lock: &'lock Lockfile, supplied: &Supplied) -> Self {
        let mut artifacts = Self::default();
        for (release, locked) in &lock.packages {
            let Release { name, version } = release;
            match (&locked.source, &locked.digest) {
                (ReleaseSource::Registry(registry), Some(digest)) => {
                    let artifact = WantedArtifact {
                        package: name,
                        version,
                        digest: *digest,
                    };
                    artifacts.wanted.push((registry, artifact));
                }
                (ReleaseSource::Host, None) => artifacts.hosted += 1,
                _ => artifacts.without_digest.push(release.clone()),
            }
            if locked.digest.is_none() && !supplied.has(release, &locked.source) {
                artifacts.undigested.push(Undigested {
                    release,
                    source: &locked.source,
                });
            }
        }
        artifacts
    }
}

/// Fetches the artifact of every release of a lockfile that has a digest, and checks that it is of that release.
pub(super) fn fetch_locked(
    project: &Project,
    lock: &Lockfile,
    undigested_releases: WithoutDigest,
    context: &Context,
    output: &mut Output,
    mut on_artifact: impl FnMut(&Release, ReceivedArtifact) -> Result<()> + Send,
) -> Result<Fetched> {
    // A file with many releases is read once.
    let known: Mutex<BTreeMap<ArtifactDigest, Arc<[Release]>>> = Mutex::default();
    let check = |artifact: &Artifact, release: &Release, options: &ReadOptions| {
        let digest = lock.packages.get(release).and_then(|locked| locked.digest);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stated) = digest.and_then(|digest| known.get(&digest)) {
            return check_artifact_release(stated, release);
        }
        let stated = stated_releases(artifact, release, project.format, options)?;
        let checked = check_artifact_release(&stated, release);
        known.extend(digest.map(|digest| (digest, stated.into())));
        checked
    };
    let on_artifact = |release: &Release, received, ()| on_artifact(release, received);
    let undigested = undigested_releases;
    fetch_and_read(
        project,
        lock,
        undigested,
        context,
        output,
        check,
        on_artifact,
    )
}

/// What was read of an artifact, or what is wrong with it.
type ReadContent<Content> = std::result::Result<Content, Vec<Diagnostic>>;

/// Fetches the artifact of every release of a lockfile that has a digest, and reads it. `read` must fail for an artifact
/// of another release.
pub(super) fn fetch_and_read<Content>(
    project: &Project,
    lock: &Lockfile,
    undigested_releases: WithoutDigest,
    context: &Context,
    output: &mut Output,
    read: impl Fn(&Artifact, &Release, &ReadOptions) -> ReadContent<Content> + Sync,
    mut on_artifact: impl FnMut(&Release, ReceivedArtifact, Content) -> Result<()> + Send,
) -> Result<Fetched> {
    let configured = project.registries(context)?;
    let registries = project.open_registries(context)?;
    let LockedArtifacts {
        wanted,
        without_digest,
        undigested,
        hosted,
    } = LockedArtifacts::of(lock, &Supplied::to(project, context)?);
    require_digests(&undigested, &registries, context)?;
    if undigested_releases == WithoutDigest::Rejected {
        require_artifacts(lock)?;
    }
    let options = (context.read_options).of_ecosystem(project.format.ecosystem().id());
    let release = |at: usize| {
        let (_, artifact) = &wanted[at];
        Release::new(artifact.package.clone(), artifact.version.clone())
    };
    let mut problems = Problems::default();
    let progress = output.progress(
        &format!("Fetching {}", counted(wanted.len(), "release")),
        context.registries.activity(),
    );
    registries.artifacts(&wanted, &mut |at, found| {
        match found {
            Ok(Some(received)) => {
                let release = release(at);
                let found = read(&received.artifact, &release, &options);
                let found = found.map_err(|findings| unread_artifact(findings, context));
                let handled = found.and_then(|content| {
                    on_artifact(&release, received, content)
                        .map_err(|failure| failure.about(&release.to_string()))
                });
                if let Err(failure) = handled {
                    problems.failed(at, failure);
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
                    problems.failed(at, failure.about(&release(at).to_string()));
                }
            }
        }
        ControlFlow::Continue(())
    });
    drop(progress);
    output.registry_findings(&registries.take_findings());
    let listing_registries = |absent: &BTreeSet<usize>| {
        let absent: Vec<WantedArtifact<'_>> = absent.iter().map(|at| wanted[*at].1).collect();
        let names = registries.listing(&absent).into_iter();
        // Index files list artifacts that are elsewhere.
        let title = |name: &RegistryName| {
            let mut locations = configured.iter().map(|registry| &registry.location);
            let location = locations.find(|location| location.name == *name)?;
            location.address().map(|_| title_of(location))
        };
        names.map(|name| name.and_then(title)).collect()
    };
    let is_override = |at: usize| is_override(wanted[at].0);
    let release = |at: usize| release(at).to_string();
    problems.check(&release, &is_override, listing_registries, context)?;
    Ok(Fetched {
        packages: lock.packages.len() - hosted,
        without_digest,
    })
}

/// The failure for an artifact that has the locked digest and cannot be read, such as one of another release.
fn unread_artifact(mut findings: Vec<Diagnostic>, context: &Context) -> Failure {
    if let [finding] = findings.as_mut_slice()
        && finding.code == Code::Digest
    {
        let check = context.invocation.command("lock --check");
        let hint = format!(
            "somebody changed the digest in the lockfile, or the registry: `{check}` compares them"
        );
        finding.hints.push(hint);
    }
    Failure {
        findings,
        exit: Exit::Integrity,
    }
}

/// Fails if a release that is locked without a digest is gone, or if a registry has a digest of it: nothing would be
/// verified. Without a network, only the registries that are on this machine are asked.
fn require_digests(
    locked: &[Undigested<'_>],
    registries: &RegistrySet,
    context: &Context,
) -> Result<()> {
    let names: BTreeSet<&PackageName> = locked.iter().map(|it| &it.release.name).collect();
    let names: Vec<PackageName> = names.into_iter().cloned().collect();
    let supplies = match registries.supply(&names) {
        Ok(supplies) => supplies,
        Err(error) if error.to_diagnostic().code == Code::Offline => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let records = || supplies.iter().flat_map(Supply::records);
    let listed: BTreeSet<Release> = records().map(IndexRecord::release).collect();
    let gone = locked
        .iter()
        .filter(|it| it.is_of_registry() && !listed.contains(it.release));
    let gone: Vec<String> = gone.map(|it| it.release.to_string()).collect();
    if !gone.is_empty() {
        return Err(releases_are_gone(&gone, context));
    }
    let mut with_digest: BTreeMap<Release, &ReleaseSource> = BTreeMap::new();
    for supply in &supplies {
        if let Supply::Releases { source, records } = supply {
            let records = records.iter().filter(|record| record.digest.is_some());
            with_digest.extend(records.map(|record| (record.release(), source)));
        }
    }
    let mut missing = Vec::new();
    let mut moved = Vec::new();
    for locked in locked {
        let Some(source) = with_digest.get(locked.release).copied() else {
            continue;
        };
        if locked.is_of_registry() {
            missing.push(locked.release.to_string());
        } else {
            let Release { name, version } = locked.release;
            moved.push(Staleness::SourceDiffers {
                package: name.clone(),
                version: version.clone(),
                locked: locked.source.clone(),
                found: source.clone(),
            });
        }
    }
    if !moved.is_empty() {
        return Err(Failure {
            findings: show::staleness(&moved, "", context),
            exit: Exit::Failed,
        });
    }
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the lockfile has no digest of {}, and its registry has one",
        sentence_list(&missing, "and")
    );
    let command = context.invocation.command("lock");
    let hint = format!("`{command}` adds it; find out who removed it, if it was there");
    Err(Failure {
        findings: vec![Diagnostic::error(Code::LockStale, message).hint(hint)],
        exit: Exit::Failed,
    })
}

/// The error for releases without a digest that no registry has any more.
fn releases_are_gone(gone: &[String], context: &Context) -> Failure {
    let message = format!("no registry has {}", sentence_list(gone, "or"));
    let command = context.invocation.command("lock");
    let hint = format!("the lockfile is out of date: `{command}` updates it");
    Failure {
        findings: vec![Diagnostic::error(Code::LockStale, message).hint(hint)],
        exit: Exit::Failed,
    }
}

/// Fails if a release of a registry is locked without a digest. Members of workspaces and overrides have no artifacts.
fn require_artifacts(lock: &Lockfile) -> Result<()> {
    let without = lock.packages.iter().filter(|(_, locked)| {
        let is_registry =
            matches!(&locked.source, ReleaseSource::Registry(name) if !is_reserved(name.as_str()));
        is_registry && locked.digest.is_none()
    });
    let without: Vec<String> = without
        .map(|(Release { name, version }, _)| format!("{name} {version}"))
        .collect();
    if without.is_empty() {
        return Ok(());
    }
    let (is, its) = match without.len() {
        1 => ("is", "its artifact"),
        _ => ("are", "their artifacts"),
    };
    let message = format!(
        "{} {is} locked without a digest, and no registry has {its}",
        sentence_list(&without, "and")
    );
    let hint = "index files have no artifacts: put a registry that has them before the index file, and lock again";
    Err(Failure {
        findings: vec![Diagnostic::error(Code::Digest, message).hint(hint)],
        exit: Exit::Integrity,
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

    /// Fails if there are any. `is_override` tells which come from the folder of an override. `listing_registries`
    /// returns which registry on the network lists each of some artifacts that no registry has, if any does.
    fn check(
        self,
        release: &dyn Fn(usize) -> String,
        is_override: &dyn Fn(usize) -> bool,
        listing_registries: impl FnOnce(&BTreeSet<usize>) -> Vec<Option<String>>,
        context: &Context,
    ) -> Result<()> {
        if let Some((_, failure)) = self.first {
            return Err(failure);
        }
        if !self.offline.is_empty() {
            return Err(not_in_cache(self.offline.into_iter().map(release), context));
        }
        if !self.absent.is_empty() {
            let listing_registries = listing_registries(&self.absent);
            let are_overrides = self.absent.iter().all(|at| is_override(*at));
            let releases = self.absent.into_iter().map(release);
            let releases = releases.zip(listing_registries);
            return Err(no_registry_has(releases, are_overrides, context));
        }
        Ok(())
    }
}

/// The error for releases that are not in the cache. Registries know digests; the lockfile says of what.
fn not_in_cache(mut releases: impl ExactSizeIterator<Item = String>, context: &Context) -> Failure {
    const MOST: usize = 5;
    let mut named: Vec<String> = releases.by_ref().take(MOST).collect();
    if releases.len() > 0 {
        named.push(counted(releases.len(), "other"));
    }
    let named = named.join(", ");
    let from = context.settings.from("offline");
    let finding = if context.registries.cache_folder().is_some() {
        let message = format!("not in the cache, and `--offline` is set{from}: {named}");
        Diagnostic::error(Code::Offline, message).hint(format!(
            "run once {}",
            context.settings.run_without("offline")
        ))
    } else {
        let message =
            format!("`--offline` is set{from}, and without a cache these cannot be read: {named}");
        Diagnostic::error(Code::Offline, message).hint(context.registries.cache_hint())
    };
    Failure {
        findings: vec![finding],
        exit: Exit::of_registry_error(Code::Offline),
    }
}

/// The error for releases that no registry has, each with the registry on the network that lists it all the same, if
/// there is one.
fn no_registry_has(
    releases: impl Iterator<Item = (String, Option<String>)>,
    are_overrides: bool,
    context: &Context,
) -> Failure {
    let (mut lost, mut absent) = (Vec::new(), Vec::new());
    for (release, registry) in releases {
        if let Some(registry) = registry {
            let message = format!("{registry} has no archive of {release}, which it lists");
            lost.push(Diagnostic::error(Code::RegistryUnreachable, message));
        } else {
            let message = format!("no registry has {release} with the locked digest");
            absent.push(Diagnostic::error(Code::Digest, message));
        }
    }
    let exit = if absent.is_empty() {
        Exit::Registry
    } else {
        Exit::Integrity
    };
    if let Some(last) = lost.pop() {
        lost.push(
            last.hint(
                "ask its operator to restore the archives, or publish the same content again",
            ),
        );
    }
    let check = context.invocation.command("lock --check");
    if let Some(last) = absent.pop() {
        let cause = if are_overrides {
            "it was locked from a folder in `overrides`, which has changed since, or is no longer there"
        } else {
            "if it was locked from another registry, add that with `--registry`; index files have no artifacts"
        };
        absent.push(
            last.hint(format!(
                "`{check}` checks whether releases changed or are gone"
            ))
            .hint(cause),
        );
    }
    lost.append(&mut absent);
    Failure {
        findings: lost,
        exit,
    }
}
