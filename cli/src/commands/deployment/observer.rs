//! Shows what happens while a graph runs, and validates the machine once it is in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pkgres_engine::{Cancellation, Cause, Progress, RunRecord, Step, Target};
use pkgres_manifest::ResourceId;
use serde_json::{Value, json};

use super::change_counts::Changes;
use super::early_end::{EarlyEnd, Unvalidated};
use super::report::{
    change_lines, differences_json, reversal_lines, unchanged_lines, unfinished_lines,
};
use super::validations::{Moment, Validations, report_outcomes};
use crate::live_view::LiveView;
use crate::output::Output;
use crate::show::{cause_text, counted};
use crate::signals::RunInterrupts;

/// The mode of the run that is shown.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    /// Whether nothing is changed at all.
    pub(super) noop: bool,
    pub(super) watch: Watch,
    /// Whether changes of files on the machine can be seen at all.
    pub(super) is_watchable: bool,
}

/// How long a run watches the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    Never,
    UntilConverged,
    UntilInterrupted,
}

impl Mode {
    fn is_watching(self) -> bool {
        self.watch != Watch::Never
    }
}

/// The validations after the changes, which run once everything is in order for the first time.
pub(super) struct FinalValidation<'packages> {
    pub(super) validations: &'packages Validations<'packages>,
    pub(super) target: Arc<dyn Target>,
    pub(super) cancellation: Cancellation,
    pub(super) interrupts: &'packages RunInterrupts,
}

/// What came of the validations.
pub(super) struct Validity {
    /// How many validations failed.
    pub(super) invalid: usize,
    /// Set if the validations after the changes did not end.
    pub(super) unvalidated_error: Option<Unvalidated>,
}

impl Validity {
    /// How many validations failed before the changes.
    pub(super) fn new(invalid: usize, record: &Mutex<RunRecord>) -> Self {
        locked(record).set_failed_validations(invalid);
        Self {
            invalid,
            unvalidated_error: None,
        }
    }

    fn add(&mut self, last: FinalValidation<'_>, record: &Mutex<RunRecord>, output: &mut Output) {
        let FinalValidation {
            validations,
            target,
            cancellation,
            interrupts,
        } = last;
        match validations.run(&*target, false, &cancellation, output) {
            // Whatever a script that was asked to end says about the machine.
            _ if cancellation.is_cancelled() && !validations.is_empty() => {
                self.unvalidated_error = Some(Unvalidated::Ended(EarlyEnd::of(interrupts)));
            }
            Ok(outcomes) => {
                self.invalid += report_outcomes(&outcomes, Moment::After, false, output);
            }
            Err(failure) => self.unvalidated_error = Some(Unvalidated::Failed(failure)),
        }
        locked(record).set_failed_validations(self.invalid);
    }
}

pub(super) fn locked(record: &Mutex<RunRecord>) -> MutexGuard<'_, RunRecord> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was reported of the resources so far.
#[derive(Default)]
struct History {
    /// Why resources have failed that are not in order again.
    failures: BTreeMap<ResourceId, String>,
    /// The resources that differ, or wait, and are not changed, with what was last said of them.
    pending: BTreeMap<ResourceId, String>,
    /// Whether something was changed, or failed, since it was last said that the machine is in order.
    changed_since_converged: bool,
}

impl History {
    /// Adds the state of a resource; returns whether the same was reported before.
    fn add(&mut self, step: &Step) -> bool {
        match step {
            Step::Changed(id, _) | Step::InOrder(id) | Step::Unknown(id, _) => {
                let had_failed = self.failures.remove(id).is_some();
                let was_pending = self.pending.remove(id).is_some();
                let is_changed = matches!(step, Step::Changed(..));
                self.changed_since_converged |= had_failed || was_pending || is_changed;
                false
            }
            Step::Pending(id, _) | Step::Deferred(id, ..) => {
                self.failures.remove(id);
                let said = format!("{step:?}");
                let before = self.pending.insert(id.clone(), said.clone());
                self.changed_since_converged |= before.is_none();
                before == Some(said)
            }
            Step::Failed(id, message) => {
                let before = self.failures.insert(id.clone(), message.clone());
                let is_repeated = before.as_ref() == Some(message);
                self.changed_since_converged |= !is_repeated;
                is_repeated
            }
            _ => false,
        }
    }
}

/// Shows what happens while a graph runs.
pub(super) struct Observer<'run> {
    output: &'run mut Output,
    /// The table on the terminal.
    view: LiveView,
    mode: Mode,
    record: Arc<Mutex<RunRecord>>,
    /// The resources that are gone from the packages, and are reversed.
    reversed: &'run BTreeSet<ResourceId>,
    /// Why each resource was checked last.
    causes: BTreeMap<ResourceId, Cause>,
    changes: Changes,
    history: History,
    validity: Validity,
    final_validation: Option<FinalValidation<'run>>,
}

