//! Trials: a request with some restrictions relaxed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pkgres_manifest::{IndexRecord, PackageName, Requirement, Spec, Version, VersionSet};

use super::restriction::{Restriction, relaxed_policy};
use crate::budget::StepCount;
use crate::explain::Conflict;
use crate::request::{Preference, Request};
use crate::resolution::Resolution;
use crate::resolver::Resolver;

/// The step limit of a trial.
const MAX_STEPS: u64 = 200_000;

/// How far a restriction is relaxed.
#[derive(Debug, Clone)]
pub(super) enum Relaxation {
    /// It is given up.
    Wholly,
    /// It allows these versions, of which old or new ones are tried first.
    Within(VersionSet, Preference),
    /// It is replaced by this spec, for the sake of a version.
    To(Spec, Version),
    /// The override does not exist.
    Removed,
    /// The cut-off date is later.
    Until(Timestamp),
}

impl Relaxation {
    pub(super) fn spec(&self) -> Spec {
        match self {
            Self::Wholly | Self::Removed | Self::Until(_) => Spec::any(),
            Self::Within(set, _) => {
                // The text only has to distinguish sets from each other.
                let ends = set.intervals().iter().map(|interval| {
                    let until = interval.until.as_ref().map(ToString::to_string);
                    format!("{}..{}", interval.from, until.unwrap_or_default())
                });
                let text = ends.collect::<Vec<_>>().join(" ");
                Spec::native(&text, set.clone(), false)
            }
            Self::To(spec, _) => spec.clone(),
        }
    }
}

/// A request with some restrictions relaxed, to find out whether that repairs a conflict.
#[derive(Debug, Clone)]
pub struct Trial {
    request: Request,
    /// The specs of requirements in releases that somebody would have to make, by owner and package.
    releases: BTreeMap<PackageName, BTreeMap<PackageName, Spec>>,
    /// The steps of all trials.
    steps: StepCount,
}

/// The outcome of a trial.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// There is a resolution.
    Solved(Box<Resolution>),
    /// There is none.
    Conflict(Box<Conflict>),
    /// The solver gave up.
    Unknown,
}

impl Trial {
    pub(super) fn new(
        request: &Request,
        relaxed: &BTreeMap<Restriction, Relaxation>,
        steps: StepCount,
    ) -> Self {
        let mut trial = Self {
            request: request.clone(),
            releases: BTreeMap::new(),
            steps,
        };
        let options = &mut trial.request.options;
        options.max_steps = options.max_steps.min(MAX_STEPS);
        for (restriction, relaxed) in relaxed {
            if let Relaxation::Within(_, preference) = relaxed {
                trial.request.options.prefer = *preference;
            }
            match (restriction, relaxed) {
                (Restriction::Override { package }, Relaxation::Removed) => {
                    trial.request.overrides.remove(package);
                }
                (Restriction::CutOff, Relaxation::Until(until)) => {
                    trial.request.options.exclude_newer = Some(*until);
                }
                _ => trial.relax(restriction, relaxed.spec()),
            }
        }
        trial
    }

    fn relax(&mut self, restriction: &Restriction, spec: Spec) {
        match restriction {
            Restriction::Requirement { root, package } => {
                for candidate in &mut self.request.roots {
                    if let Some(record) = candidate.record_mut()
                        && record.name == *root
                    {
                        set_requirement(record, package, &spec, true);
                    }
                }
            }
            Restriction::Override { package } => {
                self.request.overrides.insert(package.clone(), spec);
            }
            Restriction::Release { owner, package } => {
                let of_owner = self.releases.entry(owner.clone()).or_default();
                of_owner.insert(package.clone(), spec);
                let mut provided = std::mem::take(&mut self.request.host_releases);
                let of_owner = provided.iter_mut().filter(|record| record.name == *owner);
                of_owner.for_each(|record| self.rewrite(record));
                self.request.host_releases = provided;
            }
            Restriction::CutOff => self.request.options.exclude_newer = None,
            Restriction::Prereleases => {
                let policy = &mut self.request.options.prerelease;
                *policy = relaxed_policy(*policy);
            }
            Restriction::SingleVersion => self.request.options.single_version = false,
        }
    }

    /// The solver of the trial. Before its first step, provide all releases of each
    /// [rewritten](Self::rewritten_packages) package.
    pub fn resolver(&self) -> Resolver {
        Resolver::new(self.request.clone()).for_trial(self.steps.clone())
    }

    /// The packages that would need a new release. Host releases are not among them, because the request has them.
    pub fn rewritten_packages(&self) -> impl Iterator<Item = &PackageName> {
        let owners = self.releases.keys();
        owners.filter(|owner| {
            let mut provided = self.request.host_releases.iter();
            !provided.any(|record| record.name == **owner)
        })
    }

    /// Changes a release of a [rewritten](Self::rewritten_packages) package into what would have to be released.
    pub fn rewrite(&self, record: &mut IndexRecord) {
        let Some(specs) = self.releases.get(&record.name) else {
            return;
        };
        for (package, spec) in specs {
            let is_implied = self.request.core.as_ref() == Some(package);
            set_requirement(record, package, spec, is_implied);
        }
    }
}

/// Changes the spec of a requirement. One that is not stated is added if `may_add` is set.
fn set_requirement(record: &mut IndexRecord, package: &PackageName, spec: &Spec, may_add: bool) {
    record.requirements.change(|requirements| {
        let mut stated = requirements.iter_mut();
        if let Some(requirement) = stated.find(|stated| stated.package == *package) {
            requirement.spec = spec.clone();
        } else if may_add {
            requirements.push(Requirement {
                package: package.clone(),
                spec: spec.clone(),
                location: None,
            });
        }
    });
}
