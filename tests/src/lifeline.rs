//! Notices when all processes that hold a file have ended, however busy the machine is.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Opening returns although nobody writes, and so does reading (`O_NONBLOCK` of Linux).
const NON_BLOCKING: i32 = 0o4000;

/// Longer than the end of a killed process takes on any machine.
const LIMIT: Duration = Duration::from_mins(2);

/// The reading end of a named pipe. Processes that opened it for writing hold it until they end.
pub struct Lifeline(File);

impl Lifeline {
    /// Creates a named pipe. Scripts hold it with `exec 9>PATH`.
    pub fn new(path: &Path) -> Self {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo is there").success());
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(NON_BLOCKING).open(path);
        Self(file.expect("the pipe was made"))
    }

    /// Waits until no process holds the pipe any more; returns whether this happened in time.
    pub fn is_released(mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            match self.0.read(&mut [0; 64]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => panic!("the pipe cannot be read: {error}"),
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_released_when_its_last_holder_ends() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("held");
        let mut lifeline = Lifeline::new(&path);
        let text = format!("exec 9>{}; read line", path.display());
        let mut shell = Command::new("sh")
            .args(["-c", &text])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("there is a shell");
        loop {
            match lifeline.0.read(&mut [0; 1]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                read => assert_eq!(read.expect("the pipe can be read"), 0),
            }
        }
        drop(shell.stdin.take());
        shell.wait().expect("it ends");
        assert!(lifeline.is_released());
    }
}
