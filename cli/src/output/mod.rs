//! The output of a run: data goes to stdout, everything else to stderr.

mod captured;
mod document;
mod style;

pub(crate) use self::captured::{Captured, PartLine, Stream};
pub(crate) use self::style::{OutputStyle, color_choice};

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use anstream::AutoStream;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::NetworkActivity;
use serde_json::Value;

use self::captured::{Buffer, SharedMessage};
use self::document::{Pending, completed};
use self::style::{StdoutKind, same_destination};
use crate::args::{Arguments, Format};
use crate::environment::{folder_in_repository, variable};
use crate::exit::Exit;
use crate::folder_in_hints;
use crate::invocation::quoted;
use crate::progress::Progress;
use crate::show::{self, Annotation};
use crate::terminal_text::harmless;

/// The most findings about registries that a command shows.
pub(crate) const MAX_REGISTRY_FINDINGS: usize = 20;

/// The two streams of a run, and their styles.
pub(crate) struct Output {
    style: OutputStyle,
    stdout_kind: StdoutKind,
    shows_progress: bool,
    stdout: io::BufWriter<Box<dyn io::Write + Send>>,
    /// The first error of writing data; no data is written after it.
    failure: Option<io::Error>,
    stderr: Box<dyn io::Write + Send>,
    /// Whether each document is one line, because others come before or behind it.
    has_line_documents: bool,
    /// The warnings that were reported. A command that solves several times finds the same ones again.
    reported: BTreeSet<String>,
    /// What the next document reports besides its result.
    pending: Pending,
    /// How many bytes were written to stderr.
    message_bytes: usize,
    /// The messages on stderr that other parts of the run can have as well.
    shared: Vec<SharedMessage>,
    /// Whether the data begins with the name of the part of the run that it is about.
    has_title: bool,
}

