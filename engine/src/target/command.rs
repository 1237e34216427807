//! A command to run on a machine: a program, its arguments, its variables, and the user that it runs as.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pkgres_manifest::diagnostic::Escaped;

use super::cancellation::Cancellation;

/// The longest time that a command runs unless it says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// The search path of a command unless it has its own.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A program with its arguments. It has no environment but the variables that are named here, `PATH`, and
/// `LC_ALL=C.UTF-8`; no text is read by a shell.
#[derive(Debug, Clone)]
pub struct Command {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) input: Vec<u8>,
    pub(crate) folder: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) user: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) cancellation: Cancellation,
    pub(crate) has_scratch: bool,
}

impl Command {
    /// A program, by its path or by a name in the search path.
    pub fn new(program: impl Into<String>) -> Self {
        let variables = [("LC_ALL", "C.UTF-8"), ("PATH", DEFAULT_PATH)];
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            input: Vec::new(),
            folder: PathBuf::from("/"),
            timeout: DEFAULT_TIMEOUT,
            user: None,
            group: None,
            cancellation: Cancellation::default(),
            has_scratch: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<Text: Into<String>>(
        mut self,
        arguments: impl IntoIterator<Item = Text>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets what the command reads from its standard input, which is empty otherwise.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Sets the folder on the machine that the command starts in, which is `/` otherwise.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        folder.as_ref().clone_into(&mut self.folder);
        self
    }

    /// Sets the longest time that the command may run, which is ten minutes otherwise. Then it is killed, with every
    /// process that it started in its group.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the user of the machine that the command runs as.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets the group of the machine that the command runs with.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Gives the command an empty `/tmp` of its own where all file systems are read-only, for a program that needs
    /// temporary files even to look.
    #[must_use]
    pub(crate) fn with_scratch(mut self) -> Self {
        self.has_scratch = true;
        self
    }

    /// The program with its arguments, for messages.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.program)
            .chain(&self.arguments)
            .map(String::as_str)
    }
}

/// The program with its arguments, as a shell would read them.
impl fmt::Display for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, word) in self.words().enumerate() {
            let blank = if number > 0 { " " } else { "" };
            write!(formatter, "{blank}{}", Escaped::new(&quoted(word)))?;
        }
        Ok(())
    }
}

/// A word as a shell reads it, with quotes if it needs some.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    if !word.chars().any(char::is_control) {
        return Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut text = "$'".to_owned();
    for character in word.chars() {
        match character {
            '\n' => text.push_str(r"\n"),
            '\t' => text.push_str(r"\t"),
            '\'' | '\\' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
    text.push('\'');
    Cow::Owned(text)
}

/// The most bytes of each output of a command that are kept. The rest is read and dropped.
pub(crate) const MAX_OUTPUT: u64 = 16 << 20;

/// What a command says that tried to write where it cannot, in the language that it is run with.
const READ_ONLY_WORDS: &str = "Read-only file system";

/// The output of a command that ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The first 16 MiB that it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The first 16 MiB that it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether it wrote more to standard output.
    pub is_cut: bool,
}

impl Output {
    /// Whether its exit code is 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// The standard output as text. What is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The last line of the standard error, or of the standard output if that is empty: most programs say there what
    /// went wrong.
    pub fn last_words(&self) -> Option<String> {
        self.last_lines(1)
    }

    /// What it says about a file that it could not write, because all file systems were read-only.
    pub(crate) fn refused_write(&self) -> Option<String> {
        let said = String::from_utf8_lossy(&self.stderr);
        let refused = said.lines().find(|line| line.contains(READ_ONLY_WORDS));
        refused.map(|line| line.trim().to_owned())
    }

    /// The last lines of the standard error, or of the standard output if that is empty, with `; ` between them.
    pub(super) fn last_lines(&self, count: usize) -> Option<String> {
        [&self.stderr, &self.stdout].into_iter().find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let lines: Vec<&str> = lines.collect();
            let last = &lines[lines.len().saturating_sub(count)..];
            (!last.is_empty()).then(|| last.join("; "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_shell_reads_it() {
        let command = Command::new("/bin/sh").arguments([
            "-c",
            "date > /x; echo a'b",
            "",
            "tab\there",
            "k=v",
        ]);
        assert_eq!(
            command.to_string(),
            "/bin/sh -c 'date > /x; echo a'\\''b' '' $'tab\\there' k=v"
        );
    }

    #[test]
    fn the_last_lines_say_what_went_wrong() {
        let output = Output {
            stderr: b"one\n\ntwo\n three\nfour\n".to_vec(),
            ..Output::default()
        };
        assert_eq!(output.last_lines(3).as_deref(), Some("two; three; four"));
        assert_eq!(output.last_words().as_deref(), Some("four"));
    }
}
