//! Positions and labels of classes in the texts of a conflict, which callers add that have the files of the root.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassDefinition, ClassName, Package, PackageName, class_cycles};

use super::conflict::{Conflict, Reason, ReasonKind};
use super::phrases::{Edge, some_classes};

impl Conflict {
    /// Names and locates the classes of a root in the reasons. An index does not have their
    /// locations; callers with the files of the root do.
    pub fn locate_classes(&mut self, root: &Package) {
        locate_classes(&mut self.reasons, root);
    }

    /// Locates the classes that a root extends or uses in the reasons. `place` has the place of a reference to a class, if
    /// it is known; callers with the files of the root know it.
    pub fn locate_references(
        &mut self,
        root: &PackageName,
        place: impl Fn(&ClassName) -> Option<Location>,
    ) {
        locate_references(&mut self.reasons, root, &place);
    }

    /// Adds the label of each class behind its name in the texts of the conflict, if `label` knows one. Some
    /// ecosystems identify classes by ids that mean nothing to people.
    pub fn label_classes(&mut self, label: impl Fn(&ClassName) -> Option<String>) {
        let reasons = self.reasons.iter_mut().map(|reason| &mut reason.text);
        let hints = self.hints.iter_mut().map(|hint| &mut hint.text);
        for text in std::iter::once(&mut self.summary)
            .chain(reasons)
            .chain(hints)
        {
            *text = with_labels(text, &label);
        }
    }
}

/// A text with labels behind the classes that have one.
pub(crate) fn with_labels(text: &str, label: &impl Fn(&ClassName) -> Option<String>) -> String {
    let words = text.split(' ').map(|word| {
        let start = word.len() - word.trim_start_matches('`').len();
        let name = word[start..].trim_end_matches(['`', ',', ';', ':']);
        let found = ClassName::native(name).ok().and_then(|class| label(&class));
        let Some(label) = found else {
            return word.to_owned();
        };
        // Behind the quotes around the name.
        let (named, rest) = word.split_at(start + name.len() + start);
        format!("{named} ({label}){rest}")
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Locates the classes that a root extends or uses in reasons.
pub(crate) fn locate_references(
    reasons: &mut [Reason],
    root: &PackageName,
    place: &impl Fn(&ClassName) -> Option<Location>,
) {
    for reason in reasons {
        let is_of_root = reason.owner.as_ref() == Some(root) && reason.source.is_none();
        if let ReasonKind::Extends { class } | ReasonKind::Uses { class } = &reason.kind
            && is_of_root
            && reason.location.is_none()
        {
            reason.location = place(class);
        }
    }
}

/// Names and locates the classes of a root in reasons.
pub(crate) fn locate_classes(reasons: &mut [Reason], root: &Package) {
    if let Some(classes) = &root.classes {
        for reason in reasons {
            let is_of_root = reason.owner.as_ref() == Some(root.name()) && reason.source.is_none();
            if !is_of_root || reason.location.is_some() {
                continue;
            }
            match &reason.kind {
                ReasonKind::Extends { class } | ReasonKind::Uses { class } => {
                    let edge = match reason.kind {
                        ReasonKind::Uses { .. } => Edge::Uses,
                        _ => Edge::Extends,
                    };
                    let mut referring = classes
                        .values()
                        .filter_map(|it| Some((it, referred_at(it, class, edge)?)));
                    let Some((first, location)) = referring.next() else {
                        continue;
                    };
                    let (classes, extend) =
                        some_classes(&first.name.value, referring.count(), edge);
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {extend} {class}");
                    reason.location = Some(location);
                }
                ReasonKind::Implements { interface } => {
                    let mut implementing = (root.manifest.implements.iter()).filter_map(|entry| {
                        let mut named = entry.interfaces.iter();
                        let found = named.find(|named| named.value == *interface)?;
                        Some((&entry.class.value, found.location.clone()))
                    });
                    let Some((first, location)) = implementing.next() else {
                        continue;
                    };
                    let count = implementing.count();
                    let (classes, implement) = some_classes(first, count, Edge::Implements);
                    let version = &root.manifest.version;
                    let name = root.name();
                    reason.text = format!("{classes} of {name} {version} {implement} {interface}");
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

/// The location at which a class extends or uses another one.
fn referred_at(definition: &ClassDefinition, class: &ClassName, edge: Edge) -> Option<Location> {
    let mut referred = match edge {
        Edge::Uses => definition.uses.iter(),
        _ => definition.extends.iter(),
    };
    let found = referred.find(|referred| referred.value == *class)?;
    Some(found.location.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_names_of_classes() {
        let label = |class: &ClassName| {
            let is_known = class.as_str().starts_with("urn:a;i=1");
            is_known.then(|| "1:Pump".to_owned())
        };
        for (text, expected) in [
            (
                "no version defines the class `urn:a;i=1(ObjectType)`",
                "no version defines the class `urn:a;i=1(ObjectType)` (1:Pump)",
            ),
            (
                "b 1.0@ lacks urn:a;i=1; 2.0@ does not",
                "b 1.0@ lacks urn:a;i=1 (1:Pump); 2.0@ does not",
            ),
            ("urn:b;i=1 and ` are none", "urn:b;i=1 and ` are none"),
        ] {
            assert_eq!(with_labels(text, &label), expected);
        }
    }
}
