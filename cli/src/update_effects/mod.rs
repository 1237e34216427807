//! What an update changes for the classes of a project.

mod classes;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_checks::{Impact, RecordEffect, Reliance, UpdateEffect};
use pkgres_formats::Format;
use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ClassName, IndexRecord, LockDiff, Lockfile, Package, PackageName, Release, ReleaseSource,
    Version,
};
use pkgres_registry_client::{Outdated, RegistrySet};
use pkgres_resolver::Supply;

use crate::context::Context;
use crate::failure::Result;
use crate::project_uses::ProjectUses;

/// A release in place of another one of the same package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) package: PackageName,
    pub(crate) from: Version,
    pub(crate) to: Version,
}

impl Replacement {
    /// The replacements that the versions allowed by the requirements would be, and those that the latest would be.
    pub(crate) fn of_outdated(outdated: &[Outdated]) -> Vec<Self> {
        let mut replacements = Vec::new();
        for entry in outdated {
            let versions = entry.allowed.iter().chain([&entry.latest]);
            let versions: BTreeSet<&Version> = versions.filter(|it| **it != entry.now).collect();
            replacements.extend(versions.into_iter().map(|to| Self {
                package: entry.package.clone(),
                from: entry.now.clone(),
                to: to.clone(),
            }));
        }
        replacements
    }

    /// The replacements between two lockfiles.
    pub(crate) fn of_lock(diff: &LockDiff) -> Vec<Self> {
        let of_package = |change: &pkgres_manifest::PackageChange| {
            let only = |of: &[Version], others: &[Version]| -> Vec<Version> {
                let only = of.iter().filter(|version| !others.contains(version));
                only.cloned().collect()
            };
            let gone = only(&change.before, &change.after);
            let new = only(&change.after, &change.before);
            let package = change.package.clone();
            let pairs = gone.into_iter().zip(new);
            pairs
                .map(move |(from, to)| Self {
                    package: package.clone(),
                    from,
                    to,
                })
                .collect::<Vec<_>>()
        };
        diff.packages.iter().flat_map(of_package).collect()
    }

    /// Whether a lockfile has the release that is replaced.
    pub(crate) fn is_of(&self, lock: &Lockfile) -> bool {
        lock.packages.contains_key(&self.before())
    }

    fn before(&self) -> Release {
        Release::new(self.package.clone(), self.from.clone())
    }

    fn after(&self) -> Release {
        Release::new(self.package.clone(), self.to.clone())
    }
}

/// A project that updates may affect.
pub(crate) enum AffectedProject<'project> {
    Package(&'project Arc<Package>),
    /// A project of another ecosystem.
    Other {
        format: &'static dyn Format,
        uses: Box<ProjectUses>,
    },
}

/// The differences that concern the classes of a project.
#[derive(Default)]
pub(crate) struct ProjectEffects {
    /// Each with the replacement that brings it about.
    pub(crate) effects: Vec<(Replacement, Effect)>,
    /// The releases whose classes could not be compared.
    pub(crate) not_compared: Vec<NotCompared>,
}

/// A difference that concerns a class of a project.
pub(crate) struct Effect {
    /// The id of the rule.
    pub(crate) rule: &'static str,
    /// What it means for the class.
    pub(crate) impact: Impact,
    /// The difference in a sentence.
    pub(crate) message: String,
    /// The class that differs.
    pub(crate) declared_in: ClassName,
    /// The member that differs, if it is one.
    pub(crate) member: Option<String>,
    /// The argument that differs, if it is one.
    pub(crate) argument: Option<String>,
    /// The class of the project.
    pub(crate) class: ClassName,
    /// The class of the project as people know it.
    pub(crate) shown: String,
    /// How the class relies on what differs.
    pub(crate) reliance: Reliance,
    /// Where it does, as far as that is known.
    pub(crate) places: Vec<Location>,
    /// The place in the old release, if it is known.
    pub(crate) old: Option<Location>,
    /// The place in the new release, if it is known.
    pub(crate) new: Option<Location>,
}

impl Effect {
    fn of_class(effect: UpdateEffect) -> Self {
        let difference = effect.difference;
        Self {
            rule: difference.rule.id(),
            impact: effect.impact,
            message: difference.message,
            declared_in: difference.class,
            member: difference.member,
            argument: difference.argument,
            shown: format!("`{}`", effect.class),
            class: effect.class,
            reliance: effect.reliance,
            places: effect.places,
            old: difference.old,
            new: difference.new,
        }
    }

    /// An effect on a class of a record. `place` is where it relies on what differs, if that is known.
    fn of_record(effect: RecordEffect, project: &IndexRecord, place: Option<Location>) -> Self {
        let difference = effect.difference;
        let label = project.label(&effect.class);
        Self {
            rule: difference.rule.id(),
            impact: effect.impact,
            message: difference.message,
            declared_in: difference.class,
            member: None,
            argument: None,
            shown: match label {
                Some(label) => format!("`{label}`"),
                None => format!("`{}`", effect.class),
            },
            class: effect.class,
            reliance: effect.reliance,
            places: place.into_iter().collect(),
            old: difference.old,
            new: difference.new,
        }
    }
}

/// A release whose classes could not be compared.
pub(crate) struct NotCompared {
    pub(crate) package: PackageName,
    pub(crate) version: Version,
    /// Whether the classes were compared, but not what they declare.
    pub(crate) is_partial: bool,
    pub(crate) reason: String,
}

impl ProjectEffects {
    /// Adds what concerns another project.
    pub(crate) fn extend(&mut self, other: Self) {
        self.effects.extend(other.effects);
        self.not_compared.extend(other.not_compared);
    }

    /// Finds what replacements in a lockfile mean for the classes of a project.
    pub(crate) fn find(
        project: &AffectedProject<'_>,
        lock: &Lockfile,
        replacements: &[Replacement],
        registries: &RegistrySet,
        context: &Context,
    ) -> Result<Self> {
        if replacements.is_empty() {
            return Ok(Self::default());
        }
        match project {
            AffectedProject::Package(package) => {
                classes::find(package, lock, replacements, registries, context)
            }
            AffectedProject::Other { format, uses } => {
                records::find(*format, uses, lock, replacements, registries, context)
            }
        }
    }
}

/// The records of the releases in a lockfile, and of those that replace them, each with its source.
fn records_of(
    lock: &Lockfile,
    replacements: &[Replacement],
    registries: &RegistrySet,
) -> Result<BTreeMap<Release, (IndexRecord, ReleaseSource)>> {
    let new: BTreeSet<Release> = replacements.iter().map(Replacement::after).collect();
    let names: BTreeSet<PackageName> = (lock
        .packages
        .keys()
        .map(|Release { name, .. }| name.clone()))
    .collect();
    let names: Vec<PackageName> = names.into_iter().collect();
    let mut records = BTreeMap::new();
    for supply in registries.supply(&names)? {
        let Supply::Releases {
            source,
            records: found,
        } = supply
        else {
            continue;
        };
        for record in found {
            let release = record.release();
            if lock.packages.contains_key(&release) || new.contains(&release) {
                records.insert(release, (record, source.clone()));
            }
        }
    }
    Ok(records)
}
