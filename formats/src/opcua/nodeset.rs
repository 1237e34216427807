//! A NodeSet file as its models and types.

use std::sync::Arc;

use pkgres_manifest::diagnostic::{SourceText, Span};

use super::release::ModelRelease;

/// The models of a NodeSet file, with the types that they define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSet {
    /// The models, in the order of the file.
    pub models: Vec<Model>,
    /// The types, in the order of the file.
    pub types: Vec<NodeType>,
    /// The types of other models that nodes use which are no types themselves, sorted.
    pub uses: Vec<NodeUse>,
    /// The file.
    pub source: Arc<SourceText>,
}

/// A model that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The URI of the namespace, as written.
    pub uri: String,
    /// The release.
    pub release: ModelRelease,
    /// The models that it requires, in the order of the file.
    pub required: Vec<RequiredModel>,
    /// The place of the URI.
    pub span: Span,
}

/// A requirement of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredModel {
    /// The URI of the namespace.
    pub uri: String,
    /// The least release.
    pub release: ModelRelease,
    /// The place of the URI.
    pub span: Span,
}

/// A type that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeType {
    /// The URI of the namespace.
    pub namespace: String,
    /// The identifier in the namespace, such as `i=58`.
    pub identifier: String,
    /// What it is a type of.
    pub kind: TypeKind,
    /// The `BrowseName`, which people know the type by.
    pub browse_name: String,
    /// The supertypes and interfaces.
    pub extends: Vec<TypeReference>,
    /// The types that it uses.
    pub uses: Vec<NodeUse>,
    /// The place of the `NodeId`.
    pub span: Span,
}

/// The kinds of types, which are the node classes of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// `UAObjectType`, interfaces among them.
    ObjectType,
    /// `UAVariableType`
    VariableType,
    /// `UADataType`
    DataType,
    /// `UAReferenceType`
    ReferenceType,
}

/// A type that another one extends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeReference {
    /// The URI of the namespace.
    pub namespace: String,
    /// The identifier in the namespace.
    pub identifier: String,
    /// The kind that the type must have.
    pub kind: TypeKind,
    /// Whether it is an interface, not the supertype.
    pub is_interface: bool,
    /// The place of the reference.
    pub span: Span,
}

/// A type that a node uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeUse {
    /// The URI of the namespace of the node that uses the type.
    pub by: String,
    /// The URI of the namespace of the type.
    pub namespace: String,
    /// The identifier of the type.
    pub identifier: String,
    /// How the type is used.
    pub role: Role,
    /// The place of the use, or of the first of several.
    pub span: Span,
}

/// How a node uses a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The type of an object or variable.
    TypeDefinition,
    /// The type of values.
    DataType,
    /// The type of a reference.
    ReferenceType,
    /// An interface of an object.
    Interface,
}

impl TypeKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::ObjectType,
        Self::VariableType,
        Self::DataType,
        Self::ReferenceType,
    ];

    /// The name of the node class, without `UA`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ObjectType => "ObjectType",
            Self::VariableType => "VariableType",
            Self::DataType => "DataType",
            Self::ReferenceType => "ReferenceType",
        }
    }

    /// The kind with a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl Role {
    /// The role in words, as in "the type definition `i=58`".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TypeDefinition => "type definition",
            Self::DataType => "data type",
            Self::ReferenceType => "reference type",
            Self::Interface => "interface",
        }
    }
}
