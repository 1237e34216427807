//! Conflicts as text and JSON.

use std::collections::HashSet;
use std::fmt::Write as _;

use clap::builder::styling::{AnsiColor, Style};
use pkgres_manifest::ReleaseSource;
use pkgres_manifest::diagnostic::Code;
use pkgres_resolver::{Conflict, Hint, InheritingClass, Reason, ReasonKind, SingleRepair};
use serde_json::{Value, json};

use super::shortened_list::{Folded, FoldedLine};

/// The greatest number of lines of a conflict as text, in a wide terminal. Longer explanations are folded.
const MAX_LINES: usize = 10;

/// How many hints are shown; if there are more, the last line counts the others.
const MAX_HINTS: usize = 4;

/// A conflict as text: what clashes, what brought it in, and hints. If no registry has a package, it lists the
/// locations that were `searched`. `lists_all` is the command or option that shows what is folded. In a narrow
/// terminal, locations are on lines of their own.
pub(crate) fn conflict(
    conflict: &Conflict,
    searched: &[String],
    lists_all: &str,
    styled: bool,
    columns: Option<usize>,
) -> String {
    let (error, hint) = if styled {
        (
            AnsiColor::Red.on_default().bold(),
            AnsiColor::Cyan.on_default().bold(),
        )
    } else {
        (Style::new(), Style::new())
    };
    let mut text = String::new();
    let mut write = || -> std::fmt::Result {
        write!(
            text,
            "{error}error[{}]{error:#}: {}",
            conflict.code, conflict.summary
        )?;
        let clashing: Vec<(String, String)> = conflict
            .reasons
            .iter()
            .filter(|reason| reason.clashes)
            .flat_map(|reason| lines(reason, searched))
            .collect();
        let width = clashing
            .iter()
            .map(|(origin, _)| origin.chars().count())
            .max()
            .unwrap_or(0);
        let longest = clashing.iter().map(|(_, what)| what.chars().count()).max();
        let is_narrow = columns.is_some_and(|columns| 6 + width + longest.unwrap_or(0) > columns);
        let searched_line = searched_line(conflict, searched);
        let leading: Vec<&Reason> = (conflict.reasons.iter())
            .filter(|reason| !reason.clashes)
            .collect();
        let hints = Folded::new(&conflict.hints, MAX_HINTS);
        let others = 1 + usize::from(searched_line.is_some()) + hints.lines();
        let lines = MAX_LINES.saturating_sub(others);
        let clashing = Folded::new(&clashing, lines.saturating_sub(leading.len().min(2)));
        let leading = Folded::new(&leading, lines.saturating_sub(clashing.lines()));
        for (at, line) in clashing.iter().enumerate() {
            let mark = match (at, clashing.lines()) {
                (_, 1) => '-',
                (0, _) => '\u{250c}',
                (_, count) if at + 1 == count => '\u{2514}',
                _ => '\u{2502}',
            };
            match line {
                FoldedLine::Shown((origin, what)) if is_narrow => {
                    write!(text, "\n  {mark} {origin}\n      {what}")?;
                }
                FoldedLine::Shown((origin, what)) => {
                    write!(text, "\n  {mark} {origin:width$}  {what}")?;
                }
                FoldedLine::Hidden(count) => {
                    write!(
                        text,
                        "\n  {mark} ... {count} more that clash; `{lists_all}` lists all"
                    )?;
                }
            }
        }
        for line in leading.iter() {
            match line {
                FoldedLine::Shown(reason) => write!(text, "\n  {}", brought_in(reason, searched))?,
                FoldedLine::Hidden(count) => {
                    write!(
                        text,
                        "\n  ... {count} more in between; `{lists_all}` lists all"
                    )?;
                }
            }
        }
        if let Some(line) = searched_line {
            write!(text, "\n  {line}")?;
        }
        for line in hints.iter() {
            match line {
                FoldedLine::Shown(line) => write!(text, "\n{hint}hint{hint:#}: {line}")?,
                FoldedLine::Hidden(count) => {
                    write!(
                        text,
                        "\n{hint}hint{hint:#}: ... {count} more; `{lists_all}` lists all"
                    )?;
                }
            }
        }
        Ok(())
    };
    write().expect("writing to a string does not fail");
    text
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
    let repairs = conflict.repairs.iter().map(|repair| &repair.text);
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

/// A location without the name of a registry that nobody gave a name.
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

/// The origin of a reason: a position, a registry, the host or the root. A registry without a name of its own is shown by
/// its location, if that is among those that were `searched`.
fn origin(reason: &Reason, searched: &[String]) -> String {
    match reason.kind {
        ReasonKind::Wanted { .. } => return "requested".to_owned(),
        ReasonKind::Stays => return "lock".to_owned(),
        _ => {}
    }
    match (&reason.location, &reason.source) {
        (Some(location), _) => location.to_string(),
        (None, Some(ReleaseSource::Host)) => "host".to_owned(),
        (None, Some(ReleaseSource::BuiltIn)) => "built in".to_owned(),
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

/// The JSON document of a command that ends with a conflict.
pub(crate) fn conflict_document(conflict: &Conflict) -> Value {
    json!({
        "schema_version": 1,
        "status": "conflict",
        "conflict": conflict_json(conflict),
    })
}

/// A conflict as JSON.
pub(crate) fn conflict_json(conflict: &Conflict) -> Value {
    let steps: Vec<Value> = conflict.reasons.iter().map(reason_json).collect();
    json!({
        "code": conflict.code.to_string(),
        "summary": conflict.summary,
        "steps": steps,
        "packages": conflict.packages,
        "minimal": conflict.is_minimal,
        "smallest": conflict.is_smallest,
        "hints": conflict.hints.iter().map(|hint| &hint.text).collect::<Vec<_>>(),
        "repairs": conflict.repairs.iter().map(repair_json).collect::<Vec<_>>(),
    })
}

fn repair_json(repair: &SingleRepair) -> Value {
    json!({
        "text": repair.text,
        "package": repair.owner,
        "versions": repair.versions,
        "requires": repair.package,
        "spec": repair.spec,
        "allow": repair.allow,
    })
}

fn reason_json(reason: &Reason) -> Value {
    let mut step = json!({
        "text": reason.text,
        "package": reason.owner_name(),
        "versions": reason.versions,
        "every_version": reason.every_version,
        "clashes": reason.clashes,
    });
    let fields = step.as_object_mut().expect("an object was made above");
    match &reason.kind {
        ReasonKind::Requires {
            package,
            spec,
            overridden_by,
            is_implied,
        } => {
            if let Some(overriding) = overridden_by {
                fields.insert("overridden_by".to_owned(), json!(overriding));
            }
            if *is_implied {
                fields.insert("implied".to_owned(), json!(true));
            }
            fields.insert("kind".to_owned(), json!("requires"));
            fields.insert("requires".to_owned(), json!(package));
            fields.insert("spec".to_owned(), json!(spec));
        }
        ReasonKind::Extends { class } => {
            fields.insert("kind".to_owned(), json!("extends"));
            fields.insert("class".to_owned(), json!(class));
        }
        ReasonKind::Uses { class } => {
            fields.insert("kind".to_owned(), json!("uses"));
            fields.insert("class".to_owned(), json!(class));
        }
        ReasonKind::Lacks { class } => {
            fields.insert("kind".to_owned(), json!("lacks"));
            fields.insert("class".to_owned(), json!(class));
        }
        ReasonKind::Implements { interface } => {
            fields.insert("kind".to_owned(), json!("implements"));
            fields.insert("interface".to_owned(), json!(interface));
        }
        ReasonKind::LacksInterface { interface } => {
            fields.insert("kind".to_owned(), json!("lacks_interface"));
            fields.insert("interface".to_owned(), json!(interface));
        }
        ReasonKind::Contract {
            holder,
            path,
            object,
            class,
        } => {
            fields.insert("kind".to_owned(), json!("contract"));
            fields.insert("holder".to_owned(), json!(holder));
            fields.insert("path".to_owned(), json!(path));
            fields.insert("object".to_owned(), json!(object));
            fields.insert("class".to_owned(), json!(class));
        }
        ReasonKind::Value {
            holder,
            path,
            problem,
            class,
        } => {
            fields.insert("kind".to_owned(), json!("value"));
            fields.insert("holder".to_owned(), json!(holder));
            fields.insert("path".to_owned(), json!(path));
            fields.insert("problem".to_owned(), json!(problem));
            fields.insert("class".to_owned(), json!(class));
        }
        ReasonKind::Wanted { dropped_by } => {
            fields.insert("kind".to_owned(), json!("wanted"));
            if let Some((package, version)) = dropped_by {
                let release = json!({"package": package, "version": version});
                fields.insert("dropped_by".to_owned(), release);
            }
        }
        ReasonKind::Stays => {
            fields.insert("kind".to_owned(), json!("stays"));
        }
        ReasonKind::UnnamedPrerelease => {
            fields.insert("kind".to_owned(), json!("unnamed_prerelease"));
        }
        ReasonKind::OwnCycle => {
            fields.insert("kind".to_owned(), json!("own_cycle"));
        }
        ReasonKind::Inherits { paths } => {
            let paths: Vec<Vec<Value>> = paths
                .iter()
                .map(|path| {
                    path.iter()
                        .map(|at| {
                            let InheritingClass {
                                class,
                                is_interface,
                                package,
                                versions,
                                ..
                            } = at;
                            let kind = if *is_interface { "interface" } else { "class" };
                            json!({kind: class, "package": package, "versions": versions})
                        })
                        .collect()
                })
                .collect();
            fields.insert("kind".to_owned(), json!("inherits"));
            fields.insert("paths".to_owned(), json!(paths));
        }
    }
    if let Some(location) = &reason.location {
        let position = location.position();
        fields.insert("file".to_owned(), json!(location.source().name()));
        fields.insert("line".to_owned(), json!(position.line));
        fields.insert("column".to_owned(), json!(position.column));
    }
    if let Some(source) = &reason.source {
        fields.insert("source".to_owned(), json!(source));
    }
    step
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Version;

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
            source: None,
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
                    repairs: Vec::new(),
                };
                let text = conflict(
                    &long,
                    &["index:index.ndjson".to_owned()],
                    "pkgres explain app",
                    false,
                    None,
                );
                assert!(text.lines().count() <= MAX_LINES, "{text}");
                let lists_all = "... 17 more; `pkgres explain app` lists all";
                assert_eq!(text.contains(lists_all), count == 20, "{text}");
            }
        }
    }
}
