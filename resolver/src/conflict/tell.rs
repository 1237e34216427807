//! Putting facts into words.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pkgres_manifest::diagnostic::{Code, Escaped, Location};
use pkgres_manifest::{ClassName, PackageName, Spec, Version, VersionSet, most_similar};

use crate::encoding::{Breach, Encoding, Fact};
use crate::hierarchy::{ClassAt, Violation};
use crate::model::{AllowedVersions, ContractBreach};
use crate::universe::{PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

use super::{Conflict, Reason, ReasonKind};

/// How many versions are listed before "and n more".
const LISTED_VERSIONS: usize = 4;

pub(super) fn tell(encoding: &mut Encoding<'_>, facts: &[Fact]) -> Conflict {
    let clashing = clashing_package(encoding.universe, facts);
    let mut reasons = Vec::new();
    for fact in facts {
        reasons.extend(reasons_of(encoding, fact, clashing));
    }
    let order = distances(encoding.universe, facts);
    let distance = |reason: &Reason| order.get(&reason.owner).copied().unwrap_or(usize::MAX);
    reasons.sort_by_key(|reason| (!reason.clashes, distance(reason)));
    let (code, summary) = summary(encoding, facts, clashing);
    let packages: BTreeSet<PackageName> = reasons
        .iter()
        .flat_map(|reason| {
            let required = match &reason.kind {
                ReasonKind::Requires { package, .. } => Some(package.clone()),
                _ => None,
            };
            required.into_iter().chain([reason.owner.clone()])
        })
        .collect();
    Conflict {
        code,
        summary,
        packages: packages.into_iter().collect(),
        hints: hints(encoding, facts),
        reasons,
    }
}

/// The package on which requirements clash: the one that most of the facts restrict; of equals,
/// the one that no version is left of, then the first by name.
fn clashing_package(universe: &Universe, facts: &[Fact]) -> Option<PackageId> {
    let mut restricted: BTreeMap<&PackageName, (PackageId, usize)> = BTreeMap::new();
    for fact in facts {
        if let Fact::Requires {
            target, allowed, ..
        } = fact
        {
            let entry = restricted
                .entry(universe.name(*target))
                .or_insert((*target, 0));
            entry.1 += if allowed.is_empty() { facts.len() } else { 1 };
        }
    }
    restricted
        .into_values()
        .rev()
        .max_by_key(|(_, count)| *count)
        .map(|(package, _)| package)
}

/// How far packages are from the roots along the requirements among the facts.
fn distances(universe: &Universe, facts: &[Fact]) -> BTreeMap<PackageName, usize> {
    let mut distances = BTreeMap::new();
    let mut queue: VecDeque<PackageId> = VecDeque::new();
    for root in universe.roots() {
        distances.insert(universe.name(root.package).clone(), 0);
        queue.push_back(root.package);
    }
    while let Some(package) = queue.pop_front() {
        let next = distances[universe.name(package)] + 1;
        for fact in facts {
            if let Fact::Requires { owner, target, .. } = fact
                && *owner == package
                && !distances.contains_key(universe.name(*target))
            {
                distances.insert(universe.name(*target).clone(), next);
                queue.push_back(*target);
            }
        }
    }
    distances
}

fn reasons_of(
    encoding: &mut Encoding<'_>,
    fact: &Fact,
    clashing: Option<PackageId>,
) -> Vec<Reason> {
    match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if encoding.universe.model().is_some() && encoding.universe.is_root(*owner) => {
            demands(encoding.universe, *owner, *target, allowed, clashing)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => requirements(encoding.universe, *owner, *target, allowed, clashing),
        Fact::Extends { owner, class } => {
            let releases: Vec<ReleaseId> = candidates(encoding.universe, *owner)
                .into_iter()
                .filter(|release| {
                    let details = encoding.universe.details(*release);
                    details
                        .classes
                        .as_ref()
                        .is_some_and(|table| table.external.contains(class))
                })
                .collect();
            let universe = &*encoding.universe;
            let class = universe.class_name(*class).clone();
            vec![reason_about(universe, *owner, &releases, |subject| {
                (
                    format!("a class of {subject} extends {class}"),
                    ReasonKind::Extends {
                        class: class.clone(),
                    },
                )
            })]
        }
        Fact::OwnCycle { owner } => {
            let releases: Vec<ReleaseId> = candidates(encoding.universe, *owner)
                .into_iter()
                .filter(|release| {
                    let details = encoding.universe.details(*release);
                    details
                        .classes
                        .as_ref()
                        .is_some_and(|table| table.own_cycle.is_some())
                })
                .collect();
            vec![reason_about(
                encoding.universe,
                *owner,
                &releases,
                |subject| {
                    (
                        format!("classes of {subject} extend each other"),
                        ReasonKind::OwnCycle,
                    )
                },
            )]
        }
        Fact::Clause(number) => {
            vec![match &encoding.clauses()[*number as usize].breach {
                Breach::Rule(violation) => inheritance(encoding.universe, violation),
                Breach::Contract(breach) => contract(encoding.universe, breach),
            }]
        }
    }
}

/// The requirements of a package on another one that allow exactly these versions: one reason for
/// each way in which they are written.
fn requirements(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    allowed: &WordSet,
    clashing: Option<PackageId>,
) -> Vec<Reason> {
    let mut written: BTreeMap<String, (Vec<ReleaseId>, Spec, Option<Location>)> = BTreeMap::new();
    for release in candidates(universe, owner) {
        let details = universe.details(release);
        let Some(edge) = details.edges.iter().find(|edge| edge.package == target) else {
            continue;
        };
        if universe.allowed(edge) == *allowed {
            let requirement = &edge.requirement;
            let entry = written
                .entry(requirement.spec.written().to_owned())
                .or_insert_with(|| {
                    (
                        Vec::new(),
                        requirement.spec.clone(),
                        requirement.location.clone(),
                    )
                });
            entry.0.push(release);
        }
    }
    let package = universe.name(target).clone();
    let mut reasons: Vec<Reason> = written
        .into_values()
        .map(|(releases, spec, location)| {
            let (subject, versions, every_version) = subject(universe, owner, &releases);
            Reason {
                text: format!("{subject} requires {package} {spec}"),
                kind: ReasonKind::Requires {
                    package: package.clone(),
                    spec: spec.written().to_owned(),
                },
                owner: universe.name(owner).clone(),
                versions,
                every_version,
                location,
                source: universe.delivered(owner).source.clone(),
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
            },
            owner: universe.name(root).clone(),
            versions: Vec::new(),
            every_version: false,
            location: edge.requirement.location.clone(),
            source: None,
            clashes: clashing == Some(target),
        });
    }
    reasons
}

