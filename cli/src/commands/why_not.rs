//! `pkgres why-not`: why a version is not in the resolution. It tries an update to that version, without
//! writing it.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, sentence_list};
use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{
    Locked, PackageUpdate, PrereleasePolicy, Resolution, ResolvedRoot, SideBySide, UpdateTarget,
};
use serde_json::json;

use crate::args::WhyNotArgs;
use crate::commands::info::{Releases, releases_of};
use crate::commands::lock::{LockOptions, agree, joint_task};
use crate::commands::several_projects::Batch;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_of;
use crate::named_packages::{not_part_of, release_name};
use crate::output::Output;
use crate::project::Project;
use crate::show;
use crate::solve::{frozen_lacks, task_with_lock};
use crate::solve_task::Searched;

pub(super) fn run(args: &WhyNotArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.solve.mode.frozen {
        return Err(frozen_lacks("`why-not` needs the registries", context));
    }
    let project = Project::open(&args.solve.manifest, context)?;
    let (name, version) = release_name(&args.name, Some(project.format.ecosystem()))?;
    let task = task_with_lock(&args.solve, &project, context, output)?;
    let locations = task.searched.clone();
    let prerelease = task.request.options.prerelease;
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    let chosen = versions_of(&name, &resolution);
    if chosen.is_empty() {
        return Err(absent(&name, version, &resolution, &registries, context)?);
    }
    let version = meant_version(&name, version, &registries, context)?;
    if chosen.contains(&version) {
        let text = format!("{name} {version} is in the resolution");
        answer((&name, &version), "in_resolution", &[], &[text], output);
        return Ok(Exit::Done);
    }
    let members = Batch::solved_with(&project.manifest, context)?;
    // An update changes all members that are solved together, or none.
    let before = match &members {
        Some(batch) => {
            agree(&batch.manifests, &LockOptions::default(), context, output)?.resolution
        }
        None => resolution,
    };
    let chosen = match versions_of(&name, &before) {
        agreed if members.is_some() && chosen.is_disjoint(&agreed) => agreed,
        agreed => chosen.intersection(&agreed).cloned().collect(),
    };
    let mut conflict = None;
    for from in replaceable(&chosen, &version) {
        let mut task = match &members {
            Some(batch) => joint_task(&batch.manifests, context)?,
            None => task_with_lock(&args.solve, &project, context, output)?,
        };
        // They were reported by the first solve.
        task.warnings.clear();
        task.existing_lock = None;
        task.request.locked = Locked::from_lockfile(&lock_of(&before));
        let update = PackageUpdate {
            from: BTreeSet::from([from.clone()]),
            to: UpdateTarget::Exactly(version.clone()),
        };
        task.request.update = Some(BTreeMap::from([(name.clone(), update)]).into());
        match task.search(context, output)?.0 {
            Searched::Solved(moved) => {
                let named = match chosen.len() {
                    1 => name.to_string(),
                    _ => format!("{name}@{from}"),
                };
                let is_locked = project.lockfile(context)?.is_some();
                let tried = Tried {
                    release: (&name, &version),
                    named,
                    chosen: &chosen,
                    before: &before,
                    moved: &moved,
                    prerelease,
                    is_joint: members.is_some(),
                };
                tried.show(is_locked, context, output);
                return Ok(Exit::Done);
            }
            Searched::Conflict(found) => conflict = conflict.or(Some(found)),
        }
    }
    let Some(conflict) = conflict else {
        // Solved alone, the member would have the package; together with the others, it does not.
        let version = Some(version);
        return Err(absent(&name, version, &before, &registries, context)?);
    };
    if output.is_json() {
        output.json(&show::conflict_document(&conflict));
    } else {
        output.prose(&show::proof(&conflict, &locations));
    }
    Ok(Exit::Failed)
}

