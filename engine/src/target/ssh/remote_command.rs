//! Runs a command on a machine, each in its own remote shell.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::Child;
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use super::connection::Connection;
use super::process::{Pipes, end};
use super::session::{nonce, program};
use super::words::push_line;
use crate::target::command::MAX_OUTPUT;
use crate::target::pipes::{Ended, LAST, read_all};
use crate::target::process::{PAUSES, check_variables};
use crate::target::{Command, Output, TargetError, mounts, shown};

/// The program of the shell that runs a command.
const PROGRAM: &str = include_str!("command.sh");

/// The most bytes of the line that says how a command ended.
const LAST_LINE: usize = 128;

/// Runs a command on a machine.
pub(super) fn run(connection: &Connection, command: &Command) -> Result<Output, TargetError> {
    if command.cancellation.is_cancelled() {
        return Err(TargetError::Cancelled);
    }
    let start = |source| TargetError::Start {
        command: shown(command),
        source,
    };
    check_variables(command).map_err(start)?;
    let nonce = nonce().map_err(start)?;
    let input = input(command, &nonce).map_err(start)?;
    let _slot = connection.command_slot();
    // The others may have taken long.
    if command.cancellation.is_cancelled() {
        return Err(TargetError::Cancelled);
    }
    let mut child = connection.channel()?;
    let pipes = Pipes::take(&mut child).map_err(start)?;
    let (group, over) = (OnceLock::new(), Ended::new());
    let (ended, (stdout, is_cut), stderr) = thread::scope(|scope| {
        let mut pipe = pipes.input;
        scope.spawn(move || {
            // A command may end without reading its input.
            let _ = pipe.write_all(&input);
        });
        let stdout = scope.spawn(|| read_all(Some(pipes.output), &Ended::new()));
        let stderr = scope.spawn(|| read_errors(pipes.errors, &nonce, &group, &over));
        let ended = Running {
            connection,
            command,
            child: &mut child,
            group: &group,
            over: &over,
        }
        .wait();
        let stdout = stdout.join().unwrap_or_default();
        (ended, stdout, stderr.join().unwrap_or_default())
    });
    let is_cancelled = ended?;
    let marker = format!("\n{nonce}\n");
    let begin = find(&stdout, marker.as_bytes()).map(|at| at + marker.len());
    match (stderr.code, begin) {
        (Some(code), _) if is_cancelled && code > 128 => Err(TargetError::Cancelled),
        (Some(code), Some(begin)) => Ok(Output {
            code: Some(code),
            stdout: stdout[begin..].to_vec(),
            stderr: stderr.bytes,
            is_cut,
        }),
        _ if is_cancelled => Err(TargetError::Cancelled),
        _ => {
            let output = Output {
                stderr: stderr.bytes,
                ..Output::default()
            };
            let words = output.last_words();
            Err(connection.failed(words.as_deref().unwrap_or("it ended while a command ran")))
        }
    }
}

/// What the shell reads: its program, the variables, the words, and the input of the command.
fn input(command: &Command, nonce: &str) -> io::Result<Vec<u8>> {
    let mut input = program(nonce, PROGRAM);
    let variables = mounts::variables(command);
    let variables: Vec<_> = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let words = mounts::with_root_by("chroot", Path::new("/"), command);
    if variables
        .iter()
        .chain(&words)
        .any(|text| text.contains('\0'))
    {
        let message = "a word of a command has no NUL";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for variable in variables {
        push_line(&mut input, variable.as_bytes());
    }
    push_line(&mut input, b"");
    push_line(&mut input, words.len().to_string().as_bytes());
    for word in words {
        push_line(&mut input, word.as_bytes());
    }
    input.extend(&command.input);
    Ok(input)
}

struct Running<'run> {
    connection: &'run Connection,
    command: &'run Command,
    /// The process of ssh.
    child: &'run mut Child,
    /// The process group of the command, once it is known.
    group: &'run OnceLock<String>,
    /// When the command has ended.
    over: &'run Ended,
}