fn reason_about(
    universe: &Universe,
    owner: PackageId,
    releases: &[ReleaseId],
    say: impl FnOnce(&str) -> (String, ReasonKind),
) -> Reason {
    let (subject, versions, every_version) = subject(universe, owner, releases);
    let (text, kind) = say(&subject);
    Reason {
        kind,
        owner: universe.name(owner).clone(),
        versions,
        every_version,
        location: None,
        source: universe.delivered(owner).source.clone(),
        clashes: true,
        text,
    }
}

fn inheritance(universe: &Universe, violation: &Violation) -> Reason {
    let paths: Vec<&[ClassAt]> = match violation {
        Violation::Cycle(circle) => vec![circle],
        Violation::Diamond(paths) => paths.iter().map(Vec::as_slice).collect(),
        Violation::Missing { .. } => Vec::new(),
    };
    let shown: Vec<Vec<(ClassName, PackageName, Version)>> = paths
        .iter()
        .map(|path| {
            path.iter()
                .map(|at| {
                    (
                        universe.class_name(at.class).clone(),
                        universe.name(at.release.package).clone(),
                        universe.version(at.release).clone(),
                    )
                })
                .collect()
        })
        .collect();
    let start = paths[0][0].release;
    Reason {
        text: shown
            .iter()
            .map(|path| class_path(path))
            .collect::<Vec<_>>()
            .join("; "),
        kind: ReasonKind::Inherits { paths: shown },
        owner: universe.name(start.package).clone(),
        versions: vec![universe.version(start).clone()],
        every_version: false,
        location: None,
        source: universe.delivered(start.package).source.clone(),
        clashes: true,
    }
}

