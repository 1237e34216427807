//! Object models: the objects of a deployment as JSON or YAML.
//!
//! An object is a mapping with a header `?`, which has its `type`, usually its `id`, and if it is pinned, its
//! `package` and `version`. Objects nest; a string that equals the id of an object is a reference to it. A
//! whole environment has its objects below `Objects` and the versions that were used before in
//! `SystemData.Packages`.
//!
//! An object can be written several times if nothing differs. An object without `type` is of the class that
//! the contract of its property names.
//!
//! Versions are written into the text itself, so that everything else stays as it was, to the byte.

mod conditions;
mod default_value;
#[cfg(feature = "packages")]
mod edit;
mod exclusions;
mod made;
mod made_check;
#[cfg(feature = "packages")]
mod read;
mod rule_check;
mod value_check;
mod value_path;
mod value_problem;

pub use conditions::{
    ConstrainedDescription, ConstrainedObject, ContractPlace, DescribedObject, NamedClass,
    PropertyHolder,
};
pub use exclusions::{Exclusions, HeldObject, exclusions_at, held_objects};
pub use made::is_whole_number;
pub use value_check::{ContractCheck, ConvertedValue};
pub use value_problem::{ValueProblem, ValueViolation};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Location, Parsed, SourceText, Span};
use crate::document::Node;
use crate::name::{ClassName, PackageName};
use crate::read_options::Limits;
use crate::release::Release;
use crate::spec::Spec;
use crate::version::Version;

/// The position of an object in the order of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub usize);

/// The version of an object, as far as its header has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionPin {
    /// The header has no version.
    None,
    /// The object is pinned to a version.
    Exact(Version),
    /// The header has a spec, from which a version is to be chosen.
    Range(Spec),
}

/// An object of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelObject {
    /// The object's id, if it has one.
    pub id: Option<String>,
    /// Its class.
    pub class: ClassName,
    /// The package of its class, if the header names it.
    pub package: Option<PackageName>,
    /// The version of the package.
    pub version: VersionPin,
    /// Its properties, in the order of the document.
    pub properties: Vec<(String, ModelValue)>,
    /// The object that it is nested in.
    pub holder: Option<ObjectId>,
    /// The place of its type in the header.
    pub location: Location,
    header: Header,
    /// The headers of the same object where it is written again.
    repeated_headers: Vec<Header>,
}

/// The places of the parts of a header, for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    span: Span,
    type_key: Span,
    type_value: Span,
    /// The value of `package`, if that is null.
    package_value: Option<Span>,
    /// The value of `version`, or of `classVersion` if only that has a version.
    version_value: Option<Span>,
    /// Whether the type has the version, as in `org.acme.Web/1.0.0`.
    has_inline_version: bool,
    /// Whether that version is a range. What else the header says may pin the object, but Murano reads the type.
    has_inline_range: bool,
}

/// A value in a model and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelValue {
    /// The value.
    pub kind: ValueKind,
    /// Its place.
    pub location: Location,
}

/// A value in a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueKind {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A number: a whole one in decimal digits, others as written.
    Number(String),
    /// Text that is not the id of an object.
    Text(String),
    /// A list.
    List(Vec<ModelValue>),
    /// A mapping that is not an object.
    Map(Vec<(String, ModelValue)>),
    /// An object, written at this place.
    Object(ObjectId),
    /// The id of an object that is written elsewhere.
    Reference(ObjectId),
    /// An object that is also written elsewhere, written again.
    Repeated(ObjectId),
    /// An object whose header has no `type`: its properties. It is of the class that its contract names.
    Untyped(Vec<(String, ModelValue)>),
    /// The id of an object whose header has no `type`, or that object written again.
    UntypedReference(UntypedPlace),
}

/// The place where an object is written whose header has no `type`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntypedPlace {
    /// The object with a type that it is written in.
    pub holder: Option<ObjectId>,
    /// Its place.
    pub location: Location,
}

