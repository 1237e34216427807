//! Object models: the objects of a deployment as JSON or YAML.
//!
//! An object is a mapping with a header `?` that says its `type`, usually its `id`, and, when it is
//! pinned, its `package` and `version`. Objects nest; a text that equals the id of an object is a
//! reference to it. A whole environment has its objects below `Objects` and the versions that were
//! used before in `SystemData.Packages`.
//!
//! Versions are written into the text itself: everything that is not changed stays as it was, to
//! the byte.

#[cfg(feature = "packages")]
mod edit;
#[cfg(feature = "packages")]
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Location, Parsed, SourceText, Span};
use crate::document::Node;
use crate::limits::Limits;
use crate::name::{ClassName, PackageName};
use crate::spec::Spec;
use crate::version::Version;

/// The number of an object in the order of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub usize);

/// How an object says its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionPin {
    /// It does not.
    None,
    /// It is pinned.
    Exact(Version),
    /// It says a range, from which a version is to be chosen.
    Range(Spec),
}

/// An object of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelObject {
    /// The object's id, if it has one.
    pub id: Option<String>,
    /// Its class.
    pub class: ClassName,
    /// The package that its class is taken from, if it says so.
    pub package: Option<PackageName>,
    /// The version of the package.
    pub version: VersionPin,
    /// Its properties, in the order of the document.
    pub properties: Vec<(String, ModelValue)>,
    /// The object that it is nested in.
    pub holder: Option<ObjectId>,
    /// Where its header says its type.
    pub location: Location,
    header: Header,
}

/// Where the parts of a header stand, for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    span: Span,
    type_key: Span,
    type_value: Span,
    /// `package` where it is written with nothing.
    package_value: Option<Span>,
    /// `version`, or `classVersion` if only that says a version.
    version_value: Option<Span>,
    /// Whether the type says the version.
    has_inline_version: bool,
}

/// A value in a model and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelValue {
    /// The value.
    pub kind: ValueKind,
    /// Where it stands.
    pub location: Location,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueKind {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// Text that is not the id of an object.
    Text(String),
    /// A list.
    List(Vec<ModelValue>),
    /// A mapping that is no object.
    Map(Vec<(String, ModelValue)>),
    /// An object that is written here.
    Object(ObjectId),
    /// An object that is written elsewhere.
    Reference(ObjectId),
}

impl ModelValue {
    /// The object that the value is, or refers to.
    pub fn object(&self) -> Option<ObjectId> {
        match self.kind {
            ValueKind::Object(object) | ValueKind::Reference(object) => Some(object),
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
    fixations: BTreeMap<PackageName, BTreeSet<Version>>,
}

/// The versions to write into a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pins {
    /// For each object its package and version.
    pub objects: BTreeMap<ObjectId, (PackageName, Version)>,
    /// The versions of all packages that are used, for the table of an environment.
    pub packages: BTreeMap<PackageName, BTreeSet<Version>>,
}

impl ObjectModel {
    /// Reads a model, JSON or YAML. `name` is how messages call it.
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

    /// The objects in the order of the document; an object comes before those nested in it.
    pub fn objects(&self) -> &[ModelObject] {
        &self.objects
    }

    /// The object of a number.
    pub fn object(&self, object: ObjectId) -> &ModelObject {
        &self.objects[object.0]
    }

    /// How messages call an object: by its id, or by its class and place.
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

    /// The versions that an environment was deployed with before.
    pub fn fixations(&self) -> &BTreeMap<PackageName, BTreeSet<Version>> {
        &self.fixations
    }

    /// The text of the model.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The text with versions written into it. What is pinned already is left alone.
    #[cfg(feature = "packages")]
    pub fn with_pins(&self, pins: &Pins, limits: &Limits) -> Result<String, Diagnostic> {
        edit::write(self, pins, limits)
    }
}
