//! Compares which classes two versions export, and what each class says about itself.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Escaped, Located};
use pkgres_manifest::{ClassDefinition, ClassName, ClassUsage, MetaAttachment, Package};

use super::class_pair::{ClassPair, Subject};
use super::rules::ApiRule;
use super::witness::WitnessUse;
use super::{ApiDifference, ApiOf, FoundDifference, methods, properties};
use crate::bound_packages::ClassAt;
use crate::members::EffectiveMembers;

/// Classes that a package exports, by name.
type ExportedClasses<'packages> = BTreeMap<&'packages ClassName, &'packages ClassDefinition>;

/// The exported classes of a package.
fn exported(package: Option<&Package>) -> ExportedClasses<'_> {
    let Some(package) = package else {
        return BTreeMap::new();
    };
    let listed: BTreeSet<&ClassName> = (package.manifest.classes.iter())
        .map(|entry| &entry.name.value)
        .collect();
    let is_heat = package.manifest.format.is_heat_hot();
    let classes = package.classes.iter().flatten();
    classes
        .filter(|(name, _)| is_heat || listed.contains(name))
        .collect()
}

fn package_of(api: ApiOf<'_>) -> Option<&Package> {
    api.packages.releases.get(api.release)?.package.as_deref()
}

pub(super) fn compare(
    old: ApiOf<'_>,
    new: ApiOf<'_>,
    unknown: &mut BTreeSet<ClassName>,
) -> Vec<FoundDifference> {
    let (old_classes, new_classes) = (exported(package_of(old)), exported(package_of(new)));
    let mut found = Vec::new();
    for (&name, &before) in &old_classes {
        let Some(&after) = new_classes.get(name) else {
            found.push(removed(before));
            continue;
        };
        let members = |api: ApiOf<'_>| ClassAt {
            release: api.release.clone(),
            class: name.clone(),
        };
        let both = ClassPair {
            name,
            package: Some(&old.release.name),
            old_api: old,
            new_api: new,
            old: EffectiveMembers::of(old.packages, &members(old)),
            new: EffectiveMembers::of(new.packages, &members(new)),
            usage: before.usage,
            new_place: &after.name.location,
            losses: OnceCell::new(),
            creation: OnceCell::new(),
        };
        unknown.extend(both.old.unknown.iter().cloned());
        unknown.extend(both.new.unknown.iter().cloned());
        declaration(&both, before, after, &mut found);
        found.extend(lost_ancestors(&both, (&old_classes, &new_classes)));
        methods::compare(&both, &mut found);
        properties::compare(&both, &mut found);
    }
    for (&name, &after) in &new_classes {
        if !old_classes.contains_key(name) {
            found.push(of_class(
                ApiRule::ClassAdded,
                name,
                (None, Some(&after.name)),
                format!("`{name}` is new"),
                None,
            ));
        }
    }
    found
}

/// The difference that a class is gone.
pub(super) fn removed(before: &ClassDefinition) -> FoundDifference {
    let name = &before.name.value;
    of_class(
        ApiRule::ClassRemoved,
        name,
        (Some(&before.name), None),
        format!("`{name}` is no longer defined for other packages"),
        Some(WitnessUse::Extends {
            usage: before.usage,
        }),
    )
}

/// Compares what a class says about itself.
fn declaration(
    both: &ClassPair<'_>,
    before: &ClassDefinition,
    after: &ClassDefinition,
    found: &mut Vec<FoundDifference>,
) {
    let name = both.name;
    if before.usage != after.usage {
        found.push(usage_changed(before, after));
    } else if before.usage == ClassUsage::Meta {
        attachment(before, after, found);
    }
    let old_parents = parents(before, &both.old_api);
    let new_parents = parents(after, &both.new_api);
    if old_parents != new_parents {
        let listed = |parents: &[ClassName]| {
            let parents: Vec<String> = parents.iter().map(|it| format!("`{it}`")).collect();
            if parents.is_empty() {
                "nothing".to_owned()
            } else {
                parents.join(", ")
            }
        };
        let message = format!(
            "`{name}` extends {} instead of {}",
            listed(&new_parents),
            listed(&old_parents)
        );
        let rule = ApiRule::ExtendsChanged;
        let places = (
            Some(before.extends.first().unwrap_or(&before.name)),
            Some(after.extends.first().unwrap_or(&after.name)),
        );
        found.push(of_class(rule, name, places, message, None));
    }
}

