//! The errors of building a graph, such as a cycle or an edge to a resource that does not exist.

use pkgres_manifest::ResourceId;
use pkgres_manifest::diagnostic::Escaped;
use thiserror::Error;

use crate::resource::ValueType;

/// Why resources are no graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two resources have one identity.
    #[error("there are two resources `{0}`")]
    Duplicate(ResourceId),
    /// An edge leads to a resource that is not there.
    #[error("`{id}` refers to `{unknown}`, which does not exist")]
    Unknown {
        /// The resource at the other end of the edge.
        id: ResourceId,
        /// The resource that is not there.
        unknown: ResourceId,
    },
    /// A property cannot receive values.
    #[error(
        "the property `{}` of `{id}` cannot receive a value",
        Escaped::new(property)
    )]
    CannotReceive {
        /// The resource.
        id: ResourceId,
        /// The property.
        property: String,
        /// The properties that can.
        possible: Vec<String>,
    },
    /// A resource does not send a value of this name.
    #[error("`{id}` does not send a value `{}`", Escaped::new(value))]
    NotSent {
        /// The resource.
        id: ResourceId,
        /// The name of the value.
        value: String,
        /// The resource that is to receive it.
        receiver: ResourceId,
        /// The values that it sends.
        possible: Vec<String>,
    },
    /// A property receives a value of a type that it does not have.
    #[error(
        "the property `{}` of `{id}` takes a value of type {expected}, not of type {sent}",
        Escaped::new(property)
    )]
    WrongType {
        /// The resource.
        id: ResourceId,
        /// The property.
        property: String,
        /// Its type.
        expected: ValueType,
        /// The type of the value that is sent to it.
        sent: ValueType,
    },
    /// A resource is to be reversed, which it cannot be.
    #[error("what was there before `{0}` cannot be restored, as `reverse` asks for")]
    Irreversible(ResourceId),
    /// Each of these resources goes before the next, and the last one before the first.
    #[error("resources wait for each other in a cycle: {}", cycle(.0))]
    Cycle(Vec<ResourceId>),
}

impl GraphError {
    pub(super) fn unknown(id: &ResourceId, unknown: &ResourceId) -> Self {
        Self::Unknown {
            id: id.clone(),
            unknown: unknown.clone(),
        }
    }
}

fn cycle(ids: &[ResourceId]) -> String {
    let ids: Vec<_> = ids
        .iter()
        .chain(ids.first())
        .map(|id| format!("`{id}`"))
        .collect();
    ids.join(" -> ")
}
