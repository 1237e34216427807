//! The shapes of random universes: each makes other rules matter.

use super::draft::{Draft, requires};
use crate::build::{Build, release};
use crate::random::Random;

/// A shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Packages that require and extend each other at random.
    Soup,
    /// One class inherits from two that share an ancestor.
    Diamond,
    /// Two packages want different releases of the same package.
    Split,
    /// One of two packages must be split, and either will do.
    EitherSplit,
    /// Two versions of the core library.
    CoreVersions,
    /// Classes of two packages extend each other.
    ClassCycle,
    /// Two packages define one class.
    Provider,
    /// Soup with many prereleases.
    Prereleases,
    /// Soup with many yanked releases.
    Yanks,
    /// Soup that was solved before.
    Locks,
}

/// How often the things happen to a universe that can happen to any, in percent.
pub(super) struct Mood {
    /// A lock.
    pub(super) locked: usize,
    /// A prerelease is added to a package.
    pub(super) prereleases: usize,
    /// A release is yanked.
    pub(super) yanked: usize,
    /// Each of the other twists.
    pub(super) twisted: usize,
}

impl Family {
    const WEIGHTS: [(Self, usize); 10] = [
        (Self::Soup, 22),
        (Self::Diamond, 18),
        (Self::Split, 23),
        (Self::EitherSplit, 14),
        (Self::CoreVersions, 8),
        (Self::ClassCycle, 16),
        (Self::Provider, 18),
        (Self::Prereleases, 8),
        (Self::Yanks, 6),
        (Self::Locks, 9),
    ];

    pub(super) fn choose(random: &mut Random) -> Self {
        let weights = Self::WEIGHTS.map(|(_, weight)| weight);
        Self::WEIGHTS[random.weighted(&weights)].0
    }

    pub(super) fn mood(self) -> Mood {
        let quiet = Mood {
            locked: 18,
            prereleases: 8,
            yanked: 8,
            twisted: 7,
        };
        match self {
            Self::Soup => Mood {
                twisted: 12,
                ..quiet
            },
            Self::Prereleases => Mood {
                prereleases: 90,
                ..quiet
            },
            Self::Yanks => Mood {
                yanked: 95,
                locked: 25,
                ..quiet
            },
            Self::Locks => Mood {
                locked: 100,
                yanked: 20,
                ..quiet
            },
            _ => quiet,
        }
    }

    pub(super) fn draft(self, random: Random) -> Draft {
        let mut draft = Draft::new(random);
        if self == Self::CoreVersions {
            core_versions(&mut draft);
        } else if draft.random.chance(35) {
            draft.add_quiet_core();
        }
        match self {
            Self::Soup => soup(&mut draft, 62, false),
            Self::Diamond => diamond(&mut draft),
            Self::Split => split(&mut draft),
            Self::EitherSplit => either_split(&mut draft),
            Self::CoreVersions => {}
            Self::ClassCycle => class_cycle(&mut draft),
            Self::Provider => provider(&mut draft),
            Self::Prereleases | Self::Yanks => soup(&mut draft, 25, true),
            Self::Locks if draft.random.chance(25) => split(&mut draft),
            Self::Locks => soup(&mut draft, 30, true),
        }
        fill(&mut draft);
        draft
    }
}

/// Packages in a row, each of which requires some of the later ones.
fn soup(draft: &mut Draft, edges: usize, is_loose: bool) {
    let count = draft.random.between(3, 5);
    let packages: Vec<(String, Vec<String>)> = (0..count)
        .map(|_| (draft.name(), draft.versions(1, 4)))
        .collect();
    for (position, (name, versions)) in packages.iter().enumerate() {
        let defined = draft.random.between(1, 2);
        for version in versions {
            let mut record = release(name, version);
            for (other_position, (other, other_versions)) in packages.iter().enumerate() {
                let chance = if other_position > position { edges } else { 4 };
                if other_position != position && draft.random.chance(chance) {
                    let spec = any_spec(draft, other_versions, is_loose);
                    record = record.requires(other, &spec);
                }
            }
            for class in ["B", "C"].iter().take(defined) {
                if draft.random.chance(92) {
                    let parents = some_parents(draft, &record);
                    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
                    record = record.defines(&format!("{name}.{class}"), &parents);
                }
            }
            draft.records.push(record);
        }
    }
    for (position, (name, versions)) in packages.iter().enumerate() {
        if position < 2 || draft.random.chance(25) {
            let spec = any_spec(draft, versions, is_loose);
            draft.root_requires(name, &spec);
        }
    }
    let root = draft.root.clone();
    for class in ["P", "Q"] {
        let parents = some_parents(draft, &root);
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        draft.root_defines(&format!("{}.{class}", root.name), &parents);
    }
}

