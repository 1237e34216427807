//! `pkgres.lock`: the resolution that a project was last given.
//!
//! The format is a strict, line-oriented subset of YAML with one spelling for every content, so
//! that equal resolutions are equal bytes and a change touches only the lines it concerns:
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
//! There is no time, path, counter or overall digest in it. The last line tells a whole file from
//! a torn one. `order` is the number of the rules by which the solver chooses among valid
//! resolutions.

mod bindings;
mod diff;
mod read;
mod salvage;
mod write;

pub use bindings::Bindings;
pub use diff::{
    BindingChange, LockDiff, OverrideChange, PackageChange, ReleaseChange, RequirementChange,
};

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Parsed};
use crate::digest::ArtifactDigest;
use crate::limits::Limits;
use crate::name::PackageName;
use crate::source::ReleaseSource;
use crate::spec::Spec;
use crate::version::Version;

/// The name of the lockfile, beside the manifest.
pub const LOCK_FILE: &str = "pkgres.lock";

/// The number of the format that is written.
pub(crate) const LOCK_FORMAT: u64 = 1;

/// The number of the decision order.
pub(crate) const DECISION_ORDER: u64 = 1;

/// A resolution as it is kept in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lockfile {
    /// The roots and what each of their requirements is bound to.
    pub roots: BTreeMap<PackageName, BTreeMap<PackageName, LockedRequirement>>,
    /// What every requirement on a package was taken to say, in place of what is written.
    pub overrides: BTreeMap<PackageName, Spec>,
    /// The packages that may have several releases.
    pub side_by_side: BTreeSet<PackageName>,
    /// The releases.
    pub packages: BTreeMap<(PackageName, Version), LockedPackage>,
}

/// A requirement of a root and the version that it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedRequirement {
    /// The versions that the requirement allows. Written in its normal form, so that only a
    /// change of meaning is a change.
    pub spec: Spec,
    /// The version that it is bound to.
    pub version: Version,
}

/// A release in a lockfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedPackage {
    /// Where the release came from.
    pub source: ReleaseSource,
    /// The digest of the artifact; none for releases of the host.
    pub digest: Option<ArtifactDigest>,
    /// The version that each requirement is bound to.
    pub requires: Bindings,
}

impl Lockfile {
    /// Reads a lockfile.
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
        read::read(name, bytes, limits)
    }

    /// What can be saved of a lockfile that cannot be read, for example one with the markers of a
    /// merge conflict: the releases of both sides, and the digests that stand with each. Never
    /// fails; what makes no sense is skipped, and of what is too large for a lockfile everything.
    pub fn salvage(
        bytes: &[u8],
        limits: &Limits,
    ) -> BTreeMap<(PackageName, Version), BTreeSet<ArtifactDigest>> {
        salvage::salvage(bytes, limits)
    }

    /// Writes the lockfile. Equal lockfiles give equal bytes.
    pub fn to_text(&self) -> String {
        write::write(self)
    }

    /// What a merge of two lockfiles may leave behind though every line is in order: bindings to
    /// releases that are not there, and several releases of a package that is not listed as side
    /// by side. One sentence each.
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
            .chain(self.packages.iter().flat_map(|((name, version), locked)| {
                locked
                    .requires
                    .iter()
                    .map(move |(package, bound)| (format!("{name} {version}"), package, bound))
            }));
        for (owner, package, version) in bindings {
            let key = (package.clone(), version.clone());
            if !self.packages.contains_key(&key) && !self.roots.contains_key(package) {
                problems.push(format!(
                    "{owner} is bound to {package} {version}, which is not there"
                ));
            }
        }
        let mut previous: Option<&PackageName> = None;
        for (name, _) in self.packages.keys() {
            if previous.replace(name) == Some(name) && !self.side_by_side.contains(name) {
                problems.push(format!(
                    "{name} has several versions and is not listed as side by side"
                ));
            }
        }
        problems.dedup();
        problems
    }
}

/// The error for a place in a lockfile that a strict reader does not accept.
pub(crate) fn unreadable(message: String) -> Diagnostic {
    Diagnostic::error(crate::diagnostic::Code::LockUnreadable, message)
        .hint("`pkgres lock` writes it anew")
}
