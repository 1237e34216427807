//! Exports the registry as files for any web server.

use std::collections::BTreeMap;

use bytes::Bytes;
use pkgres_manifest::Release;
use pkgres_registry_client::protocol::{Config, Digest, escape_name, is_file_name};

use super::backend::RegistryBackend;
use super::contents::{damaged_archive, lost};
use crate::problem::Problem;
use crate::store::documents::DocumentKind;
use crate::store::read_record;

/// What was exported.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ExportedState {
    /// The serial of the state.
    pub serial: u64,
    /// Clients reject the files from this time on, because the signature of the state has expired.
    pub expires: jiff::Timestamp,
}

impl RegistryBackend {
    /// Passes every file of a static mirror to `sink`, with its path below the base: one state of the
    /// index, signed, and all artifacts.
    ///
    /// An error if a document is replaced meanwhile; then the export has to be repeated.
    pub fn export<E: From<Problem>>(
        &self,
        mut sink: impl FnMut(String, Bytes) -> Result<(), E>,
    ) -> Result<ExportedState, E> {
        let state = self.node.refresh()?;
        let config = self.config();
        let config = Config {
            snapshot: config.snapshot,
            keys: config.keys,
            limits: config.limits,
            ..Config::of_static()
        };
        sink("index/config.json".to_owned(), config.to_json().into())?;
        let changed = || Problem::unavailable("the registry changed while it was exported");
        let mut artifacts = BTreeMap::new();
        for entry in state.packages() {
            let name = entry.name.as_str();
            if !is_file_name(name) {
                // It was published before such names were rejected, and must not stop all others.
                tracing::warn!(
                    name,
                    "a package is not exported: its name is too long for a file"
                );
                continue;
            }
            let document = self
                .node
                .document(DocumentKind::Package, name, &entry.digest)?;
            let document = document.ok_or_else(changed)?;
            let path = format!("index/v1/packages/{}.ndjson", escape_name(name));
            sink(path, document.body.clone())?;
            artifacts.extend(self.artifacts_of(&document.body)?);
        }
        for (class, digest) in state.classes() {
            if !is_file_name(class.as_str()) {
                tracing::warn!(
                    class = class.as_str(),
                    "a class is not exported: its name is too long for a file"
                );
                continue;
            }
            let document = self
                .node
                .document(DocumentKind::Class, class.as_str(), digest)?;
            let path = format!("index/v1/classes/{}.json", escape_name(class.as_str()));
            sink(path, document.ok_or_else(changed)?.body.clone())?;
        }
        sink(
            "index/v1/names.ndjson".to_owned(),
            state.names().body.clone(),
        )?;
        let signed = self.node.snapshot_of(&state);
        sink(
            "index/v1/snapshot.json".to_owned(),
            signed.document.body.clone(),
        )?;
        for (digest, Release { name, version }) in artifacts {
            let missing = || lost(name.as_str(), &version.to_string(), &digest);
            let bytes = self.artifact(&digest)?.ok_or_else(missing)?;
            if Digest::of(&bytes) != digest {
                // Clients would reject it, and the files that it replaces may be whole.
                return Err(damaged_archive(name.as_str(), &version.to_string(), &digest).into());
            }
            sink(format!("blobs/sha256/{digest}"), bytes)?;
        }
        Ok(ExportedState {
            serial: state.serial,
            expires: signed.expires,
        })
    }

    /// The digests of the artifacts that an index document names, each with its release.
    fn artifacts_of(&self, document: &[u8]) -> Result<Vec<(Digest, Release)>, Problem> {
        let text = std::str::from_utf8(document).map_err(Problem::internal)?;
        let mut artifacts = Vec::new();
        for line in text.lines() {
            let record = read_record(line, &self.options.read.limits).map_err(Problem::internal)?;
            if let Some(digest) = Digest::of_record(&record) {
                artifacts.push((digest, record.release()));
            }
        }
        Ok(artifacts)
    }
}
