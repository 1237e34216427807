//! Reads JSON with `serde` as its documents are described: structs are objects.
//!
//! The implementations that `serde` derives also accept a list of the values of all fields, in their order. No document
//! is described like that, and other readers would not accept it.

use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

/// Reads a JSON document, in which every struct is an object.
pub fn read_json<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(Strict(&mut deserializer))?;
    deserializer.end()?;
    Ok(value)
}

/// Something of `serde`, inside of which every struct is an object.
struct Strict<T>(T);

/// The visitor of a value.
struct StrictVisitor<V> {
    visitor: V,
    /// Whether the value is a struct.
    is_struct: bool,
}

fn any<V>(visitor: V) -> StrictVisitor<V> {
    StrictVisitor {
        visitor,
        is_struct: false,
    }
}

fn object<V>(visitor: V) -> StrictVisitor<V> {
    StrictVisitor {
        visitor,
        is_struct: true,
    }
}

/// Methods for values that contain no others.
macro_rules! plain {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        })*
    };
}

/// Methods for values that may contain others.
macro_rules! nested {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* any(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    plain! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    nested! {
        deserialize_any();
        deserialize_option();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, object(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Visits of values that contain no others.
macro_rules! visits {
    ($($method:ident: $type:ty;)*) => {
        $(fn $method<E: serde::de::Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for StrictVisitor<V> {
    type Value = V::Value;

    visits! {
        visit_bool: bool;
        visit_i64: i64;
        visit_i128: i128;
        visit_u64: u64;
        visit_u128: u128;
        visit_f64: f64;
        visit_str: &str;
        visit_borrowed_str: &'de str;
        visit_string: String;
        visit_bytes: &[u8];
        visit_borrowed_bytes: &'de [u8];
        visit_byte_buf: Vec<u8>;
    }

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_struct {
            formatter.write_str("an object")
        } else {
            self.visitor.expecting(formatter)
        }
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Strict(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Strict(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        if self.is_struct {
            return Err(A::Error::custom("expected an object, not a list"));
        }
        self.visitor.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Strict(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Strict(value))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(deserializer))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(Strict(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.0.variant_seed(Strict(seed))?;
        Ok((value, Strict(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, object(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        number: u64,
        text: Option<String>,
        #[serde(default)]
        inner: Vec<Inner>,
        #[serde(default)]
        map: BTreeMap<String, Option<Inner>>,
        #[serde(default)]
        pair: (u8, u8),
        #[serde(default)]
        choice: Option<Choice>,
        #[serde(default)]
        value: serde_json::Value,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Inner {
        name: String,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        None,
        One(Inner),
        Two(u8, u8),
        Named { name: String },
    }

    fn read(text: &str) -> Result<Outer, String> {
        read_json(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn documents_are_read_as_without_it() {
        for text in [
            r#"{"number":1,"text":"a\n"}"#,
            r#"{"number":1,"text":null,"inner":[{"name":"n"}],"map":{"a":null,"b":{"name":"m"}},"pair":[1,2]}"#,
            r#"{"number":1,"choice":"none","value":[1,{"a":[true,null,-1.5]}]}"#,
            r#"{"number":1,"choice":{"one":{"name":"x"}}}"#,
            r#"{"number":1,"choice":{"two":[1,2]}}"#,
            r#"{"number":1,"choice":{"named":{"name":"x"}}}"#,
            r#" {"number":18446744073709551615} "#,
        ] {
            let known: Outer = serde_json::from_str(text).expect(text);
            assert_eq!(read(text), Ok(known), "{text}");
        }
        let list: Vec<Inner> = read_json(br#"[{"name":"a"}]"#).expect("a list");
        assert_eq!(list.len(), 1);
        let raw: &serde_json::value::RawValue = read_json(b"[1, 2]").expect("a value");
        assert_eq!(raw.get(), "[1, 2]");
        for text in [
            r#"{"number":1} x"#,
            r#"{"number":"1"}"#,
            r#"{"number":1,"x":2}"#,
            r#"{"number":1,"choice":"three"}"#,
            "{}",
            "",
        ] {
            let known = serde_json::from_str::<Outer>(text).expect_err(text);
            assert_eq!(read(text), Err(known.to_string()), "{text}");
        }
    }

    #[test]
    fn a_list_is_no_struct() {
        for text in [
            "[1,null,[],{},[0,0],null,null]",
            r#"{"number":1,"inner":[["n"]]}"#,
            r#"{"number":1,"map":{"a":["n"]}}"#,
            r#"{"number":1,"choice":{"one":["n"]}}"#,
            r#"{"number":1,"choice":{"named":["n"]}}"#,
        ] {
            assert!(serde_json::from_str::<Outer>(text).is_ok(), "{text}");
            let error = read(text).expect_err(text);
            assert!(
                error.starts_with("expected an object, not a list at line 1"),
                "{error}"
            );
        }
        let error = read("\"x\"").expect_err("a text");
        assert!(
            error.starts_with("invalid type: string \"x\", expected an object"),
            "{error}"
        );
    }
}
