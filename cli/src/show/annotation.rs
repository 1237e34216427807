//! Findings as annotations of GitHub workflows: `::error file=FILE,line=LINE::MESSAGE`.

use std::fmt::Display;

use pkgres_manifest::diagnostic::{Diagnostic, Location};

/// The file and line of an annotation, if it has any.
#[derive(Debug, Default)]
pub(super) struct Subject {
    file: Option<String>,
    line_and_column: Option<(usize, usize)>,
}

impl Subject {
    /// A whole file.
    pub(super) fn file(name: &str) -> Self {
        Self {
            file: Some(name.to_owned()),
            line_and_column: None,
        }
    }

    /// A position in a file.
    pub(super) fn at(location: &Location) -> Self {
        let position = location.position();
        Self {
            file: Some(location.source().name().to_owned()),
            line_and_column: Some((position.line, position.column)),
        }
    }
}

/// One annotation, as a line.
pub(super) fn annotation(
    kind: &str,
    subject: &Subject,
    title: impl Display,
    message: &str,
) -> String {
    let mut properties = Vec::new();
    if let Some(file) = &subject.file {
        let file = file.strip_prefix("./").unwrap_or(file);
        properties.push(format!("file={}", escaped(file, true)));
    }
    if let Some((line, column)) = subject.line_and_column {
        properties.push(format!("line={line},col={column}"));
    }
    properties.push(format!("title={title}"));
    let message = escaped(message, false);
    format!("::{kind} {}::{message}\n", properties.join(","))
}

/// A warning without a code, as an annotation of a whole file.
pub(crate) fn warning_of_file(title: &str, message: &str, file: &str) -> String {
    annotation("warning", &Subject::file(file), title, message)
}

/// A finding as an annotation of a whole file.
pub(crate) fn annotation_of_file(finding: &Diagnostic, file: &str) -> String {
    annotation(
        "error",
        &Subject::file(file),
        finding.code,
        &finding.message,
    )
}

/// Findings as annotations.
pub(crate) fn annotations(findings: &[Diagnostic]) -> String {
    findings
        .iter()
        .map(|finding| {
            let label = finding.labels.first();
            let subject = label.map(|label| Subject::at(&label.location));
            let mut message = finding.message.clone();
            for hint in &finding.hints {
                message.push_str(&format!("\nhint: {hint}"));
            }
            let kind = if finding.is_error() {
                "error"
            } else {
                "warning"
            };
            annotation(kind, &subject.unwrap_or_default(), finding.code, &message)
        })
        .collect()
}

/// A text, escaped so that the workflow runner finds no command in it.
fn escaped(text: &str, is_property: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            ':' if is_property => escaped.push_str("%3A"),
            ',' if is_property => escaped.push_str("%2C"),
            other => escaped.push(other),
        }
    }
    escaped
}
