//! What objects of a model require, as reasons.

use pkgres_manifest::{ObjectId, VersionSet};

use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, StatedRequirement, Universe};

use super::breaches::Breaches;
use super::reason::{Reason, ReasonKind};

/// What objects of a model require of a package, where that is exactly these versions. Where contracts
/// that are not met are among the reasons, only the objects count that they are about, if any.
pub(super) fn object_requirements(
    universe: &mut Universe,
    root: PackageId,
    (target, allowed): (PackageId, &PositionSet),
    breaches: &Breaches,
) -> Vec<Reason> {
    let details = universe.details(ReleaseId {
        package: root,
        index: 0,
    });
    let edges = details.requirements.iter().filter_map(|edge| {
        let is_meant = edge.package == target && universe.allowed(edge) == *allowed;
        Some((edge, edge.object?)).filter(|_| is_meant)
    });
    let mut requiring: Vec<(&StatedRequirement, (ObjectId, ClassId))> = edges.collect();
    let is_named =
        |(_, (object, _)): &(&StatedRequirement, (ObjectId, ClassId))| breaches.are_about(*object);
    if requiring.iter().any(is_named) {
        requiring.retain(is_named);
    }
    let model = universe
        .catalog
        .model()
        .expect("only models require")
        .clone();
    let package = universe.catalog.name(target).clone();
    let mut reasons = Vec::new();
    for (edge, (object, class)) in requiring {
        let (shown, spec) = (model.shown(object), &edge.requirement.spec);
        let defining = universe.catalog.definers(target, class);
        let versions = universe.catalog.versions_in(target, spec);
        // That the class is missing is the reason only where there is such a version at all.
        let text = if allowed.is_empty() && !versions.is_empty() && versions.is_disjoint(&defining)
        {
            let class = universe.catalog.class_name(class);
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
            clashes: true,
        });
    }
    reasons
}
