//! Compiles records of releases into an index.
//!
//! Records are sorted, and names, specs and classes are numbered. The releases that a spec allows
//! are found by binary search, once for each spec and target. If several releases of a package have
//! requirements on one target that allow the same releases, these form a group. The set of its
//! owners is stored with the allowed set, unless the sets are too large for the number of members.

mod classes;

use std::borrow::Cow;
use std::ops::Range;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ArtifactDigest, IndexRecord, PackageName, Shared, Spec, Version};
use rustc_hash::FxHashMap;

use crate::index::column::VersionColumn;
use crate::index::column::{Column, ListsBuilder};
use crate::index::interner::{Interner, SortedNumbers, skip_repeats};
use crate::index::{
    CompiledIndex, DEFAULT_ORDER, HAS_DIGEST, NAMES_PRERELEASE, NONE, PRERELEASE,
    RequirementNumbers, Texts, YANKED, is_large, is_worth_a_set, to_u32, width,
};
use classes::classes;

pub(super) fn compile(records: Vec<&IndexRecord>) -> CompiledIndex {
    let expanded = classes::expand_wildcards(&records);
    let records = expanded
        .as_ref()
        .map_or(records, |all| all.iter().collect());
    match classes::interfaces_as_classes(&records) {
        Some(records) => compile_expanded(records.iter().collect()),
        None => compile_expanded(records),
    }
}

/// Compiles records in which each class has a name of its own.
fn compile_expanded(mut records: Vec<&IndexRecord>) -> CompiledIndex {
    sort(&mut records);
    let required = skip_repeats(records.iter().map(|record| &record.requirements));
    let required = required.flatten().map(|requirement| &requirement.package);
    let own = skip_repeats(records.iter().map(|record| &record.name));
    let names = SortedNumbers::sorted(own.chain(required));
    let packages = package_ranges(&records, &names);
    let mut compiler = Compiler {
        packages: &packages,
        records: &records,
        specs: FxHashMap::default(),
        spec_addresses: FxHashMap::default(),
        spec_texts: ListsBuilder::new(),
        spec_flags: Vec::new(),
        sets: Vec::new(),
        allowed: FxHashMap::default(),
        places: FxHashMap::default(),
        ranges: FxHashMap::default(),
    };
    let mut index = CompiledIndex::default();
    compiler.requirements(&mut index, &names);
    index.specs = Texts(compiler.spec_texts.finish());
    index.spec_flags = compiler.spec_flags.into();
    releases(&mut index, &records, &packages);
    classes(&mut index, &records);
    index.names = names.texts(PackageName::as_str);
    index.derive_inheritance();
    index
}

/// Sorts records by name and version, and removes those with equal versions.
fn sort(records: &mut Vec<&IndexRecord>) {
    let key = |record: &&IndexRecord, other: &&IndexRecord| {
        (&record.name, &record.version).cmp(&(&other.name, &other.version))
    };
    let is_ascending = records
        .windows(2)
        .all(|pair| key(&pair[0], &pair[1]).is_lt());
    if is_ascending {
        return;
    }
    records.sort_by(|one, two| {
        key(one, two)
            .then_with(|| one.version.build().cmp(two.version.build()))
            .then_with(|| one.cmp_content(two))
    });
    records.dedup_by(|next, kept| next.name == kept.name && next.version == kept.version);
}

fn package_ranges(
    records: &[&IndexRecord],
    names: &SortedNumbers<'_, PackageName>,
) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(names.items.len());
    let mut at = 0;
    for name in &names.items {
        let length = records[at..]
            .iter()
            .take_while(|record| record.name == **name)
            .count();
        ranges.push(at..at + length);
        at += length;
    }
    ranges
}

struct Compiler<'records> {
    packages: &'records [Range<usize>],
    records: &'records [&'records IndexRecord],
    specs: FxHashMap<Cow<'records, str>, u32>,
    /// The numbers of specs by the address that clones share.
    spec_addresses: FxHashMap<usize, u32>,
    spec_texts: ListsBuilder<u8>,
    spec_flags: Vec<u8>,
    /// The sets that specs allow of packages that are not large, and what each spec allows by target.
    sets: Vec<u64>,
    allowed: FxHashMap<(u32, u32), AllowedReleases>,
    /// The index of each set of releases of a package.
    places: FxHashMap<(u32, Box<[u64]>), u32>,
    /// The number of each list of ranges of releases of large packages.
    ranges: FxHashMap<Box<[Range<usize>]>, u32>,
}

/// Requirements of the releases of a package that allow the same of one target.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Group {
    target: u32,
    allowed: AllowedReleases,
}