fn contract(universe: &Universe, breach: &ContractBreach) -> Reason {
    let model = universe.model().expect("only models have contracts");
    let (class, package, version) = &breach.is;
    let (declaring, declaring_package, declaring_version) = &breach.declared_by;
    let wanted = match &breach.allowed {
        AllowedVersions::Spec(spec) => format!("{} {spec}", breach.class),
        AllowedVersions::MajorOf(own) => format!("{} {}", breach.class, own.major()),
    };
    let what = match &breach.inherits {
        Some((package, version)) => format!("is of class {} ({package} {version})", breach.class),
        None => format!("is of class {class} ({package} {version})"),
    };
    Reason {
        text: format!(
            "{}.{}: the object {} {what}, but {declaring} ({declaring_package} {declaring_version}) wants {wanted}",
            model.shown(breach.holder),
            Escaped::shortened(&breach.path),
            model.shown(breach.object),
        ),
        kind: ReasonKind::Contract {
            holder: model.shown(breach.holder),
            path: breach.path.clone(),
            object: model.shown(breach.object),
            class: breach.class.clone(),
        },
        owner: package.clone(),
        versions: vec![version.clone()],
        every_version: false,
        location: Some(model.object(breach.object).location.clone()),
        source: None,
        clashes: true,
    }
}

/// `A (Web 1.0.0) > X.B (X 1.0.0) > Z.D (Z 1.2.0)`
fn class_path(path: &[(ClassName, PackageName, Version)]) -> String {
    let steps: Vec<String> = path
        .iter()
        .map(|(class, package, version)| format!("{class} ({package} {version})"))
        .collect();
    steps.join(" > ")
}

fn candidates(universe: &Universe, package: PackageId) -> Vec<ReleaseId> {
    universe
        .delivered(package)
        .candidates
        .allowed()
        .iter()
        .map(|index| ReleaseId { package, index })
        .collect()
}

/// A package and its versions as the subject of a sentence.
fn subject(
    universe: &Universe,
    package: PackageId,
    releases: &[ReleaseId],
) -> (String, Vec<Version>, bool) {
    let versions: Vec<Version> = releases
        .iter()
        .map(|release| universe.version(*release).clone())
        .collect();
    let name = universe.name(package);
    let all = universe.delivered(package).candidates.allowed().len() as usize;
    let every = versions.len() == all && all > 1;
    let consecutive = releases.windows(2).all(|pair| {
        let between = pair[0].index + 1..pair[1].index;
        between.into_iter().all(|index| {
            !universe
                .delivered(package)
                .candidates
                .allowed()
                .contains(index)
        })
    });
    let subject = match versions.as_slice() {
        _ if every => format!("every version of {name}"),
        [] => name.to_string(),
        [one] => format!("{name} {one}"),
        [first, .., last] if consecutive && versions.len() > 2 => {
            format!("{name} {first} to {last}")
        }
        _ => {
            let listed: Vec<String> = versions
                .iter()
                .take(LISTED_VERSIONS)
                .map(ToString::to_string)
                .collect();
            let more = versions.len().saturating_sub(LISTED_VERSIONS);
            let tail = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("{name} {}{tail}", listed.join(", "))
        }
    };
    (subject, versions, every)
}

