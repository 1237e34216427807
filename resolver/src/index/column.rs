//! Columns of plain numbers, texts and versions, in memory or in a mapped file.

use std::fmt;
use std::ops::{Deref, Range};

use bytes::Bytes;
use pkgres_manifest::Version;

use super::NONE;

/// An item that a file can store as its bytes.
pub(crate) trait ColumnItem: bytemuck::Pod {}

impl ColumnItem for u8 {}
impl ColumnItem for u32 {}
impl ColumnItem for u64 {}
impl ColumnItem for [u32; 3] {}

/// How much unused memory is worth being freed.
const MIN_SHRINK_BYTES: usize = 1 << 12;

/// A column: built in memory, or a part of a mapped file.
pub(crate) enum Column<T> {
    Built(Vec<T>),
    Mapped(Bytes),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self::Built(Vec::new())
    }
}

impl<T: ColumnItem> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Built(numbers) => numbers,
            Self::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Column")
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(mut numbers: Vec<T>) -> Self {
        let unused = (numbers.capacity() - numbers.len()) * size_of::<T>();
        if unused > MIN_SHRINK_BYTES {
            numbers.shrink_to_fit();
        }
        Self::Built(numbers)
    }
}

/// Runs of items by number. The default has none, without allocating.
#[derive(Debug, Default)]
pub(crate) struct Lists<T> {
    /// Where each run begins; one more than there are runs.
    pub(crate) starts: Column<u32>,
    pub(crate) items: Column<T>,
}

impl<T: ColumnItem> Lists<T> {
    /// So many runs without items.
    pub(crate) fn empty_runs(runs: usize) -> Self {
        Self {
            starts: vec![0; runs + 1].into(),
            items: Column::default(),
        }
    }

    /// The items of a run.
    #[inline]
    pub(crate) fn run(&self, number: u32) -> &[T] {
        &self.items[self.range(number)]
    }

    /// The range of the items of a run.
    #[inline]
    pub(crate) fn range(&self, number: u32) -> Range<usize> {
        let starts = &self.starts[number as usize..number as usize + 2];
        starts[0] as usize..starts[1] as usize
    }

    /// The number of runs.
    pub(crate) fn len(&self) -> u32 {
        to_u32(self.starts.len().saturating_sub(1))
    }
}

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Texts(pub(crate) Lists<u8>);

impl Texts {
    /// The texts in this order.
    pub(crate) fn of(all: &[&str]) -> Self {
        let mut texts = ListsBuilder::with_capacity(all.len());
        texts.items = Vec::with_capacity(all.iter().map(|text| text.len()).sum());
        for text in all {
            texts.text(text);
        }
        Self(texts.finish())
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        std::str::from_utf8(self.0.run(number)).expect("texts were checked when they came in")
    }

    /// How many texts come before a string, if they are sorted.
    pub(crate) fn count_before(&self, text: &str) -> u32 {
        // Compares bytes, and dereferences the columns once, because this runs for each root.
        let (starts, texts): (&[u32], &[u8]) = (&self.0.starts, &self.0.items);
        let (mut low, mut high) = (0, self.0.len());
        while low < high {
            let middle = low.midpoint(high);
            let bounds = &starts[middle as usize..][..2];
            if texts[bounds[0] as usize..bounds[1] as usize] < *text.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The number of a string, if the texts are sorted.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let at = self.count_before(text);
        (at < self.0.len() && self.0.run(at) == text.as_bytes()).then_some(at)
    }
}

/// A builder of [`Lists`].
#[derive(Debug)]
pub(crate) struct ListsBuilder<T> {
    /// Empty while there are no runs: indexes of one record have many lists without any.
    starts: Vec<u32>,
    pub(crate) items: Vec<T>,
}

impl<T: ColumnItem> ListsBuilder<T> {
    pub(crate) fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A builder with capacity for so many runs.
    pub(crate) fn with_capacity(runs: usize) -> Self {
        let starts = match runs {
            0 => Vec::new(),
            runs => Vec::with_capacity(runs + 1),
        };
        let items = Vec::new();
        Self { starts, items }
    }

    /// Ends a run.
    pub(crate) fn end(&mut self) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(to_u32(self.items.len()));
    }

    pub(crate) fn finish(self) -> Lists<T> {
        if self.starts.is_empty() {
            return Lists::empty_runs(0);
        }
        let (starts, items) = (self.starts.into(), self.items.into());
        Lists { starts, items }
    }
}

impl ListsBuilder<u8> {
    pub(crate) fn text(&mut self, text: &str) {
        self.items.extend_from_slice(text.as_bytes());
        self.end();
    }
}

/// An index or number as `u32`. Indexes with 2^32 of anything do not exist.
pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32")
}

/// Major, minor and patch, if they are less than [`NONE`] and there is nothing else. Otherwise
/// [`NONE`], 0 and the number of a string.
type VersionNumbers = [u32; 3];

/// The versions of releases.
#[derive(Debug, Default)]
pub(super) struct VersionColumn {
    /// One for each release.
    pub(super) numbers: Column<VersionNumbers>,
    /// In the order of the releases that need one.
    pub(super) texts: Texts,
}

