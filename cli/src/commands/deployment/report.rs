//! What came of a run, for people and as JSON.

use std::collections::BTreeSet;

use pkgres_engine::{Difference, Ending, NodeStatus, Status};
use pkgres_manifest::ResourceId;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use serde_json::{Value, json};

use super::prepared::Prepared;
use super::validations::ValidationOutcome;
use crate::show::counted;

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
        self.pending() > 0
    }

    /// Whether every resource was checked and is in order, or may not be changed.
    pub(super) fn is_settled(&self) -> bool {
        self.in_order() + self.pending() == self.nodes.len()
    }

    fn in_order(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::InOrder))
    }

    fn pending(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Pending(_)))
    }

    fn failed(&self) -> usize {
        self.count(|status| matches!(status, NodeStatus::Failed(_) | NodeStatus::Retrying(_)))
    }

    /// The resources that were not looked at, because others before them failed or the run ended.
    fn left(&self) -> usize {
        self.nodes.len() - self.in_order() - self.pending() - self.failed()
    }

    /// The outcomes of validations, then all resources and what would change.
    pub(super) fn plan(&self) -> String {
        let validations = self.validations.iter().map(ValidationOutcome::plan_lines);
        let lines = self.nodes.iter().map(|(id, status)| match status {
            NodeStatus::InOrder => format!("= {id}\n"),
            NodeStatus::Pending(differences) if self.is_reversed(id) => {
                let lines = change_lines(id, differences);
                lines.replacen('\n', " (gone from the packages)\n", 1)
            }
            NodeStatus::Pending(differences) => change_lines(id, differences),
            NodeStatus::Blocked(before) => format!("? {id} (waits for {before})\n"),
            _ => format!("! {id}\n"),
        });
        validations.chain(lines).collect()
    }

    /// The errors of the resources that have failed.
    pub(super) fn failures(&self) -> Vec<Diagnostic> {
        let failures = self.nodes.iter().filter_map(|(id, status)| {
            let (NodeStatus::Failed(message) | NodeStatus::Retrying(message)) = status else {
                return None;
            };
            let finding = Diagnostic::error(Code::ResourceFailed, format!("{id}: {message}"));
            let finding = match self.prepared.resource(id) {
                Some(resource) => finding.at(resource.description.id.location.clone()),
                // What is restored is in no file of the packages.
                None => finding,
            };
            let waiting = self.waiting_for(id);
            Some(match waiting.as_slice() {
                [] => finding,
                [one] => finding.hint(format!("{one} waits for it")),
                several => finding.hint(format!("{} resources wait for it", several.len())),
            })
        });
        failures.collect()
    }

    fn waiting_for(&self, failed: &ResourceId) -> Vec<&ResourceId> {
        let waiting = self.nodes.iter().filter(
            |(_, status)| matches!(status, NodeStatus::Blocked(before) if before == failed),
        );
        waiting.map(|(id, _)| id).collect()
    }

    pub(super) fn plan_summary(&self) -> String {
        let mut parts = vec![format!("{} in order", self.in_order())];
        if self.is_pending() {
            parts.push(format!("{} to change", self.pending()));
        }
        self.add_failed(&mut parts);
        let resources = counted(self.nodes.len(), "resource");
        format!("{resources} on {}: {}", self.target, parts.join(", "))
    }

    fn add_failed(&self, parts: &mut Vec<String>) {
        if self.has_failed() {
            parts.push(format!("{} failed", self.failed()));
        }
        if self.left() > 0 {
            parts.push(format!("{} not looked at", self.left()));
        }
        if self.is_invalid() {
            parts.push(format!("{} failed", counted(self.invalid, "validation")));
        }
    }

    pub(super) fn apply_summary(&self, changed: usize, ending: &Ending) -> String {
        let mut parts = vec![counted(changed, "change")];
        if self.is_pending() {
            parts.push(format!("{} to change", self.pending()));
        }
        self.add_failed(&mut parts);
        let state = match ending.status {
            Status::Converged if self.is_pending() => "is checked",
            Status::Converged => "is in order",
            Status::Failed => "is not in order",
            _ if ending.is_out_of_time => "was left when the time was up",
            _ => "was left at an interrupt",
        };
        format!("{} {state}: {}", self.target, parts.join(", "))
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
                let (package, version) = &resource.release;
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
    let lines = differences
        .iter()
        .map(|difference| format!("    {difference}\n"));
    format!("{mark} {id}\n{}", lines.collect::<String>())
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
