//! `pkgres apply`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pkgres_engine::{
    Cancellation, Cause, DriveOptions, Ending, Progress, RunOptions, RunRecord, Status, Step,
    Target, drive,
};
use pkgres_manifest::ResourceId;
use serde_json::{Value, json};

use super::changes::Changes;
use super::conformance::conforming;
use super::early_end::{EarlyEnd, Unvalidated};
use super::machines::{Machine, MachineResult, Machines};
use super::metrics::MetricsFile;
use super::prepared::{Prepared, lock_target, open_target, validations_of};
use super::report::{
    Report, change_lines, differences_json, reversal_lines, unchanged_lines, unfinished_lines,
};
use super::state::{RunState, plan_reversals};
use super::validations::{Moment, Validations, report_outcomes};
use crate::args::ApplyArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::live_view::LiveView;
use crate::output::Output;
use crate::show::{cause_text, counted};
use crate::signals::RunInterrupts;

pub(in crate::commands) fn apply(
    args: &ApplyArgs,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    output.use_line_documents();
    let mut machines = Machines::read(&args.deployment, &context.read_options.limits)?;
    if args.watch {
        machines = machines.all_at_once();
    }
    if args.metrics.is_some() && !machines.is_single {
        let message = "`--metrics` writes one file, and needs one machine";
        return Err(Failure::usage(message));
    }
    let prepared = Prepared::for_each(&machines, &args.deployment, context, output)?;
    let validations = validations_of(&machines, &prepared, &args.deployment)?;
    let interrupts = RunInterrupts::listen();
    let conforming = conforming(&machines, &prepared, &args.deployment, output);
    let reconciles = args.reconcile || context.settings.is_set("validate-reconcile");
    let reconciles = reconciles && !args.noop;
    machines.run(
        output,
        || interrupts.cancellation.is_cancelled(),
        |at, machine, output| {
            if !conforming[at] {
                return Ok(MachineResult::not_conforming());
            }
            let work = MachineRun {
                args,
                machine,
                prepared: &prepared[at],
                validations: &validations[at],
                interrupts: &interrupts,
                reconciles,
            };
            work.apply(output)
        },
    )
}

/// The run on a machine.
struct MachineRun<'run> {
    args: &'run ApplyArgs,
    machine: &'run Machine,
    prepared: &'run Prepared,
    validations: &'run Validations<'run>,
    interrupts: &'run RunInterrupts,
    reconciles: bool,
}

