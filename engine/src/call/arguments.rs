//! Whether the values of arguments satisfy the contracts of a function.

use pkgres_checks::BoundPackages;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    ClassConstraint, ClassName, Contract, MapKey, ObjectId, ObjectModel, Rule, ValueProblem,
    is_whole_number, property_path,
};
use serde_json::{Map, Value};

use crate::kinds::Release;
use crate::objects::release_of;

/// A value inside an argument, and what is wrong with it.
type Violation = (String, ValueProblem);

/// Checks values against contracts as they mean it in a release.
pub(super) struct ArgumentContracts<'call> {
    pub(super) packages: &'call BoundPackages,
    /// The release that declares the arguments.
    pub(super) release: Release,
    /// The model with the objects that arguments can be.
    pub(super) model: Option<&'call ObjectModel>,
}

impl ArgumentContracts<'_> {
    /// The error of a value that does not satisfy its contract. The value is text, or a list or a mapping as JSON.
    pub(super) fn problem(&self, name: &str, contract: &Contract, text: &str) -> Option<String> {
        let name = Escaped::shortened(name).to_string();
        let json = || serde_json::from_str::<Value>(text).ok();
        let parsed = match contract {
            Contract::Rules(rules) => return self.text_problem(&name, rules, text),
            Contract::List { .. } => match json().filter(Value::is_array) {
                Some(list) => list,
                None => {
                    return Some(format!(
                        "`{name}` must be a list in JSON, such as [\"a\", \"b\"]"
                    ));
                }
            },
            Contract::Map(_) => match json().filter(Value::is_object) {
                Some(mapping) => mapping,
                None => {
                    return Some(format!(
                        "`{name}` must be a mapping in JSON, such as {{\"a\": 1}}"
                    ));
                }
            },
        };
        let violation = self.contract(&self.release, contract, Some(&parsed), &name);
        violation.map(|(path, problem)| format!("`{path}` {problem}"))
    }

    /// Checks a scalar, unless it names an object; returns what is wrong with it.
    fn text_problem(&self, name: &str, rules: &[Rule], text: &str) -> Option<String> {
        rules.iter().find_map(|rule| match rule {
            Rule::Int if !is_whole_number(text) => {
                Some(format!("`{name}` must be an integer"))
            }
            Rule::Bool if !matches!(text, "true" | "false") => {
                Some(format!("`{name}` must be true or false"))
            }
            Rule::Class(constraint) | Rule::Template(constraint) => {
                let value = match serde_json::from_str(text) {
                    Ok(Value::Object(mapping)) => Value::Object(mapping),
                    _ => Value::String(text.to_owned()),
                };
                let is_described = matches!(rule, Rule::Template(_)) && value.is_object();
                if is_described {
                    return None;
                }
                let (path, problem) = self.object(&self.release, constraint, &value, name)?;
                if value.is_object() {
                    return Some(format!("`{path}` {problem}"));
                }
                Some(format!(
                    "`{name}` must be the id of an object of the class `{}` in the model, or a mapping in JSON",
                    constraint.class
                ))
            }
            _ => None,
        })
    }

    /// The first violation in a value. `None` is a value that is absent. Recursion is bounded by the depth of the contract and
    /// that of the JSON, which have limits.
    fn contract(
        &self,
        release: &Release,
        contract: &Contract,
        value: Option<&Value>,
        path: &str,
    ) -> Option<Violation> {
        let violated = |problem| Some((path.to_owned(), problem));
        match contract {
            Contract::Rules(rules) => rules
                .iter()
                .find_map(|rule| self.rule(release, rule, value, path)),
            Contract::List {
                items,
                minimum,
                maximum,
            } => {
                let values = match value {
                    None | Some(Value::Null) => &[],
                    Some(Value::Array(values)) => values.as_slice(),
                    // A single value means a list of one.
                    Some(single) => std::slice::from_ref(single),
                };
                let count = values.len() as u64;
                if count < *minimum {
                    return violated(ValueProblem::TooFewItems(*minimum));
                }
                if let Some(maximum) = maximum.filter(|maximum| count > *maximum) {
                    return violated(ValueProblem::TooManyItems(maximum));
                }
                values.iter().enumerate().find_map(|(at, value)| {
                    let item = items.get(at).or(items.last())?;
                    self.contract(release, item, Some(value), &format!("{path}[{at}]"))
                })
            }
            Contract::Map(keys) => {
                let none = Map::new();
                let entries = match value {
                    None | Some(Value::Null) => &none,
                    Some(Value::Object(entries)) => entries,
                    Some(_) => return violated(ValueProblem::NotMapping),
                };
                let is_named = |name: &str| {
                    let mut keys = keys.iter();
                    keys.any(|(key, _)| matches!(key, MapKey::Named(it) if it == name))
                };
                keys.iter().find_map(|(key, contract)| match key {
                    MapKey::Named(name) => self.contract(
                        release,
                        contract,
                        entries.get(name),
                        &property_path(path, name),
                    ),
                    MapKey::Matching(_) => {
                        let mut others = entries.iter().filter(|(name, _)| !is_named(name));
                        others.find_map(|(name, value)| {
                            self.contract(
                                release,
                                contract,
                                Some(value),
                                &property_path(path, name),
                            )
                        })
                    }
                })
            }
        }
    }

    fn rule(
        &self,
        release: &Release,
        rule: &Rule,
        value: Option<&Value>,
        path: &str,
    ) -> Option<Violation> {
        let is_structure = matches!(value, Some(Value::Array(_) | Value::Object(_)));
        let problem = match (rule, value) {
            (Rule::NotNull, None) => ValueProblem::Absent,
            (Rule::NotNull, Some(Value::Null)) => ValueProblem::Null,
            (_, None | Some(Value::Null)) | (Rule::Template(_), Some(Value::Object(_))) => {
                return None;
            }
            (Rule::String, _) if is_structure => ValueProblem::NotText,
            (Rule::Bool, _) if is_structure => ValueProblem::NotBool,
            (Rule::Int, Some(value)) if !is_whole(value) => ValueProblem::NotInt,
            (Rule::Class(constraint) | Rule::Template(constraint), Some(value)) => {
                return self.object(release, constraint, value, path);
            }
            _ => return None,
        };
        Some((path.to_owned(), problem))
    }

    /// Checks an object, given as an id in the model or as a mapping of properties; returns what is wrong with it.
    fn object(
        &self,
        release: &Release,
        constraint: &ClassConstraint,
        value: &Value,
        path: &str,
    ) -> Option<Violation> {
        let expected = &constraint.class;
        let lineage = self.packages.lineage(release, expected);
        let described = self.packages.lineage(release, constraint.described());
        let defining = described.first().filter(|(release, _)| {
            let spec = constraint.spec_of_described();
            spec.is_none_or(|spec| spec.matches(&release.1))
        });
        let fits = match value {
            Value::String(id) => self.is_object(id, constraint, lineage.is_empty()),
            Value::Object(entries) => match written_class(entries) {
                Some(class) => {
                    let lineage = self.packages.lineage(release, &class);
                    lineage.is_empty() || lineage.iter().any(|(_, class)| class == expected)
                }
                None => true,
            },
            _ => false,
        };
        if !fits {
            return Some((path.to_owned(), ValueProblem::NotObject(expected.clone())));
        }
        let (Value::Object(entries), Some((defining, class))) = (value, defining) else {
            return None;
        };
        let (release, class) = match written_class(entries) {
            Some(written) => (release, written),
            None => (defining, class.clone()),
        };
        let declared = self.packages.properties_of(release, &class).properties;
        declared.into_iter().find_map(|(name, property)| {
            let value = entries.get(name);
            if value.is_none() && !property.is_null_if_absent() {
                return None;
            }
            self.contract(
                release,
                &property.contract.value,
                value,
                &property_path(path, name),
            )
        })
    }

    /// Whether an object of the model with this id is of a class, as far as the class is known.
    fn is_object(&self, id: &str, constraint: &ClassConstraint, is_unknown: bool) -> bool {
        let Some(model) = self.model else {
            return false;
        };
        let mut numbers = (0..model.objects().len()).map(ObjectId);
        let Some(object) = numbers.find(|it| model.object(*it).id.as_deref() == Some(id)) else {
            return false;
        };
        if is_unknown {
            return true;
        }
        let described = model.object(object);
        let Ok(Some(release)) = release_of(self.packages, described) else {
            return false;
        };
        let spec = constraint.spec.as_ref();
        let lineage = self.packages.lineage(release, &described.class);
        lineage.iter().any(|(release, class)| {
            *class == constraint.class && spec.is_none_or(|spec| spec.matches(&release.1))
        })
    }
}

/// The class that an object names itself.
fn written_class(entries: &Map<String, Value>) -> Option<ClassName> {
    let class = entries.get("?")?.get("type")?.as_str()?;
    ClassName::parse(class).ok()
}

/// Whether a value is an integer, or the text of one.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::Bool(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        Value::String(text) => is_whole_number(text.trim()),
        _ => false,
    }
}
