//! The column of versions: three numbers each, or a text for a prerelease, build metadata, a
//! large number or a version of another ecosystem.

use std::ops::Range;

use pkgres_manifest::Version;

use super::column::{Column, ListsBuilder, Texts};
use super::{NONE, to_u32};

/// Major, minor and patch, if they are less than [`NONE`] and there is nothing else. Otherwise
/// [`NONE`], 0 and the number of a text.
pub(super) type VersionNumbers = [u32; 3];

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
        match self.numbers[release as usize] {
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
        let first = releases.start;
        let numbers = &self.numbers[first as usize..releases.end as usize];
        let in_numbers = three_numbers(bound);
        let (mut low, mut high) = (0, to_u32(numbers.len()));
        while low < high {
            let middle = low.midpoint(high);
            let is_below = match (numbers[middle as usize], in_numbers) {
                (numbers, Some(bound)) if numbers[0] != NONE => numbers < bound,
                _ => self.get(first + middle) < *bound,
            };
            if is_below {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
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
        let said = self.numbers.iter().filter(|numbers| numbers[0] == NONE);
        let said = said.map(|numbers| numbers[2]);
        said.eq(0..texts) && (0..texts).all(|text| is_version(self.texts.0.run(text)))
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
