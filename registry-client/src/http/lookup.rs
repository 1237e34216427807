//! Lookup of packages: in what the reading knows, or in the registry.

use pkgres_manifest::PackageName;

use crate::registry_error::RegistryError;

use super::HttpRegistry;
use super::reading::Reading;

/// The number of names in a message.
const SHOWN_NAMES: usize = 5;

impl HttpRegistry {
    pub(super) fn offline(&self, reason: &str) -> RegistryError {
        self.transport.offline(reason)
    }

    /// Whether the registry can have a package. The protocol has no names of other characters, such as the URIs of
    /// models.
    pub(super) fn can_have(name: &PackageName) -> bool {
        PackageName::is_name(name.as_str())
    }

    /// Makes sure that the reading has each package, or knows that the registry does not have it.
    pub(super) fn ensure(
        &self,
        reading: &mut Reading,
        names: &[PackageName],
    ) -> Result<(), RegistryError> {
        self.load(reading)?;
        let possible = names.iter().filter(|name| Self::can_have(name));
        let possible: Vec<PackageName> = possible.cloned().collect();
        let names = &possible[..];
        if names.is_empty() {
            return Ok(());
        }
        if self.transport.options.offline {
            return self.ensure_in_cache(reading, names);
        }
        if names.iter().all(|name| reading.is_fresh(name)) {
            return Ok(());
        }
        let was_refreshed = reading.is_refreshed;
        let config = self.refresh(reading)?;
        let missing: Vec<PackageName> = names
            .iter()
            .filter(|name| !reading.is_fresh(name))
            .cloned()
            .collect();
        if !missing.is_empty() {
            match &config.batch {
                Some(address) => self.fetch_batches(reading, &config, address, missing)?,
                None => self.fetch_each(reading, &config, missing)?,
            }
        } else if was_refreshed {
            return Ok(());
        }
        self.save(reading);
        Ok(())
    }

    fn ensure_in_cache(
        &self,
        reading: &Reading,
        names: &[PackageName],
    ) -> Result<(), RegistryError> {
        let is_known = |name: &&PackageName| reading.entries.contains_key(*name);
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
