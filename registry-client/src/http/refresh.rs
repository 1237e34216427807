//! Refreshes the cache: what changed since the last run.
//!
//! A registry with batch requests lists the changes since a serial, in one small answer. A mirror has a list of all
//! documents with their digests, which is downloaded only if it changed.

use std::collections::{BTreeSet, HashMap};

use pkgres_manifest::PackageName;

use crate::protocol::{
    Changes, Config, Digest, Malformed, MerkleTree, NamesLine, SignedSnapshot, Snapshot, leaf_hash,
};
use crate::registry_error::RegistryError;

use super::error::{AttemptError, ErrorKind};
use super::reading::Reading;
use super::request::Request;
use super::response::Reply;
use super::trust::{TrustError, accept};
use super::{HttpRegistry, store};

/// The limit of the small documents, in bytes.
const MAX_SMALL_BYTES: u64 = 4 << 20;

/// The limit of a list of changes, in bytes: names and versions can be long.
const MAX_CHANGES_BYTES: u64 = 16 << 20;

/// The limit of a list of names, in bytes.
const MAX_NAMES_BYTES: u64 = 256 << 20;

/// The number of changes to request. If there are more, each document is revalidated by itself.
const CHANGES: u64 = 10_000;

/// How long a cached configuration is used, in seconds.
const CONFIG_SECONDS: i64 = 24 * 60 * 60;

/// The digests of all documents, and the signed state that they belong to, if there is one.
type NamesOfState = (Vec<NamesLine>, Option<Snapshot>);

impl HttpRegistry {
    /// The configuration of the registry. Once per run, requests the changes.
    pub(super) fn refresh(&self, reading: &mut Reading) -> Result<Config, RegistryError> {
        let kept = reading.config.as_ref().filter(|(_, at)| {
            let age = self.transport.options.now.as_second() - at.as_second();
            reading.is_refreshed || (0..CONFIG_SECONDS).contains(&age)
        });
        let config = match kept {
            Some((config, _)) => config.clone(),
            None => self.fetch_config(reading)?,
        };
        if reading.is_refreshed {
            return Ok(config);
        }
        let mut config = config;
        if let (Some(_), Some(changes), false) =
            (&config.batch, &config.changes, reading.entries.is_empty())
            && self.refresh_changes(reading, changes)?.is_none()
        {
            // The registry is another one than before: it may be a mirror now.
            config = self.fetch_config(reading)?;
        }
        if config.batch.is_none() {
            self.refresh_names(reading, &config)?;
        }
        reading.is_refreshed = true;
        Ok(config)
    }

    /// Downloads the configuration.
    pub(super) fn fetch_config(&self, reading: &mut Reading) -> Result<Config, RegistryError> {
        let request = Request::get(self.url("index/config.json")?, MAX_SMALL_BYTES);
        let read = |reply: Reply| match reply {
            Reply::Absent => Err(AttemptError::new(
                ErrorKind::Malformed,
                "there is none: this is not the address of a registry",
            )),
            reply => Config::parse(&reply.body()?).map_err(|error| malformed(&error)),
        };
        let config = self.transport.wait(self.transport.send(&request, read))?;
        reading.config = Some((config.clone(), self.transport.options.now));
        Ok(config)
    }

