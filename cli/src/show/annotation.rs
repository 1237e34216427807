//! Findings as annotations of GitHub workflows: `::error file=FILE,line=LINE::MESSAGE`.

use std::fmt::Display;
use std::path::Path;

use pkgres_manifest::diagnostic::{Diagnostic, Location, Severity};

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

/// One annotation.
#[derive(Debug)]
pub(crate) struct Annotation {
    kind: &'static str,
    subject: Subject,
    title: String,
    message: String,
}

impl Annotation {
    /// An error.
    pub(super) fn error(subject: Subject, title: impl Display, message: &str) -> Self {
        Self {
            kind: "error",
            subject,
            title: title.to_string(),
            message: message.to_owned(),
        }
    }

    /// A warning without a code, of a whole file.
    pub(crate) fn warning_of_file(title: &str, message: &str, file: &str) -> Self {
        Self {
            kind: "warning",
            ..Self::error(Subject::file(file), title, message)
        }
    }

    /// A finding about a whole file.
    pub(crate) fn of_file(finding: &Diagnostic, file: &str) -> Self {
        Self {
            subject: Subject::file(file),
            ..Self::of(finding)
        }
    }

    /// A finding.
    pub(crate) fn of(finding: &Diagnostic) -> Self {
        let label = finding.labels.first();
        let subject = label.map(|label| Subject::at(&label.location));
        let mut message = finding.message.clone();
        for hint in &finding.hints {
            message.push_str(&format!("\nhint: {hint}"));
        }
        let kind = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        Self {
            kind,
            ..Self::error(subject.unwrap_or_default(), finding.code, &message)
        }
    }

    /// The annotation as a line. The runner of a workflow resolves the paths of files at the root of the repository, from
    /// which `folder` leads to the current folder.
    pub(crate) fn line(&self, folder: Option<&Path>) -> String {
        let mut properties = Vec::new();
        if let Some(file) = &self.subject.file {
            let file = file.strip_prefix("./").unwrap_or(file);
            let file = folder.unwrap_or(Path::new("")).join(file);
            let file = file.to_string_lossy();
            let file = file.strip_prefix("./").unwrap_or(&file);
            properties.push(format!("file={}", escaped(file, true)));
        }
        if let Some((line, column)) = self.subject.line_and_column {
            properties.push(format!("line={line},col={column}"));
        }
        properties.push(format!("title={}", self.title));
        let message = escaped(&self.message, false);
        format!("::{} {}::{message}\n", self.kind, properties.join(","))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_where_the_run_began() {
        for (folder, file, expected) in [
            (None, "./pkgres.lock", "pkgres.lock"),
            (Some("book"), "./pkgres.lock", "book/pkgres.lock"),
            (
                Some("./book/"),
                "stale/pkgres.lock",
                "book/stale/pkgres.lock",
            ),
            (Some("."), "pkgres.lock", "pkgres.lock"),
            (Some("book"), "/srv/pkgres.lock", "/srv/pkgres.lock"),
        ] {
            let annotation = Annotation::warning_of_file("title", "message", file);
            let expected = format!("::warning file={expected},title=title::message\n");
            assert_eq!(annotation.line(folder.map(Path::new)), expected);
        }
    }
}
