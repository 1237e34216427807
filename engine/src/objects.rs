//! The objects of a model with their classes: which release defines the class of an object, and the values of its
//! properties, including the defaults of the class.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use pkgres_checks::{BoundPackages, ClassProperties, check_model_of};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, quoted_word};
use pkgres_manifest::{
    ClassName, ModelObject, ModelValue, ObjectId, ObjectModel, Property, Release, TemplateValue,
    ValueKind, Version, VersionPin,
};
use serde_json::{Map, Number, Value, json};

/// The classes of the objects of a model, which are looked up when something needs them.
pub(crate) struct ObjectClasses<'packages> {
    packages: &'packages BoundPackages,
    known: RefCell<BTreeMap<(Release, ClassName), Rc<ClassProperties<'packages>>>>,
}

impl<'packages> ObjectClasses<'packages> {
    pub(crate) fn new(packages: &'packages BoundPackages) -> Self {
        Self {
            packages,
            known: RefCell::default(),
        }
    }

    /// The properties of the class of an object; none if its class is unknown, which is an error elsewhere.
    fn properties_of(&self, object: &ModelObject) -> Rc<ClassProperties<'packages>> {
        let Ok(Some(release)) = release_of(self.packages, object) else {
            return Rc::default();
        };
        let key = (release.clone(), object.class.clone());
        let known = self.known.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let properties = Rc::new(self.packages.properties_of(release, &object.class));
            self.known.borrow_mut().insert(key, Rc::clone(&properties));
            properties
        })
    }

    /// The value at a path below an object. A path goes through mappings and other objects. What the model leaves out
    /// has the default of its class.
    pub(crate) fn value<'model>(
        &self,
        model: &'model ObjectModel,
        object: ObjectId,
        path: &[&str],
    ) -> TemplateValue<'model> {
        let mut entries: &[(String, ModelValue)] = &model.object(object).properties;
        let mut object = Some(object);
        for (number, part) in path.iter().enumerate() {
            let found = entries.iter().find(|(name, _)| name == part);
            let Some((_, value)) = found else {
                let class = object.map(|object| self.properties_of(model.object(object)));
                let declared = class.as_deref().map(|class| &class.properties);
                match declared.and_then(|declared| declared.get(part)) {
                    Some(property) if property.has_default => {
                        return default_value(property, number, &path[number + 1..]);
                    }
                    Some(_) => return TemplateValue::Unset(number + 1),
                    None => {}
                }
                // Other keys of the model may be misspelt themselves.
                let known = match declared.filter(|declared| !declared.is_empty()) {
                    Some(declared) => declared.keys().map(ToString::to_string).collect(),
                    None => entries.iter().map(|(name, _)| name.clone()).collect(),
                };
                return TemplateValue::Unknown {
                    part: number + 1,
                    known,
                };
            };
            if number + 1 == path.len() {
                return text_of(&value.kind, model);
            }
            object = value.object();
            entries = match (&value.kind, object) {
                (ValueKind::Map(entries) | ValueKind::Untyped(entries), _) => entries,
                (_, Some(object)) => &model.object(object).properties,
                _ => &[],
            };
        }
        TemplateValue::Unknown {
            part: 1,
            known: Vec::new(),
        }
    }

    /// The properties of an object as JSON, with the defaults of its class and its header `?`. A reference to an object
    /// is the id of that object. Nesting is as deep as in the document, which has a limit.
    pub(crate) fn json(&self, model: &ObjectModel, object: ObjectId) -> Value {
        let described = model.object(object);
        let mut header = Map::from_iter([("type".to_owned(), json!(described.class.as_str()))]);
        if let Some(id) = &described.id {
            header.insert("id".to_owned(), json!(id));
        }
        if let Ok(Some(Release {
            name: package,
            version,
        })) = release_of(self.packages, described)
        {
            header.insert("package".to_owned(), json!(package.as_str()));
            header.insert("version".to_owned(), json!(version.to_string()));
        }
        let mut properties = defaults(&self.properties_of(described));
        properties.extend(self.entries_json(model, &described.properties));
        properties.insert("?".to_owned(), Value::Object(header));
        Value::Object(properties)
    }

    fn entries_json(
        &self,
        model: &ObjectModel,
        entries: &[(String, ModelValue)],
    ) -> Map<String, Value> {
        let entries = entries.iter();
        let entries = entries.map(|(name, value)| (name.clone(), self.value_json(model, value)));
        entries.collect()
    }

    fn value_json(&self, model: &ObjectModel, value: &ModelValue) -> Value {
        match &value.kind {
            ValueKind::Bool(value) => Value::Bool(*value),
            ValueKind::Number(text) => match serde_json::from_str::<Number>(text) {
                Ok(number) if number.to_string() == *text => Value::Number(number),
                _ => Value::String(text.clone()),
            },
            ValueKind::Text(text) => Value::String(text.clone()),
            ValueKind::List(items) => {
                let items = items.iter();
                items.map(|item| self.value_json(model, item)).collect()
            }
            ValueKind::Map(entries) | ValueKind::Untyped(entries) => {
                Value::Object(self.entries_json(model, entries))
            }
            ValueKind::Object(object) => self.json(model, *object),
            ValueKind::Reference(object) | ValueKind::Repeated(object) => {
                json!(model.object(*object).id)
            }
            _ => Value::Null,
        }
    }
}

