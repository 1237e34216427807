//! `pkgres outdated`

use std::path::Path;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_registry_client::{
    Downgrade, Outdated, OutdatedReport, RegistrySet, UpdateFailure, outdated,
};
use pkgres_resolver::{Locked, Preference, Request, Resolution};
use serde_json::{Value, json};

use crate::args::OutdatedArgs;
use crate::commands::lock::{joint_task, note_skipped_registries};
use crate::commands::members::Projects;
use crate::commands::several_projects::Batch;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::lockfile::lock_of;
use crate::output::Output;
use crate::project::Project;
use crate::project_classes::ProjectClasses;
use crate::show::{self, counted};
use crate::solve::{read_frozen, task_with_lock};
use crate::solve_task::SolveTask;
use crate::update_effects::{ProjectEffects, Replacement};
use crate::yank_reasons::YankReasons;

pub(super) fn run(args: &OutdatedArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let projects = Projects::of(&args.members, &args.solve.manifest, context)?;
    let is_titled = matches!(projects, Projects::Several(_));
    let words = ("Looking for newer versions", "Looked at");
    // What an update of all members that are solved together solves. The members of a run all belong to them, or none
    // does.
    let first = match &projects {
        Projects::One(manifest) => Some(manifest),
        Projects::Several(batch) => batch.manifests.first(),
    };
    let members = match first {
        Some(manifest) if !args.solve.mode.frozen => Batch::solved_with(manifest, context)?,
        _ => None,
    };
    let joint = members.map(|members| joint_task(&members.manifests, context));
    let joint = joint.transpose()?;
    projects.run(words, context, output, |manifest, output| {
        show_outdated(args, manifest, joint.as_ref(), is_titled, context, output)
    })
}

/// Shows what is outdated in one project; with a title, if there are several. `joint` is the task of updating all members
/// that are solved together with it.
fn show_outdated(
    args: &OutdatedArgs,
    manifest: &Path,
    joint: Option<&SolveTask>,
    is_titled: bool,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let project = Project::open(manifest, context)?;
    let found = OutdatedProject::find(args, &project, joint, context, output)?;
    // Without a lockfile, there is nothing to update.
    let is_locked = project.lock_path().symlink_metadata().is_ok();
    let word = if is_locked { "update" } else { "lock" };
    let update = match joint {
        Some(_) => (context.invocation).command_for_none(&format!("{word} --workspace")),
        None => context.invocation.command(word),
    };
    let registries = project.registries(context)?;
    note_skipped_registries(["Compared with", "with"], &registries, context, output);
    if output.is_json() {
        output.json(&found.to_json(&update));
    } else {
        if is_titled && !found.packages.is_empty() {
            output.title(&Escaped::path(manifest).to_string());
        }
        found.report(&update, output);
    }
    Ok(if args.exit_code && !found.packages.is_empty() {
        Exit::Pending
    } else {
        Exit::Done
    })
}

/// What is outdated in a project.
struct OutdatedProject {
    resolution: Box<Resolution>,
    /// The outdated packages.
    packages: Vec<Outdated>,
    /// The packages that an update replaces by older ones.
    downgrades: Vec<Downgrade>,
    /// Why an update of everything fails, if it does.
    failure: Option<UpdateFailure>,
    /// What the newer versions change for the classes of the project.
    effects: ProjectEffects,
    reasons: YankReasons,
    preference: Preference,
}

impl OutdatedProject {
    fn find(
        args: &OutdatedArgs,
        project: &Project,
        joint: Option<&SolveTask>,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let (request, resolution, registries) = resolve(args, project, context, output)?;
        let (request, asked) = match joint {
            Some(task) => (&task.request, &task.registries),
            None => (&request, &registries),
        };
        let activity = context.registries.activity();
        let report = output.during("Looking for newer versions", activity, || {
            outdated(request, &resolution, asked, &context.read_options)
        });
        let OutdatedReport {
            mut packages,
            downgrades,
            failure,
            ..
        } = report?;
        let effects = effects_of(
            &packages,
            project,
            &resolution,
            &registries,
            context,
            output,
        )?;
        ProjectClasses::of(project, &request.host_releases, context).describe_in_outdated(
            &mut packages,
            &registries,
            context,
        );
        let reasons = YankReasons::of_resolution(&resolution, &registries);
        output.registry_findings(&registries.take_findings());
        Ok(Self {
            resolution,
            packages,
            downgrades,
            failure,
            effects,
            reasons,
            preference: request.options.prefer,
        })
    }

