//! `pkgres apply`

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pkgres_engine::{
    AppliedState, Cancellation, DriveOptions, Ending, Graph, RunOptions, RunRecord, SharedWatches,
    Status, Target, drive,
};
use serde_json::json;

use super::change_counts::Changes;
use super::conformance::conforming;
use super::early_end::{EarlyEnd, Unvalidated};
use super::machines::{Machine, MachineResult, MachineState, Machines};
use super::metrics::MetricsFile;
use super::observer::{FinalValidation, Mode, Observer, Validity, Watch, locked};
use super::prepared::{Prepared, open_target, trusted_commands, validations_of};
use super::report::Report;
use super::state::{RemovedResources, RunState, lock_state, lost_content, plan_reversals};
use super::validations::{Moment, Validations, report_outcomes};
use crate::args::ApplyArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::{counted, diagnostics_json};
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
    // A run that ends before it looks at the machine did not bring it into order either.
    let recording = Recording::start(args, &machines)?;
    let recording = Mutex::new(Some(recording));
    let prepared = Prepared::for_each(&machines, &args.deployment, context, output)?;
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
    let reconciles = args.reconcile || context.settings.is_set("validate-reconcile");
    let reconciles = reconciles && !args.noop;
    let watches = SharedWatches::default();
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
                watches: &watches,
            };
            let recording = recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let recording = recording.unwrap_or_default();
            work.apply(recording, output)
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
    /// What watches the files of all machines.
    watches: &'run SharedWatches,
}

/// A machine, and the state on it, which no other run can change.
type OpenMachine = (Arc<dyn Target>, Arc<AppliedState>);

/// A run that is ready to start.
struct StartedRun {
    /// The state on the machine; `None` if nothing is changed.
    state: Option<RunState>,
    /// What keeps the machine locked during a run that changes nothing.
    _locked: Option<Arc<AppliedState>>,
    graph: Graph,
    removed: RemovedResources,
}

/// The record of a run, and the metrics that are written of it.
#[derive(Default)]
struct Recording {
    record: Arc<Mutex<RunRecord>>,
    metrics: Option<MetricsFile>,
    started: Option<Instant>,
}

impl Recording {
    /// Starts to write metrics, if they are wanted; that of several machines has none.
    fn start(args: &ApplyArgs, machines: &Machines) -> Result<Self> {
        let record = Arc::default();
        let metrics = match (&args.metrics, &machines.all[..]) {
            (Some(path), [machine]) => Some(MetricsFile::start(
                path,
                machine.location.to_string(),
                &record,
            )?),
            _ => None,
        };
        Ok(Self {
            record,
            metrics,
            started: Some(Instant::now()),
        })
    }

    /// Starts the record of a graph.
    fn begin(&self, graph: &Graph) {
        let mut record = RunRecord::new(graph);
        if let Some(started) = self.started {
            record.set_delay(started.elapsed());
        }
        *locked(&self.record) = record;
    }

    /// Writes the metrics for the last time; returns why that is not possible.
    fn end(self) -> Option<Failure> {
        self.metrics?.end().err()
    }
}

/// What came of a run.
struct RunOutcome {
    ending: Ending,
    changes: Changes,
    validity: Validity,
    /// Why the metrics could not be written at the end.
    unwritten: Option<Failure>,
}

