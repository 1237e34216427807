//! What a class can inherit, whatever versions are chosen.

use std::collections::VecDeque;

use pkgres_manifest::ClassName;
use rustc_hash::FxHashSet;

use super::{ClassId, PackageId, Parent, ReleaseId, Universe};

impl Universe {
    /// Whether there may be versions in which a class of a package inherits a class of this name, or is
    /// it.
    ///
    /// Each class that is extended is looked for in every package that the release requires, and
    /// there in every release; which of them fit together is not asked. What nobody knows counts as
    /// possible, and so does what the solver did not come across yet.
    pub(crate) fn may_inherit(
        &mut self,
        package: PackageId,
        class: ClassId,
        wanted: &ClassName,
    ) -> bool {
        let wanted = self.class_id(wanted);
        let mut seen: FxHashSet<(PackageId, ClassId)> = FxHashSet::default();
        // Nearest first: what is inherited is mostly near.
        let mut open = VecDeque::from([(package, class)]);
        while let Some((package, class)) = open.pop_front() {
            if class == wanted || !self.is_reached(package) {
                return true;
            }
            if !seen.insert((package, class)) {
                continue;
            }
            for index in self.candidates_of(package).iter() {
                let release = ReleaseId { package, index };
                let Some(table) = self.class_table(release) else {
                    return true;
                };
                let Some(position) = table.position(class) else {
                    continue;
                };
                for parent in &table.classes[position as usize].parents {
                    match parent {
                        Parent::Own(own) => {
                            open.push_back((package, table.classes[*own as usize].name));
                        }
                        Parent::External(external) => {
                            let class = table.external[*external as usize];
                            for target in self.required(release) {
                                let Some(target) = target else {
                                    return true;
                                };
                                open.push_back((target, class));
                            }
                        }
                    }
                }
            }
        }
        false
    }

    /// The packages that a release requires, the core library included; `None` for one that was not seen.
    fn required(&self, release: ReleaseId) -> impl Iterator<Item = Option<PackageId>> {
        let delivered = self.delivered(release.package);
        let loaded = &self.indexes[delivered.loaded as usize];
        let edges = loaded
            .index()
            .requirement_range(delivered.first + release.index);
        let written = edges.map(|edge| {
            loaded.seen.packages[loaded.index().requirement_target(edge) as usize].package()
        });
        let core = self.core.filter(|core| *core != release.package);
        let others = written.filter(move |target| *target != Some(release.package));
        core.map(Some).into_iter().chain(others)
    }
}
