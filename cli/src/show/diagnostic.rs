//! Findings as text with source lines, and as JSON.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use clap::builder::styling::{AnsiColor, Style};
use pkgres_manifest::diagnostic::{Diagnostic, Escaped, Label, Location, Severity, credentials};
use serde_json::{Value, json};

use super::columns::without_styles;

/// How many bytes are shown before a position in a very long line.
const WINDOW_BYTES: usize = 60;

/// How many bytes beside the shown part of a very long line are searched for the rest of an address.
const ADDRESS_BYTES: usize = 4096;

/// Marks where a very long line was cut.
const CUT: &str = "...";

/// A finding as text: the message, the source lines, and hints.
pub(crate) fn diagnostic(finding: &Diagnostic, styled: bool) -> String {
    if finding.labels.is_empty() {
        return without_source(finding, styled);
    }
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(finding.message.clone())
        .id(finding.code.to_string());
    let mut groups = vec![title.elements(Vec::<Origin<'_>>::new())];
    for (at, label) in finding.labels.iter().enumerate() {
        let kind = if at == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let group = std::mem::replace(&mut groups[0], Group::with_level(Level::NOTE));
        groups[0] = add_label(group, label, kind);
    }
    for hint in &finding.hints {
        let title = Level::HELP.with_name("hint").secondary_title(hint.clone());
        groups.push(Group::with_title(title));
    }
    let renderer = if styled {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = renderer.render(&groups);
    if (finding.labels.iter()).all(|label| label.location.source().text().is_empty()) {
        text = without_margin(&text);
    }
    for label in &finding.labels {
        correct_column(&mut text, label);
    }
    text
}

/// A finding that names files, but has no source lines: without the empty margin, and with the arrows indented as they
/// are beside a margin.
fn without_margin(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| without_styles(line).trim() != "|");
    let lines: Vec<String> = lines
        .map(|line| {
            let indent = if without_styles(line).starts_with("--> ") {
                " "
            } else {
                ""
            };
            format!("{indent}{line}")
        })
        .collect();
    lines.join("\n")
}

/// A finding without a position: the snippet renderer would draw an empty margin.
fn without_source(finding: &Diagnostic, styled: bool) -> String {
    let (severity, hint) = match (styled, finding.severity) {
        (false, _) => (Style::new(), Style::new()),
        (true, Severity::Error) => (bold(AnsiColor::Red), bold(AnsiColor::Cyan)),
        (true, Severity::Warning) => (bold(AnsiColor::Yellow), bold(AnsiColor::Cyan)),
        (true, Severity::Note) => (bold(AnsiColor::Green), bold(AnsiColor::Cyan)),
    };
    let mut text = format!(
        "{severity}{}[{}]{severity:#}: {}",
        finding.severity, finding.code, finding.message
    );
    for line in &finding.hints {
        text.push_str(&format!("\n{hint}hint{hint:#}: {line}"));
    }
    text
}

fn bold(color: AnsiColor) -> Style {
    color.on_default().bold()
}

fn add_label<'a>(group: Group<'a>, label: &Label, kind: AnnotationKind) -> Group<'a> {
    let location = &label.location;
    let path = Escaped::new(location.source().name()).to_string();
    if location.source().text().is_empty() {
        return group.element(Origin::path(path));
    }
    let window = Window::around(location);
    let annotation = kind.span(window.span.0..window.span.1);
    let annotation = if label.message.is_empty() {
        annotation
    } else {
        annotation.label(label.message.clone())
    };
    group.element(
        Snippet::source(window.text)
            .line_start(window.line)
            .path(path)
            .fold(false)
            .annotation(annotation),
    )
}

/// Corrects the column of a label in a very long line: the renderer counts from where the window begins.
fn correct_column(text: &mut String, label: &Label) {
    let location = &label.location;
    if location.source().text().is_empty() {
        return;
    }
    let window = Window::around(location);
    if !window.is_cut {
        return;
    }
    let path = Escaped::new(location.source().name()).to_string();
    let shown = window.text[..window.span.0].chars().count() + 1;
    let wrong = format!("{path}:{}:{shown}", window.line);
    let found = text.match_indices(&wrong).map(|(at, _)| at + wrong.len());
    let mut ends =
        found.filter(|end| !text[*end..].starts_with(|next: char| next.is_ascii_digit()));
    if let Some(end) = ends.next() {
        let digits = end - shown.to_string().len()..end;
        text.replace_range(digits, &location.position().column.to_string());
    }
}

/// The part of the source that is shown: a line, or a part of a very long one.
struct Window {
    text: String,
    line: usize,
    span: (usize, usize),
    /// Whether the line begins before the window.
    is_cut: bool,
}

