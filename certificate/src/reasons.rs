//! Certificates for the reasons of a conflict: they are enough, and none of them can be left out.
//!
//! # Problem
//!
//! Users who change something because a conflict names it rely on more than "there is no resolution": the reasons shown
//! must be enough for the conflict, and each of them must be necessary.
//!
//! # Idea
//!
//! The problem has what is true of any selection of releases, and the inequalities that each reason states. It has no
//! solution, but for each reason, there is a solution of the problem without that reason. Except for the reasons, no
//! result of the search is used: [`decision`](crate::decision) finds the proof and the solutions anew. The problem is
//! as small as the printed conflict.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Release, Version};
use pkgres_resolver::{Conflict, InheritingClass, Reason, ReasonKind, Request, UpdateTarget};

use crate::claim::{Claim, ClaimedReason, Tiers, Verdict};
use crate::decision::{Decider, Decision, MOST_LITERALS, demonstration, refutation};
use crate::encoding::hierarchy::ClassIn;
use crate::encoding::{Groups, classes, hierarchy, requirement, requirement_row};
use crate::formula::{Formula, Row};
use crate::scope::Scope;
use crate::universe::{Candidate, Universe};
use crate::{Certificate, NotCertified, WithoutReason, description};

/// The rule that [`certify_reasons`] does not state.
const SPLIT_UPDATE: &str = "an update of a package with several releases";

/// Another rule that [`certify_reasons`] does not state: whatever requires a package can be any package of a registry.
const REACHED: &str = "a package that was asked for has to be required by another one";

/// The certificate that the reasons of a conflict suffice, and that none of them can be left out.
///
/// `records` are the releases that registries have; see [`unknown_packages`] for which are needed.
///
/// # Errors
///
/// A reason is of a kind that certificates do not contain, or the reasons do not suffice or are not all needed.
pub fn certify_reasons(
    request: &Request,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    conflict: &Conflict,
) -> Result<Certificate, NotCertified> {
    if !conflict.is_minimal {
        return Err(NotCertified::NotMinimal);
    }
    let request = without_update(request);
    let universe = Universe::new(&request, records)?;
    let rules = rules_of(&request, conflict)?;
    let tiers = if request.options.single_version {
        Tiers::First
    } else {
        Tiers::Both
    };
    let scope = scope(&universe, &rules, tiers);
    let (formula, ranges) = problem(&universe, &rules, &scope)?;
    let literals: usize = formula.rows().iter().map(|row| row.literals.len()).sum();
    if literals > MOST_LITERALS {
        return Err(NotCertified::TooLarge);
    }
    let mut decider = Decider::new(&formula);
    let lines = formula.lines();
    let proof = match decider.decide(&(0..0)) {
        Decision::Unsatisfiable(steps, count) => refutation(formula.rows().len(), &steps, count),
        Decision::Satisfiable(_) if is_about_dropping(conflict) => {
            return Err(NotCertified::Rule(REACHED));
        }
        Decision::Satisfiable(_) => {
            return Err(NotCertified::Step("the reasons as they are shown"));
        }
        Decision::Unknown => return Err(NotCertified::TooLarge),
    };
    let mut without = Vec::new();
    let stated = (1..).zip(&ranges).filter(|(_, range)| !range.is_empty());
    for (number, range) in stated {
        match decider.decide(range) {
            Decision::Satisfiable(values) => without.push(WithoutReason {
                number,
                problem: lines.without(range),
                proof: demonstration(&formula, range, &values),
            }),
            Decision::Unsatisfiable(..) => return Err(NotCertified::NotNeeded(number)),
            Decision::Unknown => return Err(NotCertified::TooLarge),
        }
    }
    let reasons = conflict.reasons.iter().zip(ranges);
    let reasons = reasons.map(|(reason, range)| ClaimedReason {
        text: reason.text.clone(),
        constraints: (!range.is_empty()).then(|| range.start + 1..=range.end),
    });
    let claim = Claim::new(&request, tiers, Verdict::Reasons(reasons.collect()));
    Ok(Certificate {
        problem: lines.without(&(0..0)),
        names: description::write(&claim, &formula),
        proof,
        without,
    })
}

