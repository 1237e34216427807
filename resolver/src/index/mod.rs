//! An index prepared for solving: names, versions, specs and classes are numbers, and what a
//! requirement allows is a set of positions.
//!
//! Preparing an index costs about as much as reading it, and is done once: many problems are then
//! solved without looking at a text. Everything is kept in columns of plain numbers, which a file
//! can hold as they are.

mod bytes;
mod check;
mod column;
mod compile;
mod inheritance;
mod interner;
mod versions;

pub use bytes::IndexBytesError;
pub(crate) use column::to_u32;
use column::{Column, Lists, Texts};
pub(crate) use inheritance::{Inheritance, Link, SEVERAL, nodes_leading_to_cycles};
pub(crate) use interner::Interner;
use versions::VersionColumn;

use std::sync::OnceLock;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ArtifactDigest, ClassName, IndexRecord, PackageName, Spec, Version};

/// Stands for "there is none" where a number is expected.
pub(crate) const NONE: u32 = u32::MAX;

/// Flags of a release.
const YANKED: u8 = 1;
const PRERELEASE: u8 = 2;
const HAS_DIGEST: u8 = 4;

/// Flag of a package: every release may be chosen whatever the options, and the newest is best.
const DEFAULT_ORDER: u8 = 1;

/// Flag of a spec: it names a prerelease.
const NAMES_PRERELEASE: u8 = 1;

/// Flag of a class: only its own package sees it.
const INTERNAL: u8 = 1;

/// A requirement: the name that it is on, its spec, and where two sets stand, one after the other:
/// the releases of the same package that allow the same releases of the target, and what they allow.
/// If the index does not have the target, the first set is that of all releases of the package that require
/// any of it, and there is no other. What the search reads of a requirement stands together.
pub(crate) type RequirementNumbers = [u32; 3];

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
    /// 33 bytes a release, or nothing if no release has a digest.
    digests: Column<u8>,
    /// What a release requires, in the order of its manifest.
    requirements: Lists<RequirementNumbers>,
    /// The sets of requirements, see [`RequirementNumbers`]; each set has one bit a release, see [`width`].
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
    /// For each table the names that others must define, in the order in which they are extended.
    externals: Lists<u32>,
    /// What follows from the classes, unless that is nothing.
    inheritance: Option<Box<Inheritance>>,
    /// Whether any spec names a prerelease, once that was asked for.
    any_names_prerelease: OnceLock<bool>,
    /// Where requirements are written, for those that come from files of packages.
    locations: Vec<Option<Location>>,
}

/// What follows where all releases are known to have no classes.
static NO_INHERITANCE: Inheritance = Inheritance::EMPTY;

/// A class that is extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParentNumber {
    /// The class of this position in the same table.
    Own(u32),
    /// The external class of this position.
    External(u32),
}

/// How many words a set of releases takes if there are `count`: one bit a release, and one that
/// stands for "not there".
#[inline]
pub(crate) fn width(count: u32) -> usize {
    count as usize / 64 + 1
}

