//! Reading records from lines of JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::canonical::{self, Last};
use super::repeated::first_repeated;
use super::{IndexRecord, IndexedClass, is_time};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Span};
use crate::digest::ArtifactDigest;
use crate::limits::Limits;
use crate::name::{ClassName, PackageName};
use crate::requirement::Requirement;
use crate::spec::Spec;
use crate::version::Version;

/// How much is shown of a message that may quote the record.
const MESSAGE_CHARACTERS: usize = 300;

/// What some editors write at the beginning of a file. It is no part of JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads index records. Names and specs that were met before are shared, not read again.
#[derive(Debug, Default)]
pub struct IndexReader {
    pub(super) limits: Limits,
    pub(super) last: Last,
    packages: HashMap<Box<str>, PackageName>,
    classes: HashMap<Box<str>, ClassName>,
    specs: HashMap<Box<str>, Spec>,
}

impl IndexReader {
    /// A reader with nothing remembered.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Reads one line. `locate` makes a place of a range of bytes in the line, for errors.
    pub fn read_line(
        &mut self,
        line: &str,
        locate: &dyn Fn(Span) -> Location,
    ) -> Result<IndexRecord, Diagnostic> {
        let limit = self.limits.index_line_bytes;
        if line.len() as u64 > limit {
            let error = Limits::exceeded("bytes in a line of an index", limit);
            return Err(error.at(locate(Span::default())));
        }
        if line.starts_with(BYTE_ORDER_MARK) {
            let error = Diagnostic::error(Code::Encoding, "the line begins with a byte order mark");
            return Err(error
                .at(locate(Span {
                    start: 0,
                    end: BYTE_ORDER_MARK.len_utf8(),
                }))
                .hint("save it as UTF-8 without a byte order mark (BOM)"));
        }
        match canonical::read(self, line) {
            Some(record) => Ok(record),
            None => self.read_json(line, locate),
        }
    }

    /// Reads one line however it is written.
    pub(super) fn read_json(
        &mut self,
        line: &str,
        locate: &dyn Fn(Span) -> Location,
    ) -> Result<IndexRecord, Diagnostic> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        deserializer
            .deserialize_map(RecordVisitor { reader: self })
            .and_then(|record| deserializer.end().map(|()| record))
            .map_err(|error| {
                let start = error.column().saturating_sub(1);
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                let message = format!(
                    "not an index record: {}",
                    Escaped::within(message, MESSAGE_CHARACTERS)
                );
                Diagnostic::error(Code::IndexRecord, message).at(locate(Span {
                    start,
                    end: start + 1,
                }))
            })
    }

    pub(super) fn package(&mut self, text: &str) -> Result<PackageName, String> {
        if let Some(known) = self.packages.get(text) {
            return Ok(known.clone());
        }
        let name = PackageName::parse(text).map_err(|error| named("package name", text, &error))?;
        self.packages.insert(text.into(), name.clone());
        Ok(name)
    }

    pub(super) fn class(&mut self, text: &str) -> Result<ClassName, String> {
        if let Some(known) = self.classes.get(text) {
            return Ok(known.clone());
        }
        let name = ClassName::parse(text).map_err(|error| named("class name", text, &error))?;
        self.classes.insert(text.into(), name.clone());
        Ok(name)
    }

    pub(super) fn spec(&mut self, text: &str) -> Result<Spec, String> {
        if let Some(known) = self.specs.get(text) {
            return Ok(known.clone());
        }
        let spec = Spec::parse(text).map_err(|error| error.to_string())?;
        self.specs.insert(text.into(), spec.clone());
        Ok(spec)
    }
}

fn named(what: &str, text: &str, error: &dyn fmt::Display) -> String {
    format!("`{}` is not a {what}: {error}", Escaped::shortened(text))
}

struct RecordVisitor<'reader> {
    reader: &'reader mut IndexReader,
}

