//! Safe wrappers for the system calls of inotify.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{
    self, CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, remove_watch,
};
use rustix::io::Errno;

/// How long to wait before looking whether to stop.
const POLL_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// A watch of the instance.
pub(super) type WatchNumber = i32;

/// What was seen.
pub(super) enum Seen {
    /// Something happened to a watched file or folder, or to an entry of a folder.
    Event {
        watch: WatchNumber,
        /// The entry.
        name: Option<OsString>,
        /// Whether something was made, moved or removed, so that paths lead elsewhere now.
        is_structure: bool,
    },
    /// A watch ended, because its file or folder is gone.
    Gone(WatchNumber),
    /// The queue was full, and events were dropped.
    Lost,
}

/// The message for an error that a limit of the system causes; `None` for other errors.
pub(super) fn limit(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some(
            "all inotify instances of this user are in use, or all files of this process (`sysctl fs.inotify.max_user_instances`, `ulimit -n`)",
        ),
        Errno::NOSPC => {
            Some("all watches of this user are in use (`sysctl fs.inotify.max_user_watches`)")
        }
        _ => None,
    }
}

/// An instance.
pub(super) struct Inotify(OwnedFd);

impl Inotify {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(inotify::init(
            CreateFlags::CLOEXEC | CreateFlags::NONBLOCK,
        )?))
    }

    /// Watches what a descriptor stands for.
    pub(super) fn add(&self, descriptor: &OwnedFd) -> io::Result<WatchNumber> {
        let flags = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF;
        // The link leads to what the descriptor stands for, whatever it is called meanwhile.
        let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        Ok(add_watch(&self.0, path, flags)?)
    }

    /// Ends a watch.
    pub(super) fn remove(&self, watch: WatchNumber) {
        // It may have ended already.
        let _ = remove_watch(&self.0, watch);
    }

    /// Waits for events; returns none from time to time.
    pub(super) fn wait(&self) -> io::Result<Vec<Seen>> {
        let mut descriptors = [PollFd::new(&self.0, PollFlags::IN)];
        match poll(&mut descriptors, Some(&POLL_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut seen = Vec::new();
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(seen),
                Err(error) => return Err(error.into()),
            };
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                seen.push(Seen::Lost);
            } else if flags.contains(ReadFlags::IGNORED) {
                seen.push(Seen::Gone(event.wd()));
            } else {
                let contents = ReadFlags::MODIFY | ReadFlags::ATTRIB | ReadFlags::CLOSE_WRITE;
                let name = event.file_name();
                seen.push(Seen::Event {
                    watch: event.wd(),
                    name: name.map(|name| OsStr::from_bytes(name.to_bytes()).to_owned()),
                    is_structure: flags.intersects(contents.complement()),
                });
            }
            // What is in the buffer belongs to one read; more would make notices late.
            if reader.is_buffer_empty() && seen.len() > 1000 {
                return Ok(seen);
            }
        }
    }
}
