//! Repairs, the changes of which they consist, and their order by cost.

use jiff::Timestamp;
use pkgres_manifest::{PackageName, Spec, Version};

use super::restriction::{Restriction, relaxed_policy};
use super::trial::Relaxation;
use crate::request::{PrereleasePolicy, Request};
use crate::resolution::{Resolution, ResolvedPackage};

/// A change that is part of a repair.
///
/// Not `#[non_exhaustive]`: whoever applies a repair has to handle every kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A root has to require other versions of a package.
    Requirement {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// The current spec; `None` for a requirement on the core library that is not stated.
        from: Option<Spec>,
        /// The new spec: what is compatible with `allow`.
        to: Spec,
        /// The nearest version with which there is a resolution.
        allow: Version,
    },
    /// An override has to replace all requirements on a package.
    Override {
        /// The package.
        package: PackageName,
        /// The spec of the current override, if there is one.
        from: Option<Spec>,
        /// The spec of the new override: what is compatible with `allow`.
        to: Spec,
        /// The version that the solver chooses.
        allow: Version,
    },
    /// The override of all requirements on a package has to go.
    NoOverride {
        /// The package.
        package: PackageName,
        /// The spec of the current override.
        from: Spec,
    },
    /// A new release of a package has to allow other versions of another package.
    Release {
        /// The package.
        owner: PackageName,
        /// Its version that fits, apart from the requirement. If several fit side by side, each needs a new release.
        based_on: Option<Version>,
        /// The package that it requires.
        package: PackageName,
        /// What it could require.
        to: Spec,
        /// The version that it has to allow.
        allow: Version,
    },
    /// The cut-off date has to be later.
    CutOff {
        /// The earliest midnight in UTC that is late enough; `None` if the date has to go.
        until: Option<Timestamp>,
    },
    /// Prereleases have to be candidates.
    Prereleases {
        /// The policy that is enough.
        policy: PrereleasePolicy,
    },
    /// Packages have to be allowed several releases side by side.
    SideBySide,
}

impl Change {
    /// The changes that relax a restriction: one, or a new release for each of several that are chosen side by side.
    pub(super) fn all(
        request: &Request,
        restriction: Restriction,
        relaxed: Relaxation,
        resolution: &Resolution,
    ) -> Vec<Self> {
        let change = Self::one(request, restriction, relaxed);
        let Some(Self::Release {
            owner,
            package,
            to,
            allow,
            ..
        }) = change
        else {
            return change.into_iter().collect();
        };
        // A release of another line may not have the requirement.
        let requires = |chosen: &&ResolvedPackage| {
            let mut bound = chosen.requires.iter();
            bound.any(|bound| bound.package == package)
        };
        let chosen = resolution.packages().iter();
        let chosen = chosen.filter(|chosen| chosen.name == owner);
        let mut based_on: Vec<Option<Version>> = chosen
            .filter(requires)
            .map(|chosen| Some(chosen.version.clone()))
            .collect();
        if based_on.is_empty() {
            based_on.push(None);
        }
        let releases = based_on.into_iter().map(|based_on| Self::Release {
            based_on,
            owner: owner.clone(),
            package: package.clone(),
            to: to.clone(),
            allow: allow.clone(),
        });
        releases.collect()
    }

    /// The change that relaxes a restriction; `None` if it cannot be relaxed so.
    fn one(request: &Request, restriction: Restriction, relaxed: Relaxation) -> Option<Self> {
        let from = restriction.spec(request);
        Some(match (restriction, relaxed) {
            (Restriction::Requirement { root, package }, Relaxation::To(to, allow)) => {
                Self::Requirement {
                    root,
                    package,
                    from,
                    to,
                    allow,
                }
            }
            (Restriction::Override { package }, Relaxation::Removed) => Self::NoOverride {
                package,
                from: from?,
            },
            (Restriction::Override { package }, Relaxation::To(to, allow)) => Self::Override {
                package,
                from,
                to,
                allow,
            },
            (Restriction::Release { owner, package }, Relaxation::To(to, allow)) => Self::Release {
                owner,
                based_on: None,
                package,
                to,
                allow,
            },
            (Restriction::CutOff, Relaxation::Until(until)) => Self::CutOff { until: Some(until) },
            (Restriction::CutOff, _) => Self::CutOff { until: None },
            (Restriction::Prereleases, _) => Self::Prereleases {
                policy: relaxed_policy(request.options.prerelease),
            },
            (Restriction::SingleVersion, _) => Self::SideBySide,
            (restriction, relaxed) => {
                debug_assert!(false, "{restriction:?} is not relaxed by {relaxed:?}");
                return None;
            }
        })
    }

    /// The restriction that the change relaxes.
    pub fn restriction(&self) -> Restriction {
        match self {
            Self::Requirement { root, package, .. } => Restriction::Requirement {
                root: root.clone(),
                package: package.clone(),
            },
            Self::Override { package, .. } | Self::NoOverride { package, .. } => {
                Restriction::Override {
                    package: package.clone(),
                }
            }
            Self::Release { owner, package, .. } => Restriction::Release {
                owner: owner.clone(),
                package: package.clone(),
            },
            Self::CutOff { .. } => Restriction::CutOff,
            Self::Prereleases { .. } => Restriction::Prereleases,
            Self::SideBySide => Restriction::SingleVersion,
        }
    }
}

/// A set of changes that makes a conflict solvable.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Repair {
    /// The changes, in the order of restrictions.
    pub changes: Vec<Change>,
    /// The resolution with these changes.
    pub resolution: Box<Resolution>,
}

/// The cost of a repair: the number of changes, then their kinds. Fields are compared in their order. (The command line
/// lists repairs of one cost in another order: first those that it can apply.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct Cost {
    /// The number of changes.
    pub changes: usize,
    /// The number of changes to options: the cut-off date, the prerelease policy, or one release of each package.
    pub options: usize,
    /// The number of changes that need a new release of a package.
    pub releases: usize,
    /// The number of overrides.
    pub overrides: usize,
}

impl Repair {
    /// The cost of the repair.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost {
            changes: self.changes.len(),
            ..Cost::default()
        };
        for change in &self.changes {
            match change {
                Change::Requirement { .. } => {}
                Change::Override { .. } | Change::NoOverride { .. } => cost.overrides += 1,
                Change::Release { .. } => cost.releases += 1,
                Change::CutOff { .. } | Change::Prereleases { .. } | Change::SideBySide => {
                    cost.options += 1;
                }
            }
        }
        cost
    }

    /// Whether it is enough to change requirements of roots, overrides and options: nobody has to make a release.
    pub fn needs_no_release(&self) -> bool {
        self.cost().releases == 0
    }
}
