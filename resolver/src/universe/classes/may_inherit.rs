//! What a class can inherit, whatever versions are chosen.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{Catalog, ClassId, Classes, PackageId, Parent, ReleaseId};

impl Classes {
    /// Whether there may be versions in which a class of a package inherits the class `wanted`, or is it.
    ///
    /// Each class that is extended is looked up in every release of every required package, whether or not
    /// these can be chosen together. What is unknown or was not reached yet counts as possible.
    pub(in crate::universe) fn may_inherit(
        &mut self,
        catalog: &mut Catalog,
        package: PackageId,
        class: ClassId,
        wanted: ClassId,
    ) -> bool {
        let mut visited: FxHashSet<(PackageId, ClassId)> = FxHashSet::default();
        // Breadth first: most inherited classes are near.
        let mut queue = VecDeque::from([(package, class)]);
        while let Some((package, class)) = queue.pop_front() {
            if class == wanted || !catalog.is_reached(package) {
                return true;
            }
            if !visited.insert((package, class)) {
                continue;
            }
            for index in catalog.candidates_of(package).iter() {
                let release = ReleaseId { package, index };
                let Some(table) = self.table(catalog, release) else {
                    return true;
                };
                let Some(position) = table.position(class) else {
                    continue;
                };
                for parent in &table.classes[position as usize].parents {
                    match parent {
                        Parent::Own(own) => {
                            queue.push_back((package, table.classes[*own as usize].name));
                        }
                        Parent::External(external) => {
                            let class = table.external[*external as usize];
                            for target in required(catalog, release) {
                                let Some(target) = target else {
                                    return true;
                                };
                                queue.push_back((target, class));
                            }
                        }
                    }
                }
            }
        }
        false
    }
}

/// The packages that a release requires, including the core library; `None` for one that is not interned.
fn required(catalog: &Catalog, release: ReleaseId) -> impl Iterator<Item = Option<PackageId>> {
    let (loaded, number) = catalog.locate(release);
    let loaded = catalog.indexes().get(loaded);
    let stated = loaded
        .index()
        .requirement_range(number)
        .map(|number| loaded.target(number));
    let others = stated.filter(move |target| *target != Some(release.package));
    let core = catalog.core_required_by(release.package);
    core.map(Some).into_iter().chain(others)
}
