//! `pkgres update` of several members of a workspace, each by itself, or of all of them solved together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{
    LockDiff, Lockfile, PackageName, Release, Version, did_you_mean, most_similar_name,
};
use pkgres_registry_client::Outdated;
use pkgres_resolver::UpdateReport;
use serde_json::json;

use super::members_update::{MembersUpdate, MovedMembers, stabilize_update};
use super::{FROM_CACHE, held_back, held_back_json, report, targets, update_one, why_older};
use crate::args::UpdateArgs;
use crate::commands::lock::{AgreedLocks, joint_task, note_skipped_registries};
use crate::commands::several_projects::{Batch, BatchResult, Change, own_settings};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_of;
use crate::named_packages::release_name;
use crate::output::Output;
use crate::paths::is_same_path;
use crate::project::Project;
use crate::project_classes::ProjectClasses;
use crate::show;
use crate::update_effects::{ProjectEffects, Replacement};
use crate::write_together::Writing;

pub(super) fn run(
    args: &UpdateArgs,
    batch: Batch,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    batch.report_left_out(context, output);
    if batch.one_solve {
        update_together(args, &batch, context, output)
    } else {
        update_apart(args, batch, context, output)
    }
}

/// Updates the agreement of all members, and locks each member.
fn update_together(
    args: &UpdateArgs,
    batch: &Batch,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let manifests = &batch.manifests;
    let update = MembersUpdate::of(args);
    let MovedMembers {
        before,
        named,
        agreement: moved,
    } = update.solve(manifests, context, output)?;
    let joint = joint_task(manifests, context)?;
    let mut held_back = held_back(
        args,
        &before,
        &named,
        &joint.request,
        &moved.resolution,
        &joint.registries,
        context,
    )?;
    let mut report = report(&moved.resolution, &moved.roots);
    describe(&mut report, &mut held_back, manifests, context)?;
    let agreement = stabilize_update(moved, &named, manifests, context, output)?;
    let changes = LockDiff::between(&before, &lock_of(&agreement.resolution));
    let replacements = Replacement::of_lock(&changes);
    output.remarks(why_older(&replacements, &before, &joint.registries));
    let effects = member_effects(manifests, &changes, context, output)?;
    let locks = AgreedLocks {
        batch,
        agreement: &agreement,
        dry_run: args.write.dry_run,
    };
    let result = locks.write(&[], |_| {}, context, output)?;
    let exit = result.exit;
    let resolution = &agreement.resolution;
    if let Some(first) = manifests.first() {
        let registries = Project::open(first, context)?.registries(context)?;
        note_skipped_registries(FROM_CACHE, &registries, context, output);
    }
    if output.is_json() {
        let mut document = result.into_json();
        document["side_by_side"] = json!(show::side_by_side_json(resolution));
        document["moved"] = show::moved_json(&report).into();
        document["held_back"] = held_back_json(&report, &held_back);
        document["effects"] = show::effects_json(&effects, None).into();
        document["not_compared"] = show::not_compared_json(&effects).into();
        output.json(&document);
        return Ok(exit);
    }
    if exit == Exit::Done {
        output.notes(show::update_reasons(&report, &named, &agreement.searched));
        output.notes(show::held_back_outdated(&held_back));
        output.notes(show::update_effects(&effects));
        output.notes(show::not_compared(&effects));
        output.notes(show::side_by_side(resolution, context));
        output.note(&summary(&result, args));
    } else {
        output.note(&result.summary_of_reading("Looked at"));
    }
    Ok(exit)
}

/// Adds the display names of classes and their places in the files of members to a report, and to what holds packages
/// back.
fn describe(
    report: &mut UpdateReport,
    held_back: &mut [Outdated],
    manifests: &[PathBuf],
    context: &Context,
) -> Result<()> {
    if report.held_back.is_empty() && held_back.is_empty() {
        return Ok(());
    }
    let provided = context.registries.host_releases(&context.read_options)?;
    for manifest in manifests {
        let project = Project::open(manifest, context)?;
        let registries = project.open_registries(context)?;
        let classes = ProjectClasses::of(&project, &provided, context);
        classes.describe_in_report(report, &registries, context);
        classes.describe_in_outdated(held_back, &registries, context);
    }
    Ok(())
}

/// What the changes of an agreement mean for the classes of the members, as they are locked now.
fn member_effects(
    manifests: &[PathBuf],
    changes: &LockDiff,
    context: &Context,
    output: &mut Output,
) -> Result<ProjectEffects> {
    let mut found = ProjectEffects::default();
    let replacements = Replacement::of_lock(changes);
    if replacements.is_empty() {
        return Ok(found);
    }
    let _progress = output.progress("Comparing classes", context.registries.activity());
    for manifest in manifests {
        let project = Project::open(manifest, context)?;
        let Some(lock) = project.lockfile(context)? else {
            continue;
        };
        let mut replacements = replacements.clone();
        replacements.retain(|one| one.is_of(&lock));
        let registries = project.open_registries(context)?;
        found.extend(ProjectEffects::find(
            &project.affected(context),
            &lock,
            &replacements,
            &registries,
            context,
        )?);
    }
    Ok(found)
}

