//! The report of a conflict: facts as reasons and their order, its summary and its hints.
//!
//! Callers that have the files of the root add positions of classes to it, and labels of classes that have no readable
//! names.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ClassDefinition, ClassName, Package, PackageName, Requirement, class_cycles,
};
use rustc_hash::FxHashSet;

use super::SuggestedChange;
use super::conflict::{Conflict, Reason, ReasonKind};
use super::hints::hints;
use super::minimize::{Reduced, needed_lines};
use super::missing_classes::{extends_reasons, own_cycle_reason};
use super::phrases::{Edge, some_classes};
use super::possible::keep_possible;
use super::requirements::{Spellings, goal_reason, object_requirements, requirements};
use super::summary::{Contradiction, Summary, unsatisfiable_packages};
use super::violations::ViolationGroups;
use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// The report of facts. Without `suggestions`, it has no hints.
pub(super) fn report(
    problem: &mut Problem<'_>,
    reduced: &Reduced<'_>,
    suggestions: Option<&[SuggestedChange]>,
    may_split: bool,
    budget: &Budget,
) -> Result<Conflict, Interrupt> {
    let facts = reduced.facts;
    let unsatisfiable = unsatisfiable_packages(problem, facts);
    let contradiction = Contradiction::of(problem, facts, &unsatisfiable);
    let mut spellings = Spellings::default();
    let mut lines = needed_lines(problem, facts, &mut spellings, may_split, budget)?;
    keep_possible(problem, facts, &mut lines.reported, &mut spellings);
    let violations = ViolationGroups::among(problem, facts);
    let mut reasons = Vec::new();
    let mut missing_classes: FxHashSet<String> = FxHashSet::default();
    for (fact, reported) in facts.iter().zip(&lines.reported) {
        let mut of_fact = reasons_of(
            problem,
            (fact, facts),
            reported,
            &violations,
            &mut spellings,
        )?;
        let clashes = contradiction.is_of(fact);
        for reason in &mut of_fact {
            reason.clashes = clashes;
        }
        // Several facts may depend on the same missing class.
        of_fact.retain(|reason| {
            let is_lack = matches!(
                reason.kind,
                ReasonKind::Lacks { .. } | ReasonKind::LacksInterface { .. }
            );
            !is_lack || missing_classes.insert(reason.text.clone())
        });
        reasons.extend(of_fact);
    }
    sort(&mut reasons, problem.universe, facts);
    let Summary { code, text } = Summary::of(problem, facts, &contradiction);
    let packages: BTreeSet<PackageName> = reasons
        .iter()
        .flat_map(|reason| {
            let required = match &reason.kind {
                ReasonKind::Requires { package, .. } => Some(package.clone()),
                _ => None,
            };
            required.into_iter().chain(reason.owner.clone())
        })
        .collect();
    Ok(Conflict {
        code,
        summary: text,
        packages: packages.into_iter().collect(),
        is_minimal: reduced.is_minimal && lines.is_minimal,
        is_smallest: reduced.is_smallest && lines.is_minimal && lines.is_one_each,
        hints: suggestions.map_or_else(Vec::new, |suggestions| {
            hints(problem, facts, unsatisfiable, suggestions)
        }),
        suggestions: suggestions.unwrap_or_default().to_vec(),
        reasons,
    })
}

/// The reasons of a fact among all facts of a proof. `reported` are the releases whose lines are needed. Violations of
/// the same shape have one reason. All reasons are marked as contradicting; the caller knows which do.
pub(super) fn reasons_of(
    problem: &mut Problem<'_>,
    (fact, facts): (&Fact, &[Fact]),
    reported: &PositionSet,
    violations: &ViolationGroups,
    spellings: &mut Spellings,
) -> Result<Vec<Reason>, Interrupt> {
    Ok(match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if problem.universe.catalog.is_model(*owner) => {
            object_requirements(problem.universe, *owner, (*target, allowed), violations)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => {
            let requirement = (*owner, *target, allowed);
            requirements(problem.universe, requirement, reported, spellings)
        }
        Fact::Extends { owner, class } => {
            extends_reasons(problem, *owner, *class, reported, facts)?
        }
        Fact::OwnCycle { owner } => vec![own_cycle_reason(problem.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![goal_reason(problem, fact, *package)]
        }
        Fact::Nogood(number) => violations.reason(problem, *number).into_iter().collect(),
    })
}

/// Sorts the reasons of facts. What contradicts each other comes first, then violated class rules and contracts, then
/// the requirements that led there, from the roots on. Equal reasons keep their order.
pub(super) fn sort(reasons: &mut [Reason], universe: &Universe, facts: &[Fact]) {
    let distances = distances(reasons, universe, facts);
    let distance = |reason: &Reason| distances.get(&reason.owner).copied().unwrap_or(usize::MAX);
    let is_about_requirements =
        |reason: &Reason| matches!(reason.kind, ReasonKind::Requires { .. } | ReasonKind::Stays);
    reasons.sort_by_key(|reason| {
        (
            !reason.clashes,
            is_about_requirements(reason),
            distance(reason),
        )
    });
}

/// The distance of packages from the roots along the requirements among the facts, and from classes to the packages in
/// which they are looked up.
fn distances(
    reasons: &[Reason],
    universe: &Universe,
    facts: &[Fact],
) -> BTreeMap<Option<PackageName>, usize> {
    let name = |package: PackageId| universe.catalog.package_name(package).cloned();
    let mut required: BTreeMap<Option<PackageName>, Vec<Option<PackageName>>> = BTreeMap::new();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact {
            let of_owner = required.entry(name(*owner)).or_default();
            of_owner.push(name(*target));
        }
    }
    for reason in reasons.iter().filter(|reason| !reason.searched.is_empty()) {
        let of_owner = required.entry(reason.owner.clone()).or_default();
        of_owner.extend(reason.searched.iter().cloned().map(Some));
    }
    let mut distances = BTreeMap::new();
    let mut queue: VecDeque<Option<PackageName>> = VecDeque::new();
    for root in universe.catalog.roots() {
        distances.insert(name(root.package), 0);
        queue.push_back(name(root.package));
    }
    while let Some(package) = queue.pop_front() {
        let next = distances[&package] + 1;
        for target in required.remove(&package).unwrap_or_default() {
            if let Entry::Vacant(entry) = distances.entry(target.clone()) {
                entry.insert(next);
                queue.push_back(target);
            }
        }
    }
    distances
}

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
                        some_classes("class", &first.name.value, referring.count(), edge);
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
                    let (classes, implement) =
                        some_classes("class", first, count, Edge::Implements);
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
            ("`urn:a;i=1 of two` words", "`urn:a;i=1 of two` words"),
            ("it is `urn:a;i=1`, or", "it is `urn:a;i=1` (1:Pump), or"),
        ] {
            assert_eq!(with_labels(text, &label), expected);
            assert_eq!(with_labels(expected, &label), expected);
        }
    }
}
