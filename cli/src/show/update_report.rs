//! The effects of an update: what moved and what was held back.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use pkgres_resolver::{Reason, ReasonKind, UpdateReport};
use serde_json::{Value, json};

use super::conflict::reason_line;
use super::conflict_json::conflict_json;
use super::counted;

/// How many versions that are held back are shown, unless more packages are named.
const MAX_SHOWN_HELD_BACK: usize = 2;

/// Notes on packages that moved without being named, and on packages that were held back.
/// The default registry is shown by its location, if it is among those that were `searched`.
pub(crate) fn update_reasons(
    report: &UpdateReport,
    named: &BTreeSet<PackageName>,
    searched: &[String],
) -> Vec<String> {
    let mut lines = Vec::new();
    for moved in &report.moved {
        if named.contains(&moved.package) || moved.because.is_empty() {
            continue;
        }
        lines.push(format!("{} changed too, because:", moved.package));
        for reason in &moved.because {
            lines.push(format!("  {}", reason.text));
        }
    }
    for held_back in report
        .held_back
        .iter()
        .take(MAX_SHOWN_HELD_BACK.max(named.len()))
    {
        let (package, version) = (&held_back.package, &held_back.version);
        let are_held_back = match held_back.alike.len() {
            0 => "is held back".to_owned(),
            count => format!("and {} are held back", counted(count, "other version")),
        };
        lines.push(format!("{package} {version} {are_held_back}:"));
        let reasons = held_back.because.reasons.iter();
        let is_shown = |reason: &&Reason| {
            let ReasonKind::Wanted { dropped_by } = &reason.kind else {
                return true;
            };
            dropped_by.is_some()
        };
        for reason in reasons.filter(is_shown) {
            lines.push(format!("  {}", reason_line(reason, searched)));
        }
    }
    lines
}

/// The packages that moved, as JSON.
pub(crate) fn moved_json(report: &UpdateReport) -> Vec<Value> {
    let moved = report.moved.iter();
    moved
        .map(|moved| {
            let because: Vec<&str> = moved.because.iter().map(|it| it.text.as_str()).collect();
            json!({
                "package": moved.package,
                "from": moved.from,
                "to": moved.to,
                "because": because,
            })
        })
        .collect()
}

/// The versions that were held back, as JSON.
pub(crate) fn held_back_json(report: &UpdateReport) -> Vec<Value> {
    let held_back = report.held_back.iter();
    held_back
        .map(|held_back| {
            json!({
                "package": held_back.package,
                "version": held_back.version,
                "alike": held_back.alike,
                "because": conflict_json(&held_back.because),
            })
        })
        .collect()
}
