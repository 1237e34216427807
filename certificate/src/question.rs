//! Questions about some of the releases, which a new search answers with "no".
//!
//! # Problem
//!
//! If a resolution is the best one, or an update moved no more than necessary, then better ones do not exist. The
//! search that found the resolution showed this on the way, but recorded no proof of it.
//!
//! # Idea
//!
//! Such a claim is "there is no resolution" about fewer releases: a decided package has its version as the only
//! candidate, and the package in question has only the better versions. A separate search proves this. If it finds a
//! resolution instead, there is no certificate.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, Release, Version};
use pkgres_resolver::{
    BoundRequirement, Compromise, Engine, Request, Resolution, ResolvedPackage, Resolver, Root,
    Step, Supply,
};

use crate::claim::{Claim, NamedReleases, Tiers, Verdict};
use crate::universe::Universe;
use crate::{Certificate, NotCertified, certify, packages_of};

/// A question whether there is a resolution among some of the releases.
#[derive(Debug, Clone)]
pub struct Question {
    request: Request,
    /// The candidates of packages that have not all of them.
    candidates: BTreeMap<PackageName, BTreeSet<Version>>,
    /// Releases that are present, whatever requires them.
    wanted: Vec<Release>,
    /// Packages that an update asked for, but that were not locked: a resolution of the problem may lack them.
    asked: Vec<PackageName>,
    verdict: Verdict,
}

impl Question {
    fn new(request: &Request, verdict: Verdict) -> Self {
        let mut request = request.clone();
        request.update = None;
        request.options.single_version = true;
        request.options.engine = Engine::Native;
        request.options.record_derivation = true;
        // What is locked stays a candidate, but nothing is preferred.
        let locked = std::mem::take(&mut request.locked);
        let releases = locked.releases();
        let releases = releases.map(|(name, version)| Release::new(name.clone(), version.clone()));
        request.locked.kept = releases.chain(locked.kept.iter().cloned()).collect();
        Self {
            request,
            candidates: BTreeMap::new(),
            wanted: Vec::new(),
            asked: Vec::new(),
            verdict,
        }
    }

    /// Whether one release of each package is enough.
    pub fn single(request: &Request) -> Self {
        Self::new(request, Verdict::None)
    }

    /// Whether a package can have a better release, with those before it as they were decided.
    pub fn better(request: &Request, compromise: &Compromise) -> Self {
        let verdict = Verdict::Better {
            releases: NamedReleases::new(&compromise.package, &compromise.better),
            with: compromise.decided.iter().map(NamedReleases::of).collect(),
        };
        let mut question = Self::new(request, verdict);
        for Release { name, version } in &compromise.decided {
            question.restrict(name, [version.clone()]);
        }
        question.restrict(&compromise.package, compromise.better.iter().cloned());
        question
    }

    /// For each package that an update moved without being asked to, whether it can stay.
    pub fn stays(request: &Request, resolution: &Resolution) -> Vec<Self> {
        let (Some(update), Some(report)) = (&request.update, resolution.update()) else {
            return Vec::new();
        };
        let mut locked: BTreeMap<&PackageName, BTreeSet<Version>> = BTreeMap::new();
        let is_root = |name: &PackageName| {
            let mut records = request.roots.iter().filter_map(Root::record);
            records.any(|record| record.name == *name)
        };
        for (name, version) in request.locked.bound() {
            if !is_root(name) && !update.packages.contains_key(name) {
                locked.entry(name).or_default().insert(version.clone());
            }
        }
        let moved = report.moved.iter();
        let moved = moved.filter(|moved| moved.from.is_some() && moved.to.is_some());
        let moved = moved.map(|moved| &moved.package);
        let moved: Vec<&PackageName> = moved.filter(|name| locked.contains_key(*name)).collect();
        let named = update.packages.keys();
        let named = named.filter_map(|name| resolution.package(name));
        let (wanted, optional): (Vec<_>, Vec<_>) =
            named
                .map(ResolvedPackage::release)
                .partition(|Release { name, .. }| {
                    request.locked.bound().any(|(other, _)| other == name)
                });
        let questions = moved.iter().map(|package| {
            let others = moved.iter().filter(|other| *other != package);
            let versions: Vec<Version> = locked[package].iter().cloned().collect();
            let verdict = Verdict::Stays {
                releases: NamedReleases::new(package, &versions),
                with: wanted
                    .iter()
                    .chain(&optional)
                    .map(NamedReleases::of)
                    .collect(),
                moving: others.map(ToString::to_string).collect(),
            };
            let mut question = Self::new(request, verdict);
            for (name, versions) in &locked {
                if name == package || !moved.contains(name) {
                    question.restrict(name, versions.iter().cloned());
                }
            }
            for Release { name, version } in &optional {
                question.restrict(name, [version.clone()]);
                question.asked.push(name.clone());
            }
            question.wanted.clone_from(&wanted);
            question
                .request
                .locked
                .kept
                .extend(wanted.iter().chain(&optional).cloned());
            question
        });
        questions.collect()
    }