impl Window {
    /// Looks only at the text near the location: a line of megabytes can have a finding every few bytes.
    fn around(location: &Location) -> Self {
        let text = location.source().text();
        let span = location.span();
        let near = text.floor_char_boundary(span.start.saturating_sub(WINDOW_BYTES));
        let newline = text[..span.start][near..].rfind('\n');
        let from = newline.map_or(near, |newline| near + newline + 1);
        let far = text.ceil_char_boundary(text.len().min(span.start + 2 * WINDOW_BYTES));
        let newline = text[span.start..far].find('\n');
        let end = newline.map_or(far, |newline| span.start + newline);
        // The carriage return of a line ending is no part of the line.
        let until = from + text[from..end].trim_end_matches('\r').len();
        let until = until.max(span.start);
        let stop = span.end.clamp(span.start, until);
        let is_cut = from > 0 && !text[..from].ends_with('\n');
        let continues = newline.is_none() && far < text.len();
        let before = if is_cut { CUT } else { "" };
        let after = if continues { CUT } else { "" };
        let shift = |at: usize| at - from + before.len();
        Self {
            text: format!("{before}{}{after}", shown_source(text, from, until)),
            line: location.position().line,
            span: (shift(span.start), shift(stop)),
            is_cut,
        }
    }
}

/// A part of a line of the source, with stars for the credentials in addresses and without what a terminal could
/// interpret. Positions stay the same.
fn shown_source(text: &str, from: usize, until: usize) -> String {
    let near = text.floor_char_boundary(from.saturating_sub(ADDRESS_BYTES));
    let near = text[near..from]
        .rfind('\n')
        .map_or(near, |newline| near + newline + 1);
    let far = text.ceil_char_boundary(text.len().min(until + ADDRESS_BYTES));
    let far = text[until..far]
        .find('\n')
        .map_or(far, |newline| until + newline);
    let mut shown = String::new();
    let mut after = from;
    for found in credentials(&text[near..far]) {
        let start = (near + found.start).clamp(after, until);
        let end = (near + found.end).clamp(start, until);
        shown.push_str(&neutral(&text[after..start]));
        shown.push_str(&"*".repeat(end - start));
        after = end;
    }
    shown.push_str(&neutral(&text[after..until]));
    shown
}

/// Source text in which every character that a terminal could interpret is replaced by one of as many bytes, so that
/// positions stay the same.
fn neutral(text: &str) -> String {
    text.chars()
        .map(|character| {
            let escaped = Escaped::from_char(character).to_string();
            let is_plain = character == '\t' || escaped.chars().eq([character]);
            match (is_plain, character.len_utf8()) {
                (true, _) => character,
                (_, 1) => '?',
                (_, 2) => '\u{bf}',
                (_, 3) => '\u{fffd}',
                _ => '\u{1f7a8}',
            }
        })
        .collect()
}

/// Findings as JSON objects.
pub(crate) fn diagnostics_json(findings: &[Diagnostic]) -> Value {
    findings
        .iter()
        .map(|finding| {
            let labels: Vec<Value> = finding
                .labels
                .iter()
                .map(|label| {
                    let position = label.location.position();
                    let span = label.location.span();
                    json!({
                        "file": label.location.source().name(),
                        "line": position.line,
                        "column": position.column,
                        "length": span.end - span.start,
                        "message": label.message,
                    })
                })
                .collect();
            json!({
                "code": finding.code.to_string(),
                "severity": finding.severity.to_string(),
                "message": finding.message,
                "labels": labels,
                "hints": finding.hints,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::diagnostic::{Code, SourceText, Span};

    use super::*;

    #[test]
    fn credentials_in_excerpts_are_not_shown() {
        let address = "https://me:s3cret@example.org/";
        let long = "s3cret".repeat(WINDOW_BYTES);
        for text in [
            format!("name: {address}\n"),
            format!("- {{ name: x, source: {address} }}\n"),
            format!(
                "{}{address}{}\n",
                "x ".repeat(WINDOW_BYTES),
                " y".repeat(WINDOW_BYTES)
            ),
            format!("https://me:{long}@example.org/\n"),
        ] {
            let source = SourceText::new("requirements.yml", text.as_str());
            for start in 0..text.len() {
                let span = Span {
                    start,
                    end: start + 1,
                };
                let finding =
                    Diagnostic::error(Code::Field, "it is wrong").at(Location::new(&source, span));
                let shown = diagnostic(&finding, false);
                assert!(!shown.contains("cret"), "{start}: {shown}");
            }
        }
    }

    #[test]
    fn stars_keep_positions() {
        let text = "- https://me:s3cret@example.org/ {x\n";
        let source = SourceText::new("requirements.yml", text);
        let start = text.find('x').expect("it is there");
        let span = Span {
            start,
            end: start + 1,
        };
        let finding = Diagnostic::error(Code::Field, "`x`").at(Location::new(&source, span));
        let shown = diagnostic(&finding, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[3].ends_with("- https://*********@example.org/ {x"),
            "{shown}"
        );
        assert_eq!(lines[3].find('x'), lines[4].find('^'), "{shown}");
    }
}
