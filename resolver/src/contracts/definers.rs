//! Where the classes that contracts name are found, and in which versions they are allowed.

use pkgres_manifest::ClassConstraint;

use super::ancestors::{self, Lookup, LookupOutcome, WalkStart};
use super::{AllowedVersions, Declaration, ModelCheck};
use crate::class_rules::{ClassAt, definer};
use crate::universe::{ClassId, ReleaseId};

impl ModelCheck<'_> {
    /// The class of an object that a contract describes.
    pub(super) fn described_class(
        &self,
        declaration: &Declaration<'_>,
        constraint: &ClassConstraint,
    ) -> Described {
        let declaring = declaration.at;
        let class = self
            .universe
            .catalog
            .class_of_contract(constraint.described());
        let mut lookups = declaration.lookups();
        let at = match self.definer(declaring.release, class) {
            Definer::Own => ClassAt {
                release: declaring.release,
                class,
            },
            Definer::Required(requirement, release) => {
                lookups.extend(ancestors::lookups(
                    declaring.release,
                    requirement,
                    class,
                    LookupOutcome::Entered(class),
                ));
                ClassAt { release, class }
            }
            Definer::Nobody(lookups) => return Described::NotFound(lookups),
            Definer::Unknown => return Described::Unknown,
        };
        let version = self.universe.catalog.version(at.release);
        if constraint
            .spec_of_described()
            .is_some_and(|spec| !spec.matches(version))
        {
            return Described::NotFound(lookups);
        }
        Described::Class(WalkStart { class: at, lookups })
    }

    /// The allowed versions of a constraint's class.
    pub(super) fn allowed(&self, constraint: &ClassConstraint, release: ReleaseId) -> Allowed {
        if let Some(spec) = &constraint.spec {
            return Allowed::Versions(AllowedVersions::Spec(spec.clone()), Vec::new());
        }
        let class = self.universe.catalog.class_of_contract(&constraint.class);
        match self.definer(release, class) {
            Definer::Own => {
                let own = self.universe.catalog.version(release).clone();
                Allowed::Versions(AllowedVersions::MajorOf(own), Vec::new())
            }
            Definer::Required(requirement, _) => {
                let details = self.universe.known_details(release);
                let spec = details.requirements[requirement].spec.clone();
                let outcome = LookupOutcome::Defines(class);
                let lookups = ancestors::lookups(release, requirement, class, outcome);
                Allowed::Versions(AllowedVersions::Spec(spec), lookups)
            }
            Definer::Nobody(lookups) => Allowed::NotFound(lookups),
            Definer::Unknown => Allowed::Unknown,
        }
    }

    /// The package in which a release finds a class.
    pub(super) fn definer(&self, release: ReleaseId, class: ClassId) -> Definer {
        let details = self.universe.known_details(release);
        let table = details.classes.as_ref();
        if table.is_some_and(|table| table.position(class).is_some()) {
            return Definer::Own;
        }
        if let Some((requirement, found)) = definer(self.universe, self.selection, release, class) {
            return Definer::Required(requirement, found);
        }
        let bound = self.selection.bound(release);
        let has_classes =
            |release: &ReleaseId| self.universe.known_details(*release).classes.is_some();
        if table.is_none() || !bound.iter().all(has_classes) {
            return Definer::Unknown;
        }
        let lookups = (0..bound.len()).map(|requirement| Lookup {
            release,
            requirement,
            outcome: LookupOutcome::NotDefined(class),
        });
        Definer::Nobody(lookups.collect())
    }
}

/// The package in which a release finds a class.
pub(super) enum Definer {
    Own,
    /// The number of the requirement, and the release that it is bound to.
    Required(usize, ReleaseId),
    /// None of the required ones: the lookups that say so.
    Nobody(Vec<Lookup>),
    /// The classes of some package are unknown.
    Unknown,
}

/// The versions that a contract allows.
pub(super) enum Allowed {
    /// The versions, and the lookups that determine them.
    Versions(AllowedVersions, Vec<Lookup>),
    NotFound(Vec<Lookup>),
    Unknown,
}

/// The class of an object that a contract describes.
pub(super) enum Described {
    Class(WalkStart),
    NotFound(Vec<Lookup>),
    Unknown,
}
