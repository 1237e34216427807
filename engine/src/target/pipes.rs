//! The pipes of a command, which are used until they end or, once the command has ended, until nothing more is in them.
//!
//! A process that a command leaves running can keep its pipes open for ever.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::command::MAX_OUTPUT;

/// How long one look waits for a pipe.
pub(super) const PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long pipes are used after the end of a command at most, whatever is left that uses them.
pub(super) const LAST: Duration = Duration::from_secs(1);

/// How many bytes can be written to a pipe that is ready without waiting.
pub(super) const ATOMIC: usize = 4096;

/// When a command has ended, once it has.
pub(super) type Ended = OnceLock<Instant>;

/// Reads what a command writes, and keeps as much as is kept of an output. The second part is whether there was more.
pub(super) fn read_all(pipe: Option<impl Read + AsFd>, ended: &Ended) -> (Vec<u8>, bool) {
    let (mut bytes, mut is_cut) = (Vec::new(), false);
    let Some(mut pipe) = pipe else {
        return (bytes, is_cut);
    };
    let most = usize::try_from(MAX_OUTPUT).unwrap_or(usize::MAX);
    let mut buffer = [0; 16 << 10];
    while is_ready(&pipe, PollFlags::IN, ended) {
        match pipe.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // What was read before an error is kept.
            Ok(0) | Err(_) => break,
            Ok(count) => {
                let kept = count.min(most - bytes.len());
                bytes.extend(&buffer[..kept]);
                is_cut |= kept < count;
            }
        }
    }
    (bytes, is_cut)
}

/// Writes what a command reads. It may end without reading all of it.
pub(super) fn write_all(mut pipe: impl Write + AsFd, mut bytes: &[u8], ended: &Ended) {
    while !bytes.is_empty() && is_ready(&pipe, PollFlags::OUT, ended) {
        match pipe.write(&bytes[..bytes.len().min(ATOMIC)]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(count) => bytes = &bytes[count..],
        }
    }
}

/// Waits until a pipe can be used, or has ended. `false` if the command has ended and left nothing in it.
fn is_ready(pipe: &impl AsFd, flags: PollFlags, ended: &Ended) -> bool {
    loop {
        let has_ended = ended.get();
        if has_ended.is_some_and(|at| at.elapsed() > LAST) {
            return false;
        }
        match poll(&mut [PollFd::new(pipe, flags)], Some(&PAUSE)) {
            Ok(0) if has_ended.is_some() => return false,
            Ok(0) | Err(Errno::INTR) => {}
            _ => return true,
        }
    }
}
