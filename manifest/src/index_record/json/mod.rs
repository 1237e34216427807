//! Reads a record from JSON in any form.
//!
//! Serde visitors read the fields in whatever order they come, and parse texts at once with the interner
//! of names and specs. An error then has the column at which the JSON parser is.

mod classes;
mod requirements;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::duplicates::sort;
use super::ecosystem::CLASS_PACKAGES;
use super::interner::Interner;
use super::key::{Key, KeySeed, SeenKeys};
use super::{IndexRecord, is_time};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Span};
use crate::digest::ArtifactDigest;
use crate::name::PackageName;
use crate::version::Version;
use classes::{ClassNames, Classes};
use requirements::Requirements;

/// The most characters shown of a message that may quote the record.
const MESSAGE_CHARACTERS: usize = 300;

/// Reads one line. `locate` returns the place of a range of bytes in the line, for errors.
pub(super) fn read(
    interner: &mut Interner,
    line: &str,
    locate: &dyn Fn(Span) -> Location,
) -> Result<IndexRecord, Diagnostic> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer
        .deserialize_map(RecordVisitor(interner))
        .and_then(|record| deserializer.end().map(|()| record))
        .map_err(|error| rejected(&error, line, locate))
}

/// The error for a line that the JSON parser rejects.
pub(super) fn rejected(
    error: &serde_json::Error,
    line: &str,
    locate: &dyn Fn(Span) -> Location,
) -> Diagnostic {
    let at = error.column().saturating_sub(1);
    let text = error.is_data().then(|| text_before(line, at)).flatten();
    let span = text.unwrap_or(Span {
        start: at,
        end: at + 1,
    });
    let message = error.to_string();
    let message = match without_position(&message) {
        // A word that is neither `null` nor `true` nor `false`.
        "expected ident" => "this is not JSON",
        message => message,
    };
    let message = format!(
        "not an index record: {}",
        Escaped::within(message, MESSAGE_CHARACTERS)
    );
    Diagnostic::error(Code::IndexRecord, message).at(locate(span))
}

/// The message of a JSON parser without its own position, which is in the line alone.
pub(super) fn without_position(message: &str) -> &str {
    match message.rsplit_once(" at line ") {
        // Messages may quote the input, with these words among others.
        Some((before, place)) if place.starts_with(|first: char| first.is_ascii_digit()) => before,
        _ => message,
    }
}

/// The text that ends at a place, or before a colon there: the JSON parser is at its end when it is found to be wrong.
fn text_before(line: &str, at: usize) -> Option<Span> {
    let bytes = line.as_bytes();
    let mut start = None;
    let mut last = None;
    let mut place = 0;
    while place <= at {
        match (*bytes.get(place)?, start) {
            (b'\\', Some(_)) => place += 1,
            (b'"', None) => start = Some(place),
            (b'"', Some(beginning)) => {
                last = Some(Span {
                    start: beginning,
                    end: place + 1,
                });
                start = None;
            }
            _ => {}
        }
        place += 1;
    }
    let text = last.filter(|_| start.is_none())?;
    let between = line.get(text.end..=at).unwrap_or_default().trim();
    matches!(between, "" | ":").then_some(text)
}

/// The visitor of a record, with an interner for its names and specs.
struct RecordVisitor<'interner>(&'interner mut Interner);

impl<'de> Visitor<'de> for RecordVisitor<'_> {
    type Value = IndexRecord;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `name` and `version`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<IndexRecord, A::Error> {
        let Self(interner) = self;
        let mut seen = SeenKeys::default();
        let mut name = None;
        let mut version = None;
        let mut record = IndexRecord::new(PackageName::default_core_library(), Version::ZERO);
        let (mut exported, mut internal) = (None, Vec::new());
        while let Some(key) = access.next_key_seed(KeySeed)? {
            let Some(key) = key else {
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            seen.insert(key)?;
            match key {
                Key::Name => {
                    name = Some(
                        access.next_value_seed(Converted(|text: &str| interner.package(text)))?,
                    );
                }
                Key::Version => {
                    let parse =
                        |text: &str| Version::parse(text).map_err(|error| error.to_string());
                    version = Some(access.next_value_seed(Converted(parse))?);
                }
                Key::Format => {
                    let format: Option<String> = access.next_value()?;
                    record.format = format.map(Into::into);
                }
                Key::Require => {
                    let requirements = access.next_value_seed(Requirements::new(interner))?;
                    record.requirements = requirements.into();
                }
                Key::Classes => {
                    exported = access.next_value_seed(Classes::new(interner, false))?;
                }
                Key::Internal => {
                    let classes = access.next_value_seed(Classes::new(interner, true))?;
                    internal = classes.unwrap_or_default();
                }
                Key::Interfaces => {
                    let mut interfaces = access.next_value_seed(ClassNames(interner))?;
                    interfaces.sort();
                    record.interfaces = interfaces.into();
                }
                Key::Sha256 => {
                    let digest: Option<String> = access.next_value()?;
                    record.digest = digest
                        .map(|digest| ArtifactDigest::parse(&digest))
                        .transpose()
                        .map_err(A::Error::custom)?;
                }
                Key::Ecosystem => {
                    // Lines of other ecosystems do not come here, unless the key comes twice.
                    let ecosystem: Option<String> = access.next_value()?;
                    if ecosystem.is_some_and(|id| id != CLASS_PACKAGES.id()) {
                        return Err(A::Error::custom("the record has two values of `ecosystem`"));
                    }
                }
                Key::Size => record.size = access.next_value()?,
                Key::Yanked => record.yanked = access.next_value::<Option<bool>>()? == Some(true),
                Key::Published => {
                    let published: Option<String> = access.next_value()?;
                    if let Some(text) = published.as_deref().filter(|text| !is_time(text)) {
                        return Err(A::Error::custom(format!(
                            "`published`: `{}` is not a time such as `2026-01-31T12:00:00Z`",
                            Escaped::shortened(text)
                        )));
                    }
                    record.published = published;
                }
            }
        }
        record.name = name.ok_or_else(|| A::Error::missing_field(Key::Name.as_str()))?;
        record.version = version.ok_or_else(|| A::Error::missing_field(Key::Version.as_str()))?;
        if let Some(own) = record
            .requirements
            .iter()
            .find(|requirement| requirement.package == record.name)
        {
            return Err(A::Error::custom(format!(
                "`{}` requires itself",
                own.package
            )));
        }
        if let Some(mut classes) = exported {
            classes.extend(internal);
            sort(&mut classes).map_err(A::Error::custom)?;
            record.classes = Some(classes.into());
        }
        Ok(record)
    }
}

/// Reads a string and converts it with a function. Null is passed to it as an empty string.
struct Converted<F>(F);

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Converted<F> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Converted<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    #[inline]
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        self.0(text).map_err(E::custom)
    }

    #[inline]
    fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
        self.0("").map_err(E::custom)
    }
}
