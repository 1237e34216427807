//! Versions as indexes store them: the text and the place in the order, for all ecosystems.

use super::{Version, VersionError};

/// The byte between place and text of a native version. No version has it.
const SEPARATOR: char = ' ';

impl Version {
    /// The text from which [`from_stored`](Self::from_stored) reads an equal version with the same text. It is the
    /// version as shown, and for a [native](Self::native) version its place in the order before that.
    ///
    /// ```
    /// use pkgres_manifest::Version;
    ///
    /// let native = Version::native("1.04@2019-05-01", &Version::parse("0.20190501.0-1.4")?);
    /// for version in [native, Version::new(1, 2, 3)] {
    ///     let read = Version::from_stored(&version.to_stored())?;
    ///     assert_eq!((&read, read.to_string()), (&version, version.to_string()));
    /// }
    /// # Ok::<(), pkgres_manifest::VersionError>(())
    /// ```
    pub fn to_stored(&self) -> String {
        match self.native_text() {
            Some(native) => format!("{}{SEPARATOR}{native}", self.in_order()),
            None => self.to_string(),
        }
    }

    /// Reads a version from the text of [`to_stored`](Self::to_stored).
    pub fn from_stored(text: &str) -> Result<Self, VersionError> {
        match text.split_once(SEPARATOR) {
            Some((order, native)) => Ok(Self::native(native, &Self::parse(order)?)),
            None => Self::parse(text),
        }
    }
}