    /// Requests the changes; `None` if the registry no longer has the list.
    fn refresh_changes(
        &self,
        reading: &mut Reading,
        address: &str,
    ) -> Result<Option<()>, RegistryError> {
        let mut url = self.url(address)?;
        url.query_pairs_mut()
            .append_pair("since", &reading.serial.to_string())
            .append_pair("limit", &CHANGES.to_string());
        let read = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => Changes::parse(&reply.body()?)
                .map(Some)
                .map_err(|error| malformed(&error)),
        };
        let request = Request::get(url, MAX_CHANGES_BYTES);
        let Some(changes) = self.transport.wait(self.transport.send(&request, read))? else {
            return Ok(None);
        };
        let snapshot =
            self.verify_state(reading, changes.snapshot.as_ref(), Some(changes.serial))?;
        let before = reading.serial;
        if let Some(snapshot) = snapshot {
            // The list of changes is not signed, but the root over all documents is.
            if reading.root == Some(snapshot.root) {
                reading.carry_over(changes.serial, &BTreeSet::new());
            }
            return Ok(Some(()));
        }
        let first = changes.changes.first().map(|change| change.serial);
        let last = changes.changes.last().map(|change| change.serial);
        let is_whole = changes.serial == before
            || (changes.serial > before
                && first == Some(before + 1)
                && last == Some(changes.serial));
        if is_whole && reading.root.is_none() {
            let names: BTreeSet<PackageName> = changes
                .changes
                .into_iter()
                .map(|change| change.name)
                .collect();
            reading.carry_over(changes.serial, &names);
        }
        Ok(Some(()))
    }

    /// Reads the digests of all documents of a mirror.
    fn refresh_names(&self, reading: &mut Reading, config: &Config) -> Result<(), RegistryError> {
        // While a mirror is being updated, its state and its list may not belong together: try twice.
        let found = match self.names_of_state(reading, config)? {
            Some(found) => Some(found),
            None => self.names_of_state(reading, config)?,
        };
        let (lines, snapshot) = found.ok_or_else(|| {
            let distrust = TrustError::NamesNotInState;
            distrust.to_diagnostic(&self.transport.name, &self.transport.address)
        })?;
        let names: HashMap<PackageName, Digest> = lines
            .into_iter()
            .map(|line| (line.name, line.sha256))
            .collect();
        let serial = snapshot.as_ref().map_or(0, |snapshot| snapshot.serial);
        for (name, entry) in &mut reading.entries {
            let document = entry.document.as_ref().map(|document| document.sha256);
            entry.is_fresh = names.get(name).copied() == document;
            // An outdated document belongs to no state.
            entry.serial = if entry.is_fresh { serial } else { 0 };
        }
        reading
            .entries
            .retain(|_, entry| entry.is_fresh || entry.document.is_some());
        if reading.serial != serial || serial == 0 {
            reading.classes.clear();
        }
        (reading.serial, reading.root) = (serial, snapshot.map(|snapshot| snapshot.root));
        reading.names = Some(names);
        Ok(())
    }

    /// The digests of all documents, with the signed state if there is one; `None` if they do not belong to it.
    fn names_of_state(
        &self,
        reading: &mut Reading,
        config: &Config,
    ) -> Result<Option<NamesOfState>, RegistryError> {
        let folder = self.folder();
        let snapshot = match &config.snapshot {
            Some(address) => {
                let request = Request::get(self.url(address)?, MAX_SMALL_BYTES);
                let read = |reply: Reply| match reply {
                    Reply::Absent => Ok(None),
                    reply => SignedSnapshot::parse(&reply.body()?)
                        .map(Some)
                        .map_err(|error| malformed(&error)),
                };
                let offered = self.transport.wait(self.transport.send(&request, read))?;
                self.verify_state(reading, offered.as_ref(), None)?
            }
            None => self.verify_state(reading, None, None)?,
        };
        let kept = folder.as_deref().and_then(store::read_names);
        let kept = kept.and_then(|bytes| {
            let lines = NamesLine::parse_all(&bytes).ok()?;
            Some((Digest::of(&bytes), lines))
        });
        // If the root is the same, so is the list.
        let is_same = |lines: &[NamesLine], snapshot: &Snapshot| root_of(lines) == snapshot.root;
        let lines = match (kept, &snapshot) {
            (Some((_, lines)), Some(snapshot)) if is_same(&lines, snapshot) => lines,
            (kept, _) => self.fetch_names(config, kept)?,
        };
        let belong =
            |snapshot: &Snapshot| is_same(&lines, snapshot) && lines.len() as u64 == snapshot.names;
        if !snapshot.as_ref().is_none_or(belong) {
            return Ok(None);
        }
        Ok(Some((lines, snapshot)))
    }

    fn fetch_names(
        &self,
        config: &Config,
        kept: Option<(Digest, Vec<NamesLine>)>,
    ) -> Result<Vec<NamesLine>, RegistryError> {
        let mut request = Request::get(self.url(&config.names)?, MAX_NAMES_BYTES);
        request.cached = kept.as_ref().map(|(digest, _)| *digest);
        let read = |reply: Reply| match reply {
            Reply::Unchanged => Ok(None),
            reply => {
                let body = reply.body()?;
                let lines = NamesLine::parse_all(&body).map_err(|error| malformed(&error))?;
                Ok(Some((body, lines)))
            }
        };
        match (
            self.transport.wait(self.transport.send(&request, read))?,
            kept,
        ) {
            (Some((body, lines)), _) => {
                if let Some(folder) = self.folder() {
                    store::write_names(&folder, &body);
                }
                Ok(lines)
            }
            (None, Some((_, lines))) => Ok(lines),
            (None, None) => Err(self
                .transport
                .unreachable("it answers 304 to an unconditional request")),
        }
    }

    /// Verifies the state of the registry, and remembers it as the trusted one.
    pub(super) fn verify_state(
        &self,
        reading: &mut Reading,
        offered: Option<&SignedSnapshot>,
        serial: Option<u64>,
    ) -> Result<Option<Snapshot>, RegistryError> {
        let options = &self.transport.options;
        let untrusted = |distrust: TrustError| {
            distrust.to_diagnostic(&self.transport.name, &self.transport.address)
        };
        let accepted = accept(
            reading.seen.as_ref(),
            options.key.as_ref(),
            offered,
            options.now,
        )
        .map_err(untrusted)?;
        let Some((snapshot, seen)) = accepted else {
            return Ok(None);
        };
        if let Some(documents) = serial
            && documents != snapshot.serial
        {
            let state = snapshot.serial;
            return Err(untrusted(TrustError::OtherSerial { documents, state }).into());
        }
        if reading.seen.as_ref() != Some(&seen) {
            if let Some(folder) = &options.state_folder {
                let path = store::state_path(folder, &self.transport.address);
                store::write_trusted_state(&path, &seen).map_err(|error| {
                    let finding = error.to_diagnostic();
                    finding
                        .hint("set PKGRES_STATE to a folder that can be written and is kept")
                        .hint("PKGRES_NO_STATE=1 uses registries without the protection against old states")
                })?;
            }
            reading.seen = Some(seen);
        }
        Ok(Some(snapshot))
    }
}

fn root_of(lines: &[NamesLine]) -> Digest {
    let leaves = lines
        .iter()
        .map(|line| leaf_hash(line.to_line().as_bytes()))
        .collect();
    MerkleTree::new(leaves).root()
}

pub(super) fn malformed(error: &Malformed) -> AttemptError {
    AttemptError::new(ErrorKind::Malformed, error.to_string())
}
