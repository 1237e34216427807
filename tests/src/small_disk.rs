//! Small file systems, to fill them and to make them read-only.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::skip;

/// A file system in memory with a limited size, which is gone once this is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// Mounts a file system of some MiB. `None`, with a message, if this machine or user cannot.
    ///
    /// # Panics
    ///
    /// If there is no temporary folder to mount it on.
    pub fn mount(mebibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let size = format!("size={mebibytes}m");
        if !mount(&["-t", "tmpfs", "-o", &size, "none"], folder.path()) {
            skip::without_rights("file systems can be mounted by root on Linux only");
            return None;
        }
        Some(Self { folder })
    }

    /// The root folder of the file system.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives it another size, in MiB.
    ///
    /// # Panics
    ///
    /// If it cannot have that size.
    pub fn resize(&self, mebibytes: u32) {
        let options = format!("remount,rw,size={mebibytes}m");
        assert!(mount(&["-o", &options], self.path()), "{options}");
    }

    /// Forbids to write to it.
    ///
    /// # Panics
    ///
    /// If it cannot be forbidden.
    pub fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.path()), "read-only");
    }

    /// Writes to a file until nothing more fits.
    ///
    /// # Panics
    ///
    /// If the disk does not become full.
    pub fn fill(&self) {
        use std::io::Write as _;

        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path().join("filler"));
        let mut file = file.expect("an empty file needs no space");
        let block = [0; 4096];
        let full = std::iter::repeat_with(|| file.write_all(&block)).find_map(Result::err);
        let kind = full.map(|error| error.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::StorageFull));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process that is about to end may still use it: it is gone with that process.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    let mounted = Command::new("mount")
        .args(arguments)
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    mounted.is_ok_and(|status| status.success())
}