impl CompiledIndex {
    /// Prepares the releases of packages. Of several releases that differ in build metadata
    /// alone, the one is kept whose metadata is the least as text.
    pub fn compile<'record>(records: impl IntoIterator<Item = &'record IndexRecord>) -> Self {
        compile::compile(records.into_iter().collect())
    }

    /// The packages that have a release which defines a class for others, sorted.
    pub fn defining(&self, class: &ClassName) -> Vec<PackageName> {
        let Some(class) = self.find_class(class.as_str()) else {
            return Vec::new();
        };
        (0..self.name_count())
            .filter(|name| self.inheritance().defines(*name, class))
            .map(|name| self.name(name))
            .collect()
    }

    /// The names of all classes that a release defines for others, sorted: those of which
    /// [`defining`](Self::defining) knows a package.
    pub fn defined_classes(&self) -> impl Iterator<Item = ClassName> + '_ {
        let mut defined = self.inheritance().defined_classes().to_vec();
        defined.sort_unstable();
        defined.dedup();
        defined.into_iter().map(|class| self.class_name(class))
    }

    /// How many releases there are.
    pub fn release_count(&self) -> usize {
        self.release_flags.len()
    }

    /// How many packages have releases.
    pub fn package_count(&self) -> usize {
        let counted = self.first_release.windows(2);
        counted.filter(|pair| pair[0] < pair[1]).count()
    }

    /// Whether the index has releases of a package.
    pub fn has(&self, name: &PackageName) -> bool {
        self.has_package(name.as_str())
    }

    /// Likewise for a name as text.
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

    /// How many names there are, of packages with releases and without.
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
        PackageName::parse(self.name_text(name)).expect("the name was one when it came in")
    }

    /// The numbers of the releases of a name.
    #[inline]
    pub(crate) fn releases(&self, name: u32) -> std::ops::Range<u32> {
        let bounds = &self.first_release[name as usize..name as usize + 2];
        bounds[0]..bounds[1]
    }

    /// Whether every release of a package may be chosen and the newest is the best.
    #[inline]
    pub(crate) fn has_default_order(&self, name: u32) -> bool {
        self.package_flags[name as usize] & DEFAULT_ORDER != 0
    }

    pub(crate) fn version(&self, release: u32) -> Version {
        self.versions.get(release)
    }

    /// How many of the releases of a name have a version that is less than another one.
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

    /// The numbers of the requirements of a release.
    #[inline]
    pub(crate) fn requirement_range(&self, release: u32) -> std::ops::Range<usize> {
        self.requirements.range(release)
    }

    /// The requirements with these numbers.
    #[inline]
    pub(crate) fn requirements(
        &self,
        requirements: std::ops::Range<usize>,
    ) -> &[RequirementNumbers] {
        &self.requirements.items[requirements]
    }

    #[inline]
    pub(crate) fn requirement(&self, requirement: usize) -> RequirementNumbers {
        self.requirements.items[requirement]
    }

    /// The name that a requirement is on.
    #[inline]
    pub(crate) fn requirement_target(&self, requirement: usize) -> u32 {
        self.requirements.items[requirement][0]
    }

    #[inline]
    pub(crate) fn requirement_spec(&self, requirement: usize) -> u32 {
        self.requirements.items[requirement][1]
    }

    pub(crate) fn location(&self, requirement: usize) -> Option<&Location> {
        self.locations.get(requirement)?.as_ref()
    }

    pub(crate) fn spec(&self, spec: u32) -> Spec {
        Spec::parse(self.specs.get(spec)).expect("the spec was one when it came in")
    }

    #[inline]
    pub(crate) fn names_prerelease(&self, spec: u32) -> bool {
        self.spec_flags[spec as usize] & NAMES_PRERELEASE != 0
    }

    /// Whether any spec names a prerelease.
    pub(crate) fn any_names_prerelease(&self) -> bool {
        let any = || (self.spec_flags.iter()).any(|flags| flags & NAMES_PRERELEASE != 0);
        *self.any_names_prerelease.get_or_init(any)
    }

    /// The words of a set: one bit a release, see [`width`].
    #[inline]
    pub(crate) fn words_at(&self, at: usize, width: usize) -> &[u64] {
        &self.words[at..at + width]
    }

    pub(crate) fn class_text(&self, class: u32) -> &str {
        self.class_names.get(class)
    }

    pub(crate) fn class_name(&self, class: u32) -> ClassName {
        ClassName::parse(self.class_text(class)).expect("the name was one when it came in")
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

    /// The same for all releases of a package: looking at a column that is part of a file is not free.
    fn tables_of(&self, name: u32) -> impl Iterator<Item = Option<u32>> + Clone + '_ {
        let releases = self.releases(name);
        let tables = &self.tables[releases.start as usize..releases.end as usize];
        tables.iter().map(|table| table.checked_sub(1))
    }

    /// The names of the classes of a table, ascending.
    pub(crate) fn table_classes(&self, table: u32) -> &[u32] {
        self.table_classes.run(table)
    }

    /// The classes that others must define, in the order in which they are extended.
    pub(crate) fn externals(&self, table: u32) -> &[u32] {
        self.externals.run(table)
    }

    /// Works out what follows from the classes, once the columns hold together.
    fn derive_inheritance(&mut self) {
        // From releases that are known to have no classes nothing follows, and many roots have none.
        let is_anything = self.class_name_count() > 0 || self.tables.contains(&0);
        self.inheritance = is_anything.then(|| Box::new(Inheritance::of(self)));
    }

    /// Whether it is known that no release has a class.
    pub(crate) fn has_no_classes(&self) -> bool {
        self.inheritance.is_none()
    }

    /// What follows from the classes.
    #[inline]
    pub(crate) fn inheritance(&self) -> &Inheritance {
        self.inheritance.as_deref().unwrap_or(&NO_INHERITANCE)
    }

    /// What the class at a position of a table extends.
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

    /// Whether no class of a table names one that it extends.
    pub(crate) fn extends_nothing(&self, table: u32) -> bool {
        let classes = self.table_classes.range(table);
        self.parents.starts[classes.start] == self.parents.starts[classes.end]
    }
}
