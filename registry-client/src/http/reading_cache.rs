//! The cache of readings: what an earlier run knew is loaded, and saved for later runs.

use std::path::PathBuf;
use std::sync::Arc;

use crate::registry_error::RegistryError;

use super::reading::Reading;
use super::{HttpRegistry, store};

impl HttpRegistry {
    /// The folder of the registry in that of the cache.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let cache = self.transport.options.cache_folder.as_deref()?;
        Some(store::folder(cache, &self.transport.address))
    }

    /// Loads the cache of earlier runs, once.
    pub(super) fn load(&self, reading: &mut Reading) -> Result<(), RegistryError> {
        if reading.is_loaded {
            return Ok(());
        }
        reading.is_loaded = true;
        if let Some(folder) = &self.transport.options.state_folder {
            let path = store::state_path(folder, &self.transport.address);
            reading.seen =
                store::read_trusted_state(&path).map_err(|error| error.to_diagnostic())?;
        }
        let kept = self
            .folder()
            .and_then(|folder| store::read_cached(&folder, &self.transport.address));
        if let Some(kept) = kept {
            reading.load(kept);
        }
        Ok(())
    }

    /// Saves the reading for later runs, in the background.
    pub(super) fn save(&self, reading: &Reading) {
        let (Some(folder), Some(header)) = (self.folder(), reading.header()) else {
            return;
        };
        let mut documents: Vec<_> = reading
            .entries
            .iter()
            .filter_map(|(name, entry)| {
                let document = Arc::clone(entry.document.as_ref()?);
                Some((name.clone(), document, entry.serial == reading.serial))
            })
            .collect();
        let address = self.transport.address.clone();
        // An earlier save must not overwrite this one.
        self.background.finish();
        self.background.run(move || {
            documents.sort_by(|one, two| one.0.cmp(&two.0));
            store::write_cached(&folder, &address, header, &documents);
        });
    }
}
