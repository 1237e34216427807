//! `pkgres.lock`: the resolution that a project uses.
//!
//! The format is a strict, line-oriented subset of YAML with one spelling for every content, so that equal
//! resolutions are equal bytes and a change affects only the lines that it concerns:
//!
//! ```yaml
//! # Written by pkgres; `pkgres lock` keeps it in step with the manifest.
//! # Format 1, read by pkgres 0.1.0 and later.
//! lock: 1
//! order: 1
//! roots:
//! - name: org.acme.Web
//!   requires:
//!     org.acme.Db:
//!       spec: ">=1.0.0,<2.0.0"
//!       version: 1.4.0
//! packages:
//! - name: org.acme.Db
//!   version: 1.4.0
//!   source: default
//!   sha256: tree:9b1c...
//! complete: true
//! ```
//!
//! A lockfile of an ecosystem other than class packages has a line `ecosystem:` after the order. Its names, specs and
//! versions are those of the ecosystem. If the text of a version does not determine its place in the order of
//! versions, it is in quotes, and `order:` in the block of its release has the version of Semantic Versioning at that
//! place. (The `order:` of the header is the number of the rules.)
//!
//! A lockfile of a project with interfaces has `capabilities:` after the packages: for each class and interface the
//! release that defines the interface, and the functions, each with its [status on every platform](LockedCapability).
//! Lockfiles of earlier versions lack the release.
//!
//! It has no time, path, counter or overall digest, so that merges of version control systems mostly succeed.
//! The last line distinguishes a whole file from a truncated one. `order` is the number of the rules by which
//! the solver chooses among valid resolutions.
//!
//! The reader ([`read`]) is our own code because a lockfile is read at every start: it needs one pass and no
//! tree. A test compares it with a YAML library. [`salvage`] takes what it can from a lockfile with merge
//! conflicts, [`diff`] compares two lockfiles.

mod bindings;
mod capabilities;
mod diff;
mod read;
mod salvage;
mod write;

pub use bindings::Bindings;
pub use capabilities::{
    CapabilityChange, CapabilityChangeKind, LockedCapability, LockedConformance,
    LockedImplementation, capability_changes,
};
pub use diff::{
    BindingChange, LockDiff, OverrideChange, PackageChange, ReleaseChange, RequirementChange,
    SideBySideChange,
};

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Parsed};
use crate::digest::ArtifactDigest;
use crate::index_record::{CLASS_PACKAGES, Ecosystem, Ecosystems};
use crate::name::PackageName;
use crate::read_options::Limits;
use crate::release::Release;
use crate::release_source::ReleaseSource;
use crate::spec::Spec;
use crate::version::Version;

/// The file name of the lockfile, which is beside the manifest.
pub const LOCK_FILE: &str = "pkgres.lock";

/// The number of the current format.
pub(crate) const LOCK_FORMAT: u64 = 1;

/// The number of the current decision order.
pub(crate) const DECISION_ORDER: u64 = 1;

/// The content of a lockfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lockfile {
    /// The ecosystem of all packages.
    pub ecosystem: &'static dyn Ecosystem,
    /// The roots with their requirements.
    pub roots: BTreeMap<PackageName, BTreeMap<PackageName, LockedRequirement>>,
    /// The overrides: for each package, the spec that replaces the spec of every requirement on it.
    pub overrides: BTreeMap<PackageName, Spec>,
    /// The packages that may have several releases.
    pub side_by_side: BTreeSet<PackageName>,
    /// The releases.
    pub packages: BTreeMap<Release, LockedPackage>,
    /// The conformance of classes to the interfaces that they implement.
    pub capabilities: BTreeMap<LockedImplementation, LockedConformance>,
}

/// A requirement of a root and the version that it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedRequirement {
    /// The spec of the requirement. The lockfile has its normal form, so only a change of its meaning is a change.
    pub spec: Spec,
    /// The version that it is bound to.
    pub version: Version,
}

/// A release in a lockfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedPackage {
    /// The source of the release.
    pub source: ReleaseSource,
    /// The digest of the artifact; `None` if the source states none, as for releases of the host.
    pub digest: Option<ArtifactDigest>,
    /// The versions that its requirements are bound to.
    pub requires: Bindings,
}

/// A lockfile of class packages without roots and releases.
impl Default for Lockfile {
    fn default() -> Self {
        Self {
            ecosystem: CLASS_PACKAGES,
            roots: BTreeMap::new(),
            overrides: BTreeMap::new(),
            side_by_side: BTreeSet::new(),
            packages: BTreeMap::new(),
            capabilities: BTreeMap::new(),
        }
    }
}

impl Lockfile {
    /// Reads a lockfile of class packages. Messages call it `name`.
    ///
    /// ```
    /// use pkgres_manifest::{Limits, Lockfile};
    ///
    /// let lock = Lockfile::default();
    /// let text = lock.to_text();
    /// let read = Lockfile::read("pkgres.lock", text.as_bytes(), &Limits::default());
    /// assert_eq!(read.value(), Some(&lock));
    /// ```
    pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Self> {
        read::read(name, bytes, limits, Ecosystems::default())
    }

    /// Reads a lockfile of one of these ecosystems. Messages call it `name`.
    pub fn read_of_ecosystems(
        name: &str,
        bytes: &[u8],
        limits: &Limits,
        ecosystems: Ecosystems,
    ) -> Parsed<Self> {
        read::read(name, bytes, limits, ecosystems)
    }

    /// Returns the releases in a lockfile that cannot be read, for example one with merge conflict markers:
    /// the releases of both sides, with all digests that may belong to each. Never fails; lines that make no sense
    /// are skipped, and nothing is read of a file that is too large.
    pub fn salvage(bytes: &[u8], limits: &Limits) -> BTreeMap<Release, BTreeSet<ArtifactDigest>> {
        salvage::salvage(bytes, limits)
    }

    /// Returns the text of the lockfile. Equal lockfiles give equal bytes.
    pub fn to_text(&self) -> String {
        write::write(self)
    }

    /// Returns one sentence for each trace of a bad merge: bindings to releases that are not in the lockfile,
    /// and several releases of a package that is not listed as side by side. Every line of such a lockfile
    /// can be well-formed.
    pub fn merge_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let bindings = self
            .roots
            .iter()
            .flat_map(|(root, requirements)| {
                requirements
                    .iter()
                    .map(move |(package, bound)| (root.to_string(), package, &bound.version))
            })
            .chain(self.packages.iter().flat_map(|(release, locked)| {
                locked
                    .requires
                    .iter()
                    .map(move |(package, bound)| (release.to_string(), package, bound))
            }));
        for (owner, package, version) in bindings {
            let bound = Release::new(package.clone(), version.clone());
            if !self.packages.contains_key(&bound) && !self.roots.contains_key(package) {
                problems.push(format!(
                    "{owner} is bound to {bound}, which is not in the lockfile"
                ));
            }
        }
        let mut previous: Option<&PackageName> = None;
        for Release { name, .. } in self.packages.keys() {
            if previous.replace(name) == Some(name) && !self.side_by_side.contains(name) {
                problems.push(format!(
                    "{name} has several versions but is not listed as side by side"
                ));
            }
        }
        problems.dedup();
        problems
    }
}

/// The error for a lockfile that is not well-formed.
pub(crate) fn unreadable(message: String) -> Diagnostic {
    Diagnostic::error(crate::diagnostic::Code::LockUnreadable, message)
        .hint("`pkgres lock` rewrites it")
}
