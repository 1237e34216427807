//! Parses NodeIds as NodeSet files write them.

use std::borrow::Cow;
use std::fmt;

use pkgres_manifest::{NameError, PackageName};

/// The namespace of OPC UA itself, which has the index 0 in every file.
pub(super) const UA_NAMESPACE: &str = "http://opcfoundation.org/UA/";

/// The id of a node in a file: a namespace of the file, and an identifier in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId<'text> {
    /// The number of the namespace in [`NodeSet::namespaces`](super::NodeSet::namespaces).
    pub namespace: u16,
    /// The identifier in the namespace.
    pub identifier: Identifier<'text>,
}

/// The id of a node, which is in a namespace of a file or in one that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpandedNodeId<'text> {
    pub(super) namespace: Namespace<'text>,
    pub(super) identifier: Identifier<'text>,
}

/// The namespace of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Namespace<'text> {
    /// The number of the namespace in the file; 0 is OPC UA itself.
    Index(u16),
    /// The URI of the namespace.
    Uri(Cow<'text, str>),
}

/// The identifier of a node in its namespace, such as `i=58`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier<'text> {
    /// `i=` and a number, as nearly all are.
    Numeric(u32),
    /// `s=`, `g=` or `b=` and its value, as written. The digits of a GUID are in lower case.
    Text(Cow<'text, str>),
}

impl NodeId<'_> {
    /// The node of OPC UA itself with a number.
    pub(super) fn of_ua(number: u32) -> Self {
        Self {
            namespace: 0,
            identifier: Identifier::Numeric(number),
        }
    }
}

impl<'text> ExpandedNodeId<'text> {
    /// Reads `i=58`, `ns=1;i=58` or `nsu=URI;i=58`, with `s=`, `g=` or `b=` in place of `i=`.
    pub(super) fn read(text: &'text str) -> Option<Self> {
        let (namespace, identifier) = if let Some(rest) = text.strip_prefix("ns=") {
            let (index, identifier) = rest.split_once(';')?;
            (Namespace::Index(number(index)?), identifier)
        } else if let Some(rest) = text.strip_prefix("nsu=") {
            let (uri, identifier) = split_uri(rest)?;
            (Namespace::Uri(Cow::Borrowed(uri)), identifier)
        } else {
            (Namespace::Index(0), text)
        };
        let identifier = Identifier::read(identifier)?;
        Some(Self {
            namespace,
            identifier,
        })
    }

    /// Reads an id in a text that has blanks around it.
    pub(super) fn read_trimmed(text: &Cow<'text, str>) -> Option<Self> {
        match text {
            Cow::Borrowed(text) => Self::read(text.trim_ascii()),
            Cow::Owned(text) => {
                let id = ExpandedNodeId::read(text.trim_ascii())?;
                Some(Self {
                    namespace: match id.namespace {
                        Namespace::Index(index) => Namespace::Index(index),
                        Namespace::Uri(uri) => Namespace::Uri(Cow::Owned(uri.into_owned())),
                    },
                    identifier: match id.identifier {
                        Identifier::Numeric(number) => Identifier::Numeric(number),
                        Identifier::Text(text) => Identifier::Text(Cow::Owned(text.into_owned())),
                    },
                })
            }
        }
    }
}

impl<'text> Identifier<'text> {
    /// Reads an identifier without a namespace.
    pub(super) fn read(text: &'text str) -> Option<Self> {
        let value = text.get(2..).filter(|value| !value.is_empty())?;
        match text.get(..2)? {
            "i=" => number(value).map(Self::Numeric),
            "s=" => Some(Self::Text(Cow::Borrowed(text))),
            // The digits of a GUID have no case.
            "g=" if value.len() == 36 && value.is_ascii() => Some(Self::Text(
                if text.bytes().any(|next| next.is_ascii_uppercase()) {
                    Cow::Owned(text.to_ascii_lowercase())
                } else {
                    Cow::Borrowed(text)
                },
            )),
            "b=" if value.is_ascii() => Some(Self::Text(Cow::Borrowed(text))),
            _ => None,
        }
    }
}

impl fmt::Display for Identifier<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numeric(number) => write!(formatter, "i={number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// Splits `URI;i=58` at the `;` before the identifier.
pub(super) fn split_uri(text: &str) -> Option<(&str, &str)> {
    let mut separators = text.match_indices(';').map(|(at, _)| at);
    separators.find_map(|at| {
        let identifier = &text[at + 1..];
        let is_start = ["i=", "s=", "g=", "b="]
            .iter()
            .any(|kind| identifier.starts_with(kind));
        is_start.then_some((&text[..at], identifier))
    })
}

/// Reads the name of a model: a URI in which nothing looks like the beginning of an identifier.
pub(super) fn package_name(uri: &str) -> Result<PackageName, NameError> {
    let name = PackageName::native(uri)?;
    match split_uri(uri) {
        None => Ok(name),
        Some(_) => Err(NameError::Other(
            "the URI of a model cannot have `;` before what looks like an identifier, such as `i=1`",
        )),
    }
}

/// Reads `i=58` or `ns=1;i=58`, as nearly all ids are written: the index of the namespace, and the number.
pub(super) fn read_numeric(text: &str) -> Option<(u16, u32)> {
    let Some(rest) = text.strip_prefix("ns=") else {
        return Some((0, number(text.strip_prefix("i=")?)?));
    };
    let end = rest.bytes().position(|next| next == b';')?;
    let identifier = rest[end..].strip_prefix(";i=")?;
    Some((number(&rest[..end])?, number(identifier)?))
}

/// Reads a number of digits only.
#[inline]
fn number<T: TryFrom<u32>>(digits: &str) -> Option<T> {
    let add = |number: u32, next: u8| {
        let digit = next.wrapping_sub(b'0');
        let number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
        (digit < 10).then_some(number)
    };
    let number = digits.bytes().try_fold(0, add)?;
    T::try_from(number).ok().filter(|_| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_ids_are_read() {
        for (text, namespace, identifier) in [
            ("i=58", Namespace::Index(0), "i=58"),
            ("ns=2;i=007", Namespace::Index(2), "i=7"),
            ("ns=1;s=a;b=c", Namespace::Index(1), "s=a;b=c"),
            (
                "nsu=http://a.org/x;y/;i=1",
                Namespace::Uri("http://a.org/x;y/".into()),
                "i=1",
            ),
            (
                "g=09087E75-8E5E-499B-954F-F2A9603DB28A",
                Namespace::Index(0),
                "g=09087e75-8e5e-499b-954f-f2a9603db28a",
            ),
            (
                "b=M/RbKBsRVkePCePcx24oRA==",
                Namespace::Index(0),
                "b=M/RbKBsRVkePCePcx24oRA==",
            ),
        ] {
            let id = ExpandedNodeId::read(text).expect(text);
            assert_eq!(id.namespace, namespace, "{text}");
            assert_eq!(id.identifier.to_string(), identifier, "{text}");
        }
        for bad in [
            "",
            "i=",
            "58",
            "i=-1",
            "i=+1",
            "i=4294967296",
            "ns=1",
            "ns=1;",
            "ns=65536;i=1",
            "ns=a;i=1",
            "nsu=http://a.org/",
            "g=1",
            "b=\u{e9}",
            "HasSubtype",
            "i= 58",
            "\u{e9}=1",
        ] {
            assert_eq!(ExpandedNodeId::read(bad), None, "{bad}");
        }
    }
}
