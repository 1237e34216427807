//! Index records: the metadata of releases that resolution needs, without their artifacts.
//!
//! An index has one record per line, as JSON:
//!
//! ```json
//! {"name":"org.acme.Web","version":"1.2.0","format":"MuranoPL/1.3","require":[["org.acme.Db","1"]],
//!  "classes":{"org.acme.Web":{"extends":["io.murano.Application"],"uses":[]}},"sha256":"...","size":1234}
//! ```
//!
//! Only `name` and `version` are mandatory. `require` is a list of pairs in the order of the manifest, or an
//! object in the order written; a null spec means `0`. Class names are absolute. The implicit requirement
//! on the core library is not written, nor is the implicit parent of a class without `Extends`. Without
//! `classes` the classes are unknown, and the release is assumed to define any class. `internal` lists, in the same form,
//! classes that only the release itself sees. `interfaces` is a list of the interfaces that the release defines, and
//! a class can have a list of those that it `implements`. Unknown keys are skipped. A line with an `ecosystem` other than
//! `murano` is read and written by that [`Ecosystem`].
//!
//! [`json`] defines what a line means and finds every error. Two shortcuts save time on a large index, and
//! tests compare both with it: [`fast_path`] reads lines in the form that [`IndexRecord::to_line`] writes, and
//! [`package_of_line`] finds only the package of a line.

mod build;
#[cfg(feature = "json")]
mod duplicates;
mod ecosystem;
#[cfg(feature = "json")]
mod fast_path;
#[cfg(feature = "json")]
mod interner;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "json")]
mod key;
#[cfg(feature = "json")]
mod package_of_line;
mod publication_date;
#[cfg(feature = "json")]
mod reader;

pub use ecosystem::{CLASS_PACKAGES, Ecosystem, Ecosystems};
#[cfg(feature = "json")]
pub use reader::IndexReader;

#[cfg(feature = "json")]
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use jiff::Timestamp;
#[cfg(feature = "json")]
use serde::ser::{SerializeMap, Serializer};

use crate::diagnostic::{Diagnostic, Location, SourceText};
use crate::digest::ArtifactDigest;
use crate::name::{ClassName, PackageName};
use crate::package_format::PackageFormat;
use crate::read_options::Limits;
use crate::release::Release;
use crate::shared_list::Shared;
use crate::spec::Requirement;
use crate::version::Version;
#[cfg(feature = "json")]
use key::Key;

/// The metadata of a release that resolution needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRecord {
    /// The ecosystem, which determines how the record is written.
    pub ecosystem: &'static dyn Ecosystem,
    /// The package.
    pub name: PackageName,
    /// The version.
    pub version: Version,
    /// The format, as in the manifest.
    pub format: Option<Arc<str>>,
    /// The requirements, in the order of the manifest.
    pub requirements: Shared<Requirement>,
    /// The classes, sorted by name; `None` if they are unknown.
    pub classes: Option<Shared<IndexedClass>>,
    /// The interfaces that the release defines, sorted.
    pub interfaces: Shared<ClassName>,
    /// The digest of the artifact.
    pub digest: Option<ArtifactDigest>,
    /// The size of the artifact in bytes.
    pub size: Option<u64>,
    /// Whether the release is yanked: it is chosen only if it is locked, or requested exactly.
    pub yanked: bool,
    /// The time of publishing, as in RFC 3339. In a line, any other text is an error. See
    /// [`is_published_before`](Self::is_published_before).
    pub published: Option<String>,
    /// The labels of classes that are named by ids, sorted by class. The index of class packages has none.
    pub labels: Shared<(ClassName, Arc<str>)>,
}

/// A class of a release, with the classes that it extends and uses, by absolute names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexedClass {
    /// The class.
    pub name: ClassName,
    /// Whether only the release itself sees the class.
    pub internal: bool,
    /// The classes that it extends; empty for the root class of the core library.
    pub extends: Vec<ClassName>,
    /// The interfaces that it implements.
    pub implements: Vec<ClassName>,
    /// The other classes that it names.
    pub uses: Vec<ClassName>,
}

