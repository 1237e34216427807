//! `pkgres outdated`

use std::path::Path;

use pkgres_registry_client::{OutdatedReport, outdated};
use pkgres_resolver::{Locked, Preference, Request};
use serde_json::json;

use crate::args::OutdatedArgs;
use crate::commands::members::Projects;
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
    projects.run(words, context, output, |manifest, output| {
        show_outdated(args, manifest, is_titled, context, output)
    })
}

/// Shows what is outdated in one project; with a title, if there are several.
fn show_outdated(
    args: &OutdatedArgs,
    manifest: &Path,
    is_titled: bool,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let solve = &args.solve;
    let project = Project::open(manifest, context)?;
    let task = if solve.mode.frozen {
        SolveTask::of_project(&project, context)?
    } else {
        task_with_lock(solve, &project, context, output)?
    };
    // Newer versions are looked for regardless of the lockfile.
    let request = Request {
        locked: Locked::default(),
        ..task.request.clone()
    };
    let (resolution, registries) = if solve.mode.frozen {
        (
            Box::new(read_frozen(solve, manifest, context)?),
            task.registries,
        )
    } else {
        task.solve_with_registries(context, output)?
    };
    let progress = output.progress("Looking for newer versions", context.registries.activity());
    let report = outdated(&request, &resolution, &registries, &context.read_options);
    drop(progress);
    let OutdatedReport {
        packages: mut outdated_packages,
        downgrades,
        ..
    } = report?;
    let effects = if outdated_packages.is_empty() {
        ProjectEffects::default()
    } else {
        let replacements = Replacement::of_outdated(&outdated_packages);
        let (affected, lock) = (project.affected(context), lock_of(&resolution));
        let progress = output.progress("Comparing classes", context.registries.activity());
        let found = ProjectEffects::find(&affected, &lock, &replacements, &registries, context);
        drop(progress);
        found?
    };
    ProjectClasses::of(&project, &request.provided, context).describe_in_outdated(
        &mut outdated_packages,
        &registries,
        context,
    );
    let reasons = YankReasons::of_resolution(&resolution, &registries);
    output.registry_findings(&registries.take_findings());
    let exit = if args.exit_code && !outdated_packages.is_empty() {
        Exit::Pending
    } else {
        Exit::Done
    };
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if outdated_packages.is_empty() { "up_to_date" } else { "outdated" },
            "packages": show::outdated_json(&outdated_packages, &effects),
            "downgrades": show::downgrades_json(&downgrades),
            "not_compared": show::not_compared_json(&effects),
            "notes": show::excluded(&resolution, &reasons),
        }));
        return Ok(exit);
    }
    if is_titled && !outdated_packages.is_empty() {
        output.title(&project.name().to_string());
    }
    output.prose(&show::outdated(
        &outdated_packages,
        &effects,
        output.data_width(),
    ));
    output.notes(show::not_compared(&effects));
    output.shared_notes(show::excluded(&resolution, &reasons));
    let held_back = outdated_packages
        .iter()
        .filter(|entry| entry.allowed.as_ref() != Some(&entry.latest))
        .count();
    let movable = outdated_packages
        .iter()
        .filter(|entry| {
            entry
                .allowed
                .as_ref()
                .is_some_and(|allowed| *allowed != entry.now)
        })
        .count();
    if request.options.prefer == Preference::Oldest {
        let update = context.invocation.command("update");
        output.note(&format!(
            "Older versions are preferred: `{update}` chooses the oldest that are allowed"
        ));
    }
    let all = resolution.len();
    let packages = counted(all, "package");
    output.note(&match outdated_packages.len() {
        0 if all == 1 => "The only package is up to date".to_owned(),
        0 => format!("All {packages} are up to date"),
        count => {
            let are = if count == 1 { "is" } else { "are" };
            let mut parts = Vec::new();
            if movable > 0 {
                let update = context.invocation.command("update");
                let what = match (count, held_back) {
                    (1, _) => "it".to_owned(),
                    (_, 0) => "them".to_owned(),
                    _ => movable.to_string(),
                };
                parts.push(format!("`{update}` updates {what}"));
            }
            if held_back > 0 {
                let are = if held_back == 1 { "is" } else { "are" };
                parts.push(format!("{held_back} {are} held back"));
            }
            format!("{count} of {packages} {are} outdated; {}", parts.join(", "))
        }
    });
    for downgrade in &downgrades {
        output.note(&format!(
            "`{}` replaces {} {} by the older {}",
            context.invocation.command("update"),
            downgrade.package,
            downgrade.now,
            downgrade.to
        ));
    }
    Ok(exit)
}
