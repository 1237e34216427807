//! Findings as annotations of GitHub workflows: `::error file=FILE,line=LINE::MESSAGE`.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};

/// What an annotation is about.
#[derive(Debug, Default)]
pub(super) struct Place {
    file: Option<String>,
    line_and_column: Option<(usize, usize)>,
}

impl Place {
    /// A whole file.
    pub(super) fn file(name: &str) -> Self {
        Self {
            file: Some(name.to_owned()),
            line_and_column: None,
        }
    }

    /// A place in a file.
    pub(super) fn of(location: &Location) -> Self {
        let position = location.position();
        Self {
            file: Some(location.source().name().to_owned()),
            line_and_column: Some((position.line, position.column)),
        }
    }
}

/// One annotation, as a line.
pub(super) fn annotation(kind: &str, place: &Place, code: Code, message: &str) -> String {
    let mut properties = Vec::new();
    if let Some(file) = &place.file {
        let file = file.strip_prefix("./").unwrap_or(file);
        properties.push(format!("file={}", escaped(file, true)));
    }
    if let Some((line, column)) = place.line_and_column {
        properties.push(format!("line={line},col={column}"));
    }
    properties.push(format!("title={code}"));
    let message = escaped(message, false);
    format!("::{kind} {}::{message}\n", properties.join(","))
}

/// A finding about a whole file as an annotation of it.
pub(crate) fn annotation_of_file(finding: &Diagnostic, file: &str) -> String {
    let place = Place::file(file);
    annotation("error", &place, finding.code, &finding.message)
}

/// Findings as annotations.
pub(crate) fn annotations(findings: &[Diagnostic]) -> String {
    findings
        .iter()
        .map(|finding| {
            let kind = if finding.is_error() {
                "error"
            } else {
                "warning"
            };
            let place = finding.labels.first();
            let place = place.map(|label| Place::of(&label.location));
            let mut message = finding.message.clone();
            for hint in &finding.hints {
                message.push_str(&format!("\nhint: {hint}"));
            }
            annotation(kind, &place.unwrap_or_default(), finding.code, &message)
        })
        .collect()
}

/// A text as the runner of workflows reads it; a command in a message must not be one.
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
