//! The data that are read from a NodeSet file: models, their requirements and their types.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::diagnostic::{Location, SourceText, Span};

use super::node_id::NodeId;
use super::release::ModelRelease;

/// The models of a NodeSet file, with the types that they define. It borrows texts from the file.
#[derive(Debug, Clone)]
pub struct NodeSet<'file> {
    /// The URIs of the namespaces that [`NodeId`]s refer to.
    pub namespaces: Vec<Cow<'file, str>>,
    /// The models, in the order of the file.
    pub models: Vec<Model>,
    /// The types, in the order of the file.
    pub types: Vec<NodeType<'file>>,
    /// The types of other models that nodes use which are no types themselves, sorted.
    pub uses: Vec<NodeUse<'file>>,
    pub(super) source: Source<'file>,
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
pub struct NodeType<'file> {
    /// The id.
    pub id: NodeId<'file>,
    /// The kind of the type.
    pub kind: TypeKind,
    /// The `BrowseName`, which people know the type by.
    pub browse_name: Cow<'file, str>,
    /// The supertypes and interfaces, sorted.
    pub extends: Vec<TypeReference<'file>>,
    /// The types of other models that it uses, sorted.
    pub uses: Vec<NodeUse<'file>>,
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
pub struct TypeReference<'file> {
    /// The id of the type.
    pub id: NodeId<'file>,
    /// The kind that the type must have.
    pub kind: TypeKind,
    /// Whether it is an interface, not the supertype.
    pub is_interface: bool,
    /// The place of the reference.
    pub span: Span,
}

/// A type that a node uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeUse<'file> {
    /// The namespace of the node that uses the type.
    pub by: u16,
    /// The id of the type.
    pub id: NodeId<'file>,
    /// The role in which the type is used.
    pub role: Role,
    /// The place of the use, or of the first of several.
    pub span: Span,
}

/// The nodes of a file, and the types of their own namespace that they use.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnNodes<'file> {
    /// The ids of all nodes.
    pub(super) ids: Vec<NodeId<'file>>,
    /// The uses, each in its first place.
    pub(super) uses: Vec<NodeUse<'file>>,
}

/// The role in which a node uses a type.
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

impl<'file> NodeType<'file> {
    /// Adds a supertype or an interface.
    pub(super) fn extend(&mut self, id: NodeId<'file>, is_interface: bool, span: Span) {
        // Nearly all types extend one.
        if self.extends.is_empty() {
            self.extends.reserve_exact(1);
        }
        self.extends.push(TypeReference {
            id,
            kind: if is_interface {
                TypeKind::ObjectType
            } else {
                self.kind
            },
            is_interface,
            span,
        });
    }
}

/// The text of a file, for the places of findings.
#[derive(Debug, Clone)]
pub(super) struct Source<'file> {
    pub(super) name: &'file str,
    pub(super) text: &'file str,
    /// The copy that findings share, made for the first one.
    shared: OnceLock<Arc<SourceText>>,
}

impl<'file> Source<'file> {
    pub(super) fn new(name: &'file str, text: &'file str) -> Self {
        Self {
            name,
            text,
            shared: OnceLock::new(),
        }
    }

    pub(super) fn locate(&self, span: Span) -> Location {
        let shared = self
            .shared
            .get_or_init(|| SourceText::new(self.name, self.text));
        Location::new(shared, span)
    }
}

impl NodeSet<'_> {
    /// The URI of a namespace.
    pub fn uri(&self, namespace: u16) -> &str {
        &self.namespaces[usize::from(namespace)]
    }

    pub(super) fn locate(&self, span: Span) -> Location {
        self.source.locate(span)
    }

    /// The types of a model.
    pub(super) fn types_of<'set>(
        &'set self,
        model: &'set Model,
    ) -> impl Iterator<Item = &'set NodeType<'set>> {
        let types = self.types.iter();
        types.filter(|one| self.uri(one.id.namespace) == model.uri)
    }

    /// The types that nodes of a model use, where the nodes are not types themselves.
    pub(super) fn node_uses_of<'set>(
        &'set self,
        model: &'set Model,
    ) -> impl Iterator<Item = &'set NodeUse<'set>> {
        let uses = self.uses.iter();
        uses.filter(|used| self.uri(used.by) == model.uri)
    }
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