impl MachineRun<'_> {
    fn apply(&self, output: &mut Output) -> Result<MachineResult> {
        let Self {
            args,
            machine,
            prepared,
            validations,
            interrupts,
            reconciles,
        } = *self;
        let name = machine.location.to_string();
        let target = open_target(machine, &args.deployment)?;
        let _alone = lock_target(&*target, machine, args, output)?;
        let max_runtime = args.max_runtime.map(Duration::from_secs);
        let deadline = max_runtime.and_then(|limit| Instant::now().checked_add(limit));
        let cancellation = interrupts.cancellation.with_deadline(deadline);
        let before = validations.run(&*target, reconciles, &cancellation, output);
        // Whatever a script that was asked to end says about the machine.
        if cancellation.is_cancelled() {
            let early = EarlyEnd::of(interrupts);
            let reason = early.message(&name, "the first change");
            report_unchanged(early.status(), &reason, &name, output);
            return Ok(MachineResult::nothing(early.exit(), early.status()));
        }
        let before = before?;
        let invalid = report_outcomes(&before, Moment::Before, args.noop, output);
        if invalid > 0 && !args.noop {
            let failed = counted(invalid, "validation");
            let reason = format!("{name} fails {failed}: nothing else was changed");
            report_unchanged("invalid", &reason, &name, output);
            return Ok(MachineResult::nothing(Exit::Invalid, "invalid"));
        }
        let mut options = DriveOptions {
            run: RunOptions {
                jobs: args.deployment.jobs.into(),
                noop: args.noop,
                converged_timeout: Duration::from_secs(args.converged_timeout),
                watch: args.watch,
                ..RunOptions::default()
            },
            exit_when_settled: args.converged_exit,
            max_runtime: deadline.map(|it| it.saturating_duration_since(Instant::now())),
            state: None,
        };
        let location = prepared.state.clone();
        let (state, graph, gone) = if args.noop {
            let (graph, gone) = plan_reversals(location, &*target, &prepared.graph)?;
            (None, graph, gone)
        } else {
            let (state, graph, gone) = RunState::begin(location, &target, &prepared.graph)?;
            (Some(state), graph, gone)
        };
        options.run.owed.clone_from(&gone.owed);
        options.state = state.as_ref().map(RunState::shared);
        let afterwards = Afterwards {
            validations,
            target: Arc::clone(&target),
            cancellation: cancellation.clone(),
            interrupts,
        };
        if args.watch && target.watchable().is_none() {
            let pause = options.run.polling.as_secs();
            output.note(&format!(
                "Changes on {name} cannot be watched: it is checked every {pause} s"
            ));
        }
        let record = Arc::new(Mutex::new(RunRecord::new(&graph)));
        note_validations(&record, invalid);
        let metrics = match &args.metrics {
            Some(path) => Some(MetricsFile::start(path, name.clone(), &record)?),
            None => None,
        };
        let view = LiveView::start(&record, &name, output);
        let mut observer = Observer {
            output,
            view,
            record,
            reversed: &gone.reversed,
            changes_nothing: args.noop,
            is_watching: args.watch,
            is_watchable: target.watchable().is_some(),
            goes_on: args.watch && !args.converged_exit,
            causes: BTreeMap::new(),
            changes: Changes::default(),
            failures: BTreeMap::new(),
            pending: BTreeSet::new(),
            has_news: true,
            // What did not change does not have to be validated again.
            afterwards: (!args.noop).then_some(afterwards),
            invalid,
            unvalidated: None,
        };
        let ending = drive(graph, target, &options, interrupts.control(), |progress| {
            observer.observe(progress);
        });
        let changes = std::mem::take(&mut observer.changes);
        let invalid = observer.invalid;
        let unvalidated = observer.unvalidated.take();
        // What follows is written where the view was.
        drop(observer);
        let unwritten = metrics.and_then(|metrics| metrics.end().err());
        if let Some(state) = state {
            state.finish(ending.owed.clone(), output)?;
        }
        let report = Report::new(&ending, prepared, name.clone());
        let report = report.with_invalid(invalid).with_reversed(&gone.reversed);
        if output.is_json() {
            let status = match &unvalidated {
                Some(Unvalidated::Ended(early)) if ending.status == Status::Converged => {
                    early.status()
                }
                _ => status_name(&ending, &report),
            };
            let mut document = report.document(status);
            document["event"] = json!("ended");
            document["changed"] = json!(changes.made);
            document["unfinished"] = json!(changes.unfinished());
            output.json(&document);
        }
        output.findings(&report.failures());
        output.findings(&report.deferrals());
        output.note(&report.apply_summary(&changes, &ending));
        if let Some(unvalidated) = &unvalidated {
            unvalidated.report(&name, output);
        }
        if let Some(failure) = unwritten {
            return Err(failure);
        }
        let mut exit = exit_of(&ending, &report, args);
        if invalid > 0 {
            exit = exit.max(Exit::Invalid);
        }
        if exit == Exit::Done && args.exit_code && report.is_pending() {
            exit = Exit::Pending;
        }
        // Whether the machine is as the packages want it is not known then.
        if let Some(unvalidated) = unvalidated {
            exit = exit.max(unvalidated.exit());
        }
        Ok(report.result(exit, changes.made))
    }
}

/// Reports that no resource was changed, and why.
fn report_unchanged(status: &str, reason: &str, target: &str, output: &mut Output) {
    if output.is_json() {
        let document = json!({
            "schema_version": 1,
            "event": "ended",
            "status": status,
            "target": target,
            "resources": [],
            "changed": 0,
        });
        output.json(&document);
    }
    output.note(reason);
}

fn exit_of(ending: &Ending, report: &Report<'_>, args: &ApplyArgs) -> Exit {
    match ending.status {
        Status::Converged => Exit::Done,
        Status::Failed => Exit::Resource,
        _ if !ending.is_out_of_time => Exit::Interrupted,
        _ if report.has_failed() => Exit::Resource,
        // A run that was to end once all is in order did not get there.
        _ if report.is_settled() && !args.converged_exit => Exit::Done,
        _ => Exit::Failed,
    }
}

