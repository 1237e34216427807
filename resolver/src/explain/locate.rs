//! Positions and labels of classes, which callers with the files of the root add to a conflict.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Located, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, Package, PackageName, Requirement, class_cycles,
};

use super::conflict::{Conflict, Reason, ReasonKind};
use super::phrases::{Edge, some_classes};

impl Conflict {
    /// Names and locates the classes of a root in the reasons. An index does not have their
    /// locations; callers with the files of the root do.
    pub fn locate_classes(&mut self, root: &Package) {
        locate_classes(&mut self.reasons, root);
    }

    /// Locates the classes that a root extends or uses in the reasons. `place` has the place of a reference to a class,
    /// if it is known; callers with the files of the root know it.
    pub fn locate_references(
        &mut self,
        root: &PackageName,
        place: impl Fn(&ClassName) -> Option<Location>,
    ) {
        locate_references(&mut self.reasons, root, &place);
    }

    /// Adds the locations of requirements that the file of a root has several times. `entries` are the entries of such
    /// packages; callers with the file of the root know them.
    pub fn locate_entries(&mut self, root: &PackageName, entries: &[Requirement]) {
        for reason in &mut self.reasons {
            if let ReasonKind::Requires { package, .. } = &reason.kind
                && reason.owner.as_ref() == Some(root)
                && reason.source.is_none()
            {
                let same = entries.iter().filter(|entry| entry.package == *package);
                let places = same.filter_map(|entry| entry.location.as_ref());
                let others = places.filter(|place| Some(*place) != reason.location.as_ref());
                reason.more_locations = others.cloned().collect();
            }
        }
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

/// A string with labels behind the classes that have one. Labels that it has already stay as they are.
pub(crate) fn with_labels(text: &str, label: &impl Fn(&ClassName) -> Option<String>) -> String {
    let mut labelled = String::with_capacity(text.len());
    let mut rest = text;
    for word in text.split_inclusive(' ') {
        let quotes = word.len() - word.trim_start_matches('`').len();
        let name = word[quotes..].trim_end_matches(['`', ',', ';', ':', ' ']);
        // Behind the quotes around the name.
        let end = quotes + name.len() + quotes;
        let found = ClassName::native(name).ok().and_then(|class| label(&class));
        let is_quoted = word[quotes + name.len()..].starts_with(&word[..quotes]);
        if let Some(label) = found.filter(|_| is_quoted) {
            let label = format!(" ({label})");
            labelled.push_str(&word[..end]);
            if !rest[end..].starts_with(&label) {
                labelled.push_str(&label);
            }
            labelled.push_str(&word[end..]);
        } else {
            labelled.push_str(word);
        }
        rest = &rest[word.len()..];
    }
    labelled
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
            let (edge, target) = match &reason.kind {
                ReasonKind::Extends { class } => (Edge::Extends, class),
                ReasonKind::Uses { class } => (Edge::Uses, class),
                ReasonKind::Implements { interface } => (Edge::Implements, interface),
                ReasonKind::OwnCycle => {
                    let cycles = class_cycles(classes);
                    reason.location = cycles.first().map(|cycle| cycle.location.clone());
                    continue;
                }
                _ => continue,
            };
            let referring = referring_classes(root, classes, edge, target);
            let Some((first, location)) = referring.first() else {
                continue;
            };
            let (classes, refer) = some_classes("class", first, referring.len() - 1, edge);
            let (name, version) = (root.name(), &root.manifest.version);
            reason.text = format!("{classes} of {name} {version} {refer} {target}");
            reason.location = Some((*location).clone());
        }
    }
}

/// The classes of a root that extend, use or implement another one, with the places where they do.
fn referring_classes<'root>(
    root: &'root Package,
    classes: &'root BTreeMap<ClassName, ClassDefinition>,
    edge: Edge,
    target: &ClassName,
) -> Vec<(&'root ClassName, &'root Location)> {
    let place = |named: &'root [Located<ClassName>]| {
        let found = named.iter().find(|named| named.value == *target);
        found.map(|found| &found.location)
    };
    if edge == Edge::Implements {
        let implementing = root.manifest.implements.iter();
        let implementing =
            implementing.filter_map(|it| Some((&it.class.value, place(&it.interfaces)?)));
        return implementing.collect();
    }
    let referring = classes.values().filter_map(|class| {
        let named = match edge {
            Edge::Uses => &class.uses,
            _ => &class.extends,
        };
        Some((&class.name.value, place(named)?))
    });
    referring.collect()
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
            ("`urn:a;i=1 of two` words", "`urn:a;i=1 of two` words"),
            ("it is `urn:a;i=1`, or", "it is `urn:a;i=1` (1:Pump), or"),
        ] {
            assert_eq!(with_labels(text, &label), expected);
            assert_eq!(with_labels(expected, &label), expected);
        }
    }
}
