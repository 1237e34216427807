//! The report of a run, for people and as JSON.

use pkgres_manifest::Release;
use std::collections::BTreeSet;

use pkgres_engine::{Difference, Ending, NodeStatus, Status};
use pkgres_manifest::ResourceId;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use serde_json::{Value, json};

use super::change_counts::Changes;
use super::machines::{MachineResult, MachineState};
use super::prepared::Prepared;
use super::validations::ValidationOutcome;
use crate::exit::Exit;
use crate::show::counted;

/// How many resources of a group a message names at most.
const MOST_NAMES: usize = 5;

/// The state of all resources at the end of a run.
pub(super) struct Report<'run> {
    nodes: &'run [(ResourceId, NodeStatus)],
    prepared: &'run Prepared,
    target: String,
    /// What came of the validations of a plan.
    validations: &'run [ValidationOutcome<'run>],
    /// How many validations failed.
    invalid: usize,
    /// The resources that are gone from the packages, and are reversed.
    reversed: Option<&'run BTreeSet<ResourceId>>,
}

impl<'run> Report<'run> {
    pub(super) fn new(ending: &'run Ending, prepared: &'run Prepared, target: String) -> Self {
        Self {
            nodes: &ending.nodes,
            prepared,
            target,
            validations: &[],
            invalid: 0,
            reversed: None,
        }
    }

