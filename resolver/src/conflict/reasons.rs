//! Facts as reasons: which versions they hold for, where they are written, and a sentence.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ReleaseSource, Spec, VersionSet};

use rustc_hash::FxHashMap;

use crate::encoding::{Breach, Encoding, Fact};
use crate::universe::{ClassId, ClassTable, Missing, PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

use super::subject::{Subject, candidates};
use super::{Reason, ReasonKind, breaches};

/// The reasons that a fact amounts to, without the lines that are about no release among `told`.
/// Requirements on `clashing` are the ones that clash. Of [`breaches::alike`] only the first is told,
/// for all.
pub(super) fn of(
    encoding: &mut Encoding<'_>,
    fact: &Fact,
    told: &WordSet,
    clashing: Option<PackageId>,
    alike: &FxHashMap<u32, Vec<u32>>,
) -> Result<Vec<Reason>, Missing> {
    Ok(match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if are_demands(encoding.universe, *owner) => {
            demands(encoding.universe, *owner, *target, allowed, clashing)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => requirements(
            encoding.universe,
            (*owner, *target, allowed),
            told,
            clashing,
        ),
        Fact::Extends { owner, class } => extends(encoding, *owner, *class, told)?,
        Fact::OwnCycle { owner } => vec![breaches::own_circle(encoding.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![limit(encoding, fact, *package, clashing)]
        }
        Fact::Clause(number) => match &encoding.clauses()[*number as usize].breach {
            Breach::Contract(breach) => vec![breaches::contract(encoding.universe, breach)],
            Breach::Rule(_) => {
                let alike = alike.get(number).map(Vec::as_slice).unwrap_or_default();
                breaches::inheritance(encoding, alike).into_iter().collect()
            }
            Breach::Line => Vec::new(),
        },
    })
}

/// Whether what a package requires is what the objects of a model demand.
pub(super) fn are_demands(universe: &Universe, owner: PackageId) -> bool {
    universe.is_model(owner)
}

/// One way in which a requirement is written.
pub(super) struct Written {
    /// The releases that write it like this.
    pub(super) releases: Vec<ReleaseId>,
    spec: Spec,
    location: Option<Location>,
    /// Whether none of them writes it: every package requires the core library.
    is_implied: bool,
}

/// The ways in which requirements of a package on another one are written that allow exactly these
/// versions, by what is written.
pub(super) fn ways_of_writing(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    allowed: &WordSet,
) -> BTreeMap<String, Written> {
    let mut written: BTreeMap<String, Written> = BTreeMap::new();
    for release in candidates(universe, owner) {
        let details = universe.details(release);
        let Some(edge) = details.edges.iter().find(|edge| edge.package == target) else {
            continue;
        };
        if universe.allowed(edge) == *allowed {
            let requirement = &edge.requirement;
            let is_implied = universe.implies(release, target);
            let spec = edge.overridden.as_ref().unwrap_or(&requirement.spec);
            let way = written
                .entry(spec.written().to_owned())
                .or_insert_with(|| Written {
                    releases: Vec::new(),
                    spec: spec.clone(),
                    location: requirement.location.clone(),
                    is_implied,
                });
            way.is_implied &= is_implied;
            way.releases.push(release);
        }
    }
    written
}

/// The requirements of a package on another one that allow exactly these versions: one reason for
/// each way in which they are written.
fn requirements(
    universe: &mut Universe,
    (owner, target, allowed): (PackageId, PackageId, &WordSet),
    told: &WordSet,
    clashing: Option<PackageId>,
) -> Vec<Reason> {
    let mut written = ways_of_writing(universe, owner, target, allowed);
    written.retain(|_, way| {
        way.releases
            .iter()
            .any(|release| told.contains(release.index))
    });
    let overriding = universe.overriding(target).cloned();
    let package = universe.name(target).clone();
    let mut reasons: Vec<Reason> = written
        .into_values()
        .map(|way| {
            let Written {
                releases,
                spec,
                location,
                is_implied,
            } = way;
            let subject = Subject::new(universe, owner, &releases);
            let requires = subject.verb("requires", "require");
            let mut text = format!("{} {requires} {package} {spec}", subject.text);
            if is_implied {
                text.push_str(" (implied)");
            }
            if let Some(overriding) = &overriding {
                text.push_str(&format!(", which is overridden with {overriding}"));
            }
            Reason {
                text,
                kind: ReasonKind::Requires {
                    package: package.clone(),
                    spec: spec.written().to_owned(),
                    overridden_by: overriding.as_ref().map(ToString::to_string),
                    is_implied,
                },
                owner: universe.package_name(owner).cloned(),
                versions: subject.versions,
                every_version: subject.is_every_version,
                location,
                source: universe.source(owner).cloned(),
                clashes: clashing == Some(target),
            }
        })
        .collect();
    reasons.sort_by(|one, two| one.versions.cmp(&two.versions));
    reasons
}

/// What objects of a model demand of a package, where that is exactly these versions.
fn demands(
    universe: &mut Universe,
    root: PackageId,
    target: PackageId,
    allowed: &WordSet,
    clashing: Option<PackageId>,
) -> Vec<Reason> {
    let details = universe.details(ReleaseId {
        package: root,
        index: 0,
    });
    let model = universe.model().expect("only models demand").clone();
    let package = universe.name(target).clone();
    let mut reasons = Vec::new();
    for edge in details.edges.iter().filter(|edge| edge.package == target) {
        let Some((object, class)) = edge.object else {
            continue;
        };
        if universe.allowed(edge) != *allowed {
            continue;
        }
        let (shown, spec) = (model.shown(object), &edge.requirement.spec);
        let defining = universe.definers(target, class);
        let versions = universe.versions_in(target, spec);
        // That the class is missing is the reason only where there is such a version at all.
        let text = if allowed.is_empty() && !versions.is_empty() && versions.is_disjoint(&defining)
        {
            let class = universe.class_name(class);
            format!("the object {shown} needs a {package} {spec} that defines the class {class}")
        } else {
            let spec = Some(spec).filter(|spec| *spec.set() != VersionSet::all());
            let spec = spec.map(|spec| format!(" {spec}")).unwrap_or_default();
            format!("the object {shown} needs {package}{spec}")
        };
        reasons.push(Reason {
            text,
            kind: ReasonKind::Requires {
                package: package.clone(),
                spec: spec.written().to_owned(),
                overridden_by: None,
                is_implied: false,
            },
            owner: None,
            versions: Vec::new(),
            every_version: false,
            location: edge.requirement.location.clone(),
            source: None,
            clashes: clashing == Some(target),
        });
    }
    reasons
}

/// The candidates of a package of which a class extends a class of others.
pub(super) fn extending(
    universe: &mut Universe,
    owner: PackageId,
    class: ClassId,
) -> Vec<ReleaseId> {
    let mut releases = candidates(universe, owner);
    releases.retain(|release| {
        let extends = |table: &ClassTable| table.external.contains(&class);
        let details = universe.details(*release);
        details.classes.as_deref().is_some_and(extends)
    });
    releases
}

/// The packages in which classes that a release extends are looked for.
pub(super) fn asked_by(
    encoding: &mut Encoding<'_>,
    release: ReleaseId,
) -> Result<Vec<PackageId>, Missing> {
    let details = encoding.universe.details(release);
    let asked: Vec<PackageId> = details.edges.iter().map(|edge| edge.package).collect();
    let mut missing = asked.clone();
    missing.retain(|package| !encoding.universe.is_delivered(*package));
    if missing.is_empty() {
        Ok(asked)
    } else {
        Err(Missing::Packages(missing))
    }
}

/// The candidates of a package that do not define a class, and the newest one that does, if there
/// are both.
pub(super) fn lacks(
    universe: &Universe,
    package: PackageId,
    class: ClassId,
) -> Option<(Vec<ReleaseId>, ReleaseId)> {
    let defining = universe.definers(package, class);
    let (defining, lacking): (Vec<ReleaseId>, Vec<ReleaseId>) = candidates(universe, package)
        .into_iter()
        .partition(|release| defining.contains(release.index));
    let newest = *defining.last()?;
    (!lacking.is_empty()).then_some((lacking, newest))
}

/// That classes of a package extend a class which no candidate for it defines, and which versions
/// of the packages lack it that `told` releases require.
fn extends(
    encoding: &mut Encoding<'_>,
    owner: PackageId,
    class: ClassId,
    told: &WordSet,
) -> Result<Vec<Reason>, Missing> {
    let releases = extending(encoding.universe, owner, class);
    let mut asked: Vec<PackageId> = Vec::new();
    for release in &releases {
        let mut by_release = asked_by(encoding, *release)?;
        if told.contains(release.index) {
            by_release.retain(|package| !asked.contains(package));
            asked.extend(by_release);
        }
    }
    let name = encoding.universe.class_name(class).clone();
    let kind = ReasonKind::Extends {
        class: name.clone(),
    };
    let mut reasons = vec![reason_about(
        encoding.universe,
        owner,
        &releases,
        |subject| {
            let text = format!("a class of {} extends {name}", subject.text);
            (text, kind.clone())
        },
    )];
    for package in asked {
        let universe = &*encoding.universe;
        let Some((lacking, newest)) = lacks(universe, package, class) else {
            continue;
        };
        let no_longer = lacking.iter().all(|release| release.index > newest.index);
        let newest = universe.version(newest);
        reasons.push(reason_about(universe, package, &lacking, |subject| {
            let lacks = if no_longer {
                subject.verb("no longer defines", "no longer define")
            } else {
                subject.verb("does not define", "do not define")
            };
            let text = format!("{} {lacks} the class {name}; {newest} does", subject.text);
            (
                text,
                ReasonKind::Lacks {
                    class: name.clone(),
                },
            )
        }));
    }
    Ok(reasons)
}

/// That versions of a package were asked for, or that the lock holds some.
fn limit(
    encoding: &Encoding<'_>,
    fact: &Fact,
    package: PackageId,
    clashing: Option<PackageId>,
) -> Reason {
    let (universe, limits) = (&*encoding.universe, encoding.limits());
    let wish = limits.wish(package);
    let is_wanted = matches!(fact, Fact::Wanted { .. });
    let (kind, versions, allowed) = if let Some(wish) = wish.filter(|_| is_wanted) {
        (ReasonKind::Wanted, wish.versions.clone(), &wish.allowed)
    } else {
        let mut versions = universe.locked_versions(package).to_vec();
        versions.sort();
        versions.dedup();
        (ReasonKind::Stays, versions, &limits.stays[&package])
    };
    let name = universe.name(package);
    let listed: Vec<String> = versions.iter().map(ToString::to_string).collect();
    let listed = listed.join(", ");
    let mut text = match kind {
        ReasonKind::Wanted => format!("{name} {listed} was asked for"),
        _ => format!("the lock holds {name} at {listed}"),
    };
    if allowed.is_empty() {
        if universe.source(package) == Some(&ReleaseSource::Host) {
            let supplied = candidates(universe, package);
            let supplied = supplied
                .into_iter()
                .map(|release| universe.version(release));
            let supplied: Vec<String> = supplied.map(ToString::to_string).collect();
            text.push_str(&format!(", and the host supplies {}", supplied.join(", ")));
        } else {
            text.push_str(", which no registry has");
        }
    }
    Reason {
        text,
        kind,
        owner: Some(name.clone()),
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: clashing == Some(package),
    }
}

pub(super) fn reason_about(
    universe: &Universe,
    owner: PackageId,
    releases: &[ReleaseId],
    say: impl FnOnce(&Subject) -> (String, ReasonKind),
) -> Reason {
    let subject = Subject::new(universe, owner, releases);
    let (text, kind) = say(&subject);
    Reason {
        kind,
        owner: universe.package_name(owner).cloned(),
        versions: subject.versions,
        every_version: subject.is_every_version,
        location: None,
        source: universe.source(owner).cloned(),
        clashes: true,
        text,
    }
}
