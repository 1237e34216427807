//! The master process of ssh, which holds the connection to a machine that all other processes share.
//!
//! Nothing of it outlives this process. If this process is killed, a guard ends the master. The folder of the socket is
//! locked until then; the next connection from this machine removes it, and ends the master if the guard could not.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pkgres_files::TemporaryFolder;

use super::address::SshAddress;
use super::last_answer::NO_ANSWER;
use super::process::{Complaints, Pipes, end};
use crate::target::cancellation::Cancellation;
use crate::target::process::has_ended;
use crate::target::process_guard::ProcessGuard;

/// What every remote shell begins with: it reads its program, a line, from the input. This is the only text that the
/// login shell of the user reads, and it never changes.
const BEGIN: &str = r#"exec env -i LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/sh -c 'IFS= read -r program; eval "$(printf %b "$program")"'"#;

/// Options of each process of ssh. Which host keys are accepted is up to the configuration of the user, as everything
/// that is not named here. Nothing asks for a password, and a connection that is dead is noticed.
const OPTIONS: [&str; 12] = [
    "BatchMode=yes",
    "ClearAllForwardings=yes",
    "ConnectTimeout=30",
    "ControlPersist=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "LogLevel=ERROR",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ServerAliveCountMax=3",
    "ServerAliveInterval=15",
];

/// The pause between two looks at a connection that is being made.
const PAUSE: Duration = Duration::from_millis(5);

/// The folder that the folders of sockets are in. It is short, as the path of a socket must be.
const SOCKETS: &str = "/tmp";

/// The name that folders of sockets contain.
const NAME: &str = "ssh";

/// Options for connections by `ssh`.
#[derive(Debug, Clone, Default)]
pub struct SshOptions {
    config: Option<PathBuf>,
    pub(super) cancellation: Cancellation,
}

impl SshOptions {
    /// Sets the configuration file to read instead of the files of the user and the system.
    #[must_use]
    pub fn config(mut self, file: impl Into<PathBuf>) -> Self {
        self.config = Some(file.into());
        self
    }

    /// Sets what ends the attempt to connect for the first time. Later, a run ends its commands by itself; once it has
    /// been killed, a machine that does not answer is given up.
    #[must_use]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }
}

/// The process that holds the connection, and the folder of its socket.
#[derive(Debug)]
pub(super) struct Master {
    child: Mutex<Child>,
    complaints: Mutex<Option<Complaints>>,
    /// Ends the process if this one is killed; `None` if it cannot be started.
    guard: Option<ProcessGuard>,
    folder: TemporaryFolder,
}

impl Master {
    /// Starts the process, and waits until the machine has accepted the user, or until it must not wait any longer. An
    /// error is what ssh says.
    pub(super) fn connect(
        address: &SshAddress,
        options: &SshOptions,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        let folder = TemporaryFolder::create(Path::new(SOCKETS), NAME, end_abandoned)
            .map_err(|error| error.to_string())?;
        let guard = ProcessGuard::start(folder.share().ok()).ok();
        let option = || OsString::from("-o");
        let control = control_path(folder.path());
        let arguments = [
            option(),
            "ControlMaster=yes".into(),
            option(),
            control,
            "-N".into(),
        ];
        let mut child = start(address, options, &arguments)?;
        // It reads and writes nothing.
        let Pipes { errors, .. } = Pipes::take(&mut child).map_err(failed)?;
        if let Some(guard) = &guard {
            guard.add(child.id());
        }
        let master = Self {
            child: Mutex::new(child),
            complaints: Mutex::new(Some(Complaints::of(errors))),
            guard,
            folder,
        };
        // Its socket is there once the machine has accepted the user.
        while !socket(master.folder.path()).exists() {
            if !master.is_alive() {
                return Err(master
                    .last_words()
                    .unwrap_or_else(|| "`ssh` ended".to_owned()));
            }
            if is_over() {
                return Err(NO_ANSWER.to_owned());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(master)
    }

    /// Starts a process whose remote shell reads its program from its input. It goes through this one, and fails if this
    /// is gone.
    pub(super) fn channel(
        &self,
        address: &SshAddress,
        options: &SshOptions,
    ) -> Result<Child, String> {
        let option = || OsString::from("-o");
        let arguments = [
            option(),
            "ControlMaster=no".into(),
            option(),
            control_path(self.folder.path()),
            option(),
            "ProxyCommand=false".into(),
        ];
        start(address, options, &arguments)
    }

    /// Ends the process, and with it every session.
    pub(super) fn end(&self) {
        let _ = lock(&self.child).kill();
    }

    pub(super) fn is_alive(&self) -> bool {
        !has_ended(&lock(&self.child))
    }

    /// What it said last, if it has ended.
    pub(super) fn last_words(&self) -> Option<String> {
        if self.is_alive() {
            return None;
        }
        lock(&self.complaints).take()?.last_words()
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        // Once it has been waited for, another process may get its number.
        if let Some(guard) = &self.guard {
            guard.remove(child.id());
        }
        let _ = child.wait();
    }
}

/// Ends the master of a process that was killed, by the folder of its socket. One that is still connecting ends by
/// itself, because it cannot make its socket without the folder.
fn end_abandoned(folder: &Path) {
    if !socket(folder).exists() {
        return;
    }
    let request = Command::new("ssh")
        .args(["-F", "none", "-O", "exit", "-o"])
        .arg(control_path(folder))
        .args(["--", "abandoned"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut request) = request {
        end(&mut request);
    }
}

/// Where the socket of a connection is.
fn socket(folder: &Path) -> PathBuf {
    folder.join("socket")
}

/// The option that names the socket of a connection.
fn control_path(folder: &Path) -> OsString {
    let mut option = OsString::from("ControlPath=");
    option.push(socket(folder));
    option
}

fn start(
    address: &SshAddress,
    options: &SshOptions,
    arguments: &[OsString],
) -> Result<Child, String> {
    let mut command = Command::new("ssh");
    if let Some(config) = &options.config {
        command.arg("-F").arg(config);
    }
    command.args(["-T", "-a", "-x", "-e", "none"]);
    // The first value of an option counts, so that these do.
    command.args(arguments);
    for option in OPTIONS {
        command.args(["-o", option]);
    }
    if let Some(user) = &address.user {
        command.args(["-l", user]);
    }
    if let Some(port) = address.port {
        command.args(["-p", &port.to_string()]);
    }
    command
        .args(["--", &address.host, BEGIN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for commands on the machine, not for the connection to it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("`ssh` cannot be started: {error}"))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
