//! `pkgres update`

mod members_update;
mod older_versions;
mod targets;
mod workspace;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pkgres_manifest::{LockDiff, Lockfile, Package, PackageName};
use pkgres_registry_client::{Outdated, RegistrySet, outdated};
use pkgres_resolver::{Locked, Request, Resolution, Root, Update, UpdateReport};
use serde_json::Value;

pub(super) use self::members_update::{MembersUpdate, stabilize_update};
use self::older_versions::why_older;
use super::lock::note_skipped_registries;
use super::members::Projects;
use super::several_projects::is_solved_together;
use crate::args::UpdateArgs;
use crate::capabilities::lock_with_capabilities;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::lock_owner::require_own_lock;
use crate::lockfile::{LockText, lock_missing, parse_lock, read_lock_bytes, write_lock};
use crate::output::Output;
use crate::project::Project;
use crate::project_classes::ProjectClasses;
use crate::show;
use crate::solve::reject_lock_modes;
use crate::solve_task::SolveTask;
use crate::update_effects::{ProjectEffects, Replacement};
use crate::write_together::Writing;
use crate::yank_reasons::YankReasons;

pub(super) fn run(args: &UpdateArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    reject_lock_modes("update", &args.write, context)?;
    match Projects::of(&args.members, &args.project.manifest, context)? {
        Projects::One(manifest) => {
            let writing = Writing::at_once_unless(args.write.dry_run);
            update_one(&manifest, &args.packages, args, writing, context, output)
        }
        Projects::Several(batch) => workspace::run(args, batch, context, output),
    }
}

/// What an update without the network did.
const FROM_CACHE: [&str; 2] = ["Updated from", "from"];

/// Updates packages in the lockfile of one project.
fn update_one(
    manifest: &Path,
    packages: &[String],
    args: &UpdateArgs,
    writing: Writing<'_>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let project = Project::open(manifest, context)?;
    let mut task = SolveTask::of_project(&project, context)?;
    let path = project.lock_path();
    let precise = args.precise.as_deref();
    let bytes = read_lock_bytes(&path, context)?;
    let lock = match &bytes {
        Some(bytes) => parse_lock(&path, bytes, context)?,
        // The first lockfile can have a release that has to be named.
        None if precise.is_some() && targets::are_required(packages, &task.request.roots) => {
            Lockfile {
                ecosystem: project.format.ecosystem(),
                ..Lockfile::default()
            }
        }
        None => return Err(lock_missing("to update", context)),
    };
    require_own_lock(&project, lock.roots.keys(), context)?;
    let roots = &task.request.roots;
    let plan = UpdatePlan::new(packages, precise, &lock, roots, &task.registries, context)?;
    task.request.locked = plan.locked;
    task.request.update = plan.update;
    let request = task.request.clone();
    let searched = task.searched.clone();
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    let mut held_back = held_back(
        args,
        &lock,
        &plan.named,
        &request,
        &resolution,
        &registries,
        context,
    )?;
    let updated = lock_with_capabilities(&resolution, project.package(), &registries, context)?;
    let diff = LockDiff::between(&lock, &updated);
    let is_solved_together = is_solved_together(&project.manifest, context)?;
    if is_solved_together {
        workspace::reject_split(&project, &diff, args, context)?;
    }
    let reasons = YankReasons::of_resolution(&resolution, &registries);
    let replacements = Replacement::of_lock(&diff);
    let affected = project.affected(context);
    // What can fail comes before the lockfile is written: a command that fails writes nothing.
    let effects = output.during("Comparing classes", context.registries.activity(), || {
        ProjectEffects::find(&affected, &lock, &replacements, &registries, context)
    })?;
    let written = write_lock(
        &path,
        &LockText::new(&updated, &context.read_options)?,
        bytes.as_deref(),
        writing,
        &context.read_options,
    )?;
    let classes = ProjectClasses::of(&project, &request.host_releases, context);
    let mut report = report(&resolution, &[]);
    output.remarks(why_older(&replacements, &lock, &registries));
    classes.describe_in_report(&mut report, &registries, context);
    classes.describe_in_outdated(&mut held_back, &registries, context);
    let notes = show::notes(&resolution, &reasons, context);
    let registries = project.registries(context)?;
    let note_skipped =
        |output: &mut Output| note_skipped_registries(FROM_CACHE, &registries, context, output);
    if output.is_json() {
        note_skipped(output);
        let mut document = written.to_json(&diff);
        document["moved"] = show::moved_json(&report).into();
        document["held_back"] = held_back_json(&report, &held_back);
        document["effects"] = show::effects_json(&effects, None).into();
        document["not_compared"] = show::not_compared_json(&effects).into();
        document["notes"] = notes.into();
        output.json(&document);
    } else {
        let changes = show::changes(&diff);
        output.notes(&changes);
        output.notes(show::update_reasons(&report, &plan.named, &searched));
        output.notes(show::held_back_outdated(&held_back));
        output.notes(show::update_effects(&effects));
        output.notes(show::not_compared(&effects));
        output.shared_notes(notes);
        output.note(&written.summary(resolution.len(), changes.len()));
        note_skipped(output);
    }
    if !diff.is_empty() && is_solved_together {
        note_other_members(context, output);
    }
    Ok(Exit::Done)
}

