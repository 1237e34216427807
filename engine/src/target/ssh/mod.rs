//! Machines that are reached with this system's `ssh`. They only need a POSIX shell and coreutils.
//!
//! All requests share one connection (`ControlMaster`, with a socket in a private folder). A few long-running remote
//! shells answer requests about files (`session.sh`), each in one round trip. Each command has its own remote shell
//! (`command.sh`), with its input, its two outputs and its exit code.
//!
//! The programs that remote shells run are constant. Paths, contents, words and values of variables are data on their
//! standard input (`words.rs`), so there is nothing to quote. Each session and command has a random nonce: the content
//! of a file or the output of a command cannot pretend to be a request or the end of an answer.
//!
//! Files are written beside their target, synced and renamed. Content and attributes are changed through the opened
//! file, so a link that somebody creates in the meantime has no effect.

mod address;
mod connection;
mod last_answer;
mod master;
mod process;
mod remote_command;
mod session;
mod words;

pub use address::SshAddress;
pub use master::SshOptions;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind, FileError, RootEntry};
use pkgres_manifest::Facts;
use rustix::io::Errno;

use super::command::{Command, Output};
use super::error::TargetError;
use super::facts::read_facts;
use super::{Probe, Target, TargetLock};
use connection::Connection;
use session::{Reply, ReplyStatus};

/// A machine that is reached by ssh.
#[derive(Debug)]
pub struct SshMachine {
    connection: Connection,
    facts: Facts,
}

impl SshMachine {
    /// Connects to a machine. The program `ssh` decides whether its host key is accepted, and never asks.
    pub fn connect(address: &SshAddress, options: &SshOptions) -> Result<Self, TargetError> {
        let (connection, about) = Connection::open(address, options)?;
        let about = String::from_utf8_lossy(&about);
        let (architecture, os_release) = about.split_once('\n').unwrap_or((&about, ""));
        Ok(Self {
            facts: read_facts(os_release, architecture_of(architecture)),
            connection,
        })
    }

    /// Asks for something that only matters if it can be done.
    fn ask(
        &self,
        action: &'static str,
        function: &str,
        path: &Path,
        arguments: &[&[u8]],
    ) -> Result<Reply, TargetError> {
        self.send(action, function, path, arguments, b"")
    }

    fn send(
        &self,
        action: &'static str,
        function: &str,
        path: &Path,
        arguments: &[&[u8]],
        content: &[u8],
    ) -> Result<Reply, TargetError> {
        if !path.is_absolute() || path.as_os_str().as_bytes().contains(&0) {
            return Err(invalid(action, path).into());
        }
        let mut all = vec![path.as_os_str().as_bytes()];
        all.extend(arguments);
        let reply = self.connection.ask(function, &all, content)?;
        match reply.status {
            ReplyStatus::Ok | ReplyStatus::Nothing | ReplyStatus::Busy => Ok(reply),
            _ => Err(failed(action, path, &reply).into()),
        }
    }
}

/// What this program calls the architecture that `uname` names.
fn architecture_of(machine: &str) -> &str {
    match machine.trim() {
        "i386" | "i486" | "i586" | "i686" => "x86",
        "ppc64" | "ppc64le" => "powerpc64",
        arm if arm.starts_with("arm") => "arm",
        other => other,
    }
}

fn invalid(action: &'static str, path: &Path) -> FileError {
    FileError::System {
        action,
        path: path.to_owned(),
        source: io::ErrorKind::InvalidInput.into(),
    }
}

fn failed(action: &'static str, path: &Path, reply: &Reply) -> FileError {
    let text = String::from_utf8_lossy(&reply.bytes);
    let reason = text.trim_end();
    let path = path.to_owned();
    let source = match reply.status {
        ReplyStatus::Rejected => {
            let reason = reason.to_owned();
            return FileError::Rejected { path, reason };
        }
        // In the words of the system, as for files of this machine.
        ReplyStatus::Missing if reason.ends_with(": Not a directory") => Errno::NOTDIR.into(),
        ReplyStatus::Missing => Errno::NOENT.into(),
        ReplyStatus::Denied => Errno::ACCESS.into(),
        // Programs name themselves and the path before the reason.
        _ => io::Error::other(reason.rsplit(": ").next().unwrap_or(reason).to_owned()),
    };
    FileError::System {
        action,
        path,
        source,
    }
}

/// The permission bits as `chmod` sets all of them: with fewer digits it leaves some of folders alone.
fn mode_word(attributes: EntryAttributes) -> String {
    format!("{:05o}", attributes.mode & 0o7777)
}

/// The owner as a word for `chown`; `:` changes nothing.
fn owner_word(attributes: EntryAttributes) -> String {
    let text = |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
    match (attributes.user, attributes.group) {
        (user, None) if user.is_some() => text(user),
        (user, group) => format!("{}:{}", text(user), text(group)),
    }
}

/// The name of an entry, and one for a temporary file beside it.
fn names_of(action: &'static str, path: &Path) -> Result<OsString, TargetError> {
    let bytes = path.as_os_str().as_bytes();
    let name = path
        .file_name()
        .filter(|name| bytes.ends_with(name.as_bytes()));
    let name = name.ok_or_else(|| invalid(action, path))?;
    let nonce = session::nonce().map_err(|source| FileError::System {
        action,
        path: path.to_owned(),
        source,
    })?;
    let mut temporary = OsString::from(".pkgres-");
    temporary.push(name);
    temporary.push(format!(".{nonce}.tmp"));
    Ok(temporary)
}

