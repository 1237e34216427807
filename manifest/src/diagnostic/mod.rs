//! What is wrong with an input, where, and what to do about it.
//!
//! Readers in this crate do not stop at the first problem: they return a [`Parsed`] value with all
//! of their [`Diagnostic`]s. Nothing here prints; rendering is the caller's business.

mod cap;
mod code;
mod escape;
mod located;
mod order;
mod source;

pub(crate) use cap::left_out;
pub use cap::{MAX_FINDINGS_PER_FILE, capped};
pub use code::Code;
pub use escape::Escaped;
pub(crate) use escape::is_hazardous;
pub use located::Located;
pub(crate) use order::in_order;
pub use source::{Location, Position, SourceText, Span};

use std::fmt;

/// How much a [`Diagnostic`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is probably not what was meant; work goes on.
    Warning,
    /// The input cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A place in an input and what it has to do with a [`Diagnostic`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub location: Location,
    /// What is to be seen there; empty when the message says it all.
    pub message: String,
}

/// One finding: a stable code, a message, the places that take part, and the mend.
///
/// Messages begin in lower case and have no final period. Text from the input is always shown
/// through [`Escaped`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// Whether work can go on.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where: the first label is the place to look at first. Empty for findings without a place.
    pub labels: Vec<Label>,
    /// What can be done, at most two entries.
    pub hints: Vec<String>,
    /// How many findings of the same file were left out and are counted here instead; zero for a
    /// finding of its own. See [`capped`].
    pub left_out: usize,
}

impl Diagnostic {
    /// An error without place or hint.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning without place or hint.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            labels: Vec::new(),
            hints: Vec::new(),
            left_out: 0,
        }
    }

    /// Adds a place whose meaning is clear from the message.
    #[must_use]
    pub fn at(self, location: Location) -> Self {
        self.label(location, "")
    }

    /// Adds a place and says what is to be seen there.
    #[must_use]
    pub fn label(mut self, location: Location, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            location,
            message: message.into(),
        });
        self
    }

    /// Adds something that can be done.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// One line: `manifest.yaml:3:5: error[PK0009]: ...`, for logs and for `?` in programs.
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

/// What a reader made of an input: the value unless there were errors, and every finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<T> {
    value: Option<T>,
    diagnostics: Vec<Diagnostic>,
}

impl<T> Parsed<T> {
    /// Puts a value and its findings together; the value is dropped if one of them is an error.
    /// Of a file with very many findings, the first are kept: see [`capped`].
    pub fn new(value: Option<T>, diagnostics: Vec<Diagnostic>) -> Self {
        let failed = diagnostics.iter().any(Diagnostic::is_error);
        debug_assert!(failed || value.is_some(), "no value and no error");
        Self {
            value: value.filter(|_| !failed),
            diagnostics: capped(diagnostics),
        }
    }

    /// A failure with one finding.
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
    pub fn drain_into(self, sink: &mut Vec<Diagnostic>) -> Option<T> {
        sink.extend(self.diagnostics);
        self.value
    }
}