/// Whether a string is a time with its offset from UTC, as in RFC 3339.
fn is_time(text: &str) -> bool {
    is_plain_time(text.as_bytes()) || text.parse::<Timestamp>().is_ok()
}

/// Whether a string is a time in the usual form without a doubt. An index has one on nearly every line.
fn is_plain_time(text: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00Z";
    let is_formed = text.len() == FORM.len()
        && text.iter().zip(FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    let is_within = |at: usize, range: std::ops::RangeInclusive<u8>| {
        range.contains(&((text[at] - b'0') * 10 + (text[at + 1] - b'0')))
    };
    // The lengths of months are left to the general reader.
    is_formed
        && is_within(5, 1..=12)
        && is_within(8, 1..=28)
        && is_within(11, 0..=23)
        && is_within(14, 0..=59)
        && is_within(17, 0..=59)
}

impl IndexRecord {
    /// The release that the record describes.
    pub fn release(&self) -> Release {
        Release::new(self.name.clone(), self.version.clone())
    }

    /// Returns a record without requirements, and with unknown classes.
    pub fn new(name: PackageName, version: Version) -> Self {
        Self {
            ecosystem: CLASS_PACKAGES,
            name,
            version,
            format: None,
            requirements: Shared::new(),
            classes: None,
            interfaces: Shared::new(),
            digest: None,
            size: None,
            yanked: false,
            published: None,
            labels: Shared::new(),
        }
    }

    /// Compares two records by all of their content, except the places of requirements. If a release has two different
    /// records, this order decides which one counts, whatever order they arrive in.
    pub fn cmp_content(&self, other: &Self) -> Ordering {
        let requirements = |record: &Self| -> Vec<(PackageName, String)> {
            let requirements = record.requirements.iter();
            requirements
                .map(|one| (one.package.clone(), one.spec.written().to_owned()))
                .collect()
        };
        let one = (&self.name, &self.version, self.version.build());
        one.cmp(&(&other.name, &other.version, other.version.build()))
            .then_with(|| self.ecosystem.id().cmp(other.ecosystem.id()))
            .then_with(|| self.format.cmp(&other.format))
            .then_with(|| requirements(self).cmp(&requirements(other)))
            .then_with(|| self.classes.as_deref().cmp(&other.classes.as_deref()))
            .then_with(|| self.interfaces.cmp(&other.interfaces[..]))
            .then_with(|| self.digest.cmp(&other.digest))
            .then_with(|| self.size.cmp(&other.size))
            .then_with(|| self.yanked.cmp(&other.yanked))
            .then_with(|| self.published.cmp(&other.published))
            .then_with(|| self.labels.cmp(&other.labels[..]))
    }

    /// Whether its manifest cannot state requirements: a Heat template requires the core library alone.
    pub fn has_fixed_requirements(&self) -> bool {
        let format = self.format.as_deref();
        format.is_some_and(PackageFormat::names_heat_hot)
    }

    /// The label of a class that is named by an id.
    pub fn label(&self, class: &ClassName) -> Option<&str> {
        let at = (self.labels).binary_search_by(|(known, _)| known.cmp(class));
        at.ok().map(|at| &*self.labels[at].1)
    }

    /// Whether the release is known to define a class for others.
    pub fn exports(&self, class: &ClassName) -> bool {
        self.class(class).is_some_and(|class| !class.internal)
    }

    /// A class that the release is known to define, for others or for itself.
    pub fn class(&self, class: &ClassName) -> Option<&IndexedClass> {
        let classes = self.classes.as_ref()?;
        let at = classes.binary_search_by(|known| known.name.cmp(class));
        at.ok().map(|at| &classes[at])
    }

    /// Whether the release is known to define a class for others, by its name or with all others of its module,
    /// `MODULE.*`.
    pub fn defines(&self, class: &ClassName) -> bool {
        let any = || {
            let (module, _) = class.as_str().rsplit_once('.')?;
            ClassName::native(&format!("{module}.*")).ok()
        };
        self.exports(class) || any().is_some_and(|any| self.exports(&any))
    }
}

#[cfg(feature = "json")]
impl IndexRecord {
    /// Reads one line of an index. To read many, [`IndexReader`] is faster.
    ///
    /// ```
    /// use pkgres_manifest::{IndexRecord, Limits};
    ///
    /// let line = r#"{"name":"org.acme.Web","version":"1.2.0","require":[["org.acme.Db","1"]]}"#;
    /// let record = IndexRecord::parse_line(line, &Limits::default())?;
    /// assert_eq!(record.requirements[0].package.as_str(), "org.acme.Db");
    /// assert_eq!(record.to_line(), line);
    /// # Ok::<(), pkgres_manifest::diagnostic::Diagnostic>(())
    /// ```
    pub fn parse_line(line: &str, limits: &Limits) -> Result<Self, Diagnostic> {
        IndexReader::new(limits.clone()).read_line(line, &|span| {
            Location::new(&SourceText::new("index record", line), span)
        })
    }

    /// Returns the package name in a line of an index, if it can be found.
    ///
    /// This takes little time where the name comes first, as in lines from [`to_line`](Self::to_line). The
    /// name is not checked, and the rest of the line is not read: reading the line may find errors in both.
    ///
    /// ```
    /// use pkgres_manifest::IndexRecord;
    ///
    /// let line = br#"{"name":"org.acme.Web","version":"wrong"}"#;
    /// assert_eq!(IndexRecord::package_of_line(line).as_deref(), Some("org.acme.Web"));
    /// ```
    pub fn package_of_line(line: &[u8]) -> Option<Cow<'_, str>> {
        package_of_line::find(line)
    }

    /// Returns the version in a line as it is written, also if the line is no record otherwise.
    ///
    /// ```
    /// use pkgres_manifest::IndexRecord;
    ///
    /// let line = br#"{"name":"org.acme.Web","version":"1.2.0","require":1}"#;
    /// assert_eq!(IndexRecord::version_of_line(line).as_deref(), Some("1.2.0"));
    /// ```
    pub fn version_of_line(line: &[u8]) -> Option<Cow<'_, str>> {
        package_of_line::version_of_line(line)
    }

    /// Returns the id of the ecosystem of a line, also if the line is no record otherwise. A line that states none is
    /// about class packages; `None` if it cannot be read so far.
    ///
    /// ```
    /// use pkgres_manifest::IndexRecord;
    ///
    /// let line = br#"{"ecosystem":"ansible","name":"acme.web","version":"1.2.0","require":1}"#;
    /// assert_eq!(IndexRecord::ecosystem_of_line(line).as_deref(), Some("ansible"));
    /// assert_eq!(IndexRecord::ecosystem_of_line(b"{}").as_deref(), Some("murano"));
    /// assert_eq!(IndexRecord::ecosystem_of_line(br#"{"name":"acme.web","#), None);
    /// ```
    pub fn ecosystem_of_line(line: &[u8]) -> Option<Cow<'_, str>> {
        package_of_line::ecosystem_of_line(line)
    }

    /// Returns the record as one line, without a line feed.
    pub fn to_line(&self) -> String {
        self.ecosystem.write_record(self)
    }
}

