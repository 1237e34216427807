//! Class files: YAML documents that each define a class.
//!
//! Only declarations are read: names, parents, properties, methods and their contracts. Method bodies are
//! searched for the classes that they create (`new(Name, ...)`), for the members that they use (`$this.name`), and
//! for statements that the deployment engine does not load. They are never run. Contracts and bodies are written in
//! YAQL, the expression language of Murano; [`yaql`] splits it into tokens, which is all that declarations need.
//!
//! Of all this, the solver needs only the classes of a package and what they extend; contracts matter for object
//! models.

mod contract;
#[cfg(feature = "packages")]
mod expression_syntax;
mod member_use;
mod namespaces;
#[cfg(feature = "packages")]
mod reader;
#[cfg(feature = "packages")]
mod statements;
mod yaql;

pub use contract::{ClassConstraint, Contract, Literal, MapKey, Rule};
pub use member_use::{CallArguments, MemberUse, ObjectCreation};
#[cfg(feature = "packages")]
pub(crate) use reader::ClassFileReader;
#[cfg(test)]
pub(crate) use reader::KNOWN_KEYS;

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Located, Location, Parsed};
use crate::document::decode;
use crate::name::ClassName;
use crate::read_options::ReadOptions;

/// The kind of a class: whether its objects are objects of a model, or describe other classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassUsage {
    /// A class of objects.
    Class,
    /// A class whose objects describe classes, properties, methods or packages.
    Meta,
}

/// The kinds of things that meta classes can describe.
pub(crate) const META_TARGETS: [&str; 5] = ["Argument", "Method", "Package", "Property", "Type"];

/// How a meta class can be attached to what it describes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetaAttachment {
    /// Whether several of its objects can describe the same thing.
    pub is_many: bool,
    /// Whether an object that describes a class also describes the classes that extend it.
    pub is_inherited: bool,
    /// The kinds of things that it can describe, as written; every kind if the class does not say.
    pub applies: BTreeSet<String>,
}

impl Default for MetaAttachment {
    fn default() -> Self {
        Self {
            is_many: false,
            is_inherited: false,
            applies: META_TARGETS.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// The declaration of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Property {
    /// The property's name.
    pub name: Located<String>,
    /// The contract of its values.
    pub contract: Located<Contract>,
    /// The usage as written; `In` if absent. The deployment engine also knows `Out`, `InOut`, `Const`, `Runtime`,
    /// `Static` and `Config`.
    pub usage: Located<String>,
    /// Whether there is a default value.
    pub has_default: bool,
    /// The default value as JSON, unless only the deployment engine can evaluate it: a text with `$` counts as an
    /// expression. A number that JSON would write differently, such as `1.10`, is a text.
    pub default: Option<String>,
}

/// The declaration of an argument of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// The argument's name.
    pub name: Located<String>,
    /// The contract of its values.
    pub contract: Located<Contract>,
    /// Whether there is a default value.
    pub has_default: bool,
    /// The default value as JSON, if there is one. An expression is a text.
    pub default: Option<String>,
    /// The way in which values are assigned to it.
    pub usage: ArgumentUsage,
}

/// The way in which values are assigned to an argument of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArgumentUsage {
    /// One value, by position or by name.
    #[default]
    Standard,
    /// All further values by position.
    VarArgs,
    /// All further values by name.
    KwArgs,
}

/// The declaration of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Method {
    /// The method's name.
    pub name: Located<String>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// The usage as written, such as `Static`, `Extension` or `Action`; `Runtime` if absent.
    pub usage: String,
    /// The scope, if written: `Public` or `Session`.
    pub scope: Option<String>,
}

