//! What is printed: data to stdout, everything else to stderr.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use pkgres_manifest::diagnostic::{Code, Diagnostic};

use crate::args::{Arguments, Color, Format};
use crate::environment::variable;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::show;

/// The two streams of a run and how to write to them.
pub(crate) struct Output {
    pub(crate) format: Format,
    quiet: bool,
    styled: bool,
    shows_progress: bool,
    stdout: io::BufWriter<Box<dyn io::Write + Send>>,
    /// Why not all data came through; nothing is written after it.
    failure: Option<io::Error>,
    stderr: Box<dyn io::Write + Send>,
}

/// What was written to streams that are kept.
#[derive(Debug, Default, Clone)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a part of a run wrote while others ran beside it.
pub(crate) struct Part {
    pub(crate) data: String,
    pub(crate) said: String,
}

/// How the parts of a run write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    format: Format,
    quiet: bool,
    styled: bool,
}

impl Output {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let choice = match arguments.shared.color {
            Color::Auto => AutoStream::choice(&io::stderr()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        // Nobody watches a job, and what moves has no place in its record.
        let is_job = variable("CI").is_some();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_watched = io::stderr().is_terminal() && !is_job && !is_dumb;
        Self {
            shows_progress: is_watched && !arguments.shared.no_progress && !arguments.shared.quiet,
            format: arguments.shared.format,
            quiet: arguments.shared.quiet,
            styled: choice != ColorChoice::Never,
            stdout: io::BufWriter::new(Box::new(io::stdout())),
            failure: None,
            // Where nothing is styled this also takes away what others put into texts.
            stderr: Box::new(AutoStream::new(io::stderr(), choice)),
        }
    }

    /// For a run of which no more is known than that it is to answer in a format.
    pub(crate) fn in_format(format: Format) -> Self {
        Self {
            format,
            quiet: false,
            styled: false,
            shows_progress: false,
            stdout: io::BufWriter::new(Box::new(io::stdout())),
            failure: None,
            stderr: Box::new(io::stderr()),
        }
    }

    /// How this writes, for parts of the run that write by themselves.
    pub(crate) fn manner(&self) -> Manner {
        Manner {
            format: self.format,
            quiet: self.quiet,
            styled: self.styled,
        }
    }

    /// Lets a part of a run write to something that is shown later.
    pub(crate) fn keep(manner: Manner, part: impl FnOnce(&mut Self)) -> Part {
        let (stdout, stderr) = (Kept::default(), Kept::default());
        let mut output = Self {
            format: manner.format,
            quiet: manner.quiet,
            styled: manner.styled,
            shows_progress: false,
            stdout: io::BufWriter::new(Box::new(stdout.clone())),
            failure: None,
            stderr: Box::new(stderr.clone()),
        };
        part(&mut output);
        output.flush();
        Part {
            data: stdout.text(),
            said: stderr.text(),
        }
    }

    /// Shows what is being done until the answer is dropped, if it takes longer than a moment and
    /// somebody watches. Nothing may be written meanwhile.
    pub(crate) fn progress(&mut self, what: &str) -> Progress {
        self.flush();
        Progress::new(what, self.shows_progress)
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// Writes data. Whether it came through is known at the [end](Self::finish).
    pub(crate) fn data(&mut self, text: &str) {
        if self.failure.is_none() {
            self.failure = self.stdout.write_all(text.as_bytes()).err();
        }
    }

    /// Whether data could not be written, so that none has to be made any more.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.failure.is_some()
    }

    /// Brings what was written so far to its reader.
    pub(crate) fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.stdout.flush().err();
        }
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

    /// Says several things about the work, each on a line of its own, unless asked not to.
    pub(crate) fn notes<T: fmt::Display>(&mut self, lines: impl IntoIterator<Item = T>) {
        if self.quiet {
            return;
        }
        // There can be thousands of lines, and writing to the stream is a call of the system.
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        self.say_lines(&text);
    }

    /// Says something that has to be said.
    pub(crate) fn say(&mut self, text: &str) {
        self.say_lines(&format!("{text}\n"));
    }

    fn say_lines(&mut self, lines: &str) {
        self.flush();
        // Who cannot be told anything cannot be told that either.
        let _ = self.stderr.write_all(lines.as_bytes());
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

    /// Brings everything to its reader; gives the exit code of a run that would have ended with
    /// `exit`. Data that were cut short must not pass for a result.
    pub(crate) fn finish(&mut self, exit: Exit) -> Exit {
        self.flush();
        match self.failure.take() {
            Some(error) if !is_reader_gone(&error) => {
                self.findings(&[cut_short(&error)]);
                exit.max(Exit::Usage)
            }
            _ => exit,
        }
    }
}

/// Whether a failure to write means only that nobody reads any more, as after `| head`.
fn is_reader_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

fn cut_short(error: &io::Error) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot write to stdout: {error}"))
}

/// Likewise for what is written before there are arguments; says whether it was cut short.
pub(crate) fn say_if_cut_short(result: io::Result<()>) -> bool {
    match result {
        Err(error) if !is_reader_gone(&error) => {
            let _ = writeln!(
                io::stderr(),
                "{}",
                show::diagnostic(&cut_short(&error), false)
            );
            true
        }
        _ => false,
    }
}