/// Writes the keys that all ecosystems share, in their order; [`IndexRecord::to_line`] writes the record.
#[cfg(feature = "json")]
impl serde::Serialize for IndexRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.ecosystem != CLASS_PACKAGES {
            map.serialize_entry(Key::Ecosystem.as_str(), self.ecosystem.id())?;
        }
        map.serialize_entry(Key::Name.as_str(), &self.name)?;
        map.serialize_entry(Key::Version.as_str(), &self.version)?;
        if let Some(format) = &self.format {
            map.serialize_entry(Key::Format.as_str(), &**format)?;
        }
        if !self.requirements.is_empty() {
            let pairs: Vec<(&PackageName, &str)> = self
                .requirements
                .iter()
                .map(|requirement| (&requirement.package, requirement.spec.written()))
                .collect();
            map.serialize_entry(Key::Require.as_str(), &pairs)?;
        }
        if let Some(classes) = &self.classes {
            let of_kind = |internal| ClassMap { classes, internal };
            map.serialize_entry(Key::Classes.as_str(), &of_kind(false))?;
            if classes.iter().any(|class| class.internal) {
                map.serialize_entry(Key::Internal.as_str(), &of_kind(true))?;
            }
        }
        if !self.interfaces.is_empty() {
            map.serialize_entry(Key::Interfaces.as_str(), &self.interfaces[..])?;
        }
        if let Some(digest) = &self.digest {
            map.serialize_entry(Key::Sha256.as_str(), digest)?;
        }
        if let Some(size) = &self.size {
            map.serialize_entry(Key::Size.as_str(), size)?;
        }
        if self.yanked {
            map.serialize_entry(Key::Yanked.as_str(), &true)?;
        }
        if let Some(published) = &self.published {
            map.serialize_entry(Key::Published.as_str(), published)?;
        }
        map.end()
    }
}

