//! Specs as indexes store them: the text and, for a range of another ecosystem, the set that it means.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Spec, SpecError, VersionSet};
use crate::version::Version;

/// The first word of a native spec. No spec of this crate's own language begins with letters.
const NATIVE: &str = "native";
const NAMES_PRERELEASE: &str = "native-prerelease";

impl Spec {
    /// The text from which [`from_stored`](Self::from_stored) reads an equal spec. It is the spec as written, and
    /// for a [native](Self::native) spec its intervals before that.
    ///
    /// ```
    /// use pkgres_manifest::{Spec, Version, VersionSet};
    ///
    /// let set = VersionSet::exactly(&Version::new(1, 2, 0)).complement();
    /// for spec in [Spec::native("!= 1.2", set, false), Spec::parse(">=1, <3")?] {
    ///     assert_eq!(Spec::from_stored(&spec.to_stored())?, spec);
    /// }
    /// # Ok::<(), pkgres_manifest::SpecError>(())
    /// ```
    pub fn to_stored(&self) -> Cow<'_, str> {
        let parts = &*self.0;
        if !parts.is_native {
            return Cow::Borrowed(&parts.written);
        }
        let kind = if parts.names_prerelease {
            NAMES_PRERELEASE
        } else {
            NATIVE
        };
        let mut text = kind.to_owned();
        text.push(' ');
        for (at, interval) in parts.set.intervals().iter().enumerate() {
            let separator = if at == 0 { "" } else { "|" };
            write!(text, "{separator}{}..", interval.from).expect("a string can be written to");
            if let Some(until) = &interval.until {
                write!(text, "{until}").expect("a string can be written to");
            }
        }
        text.push(' ');
        text.push_str(&parts.written);
        Cow::Owned(text)
    }

    /// Reads a spec from the text of [`to_stored`](Self::to_stored).
    pub fn from_stored(text: &str) -> Result<Self, SpecError> {
        let native = text.split_once(' ').and_then(|(kind, rest)| {
            let names_prerelease = match kind {
                NATIVE => false,
                NAMES_PRERELEASE => true,
                _ => return None,
            };
            let (set, written) = rest.split_once(' ')?;
            Some(Self::native(written, intervals(set)?, names_prerelease))
        });
        native.map_or_else(|| Self::parse(text), Ok)
    }
}

/// Reads the intervals of a set.
fn intervals(text: &str) -> Option<VersionSet> {
    let version = |text: &str| Version::parse(text).ok();
    let mut set = VersionSet::all().complement();
    for interval in text.split('|').filter(|interval| !interval.is_empty()) {
        let (from, until) = interval.split_once("..")?;
        let until = match until {
            "" => None,
            until => Some(version(until)?),
        };
        set = set.union(&VersionSet::between(version(from)?, until));
    }
    Some(set)
}
