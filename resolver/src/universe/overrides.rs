//! What requirements are taken to say in place of what is written.

use std::collections::BTreeMap;

use pkgres_manifest::{PackageName, Spec};

use super::{PackageId, Universe};

impl Universe {
    /// Takes what requirements are to say in place of what is written. Nothing may have been
    /// delivered before.
    pub(crate) fn override_requirements(&mut self, overrides: BTreeMap<PackageName, Spec>) {
        for (name, spec) in overrides {
            let package = self.package_id(&name);
            self.overrides.insert(package, spec);
        }
    }

    /// What requirements are taken to say in place of what is written.
    pub(crate) fn overrides(&self) -> BTreeMap<PackageName, Spec> {
        self.overrides
            .iter()
            .map(|(package, spec)| (self.name(*package).clone(), spec.clone()))
            .collect()
    }

    /// What every requirement on a package is taken to say.
    pub(crate) fn overriding(&self, package: PackageId) -> Option<&Spec> {
        if self.overrides.is_empty() {
            return None;
        }
        self.overrides.get(&package)
    }
}