impl Running<'_> {
    /// Waits for the end of the command, which is killed if it takes too long. Returns whether it was asked to end.
    fn wait(self) -> Result<bool, TargetError> {
        let start = Instant::now();
        let mut pause = PAUSES.0;
        let (mut sent, mut asked) = (None, None);
        loop {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Ok(sent.is_some());
            }
            if self.over.get().is_some_and(|at| at.elapsed() > LAST) {
                // What the command left running keeps the channel open.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return Ok(sent.is_some());
            }
            // Without the group, the command would go on after its time.
            if start.elapsed() > self.command.timeout && self.can_be_reached(&mut asked) {
                self.signal("KILL");
                end(self.child);
                return Err(TargetError::Timeout {
                    command: shown(self.command),
                    timeout: self.command.timeout,
                });
            }
            let signal = self.command.cancellation.signal();
            if signal.is_some() && signal != sent && self.can_be_reached(&mut asked) {
                sent = signal;
                let is_kill = signal == Some(rustix::process::Signal::KILL);
                self.signal(if is_kill { "KILL" } else { "INT" });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Whether the process group is known, or the time to learn it is over: a command that has just been started says it
    /// at once, and without it, it would go on.
    fn can_be_reached(&self, asked: &mut Option<Instant>) -> bool {
        self.group.get().is_some() || asked.get_or_insert_with(Instant::now).elapsed() > LAST
    }

    fn signal(&self, name: &str) {
        let sent = self
            .group
            .get()
            .map(|group| self.connection.signal(name, group));
        // A command that cannot be reached is left to the end of its connection.
        if !matches!(sent, Some(Ok(()))) {
            let pid = i32::try_from(self.child.id()).ok();
            if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
    }
}

/// What a command wrote to its standard error, and how it ended.
#[derive(Default)]
struct Errors {
    bytes: Vec<u8>,
    code: Option<i32>,
}

/// Reads a standard error, between the lines of the shell around the command. The first one says its process group, the
/// last one that it is over.
fn read_errors(mut pipe: impl Read, nonce: &str, group: &OnceLock<String>, over: &Ended) -> Errors {
    let marker = format!("\n{nonce} ");
    let marker = marker.as_bytes();
    let most = usize::try_from(MAX_OUTPUT).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let mut begin = None;
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        bytes.extend(&buffer[..count]);
        if begin.is_none()
            && let Some((number, end)) = number_after(&bytes, marker)
        {
            let _ = group.set(number);
            begin = Some(end);
        }
        let latest = bytes.len().saturating_sub(count + LAST_LINE);
        if let Some(begin) = begin
            && number_after(&bytes[latest.max(begin)..], marker).is_some()
        {
            let _ = over.set(Instant::now());
        }
        if bytes.len() > most + (1 << 20) {
            // The last line stays.
            bytes.drain(most..bytes.len() - LAST_LINE);
        }
    }
    let Some(begin) = begin else {
        return Errors { bytes, code: None };
    };
    bytes.drain(..begin);
    let code = number_after(&bytes, marker).and_then(|(number, _)| number.parse().ok());
    if let Some(end) = find(&bytes, marker) {
        bytes.truncate(end);
    }
    Errors { bytes, code }
}

/// The number on the line that begins with a marker, and the end of the line.
fn number_after(bytes: &[u8], marker: &[u8]) -> Option<(String, usize)> {
    let begin = find(bytes, marker)? + marker.len();
    let length = bytes[begin..].iter().position(|byte| *byte == b'\n')?;
    let number = &bytes[begin..begin + length];
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        (
            String::from_utf8_lossy(number).into_owned(),
            begin + length + 1,
        )
    })
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_between_the_lines_of_the_shell() {
        let group = OnceLock::new();
        let written = b"motd\n\nabc 17\nfirst\nabd 2\n\nabc 1\n";
        let over = Ended::new();
        let errors = read_errors(&written[..], "abc", &group, &over);
        assert!(over.get().is_some());
        assert_eq!(group.get().map(String::as_str), Some("17"));
        assert_eq!(errors.bytes, b"first\nabd 2\n");
        assert_eq!(errors.code, Some(1));
    }
}
