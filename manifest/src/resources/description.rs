//! Resources as data: what a file says about them, before a kind reads their properties.

use super::identity::ResourceId;
use super::meta::MetaParameters;
use super::properties::{Properties, PropertyValue};
use crate::diagnostic::{Located, Location, SourceText, Span};

/// A resource as data: its identity, the properties that its kind reads, and how it depends on others.
///
/// ```
/// use pkgres_manifest::{ResourceDescription, ResourceId};
///
/// let id: ResourceId = "file:/etc/web.conf".parse()?;
/// let description = ResourceDescription::new(id).with("content", "port=80\n");
/// assert_eq!(description.properties.keys().collect::<Vec<_>>(), ["content"]);
/// # Ok::<(), pkgres_manifest::ResourceIdError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceDescription {
    /// The kind and the name.
    pub id: Located<ResourceId>,
    /// The properties, which depend on the kind.
    pub properties: Properties,
    /// The parameters that every kind has.
    pub meta: MetaParameters,
    /// The resources that come before this one.
    pub after: Vec<Located<ResourceId>>,
    /// The resources that come after this one.
    pub before: Vec<Located<ResourceId>>,
    /// The resources that come after this one and are refreshed once it has changed something.
    pub notifies: Vec<Located<ResourceId>>,
    /// The resources that it stands for, one after another; empty for all kinds but [`ALL`](Self::ALL).
    pub members: Vec<Located<ResourceId>>,
    /// The properties whose values are outputs of other resources.
    pub receives: Vec<ReceivedProperty>,
}

/// A property whose value is an output of another resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedProperty {
    /// The property.
    pub property: Located<String>,
    /// The resource that has the output.
    pub sender: Located<ResourceId>,
    /// The name of the output, such as `stdout`.
    pub output: Located<String>,
}

impl ResourceDescription {
    /// The kind of a resource that stands for others, its members.
    pub const ALL: &'static str = "all";

    /// Returns a resource without properties and edges, for programs that do not read it from a file.
    pub fn new(id: ResourceId) -> Self {
        let source = SourceText::new(id.to_string(), "");
        let location = Location::new(&source, Span::default());
        Self::at(Located {
            value: id,
            location,
        })
    }

    /// Returns the resource with one more property.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<PropertyValue>) -> Self {
        let location = self.id.location.clone();
        let key = Located {
            value: key.to_owned(),
            location: location.clone(),
        };
        let value = Located {
            value: value.into(),
            location,
        };
        self.properties.add(key, value);
        self
    }

    /// A resource without properties and edges.
    pub(super) fn at(id: Located<ResourceId>) -> Self {
        Self {
            properties: Properties::new(id.location.clone()),
            id,
            meta: MetaParameters::default(),
            after: Vec::new(),
            before: Vec::new(),
            notifies: Vec::new(),
            members: Vec::new(),
            receives: Vec::new(),
        }
    }
}
