//! Conflicts as text.

use std::collections::HashSet;

use clap::builder::styling::{AnsiColor, Style};
use pkgres_manifest::ReleaseSource;
use pkgres_manifest::diagnostic::{Code, Location, sentence_list};
use pkgres_resolver::{Conflict, Hint, Reason, ReasonKind};

use super::columns::{columns, padded};
use super::shortened_list::{Folded, FoldedLine};
use crate::registries::is_override;

/// The greatest number of lines of a conflict as text, in a wide terminal. Longer explanations are folded.
const MAX_LINES: usize = 10;

/// How many hints are shown; if there are more, the last line counts the others.
const MAX_HINTS: usize = 4;

/// How a conflict is written as text.
pub(crate) struct ConflictLayout<'a> {
    /// The locations of the registries, which are listed if no registry has a package.
    pub(crate) searched: &'a [String],
    /// The command or option that shows what is folded.
    pub(crate) lists_all: &'a str,
    pub(crate) is_styled: bool,
    /// The width of the terminal. In a narrow one, locations are on lines of their own.
    pub(crate) columns: Option<usize>,
}

/// A conflict as text: what clashes, what brought it in, and hints.
pub(crate) fn conflict(conflict: &Conflict, layout: &ConflictLayout<'_>) -> String {
    let error = layout.style(AnsiColor::Red);
    let mut text = format!(
        "{error}error[{}]{error:#}: {}",
        conflict.code, conflict.summary
    );
    let clashing = conflict.reasons.iter().filter(|reason| reason.clashes);
    let clashing = clashing.flat_map(|reason| lines(reason, layout.searched));
    let clashing: Vec<(String, String)> = clashing.collect();
    let leading = conflict.reasons.iter().filter(|reason| !reason.clashes);
    let leading: Vec<&Reason> = leading.collect();
    let searched_line = searched_line(conflict, layout.searched);
    let hints = Folded::new(&conflict.hints, MAX_HINTS);
    let others = 1 + usize::from(searched_line.is_some()) + hints.lines();
    let lines = MAX_LINES.saturating_sub(others);
    let clashing_lines = lines.saturating_sub(leading.len().min(2));
    let clashing_lines = layout.write_clashing(&clashing, clashing_lines, &mut text);
    layout.write_leading(&leading, lines.saturating_sub(clashing_lines), &mut text);
    if let Some(line) = searched_line {
        text.push_str(&format!("\n  {line}"));
    }
    let style = layout.style(AnsiColor::Cyan);
    for line in hints.iter() {
        text.push_str(&match line {
            FoldedLine::Shown(line) => format!("\n{style}hint{style:#}: {line}"),
            FoldedLine::Hidden(count) => format!(
                "\n{style}hint{style:#}: ... {count} more; `{}` lists all",
                layout.lists_all
            ),
        });
    }
    text
}

impl ConflictLayout<'_> {
    fn style(&self, color: AnsiColor) -> Style {
        if self.is_styled {
            color.on_default().bold()
        } else {
            Style::new()
        }
    }

    /// Writes the origins and texts of what clashes, joined by a bracket, and returns the number of lines.
    fn write_clashing(
        &self,
        clashing: &[(String, String)],
        max_lines: usize,
        text: &mut String,
    ) -> usize {
        let origins = clashing.iter().map(|(origin, _)| columns(origin));
        let width = origins.max().unwrap_or(0);
        let longest = clashing.iter().map(|(_, what)| columns(what)).max();
        let needed = 6 + width + longest.unwrap_or(0);
        let is_narrow = self.columns.is_some_and(|columns| needed > columns);
        let folded = Folded::new(clashing, max_lines);
        for (at, line) in folded.iter().enumerate() {
            let mark = match (at, folded.lines()) {
                (_, 1) => '-',
                (0, _) => '\u{250c}',
                (_, count) if at + 1 == count => '\u{2514}',
                _ => '\u{2502}',
            };
            text.push_str(&match line {
                FoldedLine::Shown((origin, what)) if is_narrow => {
                    format!("\n  {mark} {origin}\n      {what}")
                }
                FoldedLine::Shown((origin, what)) => {
                    format!("\n  {mark} {}  {what}", padded(origin, width))
                }
                FoldedLine::Hidden(count) => format!(
                    "\n  {mark} ... {count} more that clash; `{}` lists all",
                    self.lists_all
                ),
            });
        }
        folded.lines()
    }

    /// Writes what brought the clashing requirements in.
    fn write_leading(&self, leading: &[&Reason], max_lines: usize, text: &mut String) {
        for line in Folded::new(leading, max_lines).iter() {
            text.push_str(&match line {
                FoldedLine::Shown(reason) => format!("\n  {}", brought_in(reason, self.searched)),
                FoldedLine::Hidden(count) => format!(
                    "\n  ... {count} more in between; `{}` lists all",
                    self.lists_all
                ),
            });
        }
    }
}

