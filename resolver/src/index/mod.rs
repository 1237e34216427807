//! The compiled index: the releases of many packages, prepared for solving.
//!
//! # Problem
//!
//! A solve reads thousands of requirements. Parsing names, versions and specs, and comparing versions with specs, would
//! take most of the time, and would be the same work in each solve.
//!
//! # Idea
//!
//! The index is compiled once: names, versions, specs and classes become numbers, and what a requirement allows becomes
//! a set of positions of releases ([`IndexedRequirement::sets`]). A second set has the other releases of the package with
//! the same requirement, so the search needs one clause for all of them. As a result, many problems are solved without
//! parsing any text.
//!
//! All data is in columns of plain numbers ([`column`](mod@column)), which a file can store as they are ([`bytes`]).
//! Opening such a file validates it ([`check`]) but converts nothing. Data about inheritance is not stored, but derived
//! when an index is compiled or opened ([`inheritance`]).
//!
//! # Cost
//!
//! Compiling takes about as long as reading the records. An opened index needs memory only for derived data; the
//! columns remain in the mapped file. Several solvers can share an index, because it never changes.

mod bytes;
mod check;
mod column;
mod compile;
mod inheritance;
mod interner;
#[cfg(feature = "prefetch")]
pub(crate) mod prefetch;

pub use bytes::IndexBytesError;
use column::VersionColumn;
pub(crate) use column::to_u32;
use column::{Column, Lists, Texts};
pub(crate) use inheritance::{ClassDefiners, Inheritance, Link, SEVERAL, nodes_leading_to_cycles};
pub(crate) use interner::Interner;

use std::ops::Range;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ArtifactDigest, ClassName, IndexRecord, PackageName, Spec, Version};

/// No number, where a number is expected.
pub(crate) const NONE: u32 = u32::MAX;

/// The end of the name of a wildcard class: `a.b.*` defines every class `a.b.NAME`.
pub(crate) const ANY_CLASS: &str = ".*";

/// Flags of a release.
const YANKED: u8 = 1;
const PRERELEASE: u8 = 2;
const HAS_DIGEST: u8 = 4;

/// Flag of a package: every release is neither yanked nor a prerelease, so the newest is the best.
const DEFAULT_ORDER: u8 = 1;

/// Flag of a spec: it names a prerelease.
const NAMES_PRERELEASE: u8 = 1;

/// Flag of a class: it is visible in its own package only.
const INTERNAL: u8 = 1;

/// A requirement. What the search reads of it is adjacent in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IndexedRequirement {
    /// The number of the required name.
    pub(crate) target: u32,
    /// The number of the spec.
    pub(crate) spec: u32,
    /// Where two adjacent sets are. The first one has the releases of the same package that allow the same releases of
    /// the target, the second one has what they allow. If the target has no releases, the first set has all releases of
    /// the package that require it, and there is no second one.
    ///
    /// Sets whose sum would be quadratic in the size of the index are left out: the second one if the target
    /// [is large](is_large), and both, with [`NONE`] as their place, if so few releases allow the same that
    /// their set is not [worth its memory](is_worth_a_set).
    pub(crate) sets: u32,
}

/// The numbers of an [`IndexedRequirement`] in the order of its fields, as a file has them.
type RequirementNumbers = [u32; 3];

impl IndexedRequirement {
    #[inline]
    fn of([target, spec, sets]: RequirementNumbers) -> Self {
        Self { target, spec, sets }
    }
}

