//! Object models, and the translation that lets the reference solve them.
//!
//! The reference only knows packages, so a model is translated ([`Model::as_packages`]): each object
//! becomes a package with the object's requirement and a class that extends the object's class.
//! Contracts are judged on complete solutions ([`Model::meets_contracts`]).

mod contracts;
mod examples;
mod random;
mod written;

pub use examples::{examples, same_objects};

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    ClassName, IndexRecord, Limits, ObjectModel, Package, PackageManifest, PackageName,
    ReadOptions, Release, Requirement, Spec,
};
use pkgres_resolver::{ModelRoot, ObjectRequirement, Request, Resolution, Root};

use crate::build::{Build as _, package, release, version};
use crate::reference::Class;
use crate::solution::Solution;
use crate::solver;
use crate::universe::Universe;

/// The version of the packages that represent objects.
const ONLY: &str = "1.0.0";

/// An object model with the universe of its packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The packages. Its root is not used.
    pub universe: Universe,
    /// The objects, in the order of the document.
    pub objects: Vec<Object>,
    /// The properties that classes declare.
    pub properties: BTreeMap<Class, Vec<Property>>,
}

/// An object of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its class.
    pub class: ClassName,
    /// The package that the class is taken from.
    pub package: PackageName,
    /// The versions of the package that are allowed.
    pub spec: Spec,
    /// The object that holds it, and the property that it is in.
    pub held: Option<(usize, String)>,
    /// The values of its other properties, and of those that hold objects, which occur in them.
    pub values: Vec<(String, Value)>,
}

/// A value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Null.
    Null,
    /// A number.
    Int(u32),
    /// A text that is no number.
    Text,
    /// The object of this number, written here.
    Object(usize),
    /// The id of an object that is written elsewhere.
    Reference(usize),
    /// A list.
    List(Vec<Value>),
    /// A mapping; with a header that has no type, if true.
    Map(bool, Vec<(String, Value)>),
}

/// A property that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// The contract of its value.
    pub contract: Contract,
    /// The value that the class gives it if the model does not.
    pub default: Option<Value>,
}

/// The contract of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contract {
    /// An object of a class, in versions of the spec if there is one.
    Class(ClassName, Option<Spec>),
    /// The description of an object of a class, of which values at some paths are excluded.
    Template(ClassName, Vec<String>),
    /// A whole number.
    Int,
    /// Text.
    Text,
    /// Anything but null that meets the other contract.
    NotNull(Box<Contract>),
    /// An object that the holder contains, or does not.
    Owned(bool, Box<Contract>),
    /// A list of at least and at most so many values.
    List(Box<Contract>, usize, usize),
    /// A mapping with a value for the key `k`.
    Map(Box<Contract>),
}

impl Contract {
    /// A contract that a value is an object of a class.
    pub fn class(class: ClassName, spec: Option<Spec>) -> Self {
        Self::Class(class, spec)
    }

    /// The contract in YAML.
    fn written(&self) -> String {
        match self {
            Self::List(item, least, most) => format!("[{}, {least}, {most}]", item.written()),
            Self::Map(value) => format!("{{k: {}}}", value.written()),
            rules => format!("!yaql \"${}\"", rules.rules()),
        }
    }

    /// The calls of an expression.
    fn rules(&self) -> String {
        match self {
            Self::Class(class, spec) => {
                let spec = spec.as_ref();
                let spec = spec.map_or_else(String::new, |spec| format!(", null, '{spec}'"));
                format!(".class({class}{spec})")
            }
            Self::Template(class, excluded) if excluded.is_empty() => {
                format!(".template({class})")
            }
            Self::Template(class, excluded) => {
                let excluded: Vec<String> =
                    excluded.iter().map(|path| format!("'{path}'")).collect();
                let excluded = excluded.join(", ");
                format!(".template({class}, excludeProperties => [{excluded}])")
            }
            Self::Int => ".int()".to_owned(),
            Self::Text => ".string()".to_owned(),
            Self::NotNull(other) => format!("{}.notNull()", other.rules()),
            Self::Owned(true, other) => format!("{}.owned()", other.rules()),
            Self::Owned(false, other) => format!("{}.notOwned()", other.rules()),
            Self::List(..) | Self::Map(_) => unreachable!("a rule applies to a single value"),
        }
    }
}