impl VersionColumn {
    /// The versions of releases in their order.
    pub(super) fn of<'version>(versions: impl ExactSizeIterator<Item = &'version Version>) -> Self {
        let mut numbers = Vec::with_capacity(versions.len());
        let mut texts = ListsBuilder::new();
        let mut text_count = 0;
        for version in versions {
            numbers.push(three_numbers(version).unwrap_or_else(|| {
                texts.text(&version.to_stored());
                text_count += 1;
                [NONE, 0, text_count - 1]
            }));
        }
        Self {
            numbers: numbers.into(),
            texts: Texts(texts.finish()),
        }
    }

    /// The version of a release.
    pub(super) fn get(&self, release: u32) -> Version {
        self.read(self.numbers[release as usize])
    }

    fn read(&self, numbers: VersionNumbers) -> Version {
        match numbers {
            [NONE, _, text] => {
                let text = self.texts.get(text);
                Version::from_stored(text).expect("the version was one when it came in")
            }
            numbers => {
                let [major, minor, patch] = numbers.map(u64::from);
                Version::new(major, minor, patch)
            }
        }
    }

    /// How many versions of a range of releases, which are ascending, are below a bound.
    pub(super) fn count_below(&self, releases: Range<u32>, bound: &Version) -> u32 {
        let numbers = &self.numbers[releases.start as usize..releases.end as usize];
        let bound_numbers = three_numbers(bound);
        let is_below = |numbers: &VersionNumbers| match bound_numbers {
            Some(bound) if numbers[0] != NONE => *numbers < bound,
            _ => self.read(*numbers) < *bound,
        };
        to_u32(numbers.partition_point(is_below))
    }

    /// The number of versions.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether all texts can be parsed as versions, and are numbered in order.
    pub(super) fn can_be_read(&self) -> bool {
        let is_version = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes);
            text.is_ok_and(|text| Version::from_stored(text).is_ok())
        };
        let texts = self.texts.0.len();
        let text_numbers = self.numbers.iter().filter(|numbers| numbers[0] == NONE);
        let text_numbers = text_numbers.map(|numbers| numbers[2]);
        text_numbers.eq(0..texts) && (0..texts).all(|text| is_version(self.texts.0.run(text)))
    }

    /// Whether versions which [can be read](Self::can_be_read) are strictly ascending.
    pub(super) fn are_ascending(&self, releases: Range<u32>) -> bool {
        let numbers = &self.numbers[releases.start as usize..releases.end as usize];
        let mut pairs = releases.zip(numbers.windows(2));
        pairs.all(|(release, pair)| {
            if pair.iter().all(|numbers| numbers[0] != NONE) {
                pair[0] < pair[1]
            } else {
                self.get(release) < self.get(release + 1)
            }
        })
    }

    /// Whether each of the versions, which [can be read](Self::can_be_read), is a prerelease.
    pub(super) fn are_prereleases(&self) -> impl Iterator<Item = bool> + '_ {
        let numbers = self.numbers.iter();
        numbers
            .zip(0..)
            .map(|(numbers, release)| numbers[0] == NONE && self.get(release).is_prerelease())
    }
}

/// The numbers of a version, if there is nothing else.
fn three_numbers(version: &Version) -> Option<VersionNumbers> {
    let has_more = !version.prerelease().is_empty() || !version.build().is_empty();
    if has_more || version.native_text().is_some() {
        return None;
    }
    let small = |number: u64| u32::try_from(number).ok().filter(|small| *small != NONE);
    Some([
        small(version.major())?,
        small(version.minor())?,
        small(version.patch())?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions around the limits of three numbers, ascending.
    const BOUNDARIES: [&str; 8] = [
        "0.0.0",
        "1.2.3-a.1",
        "1.2.3+b",
        "1.2.4294967294",
        "1.2.4294967295",
        "4294967294.0.0",
        "4294967295.0.0",
        "18446744073709551615.0.1-0",
    ];

    fn versions(texts: &[&str]) -> VersionColumn {
        let read = |text: &&str| Version::parse(text).expect("a version");
        let versions: Vec<Version> = texts.iter().map(read).collect();
        VersionColumn::of(versions.iter())
    }

    #[test]
    fn every_version_is_kept_as_it_is() {
        let kept = versions(&BOUNDARIES);
        let shown = (0..to_u32(kept.len())).map(|release| kept.get(release).to_string());
        assert!(shown.eq(BOUNDARIES));
        assert_eq!(kept.texts.0.len(), 5);
        assert!(kept.can_be_read());
        let prereleases = BOUNDARIES.map(|text| text.contains('-'));
        assert!(kept.are_prereleases().eq(prereleases));
    }

    #[test]
    fn the_order_is_that_of_versions_however_they_are_kept() {
        let kept = versions(&BOUNDARIES);
        assert!(kept.are_ascending(0..8));
        for at in 0..7 {
            let (one, two) = (BOUNDARIES[at], BOUNDARIES[at + 1]);
            assert!(!versions(&[two, one]).are_ascending(0..2), "{two} {one}");
            assert!(!versions(&[one, one]).are_ascending(0..2), "{one}");
        }
        for (at, bound) in (0..).zip(BOUNDARIES) {
            let bound = Version::parse(bound).expect("a version");
            assert_eq!(kept.count_below(0..8, &bound), at, "{bound}");
            assert_eq!(kept.count_below(3..8, &bound), at.saturating_sub(3));
        }
    }

    #[test]
    fn texts_that_are_no_versions_or_stand_elsewhere_are_seen() {
        let mut kept = versions(&["1.0.0-a", "1.0.0-b"]);
        kept.numbers = vec![[NONE, 0, 1], [NONE, 0, 0]].into();
        assert!(!kept.can_be_read());
        kept.numbers = vec![[NONE, 0, 0], [NONE, 0, 2]].into();
        assert!(!kept.can_be_read());
        kept.numbers = vec![[NONE, 0, 0]].into();
        assert!(!kept.can_be_read());

        let mut kept = versions(&["1.0.0-a"]);
        kept.texts.0.items = b"1.0.0-?".to_vec().into();
        assert!(!kept.can_be_read());
        kept.texts.0.items = b"1.0.0-\xff".to_vec().into();
        assert!(!kept.can_be_read());
    }
}