impl MachineRun<'_> {
    fn apply(&self, recording: Recording, output: &mut Output) -> Result<MachineResult> {
        *locked(&recording.record) = RunRecord::new(&self.prepared.graph);
        let max_runtime = self.args.max_runtime.map(Duration::from_secs);
        let deadline = max_runtime.and_then(|limit| Instant::now().checked_add(limit));
        let cancellation = self.interrupts.cancellation.with_deadline(deadline);
        let Some((target, state)) = self.open(&cancellation, output)? else {
            let result = self.end_early(output);
            return match recording.end() {
                Some(unwritten) => Err(unwritten),
                None => Ok(result),
            };
        };
        let invalid = match self.validate_before(&*target, &cancellation, &recording, output)? {
            ControlFlow::Continue(invalid) => invalid,
            ControlFlow::Break(result) => {
                return match recording.end() {
                    Some(unwritten) => Err(unwritten),
                    None => Ok(result),
                };
            }
        };
        let started = self.begin_state(state, &target)?;
        recording.begin(&started.graph);
        self.prepared.note_if_empty(&started.removed, output);
        let options = self.drive_options(&started, deadline);
        let final_validation = FinalValidation {
            validations: self.validations,
            target: Arc::clone(&target),
            cancellation,
            interrupts: self.interrupts,
        };
        if self.args.noop && self.prepared.trusts_commands(self.machine, &*target) {
            output.note(trusted_commands(self.machine));
        }
        let validity = Validity::new(invalid, &recording.record);
        let outcome = self.drive(
            &started,
            &options,
            validity,
            final_validation,
            recording,
            output,
        );
        Ok(self.conclude(outcome, started, output))
    }

    fn name(&self) -> String {
        self.machine.location.to_string()
    }

    /// Opens the machine, and locks its state; `None` if that is cancelled.
    fn open(
        &self,
        cancellation: &Cancellation,
        output: &mut Output,
    ) -> Result<Option<OpenMachine>> {
        let (args, machine) = (self.args, self.machine);
        let target = match open_target(machine, &args.deployment, cancellation) {
            Err(failure) if failure.exit == Exit::Interrupted => return Ok(None),
            target => target?,
        };
        let known = (&self.prepared.state, &self.prepared.objects);
        let state = lock_state(known, &*target, machine, args, cancellation, output)?;
        Ok(state.map(|state| (target, state)))
    }

    /// Reports a run that ends before its first change, because it was interrupted or its time is up.
    fn end_early(&self, output: &mut Output) -> MachineResult {
        let (name, early) = (self.name(), EarlyEnd::of(self.interrupts));
        let reason = early.message(&name, "the first change");
        report_unchanged(early.status(), &reason, &name, output);
        MachineResult::nothing(early.exit(), early.state())
    }

    /// Runs the validations before the first change; returns how many failed, or the result of a run that ends there.
    fn validate_before(
        &self,
        target: &dyn Target,
        cancellation: &Cancellation,
        recording: &Recording,
        output: &mut Output,
    ) -> Result<ControlFlow<MachineResult, usize>> {
        let (name, is_noop) = (self.name(), self.args.noop);
        let outcomes = (self.validations).run(target, self.reconciles, cancellation, output);
        // Whatever a script that was asked to end says about the machine.
        if cancellation.is_cancelled() {
            return Ok(ControlFlow::Break(self.end_early(output)));
        }
        let invalid = report_outcomes(&outcomes?, Moment::Before, is_noop, output);
        locked(&recording.record).set_failed_validations(invalid);
        if invalid > 0 && !is_noop {
            let failed = counted(invalid, "validation");
            let reason = format!("{name} fails {failed}: nothing else was changed");
            report_unchanged("invalid", &reason, &name, output);
            let result = MachineResult::nothing(Exit::Invalid, MachineState::Invalid);
            return Ok(ControlFlow::Break(result));
        }
        Ok(ControlFlow::Continue(invalid))
    }

    /// Adds the reversals of what is removed to the graph.
    fn begin_state(
        &self,
        state: Arc<AppliedState>,
        target: &Arc<dyn Target>,
    ) -> Result<StartedRun> {
        let graph = &self.prepared.graph;
        if self.args.noop {
            if let Some(lost) = lost_content(&state, &**target, graph) {
                return Err(lost);
            }
            let (graph, removed) = plan_reversals(&state, graph);
            return Ok(StartedRun {
                state: None,
                _locked: Some(state),
                graph,
                removed,
            });
        }
        let (state, graph, removed) = RunState::begin(state, target, graph)?;
        Ok(StartedRun {
            state: Some(state),
            _locked: None,
            graph,
            removed,
        })
    }

    fn drive_options(&self, started: &StartedRun, deadline: Option<Instant>) -> DriveOptions {
        let args = self.args;
        DriveOptions {
            run: RunOptions {
                jobs: args.deployment.jobs.into(),
                noop: args.noop,
                converged_timeout: Duration::from_secs(args.converged_timeout),
                watch: args.watch,
                owed: started.removed.pending_refreshes.clone(),
                ..RunOptions::default()
            },
            exit_when_settled: args.converged_exit,
            max_runtime: deadline.map(|it| it.saturating_duration_since(Instant::now())),
            state: started.state.as_ref().map(RunState::shared),
            watches: self.watches.clone(),
        }
    }

    /// Runs the graph, and shows what happens.
    fn drive(
        &self,
        started: &StartedRun,
        options: &DriveOptions,
        validity: Validity,
        final_validation: FinalValidation<'_>,
        recording: Recording,
        output: &mut Output,
    ) -> RunOutcome {
        let target = Arc::clone(&final_validation.target);
        let mode = Mode {
            noop: self.args.noop,
            watch: match (self.args.watch, self.args.converged_exit) {
                (false, _) => Watch::Never,
                (true, true) => Watch::UntilConverged,
                (true, false) => Watch::UntilInterrupted,
            },
            is_watchable: target.watchable().is_some(),
        };
        if self.args.watch && !mode.is_watchable {
            let (name, pause) = (self.name(), options.run.polling.as_secs());
            output.note(&format!(
                "Changes on {name} cannot be watched: it is checked every {pause} s"
            ));
        }
        let record = Arc::clone(&recording.record);
        let (name, reversed) = (self.name(), &started.removed.reversed);
        let mut observer = Observer::new(&name, mode, record, reversed, validity, output);
        // What did not change does not have to be validated again.
        if !self.args.noop {
            observer = observer.with_final_validation(final_validation);
        }
        let control = self.interrupts.control();
        let ending = drive(
            started.graph.clone(),
            target,
            options,
            control,
            |progress| {
                observer.observe(progress);
            },
        );
        // What follows is written where the view was.
        let (changes, validity) = observer.end();
        RunOutcome {
            ending,
            changes,
            validity,
            unwritten: recording.end(),
        }
    }

    /// Records the end of the run in the state, and reports it.
    fn conclude(
        &self,
        outcome: RunOutcome,
        started: StartedRun,
        output: &mut Output,
    ) -> MachineResult {
        let RunOutcome {
            ending,
            changes,
            validity:
                Validity {
                    invalid,
                    unvalidated_error,
                },
            unwritten,
        } = outcome;
        // What was changed is reported even if it could not be recorded.
        let finished = started.state.map(|state| state.finish(&ending, output));
        let unrecorded = finished.and_then(std::result::Result::err);
        let unrecorded: Vec<Failure> = unrecorded.into_iter().chain(unwritten).collect();
        let report = Report::new(&ending, self.prepared, self.name())
            .with_invalid(invalid)
            .with_reversed(&started.removed.reversed);
        if output.is_json() {
            let status = match &unvalidated_error {
                _ if ending.status != Status::Converged => status_name(&ending, &report),
                Some(Unvalidated::Ended(early)) => early.status(),
                Some(Unvalidated::Failed(_)) => "failed",
                None if !unrecorded.is_empty() => "failed",
                None => status_name(&ending, &report),
            };
            let mut document = report.document(status);
            document["event"] = json!("ended");
            document["changed"] = json!(changes.made);
            document["unfinished"] = json!(changes.unfinished());
            let unvalidated_error = unvalidated_error.iter().flat_map(Unvalidated::findings);
            let unrecorded = unrecorded.iter().flat_map(|failure| &failure.findings);
            let mut findings = report.errors();
            findings.extend(unvalidated_error.chain(unrecorded).cloned());
            if !findings.is_empty() {
                document["diagnostics"] = diagnostics_json(&output.with_folder(&findings));
            }
            output.json(&document);
        }
        output.findings(&report.failures());
        output.findings(&report.deferrals());
        output.note(&report.apply_summary(&changes, &ending));
        started.removed.note(output);
        if let Some(unvalidated_error) = &unvalidated_error {
            unvalidated_error.report(&self.name(), output);
        }
        for failure in &unrecorded {
            output.findings(&failure.findings);
        }
        let mut exit = exit_of(&ending, &report, self.args);
        if invalid > 0 {
            exit = exit.max(Exit::Invalid);
        }
        if exit == Exit::Done && self.args.exit_code && report.is_pending() {
            exit = Exit::Pending;
        }
        // Whether the machine is as the packages want it is not known then.
        if let Some(unvalidated_error) = unvalidated_error {
            exit = exit.max(unvalidated_error.exit());
        }
        let exits = unrecorded.iter().map(|failure| failure.exit);
        let exit = exits.fold(exit, Exit::max);
        report.result(exit, changes.made)
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
            "unfinished": 0,
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
