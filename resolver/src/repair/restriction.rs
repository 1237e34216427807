//! Restrictions: what a repair could relax, and which of it takes part in a conflict.
//!
//! A core is a set of restrictions of which every repair changes at least one. Each set of changes that is tried and does
//! not repair the conflict shows another core. So the sets that can repair a conflict are the hitting sets of its cores.

use std::collections::BTreeSet;

use pkgres_manifest::{CLASS_PACKAGES, PackageName, Spec, Version};

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
fn restrictions_of(
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
    if request.options.single_version && ecosystem_of(request) == CLASS_PACKAGES {
        restrictions.insert(Restriction::SingleVersion);
    }
    restrictions.retain(|restriction| !given_up.contains(restriction));
    restrictions
}

/// Whether no manifest of the root can state another requirement: a Heat template requires the core library implicitly.
fn is_fixed(request: &Request, restriction: &Restriction) -> bool {
    let Restriction::Requirement { root, .. } = restriction else {
        return false;
    };
    let mut records = request.roots.iter().filter_map(Root::record);
    records.any(|record| record.name == *root && record.is_heat_template())
}

/// The nearest policy with which prereleases are candidates.
pub(super) fn relaxed_policy(policy: PrereleasePolicy) -> PrereleasePolicy {
    match policy {
        PrereleasePolicy::Never => PrereleasePolicy::IfNecessary,
        _ => PrereleasePolicy::Allow,
    }
}

/// The maximum number of hitting sets that are looked at in one go.
const MAX_SETS: usize = 20_000;

/// The restrictions of which at least one has to be given up.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) restrictions: BTreeSet<Restriction>,
    /// The conflict in one sentence.
    summary: String,
}

impl Core {
    /// The core of a conflict that is left although some restrictions are given up.
    pub(super) fn new(
        request: &Request,
        conflict: &Conflict,
        given_up: &BTreeSet<Restriction>,
    ) -> Self {
        Self {
            restrictions: restrictions_of(request, conflict, given_up),
            summary: conflict.summary.clone(),
        }
    }
}

/// The known cores.
#[derive(Debug, Default)]
pub(super) struct Cores(Vec<Core>);

impl Cores {
    pub(super) fn add(&mut self, core: Core) {
        self.0.push(core);
    }

    /// Whether a core has no restriction that may be given up: nothing repairs the conflict.
    pub(super) fn rule_out_all(&self, may_change: &impl Fn(&Restriction) -> bool) -> bool {
        let has_none = |core: &Core| !core.restrictions.iter().any(may_change);
        self.0.iter().any(has_none)
    }

    /// All restrictions of all cores that may be given up.
    pub(super) fn union(
        &self,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> BTreeSet<Restriction> {
        let all = self.0.iter().flat_map(|core| &core.restrictions);
        all.filter(|one| may_change(one)).cloned().collect()
    }

    /// The sets of so many restrictions that have one of each core; `None` if there are too many.
    pub(super) fn hitting_sets(
        &self,
        size: usize,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> Option<BTreeSet<BTreeSet<Restriction>>> {
        let mut complete = BTreeSet::new();
        let mut partial: BTreeSet<BTreeSet<Restriction>> = BTreeSet::from([BTreeSet::new()]);
        for core in &self.0 {
            let mut extended = BTreeSet::new();
            for set in partial {
                if !set.is_disjoint(&core.restrictions) {
                    extended.insert(set);
                    continue;
                }
                if set.len() == size {
                    continue;
                }
                for restriction in core.restrictions.iter().filter(|one| may_change(one)) {
                    let mut larger = set.clone();
                    larger.insert(restriction.clone());
                    extended.insert(larger);
                }
            }
            if extended.len() > MAX_SETS {
                return None;
            }
            partial = extended;
        }
        complete.extend(partial.into_iter().filter(|set| set.len() == size));
        Some(complete)
    }

    /// The conflict that remains if only this restriction is given up, in one sentence.
    pub(super) fn without(&self, restriction: &Restriction) -> Option<&str> {
        let mut others = self.0.iter();
        let core = others.find(|core| !core.restrictions.contains(restriction))?;
        Some(&core.summary)
    }
}