    /// What was excluded, whether an update fails, and whether it prefers older versions. `update` is the command that
    /// updates the packages.
    fn notes(&self, update: &str) -> Vec<String> {
        let mut notes = show::excluded(&self.resolution, &self.reasons);
        let failure = self.failure.map(|failure| match failure {
            UpdateFailure::Conflict => "An update of all packages has no resolution",
            _ => "The search for an update of all packages gave up",
        });
        notes.extend(failure.map(|it| format!("{it}: `{update} --dry-run` says why")));
        if self.preference == Preference::Oldest {
            notes.push(format!(
                "Older versions are preferred: `{update}` chooses the oldest that are allowed"
            ));
        }
        notes
    }

    fn to_json(&self, update: &str) -> Value {
        json!({
            "schema_version": 1,
            "status": if self.packages.is_empty() { "up_to_date" } else { "outdated" },
            "packages": show::outdated_json(&self.packages, &self.effects),
            "downgrades": show::downgrades_json(&self.downgrades),
            "not_compared": show::not_compared_json(&self.effects),
            "notes": self.notes(update),
        })
    }

    /// Shows what is outdated. `update` is the command that updates the packages, or makes the first lockfile.
    fn report(&self, update: &str, output: &mut Output) {
        let columns = output.data_width();
        output.prose(&show::outdated(&self.packages, &self.effects, columns));
        output.notes(show::not_compared(&self.effects));
        output.shared_notes(self.notes(update));
        output.note(&self.summary(update));
        for downgrade in &self.downgrades {
            output.note(&format!(
                "`{update}` replaces {} {} by the older {}",
                downgrade.package, downgrade.now, downgrade.to
            ));
        }
    }

    /// The sentence about all packages. `update` is the command that updates them.
    fn summary(&self, update: &str) -> String {
        let all = self.resolution.len();
        let packages = counted(all, "package");
        let count = self.packages.len();
        if count == 0 {
            return if all == 1 {
                "The only package is up to date".to_owned()
            } else {
                format!("All {packages} are up to date")
            };
        }
        let is_updated = |entry: &&Outdated| {
            let allowed = entry.allowed.as_ref();
            !entry.is_removed && allowed.is_some_and(|allowed| *allowed > entry.now)
        };
        let updated: Vec<&Outdated> = self.packages.iter().filter(is_updated).collect();
        let removed = self.packages.iter().filter(|entry| entry.is_removed);
        let removed = removed.count();
        let held_back = count - updated.len() - removed;
        let mut parts = Vec::new();
        if !updated.is_empty() {
            let what = match (updated.len() == count, count) {
                (true, 1) => "it".to_owned(),
                (true, _) => "them".to_owned(),
                (false, _) => updated.len().to_string(),
            };
            parts.push(format!("`{update}` updates {what}"));
            let is_behind = |entry: &&&Outdated| entry.allowed.as_ref() != Some(&entry.latest);
            let behind = updated.iter().filter(is_behind).count();
            if behind == updated.len() {
                parts.push("but not to the latest version".to_owned());
            } else if behind > 0 {
                parts.push(format!("{behind} of them not to the latest version"));
            }
        }
        if removed > 0 {
            let verb = if updated.is_empty() {
                format!("`{update}` removes")
            } else {
                "removes".to_owned()
            };
            parts.push(format!("{verb} {removed}"));
        }
        if held_back > 0 {
            let are = if held_back == 1 { "is" } else { "are" };
            parts.push(format!("{held_back} {are} held back"));
        }
        let are = if count == 1 { "is" } else { "are" };
        format!("{count} of {packages} {are} outdated; {}", parts.join(", "))
    }
}

/// The resolution of a project, with its registries, and the request for newer versions.
fn resolve(
    args: &OutdatedArgs,
    project: &Project,
    context: &Context,
    output: &mut Output,
) -> Result<(Request, Box<Resolution>, RegistrySet)> {
    let solve = &args.solve;
    let is_frozen = solve.mode.frozen;
    let task = if is_frozen {
        SolveTask::of_project(project, context)?
    } else {
        task_with_lock(solve, project, context, output)?
    };
    // Newer versions are looked for regardless of the lockfile.
    let request = Request {
        locked: Locked::default(),
        ..task.request.clone()
    };
    let (resolution, registries) = if is_frozen {
        let resolution = read_frozen(solve, &project.manifest, context)?;
        (Box::new(resolution), task.registries)
    } else {
        task.solve_with_registries(context, output)?
    };
    Ok((request, resolution, registries))
}

/// What newer versions of outdated packages change for the classes of a project.
fn effects_of(
    packages: &[Outdated],
    project: &Project,
    resolution: &Resolution,
    registries: &RegistrySet,
    context: &Context,
    output: &mut Output,
) -> Result<ProjectEffects> {
    if packages.is_empty() {
        return Ok(ProjectEffects::default());
    }
    let replacements = Replacement::of_outdated(packages);
    let (affected, lock) = (project.affected(context), lock_of(resolution));
    output.during("Comparing classes", context.registries.activity(), || {
        ProjectEffects::find(&affected, &lock, &replacements, registries, context)
    })
}
