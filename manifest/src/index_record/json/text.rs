//! Texts that something is made of.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

/// A text that a function makes something of; null is passed on as an empty text.
pub(super) struct Text<F>(pub(super) F);

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Text<F> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
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