impl Model {
    /// Whether a package has this name.
    fn is_package(&self, name: &PackageName) -> bool {
        self.universe
            .records
            .iter()
            .any(|record| record.name == *name)
    }

    /// The request to solve this model.
    ///
    /// # Panics
    ///
    /// If there is no object.
    pub fn request(&self) -> Request {
        let text = self.document(0, &|_| String::new());
        let read = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
        let (model, _) = read.into_result().expect("it is a model");
        let classes = model.objects().iter().map(|object| &object.class);
        assert!(
            classes.eq(self.objects.iter().map(|object| &object.class)),
            "the objects stand in their order"
        );
        let root = ModelRoot::new(Arc::new(model), |object| ObjectRequirement {
            package: self.objects[object.0].package.clone(),
            spec: self.objects[object.0].spec.clone(),
        });
        Request {
            roots: vec![Root::Model(root)],
            ..solver::request(&self.universe)
        }
    }

    /// An object and the objects that it holds, as JSON. `more` returns further entries of the header of an
    /// object.
    fn document(&self, number: usize, more: &dyn Fn(&Object) -> String) -> String {
        let object = &self.objects[number];
        let (class, more_entries) = (&object.class, more(object));
        let mut text = format!(r#"{{"?": {{"id": "{number}", "type": "{class}"{more_entries}}}"#);
        for (name, value) in &object.values {
            let value = self.value(value, more);
            write!(text, r#", "{name}": {value}"#).expect("there is memory");
        }
        text + "}"
    }

    /// A value as JSON.
    fn value(&self, value: &Value, more: &dyn Fn(&Object) -> String) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Text => r#""text""#.to_owned(),
            Value::Object(number) => self.document(*number, more),
            Value::Reference(number) => format!(r#""{number}""#),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.value(item, more)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(has_header, entries) => {
                let header = has_header.then(|| r#""?": {"name": "n"}"#.to_owned());
                let entries = entries
                    .iter()
                    .map(|(name, value)| format!(r#""{name}": {}"#, self.value(value, more)));
                let all: Vec<String> = header.into_iter().chain(entries).collect();
                format!("{{{}}}", all.join(", "))
            }
        }
    }

    /// The classes of a release, with their properties, if they are known.
    ///
    /// # Panics
    ///
    /// If the generated files are not a package.
    pub fn classes(&self, Release { name, version }: &Release) -> Option<Arc<Package>> {
        let mut records = self.universe.records.iter();
        let record = records.find(|record| record.name == *name && record.version == *version)?;
        let classes = record.classes.as_ref()?;
        let mut manifest =
            format!("FullName: {name}\nType: Library\nVersion: {version}\nClasses:\n");
        let mut files = BTreeMap::new();
        for (number, class) in classes.iter().enumerate() {
            let file = format!("{number}.yaml");
            writeln!(manifest, "  {}: {file}", class.name).expect("there is memory");
            let properties = self.properties_text(&class.name, record);
            let text = format!("Name: {}\n{properties}", class.name);
            files.insert(format!("Classes/{file}"), text.into_bytes());
        }
        let options = ReadOptions::default();
        let source = SourceText::new("manifest.yaml", manifest);
        let manifest = PackageManifest::parse(&source, &options).into_result();
        let (manifest, _) = manifest.expect("it is a manifest");
        let read = Package::assemble(manifest, &options, |file| files.get(file.as_str()).cloned());
        let (package, _) = read.into_result().expect("it is a package");
        Some(Arc::new(package))
    }

    /// The properties of a class in YAML.
    fn properties_text(&self, class: &ClassName, record: &IndexRecord) -> String {
        let mut text = "Properties:\n  other: {Contract: $}\n".to_owned();
        let release = record.release();
        let declared = self.properties.get(&(class.clone(), release));
        for property in declared.into_iter().flatten() {
            let Property {
                name,
                contract,
                default,
            } = property;
            let contract = contract.written();
            let default = default.as_ref().map_or_else(String::new, |default| {
                format!(", Default: {}", self.value(default, &|_| String::new()))
            });
            writeln!(text, "  {name}: {{Contract: {contract}{default}}}").expect("there is memory");
        }
        text
    }

    /// The model as a universe of packages, without its contracts.
    ///
    /// Objects do not require the core library, so every package states its requirement explicitly.
    #[must_use]
    pub fn as_packages(&self) -> Universe {
        let mut packages = self.universe.clone();
        packages.root = release("Model", ONLY);
        if let Some(core) = packages.core.take() {
            for record in &mut packages.records {
                if record.name != core {
                    record.requirements.change(|all| {
                        let written = all.iter().position(|one| one.package == core);
                        let implied = || Requirement {
                            package: core.clone(),
                            spec: Spec::unspecified(),
                            location: None,
                        };
                        let on_core = written.map_or_else(implied, |at| all.remove(at));
                        all.insert(0, on_core);
                    });
                }
                let is_core = record.name == core;
                let classes = record.classes.iter_mut();
                for class in classes.flat_map(|classes| classes.iter_mut()) {
                    let is_root_class = is_core && class.name == core.root_class();
                    if class.extends.is_empty() && !is_root_class {
                        class.extends = vec![core.root_class()];
                    }
                }
            }
        }
        for (number, object) in self.objects.iter().enumerate() {
            let name = object_name(number);
            packages.root = packages.root.requires(name.as_str(), "*");
            let mut record = release(name.as_str(), ONLY);
            record = record.requires(object.package.as_str(), object.spec.written());
            record = record.defines(&format!("{name}.C"), &[object.class.as_str()]);
            packages.records.push(record);
        }
        packages
    }

    /// The solution in which the objects of a resolution are packages.
    ///
    /// # Panics
    ///
    /// If it is not a resolution of this model.
    pub fn solution(&self, resolution: &Resolution) -> Solution {
        let [root] = resolution.roots() else {
            panic!("the model is the only root");
        };
        assert_eq!(root.requires.len(), self.objects.len());
        let mut bindings = BTreeMap::new();
        for (number, bound) in root.requires.iter().enumerate() {
            let object = object_name(number);
            let key = (package("Model"), version(ONLY), object.clone());
            bindings.insert(key, version(ONLY));
            let key = (object, version(ONLY), bound.package.clone());
            bindings.insert(key, bound.version.clone());
        }
        for owner in resolution.packages() {
            for bound in &owner.requires {
                let key = (
                    owner.name.clone(),
                    owner.version.clone(),
                    bound.package.clone(),
                );
                bindings.insert(key, bound.version.clone());
            }
        }
        Solution::new(bindings)
    }
}

/// The name of the package that represents an object.
fn object_name(number: usize) -> PackageName {
    package(&format!("Object{number}"))
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let universe = &self.universe;
        for record in &universe.records {
            writeln!(formatter, "{}", record.to_line())?;
        }
        if let Some(core) = &universe.core {
            writeln!(formatter, "core library: {core}")?;
        }
        writeln!(formatter, "prereleases: {:?}", universe.prerelease)?;
        if universe.single_version {
            writeln!(formatter, "single version")?;
        }
        for ((class, Release { name, version }), properties) in &self.properties {
            for property in properties {
                let contract = property.contract.written();
                let default = match &property.default {
                    Some(default) => format!(", or {default:?}"),
                    None => String::new(),
                };
                writeln!(
                    formatter,
                    "{class} of {name} {version}: {} is {contract}{default}",
                    property.name
                )?;
            }
        }
        for (number, object) in self.objects.iter().enumerate() {
            let Object {
                class,
                package,
                spec,
                held,
                values,
            } = object;
            write!(formatter, "object {number}: {class} of {package} {spec}")?;
            if let Some((holder, property)) = held {
                write!(formatter, ", {property} of {holder}")?;
            }
            for (name, value) in values {
                write!(formatter, ", {name}: {value:?}")?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}
