//! What objects of a model demand, as reasons.

use pkgres_manifest::VersionSet;

use crate::universe::{PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

use super::reason::{Reason, ReasonKind};

/// What objects of a model demand of a package, where that is exactly these versions.
pub(super) fn demands(
    universe: &mut Universe,
    root: PackageId,
    target: PackageId,
    allowed: &WordSet,
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
            clashes: true,
        });
    }
    reasons
}
