//! Universes in terms that every solver can be given: numbers for packages and versions.

/// A range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lowest version.
    pub low: u32,
    /// The first version that is too high, if any is.
    pub high: Option<u32>,
}

impl Range {
    /// All versions.
    pub const FULL: Self = Self { low: 0, high: None };
}

/// A requirement: a package, and the versions of it that will do.
pub type Dependency = (usize, Range);

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The version: `n` stands for `n.0.0`.
    pub version: u32,
    /// What it requires.
    pub dependencies: Vec<Dependency>,
}

/// Packages, by number, with their releases, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universe {
    /// What the table calls it.
    pub name: String,
    /// The releases of each package.
    pub packages: Vec<Vec<Release>>,
    /// The problems: what a root requires. They are solved one after the other.
    pub roots: Vec<Vec<Dependency>>,
}
