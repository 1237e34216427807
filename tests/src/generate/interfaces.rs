//! Universes with interfaces: some classes that extend nothing become interfaces, and what extended them implements them.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, PackageName};

use crate::random::Random;
use crate::universe::Universe;

/// The classes that could as well be interfaces: they extend nothing, and others see them, in every release.
fn convertible(universe: &Universe) -> BTreeSet<ClassName> {
    let records = || universe.records.iter().chain([&universe.root]);
    let classes = || records().flat_map(|record| record.classes.iter().flatten());
    let extending = classes().filter(|class| class.internal || !class.extends.is_empty());
    let others: BTreeSet<&ClassName> = extending.map(|class| &class.name).collect();
    let root_class = universe.core.as_ref().map(PackageName::root_class);
    classes()
        .map(|class| &class.name)
        .filter(|name| !others.contains(name) && Some(*name) != root_class.as_ref())
        .cloned()
        .collect()
}

/// Turns classes of a release into interfaces.
fn convert(record: &mut IndexRecord, chosen: &BTreeSet<ClassName>) {
    let Some(classes) = record.classes.take() else {
        return;
    };
    let (interfaces, classes): (Vec<_>, Vec<_>) =
        (classes.iter().cloned()).partition(|class| chosen.contains(&class.name));
    let interfaces = interfaces.into_iter().map(|class| class.name);
    let classes = classes.into_iter().map(|mut class| {
        let (implements, extends) = class
            .extends
            .into_iter()
            .partition(|it| chosen.contains(it));
        (class.implements, class.extends) = (implements, extends);
        class
    });
    *record = record
        .clone()
        .with_interfaces(interfaces)
        .with_classes(classes);
}

/// Turns most of the classes that could be interfaces into some.
pub(super) fn add(universe: &mut Universe, random: &mut Random) {
    let mut chosen = convertible(universe);
    chosen.retain(|_| random.chance(75));
    for record in universe.records.iter_mut().chain([&mut universe.root]) {
        convert(record, &chosen);
    }
}
