//! Targets: the same tests for every kind, and what is special about each.

// The tests prepare files themselves.
#![allow(clippy::disallowed_methods)]

mod commands;
mod files;
mod local;
mod silent_ssh;
mod ssh;

use std::path::{Path, PathBuf};

use pkgres_engine::{Command, Machine, SshAddress, SshMachine, SshOptions, Target};
use pkgres_tests::ssh::SshServer;
use tempfile::TempDir;

/// A target with a folder that a test may fill.
pub(crate) struct Subject {
    pub(crate) kind: &'static str,
    pub(crate) target: Box<dyn Target>,
    /// The folder as the target sees it.
    inside: PathBuf,
    /// The same folder as the test sees it.
    folder: TempDir,
    _server: Option<SshServer>,
}

impl Subject {
    /// A path of the target in the folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.inside.join(name)
    }

    /// The same path for the test itself.
    pub(crate) fn outside(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// This machine.
pub(crate) fn local() -> Subject {
    let folder = folder();
    Subject {
        kind: "local",
        target: Box::new(Machine::local().expect("this machine has a root")),
        inside: folder.path().to_owned(),
        folder,
        _server: None,
    }
}

/// This machine by ssh. `None` if there is no server.
pub(crate) fn by_ssh() -> Option<Subject> {
    let server = SshServer::start()?;
    let folder = folder();
    Some(Subject {
        kind: "ssh",
        target: Box::new(connect(&server)),
        inside: folder.path().to_owned(),
        folder,
        _server: Some(server),
    })
}

pub(crate) fn connect(server: &SshServer) -> SshMachine {
    let address = SshAddress::parse(&server.address()).expect("it is an address");
    let options = SshOptions::default().config(server.config());
    SshMachine::connect(&address, &options).expect("the server accepts the key")
}

/// Every kind of target on which files can be changed.
pub(crate) fn with_files() -> Vec<Subject> {
    let folder = folder();
    let root = Subject {
        kind: "rootfs",
        target: Box::new(Machine::root_folder(folder.path()).expect("it is a folder")),
        inside: PathBuf::from("/"),
        folder,
        _server: None,
    };
    [local(), root].into_iter().chain(by_ssh()).collect()
}

/// Every kind of target on which commands of this machine can be run.
pub(crate) fn with_commands() -> Vec<Subject> {
    std::iter::once(local()).chain(by_ssh()).collect()
}

pub(crate) fn script(text: &str) -> Command {
    Command::new("/bin/sh").arguments(["-c", text])
}
