//! The loops that join registries with the solver.
//!
//! The solver does no input or output: a [`Resolver`], a [`LockCheck`] and a [`ModelPlan`] name what they need
//! to know and continue once they have it. Each function here is the loop around one of them. They block while a
//! registry answers; [`drive_async`](fn@crate::drive_async) does not.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, PackageName, ReadOptions, RegistryName, Release, ReleaseSource};
#[cfg(feature = "index")]
use pkgres_resolver::Staleness;
use pkgres_resolver::{
    ClassRules, Conflict, Definers, Evidence, LockCheck, LockReport, LockedArtifacts, ModelPlan,
    Outcome, PlannedModel, ReasonKind, Repairs, Request, Resolution, ResolvedOwner, Resolver, Root,
    Step, Supply, WrongModel, find_repairs,
};

use crate::registry_error::RegistryError;
use crate::set::RegistrySet;

/// The outcome of a request. The list is complete, so a `match` needs no wildcard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// There is a valid resolution.
    Solved(Box<Resolution>),
    /// There is no valid resolution: a proof.
    Conflict(Box<Conflict>),
    /// The solver used up its steps; see [`Step::GaveUp`].
    GaveUp {
        /// The number of steps taken.
        steps: u64,
    },
    /// The solver was [cancelled](pkgres_resolver::Cancellation).
    Cancelled,
}

impl Answer {
    /// The outcome that a step reports, if it reports one.
    pub(crate) fn of(step: Step) -> Result<Option<Self>, RegistryError> {
        Ok(match step {
            Step::Solved(resolution) => Some(Self::Solved(resolution)),
            Step::Conflict(conflict) => Some(Self::Conflict(conflict)),
            Step::GaveUp { steps } => Some(Self::GaveUp { steps }),
            Step::Cancelled => Some(Self::Cancelled),
            Step::Unanswered(names) => return Err(RegistryError::Unanswered(names)),
            // The next step reports why there is no resolution.
            _ => None,
        })
    }
}