/// The packages that did not get their latest version, because of the update itself or before it.
fn held_back_json(report: &UpdateReport, outdated: &[Outdated]) -> Value {
    let mut all = show::held_back_json(report);
    all.extend(show::held_back_outdated_json(outdated));
    all.into()
}

/// Says how to check and update the other members of a workspace that is solved together.
fn note_other_members(context: &Context, output: &mut Output) {
    let invocation = &context.invocation;
    let check = invocation.command_for_none("lock --workspace --check");
    let update = invocation.command_for_none("update --workspace");
    output.note(&format!(
        "The members of the workspace are solved together: `{check}` checks whether they still agree, and `{update}` updates all of them"
    ));
}

/// The packages that an update could not move to their latest version. An update of named packages has proofs about
/// them, except for those with several releases. An exact version is what was asked for.
fn held_back(
    args: &UpdateArgs,
    before: &Lockfile,
    named: &BTreeSet<PackageName>,
    request: &Request,
    resolution: &Resolution,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Vec<Outdated>> {
    let mut several = repeated(before.packages.keys().map(|release| &release.name));
    several.extend(repeated(resolution.packages().iter().map(|it| &it.name)));
    several.retain(|name| named.contains(*name));
    if !named.is_empty() && (several.is_empty() || args.precise.is_some()) {
        return Ok(Vec::new());
    }
    let mut all = outdated(request, resolution, registries, &context.read_options)?.packages;
    all.retain(|entry| {
        let is_meant = named.is_empty() || several.contains(&entry.package);
        is_meant && entry.allowed.as_ref() != Some(&entry.latest)
    });
    Ok(all)
}

/// The names that occur more than once.
fn repeated<'name>(
    names: impl Iterator<Item = &'name PackageName>,
) -> BTreeSet<&'name PackageName> {
    let mut seen = BTreeSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}

/// The plan of an update: the packages to move and to keep.
pub(super) struct UpdatePlan {
    /// The named packages; if there are none, all are updated.
    named: BTreeSet<PackageName>,
    pub(super) locked: Locked,
    pub(super) update: Option<Update>,
}

impl UpdatePlan {
    /// The plan for a lockfile. `packages` are as on the command line.
    pub(super) fn new(
        packages: &[String],
        precise: Option<&str>,
        lock: &Lockfile,
        roots: &[Root],
        registries: &RegistrySet,
        context: &Context,
    ) -> Result<Self> {
        let packages =
            targets::moving_packages(packages, precise, lock, roots, registries, context)?;
        Ok(if packages.is_empty() {
            Self {
                named: BTreeSet::new(),
                locked: Locked::keeping_releases_of(lock),
                update: None,
            }
        } else {
            Self {
                named: packages.keys().cloned().collect(),
                locked: Locked::from_lockfile(lock),
                update: Some(Update::from(packages)),
            }
        })
    }
}

/// The report of moved and held back packages; empty if it updated all packages.
fn report(resolution: &Resolution, roots: &[Arc<Package>]) -> UpdateReport {
    let Some(report) = resolution.update() else {
        return UpdateReport {
            moved: Vec::new(),
            held_back: Vec::new(),
            is_minimal: false,
        };
    };
    let mut report = report.clone();
    for root in roots {
        report.locate_classes(root);
    }
    report
}
