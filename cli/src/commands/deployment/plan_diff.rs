//! `pkgres plan --diff`: the changes are made on an overlay of the machine, to find out which files they would change.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use pkgres_engine::{
    ContentDifference, Control, DriveOptions, Ending, EntryKind, FileDifference, Graph, NodeStatus,
    Overlay, RootEntry, TargetError, TargetLocation, drive,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::failure::{Failure, Result};
use crate::show::counted;

/// The most lines of the difference of a file that are shown to people.
const MAX_LINES: usize = 200;

/// Opens an overlay of the machine, or says why there is none.
pub(super) fn open_overlay(location: &TargetLocation) -> Result<Overlay> {
    location.overlay().map_err(|error| match error {
        TargetError::File(error) => Failure::from(error),
        other => {
            let message = format!("`--diff` is not possible here: {other}");
            let finding = Diagnostic::error(Code::Usage, message)
                .hint("an overlay of this machine, or of a folder, takes the rights of root or a user namespace")
                .hint("without `--diff`, the plan lists the resources that differ");
            Failure::from(finding)
        }
    })
}

/// What the changes of a deployment do to the files of an overlay.
pub(super) struct Trial {
    ending: Ending,
    differences: Vec<FileDifference>,
}

impl Trial {
    /// Makes the changes on an overlay of the machine, which stays as it is.
    pub(super) fn run(
        graph: Graph,
        overlay: &Overlay,
        options: &DriveOptions,
        control: Receiver<Control>,
    ) -> Result<Self> {
        let ending = drive(graph, overlay.shared_machine(), options, control, |_| {});
        let differences = overlay.file_differences();
        Ok(Self {
            ending,
            differences: differences.map_err(|error| Failure::usage(error.to_string()))?,
        })
    }

    /// Marks the resources of a plan as failed that could not be brought into order on the overlay.
    pub(super) fn mark_failures(&self, planned: &mut Ending) {
        let failures = self
            .ending
            .nodes
            .iter()
            .filter_map(|(id, status)| match status {
                NodeStatus::Failed(message) | NodeStatus::Retrying(message) => Some((id, message)),
                _ => None,
            });
        let failures: BTreeMap<_, _> = failures.collect();
        for (id, status) in &mut planned.nodes {
            if let NodeStatus::Pending(_) | NodeStatus::InOrder = status
                && let Some(message) = failures.get(id)
            {
                let message = format!("it fails on an overlay of the machine: {message}");
                *status = NodeStatus::Failed(message);
            }
        }
    }

    /// All files that differ, with the lines of their texts.
    pub(super) fn text(&self) -> String {
        self.differences.iter().map(shown).collect()
    }

    pub(super) fn summary(&self) -> String {
        match self.differences.len() {
            0 => "No file would change".to_owned(),
            count => format!("{} would change", counted(count, "path")),
        }
    }

    pub(super) fn json(&self) -> Value {
        let files = self.differences.iter().map(|difference| {
            json!({
                "path": difference.path.to_string_lossy(),
                "change": match (&difference.before, &difference.after) {
                    (None, _) => "create",
                    (Some(_), None) => "remove",
                    (Some(_), Some(_)) => "change",
                },
                "before": difference.before.as_ref().map(entry_json),
                "after": difference.after.as_ref().map(entry_json),
                "diff": unified(difference),
            })
        });
        files.collect()
    }
}

fn shown(difference: &FileDifference) -> String {
    let path = difference.path.to_string_lossy();
    let path = Escaped::new(&path);
    let first = match (&difference.before, &difference.after) {
        (None, None) => return String::new(),
        (None, Some(after)) => format!("+ {path}: {}\n", described(after)),
        (Some(before), None) => format!("- {path}: {}\n", described(before)),
        (Some(before), Some(after)) => {
            let changes = changes(before, after, &difference.content).join(", ");
            format!("~ {path}: {changes}\n")
        }
    };
    let Some(diff) = unified(difference) else {
        return first;
    };
    let count = diff.lines().count();
    let lines = diff.lines().take(MAX_LINES);
    let lines: String = lines.map(|line| format!("    {line}\n")).collect();
    let rest = match count.saturating_sub(MAX_LINES) {
        0 => String::new(),
        rest => format!("    ({} more)\n", counted(rest, "line")),
    };
    format!("{first}{lines}{rest}")
}

/// What is at a path, in words.
fn described(entry: &RootEntry) -> String {
    match entry.kind {
        EntryKind::File => format!("{:04o}, {}", entry.mode, counted(entry.size, "byte")),
        EntryKind::Link => {
            let target = entry.link_target.clone().unwrap_or_default();
            format!("link to {}", Escaped::path(&target))
        }
        kind => format!("{}, {:04o}", kind.name(), entry.mode),
    }
}

/// What differs between two entries at a path.
fn changes(before: &RootEntry, after: &RootEntry, content: &ContentDifference) -> Vec<String> {
    if before.kind != after.kind || before.kind == EntryKind::Link {
        return vec![format!("{} -> {}", described(before), described(after))];
    }
    let mut changes = Vec::new();
    if *content != ContentDifference::None {
        changes.push(if before.size == after.size {
            "other content".to_owned()
        } else {
            format!(
                "{} -> {}",
                counted(before.size, "byte"),
                counted(after.size, "byte")
            )
        });
    }
    if before.mode != after.mode {
        changes.push(format!("mode {:04o} -> {:04o}", before.mode, after.mode));
    }
    for (what, before, after) in [
        ("owner", before.user, after.user),
        ("group", before.group, after.group),
    ] {
        if before != after {
            changes.push(format!("{what} {before} -> {after}"));
        }
    }
    changes
}

/// The lines that differ, as `diff -u` writes them; `None` if there are none to show.
fn unified(difference: &FileDifference) -> Option<String> {
    let ContentDifference::Text { before, after } = &difference.content else {
        return None;
    };
    // Logs keep what a plan prints.
    if !difference.is_public {
        return None;
    }
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let hunks = unified.context_radius(3).iter_hunks();
    Some(hunks.map(|hunk| hunk.to_string()).collect())
}

fn entry_json(entry: &RootEntry) -> Value {
    let mut document = json!({
        "kind": match entry.kind {
            EntryKind::Other => "other",
            kind => kind.name(),
        },
        "mode": format!("{:04o}", entry.mode),
        "owner": entry.user,
        "group": entry.group,
    });
    if entry.kind == EntryKind::File {
        document["size"] = json!(entry.size);
    }
    if let Some(target) = &entry.link_target {
        document["target"] = json!(target.to_string_lossy());
    }
    document
}