/// The definition of a class. All names are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassDefinition {
    /// The class's full name.
    pub name: Located<ClassName>,
    /// The kind of class.
    pub usage: ClassUsage,
    /// The classes that it extends, in order. If empty, the class extends the root class of the core
    /// library.
    pub extends: Vec<Located<ClassName>>,
    /// The other classes that it names, in contracts, `new`, `Meta` and `Import`; each once, with its first
    /// place.
    pub uses: Vec<Located<ClassName>>,
    /// The meta classes that describe the class itself.
    pub metas: Vec<Located<ClassName>>,
    /// How it can be attached itself, if it is a meta class.
    pub attachment: MetaAttachment,
    /// The classes whose extension methods it can call.
    pub imports: Vec<ClassName>,
    /// The properties in order.
    pub properties: Vec<Property>,
    /// The methods in order.
    pub methods: Vec<Method>,
    /// The members of the object itself that the bodies of its methods use.
    pub member_uses: Vec<MemberUse>,
    /// The objects that the bodies of its methods create.
    pub creations: Vec<ObjectCreation>,
    /// Keys that a class cannot have.
    pub unknown_keys: Vec<Located<String>>,
    /// The meta classes that describe the class, its members and their arguments, by what they describe.
    pub described_by: Vec<Descriptions>,
    /// Why the deployment engine does not load the class, as far as its file says. Versions can be chosen all the same.
    pub rejections: Vec<Diagnostic>,
}

/// The meta classes that describe one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Descriptions {
    /// The kind of the thing: one of those that a meta class can [apply](MetaAttachment::applies) to.
    pub target: &'static str,
    /// The meta classes in order.
    pub metas: Vec<Located<ClassName>>,
}

impl ClassDefinition {
    /// The property of a name that the class itself declares.
    pub fn property(&self, name: &str) -> Option<&Property> {
        let mut properties = self.properties.iter();
        properties.find(|property| property.name.value == name)
    }

    /// The key of a class that is most similar to an unknown one.
    #[cfg(feature = "packages")]
    pub fn similar_key(unknown: &str) -> Option<&'static str> {
        crate::similar::most_similar(unknown, reader::KNOWN_KEYS)
    }

    /// Returns the one class of a Heat template.
    pub(crate) fn of_heat_template(
        name: ClassName,
        parent: Option<ClassName>,
        location: &Location,
    ) -> Self {
        let here = |value| Located {
            value,
            location: location.clone(),
        };
        Self {
            name: here(name),
            usage: ClassUsage::Class,
            extends: parent.map(here).into_iter().collect(),
            uses: Vec::new(),
            metas: Vec::new(),
            attachment: MetaAttachment::default(),
            imports: Vec::new(),
            properties: Vec::new(),
            methods: Vec::new(),
            member_uses: Vec::new(),
            creations: Vec::new(),
            unknown_keys: Vec::new(),
            described_by: Vec::new(),
            rejections: Vec::new(),
        }
    }
}

/// Reads the classes of a class file, in the order of its documents. Messages call the file `name`.
///
/// `Namespaces` applies to its document and the following ones. Documents with nothing else are skipped.
/// One document may have no `Name`: it defines the classes of `requested`, those that the file is listed for,
/// that no other document defines.
///
/// ```
/// use pkgres_manifest::{ReadOptions, read_class_file};
///
/// let text = b"\
/// Namespaces: {=: org.acme, std: io.murano}
/// ---
/// Name: Web
/// Extends: std:Application
/// ";
/// let read = read_class_file("Classes/Web.yaml", text, &[], &ReadOptions::default());
/// let (classes, _) = read.into_result().expect("the file defines a class");
/// assert_eq!(classes[0].name.value.as_str(), "org.acme.Web");
/// assert_eq!(classes[0].extends[0].value.as_str(), "io.murano.Application");
/// ```
#[cfg(feature = "packages")]
pub fn read_class_file(
    name: &str,
    bytes: &[u8],
    requested: &[&ClassName],
    options: &ReadOptions,
) -> Parsed<Vec<ClassDefinition>> {
    let limit = options.limits.class_file_bytes;
    match decode(name, bytes, "bytes in a class file", limit) {
        Ok(source) => reader::parse(&source, requested, options),
        Err(error) => Parsed::failed(error),
    }
}
