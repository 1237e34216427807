//! A server of ssh for tests: it leads to this machine, with the rights of the user that runs the test.
//!
//! If the programs are not installed, the tests that need them report that on stderr and pass, unless
//! `PKGRES_REQUIRE_SERVICES` is set. Dropping the value stops the service.

// The files of a test need not survive a crash.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::skip;

/// The time after which the server counts as not started.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Where sshd is: it is not in the search path of users.
const SSHD: [&str; 3] = [
    "/usr/sbin/sshd",
    "/usr/local/sbin/sshd",
    "/usr/lib/ssh/sshd",
];

/// The folder that sshd wants to be there if root runs it.
const PRIVILEGE_SEPARATION: &str = "/run/sshd";

/// What a session prints before the command that was asked for, as login shells may do.
const NOISE: &str = "echo welcome; echo welcome >&2; exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"";

/// A server of ssh with keys of its own.
pub struct SshServer {
    server: Child,
    port: u16,
    user: String,
    folder: TempDir,
}

impl SshServer {
    /// Starts a server. Reports why and returns `None` if that is impossible.
    ///
    /// # Panics
    ///
    /// If it cannot be started though `PKGRES_REQUIRE_SERVICES` is set.
    pub fn start() -> Option<Self> {
        match Self::try_start() {
            Ok(server) => Some(server),
            Err(reason) => {
                skip::without_service(&format!("sshd cannot be used: {reason}"));
                None
            }
        }
    }

    fn try_start() -> Result<Self, String> {
        let sshd = SSHD.iter().find(|path| Path::new(path).exists());
        let sshd = sshd.ok_or("it is not installed")?;
        let user = output("id", &["-un"])?;
        if output("id", &["-u"])? == "0" {
            fs::create_dir_all(PRIVILEGE_SEPARATION).map_err(|error| error.to_string())?;
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host", "user"] {
            output(
                "ssh-keygen",
                &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &path(key)],
            )?;
        }
        let port = free_port()?;
        let write = |name: &str, text: String| {
            fs::write(folder.path().join(name), text).map_err(|error| error.to_string())
        };
        write(
            "sshd_config",
            format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
                 PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 PermitRootLogin prohibit-password\nForceCommand {NOISE}\n",
                path("host"),
                path("user.pub")
            ),
        )?;
        let host_key = fs::read_to_string(path("host.pub")).map_err(|error| error.to_string())?;
        write("known_hosts", format!("[127.0.0.1]:{port} {host_key}"))?;
        for (name, known) in [("config", "known_hosts"), ("config_unknown", "none")] {
            write(
                name,
                format!(
                    "IdentityFile {}\nIdentitiesOnly yes\nGlobalKnownHostsFile /dev/null\nUserKnownHostsFile {}\n",
                    path("user"),
                    path(known)
                ),
            )?;
        }
        let log = fs::File::create(path("log")).map_err(|error| error.to_string())?;
        let server = Command::new(sshd)
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut server = Self {
            server,
            port,
            user,
            folder,
        };
        server.wait()?;
        Ok(server)
    }

    fn wait(&mut self) -> Result<(), String> {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let has_ended = !matches!(self.server.try_wait(), Ok(None));
            if has_ended || start.elapsed() > START_TIMEOUT {
                let log = fs::read_to_string(self.folder.path().join("log"));
                return Err(log.unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Where the machine is: `USER@HOST:PORT`.
    pub fn address(&self) -> String {
        format!("{}@127.0.0.1:{}", self.user, self.port)
    }

    /// The configuration file for `ssh`, with a key that the server accepts, and the key of the server.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// A configuration file that does not know the key of the server.
    pub fn config_without_host_key(&self) -> PathBuf {
        self.folder.path().join("config_unknown")
    }

    /// Ends every connection to the server.
    pub fn end_connections(&self) {
        self.signal_connections("-KILL");
    }

    /// Stops every connection to the server: they stay open, and nothing answers any more.
    pub fn stop_connections(&self) {
        self.signal_connections("-STOP");
    }

    /// Sends a signal to the processes of sshd that have the connections.
    fn signal_connections(&self, signal: &str) {
        // Each has a process, which may have another one with the rights of the user.
        let server = self.server.id().to_string();
        let first = output("pgrep", &["-P", &server]).unwrap_or_default();
        for process in first.lines() {
            let arguments = [signal, "-P", process, "sshd"];
            let _ = Command::new("pkill").args(arguments).status();
        }
        let _ = Command::new("pkill").args([signal, "-P", &server]).status();
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.end_connections();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok(address.port())
}

/// What a program writes, without the end of the line.
fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
