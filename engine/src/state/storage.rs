//! The files of the state on a machine.
//!
//! ```text
//! /var/lib/pkgres/state/                        for root alone
//! ├── .lock/                                    for root alone, locked while an engine changes the machine
//! └── org.example.Web/                          an application
//!     ├── applied.json                          the resources that were applied
//!     ├── before/file:%2Fetc%2Fweb.conf.json    what was there before the first change of a resource
//!     └── contents/6bd3…                        files that were there, by their SHA-256
//! ```
//!
//! Every file is written atomically. The files that a record refers to are written before the record, and
//! removed after it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pkgres_files::EntryAttributes;
use pkgres_manifest::{Hexadecimal, ResourceId, sha256};

use super::error::StateError;
use super::record::{Applied, Record};
use crate::target::{Probe, Target, TargetError, TargetLock, make_data_folder};

/// Where the state is unless the user says otherwise.
const DEFAULT_FOLDER: &str = "/var/lib/pkgres/state";

/// The folder that is locked, in that of the states. No application has this name.
const LOCK: &str = ".lock";

/// The most bytes of a document.
const MOST_BYTES: u64 = 64 << 20;

/// The most bytes of a name that is readable; longer ones are the digest of it.
const MOST_NAME: usize = 200;

/// The characters that are escaped in the names of files, for tools that treat them specially.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'_')
    .remove(b'-')
    .remove(b':')
    .remove(b'.');

/// Modes: nobody else reads what was in the files of a machine.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The place of the state of an application on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLocation {
    folder: PathBuf,
    application: String,
}

impl StateLocation {
    /// The state of an application, such as the name of its root package, in `/var/lib/pkgres/state`.
    pub fn new(application: impl Into<String>) -> Self {
        Self {
            folder: PathBuf::from(DEFAULT_FOLDER),
            application: application.into(),
        }
    }

    /// Sets the folder of the machine that has the states of all applications.
    #[must_use]
    pub fn in_folder(mut self, folder: impl AsRef<Path>) -> Self {
        folder.as_ref().clone_into(&mut self.folder);
        self
    }

    pub(super) fn failed(&self, source: TargetError) -> StateError {
        StateError::Target {
            folder: self.folder.clone(),
            source,
        }
    }

    /// The folder that is locked. Whoever can read a folder can lock it, and others may read that of the state, if it was
    /// there before.
    fn lock_folder(&self) -> PathBuf {
        self.folder.join(LOCK)
    }

    /// The folder of the state of the application.
    pub(super) fn of_application(&self) -> PathBuf {
        self.folder.join(file_name(&self.application, ""))
    }

    fn applied(&self) -> PathBuf {
        self.of_application().join("applied.json")
    }

    fn before(&self) -> PathBuf {
        self.of_application().join("before")
    }

    /// The file on the machine with what was there before a resource. Without it, the resource stays as it is.
    pub fn record(&self, id: &ResourceId) -> PathBuf {
        let id = format!("{}:{}", id.kind(), id.name());
        self.before().join(file_name(&id, ".json"))
    }

    /// The folder with the contents that are kept.
    pub(super) fn contents(&self) -> PathBuf {
        self.of_application().join("contents")
    }

    /// Makes the folder of the state, and locks the states.
    pub(super) fn lock(&self, target: &dyn Target) -> Result<Option<TargetLock>, StateError> {
        let lock = || {
            make_data_folder(target, &self.folder, FOLDER_MODE)?;
            make_data_folder(target, &self.lock_folder(), FOLDER_MODE)?;
            target.lock(&self.lock_folder())
        };
        lock().map_err(|source| self.failed(source))
    }

    /// Locks the states, if there are any.
    pub(super) fn lock_existing(
        &self,
        target: &dyn Target,
    ) -> Result<Option<TargetLock>, StateError> {
        let folder = self.lock_folder();
        let lock = || match target.entry(&folder)? {
            Some(_) => target.lock(&folder),
            None => Ok(None),
        };
        lock().map_err(|source| self.failed(source))
    }

    /// The resources that were applied.
    pub(super) fn read_applied(&self, probe: &dyn Probe) -> Result<Applied, StateError> {
        let path = self.applied();
        let read = || match probe.entry(&path)? {
            None => Ok(None),
            Some(_) => Ok(Some(probe.read(&path, MOST_BYTES)?)),
        };
        match read().map_err(|source| self.failed(source))? {
            None => Ok(Applied::default()),
            Some(bytes) => Applied::from_json(&path, &bytes),
        }
    }

    pub(super) fn write_applied(
        &self,
        target: &dyn Target,
        applied: &Applied,
    ) -> Result<(), StateError> {
        let path = self.applied();
        let bytes = applied.to_json(&self.application);
        write(target, &path, &bytes).map_err(|source| self.failed(source))
    }

