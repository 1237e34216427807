//! What no contract of a model allows, as reasons.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ClassName, PackageName, Version};

use crate::contracts::{AllowedVersions, ContractViolation};
use crate::problem::{NogoodCause, Problem};
use crate::universe::ReleaseId;

use super::reason::{Reason, ReasonKind};
use super::subject::Subject;

/// The class that an object has to be, and in which versions.
pub(super) fn wanted(breach: &ContractViolation) -> String {
    match &breach.allowed {
        AllowedVersions::Spec(spec) => format!("{} {spec}", breach.class),
        AllowedVersions::MajorOf(own) => format!("{} {}", breach.class, own.major()),
    }
}

/// The class that an object is, and the release in which it is that: the wanted one, or its own.
pub(super) fn stands(breach: &ContractViolation) -> (ClassName, PackageName, Version) {
    match &breach.inherits {
        Some((package, version)) => (breach.class.clone(), package.clone(), version.clone()),
        None => breach.is.clone(),
    }
}

/// That an object of a model is not what the contract of a property wants, as nogoods of one shape say
/// it.
pub(super) fn contract(problem: &mut Problem<'_>, alike: &[u32]) -> Option<Reason> {
    let breaches =
        alike
            .iter()
            .filter_map(|number| match &problem.nogoods()[*number as usize].cause {
                NogoodCause::Contract(breach) => Some((**breach).clone()),
                _ => None,
            });
    let breaches: Vec<ContractViolation> = breaches.collect();
    let breach = breaches.first()?;
    let universe = &mut *problem.universe;
    let (class, package, _) = stands(breach);
    let package = universe.package_id(&package);
    let releases: BTreeSet<ReleaseId> = (breaches.iter())
        .filter_map(|breach| {
            let (_, _, version) = stands(breach);
            let index = universe.index_of(package, &version)?;
            Some(ReleaseId { package, index })
        })
        .collect();
    let releases: Vec<ReleaseId> = releases.into_iter().collect();
    let releases = Subject::new(universe, package, &releases).text;
    let model = universe.model().expect("only models have contracts");
    let (declaring, declaring_package, declaring_version) = &breach.declared_by;
    let versions: BTreeSet<Version> = breaches.iter().map(|breach| breach.is.2.clone()).collect();
    Some(Reason {
        text: format!(
            "{}.{}: the object {} is of class {class} ({releases}), but {declaring} ({declaring_package} {declaring_version}) wants {}",
            model.shown(breach.holder),
            Escaped::shortened(&breach.path),
            model.shown(breach.object),
            wanted(breach),
        ),
        kind: ReasonKind::Contract {
            holder: model.shown(breach.holder),
            path: breach.path.clone(),
            object: model.shown(breach.object),
            class: breach.class.clone(),
        },
        owner: Some(breach.is.1.clone()),
        versions: versions.into_iter().collect(),
        every_version: false,
        location: Some(model.object(breach.object).location.clone()),
        source: None,
        clashes: true,
    })
}
