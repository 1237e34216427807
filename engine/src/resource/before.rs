//! What a resource can see of the machine before its first change, to describe how to restore that state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pkgres_manifest::{Hexadecimal, ResourceDescription, ResourceId, sha256};

use super::{Input, ResourceError};
use crate::target::Probe;

/// The machine before the first change of a resource.
pub struct Before<'run> {
    id: &'run ResourceId,
    probe: &'run dyn Probe,
    input: &'run Input,
    /// The folder in which contents are kept.
    folder: &'run Path,
    contents: BTreeMap<String, Vec<u8>>,
}

impl std::fmt::Debug for Before<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Before")
            .field("id", &self.id)
            .field("contents", &self.contents.keys())
            .finish_non_exhaustive()
    }
}

impl<'run> Before<'run> {
    /// The machine before the first change of a resource. Contents will be kept in a folder.
    pub fn new(
        id: &'run ResourceId,
        probe: &'run dyn Probe,
        input: &'run Input,
        folder: &'run Path,
    ) -> Self {
        Self {
            id,
            probe,
            input,
            folder,
            contents: BTreeMap::new(),
        }
    }

    /// The identity of the resource.
    pub fn id(&self) -> &'run ResourceId {
        self.id
    }

    /// The machine.
    pub fn probe(&self) -> &'run dyn Probe {
        self.probe
    }

    /// The input that the resource received.
    pub fn input(&self) -> &'run Input {
        self.input
    }

    /// Keeps the content of a file. Returns the path on the machine at which it will be.
    pub fn keep(&mut self, content: Vec<u8>) -> PathBuf {
        let digest = Hexadecimal(&sha256(&content)).to_string();
        let path = self.folder.join(&digest);
        self.contents.insert(digest, content);
        path
    }

    /// A description without properties, of a kind and a name.
    pub fn description(
        &self,
        kind: &str,
        name: &str,
    ) -> Result<ResourceDescription, ResourceError> {
        let id = ResourceId::new(kind, name);
        let id = id.map_err(|error| ResourceError::Invalid(error.to_string()))?;
        Ok(ResourceDescription::new(id))
    }

    /// The contents that are to be kept, by the SHA-256 of each.
    pub fn into_contents(self) -> BTreeMap<String, Vec<u8>> {
        self.contents
    }
}