impl<'de> Visitor<'de> for RecordVisitor<'_> {
    type Value = IndexRecord;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `name` and `version`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<IndexRecord, A::Error> {
        let reader = self.reader;
        let mut seen = Seen::default();
        let mut name = None;
        let mut version = None;
        let mut record = IndexRecord::new(PackageName::default_core_library(), Version::ZERO);
        let (mut exported, mut internal) = (None, Vec::new());
        while let Some(key) = access.next_key_seed(Key)? {
            seen.insert(key)?;
            match key {
                Key::NAME => {
                    name = Some(access.next_value_seed(Text(|text: &str| reader.package(text)))?);
                }
                Key::VERSION => {
                    let parse =
                        |text: &str| Version::parse(text).map_err(|error| error.to_string());
                    version = Some(access.next_value_seed(Text(parse))?);
                }
                Key::FORMAT => {
                    let format: Option<String> = access.next_value()?;
                    record.format = format.map(Into::into);
                }
                Key::REQUIRE => {
                    let requirements = access.next_value_seed(Requirements(&mut *reader))?;
                    record.requirements = requirements.into();
                }
                Key::CLASSES => {
                    let classes = Classes {
                        reader: &mut *reader,
                        internal: false,
                    };
                    exported = access.next_value_seed(classes)?;
                }
                Key::INTERNAL => {
                    let classes = Classes {
                        reader: &mut *reader,
                        internal: true,
                    };
                    internal = access.next_value_seed(classes)?.unwrap_or_default();
                }
                Key::SHA256 => {
                    let digest: Option<String> = access.next_value()?;
                    record.digest = digest
                        .map(|digest| ArtifactDigest::parse(&digest))
                        .transpose()
                        .map_err(A::Error::custom)?;
                }
                Key::SIZE => record.size = access.next_value()?,
                Key::YANKED => record.yanked = access.next_value::<Option<bool>>()? == Some(true),
                Key::PUBLISHED => {
                    let published: Option<String> = access.next_value()?;
                    if let Some(text) = published.as_deref().filter(|text| !is_time(text)) {
                        return Err(A::Error::custom(format!(
                            "`published`: `{}` is not a time such as `2026-01-31T12:00:00Z`",
                            Escaped::shortened(text)
                        )));
                    }
                    record.published = published;
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        record.name = name.ok_or_else(|| A::Error::missing_field("name"))?;
        record.version = version.ok_or_else(|| A::Error::missing_field("version"))?;
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
            classes.sort_by(|one, two| one.name.cmp(&two.name));
            if let Some(pair) = classes.windows(2).find(|pair| pair[0].name == pair[1].name) {
                return Err(A::Error::custom(format!(
                    "the class `{}` stands twice",
                    pair[0].name
                )));
            }
            record.classes = Some(classes.into());
        }
        Ok(record)
    }
}

/// A key of a record as a small number; all unknown keys are one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key;

impl Key {
    const NAME: u8 = 0;
    const VERSION: u8 = 1;
    const FORMAT: u8 = 2;
    const REQUIRE: u8 = 3;
    const CLASSES: u8 = 4;
    const INTERNAL: u8 = 5;
    const SHA256: u8 = 6;
    const SIZE: u8 = 7;
    const YANKED: u8 = 8;
    const PUBLISHED: u8 = 9;
    const UNKNOWN: u8 = 10;
    const NAMES: [&str; 10] = [
        "name",
        "version",
        "format",
        "require",
        "classes",
        "internal",
        "sha256",
        "size",
        "yanked",
        "published",
    ];
}

/// Which known keys were met.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    fn insert<E: serde::de::Error>(&mut self, key: u8) -> Result<(), E> {
        let bit = 1 << key;
        if key != Key::UNKNOWN && self.0 & bit != 0 {
            return Err(E::custom(format!(
                "the key `{}` stands twice",
                Key::NAMES[usize::from(key)]
            )));
        }
        self.0 |= bit;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = u8;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u8, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = u8;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, text: &str) -> Result<u8, E> {
        let position = Key::NAMES.iter().position(|name| *name == text);
        Ok(position.map_or(Key::UNKNOWN, |position| {
            u8::try_from(position).expect("there are ten keys")
        }))
    }
}

/// A text that a function makes something of; null is passed on as an empty text.
struct Text<F>(F);

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Text<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        self.0(text).map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<T, E> {
        self.0("").map_err(E::custom)
    }
}

pub(super) struct Requirements<'reader>(&'reader mut IndexReader);

