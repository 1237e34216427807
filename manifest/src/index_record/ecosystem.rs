//! Ecosystems: how their names, versions and ranges are read and written.
//!
//! Everything else in the workspace works on one order of versions and on sets of them. An [`Ecosystem`] maps its own
//! texts into that order and keeps them; such names and versions are called *native*. What a user sees is always what
//! the ecosystem itself would write. Class packages are [`CLASS_PACKAGES`]; the others are in the crate
//! `pkgres-formats`.

use std::fmt;

#[cfg(feature = "json")]
use super::IndexRecord;
use crate::name::{ClassName, NameError, PackageName};
#[cfg(feature = "json")]
use crate::read_options::Limits;
use crate::spec::{Spec, SpecError};
use crate::version::{Version, VersionError};

/// The syntax that an ecosystem uses for names, versions, ranges and index records.
pub trait Ecosystem: fmt::Debug + Send + Sync {
    /// The name of the ecosystem in index records, lockfiles and on the command line, such as `ansible`.
    fn id(&self) -> &'static str;

    /// Reads the name of a package.
    fn package_name(&self, text: &str) -> Result<PackageName, NameError>;

    /// Reads the name of a class.
    fn class_name(&self, text: &str) -> Result<ClassName, NameError>;

    /// Reads a version as the ecosystem writes it.
    fn version(&self, text: &str) -> Result<Version, VersionError>;

    /// Reads a version of the host, which may be written in another way than those of packages.
    fn host_version(&self, text: &str) -> Result<Version, VersionError> {
        self.version(text)
    }

    /// Reads a range. It also has to read what [`compatible_with`](Self::compatible_with) writes: lockfiles have it.
    fn spec(&self, text: &str) -> Result<Spec, SpecError>;

    /// The range of the versions that are compatible with one, as a file of the ecosystem states it.
    fn compatible_with(&self, version: &Version) -> Spec;

    /// The class whose second name a class is, if the ecosystem has such names. Lists for people have first names only.
    fn first_name(&self, _class: &ClassName) -> Option<ClassName> {
        None
    }

    /// Whether releases can have [labels](IndexRecord::labels) of classes, whose names are then shown with them.
    fn has_labels(&self) -> bool {
        false
    }

    /// Whether several releases of a package may be in a resolution.
    fn has_side_by_side(&self) -> bool {
        false
    }

    /// Whether a class named `a.b.*` defines every class `a.b.NAME`.
    fn has_wildcard_classes(&self) -> bool {
        false
    }

    /// Reads an index record from a line of JSON whose `ecosystem` is this one. The error says what is wrong with
    /// the line.
    #[cfg(feature = "json")]
    fn read_record(&self, line: &str, limits: &Limits) -> Result<IndexRecord, String>;

    /// Returns an index record as a line of JSON without a line feed.
    #[cfg(feature = "json")]
    fn write_record(&self, record: &IndexRecord) -> String;
}

impl PartialEq for dyn Ecosystem {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for dyn Ecosystem {}

/// The ecosystem of class packages, which is the default.
pub static CLASS_PACKAGES: &dyn Ecosystem = &ClassPackages;

/// Class packages as of OpenStack Murano.
#[derive(Debug)]
struct ClassPackages;

impl Ecosystem for ClassPackages {
    fn id(&self) -> &'static str {
        "murano"
    }

    fn package_name(&self, text: &str) -> Result<PackageName, NameError> {
        PackageName::parse(text)
    }

    fn class_name(&self, text: &str) -> Result<ClassName, NameError> {
        ClassName::parse(text)
    }

    fn version(&self, text: &str) -> Result<Version, VersionError> {
        Version::parse(text)
    }

    fn spec(&self, text: &str) -> Result<Spec, SpecError> {
        Spec::parse(text)
    }

    fn compatible_with(&self, version: &Version) -> Spec {
        Spec::compatible_with(version)
    }

    fn has_side_by_side(&self) -> bool {
        true
    }

    #[cfg(feature = "json")]
    fn read_record(&self, line: &str, limits: &Limits) -> Result<IndexRecord, String> {
        IndexRecord::parse_line(line, limits).map_err(|error| error.message)
    }

    #[cfg(feature = "json")]
    fn write_record(&self, record: &IndexRecord) -> String {
        serde_json::to_string(record).expect("texts, numbers and booleans are valid JSON")
    }
}

/// The ecosystems that a reader knows, class packages among them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Ecosystems(&'static [&'static dyn Ecosystem]);

impl Ecosystems {
    /// Returns these ecosystems and class packages.
    pub const fn of(others: &'static [&'static dyn Ecosystem]) -> Self {
        Self(others)
    }

    /// The ecosystem with an id.
    pub fn find(self, id: &str) -> Option<&'static dyn Ecosystem> {
        self.iter().find(|known| known.id() == id)
    }

    /// All ecosystems, class packages first.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Ecosystem> {
        std::iter::once(CLASS_PACKAGES).chain(self.0.iter().copied())
    }
}

/// Class packages alone.
impl Default for Ecosystems {
    fn default() -> Self {
        Self::of(&[])
    }
}

impl fmt::Debug for Ecosystems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_list()
            .entries(self.iter().map(Ecosystem::id))
            .finish()
    }
}