impl Probe for SshMachine {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        let action = "cannot read";
        let reply = self.ask(action, "entry", path, &[])?;
        if reply.status == ReplyStatus::Nothing {
            return Ok(None);
        }
        let entry = read_entry(&reply.bytes).ok_or_else(|| FileError::System {
            action,
            path: path.to_owned(),
            source: io::ErrorKind::InvalidData.into(),
        })?;
        Ok(Some(entry))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        let most = limit.saturating_add(1).to_string();
        let reply = self.ask("cannot read", "read_file", path, &[most.as_bytes()])?;
        if reply.bytes.len() as u64 > limit {
            let path = path.to_owned();
            return Err(FileError::TooLarge { path, limit }.into());
        }
        Ok(reply.bytes)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        let reply = self.ask("cannot read", "names", path, &[])?;
        let names = reply.bytes.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty());
        let mut names: Vec<_> = names
            .map(|name| OsString::from_vec(name.to_vec()))
            .collect();
        names.sort();
        Ok(names)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        remote_command::run(&self.connection, command)
    }

    fn enforces_read_only(&self) -> bool {
        false
    }

    fn watchable(&self) -> Option<PathBuf> {
        None
    }
}

/// Reads what `stat` says: kind and mode, user, group, size, and the target of a link on the next line.
fn read_entry(bytes: &[u8]) -> Option<RootEntry> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let first = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut words = first.split(' ');
    let mode = u32::from_str_radix(words.next()?, 16).ok()?;
    let kind = match mode >> 12 {
        0o10 => EntryKind::File,
        0o4 => EntryKind::Folder,
        0o12 => EntryKind::Link,
        _ => EntryKind::Other,
    };
    let target = || PathBuf::from(OsStr::from_bytes(&bytes[end + 1..]));
    Some(RootEntry {
        kind,
        mode: mode & 0o7777,
        user: words.next()?.parse().ok()?,
        group: words.next()?.parse().ok()?,
        size: words.next()?.parse().ok()?,
        link_target: (kind == EntryKind::Link).then(target),
    })
}

impl Target for SshMachine {
    fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), TargetError> {
        let action = "cannot write";
        let temporary = names_of(action, path)?;
        let size = bytes.len().to_string();
        let (mode, owner) = (mode_word(attributes), owner_word(attributes));
        let arguments = [
            temporary.as_bytes(),
            size.as_bytes(),
            mode.as_bytes(),
            owner.as_bytes(),
        ];
        self.send(action, "write_file", path, &arguments, bytes)?;
        Ok(())
    }

    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        let (mode, owner) = (mode_word(attributes), owner_word(attributes));
        let arguments = [mode.as_bytes(), owner.as_bytes()];
        self.ask("cannot create", "make_folder", path, &arguments)?;
        Ok(())
    }

    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError> {
        let action = "cannot create";
        let temporary = names_of(action, path)?;
        let arguments = [temporary.as_bytes(), target.as_os_str().as_bytes()];
        self.ask(action, "make_link", path, &arguments)?;
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        self.ask("cannot rename", "move", from, &[to.as_os_str().as_bytes()])?;
        Ok(())
    }

    fn set_attributes(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        let (mode, owner) = (mode_word(attributes), owner_word(attributes));
        let arguments = [mode.as_bytes(), owner.as_bytes()];
        let action = "cannot change the attributes of";
        self.ask(action, "set_attributes", path, &arguments)?;
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        self.ask("cannot remove", "remove", path, &[])?;
        Ok(())
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        remote_command::run(&self.connection, command)
    }

    fn lock(&self, folder: &Path) -> Result<Option<TargetLock>, TargetError> {
        let reply = match self.connection.lock(folder)? {
            Ok(lock) => return Ok(lock),
            Err(reply) => reply,
        };
        match reply.status {
            ReplyStatus::Busy => Err(TargetError::Locked {
                folder: folder.to_owned(),
                holder: String::from_utf8_lossy(&reply.bytes).trim().parse().ok(),
            }),
            _ => Err(failed("cannot lock", folder, &reply).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_described_as_on_this_machine() {
        let reply = Reply {
            status: ReplyStatus::Missing,
            bytes: Vec::new(),
        };
        let error = failed("cannot read", Path::new("/nowhere"), &reply);
        let here = std::fs::read("/nowhere/at/all").expect_err("it is not there");
        assert!(error.is_not_found());
        assert_eq!(error.to_string(), format!("cannot read /nowhere: {here}"));
    }

    #[test]
    fn a_file_in_place_of_a_folder_is_described_as_on_this_machine() {
        let reply = Reply {
            status: ReplyStatus::Missing,
            bytes: b"cat: /dev/null/at/all: Not a directory\n".to_vec(),
        };
        let error = failed("cannot read", Path::new("/file/inside"), &reply);
        let here = std::fs::read("/dev/null/at/all").expect_err("it is no folder");
        assert!(!error.is_not_found());
        assert_eq!(
            error.to_string(),
            format!("cannot read /file/inside: {here}")
        );
    }
}
