//! The versions that a requirement excludes, by direction, and which of them are nearest to it.

use pkgres_manifest::{Version, VersionSet};

use crate::request::Preference;

/// Where versions are that a requirement does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Above all that it allows.
    Above,
    /// Below all that it allows.
    Below,
    /// In between.
    Between,
}

/// The versions outside of a set, in one direction. All versions are above the empty set.
pub(super) fn outside_of(set: &VersionSet, direction: Direction) -> VersionSet {
    let outside = set.complement();
    let intervals = set.intervals();
    let nothing = || VersionSet::all().complement();
    let above = match intervals.last() {
        Some(last) => last
            .until
            .clone()
            .map_or_else(nothing, |until| VersionSet::between(until, None)),
        None => VersionSet::all(),
    };
    let from_first = intervals.first().map_or_else(VersionSet::all, |first| {
        VersionSet::between(first.from.clone(), None)
    });
    let chosen = match direction {
        Direction::Above => above,
        Direction::Below => from_first.complement(),
        Direction::Between => from_first.intersection(&above.complement()),
    };
    outside.intersection(&chosen)
}

impl Direction {
    /// The preference with which the solver finds near versions first.
    pub(super) fn preference(self) -> Preference {
        match self {
            Self::Above => Preference::Oldest,
            Self::Below | Self::Between => Preference::Newest,
        }
    }

    /// The versions of a window that are nearer than one of them.
    pub(super) fn nearer_than(self, window: &VersionSet, version: &Version) -> VersionSet {
        let this = VersionSet::exactly(version);
        let first = this.intervals().first();
        let from = first.map_or_else(|| version.clone(), |first| first.from.clone());
        let from_here = VersionSet::between(from, None);
        let nearer = match self {
            Self::Above => from_here.complement(),
            Self::Below | Self::Between => from_here.intersection(&this.complement()),
        };
        window.intersection(&nearer)
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Spec;

    use super::*;

    fn set(text: &str) -> VersionSet {
        Spec::parse(text).expect("a spec").set().clone()
    }

    #[test]
    fn every_version_is_inside_or_in_one_direction() {
        for text in [
            "1",
            "^1.2",
            "<2",
            ">=1",
            "!=1.5",
            ">=1,!=1.5.0,<2",
            "*",
            "1.2.3",
            ">2,<1",
        ] {
            let set = set(text);
            let parts = [Direction::Above, Direction::Below, Direction::Between]
                .map(|direction| outside_of(&set, direction));
            let mut all = set.clone();
            for part in &parts {
                assert!(all.intersection(part).is_empty(), "{text}");
                all = all.union(part);
            }
            assert_eq!(all, VersionSet::all(), "{text}");
        }
    }

    #[test]
    fn nearer_versions_are_between_a_version_and_the_requirement() {
        let version = |text| Version::parse(text).expect("a version");
        let above = outside_of(&set("1"), Direction::Above);
        let nearer = Direction::Above.nearer_than(&above, &version("3.0.0"));
        assert!(nearer.contains(&version("2.9.0")));
        assert!(!nearer.contains(&version("3.0.0")));
        assert!(!nearer.contains(&version("1.9.0")));
        let below = outside_of(&set("3"), Direction::Below);
        let nearer = Direction::Below.nearer_than(&below, &version("1.0.0"));
        assert!(nearer.contains(&version("1.0.1")));
        assert!(!nearer.contains(&version("1.0.0")));
        assert!(!nearer.contains(&version("3.0.0")));
    }
}
