//! Reads the classes of a record.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::super::IndexedClass;
use super::super::duplicates::{first_repeated, sort};
use super::super::interner::Interner;
use super::Converted;
use crate::name::ClassName;

/// The seed of an object of classes; its value is `None` for null.
pub(super) struct Classes<'interner> {
    interner: &'interner mut Interner,
    internal: bool,
}

impl<'interner> Classes<'interner> {
    /// Returns the seed for the internal classes, or for the others.
    pub(super) fn new(interner: &'interner mut Interner, internal: bool) -> Self {
        Self { interner, internal }
    }
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
        while let Some(name) =
            access.next_key_seed(Converted(|text: &str| self.interner.class(text)))?
        {
            let [extends, implements, uses] = access.next_value_seed(Edges(&mut *self.interner))?;
            classes.push(IndexedClass {
                name,
                internal: self.internal,
                extends,
                implements,
                uses,
            });
        }
        sort(&mut classes).map_err(A::Error::custom)?;
        Ok(Some(classes))
    }
}

/// Reads `{"extends":[..],"implements":[..],"uses":[..]}`.
struct Edges<'interner>(&'interner mut Interner);

impl<'de> DeserializeSeed<'de> for Edges<'_> {
    type Value = [Vec<ClassName>; 3];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Edges<'_> {
    type Value = [Vec<ClassName>; 3];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with `extends`, `implements` and `uses`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let [mut extends, mut implements, mut uses] = [None, None, None];
        while let Some(key) = access.next_key::<Cow<'de, str>>()? {
            let target = match key.as_ref() {
                "extends" => &mut extends,
                "implements" => &mut implements,
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
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
        }
        Ok([extends, implements, uses].map(Option::unwrap_or_default))
    }
}

/// Reads a list of names without repetitions.
pub(super) struct ClassNames<'interner>(pub(super) &'interner mut Interner);

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
        while let Some(name) =
            access.next_element_seed(Converted(|text: &str| self.0.class(text)))?
        {
            names.push(name);
        }
        match first_repeated(&names, |name| name) {
            Some(name) => Err(A::Error::custom(format!("`{name}` appears twice"))),
            None => Ok(names),
        }
    }
}