/// The defaults of a class, as far as nothing has to be evaluated.
pub(crate) fn defaults(class: &ClassProperties<'_>) -> Map<String, Value> {
    let properties = class.properties.iter();
    let known = properties.filter_map(|(name, property)| {
        let default = property.default.as_deref()?;
        let default = serde_json::from_str(default).ok()?;
        Some(((*name).to_owned(), default))
    });
    known.collect()
}

/// The default of a property that a model leaves out, and what is below it at the rest of a path. `number` counts the
/// parts of the path before the property.
fn default_value(property: &Property, number: usize, rest: &[&str]) -> TemplateValue<'static> {
    let Some(default) = &property.default else {
        return TemplateValue::NotText("an expression that pkgres does not evaluate");
    };
    let mut value = serde_json::from_str::<Value>(default).unwrap_or_default();
    for (below, part) in rest.iter().enumerate() {
        let Some(next) = value.get_mut(*part) else {
            let known = value.as_object().into_iter().flat_map(Map::keys);
            return TemplateValue::Unknown {
                part: number + below + 2,
                known: known.cloned().collect(),
            };
        };
        value = next.take();
    }
    match value {
        Value::String(text) => TemplateValue::Text(Cow::Owned(text)),
        Value::Bool(value) => TemplateValue::Text(Cow::Owned(value.to_string())),
        Value::Number(number) => TemplateValue::Text(Cow::Owned(number.to_string())),
        Value::Null => TemplateValue::NotText("null"),
        Value::Array(_) => TemplateValue::NotText("a list"),
        Value::Object(_) => TemplateValue::NotText("a mapping"),
    }
}

/// A value as the text that fills in a template. A text that is the id of an object is a reference to it, and still that
/// text.
fn text_of<'model>(value: &'model ValueKind, model: &'model ObjectModel) -> TemplateValue<'model> {
    match value {
        ValueKind::Reference(object) | ValueKind::Repeated(object) => {
            match &model.object(*object).id {
                Some(id) => TemplateValue::Text(Cow::Borrowed(id)),
                None => TemplateValue::NotText("an object"),
            }
        }
        ValueKind::Bool(true) => TemplateValue::Text(Cow::Borrowed("true")),
        ValueKind::Bool(false) => TemplateValue::Text(Cow::Borrowed("false")),
        ValueKind::Number(text) | ValueKind::Text(text) => TemplateValue::Text(Cow::Borrowed(text)),
        ValueKind::Null => TemplateValue::NotText("null"),
        ValueKind::List(_) => TemplateValue::NotText("a list"),
        ValueKind::Map(_) => TemplateValue::NotText("a mapping"),
        _ => TemplateValue::NotText("an object"),
    }
}

/// What is wrong with the values of a model, by the contracts of its classes: templates and scripts rely on these.
pub(crate) fn model_findings(packages: &BoundPackages, model: &ObjectModel) -> Vec<Diagnostic> {
    let release_of = |object: &ModelObject| release_of(packages, object).ok()?.cloned();
    let mut findings = check_model_of(model, packages, release_of).findings;
    // Contracts that only Murano's engine can evaluate matter to nothing here.
    findings.retain(|finding| finding.code != Code::ContractNotChecked);
    findings
}