    /// Why a resolution that answers the question with "yes" leaves the claim without a certificate.
    fn answered(&self, resolution: &Resolution) -> NotCertified {
        // What was asked for is a root of the search, and need not be required by anything else.
        let (roots, asked) = resolution.roots().split_at(self.request.roots.len());
        let mut open: Vec<&[BoundRequirement]> = Vec::new();
        open.extend(roots.iter().map(|root| root.requires.as_slice()));
        let packages = resolution.packages().iter();
        let mut bound: BTreeMap<&PackageName, &[BoundRequirement]> = packages
            .map(|package| (&package.name, package.requires.as_slice()))
            .collect();
        let names = self.wanted.iter().map(|Release { name, .. }| name);
        bound.extend(names.zip(asked.iter().map(|root| root.requires.as_slice())));
        let mut required = BTreeSet::new();
        while let Some(requirements) = open.pop() {
            for requirement in requirements {
                if required.insert(&requirement.package) {
                    open.extend(bound.get(&requirement.package).copied());
                }
            }
        }
        let mut names = self
            .wanted
            .iter()
            .map(|Release { name, .. }| name)
            .chain(&self.asked);
        let dropped = names.find(|name| !required.contains(name));
        dropped.map_or(NotCertified::Possible, |name| {
            NotCertified::Dropped(name.clone())
        })
    }

    fn restrict(&mut self, package: &PackageName, versions: impl IntoIterator<Item = Version>) {
        let versions = versions.into_iter().collect();
        self.candidates.insert(package.clone(), versions);
    }

    /// Searches, and certifies that the answer is "no". `search` runs a solver to its first verdict, and `supply`
    /// returns the releases that registries have of packages. It is called only for packages that the proof is about.
    ///
    /// # Errors
    ///
    /// The outer error comes from `search` or `supply`. The inner error means that there is no certificate: the answer
    /// is "yes", or the proof uses something that certificates do not contain.
    pub fn refute<E>(
        &self,
        search: impl FnOnce(&mut Resolver) -> Result<Step, E>,
        mut supply: impl FnMut(&[PackageName]) -> Result<Vec<Supply>, E>,
    ) -> Result<Result<Certificate, NotCertified>, E> {
        let mut request = self.request.clone();
        for Release { name, version } in &self.wanted {
            let known = request.host_releases.iter().cloned();
            let known: Vec<IndexRecord> = known.filter(|record| record.name == *name).collect();
            let releases = if known.is_empty() {
                let supplies = supply(std::slice::from_ref(name))?;
                supplies
                    .into_iter()
                    .flat_map(Supply::into_records)
                    .collect()
            } else {
                known
            };
            let mut releases = releases.into_iter();
            let Some(record) = releases.find(|record| record.version == *version) else {
                return Ok(Err(NotCertified::Step("a release that is gone")));
            };
            request.roots.push(Root::Package(Box::new(record)));
        }
        request
            .options
            .allowed_versions
            .clone_from(&self.candidates);
        let mut resolver = Resolver::new(request.clone());
        let derivation = match search(&mut resolver)? {
            Step::Impossible => resolver.take_evidence().derivation,
            Step::Solved(resolution) => return Ok(Err(self.answered(&resolution))),
            _ => return Ok(Err(NotCertified::TooLarge)),
        };
        let Some(derivation) = derivation else {
            return Ok(Err(NotCertified::NoDerivation));
        };
        let packages = packages_of(&derivation);
        let supplies = supply(&packages)?;
        let releases = supplies.into_iter().map(Supply::into_records);
        let records: BTreeMap<PackageName, Vec<IndexRecord>> =
            packages.into_iter().zip(releases).collect();
        Ok(Universe::new(&request, &records).and_then(|universe| {
            let claim = Claim::new(&self.request, Tiers::First, self.verdict.clone());
            certify(&universe, &claim, &derivation)
        }))
    }
}