impl ModelObject {
    /// The header, and those where the object is written again.
    #[cfg(feature = "packages")]
    fn headers(&self) -> impl Iterator<Item = &Header> {
        std::iter::once(&self.header).chain(&self.repeated_headers)
    }
}

impl ModelValue {
    /// The object that the value is or refers to.
    pub fn object(&self) -> Option<ObjectId> {
        match self.kind {
            ValueKind::Object(object)
            | ValueKind::Reference(object)
            | ValueKind::Repeated(object) => Some(object),
            _ => None,
        }
    }
}

/// An object model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectModel {
    source: Arc<SourceText>,
    is_json: bool,
    root: Node,
    objects: Vec<ModelObject>,
    is_environment: bool,
    previous_versions: BTreeMap<PackageName, BTreeSet<Version>>,
}

/// The versions to write into a model; see [`ObjectModel::with_pins`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pins {
    /// The package and version of each object to pin.
    pub objects: BTreeMap<ObjectId, Release>,
    /// The versions of all used packages, for the table of an environment.
    pub packages: BTreeMap<PackageName, BTreeSet<Version>>,
}

impl ObjectModel {
    /// Reads a model from JSON or YAML. Messages call it `name`.
    ///
    /// ```
    /// use pkgres_manifest::{Limits, ObjectModel};
    ///
    /// let text = br#"{"?": {"id": "web", "type": "org.acme.Web"}, "port": 80}"#;
    /// let model = ObjectModel::read("model.json", text, &Limits::default());
    /// assert_eq!(model.value().unwrap().objects()[0].class.as_str(), "org.acme.Web");
    /// ```
    #[cfg(feature = "packages")]
    pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Self> {
        read::read(name, bytes, limits)
    }

    /// Reads a value in JSON as if it was written in an object of this model. Returns the model with the objects in the
    /// value, which follow the others, and the value. Texts that are ids of objects are references.
    #[cfg(feature = "packages")]
    pub fn read_value(
        &self,
        holder: ObjectId,
        name: &str,
        text: &str,
        limits: &Limits,
    ) -> Parsed<(Self, ModelValue)> {
        read::read_value(self, holder, name, text, limits)
    }

    /// The objects in the order of the document. An object comes before the objects nested in it.
    pub fn objects(&self) -> &[ModelObject] {
        &self.objects
    }

    /// The object at a position.
    pub fn object(&self, object: ObjectId) -> &ModelObject {
        &self.objects[object.0]
    }

    /// The name of an object in messages: its id, or its class and place.
    pub fn shown(&self, object: ObjectId) -> String {
        let object = self.object(object);
        match &object.id {
            Some(id) => format!("`{}`", crate::diagnostic::Escaped::shortened(id)),
            None => format!("of class {} at {}", object.class, object.location),
        }
    }

    /// Whether this is a whole environment rather than an object.
    pub fn is_environment(&self) -> bool {
        self.is_environment
    }

    /// The versions that an environment was deployed with before, from its `SystemData.Packages`.
    pub fn previous_versions(&self) -> &BTreeMap<PackageName, BTreeSet<Version>> {
        &self.previous_versions
    }

    /// The model with only some of its objects, in this order and without their properties: no contract limits their
    /// versions.
    #[must_use]
    pub fn without_values(&self, objects: &[ObjectId]) -> Self {
        let bare = |object: &ObjectId| ModelObject {
            properties: Vec::new(),
            holder: None,
            ..self.object(*object).clone()
        };
        Self {
            objects: objects.iter().map(bare).collect(),
            ..self.clone()
        }
    }

    /// The text of the model.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns the text with versions written into it. Objects that are pinned already stay as they are.
    #[cfg(feature = "packages")]
    pub fn with_pins(&self, pins: &Pins, limits: &Limits) -> Result<String, Diagnostic> {
        edit::write(self, pins, limits)
    }
}
