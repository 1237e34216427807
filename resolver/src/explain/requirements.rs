//! Requirements of releases and objects, and goals of an update, as reasons.

use std::fmt::Write as _;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ObjectId, ReleaseSource, Spec, Version, VersionSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{Reason, ReasonKind, reason_about};
use super::phrases::Subject;
use super::violations::ViolationGroups;
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, ReleaseRequirement, Universe};

/// The releases that spell a requirement in the same way.
#[derive(Debug, Clone)]
pub(super) struct Spelling {
    /// The releases, ascending.
    pub(super) releases: Vec<ReleaseId>,
    spec: Spec,
    location: Option<Location>,
    /// Whether it is implied: every package requires the core library.
    is_implied: bool,
}

/// The spellings of the requirements of packages, by package. A package can have as many facts as
/// releases, so its releases are read once for all of them.
#[derive(Debug, Default)]
pub(super) struct Spellings(FxHashMap<PackageId, SpellingsOfPackage>);

/// The spellings of the requirements of a package, by the package that is required and what is
/// allowed. Nearly always there is one, so that a list of them, in the order of the specs, takes a
/// tenth of the memory of a map.
type SpellingsOfPackage = FxHashMap<(PackageId, PositionSet), Vec<Spelling>>;

impl Spellings {
    /// The spellings of the requirements of a package on another one that allow exactly these
    /// versions, in the order of their specs.
    pub(super) fn of(
        &mut self,
        universe: &mut Universe,
        owner: PackageId,
        target: PackageId,
        allowed: &PositionSet,
    ) -> &[Spelling] {
        let of_owner = self.0.entry(owner);
        let of_owner = of_owner.or_insert_with(|| spellings_of_package(universe, owner));
        let key = (target, allowed.clone());
        of_owner.get(&key).map(Vec::as_slice).unwrap_or_default()
    }
}

fn spellings_of_package(universe: &mut Universe, owner: PackageId) -> SpellingsOfPackage {
    let mut spellings = SpellingsOfPackage::default();
    for release in universe.catalog.candidate_releases(owner) {
        let details = universe.details(release);
        let mut seen: FxHashSet<PackageId> = FxHashSet::default();
        for stated in &details.requirements {
            let target = stated.package;
            if !seen.insert(target) || !universe.catalog.is_delivered(target) {
                continue;
            }
            let key = (target, universe.allowed(stated));
            let spec = stated.manifest_spec.as_ref().unwrap_or(&stated.spec);
            let by_spec: &mut Vec<Spelling> =
                (spellings.entry(key)).or_insert_with(|| Vec::with_capacity(1));
            let written = spec.written();
            let found = by_spec.binary_search_by(|spelling| spelling.spec.written().cmp(written));
            let at = found.unwrap_or_else(|at| {
                let spelling = Spelling {
                    releases: Vec::new(),
                    spec: spec.clone(),
                    location: stated.location.clone(),
                    is_implied: stated.is_implied,
                };
                by_spec.insert(at, spelling);
                at
            });
            by_spec[at].is_implied &= stated.is_implied;
            by_spec[at].releases.push(release);
        }
    }
    spellings
}

/// The requirements of a package on another one that allow exactly these versions: one reason for
/// each spelling.
pub(super) fn requirements(
    universe: &mut Universe,
    (owner, target, allowed): (PackageId, PackageId, &PositionSet),
    reported: &PositionSet,
    spellings: &mut Spellings,
) -> Vec<Reason> {
    let spellings = spellings.of(universe, owner, target, allowed).iter();
    let spellings = spellings.filter_map(|spelling| {
        let mut releases = spelling.releases.clone();
        releases.retain(|release| reported.contains(release.index));
        (!releases.is_empty()).then_some((releases, spelling))
    });
    let overriding = universe.catalog.policy().overriding(target).cloned();
    let package = universe.catalog.name(target).clone();
    let mut reasons: Vec<Reason> = spellings
        .map(|(releases, spelling)| {
            let Spelling {
                spec,
                location,
                is_implied,
                ..
            } = spelling;
            let describe = |subject: &Subject| {
                let requires = subject.verb("requires", "require");
                let mut text = format!("{} {requires} {package} {spec}", subject.text);
                if *is_implied {
                    text.push_str(" (implied)");
                }
                if let Some(overriding) = &overriding {
                    let overriding = overriding.in_words();
                    text.push_str(&format!(", which is overridden with {overriding}"));
                }
                let kind = ReasonKind::Requires {
                    package: package.clone(),
                    spec: spec.written().to_owned(),
                    overridden_by: overriding.as_ref().map(ToString::to_string),
                    is_implied: *is_implied,
                };
                (text, kind)
            };
            Reason {
                location: location.clone(),
                ..reason_about(universe, owner, &releases, describe)
            }
        })
        .collect();
    reasons.sort_by(|one, two| one.versions.cmp(&two.versions));
    reasons
}

