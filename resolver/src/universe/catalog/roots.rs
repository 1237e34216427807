//! The roots: packages, or an object model.
//!
//! A package that no name leads to represents the model, so the search need not know about models. Nothing requires
//! that package, and no message names it.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{
    CLASS_PACKAGES, ContractPlace, Ecosystem, IndexRecord, ObjectModel, PackageName, Requirement,
    Shared, Version,
};
use smallvec::SmallVec;

use super::{Catalog, PackageFacts, PackageId, ReleaseId};
use crate::request::{ContractScope, Owner};

#[derive(Debug, Default)]
pub(super) struct Roots {
    releases: SmallVec<[ReleaseId; 2]>,
    /// The requirements that the packages among the roots state.
    stated: Vec<(PackageId, Shared<Requirement>)>,
    /// The roots that are files and no releases.
    files: Vec<PackageId>,
    model: Option<RootModel>,
    /// The ecosystem of the first package among the roots, for the lockfile.
    ecosystem: Option<&'static dyn Ecosystem>,
}

#[derive(Debug)]
struct RootModel {
    model: Arc<ObjectModel>,
    /// The package that represents it.
    package: PackageId,
    contracts: ContractScope,
    /// Where contracts on the classes of objects need not be met.
    violated: BTreeSet<ContractPlace>,
}

impl Roots {
    pub(super) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.model.as_ref().map(|root| &root.model)
    }
}

impl Catalog {
    /// Adds a package as a root.
    pub(in crate::universe) fn add_root(&mut self, record: IndexRecord) -> PackageId {
        self.roots.ecosystem.get_or_insert(record.ecosystem);
        let package = self.package_id(&record.name);
        if !self.is_delivered(package) {
            self.deliver(package, None, std::slice::from_ref(&record));
            self.roots.stated.push((package, record.requirements));
        }
        (self.roots.releases).push(ReleaseId { package, index: 0 });
        package
    }

    /// Adds a file that is no release as a root.
    pub(in crate::universe) fn add_file(&mut self, record: IndexRecord) {
        let package = self.add_root(record);
        self.roots.files.push(package);
    }

    /// Whether a package stands for a file that is no release.
    pub(crate) fn is_file(&self, package: PackageId) -> bool {
        self.roots.files.contains(&package)
    }

    /// The ecosystem of the roots.
    pub(crate) fn ecosystem(&self) -> &'static dyn Ecosystem {
        self.roots.ecosystem.unwrap_or(CLASS_PACKAGES)
    }

    /// Adds the object model as a root.
    pub(in crate::universe) fn add_model(
        &mut self,
        model: Arc<ObjectModel>,
        contracts: ContractScope,
        violated: BTreeSet<ContractPlace>,
    ) {
        // An index needs some name. A package that has the same name is another one.
        let name = PackageName::parse("the_object_model").expect("it is a name");
        let package = self.add_package(None, PackageFacts::named(&name));
        self.deliver(package, None, &[IndexRecord::new(name, Version::ZERO)]);
        let release = ReleaseId { package, index: 0 };
        self.roots.releases.push(release);
        self.roots.model = Some(RootModel {
            model,
            package,
            contracts,
            violated,
        });
    }

    pub(crate) fn roots(&self) -> &[ReleaseId] {
        &self.roots.releases
    }

    /// The requirements that a root states; none for the object model.
    pub(crate) fn stated_by_root(&self, package: PackageId) -> &[Requirement] {
        let mut stated = self.roots.stated.iter();
        let stated = stated.find(|(root, _)| *root == package);
        stated.map_or(&[], |(_, requirements)| requirements)
    }

    pub(crate) fn is_root(&self, package: PackageId) -> bool {
        self.roots().iter().any(|root| root.package == package)
    }

    /// The object model, if it is a root.
    pub(crate) fn model(&self) -> Option<&Arc<ObjectModel>> {
        self.roots.model()
    }

    /// The release that represents the object model.
    pub(crate) fn model_root(&self) -> Option<ReleaseId> {
        let package = self.roots.model.as_ref()?.package;
        Some(ReleaseId { package, index: 0 })
    }

    /// Whether values of the model have to meet contracts, not only the classes of its objects.
    pub(crate) fn checks_values(&self) -> bool {
        let model = self.roots.model.as_ref();
        model.is_some_and(|root| root.contracts == ContractScope::All)
    }

    /// Whether the contract on the class of an object need not be met there.
    pub(crate) fn is_known_violation(&self, place: &ContractPlace) -> bool {
        let model = self.roots.model.as_ref();
        model.is_some_and(|root| root.violated.contains(place))
    }

    /// Whether a package represents the object model.
    #[inline]
    pub(crate) fn is_model(&self, package: PackageId) -> bool {
        let model = self.roots.model.as_ref();
        model.is_some_and(|root| root.package == package)
    }

    /// The name of a package, unless it represents the object model.
    pub(crate) fn package_name(&self, package: PackageId) -> Option<&PackageName> {
        (!self.is_model(package)).then(|| self.name(package))
    }

    /// A release as the owner of a requirement.
    pub(crate) fn owner(&self, release: ReleaseId) -> Owner {
        match self.package_name(release.package) {
            Some(name) if self.is_file(release.package) => Owner::File { name: name.clone() },
            Some(name) => Owner::Release {
                name: name.clone(),
                version: self.read_version(release),
            },
            None => Owner::ObjectModel,
        }
    }
}
