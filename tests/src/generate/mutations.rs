//! Mutations: changes that are applied to a random universe of any family.

use super::draft::{Draft, change_spec, drop_class, requires};
use super::families::Rates;
use crate::build::{Build, release, version};

/// The mutations, each applied with the same probability.
pub(super) const MUTATIONS: [fn(&mut Draft); 12] = [
    drop_a_class,
    move_a_class,
    hide_a_class,
    make_classes_unknown,
    shadow_the_root,
    require_the_root,
    add_a_cycle,
    change_a_spec,
    require_too_much,
    pin_at_the_root,
    remove_a_package,
    change_build_metadata,
];

/// Mutates a universe.
pub(super) fn apply(draft: &mut Draft, rates: &Rates) {
    for mutation in MUTATIONS {
        if draft.random.chance(rates.mutated) {
            mutation(draft);
        }
    }
    for _ in 0..2 {
        if draft.random.chance(rates.prereleases) {
            add_a_prerelease(draft);
        }
        if draft.random.chance(rates.yanked) {
            yank(draft);
        }
    }
    if draft.random.chance(rates.prereleases / 3) {
        name_a_prerelease(draft);
    }
}

/// Removes releases until brute force is fast enough: at most `2^22` combinations remain, counting
/// every way to bind all requirements of all releases, whatever their specs.
pub(super) fn thin_out(draft: &mut Draft) {
    while combinations(draft) > 1 << 22 {
        let repeated: Vec<usize> = (0..draft.records.len())
            .filter(|position| {
                draft
                    .positions(draft.records[*position].name.as_str())
                    .count()
                    > 1
            })
            .collect();
        let position = *draft.random.pick(&repeated);
        draft.records.remove(position);
    }
}

fn combinations(draft: &Draft) -> u64 {
    let candidates = |name: &str| {
        let count = u64::try_from(draft.positions(name).count());
        count.expect("there are few records").max(1)
    };
    draft
        .records
        .iter()
        .chain([&draft.root])
        .flat_map(|record| {
            let core = draft
                .core
                .as_deref()
                .filter(|core| *core != record.name.as_str() && !requires(record, core));
            let required = record.requirements.iter();
            required
                .map(|requirement| candidates(requirement.package.as_str()))
                .chain(core.map(candidates))
        })
        .fold(1, u64::saturating_mul)
}

pub(super) fn a_package(draft: &mut Draft) -> Option<String> {
    let packages = draft.packages();
    (!packages.is_empty()).then(|| draft.random.pick(&packages).clone())
}

pub(super) fn a_record(draft: &mut Draft) -> Option<usize> {
    (!draft.records.is_empty()).then(|| draft.random.below(draft.records.len()))
}

/// The name of a class of a record.
fn a_class(draft: &mut Draft, position: usize) -> Option<String> {
    let classes = draft.records[position].classes.clone()?;
    (!classes.is_empty()).then(|| draft.random.pick(&classes).name.to_string())
}

/// The newest version of a package no longer defines a class.
fn drop_a_class(draft: &mut Draft) {
    if let Some(package) = a_package(draft) {
        let newest = draft.newest(&package);
        if let Some(class) = a_class(draft, newest) {
            drop_class(&mut draft.records[newest], &class);
        }
    }
}

/// A class moves to some releases of another package.
fn move_a_class(draft: &mut Draft) {
    let (Some(from), Some(to)) = (a_record(draft), a_package(draft)) else {
        return;
    };
    if draft.records[from].name.as_str() == to {
        return;
    }
    if let Some(class) = a_class(draft, from) {
        drop_class(&mut draft.records[from], &class);
        for position in draft.positions(&to).collect::<Vec<_>>() {
            if draft.random.chance(70) {
                drop_class(&mut draft.records[position], &class);
                if draft.records[position].classes.is_some() {
                    let record = draft.records[position].clone();
                    draft.records[position] = record.defines(&class, &[]);
                }
            }
        }
    }
}

/// A class becomes internal to its release.
fn hide_a_class(draft: &mut Draft) {
    if let Some(position) = a_record(draft)
        && let Some(classes) = &mut draft.records[position].classes
        && !classes.is_empty()
    {
        let chosen = draft.random.below(classes.len());
        classes[chosen].internal = true;
    }
}

fn make_classes_unknown(draft: &mut Draft) {
    if let Some(position) = a_record(draft) {
        draft.records[position].classes = None;
    }
}

/// A registry gets releases with the name of the root, which the solver must ignore.
fn shadow_the_root(draft: &mut Draft) {
    let name = draft.root.name.to_string();
    for number in ["1.0.0", "1.1.0", "9.0.0"] {
        let is_known = draft.versions_of(&name).iter().any(|known| known == number);
        if draft.random.chance(50) && !is_known {
            draft.records.push(release(&name, number).opaque());
        }
    }
}