/// The releases of packages, prepared for solving.
///
/// Many solvers can share it, at the same time too.
///
/// ```
/// use pkgres_manifest::IndexRecord;
/// use pkgres_resolver::CompiledIndex;
///
/// let line = r#"{"name":"org.acme.Db","version":"1.2.0"}"#;
/// let record = IndexRecord::parse_line(line, &Default::default())?;
/// let index = CompiledIndex::compile([&record]);
/// assert_eq!(index.release_count(), 1);
/// # Ok::<(), pkgres_manifest::diagnostic::Diagnostic>(())
/// ```
#[derive(Debug, Default)]
pub struct CompiledIndex {
    /// The names of packages that have releases or are required, sorted.
    names: Texts,
    /// The first release of each name; one more than there are names. Releases of a package are
    /// ascending by version.
    first_release: Column<u32>,
    package_flags: Column<u8>,
    versions: VersionColumn,
    release_flags: Column<u8>,
    /// 33 bytes for each release, or none if no release has a digest.
    digests: Column<u8>,
    /// The requirements of each release, in the order of its manifest.
    requirements: Lists<RequirementNumbers>,
    /// The [sets of requirements](IndexedRequirement::sets); one bit for each release, see
    /// [`width`].
    words: Column<u64>,
    specs: Texts,
    spec_flags: Column<u8>,
    class_names: Texts,
    /// For each release its table of classes, counted from 1; 0 if its classes are unknown.
    tables: Column<u32>,
    /// For each table the names of its classes, ascending.
    table_classes: Lists<u32>,
    class_flags: Column<u8>,
    /// For each class of a table the classes that it extends: a position in the table times two,
    /// or a position among the external classes times two plus one.
    parents: Lists<u32>,
    /// For each table its external classes, which required packages must define, in the order in
    /// which they are extended.
    externals: Lists<u32>,
    /// The numbers of the names that are those of interfaces.
    interfaces: Range<u32>,
    /// What follows from the classes.
    inheritance: Inheritance,
    /// Whether there are classes, or releases whose classes are unknown.
    has_classes: bool,
    /// The locations of requirements, if they come from manifest files.
    locations: Vec<Option<Location>>,
}

/// A class that is extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParentNumber {
    /// The class of this position in the same table.
    Own(u32),
    /// The external class of this position.
    External(u32),
}

/// How many words a set of `count` releases has: one bit for each release, and one for "absent".
#[inline]
pub(crate) fn width(count: u32) -> usize {
    count as usize / 64 + 1
}

/// How many words a set may have whatever its members: those of a package with 1,023 releases.
const MAX_SMALL_WIDTH: usize = 16;

/// Whether a set is stored as words, with so many of them and so many members. Sets of a few of very
/// many releases are not: with one for each release they would be quadratic in the size of the index.
#[inline]
pub(crate) fn is_worth_a_set(width: usize, members: usize) -> bool {
    !is_large(width) || width <= members
}

/// Whether a package has so many releases that sets of them are stored only if they are worth it, by the
/// number of words that they take.
#[inline]
pub(crate) fn is_large(width: usize) -> bool {
    width > MAX_SMALL_WIDTH
}