/// Whether a conflict is that releases would drop a package that was asked for.
fn is_about_dropping(conflict: &Conflict) -> bool {
    let mut kinds = conflict.reasons.iter().map(|reason| &reason.kind);
    kinds.any(|kind| matches!(kind, ReasonKind::Wanted { dropped_by } if dropped_by.is_some()))
}

/// The packages whose releases [`certify_reasons`] needs and that are not among the records.
pub fn unknown_packages(
    request: &Request,
    records: &BTreeMap<PackageName, Vec<IndexRecord>>,
    conflict: &Conflict,
) -> Vec<PackageName> {
    let request = without_update(request);
    let Ok(universe) = Universe::new(&request, records) else {
        return Vec::new();
    };
    let scope = rules_of(&request, conflict).map(|rules| scope(&universe, &rules, Tiers::First));
    let mut packages = scope.map(|scope| scope.packages).unwrap_or_default();
    packages.retain(|package| !universe.candidates.contains_key(package));
    packages.into_iter().collect()
}

/// A request without its update. The versions that it asks for stay candidates.
fn without_update(request: &Request) -> Request {
    let mut request = request.clone();
    for (name, package) in request.update.take().unwrap_or_default().packages {
        if let UpdateTarget::Exactly(version) = package.to {
            request.locked.kept.insert(Release::new(name, version));
        }
    }
    request
}

/// What a reason says about releases.
enum Rule<'reason> {
    /// Releases require a package.
    Requires(Releases<'reason>, &'reason PackageName),
    /// Releases extend a class.
    Class(Releases<'reason>, ClassName),
    /// Classes of releases extend each other.
    OwnCycle(Releases<'reason>),
    /// Classes inherit from each other along paths.
    Inherits(&'reason [Vec<InheritingClass>]),
    /// If the package is present, it is so in one of these versions.
    Restricts(Releases<'reason>),
    /// The package is present in one of these versions.
    Demands(Releases<'reason>),
    /// It says which releases a rule about a class is about.
    Explains,
}

/// Some versions of a package.
#[derive(Clone, Copy)]
struct Releases<'reason> {
    package: &'reason PackageName,
    versions: &'reason [Version],
}

impl Releases<'_> {
    /// The candidates among them.
    fn candidates<'universe>(
        &self,
        universe: &'universe Universe,
    ) -> impl Iterator<Item = &'universe Candidate> {
        let candidates = universe.of(self.package).iter();
        candidates.filter(|candidate| self.versions.contains(&candidate.version))
    }
}

fn rules_of<'reason>(
    request: &Request,
    conflict: &'reason Conflict,
) -> Result<Vec<Rule<'reason>>, NotCertified> {
    let reasons = conflict.reasons.iter();
    reasons.map(|reason| rule_of(request, reason)).collect()
}

fn rule_of<'reason>(
    request: &Request,
    reason: &'reason Reason,
) -> Result<Rule<'reason>, NotCertified> {
    let owner = || {
        let package = reason.owner.as_ref().ok_or(NotCertified::Model)?;
        let versions = &reason.versions;
        Ok::<Releases<'_>, NotCertified>(Releases { package, versions })
    };
    Ok(match &reason.kind {
        ReasonKind::Requires { package, .. } => Rule::Requires(owner()?, package),
        ReasonKind::Extends { class } | ReasonKind::Uses { class } => {
            Rule::Class(owner()?, class.clone())
        }
        ReasonKind::Implements { interface } => Rule::Class(owner()?, interface.of_interface()),
        ReasonKind::OwnCycle => Rule::OwnCycle(owner()?),
        ReasonKind::Inherits { paths } => Rule::Inherits(paths),
        ReasonKind::Wanted { .. } if has_to_be_present(request, owner()?)? => {
            Rule::Demands(owner()?)
        }
        ReasonKind::Wanted { .. } | ReasonKind::Stays => Rule::Restricts(owner()?),
        ReasonKind::Lacks { .. } | ReasonKind::LacksInterface { .. } => Rule::Explains,
        ReasonKind::UnnamedPrerelease => {
            return Err(NotCertified::Prereleases);
        }
        ReasonKind::Contract { .. } | ReasonKind::Value { .. } => return Err(NotCertified::Model),
    })
}

