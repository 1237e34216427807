//! How long a machine is waited for that does not answer: a run that was killed ends soon, whatever the machine does.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::target::cancellation::Cancellation;
use crate::target::pipes::{ATOMIC, PAUSE};

/// How long a machine may take to answer once the run has been killed. Shorter than a run waits for
/// the processes it killed.
const LAST_ANSWER: Duration = Duration::from_secs(3);

/// Why the answer of a machine is given up.
pub(super) const NO_ANSWER: &str = "it did not answer until the run was over";

/// The end of the time for one answer.
#[derive(Debug)]
pub(super) struct LastAnswer<'run> {
    cancellation: &'run Cancellation,
    /// When it was noticed that the run was killed.
    killed_at: Option<Instant>,
}

impl<'run> LastAnswer<'run> {
    pub(super) fn new(cancellation: &'run Cancellation) -> Self {
        Self {
            cancellation,
            killed_at: None,
        }
    }

    /// Whether the time is over. It begins with the first call after the run has been killed.
    pub(super) fn is_over(&mut self) -> bool {
        self.cancellation.is_killed()
            && self.killed_at.get_or_insert_with(Instant::now).elapsed() > LAST_ANSWER
    }

    /// Waits until a pipe can be used.
    fn wait_for(mut self, pipe: &impl AsFd, flags: PollFlags) -> io::Result<()> {
        loop {
            match poll(&mut [PollFd::new(pipe, flags)], Some(&PAUSE)) {
                Ok(0) | Err(Errno::INTR) => {}
                // Whatever is wrong, the pipe says it.
                _ => return Ok(()),
            }
            if self.is_over() {
                return Err(io::Error::new(ErrorKind::TimedOut, NO_ANSWER));
            }
        }
    }
}

/// The input of a remote shell.
#[derive(Debug)]
pub(super) struct Requests {
    pipe: ChildStdin,
    cancellation: Cancellation,
}

impl Requests {
    pub(super) fn new(pipe: ChildStdin, cancellation: &Cancellation) -> Self {
        let cancellation = cancellation.clone();
        Self { pipe, cancellation }
    }
}

impl Write for Requests {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LastAnswer::new(&self.cancellation).wait_for(&self.pipe, PollFlags::OUT)?;
        self.pipe.write(&bytes[..bytes.len().min(ATOMIC)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

/// The output of a remote shell.
#[derive(Debug)]
pub(super) struct Answers {
    pipe: ChildStdout,
    cancellation: Cancellation,
}

impl Answers {
    pub(super) fn new(pipe: ChildStdout, cancellation: &Cancellation) -> BufReader<Self> {
        let cancellation = cancellation.clone();
        BufReader::new(Self { pipe, cancellation })
    }
}

impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        LastAnswer::new(&self.cancellation).wait_for(&self.pipe, PollFlags::IN)?;
        self.pipe.read(buffer)
    }
}
