//! Outdated packages, and what holds them back.

use pkgres_manifest::diagnostic::Location;
use pkgres_registry_client::{BlockingRequirement, Downgrade, Outdated};
use serde_json::{Value, json};

use super::counted;
use super::update_effects::{effects_json, effects_of_outdated};
use crate::update_effects::ProjectEffects;

/// How many requirements that hold back a package are shown. Nearly every package can hold back the core library.
const MAX_SHOWN_REQUIREMENTS: usize = 3;

/// How many packages that an update leaves behind are shown.
const MAX_SHOWN_PACKAGES: usize = 10;

/// A table of outdated packages; the lines below a package show what holds it back, and what its newer versions change
/// for the classes of the project. If the table is wider than the terminal, each package has lines of its own.
pub(crate) fn outdated(
    packages: &[Outdated],
    effects: &ProjectEffects,
    columns: Option<usize>,
) -> String {
    if packages.is_empty() {
        return String::new();
    }
    let allowed = |entry: &Outdated| {
        let allowed = entry.allowed.as_ref();
        allowed.map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let mut rows = vec![["package", "now", "allowed", "latest"].map(str::to_owned)];
    rows.extend(packages.iter().map(|entry| {
        [
            entry.package.to_string(),
            entry.now.to_string(),
            allowed(entry),
            entry.latest.to_string(),
        ]
    }));
    let widths: Vec<usize> = (0..4)
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let needed = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
    let is_narrow = columns.is_some_and(|columns| needed > columns);
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        if !is_narrow {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        } else if at > 0 {
            let [package, now, allowed, latest] = row;
            text.push_str(&format!(
                "{package}\n  now {now}, allowed {allowed}, latest {latest}\n"
            ));
        }
        let Some(entry) = at.checked_sub(1).map(|at| &packages[at]) else {
            continue;
        };
        let requirements = shown_once(&entry.held_back_by);
        for requirement in requirements.iter().take(MAX_SHOWN_REQUIREMENTS) {
            text.push_str(&format!(
                "  held back by {}\n",
                requirement_text(entry, requirement)
            ));
        }
        if let Some(more) = requirements.len().checked_sub(MAX_SHOWN_REQUIREMENTS + 1) {
            let others = counted(more + 1, "other");
            text.push_str(&format!("  and by {others}; `--format json` lists them\n"));
        }
        for line in because(entry) {
            text.push_str(&format!("  held back: {line}\n"));
        }
        text.push_str(&effects_of_outdated(effects, &entry.package, &entry.now));
    }
    text
}

/// Lines about packages that an update of everything did not move to their latest version.
pub(crate) fn held_back_outdated(packages: &[Outdated]) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in packages.iter().take(MAX_SHOWN_PACKAGES) {
        lines.push(format!("{} {} is held back:", entry.package, entry.latest));
        let requirements = shown_once(&entry.held_back_by).into_iter();
        let requirements = requirements.map(|requirement| {
            let BlockingRequirement { owner, spec, .. } = requirement;
            if requirement.is_override {
                return requirement_text(entry, requirement);
            }
            let at = in_parentheses(requirement.location.as_ref());
            format!("{owner} requires {} {spec}{at}", entry.package)
        });
        let because = requirements.chain(because(entry));
        lines.extend(
            because
                .take(MAX_SHOWN_REQUIREMENTS)
                .map(|reason| format!("  {reason}")),
        );
    }
    if let Some(more) = packages.len().checked_sub(MAX_SHOWN_PACKAGES + 1) {
        let others = counted(more + 1, "other package");
        lines.push(format!("and {others}: `pkgres outdated` lists them"));
    }
    lines
}

/// Packages that an update of everything did not move to their latest version, as JSON.
pub(crate) fn held_back_outdated_json(packages: &[Outdated]) -> Vec<Value> {
    let entries = packages.iter().map(|entry| {
        let mut json = package_json(entry);
        json["version"] = json!(entry.latest);
        json["alike"] = json!([]);
        json
    });
    entries.collect()
}

/// What holds back a package if no requirement does by itself, with the places in the files of the project.
fn because(entry: &Outdated) -> impl Iterator<Item = String> {
    let reasons = entry.reasons().map(|reason| {
        let position = in_parentheses(reason.location.as_ref());
        format!("{}{position}", reason.text)
    });
    reasons.chain(entry.because.iter().cloned())
}

fn in_parentheses(location: Option<&Location>) -> String {
    location.map_or_else(String::new, |location| format!(" ({location})"))
}

/// The requirements that hold back a package. All that are overridden are one line, as the override replaces each.
fn shown_once(requirements: &[BlockingRequirement]) -> Vec<&BlockingRequirement> {
    let mut has_override = false;
    let mut requirements: Vec<&BlockingRequirement> = requirements.iter().collect();
    requirements.retain(|it| !it.is_override || !std::mem::replace(&mut has_override, true));
    requirements
}

/// A requirement or an override that holds back a package.
fn requirement_text(entry: &Outdated, requirement: &BlockingRequirement) -> String {
    let position = in_parentheses(requirement.location.as_ref());
    let BlockingRequirement { owner, spec, .. } = requirement;
    if requirement.is_override {
        format!("the override of {} with {}", entry.package, spec.in_words())
    } else {
        format!("{owner}, which requires {spec}{position}")
    }
}

/// Outdated packages as JSON.
pub(crate) fn outdated_json(packages: &[Outdated], effects: &ProjectEffects) -> Vec<Value> {
    let entries = packages.iter().map(|entry| {
        let mut json = package_json(entry);
        let effects = effects_json(effects, Some((&entry.package, &entry.now)));
        json["effects"] = effects.into();
        json
    });
    entries.collect()
}

/// What an update would replace by older versions, as JSON.
pub(crate) fn downgrades_json(downgrades: &[Downgrade]) -> Vec<Value> {
    let entries = downgrades.iter().map(|downgrade| {
        json!({
            "package": downgrade.package,
            "now": downgrade.now,
            "to": downgrade.to,
        })
    });
    entries.collect()
}

fn package_json(entry: &Outdated) -> Value {
    let held_back_by: Vec<Value> = entry
        .held_back_by
        .iter()
        .map(|requirement| {
            json!({
                "package": requirement.owner.name(),
                "version": requirement.owner.version(),
                "spec": requirement.spec.written(),
                "override": requirement.is_override,
            })
        })
        .collect();
    let reasons = entry.reasons().map(|reason| &reason.text);
    let because: Vec<&String> = reasons.chain(&entry.because).collect();
    json!({
        "package": entry.package,
        "now": entry.now,
        "allowed": entry.allowed,
        "latest": entry.latest,
        "held_back_by": held_back_by,
        "because": because,
    })
}
