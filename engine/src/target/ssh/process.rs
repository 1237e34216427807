//! Starts and ends processes of `ssh`, and turns their messages and exit codes into errors.

use std::io::{self, Read as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::target::Output;

/// The most bytes of an error that are kept.
const MAX_ERROR: u64 = 64 << 10;

/// How long a process of ssh has to end by itself.
const END: Duration = Duration::from_secs(2);

/// What a process of ssh reads and writes.
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

impl Pipes {
    /// The pipes of a process that was started with all three.
    pub(super) fn take(child: &mut Child) -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        Ok(Self {
            input: child.stdin.take().ok_or_else(missing)?,
            output: child.stdout.take().ok_or_else(missing)?,
            errors: child.stderr.take().ok_or_else(missing)?,
        })
    }
}

/// What a process of ssh writes to its standard error.
#[derive(Debug)]
pub(super) struct Complaints(JoinHandle<Vec<u8>>);

impl Complaints {
    /// Reads a standard error until it ends.
    pub(super) fn of(mut errors: ChildStderr) -> Self {
        Self(std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = (&mut errors).take(MAX_ERROR).read_to_end(&mut bytes);
            let _ = io::copy(&mut errors, &mut io::sink());
            bytes
        }))
    }

    /// The last line, once the process has ended.
    pub(super) fn last_words(self) -> Option<String> {
        let output = Output {
            stderr: self.0.join().unwrap_or_default(),
            ..Output::default()
        };
        output.last_words()
    }
}

/// Waits a moment for the end of a process, and kills it otherwise.
pub(super) fn end(child: &mut Child) {
    let start = Instant::now();
    while start.elapsed() < END {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}
