//! Display names of the classes in a conflict.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ClassName, IndexRecord, PackageName};
use pkgres_resolver::{Conflict, Supply, UpdateReport};

use super::RegistrySet;
use crate::registry_error::RegistryError;

/// Releases with display names of classes, the newest first.
struct Labels(Vec<IndexRecord>);

impl Labels {
    fn of(&self, class: &ClassName) -> Option<String> {
        let label = self.0.iter().find_map(|record| record.label(class))?;
        Some(Escaped::shortened(label).to_string())
    }
}

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
        let labels = self.labels(&conflict.packages, others)?;
        conflict.label_classes(|class| labels.of(class));
        Ok(())
    }

    /// Adds the display names of classes in the report of an update, as [`label_classes`](Self::label_classes) does.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn label_update(
        &self,
        report: &mut UpdateReport,
        others: &[IndexRecord],
    ) -> Result<(), RegistryError> {
        let held_back = report.held_back.iter();
        let packages = held_back.flat_map(|held_back| &held_back.because.packages);
        let moved = report.moved.iter().map(|moved| &moved.package);
        let packages: BTreeSet<PackageName> = packages.chain(moved).cloned().collect();
        let packages: Vec<PackageName> = packages.into_iter().collect();
        if packages.is_empty() {
            return Ok(());
        }
        let labels = self.labels(&packages, others)?;
        report.label_classes(|class| labels.of(class));
        Ok(())
    }

    /// The display names in the releases of some packages, which are sorted, and of what these require.
    fn labels(
        &self,
        packages: &[PackageName],
        others: &[IndexRecord],
    ) -> Result<Labels, RegistryError> {
        let mut records = others.to_vec();
        records.extend(self.releases_of(packages)?);
        // A class that is missing is one of a package that is required.
        let required = records.iter().flat_map(|record| &record.requirements);
        let required: BTreeSet<PackageName> = required.map(|one| one.package.clone()).collect();
        let required: Vec<PackageName> = required
            .into_iter()
            .filter(|name| packages.binary_search(name).is_err())
            .collect();
        records.extend(self.releases_of(&required)?);
        records.retain(|record| !record.labels.is_empty());
        // The newest name counts.
        records.sort_by(|one, two| two.version.cmp(&one.version));
        Ok(Labels(records))
    }

    fn releases_of(&self, names: &[PackageName]) -> Result<Vec<IndexRecord>, RegistryError> {
        let supplies = self.supply(names)?.into_iter();
        Ok(supplies.flat_map(Supply::into_records).collect())
    }
}