/// The locations that were searched, for a package that no registry has.
fn searched_line(conflict: &Conflict, searched: &[String]) -> Option<String> {
    let is_unknown = conflict.code == Code::UnknownPackage && !searched.is_empty();
    let shown: Vec<&str> = searched.iter().map(|text| without_default(text)).collect();
    is_unknown.then(|| format!("searched: {}", shown.join(", ")))
}

/// A conflict as a numbered proof, with all hints and then all repairs. If no registry has a package, it lists the
/// locations that were `searched`.
pub(crate) fn proof(conflict: &Conflict, searched: &[String]) -> String {
    let mut text = format!("{}: {}\n", conflict.code, conflict.summary);
    for (number, reason) in conflict.reasons.iter().enumerate() {
        let mark = if reason.clashes { "!" } else { " " };
        for (at, (origin, what)) in lines(reason, searched).into_iter().enumerate() {
            let line = with_origin(reason, &what, &origin);
            // The second path of one reason has no number of its own.
            let number = match at {
                0 => format!("{:>3}.", number + 1),
                _ => " ".repeat(4),
            };
            text.push_str(&format!("{number} {mark} {line}\n"));
        }
    }
    text.push_str(match (conflict.is_minimal, conflict.is_smallest) {
        // A reason alone clashes with nothing.
        _ if conflict.reasons.len() == 1 => "",
        (true, true) => {
            "All of these are necessary, and no smaller set of reasons conflicts; those with `!` clash.\n"
        }
        (true, false) => {
            "All of these are necessary for the conflict; those with `!` clash.\n"
        }
        (false, _) => "Some of these may be unnecessary; those with `!` clash.\n",
    });
    if let Some(searched) = searched_line(conflict, searched) {
        text.push_str(&format!("{searched}\n"));
    }
    let repairs = conflict.suggestions.iter().map(|repair| &repair.text);
    let is_repair = |hint: &&Hint| repairs.clone().any(|repair| *repair == hint.text);
    let others = conflict.hints.iter().filter(|hint| !is_repair(hint));
    // Repairs of requirements with different spellings can have the same text.
    let mut shown: HashSet<&str> = HashSet::new();
    for line in others.map(|hint| &hint.text).chain(repairs.clone()) {
        if shown.insert(line) {
            text.push_str(&format!("- {line}\n"));
        }
    }
    text
}

/// A location without the name of the default registry.
fn without_default(location: &str) -> &str {
    location.strip_prefix("default=").unwrap_or(location)
}

/// The origin and the text of a reason; one line for each inheritance path.
fn lines(reason: &Reason, searched: &[String]) -> Vec<(String, String)> {
    match &reason.kind {
        ReasonKind::Inherits { .. } => (reason.text.split("; "))
            .map(|path| ("classes".to_owned(), path.to_owned()))
            .collect(),
        _ => vec![(origin(reason, searched), reason.text.clone())],
    }
}