fn summary(encoding: &Encoding<'_>, facts: &[Fact], clashing: Option<PackageId>) -> (Code, String) {
    let universe = &*encoding.universe;
    for fact in facts {
        if let Fact::Clause(number) = fact {
            match &encoding.clauses()[*number as usize].breach {
                Breach::Contract(breach) => {
                    let model = universe.model().expect("only models have contracts");
                    let message = format!(
                        "the contract of `{}` of the object {} is not met",
                        Escaped::shortened(&breach.path),
                        model.shown(breach.holder)
                    );
                    return (Code::ModelContract, message);
                }
                Breach::Rule(Violation::Diamond([one, _])) => {
                    let class = universe.class_name(one[0].class);
                    let inherited =
                        universe.class_name(one.last().expect("a path has an end").class);
                    let message = format!("`{class}` would inherit `{inherited}` twice");
                    return (Code::Diamond, message);
                }
                Breach::Rule(Violation::Cycle(circle)) => {
                    let class = universe.class_name(circle[0].class);
                    return (Code::ClassCycle, format!("`{class}` would extend itself"));
                }
                Breach::Rule(Violation::Missing { .. }) => {}
            }
        }
    }
    for fact in facts {
        match fact {
            Fact::OwnCycle { owner } => {
                let name = universe.name(*owner);
                return (
                    Code::ClassCycle,
                    format!("classes of `{name}` extend each other"),
                );
            }
            Fact::Extends { class, .. } => {
                let class = universe.class_name(*class);
                let message = format!(
                    "the class `{class}` is not available in a version that could be chosen"
                );
                return (Code::ClassUnavailable, message);
            }
            _ => {}
        }
    }
    let Some(clashing) = clashing else {
        return (Code::NoVersion, "there is no resolution".to_owned());
    };
    let name = universe.name(clashing);
    let releases = &universe.delivered(clashing).releases;
    if releases.is_empty() {
        return (
            Code::UnknownPackage,
            format!("no registry has a package `{name}`"),
        );
    }
    let demands = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::Requires { target, .. } if *target == clashing))
        .count();
    if demands == 1 {
        (Code::NoVersion, format!("no version of `{name}` will do"))
    } else {
        (
            Code::NoVersion,
            format!("no version of `{name}` satisfies everyone"),
        )
    }
}

fn hints(encoding: &mut Encoding<'_>, facts: &[Fact]) -> Vec<String> {
    let mut hints = Vec::new();
    for fact in facts {
        let Fact::Requires {
            owner,
            target,
            allowed,
        } = fact
        else {
            continue;
        };
        let universe = &mut *encoding.universe;
        let name = universe.name(*target).clone();
        if universe.delivered(*target).releases.is_empty() {
            let known: Vec<String> = universe
                .package_ids()
                .filter(|package| {
                    universe.is_delivered(*package)
                        && !universe.delivered(*package).releases.is_empty()
                })
                .map(|package| universe.name(package).to_string())
                .collect();
            let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
            known.sort_unstable();
            if let Some(similar) = most_similar(name.as_str(), known) {
                hints.push(format!("there is a package `{similar}`"));
            }
            hints.push(format!(
                "`--registry` adds a registry that has `{name}`, `--provide` a file that says what the host supplies"
            ));
            continue;
        }
        let Some(release) = candidates(universe, *owner).into_iter().next_back() else {
            continue;
        };
        let details = universe.details(release);
        let Some(edge) = details.edges.iter().find(|edge| edge.package == *target) else {
            continue;
        };
        if !allowed.is_empty() {
            continue;
        }
        let matching = universe.versions_in(*target, &edge.requirement.spec);
        let delivered = universe.delivered(*target);
        let records = |index: u32| &delivered.releases[index as usize].record;
        if let Some(index) = matching
            .iter()
            .find(|index| records(*index).version.is_prerelease() && !records(*index).yanked)
        {
            let version = &records(index).version;
            hints.push(format!("`--prerelease allow` lets {name} {version} in"));
        } else if let Some(index) = matching.iter().find(|index| records(*index).yanked) {
            let version = &records(index).version;
            hints.push(format!(
                "{name} {version} matches but was withdrawn; only a lock can hold it"
            ));
        } else {
            hints.push(available(universe, *target));
        }
    }
    hints.dedup();
    hints.truncate(2);
    hints
}

/// `the versions of Db are 1.0.0, 1.1.0 and 2.0.0`
fn available(universe: &Universe, package: PackageId) -> String {
    let name = universe.name(package);
    let mut versions: Vec<String> = universe
        .delivered(package)
        .candidates
        .allowed()
        .iter()
        .map(|index| universe.version(ReleaseId { package, index }).to_string())
        .collect();
    let count = versions.len();
    let newest: Vec<String> = versions.split_off(count.saturating_sub(LISTED_VERSIONS));
    match newest.as_slice() {
        [] => format!("all versions of {name} were withdrawn"),
        [only] => format!("the only version of {name} is {only}"),
        [others @ .., last] if count <= LISTED_VERSIONS => {
            format!(
                "the versions of {name} are {} and {last}",
                others.join(", ")
            )
        }
        [others @ .., last] => {
            format!(
                "the newest of {count} versions of {name} are {} and {last}",
                others.join(", ")
            )
        }
    }
}
