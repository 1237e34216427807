//! Findings: errors and warnings about an input, with their places and hints.
//!
//! Readers in this crate do not stop at the first problem: they return a [`Parsed`] value with all
//! of their [`Diagnostic`]s, of which a file has at most about a hundred ([`capped`]). Nothing here prints:
//! a program shows a finding as it likes, and its `Display` is one line.

mod code;
mod credentials;
mod escape;
mod findings;
mod location;
mod phrase;
mod shell;

pub use code::Code;
pub use credentials::{credentials, without_credentials};
use escape::harmless;
pub use escape::{Escaped, hazardous_character, hazardous_character_in_lines, is_hazardous};
pub use findings::capped;
pub(crate) use findings::{MAX_FINDINGS_PER_FILE, in_order, left_out};
pub use location::{Located, Location, Position, SourceText, Span};
pub use phrase::{counted, sentence_list};
pub use shell::{quoted, quoted_word};

use std::fmt;

/// The severity of a [`Diagnostic`]: whether the input can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is wrong with the input, but something in it has no effect or is not checked.
    Note,
    /// The input can be used, but something in it is probably a mistake.
    Warning,
    /// The input cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A place in an input that takes part in a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub location: Location,
    /// A note on the place; empty if the message of the finding is enough.
    pub message: String,
}

/// One finding: a stable code, a message, the places that take part, and hints.
///
/// Messages begin in lower case and have no final period. Text from the input is always shown
/// through [`Escaped`].
///
/// ```
/// use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
///
/// let source = SourceText::new("manifest.yaml", "Version: 1.x\n");
/// let finding = Diagnostic::error(Code::Version, "`1.x` is not a version")
///     .at(Location::new(&source, Span { start: 9, end: 12 }))
///     .hint("the nearest version is 1.0.0");
/// assert_eq!(
///     finding.to_string(),
///     "manifest.yaml:1:10: error[PK0009]: `1.x` is not a version; hint: the nearest version is 1.0.0"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// One sentence that describes the problem.
    pub message: String,
    /// The places that take part, the most important one first. Empty for findings without a place.
    pub labels: Vec<Label>,
    /// Suggestions for a fix: by convention at most two.
    pub hints: Vec<String>,
    /// The number of findings of the same file that this one counts; zero for an ordinary finding. See
    /// [`capped`].
    pub left_out: usize,
}

impl Diagnostic {
    /// Returns an error without place or hint.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// Returns a warning without place or hint.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// Returns a note without place or hint.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message)
    }

    fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: harmless(message.into()),
            labels: Vec::new(),
            hints: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a place without a note.
    #[must_use]
    pub fn at(self, location: Location) -> Self {
        self.label(location, "")
    }

    /// Adds a place with a note.
    #[must_use]
    pub fn label(mut self, location: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            location,
            message: harmless(message.into()),
        });
        self
    }

    /// Adds a suggestion for a fix.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.add_hint(hint);
        self
    }

    /// Adds a suggestion for a fix in place.
    pub fn add_hint(&mut self, hint: impl Into<String>) {
        self.hints.push(harmless(hint.into()));
    }

    /// Adds a suggestion for a fix, if there is one.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<impl Into<String>>) -> Self {
        if let Some(hint) = hint {
            self.add_hint(hint);
        }
        self
    }

    /// Whether this is a warning.
    pub fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Writes one line: `manifest.yaml:3:5: error[PK0009]: ...`, for logs and for `?` in programs.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = self.labels.first() {
            write!(formatter, "{}: ", label.location)?;
        }
        write!(
            formatter,
            "{}[{}]: {}",
            self.severity, self.code, self.message
        )?;
        for hint in &self.hints {
            write!(formatter, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The result of reading an input: the value unless there were errors, and every finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    value: Option<T>,
    diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// Returns a value with its findings, which are [`capped`]. If one of them is an error, the value is
    /// dropped.
    pub fn new(value: Option<T>, diagnostics: Vec<Diagnostic>) -> Self {
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        debug_assert!(failed || value.is_some(), "no value and no error");
        Self {
            value: value.filter(|_| !failed),
            diagnostics: capped(diagnostics),
        }
    }

    /// Returns a failure with one finding.
    pub fn failed(diagnostic: Diagnostic) -> Self {
        Self::new(None, vec![diagnostic])
    }

    /// The value, if there were no errors.
    pub fn value(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// The findings, warnings included, in the order of the input.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The value and its warnings, or the errors and warnings.
    pub fn into_result(self) -> Result<(T, Vec<Diagnostic>), Vec<Diagnostic>> {
        match self.value {
            Some(value) => Ok((value, self.diagnostics)),
            None => Err(self.diagnostics),
        }
    }

    /// Moves the findings to `sink` and returns the value, if there were no errors.
    pub(crate) fn drain_into(self, sink: &mut Vec<Diagnostic>) -> Option<T> {
        sink.extend(self.diagnostics);
        self.value
    }
}
