//! `pkgres plan`

use pkgres_engine::{DriveOptions, RunOptions, Status, drive};

use super::prepared::{Prepared, open_target};
use super::report::Report;
use crate::args::{Format, PlanArgs};
use crate::commands::graph::draw;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::interrupt::RunInterrupts;
use crate::output::Output;
use crate::show::Graph;

pub(in crate::commands) fn plan(
    args: &PlanArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let mut prepared = Prepared::read(&args.deployment, context, output)?;
    if !matches!(output.format, Format::Text | Format::Json) {
        return draw(&Graph::of_deployment(&prepared.graph), Exit::Done, output);
    }
    let graph = std::mem::take(&mut prepared.graph);
    let validations = prepared.validations(&args.deployment)?;
    let target = open_target(&args.deployment)?;
    let interrupts = RunInterrupts::listen();
    let outcomes = validations.run(&*target, false, &interrupts.cancellation, output)?;
    let options = DriveOptions {
        run: RunOptions {
            jobs: args.deployment.jobs.into(),
            noop: true,
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let ending = drive(graph, target, &options, interrupts.control, |_| {});
    if ending.status == Status::Interrupted {
        return Ok(Exit::Interrupted);
    }
    let report = Report::new(&ending, &prepared, args.deployment.target.to_string());
    let report = report.with_validations(&outcomes);
    if output.is_json() {
        output.json(&report.plan_document());
    } else {
        output.changes(&report.plan());
    }
    output.findings(&report.failures());
    for outcome in &outcomes {
        output.findings(&outcome.findings());
    }
    output.note(&report.plan_summary());
    Ok(if report.has_failed() {
        Exit::Resource
    } else if report.is_invalid() {
        Exit::Invalid
    } else if args.exit_code && report.is_pending() {
        Exit::Pending
    } else {
        Exit::Done
    })
}
