//! Display names of the classes in a conflict.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{IndexRecord, PackageName};
use pkgres_resolver::{Conflict, Supply};

use super::RegistrySet;
use crate::registry::RegistryError;

impl RegistrySet {
    /// Adds the display names of classes after their names in the texts of a conflict, where a release has one.
    /// Besides the releases of the registries, those in `others` are searched, such as roots.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn label_classes(
        &self,
        conflict: &mut Conflict,
        others: &[IndexRecord],
    ) -> Result<(), RegistryError> {
        let mut records = others.to_vec();
        records.extend(self.releases_of(&conflict.packages)?);
        // A class that is missing is one of a package that is required.
        let required = records.iter().flat_map(|record| &record.requirements);
        let required: BTreeSet<PackageName> = required.map(|one| one.package.clone()).collect();
        let required: Vec<PackageName> = required
            .into_iter()
            .filter(|name| conflict.packages.binary_search(name).is_err())
            .collect();
        records.extend(self.releases_of(&required)?);
        records.retain(|record| !record.labels.is_empty());
        // The newest name counts.
        records.sort_by(|one, two| two.version.cmp(&one.version));
        conflict.label_classes(|class| {
            let label = records.iter().find_map(|record| record.label(class))?;
            Some(Escaped::shortened(label).to_string())
        });
        Ok(())
    }

    fn releases_of(&self, names: &[PackageName]) -> Result<Vec<IndexRecord>, RegistryError> {
        let supplies = self.supply(names)?.into_iter();
        let records = supplies.map(|supply| match supply {
            Supply::Releases { records, .. } => records,
            Supply::Unknown => Vec::new(),
        });
        Ok(records.flatten().collect())
    }
}
