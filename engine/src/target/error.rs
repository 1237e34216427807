//! The errors of operations on a machine, with what failed and why.

use std::path::PathBuf;
use std::time::Duration;

use pkgres_files::FileError;
use pkgres_manifest::diagnostic::Escaped;
use thiserror::Error;

use super::command::{Command, MAX_OUTPUT, Output};

/// Why an operation on a machine failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// A file of the machine cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A command cannot be started.
    #[error("cannot run `{command}`: {source}")]
    Start {
        /// The command as a line of text.
        command: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A command reports a failure.
    #[error("`{command}` {}{}", ended(*.code), explained(.words.as_deref()))]
    Command {
        /// The command as a line of text.
        command: String,
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// What it said last.
        words: Option<String>,
    },
    /// A command was killed because it took too long.
    #[error("`{command}` was killed: it did not end in {} s", .timeout.as_secs_f64())]
    Timeout {
        /// The command as a line of text.
        command: String,
        /// The time that it had.
        timeout: Duration,
    },
    /// A command wrote more than is kept of an output, and its output is needed as a whole.
    #[error("`{command}` wrote more than {} MiB, the limit for an output that is read", MAX_OUTPUT >> 20)]
    OutputLimit {
        /// The command as a line of text.
        command: String,
    },
    /// A machine cannot be reached.
    #[error("the connection to {} failed: {}", .address, Escaped::new(.reason))]
    Connection {
        /// Where the machine is.
        address: String,
        /// What the program that connects says.
        reason: String,
    },
    /// The operation was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Another process has locked a folder.
    #[error("{} works with {}", .holder.map_or_else(|| "another process".to_owned(), |id| format!("the process {id}")), .folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The number of the process on the machine, if it is known.
        holder: Option<u32>,
    },
    /// The machine cannot do this.
    #[error("{0}")]
    Unsupported(String),
}

fn ended(code: Option<i32>) -> String {
    match code {
        Some(code) => format!("exited with code {code}"),
        None => "was ended by a signal".to_owned(),
    }
}

fn explained(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| {
        format!(": {}", Escaped::within(words, MOST_CHARACTERS))
    })
}

/// The most lines of what a command said last that are part of a message.
const SHOWN_LINES: usize = 3;

/// The most characters of these lines that are part of a message.
const MOST_CHARACTERS: usize = 900;

/// Why no command can be started on a machine without a shell.
pub(crate) const NO_SHELL: &str = "the machine has no /bin/sh, which starts commands";

/// Why a user cannot run commands in another root folder.
pub(super) const NOT_ROOT: &str = "only root may run commands in a folder: run it as root, or with `unshare --map-root-user` before it";

/// Why a command could not even be started in the root of its machine; `None` if it was.
fn not_entered(output: &Output) -> Option<&'static str> {
    if !output.code.is_some_and(|code| (125..=127).contains(&code)) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().find(|line| line.contains("chroot: "))?;
    if said.contains("cannot change root directory") {
        Some(NOT_ROOT)
    } else if said.contains("/bin/sh") {
        Some(NO_SHELL)
    } else {
        None
    }
}

/// A command as a line of text, for messages.
pub(crate) fn shown(command: &Command) -> String {
    command.to_string()
}

impl TargetError {
    /// The failure that the output of a command shows; `Ok` if its exit code is 0.
    pub fn unless_success(command: &Command, output: Output) -> Result<Output, Self> {
        Self::unless_ended_well(|| shown(command), output)
    }

    /// The output of a script that succeeded, or else its failure. Errors call it `name`: its command has the whole script
    /// in it.
    pub(crate) fn unless_script_succeeded(
        name: &str,
        ended: Result<Output, Self>,
    ) -> Result<Output, Self> {
        let command = Escaped::shortened(name).to_string();
        match ended {
            Ok(output) => Self::unless_ended_well(|| command, output),
            Err(Self::Timeout { timeout, .. }) => Err(Self::Timeout { command, timeout }),
            Err(Self::Start { source, .. }) => Err(Self::Start { command, source }),
            Err(other) => Err(other),
        }
    }

    fn unless_ended_well(command: impl FnOnce() -> String, output: Output) -> Result<Output, Self> {
        if output.is_success() {
            return Ok(output);
        }
        let command = command();
        if let Some(reason) = not_entered(&output) {
            let message = format!("cannot run `{command}`: {reason}");
            return Err(Self::Unsupported(message));
        }
        Err(Self::Command {
            command,
            code: output.code,
            words: output.last_lines(SHOWN_LINES),
        })
    }

    /// The error that the standard output of a command was not kept as a whole; `Ok` if it was.
    pub fn unless_cut(command: &Command, output: Output) -> Result<Output, Self> {
        if output.is_cut {
            let command = shown(command);
            return Err(Self::OutputLimit { command });
        }
        Ok(output)
    }
}