/// Whether an update demands a package, rather than restricting its versions: it does if the package is locked. A version
/// that does not exist is demanded as well.
fn has_to_be_present(request: &Request, wanted: Releases<'_>) -> Result<bool, NotCertified> {
    let locked = request.locked.bound();
    let locked: BTreeSet<&Version> = locked
        .filter(|(name, _)| *name == wanted.package)
        .map(|(_, version)| version)
        .collect();
    if locked.len() > 1 {
        return Err(NotCertified::Rule(SPLIT_UPDATE));
    }
    Ok(!locked.is_empty())
}

/// The name of a class on a path, as releases define it.
fn name_of(class: &InheritingClass) -> ClassName {
    if class.is_interface {
        class.class.of_interface()
    } else {
        class.class.clone()
    }
}

/// Paths of classes as part of the hierarchy: each class on a path extends the next one, in the versions that are named.
struct Paths<'reason>(&'reason [Vec<InheritingClass>]);

impl hierarchy::Part for Paths<'_> {
    fn has(&self, class: ClassIn<'_>, parent: ClassIn<'_>) -> bool {
        let is_at = |place: &InheritingClass, (class, package, version): ClassIn<'_>| {
            place.package == *package
                && place.versions.contains(version)
                && name_of(place) == *class
        };
        let mut steps = self.0.iter().flat_map(|path| path.windows(2));
        steps.any(|step| is_at(&step[0], class) && is_at(&step[1], parent))
    }

    /// That a required package is there at all is what the requirements state.
    fn passes_absent(&self) -> bool {
        false
    }

    /// A cycle is one path.
    fn forbids_cycles(&self) -> bool {
        self.0.len() == 1
    }

    fn forbids_diamonds(&self) -> bool {
        self.0.len() == 2
    }
}

/// The candidates at the places of paths, with their packages.
fn on_paths<'reason, 'universe>(
    universe: &'universe Universe,
    paths: &'reason [Vec<InheritingClass>],
) -> impl Iterator<Item = (&'reason PackageName, &'universe Candidate)> {
    paths.iter().flatten().flat_map(|class| {
        let releases = Releases {
            package: &class.package,
            versions: &class.versions,
        };
        let candidates: Vec<&Candidate> = releases.candidates(universe).collect();
        candidates
            .into_iter()
            .map(|candidate| (&class.package, candidate))
    })
}