/// The classes that others see, or the internal ones, as the object that an index has for them.
#[cfg(feature = "json")]
struct ClassMap<'record> {
    classes: &'record [IndexedClass],
    internal: bool,
}

#[cfg(feature = "json")]
impl serde::Serialize for ClassMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct WrittenEdges<'class> {
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            extends: &'class [ClassName],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            implements: &'class [ClassName],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            uses: &'class [ClassName],
        }
        let chosen = self
            .classes
            .iter()
            .filter(|class| class.internal == self.internal);
        serializer.collect_map(chosen.map(|class| {
            let edges = WrittenEdges {
                extends: &class.extends,
                implements: &class.implements,
                uses: &class.uses,
            };
            (&class.name, edges)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    #[test]
    fn the_time_of_publishing_is_checked() {
        let read = |published: &str| {
            let line = format!(r#"{{"name":"a.B","version":"1.0.0","published":{published}}}"#);
            IndexRecord::parse_line(&line, &Limits::default())
        };
        for time in [
            r#""2026-01-31T12:00:00Z""#,
            r#""2026-01-28T12:00:00Z""#,
            r#""2026-01-28T12:00:00.5Z""#,
            r#""2026-01-28 14:00+02:00""#,
            "null",
        ] {
            assert!(read(time).is_ok(), "{time}");
        }
        for other in [
            "yesterday",
            "",
            "2026-01-31",
            "2026-01-28T12:00:00",
            "2026-13-28T12:00:00Z",
            "2026-02-30T12:00:00Z",
            "2026-01-28T24:00:00Z",
            "2026-01-28T12:60:00Z",
        ] {
            let error = read(&format!("{other:?}")).expect_err(other);
            assert_eq!(error.code, Code::IndexRecord);
            let expected = format!("`{other}` is not a time such as `2026-01-31T12:00:00Z`");
            assert!(error.message.ends_with(&expected), "{error}");
        }
    }

    #[test]
    fn an_unknown_ecosystem_hides_its_line() {
        for (written, message) in [
            (r#""deb""#, Some("the ecosystem `deb` is not known")),
            (r#""murano""#, None),
            ("null", None),
        ] {
            let line = format!(r#"{{"name":"a.B","version":"1.0.0","ecosystem":{written}}}"#);
            let read = IndexRecord::parse_line(&line, &Limits::default());
            assert_eq!(read.err().map(|error| error.message).as_deref(), message);
        }
    }

    #[test]
    fn a_byte_order_mark_is_an_error_that_names_it() {
        let line = "\u{feff}{\"name\":\"a.B\",\"version\":\"1.0.0\"}";
        let error = IndexRecord::parse_line(line, &Limits::default()).expect_err("it begins so");
        assert_eq!(error.code, Code::Encoding);
        assert_eq!(
            error.hints,
            ["save it as UTF-8 without a byte order mark (BOM)"]
        );
    }
}
