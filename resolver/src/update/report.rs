//! The report of an update: what moved and why, and which versions were held back.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, Package, PackageName, Release, Version};

use crate::explain::{Conflict, Reason, locate_classes, locate_references, with_labels};
use crate::request::Locked;
use crate::selection::Selection;
use crate::universe::Universe;

/// The report of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateReport {
    /// The differences from the lock, by name.
    pub moved: Vec<Moved>,
    /// Versions of the named packages that are better than the result but impossible, by name, each
    /// with its conflict.
    pub held_back: Vec<HeldBack>,
    /// Whether it is proved that no proper subset of these packages could have moved. Never for an
    /// update in which a package has several releases.
    pub is_minimal: bool,
}

impl UpdateReport {
    /// Names and locates the classes of a root in the reasons, as [`Conflict::locate_classes`]
    /// does.
    pub fn locate_classes(&mut self, root: &Package) {
        for moved in &mut self.moved {
            locate_classes(&mut moved.because, root);
        }
        for held_back in &mut self.held_back {
            held_back.because.locate_classes(root);
        }
    }

    /// Locates the classes that a root extends or uses in the reasons, as [`Conflict::locate_references`] does.
    pub fn locate_references(
        &mut self,
        root: &PackageName,
        place: impl Fn(&ClassName) -> Option<Location>,
    ) {
        for moved in &mut self.moved {
            locate_references(&mut moved.because, root, &place);
        }
        for held_back in &mut self.held_back {
            held_back.because.locate_references(root, &place);
        }
    }

    /// Adds the label of each class behind its name in the reasons, as [`Conflict::label_classes`] does.
    pub fn label_classes(&mut self, label: impl Fn(&ClassName) -> Option<String>) {
        for reason in self.moved.iter_mut().flat_map(|moved| &mut moved.because) {
            reason.text = with_labels(&reason.text, &label);
        }
        for held_back in &mut self.held_back {
            held_back.because.label_classes(&label);
        }
    }
}

/// A package that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The package.
    pub package: PackageName,
    /// The version that was locked; `None` for a new package.
    pub from: Option<Version>,
    /// The version now; `None` if nothing requires the package any more.
    pub to: Option<Version>,
    /// The reasons why it could not stay, minimal as far as this could be proved. Empty for packages that were added
    /// or removed, and if nothing was proved.
    pub because: Vec<Reason>,
}

/// A version that a named package could not move to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldBack {
    /// The package.
    pub package: PackageName,
    /// The best of the versions that are impossible for the same reasons.
    pub version: Version,
    /// The others, best first. They are better than the result, which is not the same as newer:
    /// older versions may be preferred, and stable ones usually are.
    pub alike: Vec<Version>,
    /// Why the version is impossible.
    pub because: Conflict,
}

/// Builds the report of an update.
#[derive(Debug)]
pub(crate) struct ReportBuilder {
    /// The locked versions of each package but the roots.
    pub(super) locked_versions: BTreeMap<PackageName, BTreeSet<Version>>,
    /// `None` if nothing was proved.
    pub(crate) findings: Option<Findings>,
}

/// Findings of the search.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(super) because: BTreeMap<PackageName, Vec<Reason>>,
    pub(super) is_minimal: bool,
    pub(super) held_back: Vec<HeldBack>,
}

impl ReportBuilder {
    pub(crate) fn new(locked: &Locked, is_root: impl Fn(&PackageName) -> bool) -> Self {
        let mut locked_versions: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        for (name, version) in locked.bound() {
            if !is_root(name) {
                locked_versions
                    .entry(name.clone())
                    .or_default()
                    .insert(version.clone());
            }
        }
        Self {
            locked_versions,
            findings: None,
        }
    }

    /// The report: how a selection differs from the lock.
    pub(crate) fn report(self, universe: &Universe, selection: &Selection) -> UpdateReport {
        let mut findings = self.findings.unwrap_or_default();
        let mut present: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        for release in selection.releases() {
            if !universe.catalog.is_root(release.package) {
                let Release { name, version } = universe.catalog.named_version(*release);
                present.entry(name).or_default().insert(version);
            }
        }
        let nothing = BTreeSet::new();
        let names: BTreeSet<&PackageName> =
            self.locked_versions.keys().chain(present.keys()).collect();
        let mut moved = Vec::new();
        for name in names {
            let before = self.locked_versions.get(name).unwrap_or(&nothing);
            let now = present.get(name).unwrap_or(&nothing);
            let (mut gone, mut new) = (before.difference(now), now.difference(before));
            loop {
                let (from, to) = (gone.next().cloned(), new.next().cloned());
                if from.is_none() && to.is_none() {
                    break;
                }
                let because = match (&from, &to) {
                    (Some(_), Some(_)) => findings.because.remove(name).unwrap_or_default(),
                    _ => Vec::new(),
                };
                moved.push(Moved {
                    package: name.clone(),
                    from,
                    to,
                    because,
                });
            }
        }
        UpdateReport {
            moved,
            held_back: findings.held_back,
            is_minimal: findings.is_minimal,
        }
    }
}
