//! The `pubgrub` crate with ranges of semantic versions: what a program has that does not number
//! its versions beforehand.

use pubgrub as library;

fn version(number: u32) -> semver::Version {
    semver::Version::new(u64::from(number), 0, 0)
}

fn number(version: &semver::Version) -> u32 {
    u32::try_from(version.major).expect("versions are made of small numbers")
}

super::provider::provider!(
    semver::Version,
    version,
    |version: semver::Version| number(&version),
    |(low, high)| (low.as_ref(), high.as_ref())
);