    /// All records.
    pub(super) fn read_records(&self, probe: &dyn Probe) -> Result<Vec<Record>, StateError> {
        let names = self.record_names(probe);
        let names = names.map_err(|source| self.failed(source))?.into_iter();
        let records = names.map(|name| self.read_record(probe, &self.before().join(name)));
        records.collect()
    }

    /// The names of the files with records.
    pub(super) fn record_names(&self, probe: &dyn Probe) -> Result<Vec<String>, TargetError> {
        let mut names = names(probe, &self.before())?;
        // A killed run leaves files behind that are no records.
        names.retain(|name| {
            Path::new(name).extension() == Some(OsStr::new("json")) && !name.starts_with('.')
        });
        Ok(names)
    }

    pub(super) fn read_record(&self, probe: &dyn Probe, path: &Path) -> Result<Record, StateError> {
        let read = probe.read(path, MOST_BYTES);
        Record::from_json(path, &read.map_err(|source| self.failed(source))?)
    }

    /// The states of other applications in the same folder.
    pub(super) fn others(&self, probe: &dyn Probe) -> Result<Vec<Self>, TargetError> {
        let names = names(probe, &self.folder)?.into_iter();
        let others = names.filter(|name| name != LOCK).map(|name| Self {
            folder: self.folder.clone(),
            application: application_of(&name),
        });
        let own = file_name(&self.application, "");
        let others = others.filter(|other| file_name(&other.application, "") != own);
        Ok(others.collect())
    }

    pub(super) fn write_record(
        &self,
        target: &dyn Target,
        record: &Record,
    ) -> Result<(), TargetError> {
        write(target, &self.record(&record.resource), &record.to_json())
    }

    pub(super) fn remove_record(
        &self,
        target: &dyn Target,
        id: &ResourceId,
    ) -> Result<(), TargetError> {
        target.remove(&self.record(id))
    }

    /// Keeps a content under its digest.
    pub(super) fn write_content(
        &self,
        target: &dyn Target,
        digest: &str,
        content: &[u8],
    ) -> Result<(), TargetError> {
        write(target, &self.contents().join(digest), content)
    }

    /// Whether a content is still what was kept.
    pub(super) fn is_content_whole(
        &self,
        probe: &dyn Probe,
        digest: &str,
    ) -> Result<bool, TargetError> {
        let path = self.contents().join(digest);
        let Some(entry) = probe.entry(&path)? else {
            return Ok(false);
        };
        let bytes = probe.read(&path, entry.size)?;
        Ok(Hexadecimal(&sha256(&bytes)).to_string() == digest)
    }

    /// Removes the contents that no record needs.
    pub(super) fn sweep_contents(
        &self,
        target: &dyn Target,
        needed: &BTreeSet<&str>,
    ) -> Result<(), StateError> {
        let folder = self.contents();
        let names = names(target, &folder).map_err(|source| self.failed(source))?;
        for name in names.iter().filter(|name| !needed.contains(name.as_str())) {
            let removed = target.remove(&folder.join(name));
            removed.map_err(|source| self.failed(source))?;
        }
        Ok(())
    }
}

fn names(probe: &dyn Probe, folder: &Path) -> Result<Vec<String>, TargetError> {
    if probe.entry(folder)?.is_none() {
        return Ok(Vec::new());
    }
    let names = probe.names(folder)?.into_iter();
    Ok(names.filter_map(|name| name.into_string().ok()).collect())
}

/// The application of a [name of a file](file_name). Applications are packages, whose names need no other escapes than
/// that of a dot at the beginning, and are not too long.
fn application_of(name: &str) -> String {
    match name.strip_prefix("%2E") {
        Some(rest) => format!(".{rest}"),
        None => name.to_owned(),
    }
}

/// A name of a file for a text: readable, and different for different texts.
fn file_name(text: &str, extension: &str) -> String {
    let mut name = utf8_percent_encode(text, ESCAPED).to_string();
    if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    if name.len() > MOST_NAME {
        name = format!("%{}", Hexadecimal(&sha256(text.as_bytes())));
    }
    name + extension
}

fn write(target: &dyn Target, path: &Path, bytes: &[u8]) -> Result<(), TargetError> {
    if let Some(folder) = path.parent() {
        make_data_folder(target, folder, FOLDER_MODE)?;
    }
    target.write_file(path, bytes, EntryAttributes::with_mode(FILE_MODE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_readable_and_differ() {
        assert_eq!(file_name("org.example.Web", ""), "org.example.Web");
        assert_eq!(
            file_name("file:/etc/web.conf", ".json"),
            "file:%2Fetc%2Fweb.conf.json"
        );
        assert_eq!(file_name("..", ""), "%2E.");
        let long = |last: &str| file_name(&("x".repeat(300) + last), ".json");
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() < 255);
    }
}
