//! `pkgres repair`

mod apply;

use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::repairs;
use pkgres_resolver::{Conflict, Repairs, Request};
use serde_json::json;

use crate::args::RepairArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_owner::require_own_lock;
use crate::lockfile::{PreviousLock, lock_missing, parse_lock};
use crate::output::Output;
use crate::project::Project;
use crate::repair_commands::update_arguments;
use crate::show::{self, Editable, counted};
use crate::solve::reject_lock_modes;
use crate::solve_task::{Searched, SolveTask, lists_all, report_conflict};

use super::lock::locking_task;
use super::several_projects::Batch;
use super::update::UpdatePlan;

pub(super) fn run(args: &RepairArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.apply.is_some() {
        reject_lock_modes("repair", &args.write, context)?;
    }
    let project = Project::open(args.manifest(), context)?;
    let previous = PreviousLock::read(&project.lock_path(), context)?;
    if args.apply.is_some() {
        require_own_lock(&project, previous.roots(), context)?;
    }
    output.remarks(previous.note());
    // What repairs one member alone can be a conflict for those that are solved with it.
    let batch = if args.update.is_empty() {
        Batch::solved_with(&project.manifest, context)?
    } else {
        None
    };
    let members = batch.map_or_else(Vec::new, |batch| batch.manifests);
    let mut task = if members.is_empty() {
        let mut task = SolveTask::of_project(&project, context)?;
        task.request.locked = previous.locked();
        task
    } else {
        locking_task(&members, context)?
    };
    if !args.update.is_empty() {
        let Some(bytes) = &previous.bytes else {
            return Err(lock_missing("to update", context));
        };
        let lock = parse_lock(&project.lock_path(), bytes, context)?;
        let precise = args.precise.as_deref();
        let roots = &task.request.roots;
        let plan = UpdatePlan::new(
            &args.update,
            precise,
            &lock,
            roots,
            &task.registries,
            context,
        )?;
        task.request.locked = plan.locked;
        task.request.update = plan.update;
    }
    let request = task.request.clone();
    let of_update = request.update.as_ref();
    let of_update = of_update.and_then(|update| update_arguments(update, &request.locked));
    let words = of_update.map_or_else(
        || "repair".to_owned(),
        |of_update| format!("repair {of_update}"),
    );
    let locations = std::mem::take(&mut task.searched);
    let (searched, registries) = task.search(context, output)?;
    let host = project.format.rules().host;
    let why_not_requirements = project
        .editor()
        .err()
        .map(|not_editable| not_editable.reason);
    let run = RepairRun {
        args,
        project: &project,
        members: &members,
        previous: &previous,
        request: &request,
        editable: Editable::new(why_not_requirements, host, &context.settings),
        words,
        context,
    };
    let conflict = match searched {
        Searched::Conflict(conflict) => conflict,
        Searched::Solved(resolution) => {
            run.report_resolved(resolution.len(), output);
            return Ok(Exit::Done);
        }
    };
    let mut found = output.during("Looking for repairs", context.registries.activity(), || {
        repairs(&request, &conflict, &registries, &context.read_options)
    })?;
    // What can be applied is listed first, and has the first numbers.
    found
        .found
        .sort_by_key(|repair| show::unapplicable(repair, run.editable).is_some());
    output.registry_findings(&registries.take_findings());
    let Some(number) = args.apply else {
        run.list(&conflict, &found, &locations, output);
        return Ok(Exit::Failed);
    };
    let repair = number.checked_sub(1).and_then(|at| found.found.get(at));
    let repair = repair.ok_or_else(|| run.no_such_number(number, &found))?;
    run.apply(number, repair, output)
}

/// A request whose repairs are listed or made.
struct RepairRun<'a> {
    args: &'a RepairArgs,
    project: &'a Project,
    /// The manifests of the members that are solved together, if the project is one of them and nothing is updated.
    members: &'a [PathBuf],
    previous: &'a PreviousLock,
    /// The request that ended in the conflict.
    request: &'a Request,
    editable: Editable,
    /// The command and its arguments, as hints repeat them.
    words: String,
    context: &'a Context,
}

impl RepairRun<'_> {
    /// Reports that there is no conflict.
    fn report_resolved(&self, packages: usize, output: &mut Output) {
        if output.is_json() {
            let status = "resolved";
            output.json(&json!({"schema_version": 1, "status": status, "repairs": []}));
            return;
        }
        let packages = counted(packages, "package");
        output.note(&format!("There is nothing to repair: {packages} resolved"));
        let invocation = &self.context.invocation;
        if let Some(precise) = &self.args.precise {
            let words = format!("update {} --precise {precise}", self.args.update.join(" "));
            output.note(&format!(
                "`{}` makes the update",
                invocation.command(&words)
            ));
        } else if self.previous.bytes.is_none() {
            let command = invocation.command("lock");
            output.note(&format!("There is no lockfile; `{command}` writes it"));
        }
    }

    /// The error for a number that is not in the menu.
    fn no_such_number(&self, number: usize, found: &Repairs) -> Failure {
        let message = match found.found.len() {
            0 => {
                let message = format!("there is no number {number}: no change repairs this");
                return Failure::usage(message);
            }
            1 => format!("there is no number {number}: the only number is 1"),
            count => format!("there is no number {number}: the numbers are 1 to {count}"),
        };
        let hint = format!(
            "`{}` lists them",
            self.context.invocation.command(&self.words)
        );
        Diagnostic::error(Code::Usage, message).hint(hint).into()
    }

    /// Prints the conflict and the menu.
    fn list(
        &self,
        conflict: &Conflict,
        found: &Repairs,
        locations: &[String],
        output: &mut Output,
    ) {
        let editable = self.editable;
        if output.is_json() {
            let (listed, blocked) = show::repairs_json(found, editable);
            output.json(&json!({
                "schema_version": 1,
                "status": "conflict",
                "conflict": show::conflict_json(conflict),
                "repairs": listed,
                "blocked": blocked,
                "complete": found.is_complete,
            }));
            return;
        }
        // The menu has what these hints say.
        let mut shown = conflict.clone();
        let repairs = conflict.suggestions.iter();
        let texts: Vec<&str> = repairs.map(|repair| repair.text.as_str()).collect();
        shown
            .hints
            .retain(|hint| !texts.contains(&hint.text.as_str()));
        let invocation = &self.context.invocation;
        report_conflict(
            &shown,
            locations,
            &lists_all(self.request, invocation),
            output,
        );
        output.prose(&show::repairs(found, self.args.all, editable));
        // The core library of a Heat template can only be overridden, and the menu has that.
        let reason = editable.why_not_requirements();
        if let Some(reason) = reason.filter(|_| self.project.package().is_none()) {
            output.note(&format!(
                "The requirements of {} have to be changed by hand: {reason}",
                Escaped::path(&self.project.manifest)
            ));
        }
        let command = |number: usize| {
            let words = format!("{} --apply {number}", self.words);
            invocation.command(&words)
        };
        output.notes(show::how_to_apply(found, editable, &command));
    }
}