fn any_spec(draft: &mut Draft, versions: &[String], is_loose: bool) -> String {
    if is_loose {
        draft.loose_spec(versions)
    } else {
        draft.spec(versions)
    }
}

/// Some classes that the packages probably define that a release requires.
fn some_parents(draft: &mut Draft, record: &pkgres_manifest::IndexRecord) -> Vec<String> {
    let mut parents = Vec::new();
    for requirement in &record.requirements {
        if draft.random.chance(40) {
            let class = ["B", "B", "B", "C"][draft.random.below(4)];
            parents.push(format!("{}.{class}", requirement.package));
        }
    }
    parents.truncate(2);
    parents
}

/// `R.A` extends `X.B` and `Y.C`, which both extend `Z.D`, perhaps by way of another package.
fn diamond(draft: &mut Draft) {
    let (left, right, bottom) = (draft.name(), draft.name(), draft.name());
    let versions = draft.versions(2, 4);
    for version in &versions {
        let mut record = release(&bottom, version);
        if draft.random.chance(93) {
            record = record.defines(&format!("{bottom}.D"), &[]);
        }
        draft.records.push(record);
    }
    let middle = draft.random.chance(30).then(|| {
        let middle = draft.name();
        let middle_versions = draft.versions(1, 2);
        add_arm(
            draft,
            &middle,
            &middle_versions,
            &bottom,
            "D",
            "E",
            Side::Older,
        );
        middle
    });
    let left_versions = draft.versions(1, 3);
    match &middle {
        Some(middle) => add_arm(draft, &left, &left_versions, middle, "E", "B", Side::Any),
        None => add_arm(draft, &left, &left_versions, &bottom, "D", "B", Side::Older),
    }
    let right_versions = draft.versions(1, 3);
    add_arm(
        draft,
        &right,
        &right_versions,
        &bottom,
        "D",
        "C",
        Side::Newer,
    );
    for (name, versions) in [(&left, &left_versions), (&right, &right_versions)] {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    join(draft, &format!("{left}.B"), &format!("{right}.C"), 94);
}

/// Adds a package whose class extends a class of another one, in most versions.
fn add_arm(
    draft: &mut Draft,
    name: &str,
    versions: &[String],
    required: &str,
    parent: &str,
    class: &str,
    side: Side,
) {
    let required_versions = draft.versions_of(required);
    for version in versions {
        let spec = if draft.random.chance(55) {
            tight_spec(draft, &required_versions, side)
        } else {
            draft.spec(&required_versions)
        };
        let parent = format!("{required}.{parent}");
        let parents: &[&str] = if draft.random.chance(88) {
            &[&parent]
        } else {
            &[]
        };
        let record = release(name, version)
            .requires(required, &spec)
            .defines(&format!("{name}.{class}"), parents);
        draft.records.push(record);
    }
}

/// Classes of the root that extend two classes: often one class both, otherwise one each.
fn join(draft: &mut Draft, one: &str, other: &str, percent: usize) {
    let root = draft.root.name.to_string();
    if draft.random.chance(percent) {
        draft.root_defines(&format!("{root}.A"), &[one, other]);
    } else {
        draft.root_defines(&format!("{root}.A"), &[one]);
        draft.root_defines(&format!("{root}.B"), &[other]);
    }
}

/// Two packages want different releases of one or two others, and no class minds.
fn split(draft: &mut Draft) {
    let (left, right) = (draft.name(), draft.name());
    let count = if draft.random.chance(35) { 1 } else { 2 };
    let shared: Vec<String> = (0..count).map(|_| draft.name()).collect();
    for name in &shared {
        for version in draft.versions(2, 4) {
            let record = release(name, &version).defines(&format!("{name}.D"), &[]);
            draft.records.push(record);
        }
    }
    if count == 2 && draft.random.chance(40) {
        // One shared package requires the other, so that splitting one may split both.
        let versions = draft.versions_of(&shared[1]);
        for position in draft.of(&shared[0]).collect::<Vec<_>>() {
            let spec = draft.spec(&versions);
            let record = draft.records[position].clone();
            draft.records[position] = record.requires(&shared[1], &spec);
        }
    }
    let side_versions = [draft.versions(1, 2), draft.versions(1, 3)];
    for (name, versions, side) in [
        (&left, &side_versions[0], Side::Older),
        (&right, &side_versions[1], Side::Newer),
    ] {
        for version in versions {
            let mut record = release(name, version);
            let mut parents = Vec::new();
            for required in &shared {
                if draft.random.chance(88) {
                    let versions = draft.versions_of(required);
                    let spec = tight_spec(draft, &versions, side);
                    record = record.requires(required, &spec);
                    if draft.random.chance(45) {
                        parents.push(format!("{required}.D"));
                    }
                }
            }
            let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
            draft
                .records
                .push(record.defines(&format!("{name}.B"), &parents));
        }
    }
    for (side, name) in [&left, &right].into_iter().enumerate() {
        let spec = draft.loose_spec(&side_versions[side]);
        draft.root_requires(name, &spec);
    }
    if draft.random.chance(15) {
        let versions = draft.versions_of(&shared[0]);
        let spec = draft.spec(&versions);
        draft.root_requires(&shared[0], &spec);
    }
    join(draft, &format!("{left}.B"), &format!("{right}.B"), 20);
}

/// Which of the versions of a package somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Older,
    Newer,
    Any,
}