/// The origin of a reason: a position, a registry, the host or the root. The default registry is shown by
/// its location, if that is among those that were `searched`.
fn origin(reason: &Reason, searched: &[String]) -> String {
    match reason.kind {
        ReasonKind::Wanted { .. } => return "requested".to_owned(),
        ReasonKind::Stays => return "lock".to_owned(),
        _ => {}
    }
    match (&reason.location, &reason.source) {
        (Some(location), _) => {
            let others = reason.more_locations.iter().map(Location::position);
            let others = others.map(|at| format!("{}:{}", at.line, at.column));
            let places: Vec<String> = std::iter::once(location.to_string())
                .chain(others)
                .collect();
            sentence_list(&places, "and")
        }
        (None, Some(ReleaseSource::Host)) => "host".to_owned(),
        (None, Some(ReleaseSource::BuiltIn)) => "built in".to_owned(),
        (None, Some(ReleaseSource::Registry(name))) if is_override(name) => "override".to_owned(),
        (None, Some(ReleaseSource::Registry(name))) => {
            let mut locations = searched.iter();
            let location = locations.find_map(|location| location.strip_prefix("default="));
            match (name.as_str(), location) {
                ("default", Some(location)) => location.to_owned(),
                ("default", None) => "registry".to_owned(),
                _ => format!("registry {name}"),
            }
        }
        (None, None) => "root".to_owned(),
    }
}

/// The text of a reason with its origin, unless the text includes it.
fn with_origin(reason: &Reason, text: &str, origin: &str) -> String {
    match reason.kind {
        ReasonKind::Wanted { .. } | ReasonKind::Stays => text.to_owned(),
        _ => format!("{text} ({origin})"),
    }
}

/// A requirement, package first: `Auth is required by Web 2.1.0 (app/manifest.yaml:12:3)`.
fn brought_in(reason: &Reason, searched: &[String]) -> String {
    let ReasonKind::Requires {
        package,
        overridden_by,
        ..
    } = &reason.kind
    else {
        return with_origin(reason, &reason.text, &origin(reason, searched));
    };
    let mut verbs = [" requires ", " require "].into_iter();
    match verbs.find_map(|verb| reason.text.split_once(verb)) {
        Some((owner, what)) => {
            let spec = what
                .strip_prefix(package.as_str())
                .unwrap_or(what)
                .trim_start();
            // A relative clause about the override ends with a comma.
            let comma = if overridden_by.is_some() { "," } else { "" };
            format!(
                "{package} {spec}{comma} is required by {owner} ({})",
                origin(reason, searched)
            )
        }
        None => reason.text.clone(),
    }
}

/// A reason with its origin, in one line.
pub(crate) fn reason_line(reason: &Reason, searched: &[String]) -> String {
    let lines: Vec<String> = lines(reason, searched)
        .into_iter()
        .map(|(origin, what)| with_origin(reason, &what, &origin))
        .collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{PackageName, Version};

    use super::*;

    #[test]
    fn a_conflict_has_at_most_ten_lines() {
        let package = |name: &str| PackageName::parse(name).expect("a name");
        let reason = |clashes| Reason {
            kind: ReasonKind::Stays,
            owner: Some(package("org.Db")),
            versions: vec![Version::ZERO],
            every_version: false,
            location: None,
            more_locations: Vec::new(),
            source: None,
            searched: Vec::new(),
            clashes,
            text: "org.Db stays".to_owned(),
        };
        for count in [0, 1, 3, 20] {
            for code in [Code::UnknownPackage, Code::NoVersion] {
                let reasons = [vec![reason(true); count], vec![reason(false); count]];
                let long = Conflict {
                    code,
                    summary: "no version can be used".to_owned(),
                    packages: vec![package("org.Db")],
                    reasons: reasons.concat(),
                    is_minimal: true,
                    is_smallest: true,
                    hints: vec![Hint::option("try another one"); count],
                    suggestions: Vec::new(),
                };
                let layout = ConflictLayout {
                    searched: &["index:index.ndjson".to_owned()],
                    lists_all: "pkgres explain app",
                    is_styled: false,
                    columns: None,
                };
                let text = conflict(&long, &layout);
                assert!(text.lines().count() <= MAX_LINES, "{text}");
                let lists_all = "... 17 more; `pkgres explain app` lists all";
                assert_eq!(text.contains(lists_all), count == 20, "{text}");
            }
        }
    }
}