fn status_name(ending: &Ending, report: &Report<'_>) -> &'static str {
    match ending.status {
        Status::Converged if report.is_invalid() => "invalid",
        Status::Converged if report.is_pending() => "pending",
        Status::Converged => "converged",
        Status::Failed => "failed",
        _ if ending.is_out_of_time => "out_of_time",
        _ => "interrupted",
    }
}

/// The validations after the changes.
struct Afterwards<'packages> {
    validations: &'packages Validations<'packages>,
    target: Arc<dyn Target>,
    cancellation: Cancellation,
    interrupts: &'packages RunInterrupts,
}

/// Shows what happens while a graph runs.
// They are independent facts about the run.
#[allow(clippy::struct_excessive_bools)]
struct Observer<'run> {
    output: &'run mut Output,
    /// The table on the terminal.
    view: LiveView,
    record: Arc<Mutex<RunRecord>>,
    /// The resources that are gone from the packages, and are reversed.
    reversed: &'run BTreeSet<ResourceId>,
    /// Whether nothing is changed at all.
    changes_nothing: bool,
    is_watching: bool,
    /// Whether changes of files on the machine can be seen at all.
    is_watchable: bool,
    /// Whether it goes on once the machine is in order.
    goes_on: bool,
    /// Why each resource was checked last.
    causes: BTreeMap<ResourceId, Cause>,
    changes: Changes,
    /// Why resources have failed that are not in order again.
    failures: BTreeMap<ResourceId, String>,
    /// The resources that differ, and may not be changed.
    pending: BTreeSet<ResourceId>,
    /// Whether something was changed, or failed, since the machine was in order last.
    has_news: bool,
    /// The validations that run once everything is in order for the first time.
    afterwards: Option<Afterwards<'run>>,
    /// How many validations failed.
    invalid: usize,
    /// Set if the validations after the changes did not end.
    unvalidated: Option<Unvalidated>,
}