    /// Adds the outcomes of validations to a plan.
    pub(super) fn with_validations(self, validations: &'run [ValidationOutcome<'run>]) -> Self {
        let failed = validations.iter().filter(|outcome| !outcome.is_passed());
        Self {
            validations,
            invalid: failed.count(),
            ..self
        }
    }

    /// Adds how many validations failed.
    pub(super) fn with_invalid(self, invalid: usize) -> Self {
        Self { invalid, ..self }
    }

    /// Adds which resources are reversed.
    pub(super) fn with_reversed(self, reversed: &'run BTreeSet<ResourceId>) -> Self {
        Self {
            reversed: Some(reversed),
            ..self
        }
    }

    /// Whether a resource is gone from the packages, and is reversed.
    fn is_reversed(&self, id: &ResourceId) -> bool {
        self.reversed.is_some_and(|reversed| reversed.contains(id))
    }

    /// The mark of a resource that is gone from the packages.
    fn origin_of(&self, id: &ResourceId) -> &'static str {
        if self.is_reversed(id) {
            "gone from the packages, "
        } else {
            ""
        }
    }

    /// Whether a validation failed.
    pub(super) fn is_invalid(&self) -> bool {
        self.invalid > 0
    }

    fn count(&self, has: impl Fn(&NodeStatus) -> bool) -> usize {
        self.nodes.iter().filter(|(_, status)| has(status)).count()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed() > 0
    }

    /// Whether something would change.
    pub(super) fn is_pending(&self) -> bool {
        self.pending() + self.deferred() > 0
    }

    /// Whether every resource was checked and is in order, or may not be changed.
    pub(super) fn is_settled(&self) -> bool {
        self.failed() + self.left() == 0
    }

    fn in_order(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::InOrder))
    }

    fn pending(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Pending(_)))
    }

    /// The resources that wait for a change of others, which this run does not make.
    fn deferred(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Deferred(..)))
    }

    /// The resources of which not all could be checked.
    fn unknown(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Unknown(_)))
    }

    /// The resources whose attempt was ended by an interrupt.
    fn cancelled(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Cancelled))
    }

    fn failed(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Failed(_) | NodeStatus::Retrying(_)))
    }

    /// The resources that no run looks at.
    fn hidden(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Hidden))
    }

    /// The resources that were not looked at, because others before them failed or the run ended.
    fn left(&self) -> usize {
        self.count(|status| {
            matches!(
                status,
                NodeStatus::Waiting | NodeStatus::Running | NodeStatus::Blocked(_)
            )
        }) + self.cancelled()
    }

    /// The line of the table of all machines.
    pub(super) fn result(&self, exit: Exit, changed: usize) -> MachineResult {
        let state = match exit {
            Exit::Interrupted => MachineState::Interrupted,
            Exit::Invalid => MachineState::Invalid,
            Exit::Done | Exit::Pending if self.is_pending() => MachineState::Pending,
            Exit::Done | Exit::Pending => MachineState::InOrder,
            _ => MachineState::Failed,
        };
        let pending = self.pending();
        MachineResult {
            exit,
            state,
            counts: [
                self.in_order(),
                changed + pending,
                self.failed(),
                self.left(),
            ],
        }
    }

    /// The outcomes of validations, then all resources and what would change.
    pub(super) fn plan(&self) -> String {
        let validations = self.validations.iter().map(ValidationOutcome::plan_lines);
        let lines = self.nodes.iter().map(|(id, status)| match status {
            NodeStatus::InOrder => format!("= {id}\n"),
            NodeStatus::Pending(differences) if self.is_reversed(id) => {
                reversal_lines(id, differences)
            }
            NodeStatus::Pending(differences) if self.prepared.is_only_checked(id) => {
                unchanged_lines(id, differences)
            }
            NodeStatus::Pending(differences) => change_lines(id, differences),
            NodeStatus::Blocked(before) | NodeStatus::Deferred(before, _) => {
                format!("? {id} ({}waits for {before})\n", self.origin_of(id))
            }
            NodeStatus::Hidden => format!("? {id} (hidden)\n"),
            NodeStatus::Unknown(_) => {
                format!("? {id} ({}not all of it is known)\n", self.origin_of(id))
            }
            _ if self.is_reversed(id) => format!("! {id} (gone from the packages)\n"),
            _ => format!("! {id}\n"),
        });
        validations.chain(lines).collect()
    }

    /// The errors of the resources that have failed, and warnings about those that could not be checked in full.
    pub(super) fn failures(&self) -> Vec<Diagnostic> {
        let unknown = self.nodes.iter().filter_map(|(id, status)| {
            let NodeStatus::Unknown(reason) = status else {
                return None;
            };
            Some(self.warning(id, format!("{id}: {reason}")))
        });
        self.errors().into_iter().chain(unknown).collect()
    }

    /// Warnings about the resources that wait for a change of others, which this run does not make.
    pub(super) fn deferrals(&self) -> Vec<Diagnostic> {
        let deferred = self.nodes.iter().filter_map(|(id, status)| {
            let NodeStatus::Deferred(before, reason) = status else {
                return None;
            };
            Some(self.warning(id, format!("{id} waits for {before}: {reason}")))
        });
        deferred.collect()
    }

    fn warning(&self, id: &ResourceId, message: String) -> Diagnostic {
        let finding = Diagnostic::warning(Code::ResourceFailed, message);
        match self.prepared.resource(id) {
            Some(resource) => finding.at(resource.description.id.location.clone()),
            // What is restored is in no file of the packages.
            None => finding,
        }
    }

    /// The errors of the resources that have failed.
    pub(super) fn errors(&self) -> Vec<Diagnostic> {
        let failures = self.nodes.iter().filter_map(|(id, status)| {
            let (NodeStatus::Failed(message) | NodeStatus::Retrying(message)) = status else {
                return None;
            };
            let group = self.failed_together(id, message);
            if group[0] != id {
                return None;
            }
            let shown: Vec<_> = group
                .iter()
                .take(MOST_NAMES)
                .map(ToString::to_string)
                .collect();
            let more = if group.len() > MOST_NAMES {
                ", ..."
            } else {
                ""
            };
            let is_reversed = self.is_reversed(id);
            let names = format!("{}{more}", shown.join(", "));
            let message = if is_reversed {
                format!("restoring {names}, which is gone from the packages, failed: {message}")
            } else {
                format!("{names}: {message}")
            };
            // What is restored is in no file of the packages.
            let described = group.iter().filter_map(|id| self.prepared.resource(id));
            let places = described.map(|resource| resource.description.id.location.clone());
            let finding = Diagnostic::error(Code::ResourceFailed, message);
            let mut finding = places.fold(finding, Diagnostic::at);
            if is_reversed {
                let record = self.prepared.state.record(id);
                finding = finding.hint(format!(
                    "remove {} there to keep it as it is",
                    record.display()
                ));
            }
            let waiting = self.waiting_for(id);
            Some(match waiting.as_slice() {
                [] => finding,
                [one] => finding.hint(format!("{one} waits for it")),
                several => finding.hint(format!("{} resources wait for it", several.len())),
            })
        });
        failures.collect()
    }

    /// The resources that one operation changes together, and that failed with the same message, with `id` among them.
    fn failed_together<'own>(&'own self, id: &'own ResourceId, why: &str) -> Vec<&'own ResourceId> {
        let group = self.prepared.group_of(id);
        let [_, _, ..] = group else {
            return vec![id];
        };
        let same = self.nodes.iter().filter(|(other, status)| {
            let (NodeStatus::Failed(message) | NodeStatus::Retrying(message)) = status else {
                return false;
            };
            message == why && group.contains(other)
        });
        same.map(|(other, _)| other).collect()
    }

    fn waiting_for(&self, failed: &ResourceId) -> Vec<&ResourceId> {
        let waiting = self.nodes.iter().filter(
            |(_, status)| matches!(status, NodeStatus::Blocked(before) if before == failed),
        );
        waiting.map(|(id, _)| id).collect()
    }

    pub(super) fn plan_summary(&self) -> String {
        let mut parts = vec![format!("{} up to date", self.in_order())];
        self.add_open(&mut parts);
        let resources = counted(self.nodes.len(), "resource");
        let machine = match self.target.as_str() {
            "local:" => "this machine",
            target => target,
        };
        format!("{resources} on {machine}: {}", parts.join(", "))
    }

    /// Adds how many resources are not in order, or may not be.
    fn add_open(&self, parts: &mut Vec<String>) {
        let counts = [
            (self.pending(), "to change"),
            (self.deferred(), "waiting"),
            (self.unknown(), "not fully checked"),
            (self.failed(), "failed"),
            (self.cancelled(), "interrupted"),
            (self.left() - self.cancelled(), "not looked at"),
            (self.hidden(), "hidden"),
        ];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            parts.push(format!("{count} {what}"));
        }
        if self.is_invalid() {
            parts.push(format!("{} failed", counted(self.invalid, "validation")));
        }
    }

    pub(super) fn apply_summary(&self, changes: &Changes, ending: &Ending) -> String {
        let mut parts = vec![format!("{} made", counted(changes.made, "change"))];
        if changes.unfinished() > 0 {
            parts.push(counted(changes.unfinished(), "unfinished change"));
        }
        self.add_open(&mut parts);
        let (machine, run) = match self.target.as_str() {
            "local:" => ("This machine", "The run on this machine".to_owned()),
            target => (target, format!("The run on {target}")),
        };
        let parts = parts.join(", ");
        match ending.status {
            Status::Converged if self.is_invalid() => format!("{machine} is not valid: {parts}"),
            Status::Converged if self.is_pending() => format!("{machine} was checked: {parts}"),
            Status::Converged => format!("{machine} is up to date: {parts}"),
            Status::Failed => format!("{machine} is not up to date: {parts}"),
            _ if ending.is_out_of_time => format!("{run} ended because its time was up: {parts}"),
            _ => format!("{run} was interrupted: {parts}"),
        }
    }

    pub(super) fn plan_document(&self) -> Value {
        let status = if self.has_failed() {
            "failed"
        } else if self.is_invalid() {
            "invalid"
        } else if self.is_pending() {
            "pending"
        } else {
            "in_order"
        };
        let mut document = self.document(status);
        let validations = self.validations.iter().map(ValidationOutcome::json);
        document["validations"] = validations.collect();
        document
    }

    /// The state of all resources as JSON.
    pub(super) fn document(&self, status: &str) -> Value {
        let resources = self.nodes.iter().map(|(id, status)| {
            let mut document = json!({"id": id.to_string(), "kind": id.kind(), "name": id.name()});
            if let Some(resource) = self.prepared.resource(id) {
                let Release {
                    name: package,
                    version,
                } = &resource.release;
                document["package"] = json!(package.as_str());
                document["version"] = json!(version.to_string());
                if let Some(object) = &resource.object {
                    document["object"] = json!(object);
                }
            }
            if self.is_reversed(id) {
                document["reversal"] = json!(true);
            }
            let state = match status {
                NodeStatus::InOrder => "in_order",
                NodeStatus::Pending(differences) => {
                    document["differences"] = differences_json(differences);
                    "pending"
                }
                NodeStatus::Failed(error) | NodeStatus::Retrying(error) => {
                    document["error"] = json!(error);
                    "failed"
                }
                NodeStatus::Unknown(reason) => {
                    document["reason"] = json!(reason);
                    "unknown"
                }
                NodeStatus::Deferred(before, reason) => {
                    document["waits_for"] = json!(before.to_string());
                    document["reason"] = json!(reason);
                    "deferred"
                }
                NodeStatus::Cancelled => "interrupted",
                NodeStatus::Hidden => "hidden",
                NodeStatus::Blocked(before) => {
                    document["waits_for"] = json!(before.to_string());
                    "blocked"
                }
                NodeStatus::Waiting | NodeStatus::Running => "not_looked_at",
            };
            document["state"] = json!(state);
            document
        });
        json!({
            "schema_version": 1,
            "status": status,
            "target": self.target,
            "resources": resources.collect::<Vec<_>>(),
        })
    }
}

