//! What is printed: data to stdout, everything else to stderr.

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use pkgres_manifest::diagnostic::Diagnostic;

use crate::args::{Arguments, Color, Format};
use crate::show;

/// The two streams of a run and how to write to them.
pub(crate) struct Output {
    pub(crate) format: Format,
    quiet: bool,
    styled: bool,
    stdout: io::BufWriter<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
}

impl Output {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let choice = match arguments.color {
            Color::Auto => AutoStream::choice(&io::stderr()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self {
            format: arguments.format,
            quiet: arguments.quiet,
            styled: choice != ColorChoice::Never,
            stdout: io::BufWriter::new(io::stdout()),
            stderr: AutoStream::new(io::stderr(), choice),
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// Writes data. That nobody reads it any more is not an error.
    pub(crate) fn data(&mut self, text: &str) {
        let _ = self.stdout.write_all(text.as_bytes());
    }

    /// Writes a JSON document.
    pub(crate) fn json(&mut self, document: &serde_json::Value) {
        let text = serde_json::to_string_pretty(document).expect("a document of texts and numbers");
        self.data(&text);
        self.data("\n");
    }

    /// Says something about the work, unless asked not to.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says something that has to be said.
    pub(crate) fn say(&mut self, text: &str) {
        let _ = self.stdout.flush();
        let _ = writeln!(self.stderr, "{text}");
    }

    /// Shows findings. Warnings are notes; errors are shown in any case.
    pub(crate) fn findings(&mut self, findings: &[Diagnostic]) {
        for finding in findings {
            if finding.is_error() || !self.quiet {
                let text = show::diagnostic(finding, self.styled);
                self.say(&text);
            }
        }
    }

    /// Brings everything to its reader.
    pub(crate) fn finish(&mut self) {
        let _ = self.stdout.flush();
    }
}