/// The release that defines the class of an object; `None` for a class of the core library that is not there.
pub(crate) fn release_of<'packages>(
    packages: &'packages BoundPackages,
    object: &ModelObject,
) -> Result<Option<&'packages Release>, Diagnostic> {
    let class = &object.class;
    let allows = |version: &Version| match &object.version {
        VersionPin::Exact(pinned) => version == pinned,
        VersionPin::Range(spec) => spec.set().contains(version),
        VersionPin::None => true,
    };
    let defining: Vec<&Release> = packages
        .releases
        .iter()
        .filter(|(_, bound)| {
            let package = bound.package.as_deref();
            package.is_some_and(|package| package.exports(class))
        })
        .map(|(release, _)| release)
        .collect();
    let is_of_package = |release: &&Release| {
        let mut package = object.package.iter();
        package.all(|package| *package == release.name)
    };
    let unpinned: Vec<&Release> = defining.iter().copied().filter(is_of_package).collect();
    let candidates = unpinned.iter().copied();
    let candidates: Vec<&Release> = candidates.filter(|it| allows(&it.version)).collect();
    match (candidates.as_slice(), unpinned.as_slice()) {
        ([release], _) => Ok(Some(release)),
        ([], []) if is_of_core(packages, class) => Ok(None),
        ([], []) => Err(undefined(object, &defining)),
        ([], locked) => Err(in_other_versions(object, locked)),
        (several, _) => Err(ambiguous(object, several)),
    }
}

/// No release of the object's package defines its class; `defining` are those of other packages that do.
fn undefined(object: &ModelObject, defining: &[&Release]) -> Diagnostic {
    let class = &object.class;
    let (message, hint) = match (&object.package, defining) {
        (Some(package), [Release { name, .. }, ..]) => (
            format!("`{package}` does not define the class `{class}`, but `{name}` does"),
            "correct `package` in the header of the object",
        ),
        _ => (
            format!("no locked release defines the class `{class}`"),
            "require the package of the class in the manifest, and lock again",
        ),
    };
    Diagnostic::error(Code::Model, message).hint(hint)
}

/// The object needs another version than those that are locked.
fn in_other_versions(object: &ModelObject, locked: &[&Release]) -> Diagnostic {
    let Some(Release { name, .. }) = locked.first() else {
        return undefined(object, locked);
    };
    let wanted = match &object.version {
        VersionPin::Range(spec) => format!("needs {name} {spec}"),
        VersionPin::Exact(version) => format!("is pinned to {name} {version}"),
        VersionPin::None => format!("is of {name}"),
    };
    let is_one_package = locked.iter().all(|release| release.name == *name);
    let locked_versions: Vec<String> = locked
        .iter()
        .map(|release| {
            if is_one_package {
                release.version.to_string()
            } else {
                in_words(release)
            }
        })
        .collect();
    let message = format!(
        "the object {wanted}, and the lockfile has {}",
        locked_versions.join(" and ")
    );
    let hint = match locked {
        [_] => {
            "remove the version from the header of the object, which is then of the locked version"
        }
        _ => "write the version of one of them into the header of the object",
    };
    Diagnostic::error(Code::Model, message).hint(hint)
}

/// Several releases define the class of the object, and its header allows all of them.
fn ambiguous(object: &ModelObject, several: &[&Release]) -> Diagnostic {
    let names: Vec<String> = several.iter().map(|release| in_words(release)).collect();
    let mut packages = several.iter().map(|release| &release.name);
    let first = packages.next();
    let hint = if packages.all(|name| Some(name) == first) {
        let model = quoted_word(object.location.source().name());
        format!(
            "`pkgres pin {model} --lock LOCKFILE --in-place` writes package and version into the model"
        )
    } else {
        "say which one with `package` in the header of the object".to_owned()
    };
    let message = format!("several releases define the class: {}", names.join(", "));
    Diagnostic::error(Code::Model, message).hint(hint)
}

fn in_words(Release { name, version }: &Release) -> String {
    format!("{} {version}", Escaped::new(name.as_str()))
}

/// Whether a class is one of the core library.
fn is_of_core(packages: &BoundPackages, class: &ClassName) -> bool {
    let root = packages.root_class.as_ref().map(ClassName::as_str);
    let core = root.and_then(|root| root.rsplit_once('.'));
    core.is_some_and(|(core, _)| {
        let rest = class.as_str().strip_prefix(core);
        rest.is_some_and(|rest| rest.starts_with('.'))
    })
}
