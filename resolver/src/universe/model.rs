//! The object model as a root.
//!
//! It takes the place of a package, so that the search needs to know nothing of it. It is known by
//! its number alone: by name nothing leads to it, and nobody is told the name.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, ObjectId, ObjectModel, PackageName, Requirement, Version};

use super::about::About;
use super::{Details, Edge, PackageId, ReleaseId, Universe};
use crate::request::{ModelRoot, Owner};

/// A model, and the package that stands for it.
#[derive(Debug)]
pub(super) struct Model {
    model: Arc<ObjectModel>,
    package: PackageId,
}

impl Universe {
    pub(super) fn add_model(&mut self, root: ModelRoot) {
        // An index has to call it something. A package that has the name is another one.
        let name = PackageName::parse("the_object_model").expect("it is a name");
        let package = self.add_package(None, About::called(name.clone()));
        let edges: Vec<Edge> = root
            .objects
            .into_iter()
            .enumerate()
            .map(|(number, requirement)| {
                let object = root.model.object(ObjectId(number));
                Edge {
                    package: self.package_id(&requirement.package),
                    object: Some((ObjectId(number), self.class_id(&object.class))),
                    requirement: Requirement {
                        package: requirement.package,
                        spec: requirement.spec,
                        location: Some(object.location.clone()),
                    },
                    overridden: None,
                }
            })
            .collect();
        self.deliver(package, None, &[IndexRecord::new(name, Version::ZERO)]);
        let release = ReleaseId { package, index: 0 };
        let details = Details {
            edges: edges.into_boxed_slice(),
            classes: None,
        };
        self.details.insert(release, Arc::new(details));
        self.roots.push(release);
        let model = root.model;
        self.model = Some(Model { model, package });
    }

    /// The model that is solved for, if there is one.
    pub(crate) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.model.as_ref().map(|root| &root.model)
    }

    /// The root that the model is, if there is one.
    pub(crate) fn model_root(&self) -> Option<ReleaseId> {
        let package = self.model.as_ref()?.package;
        Some(ReleaseId { package, index: 0 })
    }

    /// Whether a package stands for the model.
    #[inline]
    pub(crate) fn is_model(&self, package: PackageId) -> bool {
        let model = self.model.as_ref();
        model.is_some_and(|root| root.package == package)
    }

    /// The name of a package, unless it stands for the model.
    pub(crate) fn package_name(&self, package: PackageId) -> Option<&PackageName> {
        (!self.is_model(package)).then(|| self.name(package))
    }

    /// A release as the owner of a requirement.
    pub(crate) fn owner(&self, release: ReleaseId) -> Owner {
        match self.package_name(release.package) {
            Some(name) => Owner::Release {
                name: name.clone(),
                version: self.read_version(release),
            },
            None => Owner::ObjectModel,
        }
    }
}
