//! Which releases of a package extend a class and have to find it in the same place.

use std::sync::Arc;

use super::edges::SetId;
use super::{ClassId, PackageId, ReleaseId, Universe};
use crate::index::Link;
use crate::set::PositionSet;

impl Universe {
    /// The releases of the same package that extend a class too, and can find it in the same
    /// required package alone: those that require nothing that `release` does not require. `target`
    /// is where `release` finds it. Everybody requires the core library, whether it is written or not.
    /// `None` where releases of the package share nothing of this kind.
    pub(crate) fn extenders(
        &mut self,
        release: ReleaseId,
        class: ClassId,
        target: PackageId,
    ) -> Option<SetId> {
        let delivered = *self.delivered(release.package);
        let (loaded, first, name) = (delivered.loaded, delivered.first, delivered.name);
        let index = Arc::clone(self.indexes[loaded as usize].index());
        let inheritance = index.inheritance();
        if !inheritance.may_share_links(name) {
            return None;
        }
        let own = first + release.index;
        let key = (release.package, class, target, inheritance.required(own));
        if let Some(known) = self.sets.of_extenders.get(&key) {
            return Some(*known);
        }
        let is_in_core = Some(target) == self.core;
        let core = self.core_number(loaded).filter(|_| is_in_core);
        let number = self.class_number(class, loaded);
        let mut requirements = Vec::new();
        let mut found = PositionSet::single(release.index);
        for other in self.releases(release.package) {
            let at = first + other.index;
            if !inheritance.requires_subset(at, own, core)
                || !self.extends(loaded, at, class, number)
            {
                continue;
            }
            self.requirements(other, &mut requirements);
            if requirements
                .iter()
                .any(|requirement| requirement.target == target)
            {
                found = found.union(&PositionSet::single(other.index));
            }
        }
        let set = SetId::worked_out(self.keep(release.package, &found));
        self.sets.of_extenders.insert(key, set);
        Some(set)
    }

    /// Whether a release extends a class of another package; `number` is what its index knows the class
    /// by.
    fn extends(&self, loaded: u32, release: u32, class: ClassId, number: Option<u32>) -> bool {
        let index = self.indexes[loaded as usize].index();
        let inheritance = index.inheritance();
        let is_named = |link: &Link| Some(link.class) == number;
        if inheritance.links(release).iter().any(is_named) {
            return true;
        }
        let Some(table) = index
            .table(release)
            .filter(|_| self.root_class == Some(class))
        else {
            return false;
        };
        let has_own = number.is_some_and(|root| index.table_classes(table).contains(&root));
        inheritance.implicit_at(table).is_some() && !has_own
    }
}