/// The requirements of objects on a package that allow exactly these versions. If some of the
/// objects violate contracts in the same conflict, only those are reported.
pub(super) fn object_requirements(
    universe: &mut Universe,
    root: PackageId,
    (target, allowed): (PackageId, &PositionSet),
    violations: &ViolationGroups,
) -> Vec<Reason> {
    let details = universe.details(ReleaseId {
        package: root,
        index: 0,
    });
    let stated = details.requirements.iter().filter_map(|stated| {
        let matches = stated.package == target && universe.allowed(stated) == *allowed;
        Some((stated, stated.object?)).filter(|_| matches)
    });
    let mut of_objects: Vec<(&ReleaseRequirement, (ObjectId, ClassId))> = stated.collect();
    let is_named =
        |(_, (object, _)): &(&ReleaseRequirement, (ObjectId, ClassId))| violations.mention(*object);
    if of_objects.iter().any(is_named) {
        of_objects.retain(is_named);
    }
    let model = (universe.catalog)
        .model()
        .expect("only models require")
        .clone();
    let package = universe.catalog.name(target).clone();
    let mut reasons = Vec::new();
    for (stated, (object, class)) in of_objects {
        let (shown, spec) = (model.shown(object), &stated.spec);
        let definers = universe.catalog.definers(target, class);
        let versions = universe.catalog.versions_in(target, spec);
        // The missing class is the reason only if such a version exists.
        let text = if allowed.is_empty() && !versions.is_empty() && versions.is_disjoint(&definers)
        {
            let class = universe.catalog.class_name(class);
            let versions = if *spec == Spec::any() {
                format!("a version of {package}")
            } else {
                format!("a {package} {spec}")
            };
            format!("the object {shown} needs {versions} that defines the class {class}")
        } else {
            let spec = Some(spec).filter(|spec| *spec.set() != VersionSet::all());
            let spec = spec.map(|spec| format!(" {spec}")).unwrap_or_default();
            format!("the object {shown} needs {package}{spec}")
        };
        let kind = ReasonKind::Requires {
            package: package.clone(),
            spec: spec.written().to_owned(),
            overridden_by: None,
            is_implied: false,
        };
        reasons.push(Reason {
            location: stated.location.clone(),
            ..Reason::new(kind, text)
        });
    }
    reasons
}

/// The reason that versions of a package were requested, or that they are locked.
pub(super) fn goal_reason(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Reason {
    let dropping = dropped_by(problem, fact, package);
    let (universe, goals) = (&*problem.universe, problem.goals());
    let goal = goals.goal(package);
    let is_wanted = matches!(fact, Fact::Wanted { .. });
    let name = universe.catalog.name(package);
    let listed = |versions: &[Version]| {
        let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
        texts.join(", ")
    };
    let (kind, versions, allowed, mut text) = if let Some(goal) = goal.filter(|_| is_wanted) {
        let versions = goal.versions.clone();
        let mut text = format!("{name} {} was requested", listed(&versions));
        let dropped_by = dropping.map(|release| {
            let other = universe.catalog.named_version(release);
            let _ = write!(text, ", and {other} would drop {name}");
            other
        });
        let kind = ReasonKind::Wanted { dropped_by };
        (kind, versions, &goal.allowed, text)
    } else {
        let mut versions = universe.catalog.locked_versions(package).to_vec();
        versions.sort();
        versions.dedup();
        let text = format!("{name} is locked at {}", listed(&versions));
        (ReasonKind::Stays, versions, &goals.stays[&package], text)
    };
    if allowed.is_empty() {
        if universe.catalog.source(package) == Some(&ReleaseSource::Host) {
            let supplied = universe.catalog.candidate_releases(package);
            let supplied = supplied
                .into_iter()
                .map(|release| universe.catalog.version(release));
            let supplied: Vec<String> = supplied.map(ToString::to_string).collect();
            text.push_str(&format!(", and the host supplies {}", supplied.join(", ")));
        } else {
            text.push_str(", and there is no such version");
        }
    }
    Reason {
        owner: Some(name.clone()),
        versions,
        ..Reason::new(kind, text)
    }
}

/// A release that would remove a requested package: of a package that requires it in another version, or else one that
/// leads to other packages in another version. `None` if other packages have to stay.
fn dropped_by(problem: &mut Problem<'_>, fact: &Fact, package: PackageId) -> Option<ReleaseId> {
    let goal = problem.goals().goal(package)?;
    let is_wanted = matches!(fact, Fact::Wanted { .. }) && goal.is_needed();
    if !is_wanted || !problem.goals().stays.is_empty() {
        return None;
    }
    // All of a resolution without the requested package.
    let reached = goal.loop_nogoods.first()?.reached.clone();
    let packages: FxHashSet<PackageId> = reached.iter().map(|release| release.package).collect();
    let universe = &mut *problem.universe;
    let mut find = |is_outside: &dyn Fn(PackageId) -> bool| {
        let mut reached = reached.iter().copied();
        reached.find(|release| may_require(universe, release.package, is_outside))
    };
    find(&|target| target == package).or_else(|| find(&|target| !packages.contains(&target)))
}

/// Whether a candidate of a package requires one of some packages.
fn may_require(
    universe: &mut Universe,
    package: PackageId,
    is_one: &dyn Fn(PackageId) -> bool,
) -> bool {
    let candidates = universe.catalog.candidate_releases(package);
    let mut requirements = Vec::new();
    candidates.into_iter().any(|release| {
        universe.requirements(release, &mut requirements);
        requirements
            .iter()
            .any(|requirement| is_one(requirement.target))
    })
}