/// A package requires the root, perhaps in a version that it does not have.
fn require_the_root(draft: &mut Draft) {
    let name = draft.root.name.to_string();
    if let Some(position) = a_record(draft)
        && draft.records[position].name != draft.root.name
        && !requires(&draft.records[position], &name)
    {
        let spec = ["*", "1", "1.0.0", ">=1.1"][draft.random.below(4)];
        let record = draft.records[position].clone().requires(&name, spec);
        draft.records[position] = record;
    }
}

/// A package requires a package that may already require it.
fn add_a_cycle(draft: &mut Draft) {
    let (Some(from), Some(to)) = (a_record(draft), a_package(draft)) else {
        return;
    };
    let record = &draft.records[from];
    if record.name.as_str() != to && !requires(record, &to) {
        let versions = draft.versions_of(&to);
        let spec = draft.loose_spec(&versions);
        let record = draft.records[from].clone().requires(&to, &spec);
        draft.records[from] = record;
    }
}

fn change_a_spec(draft: &mut Draft) {
    let Some(position) = a_record(draft) else {
        return;
    };
    let requirements = draft.records[position].requirements.clone();
    if !requirements.is_empty() {
        let chosen = draft.random.below(requirements.len());
        let versions = draft.versions_of(requirements[chosen].package.as_str());
        if !versions.is_empty() {
            let spec = draft.spec(&versions);
            change_spec(&mut draft.records[position], chosen, &spec);
        }
    }
}

/// A release requires a version that does not exist yet.
fn require_too_much(draft: &mut Draft) {
    if let Some(position) = a_record(draft) {
        let record = &mut draft.records[position];
        if !record.requirements.is_empty() {
            let chosen = draft.random.below(record.requirements.len());
            change_spec(record, chosen, ">=7");
        }
    }
}

/// The root requires exactly one version of a package, which may contradict other requirements.
fn pin_at_the_root(draft: &mut Draft) {
    let Some(position) = a_record(draft) else {
        return;
    };
    let record = &draft.records[position];
    if record.name == draft.root.name {
        return;
    }
    let (name, pinned) = (
        record.name.to_string(),
        record.version.without_build().to_string(),
    );
    let requirements = &draft.root.requirements;
    match requirements
        .iter()
        .position(|requirement| requirement.package.as_str() == name)
    {
        Some(known) => change_spec(&mut draft.root, known, &pinned),
        None => draft.root_requires(&name, &pinned),
    }
}

/// A package disappears from the registries.
fn remove_a_package(draft: &mut Draft) {
    if let Some(package) = a_package(draft)
        && draft.packages().len() > 3
    {
        draft
            .records
            .retain(|record| record.name.as_str() != package);
    }
}

fn change_build_metadata(draft: &mut Draft) {
    if let Some(position) = a_record(draft) {
        let record = &mut draft.records[position];
        record.version = version(&format!("{}+build.7", record.version.without_build()));
    }
}

/// A package gets a prerelease with the same requirements and classes as its newest version.
fn add_a_prerelease(draft: &mut Draft) {
    if let Some(package) = a_package(draft)
        && draft.versions_of(&package).len() < 4
    {
        let newest = draft.records[draft.newest(&package)].clone();
        let next = &newest.version;
        let number = match draft.random.weighted(&[70, 15, 15]) {
            0 => format!("{}.{}.0-rc.1", next.major(), next.minor() + 1),
            1 => format!("{}.0.0-beta", next.major() + 1),
            _ => format!(
                "{}.{}.{}-rc.2",
                next.major(),
                next.minor(),
                next.patch() + 1
            ),
        };
        draft.records.push(pkgres_manifest::IndexRecord {
            version: version(&number),
            ..newest
        });
    }
}

/// A requirement names a prerelease.
fn name_a_prerelease(draft: &mut Draft) {
    let prereleases: Vec<(String, String)> = draft
        .records
        .iter()
        .filter(|record| record.version.is_prerelease())
        .map(|record| {
            let number = record.version.without_build().to_string();
            (record.name.to_string(), number)
        })
        .collect();
    if prereleases.is_empty() {
        return;
    }
    let (package, number) = draft.random.pick(&prereleases).clone();
    let spec = [format!(">=0.1.0,<={number}"), format!(">={number}"), number]
        [draft.random.weighted(&[70, 15, 15])]
    .clone();
    let last = draft.records.len();
    for position in 0..=last {
        let is_root = position == last;
        let record = if is_root {
            &mut draft.root
        } else {
            &mut draft.records[position]
        };
        let found = record
            .requirements
            .iter()
            .position(|requirement| requirement.package.as_str() == package);
        if let Some(found) = found
            && draft.random.chance(40)
        {
            change_spec(record, found, &spec);
        }
    }
}

/// A release is yanked, most often the newest.
fn yank(draft: &mut Draft) {
    if let Some(package) = a_package(draft) {
        let position = if draft.random.chance(75) {
            draft.newest(&package)
        } else {
            let positions: Vec<usize> = draft.positions(&package).collect();
            *draft.random.pick(&positions)
        };
        draft.records[position].yanked = true;
    }
}
