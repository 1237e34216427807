//! The keys of a record.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

macro_rules! keys {
    ($($key:ident = $text:literal,)*) => {
        /// A key of a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Key {
            $($key,)*
        }

        impl Key {
            /// The key as it is written.
            pub(super) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$key => $text,)*
                }
            }

            /// The key of a name.
            fn of(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$key),)*
                    _ => None,
                }
            }
        }
    };
}

keys! {
    Name = "name",
    Version = "version",
    Format = "format",
    Require = "require",
    Classes = "classes",
    Internal = "internal",
    Interfaces = "interfaces",
    Sha256 = "sha256",
    Size = "size",
    Yanked = "yanked",
    Published = "published",
    Ecosystem = "ecosystem",
}

/// The seed of a key; its value is `None` if the key is unknown.
pub(super) struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Option<Key>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Option<Key>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Key::of(text))
    }
}

/// The set of keys that were read.
#[derive(Default)]
pub(super) struct SeenKeys(u16);

impl SeenKeys {
    /// Adds a key. A duplicate is an error.
    #[inline]
    pub(super) fn insert<E: serde::de::Error>(&mut self, key: Key) -> Result<(), E> {
        let bit = 1 << key as u16;
        if self.0 & bit != 0 {
            let key = key.as_str();
            return Err(E::custom(format!("the key `{key}` appears twice")));
        }
        self.0 |= bit;
        Ok(())
    }
}
