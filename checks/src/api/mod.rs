//! Compares the classes of two versions of a package, and finds the version bump that the differences need.
//!
//! The comparison covers everything that other packages can rely on: listed classes and their *effective* members,
//! inherited ones included. A method that moved to an ancestor is not a difference; if a parent lost a method, that
//! is a difference of every class below it. Each difference has a [rule](ApiRule), and for each rule with a major
//! impact there is a [witness](Witness): a package that is correct with the old version and wrong with the new one.
//!
//! Names that begin with `_` are private by convention. Bodies are not compared, and of default values only whether
//! there is one, because callers do not write them.

mod bump;
mod class_pair;
mod classes;
mod confirm_witness;
mod effects;
mod methods;
mod properties;
mod rules;
mod witness;

pub use bump::Bump;
pub use effects::{Reliance, UpdateEffect, update_effects};
pub(crate) use rules::define_rules;
pub use rules::{ApiRule, Impact};
pub use witness::Witness;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, PackageName, Release};

use self::witness::WitnessUse;
use crate::bound_packages::{BoundPackages, ClassAt};

/// A release with the releases that it is bound to, whose classes it inherits from.
#[derive(Debug, Clone, Copy)]
pub struct ApiOf<'packages> {
    /// The release and everything that it needs. Classes of releases that are not available are unknown.
    pub packages: &'packages BoundPackages,
    /// The release.
    pub release: &'packages Release,
}

impl ApiOf<'_> {
    /// The names of a class of the release and of its ancestors, as far as they are known.
    fn ancestors(self, class: &ClassName) -> BTreeSet<ClassName> {
        let at = ClassAt {
            release: self.release.clone(),
            class: class.clone(),
        };
        let ancestry = self.packages.known_ancestry(&at);
        let known = ancestry.known.into_iter().map(|(at, _)| at.class);
        known.chain(ancestry.unknown).collect()
    }
}

/// A difference between the classes of two versions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApiDifference {
    /// The rule.
    pub rule: ApiRule,
    /// The class that declares what differs.
    pub class: ClassName,
    /// The method or property, if it is one that differs.
    pub member: Option<String>,
    /// The argument of the method, if it is one that differs.
    pub argument: Option<String>,
    /// The difference in a sentence.
    pub message: String,
    /// The place in the old version, unless it is about something new.
    pub old: Option<Location>,
    /// The place in the new version; `None` if the difference is about something that was removed.
    pub new: Option<Location>,
    /// Other classes of the package that inherit the difference.
    pub inheritors: Vec<ClassName>,
    /// How a dependant notices a major difference.
    noticed: Option<WitnessUse>,
}

impl ApiDifference {
    /// The impact of the difference on dependants.
    pub fn impact(&self) -> Impact {
        self.rule.impact()
    }

    /// The package that is right with the old version and wrong with the new one, if the impact is major.
    pub fn witness(&self, package: &PackageName) -> Option<Witness> {
        let noticed = self.noticed.as_ref()?;
        Some(Witness::new(self, noticed, package))
    }
}

/// The result of [`compare_apis`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ApiComparison {
    /// The differences by class, those with the gravest impact first.
    pub differences: Vec<ApiDifference>,
    /// Ancestors of the compared classes that are not available. Their members were not compared.
    pub unknown_ancestors: BTreeSet<ClassName>,
}

impl ApiComparison {
    /// The bump that the differences need.
    pub fn needed_bump(&self) -> Bump {
        Bump::needed_for_all(self.differences.iter().map(ApiDifference::impact))
    }
}

/// Compares the classes of two versions of a package.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use pkgres_checks::{ApiOf, BoundPackage, BoundPackages, Bump, compare_apis};
/// use pkgres_manifest::{Package, PackageManifest, ReadOptions, Release};
///
/// fn release(version: &str, class: &str) -> (BoundPackages, Release) {
///     let text = format!(
///         "FullName: org.acme.Web\nType: Library\nVersion: {version}\nClasses: {{org.acme.Web: Web.yaml}}\n"
///     );
///     let options = ReadOptions::with_core(None);
///     let (manifest, _) = PackageManifest::read("manifest.yaml", text.as_bytes(), &options)
///         .into_result()
///         .expect("the manifest is valid");
///     let (package, _) = Package::assemble(manifest, &options, |_| Some(class.as_bytes().to_vec()))
///         .into_result()
///         .expect("the class is valid");
///     let release = package.release();
///     let package = Some(Arc::new(package));
///     let bound = BoundPackage { package, requires: Vec::new() };
///     let releases = BTreeMap::from([(release.clone(), bound)]);
///     (BoundPackages { root_class: None, releases }, release)
/// }
///
/// let (old, old_release) = release("1.0.0", "Name: org.acme.Web\nMethods: {deploy: {}, stop: {}}\n");
/// let (new, new_release) = release("1.1.0", "Name: org.acme.Web\nMethods: {deploy: {}}\n");
/// let comparison = compare_apis(
///     ApiOf { packages: &old, release: &old_release },
///     ApiOf { packages: &new, release: &new_release },
/// );
/// assert_eq!(comparison.differences[0].message, "`org.acme.Web` no longer has the method `stop`");
/// assert_eq!(comparison.needed_bump(), Bump::Major);
/// assert_eq!(Bump::between(&old_release.version, &new_release.version), Bump::Minor);
/// ```
pub fn compare_apis(old: ApiOf<'_>, new: ApiOf<'_>) -> ApiComparison {
    let mut unknown_ancestors = BTreeSet::new();
    let found = classes::compare(old, new, &mut unknown_ancestors);
    ApiComparison {
        differences: merged(found),
        unknown_ancestors,
    }
}

/// A difference of a class.
struct FoundDifference {
    difference: ApiDifference,
    /// The class that has the difference; `difference.class` declares what differs.
    of: ClassName,
}

/// The part of a class that differs, independent of the classes that inherit it.
type DifferenceKey = (ApiRule, ClassName, Option<String>, Option<String>, String);

/// Reports a difference once, for the class that declares it if that has it, with the classes that inherit it.
fn merged(found: Vec<FoundDifference>) -> Vec<ApiDifference> {
    let subject = |found: &FoundDifference| -> DifferenceKey {
        let it = &found.difference;
        (
            it.rule,
            it.class.clone(),
            it.member.clone(),
            it.argument.clone(),
            it.message.clone(),
        )
    };
    let mut places: BTreeMap<DifferenceKey, usize> = BTreeMap::new();
    let mut differences: Vec<ApiDifference> = Vec::new();
    let (own, inherited): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|found| found.of == found.difference.class);
    for found in own.into_iter().chain(inherited) {
        let subject = subject(&found);
        if let Some(&place) = places.get(&subject) {
            differences[place].inheritors.push(found.of);
        } else {
            places.insert(subject, differences.len());
            let mut difference = found.difference;
            if found.of != difference.class {
                difference.inheritors.push(found.of);
            }
            differences.push(difference);
        }
    }
    differences.sort_by(|one, two| {
        let key = |it: &ApiDifference| {
            let member = (it.member.clone(), it.argument.clone());
            (
                std::cmp::Reverse(it.impact()),
                it.class.clone(),
                it.rule,
                member,
            )
        };
        key(one).cmp(&key(two))
    });
    differences
}
