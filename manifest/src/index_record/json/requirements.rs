//! Reads the requirements of a record.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::super::duplicates::first_repeated;
use super::super::interner::Interner;
use super::Converted;
use crate::read_options::Limits;
use crate::spec::Requirement;

/// The seed of requirements: pairs of package and spec, or an object.
pub(super) struct Requirements<'interner>(&'interner mut Interner);

impl<'interner> Requirements<'interner> {
    pub(super) fn new(interner: &'interner mut Interner) -> Self {
        Self(interner)
    }

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

    fn finish<E: serde::de::Error>(requirements: Vec<Requirement>) -> Result<Vec<Requirement>, E> {
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
        while let Some(package) =
            access.next_key_seed(Converted(|text: &str| self.0.package(text)))?
        {
            let spec = access.next_value_seed(Converted(|text: &str| self.0.spec(text)))?;
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

struct Pair<'interner>(&'interner mut Interner);

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
            .next_element_seed(Converted(|text: &str| self.0.package(text)))?
            .ok_or_else(|| missing(0))?;
        let spec = access
            .next_element_seed(Converted(|text: &str| self.0.spec(text)))?
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
