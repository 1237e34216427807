//! The connection to a machine: its master process, and the sessions that use it.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::address::SshAddress;
use super::last_answer::{LastAnswer, NO_ANSWER};
use super::master::{Master, SshOptions, lock};
use super::process::Pipes;
use super::session::{Reply, ReplyStatus, Session};
use crate::target::{TargetError, TargetLock};

/// The most sessions for requests, and the most commands, that are open at once. sshd allows ten of both together, unless
/// it is configured otherwise. The other two are a session that holds a lock, and one that ends a command.
const MOST_SESSIONS: usize = 4;
const MOST_COMMANDS: usize = 4;
const MOST_SIGNALS: usize = 1;

/// A session whose shell holds a lock.
#[derive(Debug)]
struct SessionLock(Session);

impl Drop for SessionLock {
    /// Waits until the lock is given back: the shell on the machine may end later than the session here.
    fn drop(&mut self) {
        // If the connection is lost, the machine ends the shell, and the lock with it.
        let _ = self.0.ask("unlock", &[], b"");
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    address: SshAddress,
    options: SshOptions,
    state: Mutex<OpenSessions>,
    freed: Condvar,
    /// Whether the machine did not answer a run that was killed. It is not asked again.
    is_given_up: AtomicBool,
}

#[derive(Debug, Default)]
struct OpenSessions {
    master: Option<Arc<Master>>,
    idle: Vec<Session>,
    /// The number of requests that have a session or are getting one.
    sessions: usize,
    commands: usize,
    signals: usize,
}

/// Room for one more session or command, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot<'connection> {
    connection: &'connection Connection,
    count: fn(&mut OpenSessions) -> &mut usize,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *(self.count)(&mut lock(&self.connection.state)) -= 1;
        self.connection.freed.notify_all();
    }
}

impl Connection {
    /// Connects to a machine. Returns what the first session says about it as well.
    pub(super) fn open(
        address: &SshAddress,
        options: &SshOptions,
    ) -> Result<(Self, Vec<u8>), TargetError> {
        let connection = Self {
            address: address.clone(),
            options: options.clone(),
            state: Mutex::default(),
            freed: Condvar::new(),
            is_given_up: AtomicBool::new(false),
        };
        let cancellation = &options.cancellation;
        let connected = connection.connect(|| cancellation.is_cancelled());
        let (master, session, facts) = connected.map_err(|error| {
            if cancellation.is_cancelled() {
                TargetError::Cancelled
            } else {
                error
            }
        })?;
        let mut state = lock(&connection.state);
        state.master = Some(master);
        state.idle.push(session);
        drop(state);
        Ok((connection, facts))
    }

    /// Asks the machine. A session that fails is not used again; the next request may connect again.
    pub(super) fn ask(
        &self,
        function: &str,
        arguments: &[&[u8]],
        content: &[u8],
    ) -> Result<Reply, TargetError> {
        let _slot = self.slot(|state| &mut state.sessions, MOST_SESSIONS);
        let mut session = self.session()?;
        let reply = session.ask(function, arguments, content);
        let reply = reply.map_err(|error| self.lost(&error, &mut session))?;
        // After a failure to write a file, the other side has ended.
        if reply.is_ok() || function != "write_file" {
            lock(&self.state).idle.push(session);
        }
        Ok(reply)
    }

    /// A session of its own, which is not for other requests.
    pub(super) fn session(&self) -> Result<Session, TargetError> {
        let mut state = lock(&self.state);
        if self.is_given_up.load(Ordering::Relaxed) {
            return Err(self.failed(NO_ANSWER));
        }
        if !state
            .master
            .as_ref()
            .is_some_and(|master| master.is_alive())
        {
            state.idle.clear();
            // The others wait for this.
            let mut last_answer = LastAnswer::new(&self.options.cancellation);
            let (master, session, _) = self.connect(|| last_answer.is_over())?;
            state.master = Some(master);
            return Ok(session);
        }
        if let Some(session) = state.idle.pop() {
            return Ok(session);
        }
        let master = state.master.clone();
        drop(state);
        let Some(master) = master else {
            return Err(self.failed("it was closed"));
        };
        let (session, _) = self.begin(&master)?;
        Ok(session)
    }

    /// Keeps a session that was opened without the slot of a request, unless requests may open all theirs.
    fn keep_if_free(&self, session: Session) {
        let mut state = lock(&self.state);
        if state.idle.len() + state.sessions < MOST_SESSIONS {
            state.idle.push(session);
            return;
        }
        drop(state);
        drop(session);
    }