/// A resource whose change was begun and failed, and its differences.
pub(super) fn unfinished_lines(id: &ResourceId, differences: &[Difference]) -> String {
    format!("! {id} (unfinished)\n{}", difference_lines(differences))
}

fn difference_lines(differences: &[Difference]) -> String {
    let lines = differences.iter();
    lines
        .map(|difference| format!("    {difference}\n"))
        .collect()
}

/// A resource and its differences, marked by what happens to it.
pub(super) fn change_lines(id: &ResourceId, differences: &[Difference]) -> String {
    let is_new = differences.iter().all(|difference| difference.is.is_none());
    let is_removed = differences
        .iter()
        .all(|difference| difference.wanted.is_none());
    let mark = match (is_new, is_removed) {
        (true, false) => '+',
        (false, true) => '-',
        _ => '~',
    };
    format!("{mark} {id}\n{}", difference_lines(differences))
}

/// A resource that is gone from the packages and is reversed, and its differences.
pub(super) fn reversal_lines(id: &ResourceId, differences: &[Difference]) -> String {
    let lines = change_lines(id, differences);
    lines.replacen('\n', " (gone from the packages)\n", 1)
}

/// A resource that differs and stays as it is, because of its parameter `noop`.
pub(super) fn unchanged_lines(id: &ResourceId, differences: &[Difference]) -> String {
    let lines = change_lines(id, differences);
    lines.replacen('\n', " (stays as it is: noop)\n", 1)
}

pub(super) fn differences_json(differences: &[Difference]) -> Value {
    let all = differences.iter().map(|difference| {
        json!({
            "property": difference.property,
            "is": difference.is,
            "wanted": difference.wanted,
        })
    });
    all.collect()
}
