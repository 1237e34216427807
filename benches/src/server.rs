//! A registry server on the loopback interface.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A registry that ends with the benchmark.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Its address, with a slash at the end.
    pub address: String,
    /// A token that may publish.
    pub token: String,
}

impl Server {
    /// Starts a binary with a folder for its data.
    pub fn start(binary: &Path, data: &Path) -> io::Result<Self> {
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("PKGRES_LOG", "error")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let token = std::fs::read_to_string(data.join("admin-token"))?;
        Ok(Self {
            child,
            address: line.trim().to_owned(),
            token: token.trim().to_owned(),
        })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The most memory that was resident, in MiB.
    pub fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kibibytes / 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
