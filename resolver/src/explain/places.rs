//! Where in the files of a root the classes are that take part in a conflict.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassDefinition, ClassName, Package, class_cycles};

use super::extends::told;
use super::{Conflict, Reason, ReasonKind};

impl Conflict {
    /// Says of reasons about classes of a root which class it is and where it stands. An index does
    /// not know that; whoever has the files of the root does.
    pub fn locate_classes(&mut self, root: &Package) {
        locate_classes(&mut self.reasons, root);
    }
}

/// Says of reasons about classes of a root where these stand.
pub(crate) fn locate_classes(reasons: &mut [Reason], root: &Package) {
    if let Some(classes) = &root.classes {
        for reason in reasons {
            let is_of_root = reason.owner.as_ref() == Some(root.name()) && reason.source.is_none();
            if !is_of_root || reason.location.is_some() {
                continue;
            }
            match &reason.kind {
                ReasonKind::Extends { class } => {
                    let mut extending = classes
                        .values()
                        .filter_map(|it| Some((it, extended_at(it, class)?)));
                    let Some((first, location)) = extending.next() else {
                        continue;
                    };
                    let (classes, extend) = told(&first.name.value, extending.count());
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {extend} {class}");
                    reason.location = Some(location);
                }
                ReasonKind::OwnCycle => {
                    let cycles = class_cycles(classes);
                    reason.location = cycles.first().map(|cycle| cycle.location.clone());
                }
                _ => {}
            }
        }
    }
}

/// Where a class says that it extends another one.
fn extended_at(definition: &ClassDefinition, class: &ClassName) -> Option<Location> {
    let mut extended = definition.extends.iter();
    let found = extended.find(|extended| extended.value == *class)?;
    Some(found.location.clone())
}
