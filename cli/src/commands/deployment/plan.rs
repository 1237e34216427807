//! `pkgres plan`

use pkgres_engine::{DriveOptions, RunOptions, Status, drive};
use serde_json::json;

use super::conformance::conforming;
use super::early_end::EarlyEnd;
use super::machines::{Machine, MachineResult, Machines};
use super::plan_diff::{Trial, open_overlay};
use super::prepared::{Prepared, open_target, trusted_commands, validations_of};
use super::report::Report;
use super::state::{lost_content, plan_reversals, read_state};
use super::validations::Validations;
use crate::args::{Format, PlanArgs};
use crate::commands::graph::draw;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::show::{Graph, diagnostics_json};
use crate::signals::RunInterrupts;

pub(in crate::commands) fn plan(
    args: &PlanArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let machines = Machines::read(&args.deployment, &context.read_options.limits)?;
    let prepared = Prepared::for_each(&machines, &args.deployment, context, output)?;
    if let Some(graph) = args.graph {
        output.set_format(graph.into());
    }
    if !matches!(output.format(), Format::Text | Format::Json) {
        return draw(
            &Graph::of_deployment(&prepared[0].graph),
            Exit::Done,
            output,
        );
    }
    let validations = validations_of(&machines, &prepared, &args.deployment)?;
    let interrupts = RunInterrupts::listen();
    let conforming = conforming(
        &machines,
        &prepared,
        &args.deployment,
        &context.read_options,
        &interrupts,
        output,
    )?;
    machines.run(
        output,
        || interrupts.cancellation.is_cancelled(),
        |at, machine, output| {
            if !conforming[at] {
                return Ok(MachineResult::not_conforming());
            }
            let prepared = (&*prepared[at], &validations[at]);
            plan_machine(args, machine, prepared, &interrupts, output)
        },
    )
}

/// Reports that the machine was not compared.
fn interrupted(machine: &Machine, output: &mut Output) -> MachineResult {
    let (name, early) = (machine.location.to_string(), EarlyEnd::Interrupted);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": early.status(),
            "target": name,
            "resources": [],
            "validations": [],
        }));
    }
    output.note(&early.message(&name, "everything was compared"));
    MachineResult::nothing(early.exit(), early.state())
}

/// Compares a machine with what is deployed on it.
fn plan_machine(
    args: &PlanArgs,
    machine: &Machine,
    (prepared, validations): (&Prepared, &Validations<'_>),
    interrupts: &RunInterrupts,
    output: &mut Output,
) -> Result<MachineResult> {
    let target = open_target(machine, &args.deployment, &interrupts.cancellation)?;
    let state = read_state((&prepared.state, &prepared.objects), &*target)?;
    let (graph, removed) = plan_reversals(&state, &prepared.graph);
    let lost = lost_content(&state, &*target, &prepared.graph);
    prepared.note_if_empty(&removed, output);
    let overlay = args.diff.then(|| open_overlay(&machine.location));
    let overlay = overlay.transpose()?;
    let outcomes = validations.run(&*target, false, &interrupts.cancellation, output);
    if interrupts.cancellation.is_cancelled() {
        return Ok(interrupted(machine, output));
    }
    let outcomes = outcomes?;
    let options = DriveOptions {
        run: RunOptions {
            jobs: args.deployment.jobs.into(),
            noop: true,
            owed: removed.pending_refreshes.clone(),
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let trial = match &overlay {
        Some(overlay) => {
            let mut options = options.clone();
            options.run.noop = false;
            let control = interrupts.control();
            Some(Trial::run(graph.clone(), overlay, &options, control)?)
        }
        None => None,
    };
    let is_trusted = prepared.trusts_commands(machine, &*target);
    let mut ending = drive(graph, target, &options, interrupts.control(), |_| {});
    if ending.status == Status::Interrupted {
        return Ok(interrupted(machine, output));
    }
    if let Some(trial) = &trial {
        trial.mark_failures(&mut ending);
    }
    let report = Report::new(&ending, prepared, machine.location.to_string());
    let report = report
        .with_validations(&outcomes)
        .with_reversed(&removed.reversed);
    if output.is_json() {
        let mut document = report.plan_document();
        if let Some(trial) = &trial {
            document["files"] = trial.json();
        }
        let mut errors = report.errors();
        if let Some(lost) = &lost {
            document["status"] = json!("failed");
            errors.extend(lost.findings.iter().cloned());
        }
        if !errors.is_empty() {
            document["diagnostics"] = diagnostics_json(&output.with_folder(&errors));
        }
        output.json(&document);
    } else {
        output.changes(&report.plan());
        if let Some(trial) = &trial {
            output.file_differences(&trial.text());
        }
    }
    output.findings(&report.failures());
    for outcome in &outcomes {
        output.findings(&outcome.findings());
    }
    if let Some(trial) = &trial {
        output.note(&trial.summary());
    }
    if is_trusted {
        output.note(trusted_commands(machine));
    }
    output.note(&report.plan_summary());
    removed.note(output);
    if let Some(lost) = &lost {
        output.findings(&lost.findings);
    }
    let exit = if report.has_failed() || lost.is_some() {
        Exit::Resource
    } else if report.is_invalid() {
        Exit::Invalid
    } else if args.exit_code && report.is_pending() {
        Exit::Pending
    } else {
        Exit::Done
    };
    Ok(report.result(exit, 0))
}