/// The packages that the rules are about, and the requirements among them that rules use.
fn scope(universe: &Universe, rules: &[Rule<'_>], tiers: Tiers) -> Scope {
    let mut scope = Scope::default();
    scope.packages.extend(universe.roots.iter().cloned());
    // Classes are looked up in what a release requires.
    let look_up = |scope: &mut Scope, owner: &PackageName, candidate: &Candidate| {
        for (package, _) in &candidate.requirements {
            scope.packages.insert(package.clone());
            scope.requirements.insert((owner.clone(), package.clone()));
        }
    };
    for rule in rules {
        match rule {
            Rule::Requires(owner, target) => {
                scope
                    .packages
                    .extend([owner.package, *target].map(Clone::clone));
                scope
                    .requirements
                    .insert((owner.package.clone(), (*target).clone()));
            }
            Rule::Class(owner, _) => {
                scope.packages.insert(owner.package.clone());
                for candidate in owner.candidates(universe) {
                    look_up(&mut scope, owner.package, candidate);
                }
            }
            Rule::OwnCycle(owner) | Rule::Restricts(owner) | Rule::Demands(owner) => {
                scope.packages.insert(owner.package.clone());
            }
            Rule::Inherits(paths) => {
                let on_path = paths.iter().flatten().map(|class| class.package.clone());
                scope.packages.extend(on_path);
                for (package, candidate) in on_paths(universe, paths) {
                    look_up(&mut scope, package, candidate);
                }
            }
            Rule::Explains => {}
        }
    }
    let mut shared = match tiers {
        Tiers::First => BTreeSet::new(),
        Tiers::Both => scope.shared(universe),
    };
    while !shared.is_empty() {
        scope.split.extend(shared);
        shared = scope.shared(universe);
    }
    scope
}

/// The problem, and the inequalities that each rule states.
fn problem(
    universe: &Universe,
    rules: &[Rule<'_>],
    scope: &Scope,
) -> Result<(Formula, Vec<Range<usize>>), NotCertified> {
    let mut formula = Formula::default();
    let mut groups = Groups::new(universe, scope, &mut formula);
    for root in &universe.roots {
        for literal in groups.present(root) {
            formula.add(Row::clause([literal]));
        }
    }
    for (owner, target) in &scope.requirements {
        let all = universe.of(target).iter().map(|one| &one.version);
        let all: Vec<&Version> = all.collect();
        for candidate in universe.of(owner) {
            if requirement(candidate, target).is_some() {
                groups.bind(owner, candidate, target, &all, &mut formula, |_| {});
            }
        }
    }
    let mut ranges = Vec::new();
    for rule in rules {
        let from = formula.rows().len();
        state(universe, rule, scope, &groups, &mut formula)?;
        ranges.push(from..formula.rows().len());
    }
    Ok((formula, ranges))
}

/// Adds what a rule states.
fn state(
    universe: &Universe,
    rule: &Rule<'_>,
    scope: &Scope,
    groups: &Groups,
    formula: &mut Formula,
) -> Result<(), NotCertified> {
    match rule {
        Rule::Requires(owner, target) => {
            for candidate in owner.candidates(universe) {
                let Some(spec) = requirement(candidate, target) else {
                    continue;
                };
                let allowed = universe.allowed(target, spec);
                let release = groups.release(owner.package, &candidate.version);
                let binding = groups.binding(owner.package, candidate, target);
                let row = requirement_row(release, binding, &allowed);
                formula.add(row);
            }
        }
        Rule::Class(owner, class) => {
            for candidate in owner.candidates(universe) {
                if candidate.extensions().all(|(_, parent)| parent != class) || candidate.has(class)
                {
                    continue;
                }
                let row =
                    classes::class_row(universe, groups, (owner.package, candidate), class, |_| {
                        true
                    });
                formula.add(row.ok_or(NotCertified::Step("a class"))?);
            }
        }
        Rule::OwnCycle(owner) => {
            for candidate in owner.candidates(universe).filter(|one| one.has_cycle()) {
                let absent = groups.release(owner.package, &candidate.version).negated();
                formula.add(Row::clause([absent]));
            }
        }
        Rule::Inherits(paths) => {
            let mut of_paths = scope.clone();
            of_paths.hierarchy = paths.iter().flatten().map(name_of).collect();
            hierarchy::add(universe, &of_paths, groups, formula, &Paths(paths));
        }
        Rule::Demands(releases) => {
            if scope.split.contains(releases.package) {
                return Err(NotCertified::Rule(SPLIT_UPDATE));
            }
            let wanted = releases.candidates(universe);
            let wanted = wanted.map(|one| groups.release(releases.package, &one.version));
            formula.add(Row::clause(wanted));
        }
        Rule::Restricts(releases) => {
            if scope.split.contains(releases.package) {
                return Err(NotCertified::Rule(SPLIT_UPDATE));
            }
            for candidate in universe.of(releases.package) {
                if !releases.versions.contains(&candidate.version) {
                    let present = groups.release(releases.package, &candidate.version);
                    formula.add(Row::clause([present.negated()]));
                }
            }
        }
        Rule::Explains => {}
    }
    Ok(())
}
