//! What is solved for.

use crate::request::Root;

use super::{PackageId, ReleaseId, Universe};

impl Universe {
    /// Adds a root.
    pub(crate) fn add_root(&mut self, root: Root) {
        match root {
            Root::Package(record) => {
                let package = self.package_id(&record.name);
                if !self.is_delivered(package) {
                    let requirements = record.requirements.clone();
                    self.deliver(package, None, &[*record]);
                    self.know_specs(package, &requirements);
                }
                self.roots.push(ReleaseId { package, index: 0 });
            }
            Root::Model(root) => self.add_model(root),
        }
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots.iter().any(|root| root.package == package)
    }
}