/// What a requirement allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AllowedReleases {
    /// The index has no releases of the target: what is allowed is found when releases are known from
    /// elsewhere.
    Unknown,
    /// A set at an index; equal sets of a package have one index.
    Set(u32),
    /// The number of a list of ranges of releases, for a large package; equal lists have one number.
    Ranges(u32),
}

impl<'records> Compiler<'records> {
    fn requirements(&mut self, index: &mut CompiledIndex, names: &SortedNumbers<'_, PackageName>) {
        let mut requirements: ListsBuilder<RequirementNumbers> =
            ListsBuilder::with_capacity(self.records.len());
        let mut words: Vec<u64> = Vec::new();
        // Only requirements in manifest files have locations.
        let lists = skip_repeats(self.records.iter().map(|record| &record.requirements));
        let has_locations = lists.flatten().any(|one| one.location.is_some());
        let mut locations: Vec<Option<Location>> = Vec::new();
        let mut own: Interner<Group> = Interner::default();
        let mut sizes: Vec<u32> = Vec::with_capacity(self.records.len());
        let mut groups = GroupSets::default();
        for package in self.packages {
            own.clear();
            sizes.clear();
            let first = requirements.items.len();
            let mut begin = first;
            let mut before = &Shared::new();
            for record in &self.records[package.clone()] {
                let last = begin..requirements.items.len();
                begin = last.end;
                if record.requirements == *before {
                    requirements.items.extend_from_within(last.clone());
                    if has_locations {
                        locations.extend_from_within(last);
                    }
                } else {
                    for requirement in &record.requirements {
                        let target = names.number(&requirement.package);
                        let spec = self.spec(&requirement.spec);
                        let allowed = self.allowed(target, spec, &requirement.spec);
                        let group = own.number(Group { target, allowed });
                        requirements.items.push([target, spec, group]);
                        if has_locations {
                            locations.push(requirement.location.clone());
                        }
                    }
                }
                sizes.push(to_u32(requirements.items.len() - begin));
                before = &record.requirements;
                requirements.end();
            }
            let own = own.items();
            groups.store(
                self,
                own,
                &sizes,
                &mut requirements.items[first..],
                &mut words,
            );
        }
        index.locations = locations;
        index.requirements = requirements.finish();
        index.words = words.into();
    }

    fn spec(&mut self, spec: &'records Spec) -> u32 {
        let address = spec.written().as_ptr().addr();
        if let Some(known) = self.spec_addresses.get(&address) {
            return *known;
        }
        let next = to_u32(self.spec_flags.len());
        let stored = spec.to_stored();
        let known = *self.specs.entry(stored.clone()).or_insert(next);
        if known == next {
            self.spec_texts.text(&stored);
            let names_prerelease = u8::from(spec.names_prerelease()) * NAMES_PRERELEASE;
            self.spec_flags.push(names_prerelease);
        }
        self.spec_addresses.insert(address, known);
        known
    }

    fn allowed(&mut self, target: u32, number: u32, spec: &Spec) -> AllowedReleases {
        let records = self.records;
        let releases = &records[self.packages[target as usize].clone()];
        if releases.is_empty() {
            return AllowedReleases::Unknown;
        }
        if let Some(known) = self.allowed.get(&(target, number)) {
            return *known;
        }
        let position =
            |bound: &Version| releases.partition_point(|release| release.version < *bound);
        let ranges = spec.set().intervals().iter().map(|interval| {
            let until = interval.until.as_ref().map_or(releases.len(), position);
            position(&interval.from)..until
        });
        let width = width(to_u32(releases.len()));
        let allowed = if is_large(width) {
            let ranges = joined(ranges);
            let next = to_u32(self.ranges.len());
            AllowedReleases::Ranges(*self.ranges.entry(ranges).or_insert(next))
        } else {
            AllowedReleases::Set(self.set_of(target, width, ranges))
        };
        self.allowed.insert((target, number), allowed);
        allowed
    }

