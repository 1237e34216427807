//! Lookup of packages: from the cache of earlier runs, or from the registry, and saved for later runs.

use std::path::PathBuf;
use std::sync::Arc;

use pkgres_manifest::PackageName;

use crate::registry::RegistryError;

use super::session::Session;
use super::{HttpRegistry, store};

/// The number of names in a message.
const SHOWN_NAMES: usize = 5;

impl HttpRegistry {
    /// The folder of the registry in that of the cache.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let cache = self.transport.options.cache_folder.as_deref()?;
        Some(store::folder(cache, &self.transport.address))
    }

    /// Loads the cache of earlier runs, once.
    pub(super) fn load(&self, session: &mut Session) -> Result<(), RegistryError> {
        if session.is_loaded {
            return Ok(());
        }
        session.is_loaded = true;
        if let Some(folder) = &self.transport.options.state_folder {
            let path = store::state_path(folder, &self.transport.address);
            session.seen =
                store::read_trusted_state(&path).map_err(|error| error.to_diagnostic())?;
        }
        let kept = self
            .folder()
            .and_then(|folder| store::read_cached(&folder, &self.transport.address));
        if let Some(kept) = kept {
            session.load(kept);
        }
        Ok(())
    }

    /// Saves the session for later runs, in the background.
    pub(super) fn save(&self, session: &Session) {
        let (Some(folder), Some(header)) = (self.folder(), session.header()) else {
            return;
        };
        let mut documents: Vec<_> = session
            .entries
            .iter()
            .filter_map(|(name, entry)| {
                let document = Arc::clone(entry.document.as_ref()?);
                Some((name.clone(), document, entry.serial == session.serial))
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

    pub(super) fn offline(&self, reason: &str) -> RegistryError {
        self.transport.offline(reason)
    }

    /// Whether the registry can have a package. The protocol has no names of other characters, such as the URIs of models.
    pub(super) fn can_have(name: &PackageName) -> bool {
        PackageName::is_name(name.as_str())
    }

    /// Makes sure that the session has each package, or knows that the registry does not have it.
    pub(super) fn ensure(
        &self,
        session: &mut Session,
        names: &[PackageName],
    ) -> Result<(), RegistryError> {
        self.load(session)?;
        let possible = names.iter().filter(|name| Self::can_have(name));
        let possible: Vec<PackageName> = possible.cloned().collect();
        let names = &possible[..];
        if names.is_empty() {
            return Ok(());
        }
        if self.transport.options.offline {
            return self.ensure_in_cache(session, names);
        }
        if names.iter().all(|name| session.is_fresh(name)) {
            return Ok(());
        }
        let was_refreshed = session.is_refreshed;
        let config = self.refresh(session)?;
        let missing: Vec<PackageName> = names
            .iter()
            .filter(|name| !session.is_fresh(name))
            .cloned()
            .collect();
        if !missing.is_empty() {
            match &config.batch {
                Some(address) => self.fetch_batches(session, &config, address, missing)?,
                None => self.fetch_each(session, &config, missing)?,
            }
        } else if was_refreshed {
            return Ok(());
        }
        self.save(session);
        Ok(())
    }

    fn ensure_in_cache(
        &self,
        session: &Session,
        names: &[PackageName],
    ) -> Result<(), RegistryError> {
        let is_known = |name: &&PackageName| session.entries.contains_key(*name);
        let missing: Vec<&PackageName> = names.iter().filter(|name| !is_known(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let shown: Vec<&str> = missing
            .iter()
            .take(SHOWN_NAMES)
            .map(|name| name.as_str())
            .collect();
        let more = match missing.len().saturating_sub(SHOWN_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = shown.join(", ");
        Err(self.offline(&format!("the cache has nothing about {shown}{more}")))
    }
}
