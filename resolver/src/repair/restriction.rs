//! Restrictions: what a repair could relax, and which of it takes part in a conflict.
//!
//! A core is a set of restrictions of which every repair changes at least one. Each set of changes that is tried and does
//! not repair the conflict shows another core. So the sets that can repair a conflict are the hitting sets of its cores.

use std::collections::BTreeSet;

use pkgres_manifest::{PackageName, Spec, Version};

use super::ecosystem_of;
use crate::explain::{Conflict, ReasonKind};
use crate::request::{PrereleasePolicy, Request, Root};
use crate::resolution::{Resolution, ResolvedOwner};

/// Something that could be given up to repair a conflict. The variants are in order of preference.
///
/// Not `#[non_exhaustive]`: whoever repairs a conflict has to handle every kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Restriction {
    /// The requirement of a root on a package.
    Requirement {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
    },
    /// All requirements on a package, which an override replaces.
    Override {
        /// The package.
        package: PackageName,
    },
    /// The requirement of another package, which a new release of that package could change.
    Release {
        /// The package that has the requirement.
        owner: PackageName,
        /// The package that is required.
        package: PackageName,
    },
    /// The [cut-off date](crate::SolveOptions::exclude_newer).
    CutOff,
    /// The [prerelease policy](crate::SolveOptions::prerelease).
    Prereleases,
    /// That each package may have [one release only](crate::SolveOptions::single_version), where the ecosystem allows
    /// several.
    SingleVersion,
}

impl Restriction {
    /// The spec that is in force for the restriction in a request: that of a root, or of an override.
    pub(super) fn spec(&self, request: &Request) -> Option<Spec> {
        match self {
            Self::Requirement { root, package } => {
                let mut records = request.roots.iter().filter_map(Root::record);
                let record = records.find(|record| record.name == *root)?;
                let mut requirements = record.requirements.iter();
                let stated = requirements.find(|stated| stated.package == *package)?;
                Some(stated.spec.clone())
            }
            Self::Override { package } => request.overrides.get(package).cloned(),
            _ => None,
        }
    }

    /// The version that a requirement is bound to in a resolution.
    pub(super) fn bound_version(&self, resolution: &Resolution) -> Option<Version> {
        self.bound_versions(resolution).pop_last()
    }

    /// The versions that the requirements are bound to in a resolution.
    pub(super) fn bound_versions(&self, resolution: &Resolution) -> BTreeSet<Version> {
        let mut versions = BTreeSet::new();
        for owner in resolution.owners() {
            let name = owner.release().map(|(name, _)| name);
            let (is_meant, package) = match self {
                Self::Requirement { root, package } => (
                    matches!(owner, ResolvedOwner::Root(_)) && name == Some(root),
                    package,
                ),
                Self::Override { package } => (true, package),
                Self::Release { owner, package } => (name == Some(owner), package),
                Self::CutOff | Self::Prereleases | Self::SingleVersion => continue,
            };
            let mut bound = owner.requires().iter().filter(|_| is_meant);
            versions.extend(
                bound
                    .find(|bound| bound.package == *package)
                    .map(|bound| bound.version.clone()),
            );
        }
        versions
    }
}

/// The restrictions that take part in a conflict that is left although some are given up.
///
/// Every repair of the conflict changes at least one of them.
pub(super) fn restrictions_of(
    request: &Request,
    conflict: &Conflict,
    given_up: &BTreeSet<Restriction>,
) -> BTreeSet<Restriction> {
    let mut restrictions = BTreeSet::new();
    for reason in &conflict.reasons {
        let (ReasonKind::Requires { package, .. }, Some(owner)) = (&reason.kind, &reason.owner)
        else {
            // Classes and contracts cannot be given up, nor can the pins of a model.
            continue;
        };
        let (owner, package) = (owner.clone(), package.clone());
        let of_owner = if reason.source.is_none() {
            Restriction::Requirement {
                root: owner,
                package: package.clone(),
            }
        } else {
            Restriction::Release {
                owner,
                package: package.clone(),
            }
        };
        let overriding = request.overrides.contains_key(&package);
        let by_override = Restriction::Override { package };
        if given_up.contains(&of_owner) || given_up.contains(&by_override) {
            continue;
        }
        restrictions.insert(by_override);
        // An override replaces the requirement, so that no other spec would change anything.
        if !overriding && !is_fixed(request, &of_owner) {
            restrictions.insert(of_owner);
        }
    }
    if request.options.exclude_newer.is_some() {
        restrictions.insert(Restriction::CutOff);
    }
    if matches!(
        request.options.prerelease,
        PrereleasePolicy::Never | PrereleasePolicy::IfNamed
    ) {
        restrictions.insert(Restriction::Prereleases);
    }
    if request.options.single_version && ecosystem_of(request).has_side_by_side() {
        restrictions.insert(Restriction::SingleVersion);
    }
    restrictions.retain(|restriction| !given_up.contains(restriction));
    restrictions
}

/// Whether the manifest of the root cannot state another requirement.
fn is_fixed(request: &Request, restriction: &Restriction) -> bool {
    let Restriction::Requirement { root, .. } = restriction else {
        return false;
    };
    let mut records = request.roots.iter().filter_map(Root::record);
    records.any(|record| record.name == *root && record.has_fixed_requirements())
}

/// The nearest policy with which prereleases are candidates.
pub(super) fn relaxed_policy(policy: PrereleasePolicy) -> PrereleasePolicy {
    match policy {
        PrereleasePolicy::Never => PrereleasePolicy::IfNecessary,
        _ => PrereleasePolicy::Allow,
    }
}