    /// The index of the set of the releases in ranges.
    fn set_of(
        &mut self,
        target: u32,
        width: usize,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> u32 {
        let next = self.sets.len();
        self.sets.resize(next + width, 0);
        for range in ranges {
            fill(&mut self.sets[next..], range);
        }
        let set = self.sets[next..].into();
        let at = *self.places.entry((target, set)).or_insert(to_u32(next));
        if at as usize != next {
            self.sets.truncate(next);
        }
        at
    }

    /// The set of releases of a package at an index.
    fn set(&self, target: u32, at: u32) -> &[u64] {
        let width = width(to_u32(self.packages[target as usize].len()));
        &self.sets[at as usize..at as usize + width]
    }
}

/// The sets of the groups of one package.
#[derive(Default)]
struct GroupSets {
    /// How many releases require each group.
    owner_counts: Vec<u32>,
    /// The index of the sets of each group.
    places: Vec<u32>,
}

impl GroupSets {
    /// Stores the sets of groups, and replaces groups in `requirements` by the index of their sets. Each release
    /// has as many requirements as `sizes` says.
    fn store(
        &mut self,
        compiler: &Compiler<'_>,
        groups: &[Group],
        sizes: &[u32],
        requirements: &mut [RequirementNumbers],
        words: &mut Vec<u64>,
    ) {
        self.owner_counts.clear();
        self.owner_counts.resize(groups.len(), 0);
        for [_, _, group] in &*requirements {
            self.owner_counts[*group as usize] += 1;
        }
        let width = width(to_u32(sizes.len()));
        self.places.clear();
        for (group, owner_count) in groups.iter().zip(&self.owner_counts) {
            if !is_worth_a_set(width, *owner_count as usize) {
                self.places.push(NONE);
                continue;
            }
            self.places.push(to_u32(words.len()));
            words.resize(words.len() + width, 0);
            if let AllowedReleases::Set(at) = group.allowed {
                words.extend_from_slice(compiler.set(group.target, at));
            }
        }
        let mut requirements = requirements.iter_mut();
        for (position, size) in sizes.iter().enumerate() {
            for [_, _, sets] in requirements.by_ref().take(*size as usize) {
                *sets = self.places[*sets as usize];
                if *sets != NONE {
                    words[*sets as usize + position / 64] |= 1 << (position % 64);
                }
            }
        }
    }
}

/// Ascending ranges of numbers without empty ones, with those joined that touch.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Box<[Range<usize>]> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges.filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined.into()
}

/// Inserts a range of numbers.
fn fill(words: &mut [u64], range: Range<usize>) {
    for number in range {
        words[number / 64] |= 1 << (number % 64);
    }
}

/// Fills the columns of packages and releases; `packages` has the range of the records of each.
fn releases(index: &mut CompiledIndex, records: &[&IndexRecord], packages: &[Range<usize>]) {
    let first_release = packages.iter().map(|range| to_u32(range.start));
    let first_release = first_release.chain([to_u32(records.len())]);
    index.first_release = first_release.collect::<Vec<_>>().into();
    let mut flags = Vec::with_capacity(records.len());
    for record in records {
        flags.push(release_flags(record));
    }
    let package_flags = packages.iter().map(|range| {
        let has_default_order = flags[range.clone()]
            .iter()
            .all(|flags| has_default_order(*flags));
        u8::from(has_default_order) * DEFAULT_ORDER
    });
    index.package_flags = package_flags.collect::<Vec<u8>>().into();
    index.versions = VersionColumn::of(records.iter().map(|record| &record.version));
    index.release_flags = flags.into();
    index.digests = digests(records);
}

pub(in crate::index) const DIGEST_BYTES: usize = 33;

const ARCHIVE: u8 = 0;
const TREE: u8 = 1;

pub(super) fn release_flags(record: &IndexRecord) -> u8 {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    flag(record.yanked, YANKED)
        | flag(record.version.is_prerelease(), PRERELEASE)
        | flag(record.digest.is_some(), HAS_DIGEST)
}

/// Whether a release with these flags is neither yanked nor a prerelease.
pub(in crate::index) fn has_default_order(flags: u8) -> bool {
    flags & (YANKED | PRERELEASE) == 0
}

/// The digests of releases, if any has one.
pub(super) fn digests(records: &[&IndexRecord]) -> Column<u8> {
    if records.iter().all(|record| record.digest.is_none()) {
        return Column::default();
    }
    let mut digests: Vec<u8> = Vec::with_capacity(records.len() * DIGEST_BYTES);
    for record in records {
        digests.extend_from_slice(&digest_bytes(record.digest.as_ref()));
    }
    digests.into()
}

fn digest_bytes(digest: Option<&ArtifactDigest>) -> [u8; DIGEST_BYTES] {
    let mut bytes = [0; DIGEST_BYTES];
    let (kind, digest) = match digest {
        None => return bytes,
        Some(ArtifactDigest::Archive(digest)) => (ARCHIVE, digest),
        Some(ArtifactDigest::Tree(digest)) => (TREE, digest),
    };
    bytes[0] = kind;
    bytes[1..].copy_from_slice(digest);
    bytes
}

pub(in crate::index) fn digest_from(bytes: &[u8]) -> ArtifactDigest {
    let digest = bytes[1..].try_into().expect("a digest has 32 bytes");
    if bytes[0] == TREE {
        ArtifactDigest::Tree(digest)
    } else {
        ArtifactDigest::Archive(digest)
    }
}
