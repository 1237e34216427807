//! A lock as the answer, where it still is one: verified, not solved.

use pkgres_manifest::PackageName;

use crate::budget::Interrupt;
use crate::hierarchy;
use crate::selection::Selection;
use crate::universe::{Missing, PackageId, Universe};

/// The lock as a selection, if it is whole and valid, and has one release of each package where that
/// is asked for.
///
/// Every package that it names and every package that a root requires has to be delivered first.
pub(crate) fn selection(
    universe: &mut Universe,
    single_version: bool,
) -> Result<Option<Selection>, Interrupt> {
    let missing = missing(universe);
    if !missing.is_empty() {
        return Err(Missing::Packages(missing).into());
    }
    let selection = Selection::collect(universe, |universe, release, edge, requirement| {
        if !requirement.is_known() {
            return None;
        }
        let index = universe
            .catalog
            .locked_binding(release, edge, requirement.target)?;
        universe.allows(requirement, index).then_some(index)
    });
    Ok(selection.filter(|selection| {
        let has_several = selection.packages_side_by_side().next().is_some();
        hierarchy::violation(universe, selection).is_none() && !(has_several && single_version)
    }))
}

fn missing(universe: &mut Universe) -> Vec<PackageId> {
    let names: Vec<PackageName> = (universe.catalog.policy().locked().releases())
        .map(|(name, _)| name.clone())
        .collect();
    let mut packages: Vec<PackageId> = names
        .iter()
        .map(|name| universe.catalog.package_id(name))
        .collect();
    for root in universe.catalog.roots().to_vec() {
        let details = universe.details(root);
        packages.extend(details.requirements.iter().map(|edge| edge.package));
    }
    packages.retain(|package| !universe.catalog.is_delivered(*package));
    packages
}