    /// Waits until one more command may run.
    pub(super) fn command_slot(&self) -> Slot<'_> {
        self.slot(|state| &mut state.commands, MOST_COMMANDS)
    }

    /// Starts a process whose remote shell reads its program from its input.
    pub(super) fn channel(&self) -> Result<Child, TargetError> {
        let state = lock(&self.state);
        let is_alive = |master: &&Arc<Master>| master.is_alive();
        let master = state.master.as_ref().filter(is_alive).map(Arc::clone);
        drop(state);
        let master = if let Some(master) = master {
            master
        } else {
            let session = self.session()?;
            let master = Arc::clone(session.master());
            self.keep_if_free(session);
            master
        };
        self.start(&master)
    }

    /// Sends a signal to a process group of the machine.
    pub(super) fn signal(&self, signal: &str, group: &str) -> Result<(), TargetError> {
        // It must not wait for requests, which may wait for the command that it ends.
        let _slot = self.slot(|state| &mut state.signals, MOST_SIGNALS);
        let mut session = self.session()?;
        let arguments = [signal.as_bytes(), group.as_bytes()];
        let reply = session.ask("signal", &arguments, b"");
        reply.map_err(|error| self.lost(&error, &mut session))?;
        self.keep_if_free(session);
        Ok(())
    }

    /// Locks a folder in a session of its own: `None` if the machine has no locks, or the answer that says why not.
    pub(super) fn lock(
        &self,
        folder: &Path,
    ) -> Result<Result<Option<TargetLock>, Reply>, TargetError> {
        let mut session = self.session()?;
        let reply = session.ask("lock", &[folder.as_os_str().as_bytes()], b"");
        let reply = reply.map_err(|error| self.lost(&error, &mut session))?;
        Ok(match reply.status {
            ReplyStatus::Ok => Ok(Some(Box::new(SessionLock(session)))),
            ReplyStatus::Nothing => Ok(None),
            _ => Err(reply),
        })
    }

    fn slot(&self, count: fn(&mut OpenSessions) -> &mut usize, most: usize) -> Slot<'_> {
        let state = lock(&self.state);
        let waited = self.freed.wait_while(state, |state| *count(state) >= most);
        *count(&mut waited.unwrap_or_else(PoisonError::into_inner)) += 1;
        Slot {
            connection: self,
            count,
        }
    }

    /// Starts the master process, and the first session.
    fn connect(
        &self,
        is_over: impl FnMut() -> bool,
    ) -> Result<(Arc<Master>, Session, Vec<u8>), TargetError> {
        let master = Master::connect(&self.address, &self.options, is_over);
        let master = master.map_err(|reason| self.failed(&reason))?;
        let master = Arc::new(master);
        let (session, facts) = self.begin(&master)?;
        Ok((master, session, facts))
    }

    fn start(&self, master: &Master) -> Result<Child, TargetError> {
        let child = master.channel(&self.address, &self.options);
        child.map_err(|reason| self.failed(&reason))
    }

    /// Starts a session.
    fn begin(&self, master: &Arc<Master>) -> Result<(Session, Vec<u8>), TargetError> {
        let mut child = self.start(master)?;
        let session = Pipes::take(&mut child)
            .and_then(|pipes| Session::new(pipes, child, master, &self.options.cancellation));
        let mut session = session.map_err(|error| self.failed(&error.to_string()))?;
        match session.begin() {
            Ok(facts) => Ok((session, facts)),
            Err(error) => Err(self.lost(&error, &mut session)),
        }
    }

    /// An error of this connection.
    pub(super) fn failed(&self, reason: &str) -> TargetError {
        TargetError::Connection {
            address: self.address.to_string(),
            reason: reason.to_owned(),
        }
    }

    /// The error of a session that is of no use any more.
    fn lost(&self, error: &io::Error, session: &mut Session) -> TargetError {
        if error.kind() == io::ErrorKind::TimedOut {
            self.is_given_up.store(true, Ordering::Relaxed);
            session.master().end();
        }
        let said = session.last_words();
        // This ends all other sessions as well.
        if self.is_given_up.load(Ordering::Relaxed) {
            return self.failed(NO_ANSWER);
        }
        let said = session.master().last_words().or(said);
        self.failed(&said.unwrap_or_else(|| error.to_string()))
    }
}