impl Requirements<'_> {
    fn add<E: serde::de::Error>(
        &self,
        requirements: &mut Vec<Requirement>,
        requirement: Requirement,
    ) -> Result<(), E> {
        let limit = self.0.limits.requirements;
        if requirements.len() == limit {
            return Err(E::custom(Limits::exceeded("requirements", limit).message));
        }
        requirements.push(requirement);
        Ok(())
    }

    pub(super) fn finish<E: serde::de::Error>(
        requirements: Vec<Requirement>,
    ) -> Result<Vec<Requirement>, E> {
        let twice = first_repeated(&requirements, |requirement| &requirement.package);
        match twice {
            Some(package) => Err(E::custom(format!("`{package}` is required twice"))),
            None => Ok(requirements),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Requirements<'_> {
    type Value = Vec<Requirement>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Requirements<'_> {
    type Value = Vec<Requirement>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of pairs of package and spec, or an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut requirements = Vec::new();
        while let Some(requirement) = access.next_element_seed(Pair(&mut *self.0))? {
            self.add(&mut requirements, requirement)?;
        }
        Self::finish(requirements)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut requirements = Vec::new();
        while let Some(package) = access.next_key_seed(Text(|text: &str| self.0.package(text)))? {
            let spec = access.next_value_seed(Text(|text: &str| self.0.spec(text)))?;
            let requirement = Requirement {
                package,
                spec,
                location: None,
            };
            self.add(&mut requirements, requirement)?;
        }
        Self::finish(requirements)
    }
}

struct Pair<'reader>(&'reader mut IndexReader);

impl<'de> DeserializeSeed<'de> for Pair<'_> {
    type Value = Requirement;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pair<'_> {
    type Value = Requirement;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a pair of package and spec")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Requirement, A::Error> {
        let missing = |length| A::Error::invalid_length(length, &"a pair of package and spec");
        let package = access
            .next_element_seed(Text(|text: &str| self.0.package(text)))?
            .ok_or_else(|| missing(0))?;
        let spec = access
            .next_element_seed(Text(|text: &str| self.0.spec(text)))?
            .ok_or_else(|| missing(1))?;
        if access.next_element::<IgnoredAny>()?.is_some() {
            return Err(missing(3));
        }
        Ok(Requirement {
            package,
            spec,
            location: None,
        })
    }
}

struct Classes<'reader> {
    reader: &'reader mut IndexReader,
    internal: bool,
}

impl<'de> DeserializeSeed<'de> for Classes<'_> {
    type Value = Option<Vec<IndexedClass>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Classes<'_> {
    type Value = Option<Vec<IndexedClass>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of classes")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut classes = Vec::new();
        while let Some(name) = access.next_key_seed(Text(|text: &str| self.reader.class(text)))? {
            let (extends, uses) = access.next_value_seed(Edges(&mut *self.reader))?;
            classes.push(IndexedClass {
                name,
                internal: self.internal,
                extends,
                uses,
            });
        }
        classes.sort_by(|one, two| one.name.cmp(&two.name));
        if let Some(pair) = classes.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(A::Error::custom(format!(
                "the class `{}` stands twice",
                pair[0].name
            )));
        }
        Ok(Some(classes))
    }
}

/// `{"extends":[..],"uses":[..]}`
struct Edges<'reader>(&'reader mut IndexReader);

impl<'de> DeserializeSeed<'de> for Edges<'_> {
    type Value = (Vec<ClassName>, Vec<ClassName>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Edges<'_> {
    type Value = (Vec<ClassName>, Vec<ClassName>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `extends` and `uses`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let (mut extends, mut uses) = (None, None);
        while let Some(key) = access.next_key::<Cow<'de, str>>()? {
            let target = match key.as_ref() {
                "extends" => &mut extends,
                "uses" => &mut uses,
                _ => {
                    access.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if target
                .replace(access.next_value_seed(ClassNames(&mut *self.0))?)
                .is_some()
            {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
        }
        Ok((extends.unwrap_or_default(), uses.unwrap_or_default()))
    }
}

struct ClassNames<'reader>(&'reader mut IndexReader);

impl<'de> DeserializeSeed<'de> for ClassNames<'_> {
    type Value = Vec<ClassName>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ClassNames<'_> {
    type Value = Vec<ClassName>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of class names")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut names: Vec<ClassName> = Vec::new();
        while let Some(name) = access.next_element_seed(Text(|text: &str| self.0.class(text)))? {
            names.push(name);
        }
        match first_repeated(&names, |name| name) {
            Some(name) => Err(A::Error::custom(format!("`{name}` stands twice"))),
            None => Ok(names),
        }
    }
}