/// A spec that leaves little.
fn tight_spec(draft: &mut Draft, versions: &[String], side: Side) -> String {
    let half = versions.len() / 2;
    let part = match side {
        Side::Older => &versions[..half.max(1)],
        Side::Newer => &versions[half..],
        Side::Any => versions,
    };
    let target = draft.random.pick(part).clone();
    match draft.random.weighted(&[68, 20, 12]) {
        1 if side == Side::Older => format!("<={target}"),
        1 if side == Side::Newer => format!(">={target}"),
        2 => draft.spec(versions),
        _ => target,
    }
}

/// `X` needs an old `U` or an old `V`, `Y` the new ones of both: one of `U` and `V` is split, and
/// the names decide which.
fn either_split(draft: &mut Draft) {
    let (chooser, strict) = (draft.name(), draft.name());
    let options = [draft.name(), draft.name()];
    let mut versions = Vec::new();
    for name in &options {
        let of_option = draft.versions(2, 3);
        for version in &of_option {
            let record = release(name, version).defines(&format!("{name}.D"), &[]);
            draft.records.push(record);
        }
        versions.push(of_option);
    }
    let chooser_versions = draft.versions(2, 4);
    for version in &chooser_versions {
        let option = draft.random.below(2);
        let old = versions[option][0].clone();
        let mut record = release(&chooser, version).requires(&options[option], &old);
        if draft.random.chance(25) {
            let spec = draft.loose_spec(&versions[1 - option]);
            record = record.requires(&options[1 - option], &spec);
        }
        let parent = format!("{}.D", options[option]);
        let parents: &[&str] = if draft.random.chance(50) {
            &[&parent]
        } else {
            &[]
        };
        draft
            .records
            .push(record.defines(&format!("{chooser}.B"), parents));
    }
    let strict_versions = draft.versions(1, 2);
    for version in &strict_versions {
        let mut record = release(&strict, version);
        for option in 0..2 {
            let newest = versions[option].last().expect("at least two versions");
            let spec = if draft.random.chance(80) {
                newest.clone()
            } else {
                draft.spec(&versions[option])
            };
            record = record.requires(&options[option], &spec);
        }
        let parent = format!("{}.D", options[draft.random.below(2)]);
        let parents: &[&str] = if draft.random.chance(50) {
            &[&parent]
        } else {
            &[]
        };
        draft
            .records
            .push(record.defines(&format!("{strict}.C"), parents));
    }
    for (name, versions) in [(&chooser, &chooser_versions), (&strict, &strict_versions)] {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    // A class that joins both sides makes the class of a split package a diamond.
    join(draft, &format!("{chooser}.B"), &format!("{strict}.C"), 35);
}

/// A core library whose older version is what is required if nothing is said.
fn core_versions(draft: &mut Draft) {
    draft.add_core(&["0.5.0", "0.8.0", "1.0.0"]);
    let core = draft.core.clone().expect("just added");
    let core_versions = draft.versions_of(&core);
    let count = draft.random.between(2, 4);
    let mut classes = Vec::new();
    for _ in 0..count {
        let name = draft.name();
        let versions = draft.versions(1, 3);
        for version in &versions {
            let mut record = release(&name, version);
            if draft.random.chance(55) {
                let spec = match draft.random.below(3) {
                    0 => "*".to_owned(),
                    1 => "1".to_owned(),
                    _ => draft.spec(&core_versions),
                };
                record = record.requires(&core, &spec);
            }
            let parents: &[&str] = if draft.random.chance(30) {
                &[&format!("{core}.Object")]
            } else {
                &[]
            };
            draft
                .records
                .push(record.defines(&format!("{name}.B"), parents));
        }
        let spec = draft.loose_spec(&versions);
        draft.root_requires(&name, &spec);
        classes.push(format!("{name}.B"));
    }
    if draft.random.chance(70) {
        let spec = draft.spec(&core_versions);
        draft.root_requires(&core, &spec);
    }
    // A class of the root that extends nothing else extends the root class of its own core; one
    // that extends a class of a package, that of the package's core.
    join(draft, &classes[0], &classes[1], 55);
}

/// Classes of two packages that require each other extend each other in some versions.
fn class_cycle(draft: &mut Draft) {
    let names = [draft.name(), draft.name()];
    let versions = [draft.versions(1, 3), draft.versions(2, 3)];
    let third = draft.random.chance(40).then(|| draft.name());
    for side in 0..2 {
        let (own, other) = (&names[side], &names[1 - side]);
        for version in &versions[side] {
            let mut record = release(own, version);
            let is_there = side == 0 || draft.random.chance(70);
            if is_there {
                let spec = draft.loose_spec(&versions[1 - side]);
                record = record.requires(other, &spec);
            }
            let parent = format!("{other}.B");
            let extends_other = is_there && draft.random.chance(90);
            let parents: &[&str] = if extends_other { &[&parent] } else { &[] };
            record = record.defines(&format!("{own}.B"), parents);
            if draft.random.chance(25) {
                record = record.hides(&format!("{own}.I"), &[&format!("{own}.B")]);
            }
            draft.records.push(record);
        }
    }
    let spec = draft.loose_spec(&versions[0]);
    draft.root_requires(&names[0], &spec);
    if draft.random.chance(40) {
        let spec = draft.loose_spec(&versions[1]);
        draft.root_requires(&names[1], &spec);
    }
    let root = draft.root.name.to_string();
    draft.root_defines(&format!("{root}.A"), &[&format!("{}.B", names[0])]);
    if let Some(third) = third {
        for version in draft.versions(1, 2) {
            let spec = draft.loose_spec(&versions[1]);
            let record = release(&third, &version)
                .requires(&names[1], &spec)
                .defines(&format!("{third}.B"), &[&format!("{}.B", names[1])]);
            draft.records.push(record);
        }
        draft.root_requires(&third, "*");
    }
}

/// A class has moved from one package to another: some versions of both define it. Whoever takes
/// it from one and extends a class that takes it from the other has a diamond.
fn provider(draft: &mut Draft) {
    let (old, new, user) = (draft.name(), draft.name(), draft.name());
    let moved = format!("{old}.K");
    let old_versions = draft.versions(1, 3);
    let kept = draft.random.between(1, old_versions.len() + 1);
    for (position, version) in old_versions.iter().enumerate() {
        let mut record = release(&old, version).defines(&format!("{old}.L"), &[]);
        if position < kept {
            record = record.defines(&moved, &[]);
        }
        draft.records.push(record);
    }
    let new_versions = draft.versions(1, 3);
    let gained = draft.random.below(new_versions.len());
    for (position, version) in new_versions.iter().enumerate() {
        let mut record = release(&new, version).defines(&format!("{new}.N"), &[]);
        if position >= gained {
            record = record.defines(&moved, &[]);
        }
        draft.records.push(record);
    }
    let user_versions = draft.versions(1, 3);
    for version in &user_versions {
        let mut record = release(&user, version);
        let mut required = [(&old, &old_versions), (&new, &new_versions)];
        draft.random.shuffle(&mut required);
        let count = if draft.random.chance(60) { 1 } else { 2 };
        for (name, versions) in required.into_iter().take(count) {
            let is_loose = draft.random.chance(60);
            let spec = any_spec(draft, versions, is_loose);
            record = record.requires(name, &spec);
        }
        draft
            .records
            .push(record.defines(&format!("{user}.U"), &[&moved]));
    }
    let mut required = [
        (&old, &old_versions),
        (&new, &new_versions),
        (&user, &user_versions),
    ];
    draft.random.shuffle(&mut required);
    for (name, versions) in required {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    join(draft, &moved, &format!("{user}.U"), 80);
}

/// Adds packages that are not part of the shape until there are at least three.
fn fill(draft: &mut Draft) {
    let wanted = draft.random.between(3, 6);
    while draft.packages().len() < wanted {
        let extra = usize::from(draft.packages().len() >= 3);
        if extra == 1 && draft.random.chance(60) {
            return;
        }
        let name = draft.name();
        let others = draft.packages();
        for version in draft.versions(1, 3) {
            let mut record = release(&name, &version).defines(&format!("{name}.B"), &[]);
            if !others.is_empty() && draft.random.chance(35) {
                let other = draft.random.pick(&others).clone();
                let versions = draft.versions_of(&other);
                let spec = draft.loose_spec(&versions);
                if draft.core.as_ref() != Some(&other) {
                    record = record.requires(&other, &spec);
                }
            }
            draft.records.push(record);
        }
        let versions = draft.versions_of(&name);
        if others.is_empty() || draft.random.chance(50) {
            let spec = draft.loose_spec(&versions);
            draft.root_requires(&name, &spec);
        } else {
            let requirer = draft.random.pick(&others).clone();
            for position in draft.of(&requirer).collect::<Vec<_>>() {
                if draft.random.chance(70) && !requires(&draft.records[position], &name) {
                    let spec = draft.loose_spec(&versions);
                    draft.records[position] =
                        draft.records[position].clone().requires(&name, &spec);
                }
            }
        }
    }
}