impl<'run> Observer<'run> {
    pub(super) fn new(
        name: &str,
        mode: Mode,
        record: Arc<Mutex<RunRecord>>,
        reversed: &'run BTreeSet<ResourceId>,
        validity: Validity,
        output: &'run mut Output,
    ) -> Self {
        Self {
            view: LiveView::start(&record, name, output),
            output,
            mode,
            record,
            reversed,
            causes: BTreeMap::new(),
            changes: Changes::default(),
            history: History {
                changed_since_converged: true,
                ..History::default()
            },
            validity,
            final_validation: None,
        }
    }

    /// Adds the validations after the changes.
    pub(super) fn with_final_validation(self, last: FinalValidation<'run>) -> Self {
        Self {
            final_validation: Some(last),
            ..self
        }
    }

    /// Removes the table from the terminal.
    pub(super) fn end(self) -> (Changes, Validity) {
        (self.changes, self.validity)
    }

    pub(super) fn observe(&mut self, progress: &Progress) {
        locked(&self.record).note(progress);
        match &progress.step {
            Step::Started(id, cause) => {
                self.causes.insert(id.clone(), *cause);
            }
            step => self.changes.note(step),
        }
        let is_repeated = self.history.add(&progress.step);
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
        if matches!(progress.step, Step::Converged)
            && let Some(last) = self.final_validation.take()
        {
            let validity = &mut self.validity;
            self.view
                .above(|| validity.add(last, &self.record, self.output));
        }
    }

    /// Messages about the run itself.
    fn note(&mut self, step: &Step) -> Option<String> {
        match step {
            // That nothing can be watched was said at the start.
            Step::NotWatched(id, reason) if self.mode.is_watchable => {
                Some(format!("{id} is checked from time to time: {reason}"))
            }
            Step::Ending(running) => {
                let (running, it) = match running.as_slice() {
                    [one] => (one.to_string(), "it"),
                    several => (counted(several.len(), "resource"), "them"),
                };
                Some(format!(
                    "Ending: waits for {running}; Ctrl-C again asks {it} to end"
                ))
            }
            Step::Converged
                if self.mode.watch == Watch::UntilInterrupted
                    && std::mem::take(&mut self.history.changed_since_converged) =>
            {
                Some(match self.history.pending.len() {
                    0 => "The machine is up to date; watching it until Ctrl-C".to_owned(),
                    count => {
                        let differ = counted(count, "resource");
                        format!("{differ} to change; watching the machine until Ctrl-C")
                    }
                })
            }
            _ => None,
        }
    }

    /// What is shown to people; `None` if it is nothing to look at.
    fn lines(&self, progress: &Progress) -> Option<String> {
        let lines = match &progress.step {
            Step::Changed(id, differences) | Step::Pending(id, differences)
                if self.reversed.contains(id) =>
            {
                reversal_lines(id, differences)
            }
            Step::Pending(id, differences) if !self.mode.noop => unchanged_lines(id, differences),
            Step::Changed(id, differences) | Step::Pending(id, differences) => {
                change_lines(id, differences)
            }
            Step::Deferred(id, before, _) if self.mode.is_watching() => {
                format!("? {id} (waits for {before})\n")
            }
            // What has failed for good is reported at the end.
            Step::Failed(id, message) if self.mode.is_watching() => format!("! {id}: {message}\n"),
            Step::Unfinished(id, differences) => unfinished_lines(id, differences),
            _ => return None,
        };
        if !self.mode.is_watching() {
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
        let (Step::Changed(id, _)
        | Step::Pending(id, _)
        | Step::Deferred(id, ..)
        | Step::Failed(id, _)) = step
        else {
            return String::new();
        };
        match self.causes.get(id) {
            None | Some(Cause::First) => String::new(),
            Some(cause) => format!("  ({})", cause_text(*cause)),
        }
    }
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
        Step::Deferred(id, before, reason) => json!({
            "event": "deferred",
            "resource": id.to_string(),
            "waits_for": before.to_string(),
            "reason": reason,
        }),
        Step::Cancelled(id) => json!({"event": "interrupted", "resource": id.to_string()}),
        Step::NotWatched(id, reason) => {
            json!({"event": "not_watched", "resource": id.to_string(), "reason": reason})
        }
        Step::Ending(running) => {
            let running: Vec<String> = running.iter().map(ToString::to_string).collect();
            json!({"event": "ending", "waits_for": running})
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
