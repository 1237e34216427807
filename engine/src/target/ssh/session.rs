//! A session: a shell on the machine that answers requests one by one.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::Child;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pkgres_manifest::Hexadecimal;

use super::last_answer::{Answers, Requests};
use super::master::Master;
use super::process::{Complaints, Pipes, end};
use super::words::push_line;
use crate::target::cancellation::Cancellation;

/// The program of the shell.
const PROGRAM: &str = include_str!("session.sh");

/// The most bytes of an answer in base64, and of what a login shell prints before the first one.
const MAX_ANSWER: usize = 256 << 20;

/// A random text that nothing on the machine can know before it is sent there.
pub(super) fn nonce() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(Hexadecimal(&bytes).to_string())
}

/// The first line of input of a remote shell: a program that knows a nonce.
pub(super) fn program(nonce: &str, text: &str) -> Vec<u8> {
    let mut line = Vec::new();
    push_line(&mut line, format!("nonce={nonce}\n{text}").as_bytes());
    line
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: ReplyStatus,
    /// What was asked for, or an explanation.
    pub(super) bytes: Vec<u8>,
}

impl Reply {
    pub(super) fn is_ok(&self) -> bool {
        self.status == ReplyStatus::Ok
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyStatus {
    Ok,
    /// There is nothing, which is an answer as well.
    Nothing,
    /// Somebody else has the lock.
    Busy,
    /// A file or folder is missing.
    Missing,
    Denied,
    /// It is not done to what is there.
    Rejected,
    Failed,
}

impl ReplyStatus {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "ok" => Self::Ok,
            "nothing" => Self::Nothing,
            "busy" => Self::Busy,
            "missing" => Self::Missing,
            "denied" => Self::Denied,
            "rejected" => Self::Rejected,
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

#[derive(Debug)]
pub(super) struct Session {
    nonce: String,
    /// `None` once it is closed.
    input: Option<Requests>,
    output: BufReader<Answers>,
    errors: Option<Complaints>,
    child: Child,
    master: Arc<Master>,
}

impl Session {
    /// A session in a process that was just started, for a run with this cancellation.
    pub(super) fn new(
        pipes: Pipes,
        child: Child,
        master: &Arc<Master>,
        cancellation: &Cancellation,
    ) -> io::Result<Self> {
        let Pipes {
            input,
            output,
            errors,
        } = pipes;
        Ok(Self {
            nonce: nonce()?,
            input: Some(Requests::new(input, cancellation)),
            output: Answers::new(output, cancellation),
            errors: Some(Complaints::of(errors)),
            child,
            master: Arc::clone(master),
        })
    }

    /// Starts the program of the shell, and returns what it says about the machine.
    pub(super) fn begin(&mut self) -> io::Result<Vec<u8>> {
        let line = program(&self.nonce, PROGRAM);
        self.send(&line)?;
        // Login shells may print something before.
        let mut left = MAX_ANSWER;
        loop {
            let line = self.line(&mut left)?;
            if line == self.nonce.as_bytes() {
                break;
            }
        }
        Ok(self.reply()?.bytes)
    }

    pub(super) fn master(&self) -> &Arc<Master> {
        &self.master
    }

    /// Asks for something. `content` follows the request as it is.
    pub(super) fn ask(
        &mut self,
        function: &str,
        arguments: &[&[u8]],
        content: &[u8],
    ) -> io::Result<Reply> {
        let mut request = Vec::new();
        let first = format!("{} {function} {}", self.nonce, arguments.len());
        push_line(&mut request, first.as_bytes());
        for argument in arguments {
            if argument.contains(&0) {
                let message = "a path of a machine has no NUL";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            push_line(&mut request, argument);
        }
        self.send(&request)?;
        // If it has rejected the request, it reads nothing more; then its answer says so.
        let sent = self.send(content);
        let reply = self.reply();
        sent.or_else(|error| if reply.is_ok() { Ok(()) } else { Err(error) })?;
        reply
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(bytes)
    }

    fn reply(&mut self) -> io::Result<Reply> {
        let mut left = MAX_ANSWER;
        let mut text = Vec::new();
        loop {
            let line = self.line(&mut left)?;
            let Some(status) = line.strip_prefix(b".") else {
                text.extend(line);
                continue;
            };
            let status = std::str::from_utf8(status)
                .ok()
                .and_then(ReplyStatus::parse);
            return Ok(Reply {
                status: status.ok_or(io::ErrorKind::InvalidData)?,
                bytes: STANDARD
                    .decode(text)
                    .map_err(|error| io::Error::other(error.to_string()))?,
            });
        }
    }

    /// A line without its end.
    fn line(&mut self, left: &mut usize) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let most = u64::try_from(*left).unwrap_or(u64::MAX);
        let read = (&mut self.output).take(most).read_until(b'\n', &mut line)?;
        *left -= read;
        if line.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line)
    }

    /// Ends the process after a failure. Returns what ssh said last.
    pub(super) fn last_words(&mut self) -> Option<String> {
        self.input = None;
        end(&mut self.child);
        self.errors.take()?.last_words()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.input = None;
        end(&mut self.child);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// What a function of the shell prints, on this machine.
    fn printed(function: &str, arguments: &[&str]) -> String {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", &format!("nonce=abc\n{PROGRAM}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut input = shell.stdin.take().expect("it has an input");
        writeln!(input, "abc {function} {}", arguments.len()).expect("it reads");
        for argument in arguments {
            writeln!(input, "{argument}").expect("it reads");
        }
        drop(input);
        let output = shell.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("it is text");
        let (_, answer) = text.split_once(".ok\n").expect("it says what it is");
        answer.to_owned()
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn the_holder_of_a_lock_is_looked_up_by_device_and_inode() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("locks");
        let locks = "1: FLOCK  ADVISORY  WRITE 11 00:2a:1234 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 12 fe:00:1234 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:00:1234 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 fe:00:1234 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 fe:00:99 0 EOF\n";
        std::fs::write(&path, locks).expect("it can be written");
        let path = path.display().to_string();
        for (place, expected) in [
            ("00:2a:1234", "11"),
            ("fe:00:1234", "13"),
            ("fe:01:1234", ""),
            ("fe:00:99", ""),
        ] {
            assert_eq!(printed("locked_by", &[place, &path]), expected, "{place}");
        }
    }
}