impl CompiledIndex {
    /// Compiles the releases of packages. Of several releases that differ in build metadata only,
    /// the one with the least metadata in text order is used.
    pub fn compile<'record>(records: impl IntoIterator<Item = &'record IndexRecord>) -> Self {
        compile::compile(records.into_iter().collect())
    }

    /// The packages with a release that defines a class for others, sorted.
    pub fn defining(&self, class: &ClassName) -> Vec<PackageName> {
        let Some(class) = self.find_class(class.as_str()) else {
            return Vec::new();
        };
        (0..self.name_count())
            .filter(|name| self.inheritance().defines(*name, class))
            .map(|name| self.name(name))
            .collect()
    }

    /// The classes that any release defines for others, sorted: those for which
    /// [`defining`](Self::defining) returns packages.
    pub fn defined_classes(&self) -> impl Iterator<Item = ClassName> + '_ {
        let mut defined = self.inheritance().defined_classes().to_vec();
        defined.retain(|class| !self.is_interface(*class));
        defined.sort_unstable();
        defined.dedup();
        defined.into_iter().map(|class| self.class_name(class))
    }

    /// The number of releases.
    pub fn release_count(&self) -> usize {
        self.release_flags.len()
    }

    /// The number of packages with releases.
    pub fn package_count(&self) -> usize {
        let counted = self.first_release.windows(2);
        counted.filter(|pair| pair[0] < pair[1]).count()
    }

    /// Whether the index has releases of a package.
    pub fn has(&self, name: &PackageName) -> bool {
        self.has_package(name.as_str())
    }

    /// Whether the index has releases of a package, by its name as text.
    pub fn has_package(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|name| !self.releases(name).is_empty())
    }

    /// The packages that have releases, sorted.
    pub fn packages(&self) -> impl Iterator<Item = PackageName> + '_ {
        let has_releases = |name: &u32| !self.releases(*name).is_empty();
        (0..self.name_count())
            .filter(has_releases)
            .map(|name| self.name(name))
    }

    /// The number of names, of packages with and without releases.
    #[inline]
    pub(crate) fn name_count(&self) -> u32 {
        self.names.0.len()
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.names.find(name)
    }

    pub(crate) fn name_text(&self, name: u32) -> &str {
        self.names.get(name)
    }

    pub(crate) fn name(&self, name: u32) -> PackageName {
        PackageName::native(self.name_text(name)).expect("the name was one when it came in")
    }

    /// The numbers of the releases of a name.
    #[inline]
    pub(crate) fn releases(&self, name: u32) -> std::ops::Range<u32> {
        let bounds = &self.first_release[name as usize..name as usize + 2];
        bounds[0]..bounds[1]
    }

    /// Whether all releases of a package are neither yanked nor prereleases, so that the newest is
    /// the best.
    #[inline]
    pub(crate) fn has_default_order(&self, name: u32) -> bool {
        self.package_flags[name as usize] & DEFAULT_ORDER != 0
    }

    pub(crate) fn version(&self, release: u32) -> Version {
        self.versions.get(release)
    }

    /// How many releases of a name have a version below a bound.
    pub(crate) fn count_below(&self, name: u32, bound: &Version) -> u32 {
        self.versions.count_below(self.releases(name), bound)
    }

    pub(crate) fn is_yanked(&self, release: u32) -> bool {
        self.release_flags[release as usize] & YANKED != 0
    }

    pub(crate) fn is_prerelease(&self, release: u32) -> bool {
        self.release_flags[release as usize] & PRERELEASE != 0
    }

    pub(crate) fn digest(&self, release: u32) -> Option<ArtifactDigest> {
        let flags = self.release_flags[release as usize];
        if flags & HAS_DIGEST == 0 {
            return None;
        }
        let at = release as usize * compile::DIGEST_BYTES;
        Some(compile::digest_from(
            &self.digests[at..at + compile::DIGEST_BYTES],
        ))
    }

    #[inline]
    pub(crate) fn requirement_range(&self, release: u32) -> std::ops::Range<usize> {
        self.requirements.range(release)
    }

    #[inline]
    pub(crate) fn requirements(
        &self,
        requirements: std::ops::Range<usize>,
    ) -> impl Iterator<Item = IndexedRequirement> + '_ {
        let numbers = self.requirements.items[requirements].iter();
        numbers.map(|numbers| IndexedRequirement::of(*numbers))
    }

    #[inline]
    pub(crate) fn requirement(&self, requirement: usize) -> IndexedRequirement {
        IndexedRequirement::of(self.requirements.items[requirement])
    }

    pub(crate) fn location(&self, requirement: usize) -> Option<&Location> {
        self.locations.get(requirement)?.as_ref()
    }

    pub(crate) fn spec(&self, spec: u32) -> Spec {
        Spec::from_stored(self.specs.get(spec)).expect("the spec was one when it came in")
    }

    #[inline]
    pub(crate) fn names_prerelease(&self, spec: u32) -> bool {
        self.spec_flags[spec as usize] & NAMES_PRERELEASE != 0
    }

    /// The words of a set: one bit for each release, see [`width`].
    #[inline]
    pub(crate) fn words_at(&self, at: usize, width: usize) -> &[u64] {
        &self.words[at..at + width]
    }

    pub(crate) fn class_text(&self, class: u32) -> &str {
        self.class_names.get(class)
    }

    pub(crate) fn class_name(&self, class: u32) -> ClassName {
        ClassName::native(self.class_text(class)).expect("the name was one when it came in")
    }

    pub(crate) fn class_name_count(&self) -> u32 {
        self.class_names.0.len()
    }

    pub(crate) fn find_class(&self, name: &str) -> Option<u32> {
        self.class_names.find(name)
    }

    /// The table of classes of a release, if its classes are known.
    #[inline]
    pub(crate) fn table(&self, release: u32) -> Option<u32> {
        self.tables[release as usize].checked_sub(1)
    }

    /// Likewise, for all releases of a package: each access to a mapped column has a cost.
    fn tables_of(&self, name: u32) -> impl Iterator<Item = Option<u32>> + Clone + '_ {
        let releases = self.releases(name);
        let tables = &self.tables[releases.start as usize..releases.end as usize];
        tables.iter().map(|table| table.checked_sub(1))
    }

    /// The names of the classes of a table, ascending.
    pub(crate) fn table_classes(&self, table: u32) -> &[u32] {
        self.table_classes.run(table)
    }

    /// The external classes of a table, in the order in which they are extended.
    pub(crate) fn externals(&self, table: u32) -> &[u32] {
        self.externals.run(table)
    }

    /// Derives what follows from the classes, once the columns are valid.
    fn derive_inheritance(&mut self) {
        let bounds = ClassName::INTERFACES.map(|bound| self.class_names.count_before(bound));
        self.interfaces = bounds[0]..bounds[1];
        // Nothing follows if all releases are known to have no classes, as for many roots.
        self.has_classes = self.class_name_count() > 0 || self.tables.contains(&0);
        if self.has_classes {
            self.inheritance = Inheritance::of(self);
        }
    }

    /// Whether all releases are known to have no classes.
    pub(crate) fn has_no_classes(&self) -> bool {
        !self.has_classes
    }

    /// What follows from the classes.
    #[inline]
    pub(crate) fn inheritance(&self) -> &Inheritance {
        &self.inheritance
    }

    /// The parents of the class at a position of a table.
    pub(crate) fn parents(
        &self,
        table: u32,
        position: usize,
    ) -> impl ExactSizeIterator<Item = ParentNumber> + '_ {
        let class = self.table_classes.range(table).start + position;
        self.parents.run(to_u32(class)).iter().map(|parent| {
            if parent & 1 == 0 {
                ParentNumber::Own(parent >> 1)
            } else {
                ParentNumber::External(parent >> 1)
            }
        })
    }

    /// Whether a name is that of an interface.
    #[inline]
    pub(crate) fn is_interface(&self, class: u32) -> bool {
        self.interfaces.contains(&class)
    }

    fn parent_class(&self, table: u32, parent: ParentNumber) -> u32 {
        match parent {
            ParentNumber::Own(own) => self.table_classes(table)[own as usize],
            ParentNumber::External(at) => self.externals(table)[at as usize],
        }
    }

    /// Whether a class of a table implements an interface.
    pub(crate) fn implements_interfaces(&self, table: u32) -> bool {
        if self.interfaces.is_empty() {
            return false;
        }
        let classes = self.table_classes(table);
        let mut parents = (0..classes.len()).flat_map(|position| self.parents(table, position));
        parents.any(|parent| self.is_interface(self.parent_class(table, parent)))
    }

    /// Whether the class at a position of a table extends the root class implicitly: it names no class as its parent, and
    /// is no interface.
    pub(crate) fn is_implicit(&self, table: u32, position: usize) -> bool {
        let mut parents = self.parents(table, position);
        if self.interfaces.is_empty() {
            return parents.len() == 0;
        }
        let classes = self.table_classes(table);
        !self.is_interface(classes[position])
            && parents.all(|parent| self.is_interface(self.parent_class(table, parent)))
    }

    /// Whether no class of a table names a parent.
    pub(crate) fn extends_nothing(&self, table: u32) -> bool {
        let classes = self.table_classes.range(table);
        self.parents.starts[classes.start] == self.parents.starts[classes.end]
    }
}