/// Compares how a meta class can be attached to what it describes.
fn attachment(before: &ClassDefinition, after: &ClassDefinition, found: &mut Vec<FoundDifference>) {
    let name = &before.name.value;
    let (old, new) = (&before.attachment, &after.attachment);
    let mut report = |rule, message| {
        let places = (Some(&before.name), Some(&after.name));
        found.push(of_class(rule, name, places, message, None));
    };
    let only_in = |one: &MetaAttachment, other: &MetaAttachment| {
        let kinds = one.applies.difference(&other.applies);
        let kinds: Vec<String> = kinds
            .map(|kind| format!("`{}`", Escaped::shortened(kind)))
            .collect();
        kinds.join(", ")
    };
    let (lost, gained) = (only_in(old, new), only_in(new, old));
    if !lost.is_empty() {
        let message = format!("`{name}` no longer applies to {lost}");
        report(ApiRule::MetaAttachmentChanged, message);
    }
    if !gained.is_empty() {
        let message = format!("`{name}` also applies to {gained}");
        report(ApiRule::MetaAppliesMore, message);
    }
    if old.is_many != new.is_many {
        let cardinality = |it: &MetaAttachment| if it.is_many { "`Many`" } else { "`One`" };
        let message = format!(
            "`{name}` has the cardinality {} instead of {}",
            cardinality(new),
            cardinality(old)
        );
        report(ApiRule::MetaAttachmentChanged, message);
    }
    if old.is_inherited != new.is_inherited {
        let verb = if new.is_inherited {
            "also describes"
        } else {
            "no longer describes"
        };
        let message = format!("`{name}` {verb} the classes that extend a described one");
        report(ApiRule::MetaAttachmentChanged, message);
    }
}

/// The parents of a class: the root class if it names none.
fn parents(class: &ClassDefinition, api: &ApiOf<'_>) -> Vec<ClassName> {
    let root = api.packages.root_class.iter();
    let implicit = root.filter(|root| class.extends.is_empty() && **root != class.name.value);
    let named = class.extends.iter().map(|parent| &parent.value);
    named.chain(implicit).cloned().collect()
}

/// The differences that a class no longer has ancestors that other packages can name.
fn lost_ancestors(
    both: &ClassPair<'_>,
    (old_classes, new_classes): (&ExportedClasses<'_>, &ExportedClasses<'_>),
) -> Vec<FoundDifference> {
    let (before, after) = (old_classes[both.name], new_classes[both.name]);
    let (old, new) = (both.old_api, both.new_api);
    let still = new.ancestors(both.name);
    let root = old.packages.root_class.as_ref();
    let own = package_of(old).and_then(|package| package.classes.as_ref());
    // Nobody else names a class that is private, and one that is gone has a difference of its own.
    let is_own = |class: &ClassName| own.is_some_and(|own| own.contains_key(class));
    let can_be_named = |class: &ClassName| {
        !is_own(class) || old_classes.contains_key(class) && new_classes.contains_key(class)
    };
    let place = |class: &ClassDefinition| {
        let place = class.extends.first().unwrap_or(&class.name);
        Some(place.location.clone())
    };
    let lost = old
        .ancestors(both.name)
        .into_iter()
        .filter(|class| !still.contains(class) && root != Some(class) && can_be_named(class));
    lost.map(|ancestor| {
        let class = both.class_that_lost(&ancestor);
        let verb = if both.new.unknown.is_empty() {
            "no longer inherits"
        } else {
            "may no longer inherit"
        };
        let message = format!("`{class}` {verb} from `{ancestor}`");
        let subject = Subject {
            class,
            member: None,
            argument: None,
            old: place(before),
            new: place(after),
        };
        both.difference(ApiRule::AncestorLost, subject, message, None)
    })
    .collect()
}

/// The difference that a class of objects became a meta class, or the reverse.
pub(super) fn usage_changed(before: &ClassDefinition, after: &ClassDefinition) -> FoundDifference {
    let name = &before.name.value;
    let (message, noticed) = match before.usage {
        ClassUsage::Class => (
            format!("`{name}` became a meta class"),
            WitnessUse::Extends {
                usage: ClassUsage::Class,
            },
        ),
        ClassUsage::Meta => (
            format!("`{name}` is no longer a meta class"),
            WitnessUse::Describes,
        ),
    };
    let places = (Some(&before.name), Some(&after.name));
    let rule = ApiRule::ClassUsageChanged;
    of_class(rule, name, places, message, Some(noticed))
}

/// The old and the new place of a class.
type Places<'packages> = (
    Option<&'packages Located<ClassName>>,
    Option<&'packages Located<ClassName>>,
);

fn of_class(
    rule: ApiRule,
    name: &ClassName,
    (old, new): Places<'_>,
    message: String,
    noticed: Option<WitnessUse>,
) -> FoundDifference {
    FoundDifference {
        difference: ApiDifference {
            rule,
            class: name.clone(),
            member: None,
            argument: None,
            message,
            old: old.map(|it| it.location.clone()),
            new: new.map(|it| it.location.clone()),
            inheritors: Vec::new(),
            noticed,
        },
        of: name.clone(),
    }
}
