//! Requirements as texts, for reports and lockfiles.

use std::sync::Arc;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ObjectId, ObjectModel, Spec};
use rustc_hash::FxHashMap;

use super::Requirements;
use crate::request::ObjectRequirement;
use crate::set::PositionSet;
use crate::universe::catalog::Catalog;
use crate::universe::{ClassId, PackageId, ReleaseId};

/// A requirement of a release, with overrides applied.
#[derive(Debug, Clone)]
pub(crate) struct ReleaseRequirement {
    pub(crate) package: PackageId,
    /// The spec that counts.
    pub(crate) spec: Spec,
    /// The spec of the manifest, if an override replaces it.
    pub(crate) manifest_spec: Option<Spec>,
    /// Where it is stated, if that is known.
    pub(crate) location: Option<Location>,
    /// Whether it is not stated: every package requires the core library.
    pub(crate) is_implied: bool,
    /// The object of a model that has the requirement, and the class that the release must define.
    pub(crate) object: Option<(ObjectId, ClassId)>,
}

impl ReleaseRequirement {
    /// The requirement of an object on a release that defines its class.
    pub(in crate::universe) fn of_object(
        catalog: &mut Catalog,
        model: &ObjectModel,
        object: ObjectId,
        requirement: ObjectRequirement,
    ) -> Self {
        let instance = model.object(object);
        Self {
            package: catalog.package_id(&requirement.package),
            spec: requirement.spec,
            manifest_spec: None,
            location: Some(instance.location.clone()),
            is_implied: false,
            object: Some((object, catalog.class_id(&instance.class))),
        }
    }

    /// The candidates that the requirement allows.
    pub(in crate::universe) fn allowed(&self, catalog: &Catalog) -> PositionSet {
        let candidates = catalog.candidates_of(self.package);
        let matching = catalog.versions_in(self.package, &self.spec);
        let matching = matching.intersection(&candidates);
        match self.object {
            Some((_, class)) => matching.intersection(&catalog.definers(self.package, class)),
            None => matching,
        }
    }
}

/// Specs that were read, by loaded index and number.
pub(crate) type SpecCache = FxHashMap<(u32, u32), Spec>;

impl Requirements {
    /// Takes the requirements of the objects of a model.
    pub(in crate::universe) fn set_objects(&mut self, objects: Vec<ReleaseRequirement>) {
        self.objects = objects.into();
    }

    /// The requirements of a release, in the order of [`read`](Self::read).
    pub(in crate::universe) fn stated(
        &mut self,
        catalog: &mut Catalog,
        release: ReleaseId,
    ) -> Vec<ReleaseRequirement> {
        if catalog.is_model(release.package) {
            return self.objects.to_vec();
        }
        let (loaded, number) = catalog.locate(release);
        let index = Arc::clone(catalog.indexes().index(loaded));
        for number in index.requirement_range(number) {
            catalog.package_id_in(loaded, index.requirement(number).target);
        }
        let mut requirements = Vec::new();
        let mut specs = std::mem::take(&mut self.specs);
        self.visit(catalog, release, &mut specs, |required| {
            requirements.push(required);
        });
        self.specs = specs;
        requirements
    }

    /// Visits the requirements of a release of a selection, in the order of [`read`](Self::read). Specs that
    /// are read are kept in `specs`.
    pub(in crate::universe) fn visit(
        &self,
        catalog: &Catalog,
        release: ReleaseId,
        specs: &mut SpecCache,
        mut visit: impl FnMut(ReleaseRequirement),
    ) {
        if catalog.is_model(release.package) {
            self.objects.iter().cloned().for_each(visit);
            return;
        }
        let (number_of_index, number) = catalog.locate(release);
        let loaded = catalog.indexes().get(number_of_index);
        let index = loaded.index();
        let range = index.requirement_range(number);
        let mut stated_spec = |number: usize| {
            let number = index.requirement(number).spec;
            let spec = specs.entry((number_of_index, number));
            spec.or_insert_with(|| index.spec(number)).clone()
        };
        let target = |number: usize| {
            let target = loaded.target(number);
            target.expect("the targets of a chosen release are interned")
        };
        let core = catalog.core_required_by(release.package);
        if let Some(core) = core {
            let on_core = range.clone().rfind(|number| target(*number) == core);
            let spec = on_core.map_or_else(Spec::unspecified, &mut stated_spec);
            let (spec, manifest_spec) = catalog.policy().effective_spec(core, spec);
            visit(ReleaseRequirement {
                package: core,
                spec,
                manifest_spec,
                is_implied: on_core.is_none(),
                location: on_core.and_then(|number| index.location(number)).cloned(),
                object: None,
            });
        }
        for number in range {
            let package = target(number);
            let is_left_out = package == release.package || catalog.is_left_out(package);
            if !is_left_out && Some(package) != core {
                let spec = stated_spec(number);
                let (spec, manifest_spec) = catalog.policy().effective_spec(package, spec);
                visit(ReleaseRequirement {
                    package,
                    spec,
                    manifest_spec,
                    is_implied: false,
                    location: index.location(number).cloned(),
                    object: None,
                });
            }
        }
    }
}

impl Catalog {
    /// Whether requirements on a package are left out, because the version that the host has is not known.
    #[inline]
    pub(super) fn is_left_out(&self, package: PackageId) -> bool {
        let host = self.policy().host_package_of_unknown_version();
        host.is_some_and(|host| self.name(package) == host)
    }
}