/// Runs a solver to its end with the releases of some registries. Blocks while a registry answers.
///
/// `options` apply to the classes of packages, which are read for object models only. If a registry has
/// [drafts](crate::Registry::has_drafts), the classes of chosen releases may be unknown: use [`solve`] then.
///
/// # Errors
///
/// A registry cannot be read. Nothing is lost: the call can be repeated with the same solver.
pub fn drive(
    resolver: &mut Resolver,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Answer, RegistryError> {
    registries.attach_to(resolver)?;
    resolver.ask_again();
    loop {
        if let Some(answer) = Answer::of(drive_to_verdict(resolver, registries, options)?)? {
            return Ok(answer);
        }
    }
}

/// Solves a request with the releases of some registries. Blocks while a registry answers.
///
/// Unlike [`drive`] it makes sure that no release of the answer is a [draft](crate::Registry::has_drafts): it completes
/// those of an answer and solves again, until there are none. As a draft allows more than the whole record, a conflict
/// is one with whole records, too. It cannot be cancelled, because it makes its solvers itself.
///
/// # Errors
///
/// A registry cannot be read.
pub fn solve(
    request: Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Answer, RegistryError> {
    let (answer, _) = solve_with_evidence(request, registries, options)?;
    Ok(answer)
}

/// Like [`solve`], but also returns the evidence that there is no resolution, if the options of the request
/// [ask for it](pkgres_resolver::SolveOptions::record_derivation).
///
/// # Errors
///
/// A registry cannot be read.
pub fn solve_with_evidence(
    request: Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<(Answer, Evidence), RegistryError> {
    let drafts = drafts(&request, registries);
    solve_with(drafts, registries, options, move |_| {
        Ok(Resolver::new(request.clone()))
    })
}

/// What drafts mean for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drafts {
    /// There are none, or none matters.
    None,
    /// Those that releases with classes require have to be completed.
    BelowReleases,
    /// Those that the roots require as well.
    BelowRoots,
}

fn drafts(request: &Request, registries: &RegistrySet) -> Drafts {
    if request.options.classes == ClassRules::Ignored || !registries.has_drafts() {
        return Drafts::None;
    }
    if request.roots.iter().any(Root::has_classes) {
        Drafts::BelowRoots
    } else {
        Drafts::BelowReleases
    }
}

/// Solves with solvers from `start`, of which another one starts after drafts were completed.
fn solve_with(
    drafts: Drafts,
    registries: &RegistrySet,
    options: &ReadOptions,
    start: impl Fn(&RegistrySet) -> Result<Resolver, RegistryError>,
) -> Result<(Answer, Evidence), RegistryError> {
    if drafts == Drafts::None {
        let mut resolver = start(registries)?;
        let answer = drive(&mut resolver, registries, options)?;
        return Ok((answer, resolver.take_evidence()));
    }
    let roots_have_classes = drafts == Drafts::BelowRoots;
    loop {
        let mut resolver = start(registries)?;
        let answer = drive(&mut resolver, registries, options)?;
        let evidence = resolver.take_evidence();
        let is_more_known = match &answer {
            Answer::Solved(resolution) => {
                registries.complete(&related(resolution, roots_have_classes))?
            }
            // The conflict is proved, and only its hints may change: what cannot be read is no error.
            Answer::Conflict(conflict) => registries
                .complete(&unnamed_prereleases(conflict))
                .unwrap_or(false),
            Answer::GaveUp { .. } | Answer::Cancelled => false,
        };
        if !is_more_known {
            return Ok((answer, evidence));
        }
    }
}

/// Finds every cheapest repair of a conflict that a request ended in. Blocks while a registry answers.
///
/// # Errors
///
/// A registry cannot be read.
pub fn repairs(
    request: &Request,
    conflict: &Conflict,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Repairs, RegistryError> {
    let drafts = drafts(request, registries);
    find_repairs(request, conflict, |trial| {
        let (answer, _) = solve_with(drafts, registries, options, |registries| {
            let mut resolver = trial.resolver();
            let names: Vec<PackageName> = trial.rewritten_packages().cloned().collect();
            let supplies = registries.supply_locked(&names, resolver.locked_artifacts())?;
            for (name, mut supply) in names.iter().zip(supplies) {
                if let Supply::Releases { records, .. } = &mut supply {
                    for record in records {
                        trial.rewrite(record);
                    }
                }
                resolver.provide(name, supply)?;
            }
            Ok(resolver)
        })?;
        Ok(match answer {
            Answer::Solved(resolution) => Outcome::Solved(resolution),
            Answer::Conflict(conflict) => Outcome::Conflict(conflict),
            Answer::GaveUp { .. } | Answer::Cancelled => Outcome::Unknown,
        })
    })
}

/// The releases of a resolution that class rules are about: each requires another one, or something with classes
/// requires it.
fn related(resolution: &Resolution, roots_have_classes: bool) -> Vec<(&RegistryName, Release)> {
    let mut required = BTreeSet::new();
    for owner in resolution.owners() {
        if roots_have_classes || matches!(owner, ResolvedOwner::Package(_)) {
            let bound = owner.requires().iter();
            required.extend(bound.map(|one| (&one.package, &one.version)));
        }
    }
    let packages = resolution.packages().iter();
    packages
        .filter(|package| {
            !package.requires.is_empty() || required.contains(&(&package.name, &package.version))
        })
        .filter_map(|package| match &package.source {
            ReleaseSource::Registry(registry) => Some((registry, package.release())),
            _ => None,
        })
        .collect()
}

/// The prereleases that a conflict excludes only because no requirement names them: whether naming them would help depends
/// on their classes.
fn unnamed_prereleases(conflict: &Conflict) -> Vec<(&RegistryName, Release)> {
    let mut releases = Vec::new();
    for reason in &conflict.reasons {
        if let (
            ReasonKind::UnnamedPrerelease,
            Some(name),
            Some(ReleaseSource::Registry(registry)),
        ) = (&reason.kind, &reason.owner, &reason.source)
        {
            let versions = reason.versions.iter();
            releases.extend(
                versions.map(|version| (registry, Release::new(name.clone(), version.clone()))),
            );
        }
    }
    releases
}

/// Runs a solver until a step reports anything but missing packages.
///
/// Unlike [`drive`] it stops as soon as it is proved that there is no resolution, before the reason is worked
/// out: a caller that needs only the verdict saves that time. It does not
/// [attach](RegistrySet::attach_to) the indexes of the registries.
///
/// # Errors
///
/// A registry cannot be read.
pub fn drive_to_verdict(
    resolver: &mut Resolver,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Step, RegistryError> {
    loop {
        match resolver.step() {
            Step::Need(names) => {
                if !resolver.needs_dates()
                    && let Some((source, index)) = registries.prepared(&names)?
                {
                    resolver.attach(source, index)?;
                    continue;
                }
                let supplies = registries.supply_locked(&names, resolver.locked_artifacts())?;
                for (name, supply) in names.iter().zip(supplies) {
                    resolver.provide(name, supply)?;
                }
            }
            Step::NeedClasses(releases) => {
                for Release { name, version } in releases {
                    let package = registries.package(&name, &version, options)?;
                    resolver.provide_classes(&name, &version, package)?;
                }
            }
            step => return Ok(step),
        }
    }
}

/// Checks a lockfile against registries, without searching. `options` limit what is read of artifacts whose digests
/// differ, which can be the same content in another form.
///
/// # Errors
///
/// A registry cannot be read.
#[cfg_attr(
    not(feature = "index"),
    expect(unused_variables, reason = "only artifacts are read with options")
)]
pub fn check_lock(
    mut check: LockCheck,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<LockReport, RegistryError> {
    for (source, index) in registries.compiled()? {
        check.attach(source, index);
    }
    if registries.has_drafts() {
        registries.complete(&check.related_releases())?;
    }
    let names = check.needs();
    let locked = if names.is_empty() {
        LockedArtifacts::new()
    } else {
        check.locked_artifacts()
    };
    let supplies = registries.supply_locked(&names, &locked)?;
    for (name, supply) in names.iter().zip(supplies) {
        check.provide(name, supply)?;
    }
    #[cfg_attr(
        not(feature = "index"),
        expect(unused_mut, reason = "only artifacts change it")
    )]
    let mut report = check.report();
    #[cfg(feature = "index")]
    report
        .stale
        .retain(|entry| !is_same_content(entry, registries, options));
    Ok(report)
}

/// Whether a digest differs only because the same content is in another form now.
#[cfg(feature = "index")]
fn is_same_content(entry: &Staleness, registries: &RegistrySet, options: &ReadOptions) -> bool {
    let Staleness::DigestDiffers {
        locked: Some(locked),
        found: Some(found),
        ..
    } = entry
    else {
        return false;
    };
    registries.have_equal_content(locked, found, options)
}

/// The result of [`finish_plan`].
#[derive(Debug)]
pub enum FinishedPlan {
    /// The requirements of the objects.
    Planned(PlannedModel),
    /// The errors in the model.
    Wrong(WrongModel),
}

/// Completes the plan of an object model with what registries know.
///
/// # Errors
///
/// A registry cannot be read.
pub fn finish_plan(
    plan: ModelPlan,
    registries: &RegistrySet,
) -> Result<FinishedPlan, RegistryError> {
    let mut definers = BTreeMap::new();
    for class in plan.needed_classes() {
        let found = definers_of(&class, &plan, registries)?;
        definers.insert(class, found);
    }
    let plan = plan.with_definers(definers);
    let names: Vec<PackageName> = plan.needed_packages().into_iter().collect();
    let supplies = registries.supply(&names)?;
    let releases = supplies.into_iter().map(Supply::into_records);
    let planned = plan.with_releases(names.into_iter().zip(releases).collect());
    Ok(planned.map_or_else(FinishedPlan::Wrong, FinishedPlan::Planned))
}

/// The packages that define a class, of several only those that [can be meant](ModelPlan::eligible).
fn definers_of(
    class: &ClassName,
    plan: &ModelPlan,
    registries: &RegistrySet,
) -> Result<Definers, RegistryError> {
    let packages = registries.defining(class)?;
    if packages.is_empty() {
        let similar = registries.similar_class(class)?;
        return Ok(Definers::Nobody { similar });
    }
    if packages.len() == 1 {
        return Ok(Definers::Packages(packages.into_iter().collect()));
    }
    let names: Vec<PackageName> = packages.into_iter().collect();
    let supplies = registries.supply(&names)?;
    let releases = supplies.into_iter().map(Supply::into_records);
    let defining = names.into_iter().zip(releases).collect();
    Ok(Definers::Packages(plan.eligible(class, &defining)))
}