/// The failure for a package that is not in the resolution, with a command that adds it if a registry has it.
fn absent(
    name: &PackageName,
    version: Option<Version>,
    resolution: &Resolution,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Failure> {
    let mut failure = not_part_of(name, None, resolution, context);
    let is_root = |root: &ResolvedRoot| root.owner.name() == Some(name);
    let releases = releases_of(std::slice::from_ref(name), registries, context)?;
    let mut records = (releases.iter().flatten()).flat_map(Releases::records);
    let can_be_added = match &version {
        Some(version) => records.any(|record| record.version == *version && !record.yanked),
        None => records.any(|record| !record.yanked),
    };
    if can_be_added && !resolution.roots().iter().any(is_root) {
        let release = version.map_or_else(|| name.to_string(), |it| format!("{name}@{it}"));
        let command = context.invocation.command(&format!("add {release}"));
        for finding in &mut failure.findings {
            finding.hints = vec![format!(
                "nothing requires it; `{command}` adds a requirement"
            )];
        }
    }
    Ok(Failure {
        exit: Exit::Failed,
        ..failure
    })
}

/// The version that is asked about: as registries write it, or the newest one if none is named.
fn meant_version(
    name: &PackageName,
    named: Option<Version>,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Version> {
    let releases = releases_of(std::slice::from_ref(name), registries, context)?;
    if let Some(version) = named {
        let records = releases.iter().flatten().flat_map(Releases::records);
        let mut versions = records.map(|record| &record.version);
        let known = versions.find(|known| version.names_release(known));
        return Ok(known.cloned().unwrap_or(version));
    }
    let newest = releases.iter().flatten().find_map(Releases::newest);
    newest.map(|newest| newest.version.clone()).ok_or_else(|| {
        let message = format!("no registry has a package `{name}`");
        Diagnostic::error(Code::UnknownPackage, message).into()
    })
}

/// The chosen versions in the order in which another one is tried instead: the nearest older ones first.
fn replaceable<'chosen>(
    chosen: &'chosen BTreeSet<Version>,
    wanted: &'chosen Version,
) -> impl Iterator<Item = &'chosen Version> {
    let older = chosen.range(..wanted).rev();
    older.chain(chosen.range(wanted..))
}

/// An update to a version that has a solution.
struct Tried<'tried> {
    release: (&'tried PackageName, &'tried Version),
    /// What `update` has to be told to move.
    named: String,
    chosen: &'tried BTreeSet<Version>,
    before: &'tried Resolution,
    moved: &'tried Resolution,
    /// Which prereleases are chosen.
    prerelease: PrereleasePolicy,
    /// Whether all members of a workspace are updated.
    is_joint: bool,
}