impl Observer<'_> {
    fn observe(&mut self, progress: &Progress) {
        self.record
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .note(progress);
        match &progress.step {
            Step::Started(id, cause) => {
                self.causes.insert(id.clone(), *cause);
            }
            step => self.changes.note(step),
        }
        let is_repeated = self.remember(&progress.step);
        if self.output.is_json() {
            self.output.json(&event(progress));
            self.output.flush();
        } else if let Some(note) = self.note(&progress.step) {
            self.view.above(|| self.output.note(&note));
        } else if let Some(lines) = self.lines(progress).filter(|_| !is_repeated) {
            self.view.above(|| {
                self.output.changes(&lines);
                self.output.flush();
            });
        }
        if matches!(progress.step, Step::Converged) {
            self.validate();
        }
    }

    /// Takes note of the state of a resource; returns whether a failure was reported before.
    fn remember(&mut self, step: &Step) -> bool {
        match step {
            Step::Changed(id, _) | Step::InOrder(id) | Step::Unknown(id, _) => {
                let had_failed = self.failures.remove(id).is_some();
                let was_pending = self.pending.remove(id);
                let is_changed = matches!(step, Step::Changed(..));
                self.has_news |= had_failed || was_pending || is_changed;
                false
            }
            Step::Pending(id, _) => {
                self.failures.remove(id);
                self.has_news |= self.pending.insert(id.clone());
                false
            }
            Step::Failed(id, message) => {
                let before = self.failures.insert(id.clone(), message.clone());
                let is_repeated = before.as_ref() == Some(message);
                self.has_news |= !is_repeated;
                is_repeated
            }
            _ => false,
        }
    }

    /// Messages about the run itself.
    fn note(&mut self, step: &Step) -> Option<String> {
        match step {
            // That nothing can be watched was said at the start.
            Step::NotWatched(id, reason) if self.is_watchable => {
                Some(format!("{id} is checked from time to time: {reason}"))
            }
            Step::Converged if self.goes_on && std::mem::take(&mut self.has_news) => {
                Some(match self.pending.len() {
                    0 => "The machine is in order; watching it until Ctrl-C".to_owned(),
                    count => {
                        let differ = counted(count, "resource");
                        format!("{differ} to change; watching the machine until Ctrl-C")
                    }
                })
            }
            _ => None,
        }
    }

    fn validate(&mut self) {
        let Some(Afterwards {
            validations,
            target,
            cancellation,
            interrupts,
        }) = self.afterwards.take()
        else {
            return;
        };
        self.view.above(|| {
            let outcomes = validations.run(&*target, false, &cancellation, self.output);
            match outcomes {
                // Whatever a script that was asked to end says about the machine.
                _ if cancellation.is_cancelled() && !validations.is_empty() => {
                    self.unvalidated = Some(Unvalidated::Ended(EarlyEnd::of(interrupts)));
                }
                Ok(outcomes) => {
                    self.invalid += report_outcomes(&outcomes, Moment::After, false, self.output);
                }
                Err(failure) => self.unvalidated = Some(Unvalidated::Failed(failure)),
            }
        });
        note_validations(&self.record, self.invalid);
    }

    /// What is shown to people; `None` if it is nothing to look at.
    fn lines(&self, progress: &Progress) -> Option<String> {
        let lines = match &progress.step {
            Step::Changed(id, differences) | Step::Pending(id, differences)
                if self.reversed.contains(id) =>
            {
                reversal_lines(id, differences)
            }
            Step::Pending(id, differences) if !self.changes_nothing => {
                unchanged_lines(id, differences)
            }
            Step::Changed(id, differences) | Step::Pending(id, differences) => {
                change_lines(id, differences)
            }
            // What has failed for good is reported at the end.
            Step::Failed(id, message) if self.is_watching => format!("! {id}: {message}\n"),
            Step::Unfinished(id, differences) => unfinished_lines(id, differences),
            _ => return None,
        };
        if !self.is_watching {
            return Some(lines);
        }
        let time = format!("{:9.3}s  ", progress.at.as_secs_f64());
        let cause = self.cause_of(&progress.step);
        let (first, rest) = lines.split_once('\n').unwrap_or((&lines, ""));
        let rest: String = rest
            .lines()
            .map(|line| format!("{:12}{line}\n", ""))
            .collect();
        Some(format!("{time}{first}{cause}\n{rest}"))
    }

    fn cause_of(&self, step: &Step) -> String {
        let (Step::Changed(id, _) | Step::Pending(id, _) | Step::Failed(id, _)) = step else {
            return String::new();
        };
        match self.causes.get(id) {
            None | Some(Cause::First) => String::new(),
            Some(cause) => format!("  ({})", cause_text(*cause)),
        }
    }
}

/// Takes note of how many validations failed.
fn note_validations(record: &Mutex<RunRecord>, failed: usize) {
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    record.set_failed_validations(failed);
}

/// An event as JSON.
fn event(progress: &Progress) -> Value {
    let mut event = match &progress.step {
        Step::Started(id, cause) => {
            json!({"event": "started", "resource": id.to_string(), "cause": cause_name(*cause)})
        }
        Step::InOrder(id) => json!({"event": "in_order", "resource": id.to_string()}),
        Step::Changed(id, differences) => json!({
            "event": "changed",
            "resource": id.to_string(),
            "differences": differences_json(differences),
        }),
        Step::Pending(id, differences) => json!({
            "event": "pending",
            "resource": id.to_string(),
            "differences": differences_json(differences),
        }),
        Step::Unknown(id, reason) => {
            json!({"event": "unknown", "resource": id.to_string(), "reason": reason})
        }
        Step::Unfinished(id, differences) => json!({
            "event": "unfinished",
            "resource": id.to_string(),
            "differences": differences_json(differences),
        }),
        Step::Failed(id, message) => {
            json!({"event": "failed", "resource": id.to_string(), "error": message})
        }
        Step::NotWatched(id, reason) => {
            json!({"event": "not_watched", "resource": id.to_string(), "reason": reason})
        }
        Step::Converged => json!({"event": "converged"}),
        _ => json!({"event": "replaced"}),
    };
    event["at"] = json!(progress.at.as_secs_f64());
    event
}

fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::First => "first",
        Cause::Noticed => "noticed",
        Cause::Received => "received",
        Cause::Refreshed => "refreshed",
        Cause::Polled => "polled",
        Cause::Retried => "retried",
        _ => "other",
    }
}
