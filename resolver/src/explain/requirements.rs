//! Requirements as reasons, in each of the ways in which they are written.

use std::collections::BTreeMap;

use pkgres_manifest::Spec;
use pkgres_manifest::diagnostic::Location;

use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

use super::reason::{Reason, ReasonKind};
use super::subject::{Subject, candidates};

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
    allowed: &PositionSet,
) -> BTreeMap<String, Written> {
    let mut written: BTreeMap<String, Written> = BTreeMap::new();
    for release in candidates(universe, owner) {
        let details = universe.details(release);
        let Some(edge) = details
            .requirements
            .iter()
            .find(|edge| edge.package == target)
        else {
            continue;
        };
        if universe.allowed(edge) == *allowed {
            let requirement = &edge.requirement;
            let is_implied = universe.catalog.requires_implicitly(release, target);
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
pub(super) fn requirements(
    universe: &mut Universe,
    (owner, target, allowed): (PackageId, PackageId, &PositionSet),
    told: &PositionSet,
) -> Vec<Reason> {
    let mut written = ways_of_writing(universe, owner, target, allowed);
    written.retain(|_, way| {
        way.releases
            .iter()
            .any(|release| told.contains(release.index))
    });
    let overriding = universe.catalog.policy().overriding(target).cloned();
    let package = universe.catalog.name(target).clone();
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
                owner: universe.catalog.package_name(owner).cloned(),
                versions: subject.versions,
                every_version: subject.is_every_version,
                location,
                source: universe.catalog.source(owner).cloned(),
                clashes: true,
            }
        })
        .collect();
    reasons.sort_by(|one, two| one.versions.cmp(&two.versions));
    reasons
}