impl Tried<'_> {
    /// The packages of which it brings in several releases.
    fn split(&self) -> Vec<&SideBySide> {
        let before = self.before.side_by_side();
        let is_new = |split: &&SideBySide| !before.iter().any(|it| it.name == split.name);
        self.moved.side_by_side().iter().filter(is_new).collect()
    }

    /// Why the version is chosen only if it is requested, and when else, if the policy excludes it.
    fn exclusion(&self) -> Option<(String, &'static str)> {
        let (name, version) = self.release;
        let excluded = self.moved.excluded().into_iter();
        let excluded = excluded.filter(|one| one.name == *name && one.version == *version);
        let reasons: Vec<&str> = excluded
            .map(|one| show::excluded_because(one.exclusion))
            .collect();
        if !reasons.is_empty() {
            return Some((reasons.join(" and "), ""));
        }
        // In place of another prerelease, this one could be chosen if there are no stable versions.
        let replaces_stable = (self.chosen.iter()).any(|chosen| !chosen.is_prerelease());
        match self.prerelease {
            _ if !version.is_prerelease() => None,
            PrereleasePolicy::Never => Some((
                "is a prerelease, which `--prerelease never` excludes".to_owned(),
                "",
            )),
            PrereleasePolicy::IfNamed if replaces_stable => Some((
                "is a prerelease".to_owned(),
                " or a requirement names exactly this version",
            )),
            _ => None,
        }
    }

    /// The chosen releases that require another version, and what becomes of each with this one, in words.
    fn prevented_by(&self) -> Vec<String> {
        let (name, version) = self.release;
        let mut lines = Vec::new();
        for owner in self.before.owners() {
            let Some((package, now)) = owner.release() else {
                continue;
            };
            let mut bound = owner.requires().iter();
            let Some(bound) =
                bound.find(|bound| bound.package == *name && !bound.spec.matches(version))
            else {
                continue;
            };
            let moved = versions_of(package, self.moved);
            // It keeps another release of the package, side by side.
            if moved.contains(now) {
                continue;
            }
            let then = if moved.is_empty() {
                "is no longer needed".to_owned()
            } else {
                format!("changes to {}", sentence_list(&moved, "and"))
            };
            lines.push(format!(
                "{package} {now} is chosen, and requires {name} {}: with {name} {version}, {package} {then}",
                bound.spec
            ));
        }
        lines
    }

    /// Shows why the version was not chosen, and how to get it.
    fn show(&self, is_locked: bool, context: &Context, output: &mut Output) {
        let (name, version) = self.release;
        let excluded = self.exclusion();
        let split = self.split();
        let prevented_by = self.prevented_by();
        let status = if excluded.is_some() {
            "excluded"
        } else {
            "possible"
        };
        let (are, they_are) = match self.chosen.len() {
            1 => ("is", "it is"),
            _ => ("are", "they are"),
        };
        let locked = if is_locked { "locked or " } else { "" };
        let chosen = sentence_list(self.chosen, "and");
        let text = match excluded {
            Some((was, or_else)) => {
                format!("{name} {version} {was}, so it is chosen only if it is requested{or_else}")
            }
            None if split.is_empty() && !prevented_by.is_empty() => prevented_by.join("\n"),
            None if split.is_empty() => {
                format!(
                    "Nothing prevents {name} {version}: {chosen} {are} chosen because {they_are} {locked}preferred"
                )
            }
            None => {
                let several = split.iter().map(|split| {
                    format!("{} {}", split.name, sentence_list(&split.versions, "and"))
                });
                let several: Vec<String> = several.collect();
                let several = several.join(", and ");
                format!(
                    "{name} {version} needs {several} side by side, so it is chosen only if it is requested"
                )
            }
        };
        let hint = self.hint(!split.is_empty(), is_locked, context);
        answer(self.release, status, &split, &[text, hint], output);
    }

    /// How to get the version.
    fn hint(&self, is_split: bool, is_locked: bool, context: &Context) -> String {
        let (name, version) = self.release;
        let invocation = &context.invocation;
        let arguments = format!("{} --precise {version}", self.named);
        let command = if self.is_joint {
            // Members agree on one release if they can.
            if is_split {
                return format!("hint: require {name} {version} in a member to get this version");
            }
            invocation.command_for_none(&format!("update --workspace {arguments}"))
        } else {
            invocation.command(&format!("update {arguments}"))
        };
        if is_locked {
            return format!("hint: `{command}` sets this version");
        }
        let lock = invocation.command("lock");
        format!("hint: `{lock}` writes a lockfile, and `{command}` sets this version")
    }
}

/// The versions of a package in a resolution.
fn versions_of(name: &PackageName, resolution: &Resolution) -> BTreeSet<Version> {
    let packages = resolution.packages().iter();
    packages
        .filter(|package| package.name == *name)
        .map(|package| package.version.clone())
        .collect()
}

/// Answers about a release: in a sentence with a hint, or as a document that has both as notes.
fn answer(
    (name, version): (&PackageName, &Version),
    status: &str,
    split: &[&SideBySide],
    lines: &[String],
    output: &mut Output,
) {
    if output.is_json() {
        let split: Vec<&PackageName> = split.iter().map(|split| &split.name).collect();
        output.remarks(lines);
        output.json(&json!({
            "schema_version": 1,
            "status": status,
            "package": name,
            "version": version,
            "side_by_side": split,
            "conflict": null,
        }));
    } else if let Some((text, hints)) = lines.split_first() {
        output.prose(&format!("{text}\n"));
        output.notes(hints);
    }
}
