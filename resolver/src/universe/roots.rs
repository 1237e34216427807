//! What is solved for.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, ObjectId, ObjectModel, PackageName, Requirement, Version};

use crate::request::{ModelRoot, Root};

use super::{Details, Edge, PackageId, ReleaseId, Universe};

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

    fn add_model(&mut self, root: ModelRoot) {
        let name = PackageName::object_model();
        let package = self.package_id(&name);
        let edges: Vec<Edge> = root
            .objects
            .into_iter()
            .enumerate()
            .map(|(number, demand)| {
                let object = root.model.object(ObjectId(number));
                Edge {
                    package: self.required(&demand.package),
                    object: Some((ObjectId(number), self.class_id(&object.class))),
                    requirement: Requirement {
                        package: demand.package,
                        spec: demand.spec,
                        location: Some(object.location.clone()),
                    },
                    overridden: None,
                }
            })
            .collect();
        self.deliver(package, None, &[IndexRecord::new(name, Version::ZERO)]);
        let root_release = ReleaseId { package, index: 0 };
        let details = Details {
            edges: edges.into_boxed_slice(),
            classes: None,
        };
        self.details.insert(root_release, Arc::new(details));
        self.roots.push(root_release);
        self.model = Some(root.model);
    }

    /// The model that is solved for, if it is one.
    pub(crate) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.model.as_ref()
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots.iter().any(|root| root.package == package)
    }
}