/// Fails if an update of one member changes packages that other members have locked at the same version: members that are
/// solved together get such a package at one version.
pub(super) fn reject_split(
    project: &Project,
    changes: &LockDiff,
    args: &UpdateArgs,
    context: &Context,
) -> Result<()> {
    let (mut packages, mut members) = (BTreeSet::new(), BTreeSet::new());
    for folder in context.workspace()?.iter().flat_map(|it| &it.folders) {
        let is_apart = own_settings(folder, context)?.is_some();
        if is_apart || is_same_path(folder, &project.folder) {
            continue;
        }
        // What is wrong with the lockfile of another member is reported for that one.
        let Ok(Some(lock)) = Project::open(folder, context).and_then(|it| it.lockfile(context))
        else {
            continue;
        };
        for change in &changes.packages {
            let left = change.before.iter();
            let mut left = left.filter(|version| !change.after.contains(version));
            let has = |version: &Version| {
                let release = Release::new(change.package.clone(), version.clone());
                lock.packages.contains_key(&release)
            };
            if left.any(has) {
                packages.insert(format!("`{}`", change.package));
                members.insert(Escaped::path(folder).to_string());
            }
        }
    }
    if packages.is_empty() {
        return Ok(());
    }
    let packages: Vec<String> = packages.into_iter().collect();
    let members: Vec<String> = members.into_iter().collect();
    let (have, they) = match (members.len(), packages.len()) {
        (1, 1) => ("has", "it"),
        (_, 1) => ("have", "it"),
        (1, _) => ("has", "them"),
        _ => ("have", "them"),
    };
    let message = format!(
        "the update would change {} in {} alone, but {} {have} {they} at the same version: with `one-solve`, a package \
         changes in all members or in none",
        shortened(&packages),
        project.name(),
        shortened(&members),
    );
    let words = MembersUpdate::of(args).words();
    let words = words.replacen("update", "update --workspace", 1);
    let command = context.invocation.command_for_none(&words);
    Err(Failure {
        findings: vec![
            Diagnostic::error(Code::LockStale, message)
                .hint(format!("`{command}` updates all members")),
        ],
        exit: Exit::Failed,
    })
}

/// A list in a sentence, of which the beginning is enough.
fn shortened(list: &[String]) -> String {
    let mut shown: Vec<String> = list.iter().take(MAX_NAMED).cloned().collect();
    if let Some(more @ 1..) = list.len().checked_sub(MAX_NAMED) {
        shown.push(format!("{more} more"));
    }
    sentence_list(&shown, "and")
}

/// How many packages or members a message names.
const MAX_NAMED: usize = 3;

/// Updates each member by itself; if packages are named, the members that have any of them locked.
fn update_apart(
    args: &UpdateArgs,
    mut batch: Batch,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let named = named_by_member(args, &batch.manifests, context)?;
    batch
        .manifests
        .retain(|manifest| named.contains_key(manifest));
    let update = |manifest: &Path, writing: Writing<'_>, output: &mut Output| {
        update_one(manifest, &named[manifest], args, writing, context, output)
    };
    let change = Change {
        is_dry_run: args.write.dry_run,
        needs_all: false,
    };
    let outcomes = batch.write("Updating", &change, &[], update, output)?;
    let result = batch.report(outcomes, output);
    let exit = result.exit;
    if output.is_json() {
        output.json(&result.into_json());
    } else {
        output.note(&summary(&result, args));
    }
    Ok(exit)
}

fn summary(result: &BatchResult, args: &UpdateArgs) -> String {
    if args.write.dry_run {
        result.summary_of_reading("Looked at")
    } else {
        result.summary_of_writing("Updated")
    }
}

/// The members that have named packages locked, with these packages; all members if none is named.
fn named_by_member(
    args: &UpdateArgs,
    manifests: &[PathBuf],
    context: &Context,
) -> Result<BTreeMap<PathBuf, Vec<String>>> {
    if args.packages.is_empty() {
        let all = manifests
            .iter()
            .map(|manifest| (manifest.clone(), Vec::new()));
        return Ok(all.collect());
    }
    let mut locks: Vec<(&PathBuf, Lockfile)> = Vec::new();
    for manifest in manifests {
        let project = Project::open(manifest, context)?;
        if let Some(lock) = project.lockfile(context)? {
            locks.push((manifest, lock));
        }
    }
    let mut named: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for text in &args.packages {
        let (name, version) = release_name(text, None)?;
        let mut is_locked = false;
        for (manifest, lock) in &locks {
            if targets::is_locked(text, lock, context) {
                let texts = named.entry((*manifest).clone()).or_default();
                texts.push(text.clone());
                is_locked = true;
            }
        }
        if !is_locked {
            let known = locks.iter().flat_map(|(_, lock)| lock.packages.keys());
            let whose = if args.members.workspace {
                "workspace"
            } else {
                "named members"
            };
            return Err(locked_by_none(&name, version.as_ref(), known, whose));
        }
    }
    Ok(named)
}

/// The error for a package or release that no member has locked; `known` are the locked releases.
fn locked_by_none<'lock>(
    name: &PackageName,
    version: Option<&Version>,
    known: impl Iterator<Item = &'lock Release> + Clone,
    whose: &str,
) -> Failure {
    let versions = known
        .clone()
        .filter(|Release { name: known, .. }| known == name);
    let versions: BTreeSet<Version> = versions
        .map(|Release { version, .. }| version.clone())
        .collect();
    if let Some(version) = version.filter(|_| !versions.is_empty()) {
        let held = sentence_list(&versions, "and");
        let message =
            format!("the lockfiles of the {whose} have `{name}` at {held}, not at {version}");
        return Failure::usage(message);
    }
    let message = format!("no lockfile of the {whose} has `{name}`");
    let similar = most_similar_name(
        name.as_str(),
        known.map(|Release { name: known, .. }| known.as_str()),
    );
    let hint = similar.map(did_you_mean);
    let finding = Diagnostic::error(Code::Usage, message);
    hint.into_iter().fold(finding, Diagnostic::hint).into()
}