impl Output {
    /// The output of a process with these arguments.
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let args = &arguments.global;
        // Progress would clutter the log of a CI job.
        let is_ci = variable("CI").is_some();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_watched = io::stderr().is_terminal() && !is_ci && !is_dumb;
        let (style, choice) = OutputStyle::of_process(arguments);
        // Without styles, this also removes escape sequences from foreign text.
        let stderr = AutoStream::new(io::stderr(), choice);
        Self {
            shows_progress: is_watched && !args.no_progress && !args.quiet,
            stdout_kind: StdoutKind::of_stdout(),
            ..Self::with(style, io::stdout(), stderr)
        }
    }

    /// The output of a run whose arguments could not be parsed.
    pub(crate) fn in_format(format: Format) -> Self {
        let style = OutputStyle::plain(format);
        Self {
            stdout_kind: StdoutKind::of_stdout(),
            ..Self::with(style, io::stdout(), io::stderr())
        }
    }

    /// The output to streams that a program reads.
    fn with(
        style: OutputStyle,
        stdout: impl io::Write + Send + 'static,
        stderr: impl io::Write + Send + 'static,
    ) -> Self {
        Self {
            style,
            stdout_kind: StdoutKind::Program,
            shows_progress: false,
            stdout: io::BufWriter::new(Box::new(stdout)),
            failure: None,
            stderr: Box::new(stderr),
            has_line_documents: false,
            reported: BTreeSet::new(),
            pending: Pending::default(),
            message_bytes: 0,
            shared: Vec::new(),
            has_title: false,
        }
    }

    /// The style of this output, to [capture](Self::capture) the output of a part of the run.
    pub(crate) fn style(&self) -> OutputStyle {
        self.style.clone()
    }

    /// Captures the output of a part of the run.
    pub(crate) fn capture(style: &OutputStyle, part: impl FnOnce(&mut Self)) -> Captured {
        let (stdout, stderr) = (Buffer::default(), Buffer::default());
        let mut output = Self::with(style.clone(), stdout.clone(), stderr.clone());
        part(&mut output);
        output.write_pending();
        output.flush();
        Captured {
            stdout: stdout.text(),
            stderr: stderr.text(),
            shared: output.shared,
            has_title: output.has_title,
        }
    }

    /// Writes the name of the part of the run that the data is about, unless there is only one.
    pub(crate) fn title(&mut self, name: &str) {
        self.data(&format!("{name}:\n"));
        self.has_title = true;
    }

    /// Writes what was captured of a part of the run: its data, and its messages to stderr under a title. On a terminal,
    /// both are read as one text, so that the title precedes the data, unless the data has one. Warnings and notes that
    /// were reported before, such as those about a registry of several parts, are left out.
    pub(crate) fn captured(&mut self, title: &str, captured: &Captured) {
        let messages = captured.new_messages(&mut self.reported);
        let is_one_text = same_destination();
        if is_one_text && !messages.is_empty() && !captured.has_title {
            self.note(title);
        }
        self.data(&captured.stdout);
        if !messages.is_empty() {
            if !is_one_text {
                self.note(title);
            }
            self.message(messages.trim_end());
        }
    }

    /// The output of a part of the run that goes on beside others. Each document is one line.
    pub(crate) fn of_part(
        style: &OutputStyle,
        stdout: impl io::Write + Send + 'static,
        stderr: impl io::Write + Send + 'static,
    ) -> Self {
        let style = OutputStyle {
            // The name of the part takes some of it.
            width: None,
            data_width: None,
            ..style.clone()
        };
        Self {
            has_line_documents: true,
            ..Self::with(style, stdout, stderr)
        }
    }

    /// Writes lines of parts until all parts have ended.
    pub(crate) fn part_lines(&mut self, lines: impl IntoIterator<Item = PartLine>) {
        for line in lines {
            match line.stream {
                Stream::Data => {
                    self.data(&line.text);
                    self.flush();
                }
                Stream::Messages => self.write_lines(&line.text),
            }
        }
    }

    /// Shows a spinner until the returned value is dropped, on a terminal and after a moment, with the registry that is
    /// waited for. Nothing may be written meanwhile.
    pub(crate) fn progress(&mut self, message: &str, activity: &NetworkActivity) -> Progress {
        self.flush();
        Progress::new(message, activity, self.shows_progress)
    }

    /// Shows a [spinner](Self::progress) while a part of the run waits for registries.
    pub(crate) fn during<T>(
        &mut self,
        message: &str,
        activity: &NetworkActivity,
        part: impl FnOnce() -> T,
    ) -> T {
        let _progress = self.progress(message, activity);
        part()
    }

    pub(crate) fn format(&self) -> Format {
        self.style.format
    }

    pub(crate) fn set_format(&mut self, format: Format) {
        self.style.format = format;
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format() == Format::Json
    }

    /// Whether warnings and notes wait for a document.
    fn has_document(&self) -> bool {
        self.is_json() && !self.has_line_documents
    }

    /// Whether there is a terminal for what goes on, and the user wants to see it.
    pub(crate) fn shows_progress(&self) -> bool {
        self.shows_progress
    }

    pub(crate) fn is_styled(&self) -> bool {
        self.style.styled.messages
    }

    /// The columns of the terminal that messages go to.
    pub(crate) fn width(&self) -> Option<usize> {
        self.style.width
    }

    /// The columns of the terminal that data go to.
    pub(crate) fn data_width(&self) -> Option<usize> {
        self.style.data_width
    }

    /// Writes sentences and lists as data. Their lines fit the terminal, if they go to one.
    pub(crate) fn prose(&mut self, text: &str) {
        match self.style.data_width {
            Some(width) => self.data(&show::wrapped(text, width)),
            None => self.data(text),
        }
    }

    /// Writes a tree as data.
    pub(crate) fn tree(&mut self, tree: &str) {
        if self.style.styled.data {
            self.data(&show::colored_tree(tree));
        } else {
            self.data(tree);
        }
    }

    /// Writes differences as data.
    pub(crate) fn changes(&mut self, changes: &str) {
        if self.style.styled.data {
            self.data(&show::colored_changes(changes));
        } else {
            self.data(changes);
        }
    }

    /// Writes differences of files, with those of their lines, as data.
    pub(crate) fn file_differences(&mut self, differences: &str) {
        if self.style.styled.data {
            self.data(&show::colored_file_differences(differences));
        } else {
            self.data(differences);
        }
    }

    /// Writes data. [`finish`](Self::finish) reports errors.
    pub(crate) fn data(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        // Programs get data as they are; a terminal would follow what is in them.
        let text = if self.stdout_kind == StdoutKind::Terminal {
            harmless(text)
        } else {
            Cow::Borrowed(text)
        };
        self.failure = self.stdout.write_all(text.as_bytes()).err();
    }

    /// Writes data that are not text.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.stdout.write_all(bytes).err();
        }
    }

    /// Whether data goes to a terminal.
    pub(crate) fn is_on_terminal(&self) -> bool {
        self.stdout_kind == StdoutKind::Terminal
    }

    /// Whether writing data failed, so that producing more is useless.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.failure.is_some()
    }

    /// Flushes the data that was written so far.
    pub(crate) fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.stdout.flush().err();
        }
    }

    /// Writes each JSON document on one line from now on, as events are, and an error instead of them.
    pub(crate) fn use_line_documents(&mut self) {
        self.has_line_documents = true;
    }

    /// Writes a JSON document. Unless it is in a format of its own, it also says how the run went: its `status`,
    /// `notes` and `diagnostics`, with the warnings so far.
    pub(crate) fn json(&mut self, document: &Value) {
        let document = match document {
            Value::Object(fields) if fields.contains_key("schema_version") => {
                let pending = std::mem::take(&mut self.pending);
                let warnings = show::diagnostics_json(&self.with_folder(&pending.warnings));
                Cow::Owned(completed(fields, pending.notes, warnings))
            }
            _ => Cow::Borrowed(document),
        };
        if self.has_line_documents {
            self.data(&format!("{document}\n"));
        } else {
            self.data(&format!("{document:#}\n"));
        }
    }

    /// Writes the warnings and notes that no document has taken.
    fn write_pending(&mut self) {
        let Pending { notes, warnings } = std::mem::take(&mut self.pending);
        for warning in self.with_folder(&warnings).iter() {
            self.write_finding(warning);
        }
        self.notes(notes);
    }

    /// Writes a message to stderr, unless `--quiet` is set, or data before it could not be written: it would report a
    /// success.
    pub(crate) fn note(&mut self, text: &str) {
        self.flush();
        let is_incomplete = |error: &io::Error| !is_reader_gone(error);
        if !self.style.quiet && !self.failure.as_ref().is_some_and(is_incomplete) {
            self.message(text);
        }
    }

    /// Says that the run waits for another one in a folder.
    pub(crate) fn note_waiting(&mut self, folder: &Path) {
        let folder = folder.to_string_lossy();
        let folder = Escaped::new(&folder);
        self.note(&format!("Waiting for another pkgres to finish in {folder}"));
    }

    /// Writes messages to stderr, one per line, unless `--quiet` is set.
    pub(crate) fn notes<T: fmt::Display>(&mut self, lines: impl IntoIterator<Item = T>) {
        if self.style.quiet {
            return;
        }
        // There can be thousands of lines, and stderr is not buffered.
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        if self.style.styled.messages {
            text = show::colored_changes(&text);
        }
        self.write_lines(&text);
    }

    /// Writes messages to stderr, unless `--quiet` is set, that several parts of a run can have. Each is reported once.
    pub(crate) fn shared_notes(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.write_shared(line.clone(), |output| output.notes([line]));
        }
    }

    /// Writes a message to stderr, even with `--quiet`.
    pub(crate) fn message(&mut self, text: &str) {
        self.write_lines(&format!("{text}\n"));
    }

    fn write_lines(&mut self, lines: &str) {
        self.flush();
        let lines = match self.style.width {
            Some(width) => Cow::Owned(show::wrapped(lines, width)),
            None => Cow::Borrowed(lines),
        };
        let lines = harmless(&lines);
        self.message_bytes += lines.len();
        // There is no way to report that stderr cannot be written.
        let _ = self.stderr.write_all(lines.as_bytes());
    }

    /// Writes a message with `write` that other parts of the run can have, and remembers where it is.
    fn write_shared(&mut self, key: String, write: impl FnOnce(&mut Self)) {
        let start = self.message_bytes;
        write(self);
        let place = start..self.message_bytes;
        self.shared.push(SharedMessage { place, key });
    }

    /// The findings with hints whose commands can be pasted where this run began.
    pub(crate) fn with_folder<'findings>(
        &self,
        findings: &'findings [Diagnostic],
    ) -> Cow<'findings, [Diagnostic]> {
        let folder = self.style.folder.as_deref().map(quoted);
        let config = self.style.config.as_deref().map(quoted);
        folder_in_hints::in_folder(findings, folder.as_deref(), config.as_deref())
    }

    /// Writes findings as annotations of GitHub workflows.
    pub(crate) fn annotate(&mut self, findings: &[Diagnostic]) {
        let findings = self.with_folder(findings);
        let annotations: Vec<Annotation> = findings.iter().map(Annotation::of).collect();
        self.annotations(annotations);
    }

    /// Writes annotations of GitHub workflows.
    pub(crate) fn annotations(&mut self, annotations: impl IntoIterator<Item = Annotation>) {
        // A step of a workflow can begin in another folder than the top of the repository.
        let folder = folder_in_repository().or_else(|| self.style.folder.clone());
        for annotation in annotations {
            let line = annotation.line(folder.as_deref());
            self.data(&line);
        }
    }

    /// Reports findings: to stderr, with `--quiet` only errors, or others in the JSON document that follows. Each of
    /// these is reported once.
    pub(crate) fn findings(&mut self, findings: &[Diagnostic]) {
        for finding in findings {
            let key = (!finding.is_error()).then(|| key_of(finding));
            if let Some(key) = &key
                && !self.reported.insert(key.clone())
            {
                continue;
            }
            if !finding.is_error() && self.has_document() {
                self.pending.warnings.push(finding.clone());
            } else {
                let shown = self.with_folder(std::slice::from_ref(finding)).into_owned();
                let write = |output: &mut Self| {
                    for finding in &shown {
                        output.write_finding(finding);
                    }
                };
                match key {
                    Some(key) => self.write_shared(key, write),
                    None => write(self),
                }
            }
        }
    }

    fn is_reported(&self, finding: &Diagnostic) -> bool {
        self.reported.contains(&key_of(finding))
    }

    fn write_finding(&mut self, finding: &Diagnostic) {
        if finding.is_error() || !self.style.quiet {
            let text = show::diagnostic(finding, self.style.styled.messages);
            self.message(&text);
        }
    }

    /// Reports what a user has to know about a result: on stderr, unless `--quiet` is set, or as `notes` of the JSON
    /// document that follows.
    pub(crate) fn remarks<T: fmt::Display>(&mut self, lines: impl IntoIterator<Item = T>) {
        if self.has_document() {
            let lines = lines.into_iter().map(|line| line.to_string());
            self.pending.notes.extend(lines);
        } else {
            self.notes(lines);
        }
    }

    /// Reports findings about registries, of which a folder can have any number: the first ones, and how many there are.
    pub(crate) fn registry_findings(&mut self, findings: &[Diagnostic]) {
        let is_new = |finding: &&Diagnostic| !self.is_reported(finding);
        let new: Vec<Diagnostic> = findings.iter().filter(is_new).cloned().collect();
        let (shown, left_out) = new.split_at(new.len().min(MAX_REGISTRY_FINDINGS));
        self.findings(shown);
        let more = left_out.len();
        self.reported.extend(left_out.iter().map(key_of));
        if more > 0 {
            let what = show::counted(more, "more warning");
            let remark = format!("{what} about the registries omitted");
            self.write_shared(remark.clone(), |output| output.remarks([remark]));
        }
    }

    /// Flushes the output of a run. Returns its exit code, which is an error if data was lost: incomplete data must not
    /// pass for a result.
    pub(crate) fn finish(&mut self, exit: Exit) -> Exit {
        self.write_pending();
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

/// The text of a finding as a user sees it, which identifies it: the same text is not reported twice.
fn key_of(finding: &Diagnostic) -> String {
    show::diagnostic(finding, false)
}

/// Whether writing failed because the reader closed the pipe, as `head` does.
pub(crate) fn is_reader_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// The error for data that could not be written.
pub(crate) fn cut_short(error: &io::Error) -> Diagnostic {
    Diagnostic::error(Code::File, format!("cannot write to stdout: {error}"))
}
