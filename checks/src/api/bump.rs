//! The bump between two versions: major, minor or patch, and the smallest version after a required bump.

use std::fmt;

use pkgres_manifest::Version;

use super::rules::Impact;

/// The bump from one version to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bump {
    /// The same version, or an older one.
    None,
    /// From 1.2.3 to 1.2.4.
    Patch,
    /// From 1.2.3 to 1.3.0.
    Minor,
    /// From 1.2.3 to 2.0.0.
    Major,
}

impl Bump {
    /// The bump between two versions. After a prerelease every difference is allowed until its version is
    /// released.
    ///
    /// Versions below 1.0.0 are no exception: the spec `0`, which counts where a manifest names no spec, accepts
    /// every 0.x version.
    ///
    /// ```
    /// use pkgres_checks::Bump;
    /// use pkgres_manifest::Version;
    ///
    /// let bump = |old, new| {
    ///     let parse = |text| Version::parse(text).expect("a version");
    ///     Bump::between(&parse(old), &parse(new))
    /// };
    /// assert_eq!(bump("0.1.0", "0.2.0"), Bump::Minor);
    /// assert_eq!(bump("1.2.3", "2.0.0-rc1"), Bump::Major);
    /// assert_eq!(bump("2.0.0-rc1", "2.0.0"), Bump::Major);
    /// assert_eq!(bump("1.2.3", "1.2.3+7"), Bump::None);
    /// ```
    pub fn between(old: &Version, new: &Version) -> Self {
        if new.without_build() <= old.without_build() {
            Self::None
        } else if new.major() != old.major() {
            Self::Major
        } else if new.minor() != old.minor() {
            Self::Minor
        } else if new.patch() != old.patch() {
            Self::Patch
        } else {
            Self::Major
        }
    }

    /// The bump that a difference needs. What a person has to decide needs none by itself.
    pub fn needed_for(impact: Impact) -> Self {
        match impact {
            Impact::Patch | Impact::Review => Self::Patch,
            Impact::Minor => Self::Minor,
            Impact::Major => Self::Major,
        }
    }

    /// The bump that several differences need together; none without a difference.
    pub fn needed_for_all(impacts: impl IntoIterator<Item = Impact>) -> Self {
        let needed = impacts.into_iter().map(Self::needed_for);
        needed.max().unwrap_or(Self::None)
    }

    /// The lowest version that is this bump from another one.
    ///
    /// ```
    /// use pkgres_checks::Bump;
    /// use pkgres_manifest::Version;
    ///
    /// assert_eq!(Bump::Minor.after(&Version::new(1, 2, 3)), Version::new(1, 3, 0));
    /// ```
    #[must_use]
    pub fn after(self, version: &Version) -> Version {
        let (major, minor, patch) = (version.major(), version.minor(), version.patch());
        match self {
            // A prerelease may change in everything until its version is released.
            _ if version.is_prerelease() => Version::new(major, minor, patch),
            Self::None => version.clone(),
            Self::Patch => Version::new(major, minor, patch.saturating_add(1)),
            Self::Minor => Version::new(major, minor.saturating_add(1), 0),
            Self::Major => Version::new(major.saturating_add(1), 0, 0),
        }
    }
}

impl fmt::Display for Bump {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        })
    }
}
