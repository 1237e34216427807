//! Whether the values of arguments satisfy the contracts of a function.
//!
//! The rules are those of the values in a model ([`check_value`]): an argument is read as if it was written in the called
//! object. Only text is different: a script gets it as it is, nothing converts it, so that integers and truth values
//! have one form.

use pkgres_checks::{BoundPackages, CheckedValue, check_value};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    ClassName, Contract, Limits, Literal, ModelObject, ObjectId, ObjectModel, Release, Rule,
    is_whole_number,
};
use serde_json::{Value, json};

use crate::objects::release_of;

/// Checks values against contracts as they mean it in a release.
pub(super) struct ArgumentContracts<'call> {
    packages: &'call BoundPackages,
    /// The release that declares the arguments.
    release: Release,
    /// The model with the objects that arguments can be, and the called object.
    model: ObjectModel,
    holder: ObjectId,
}

impl<'call> ArgumentContracts<'call> {
    /// The contracts of arguments that a release declares, for a call on an object of a model, or else of a class.
    pub(super) fn new(
        packages: &'call BoundPackages,
        release: Release,
        class: &ClassName,
        object: Option<(&ObjectModel, ObjectId)>,
    ) -> Self {
        let (model, holder) = if let Some((model, object)) = object {
            (model.clone(), object)
        } else {
            let text = json!({"?": {"type": class.as_str()}}).to_string();
            let model = ObjectModel::read("object", text.as_bytes(), &Limits::default());
            let (model, _) = model
                .into_result()
                .expect("an object of a class is a model");
            (model, ObjectId(0))
        };
        Self {
            packages,
            release,
            model,
            holder,
        }
    }

    /// What is wrong with a value. It is text, or a list or a mapping as JSON.
    pub(super) fn problems(&self, name: &str, contract: &Contract, text: &str) -> Vec<String> {
        let name = Escaped::shortened(name).to_string();
        let is_json = |is: fn(&Value) -> bool| {
            let parsed = serde_json::from_str::<Value>(text);
            parsed.is_ok_and(|value| is(&value))
        };
        match contract {
            Contract::Rules(rules) => {
                if is_json(Value::is_object) && class_of(rules).is_some() {
                    return self.json_problems(&name, contract, text);
                }
                self.text_problems(&name, contract, rules, text)
            }
            Contract::List { .. } if !is_json(Value::is_array) => {
                vec![format!(
                    "`{name}` must be a list in JSON, such as [\"a\", \"b\"]"
                )]
            }
            Contract::Map(_) if !is_json(Value::is_object) => {
                vec![format!(
                    "`{name}` must be a mapping in JSON, such as {{\"a\": 1}}"
                )]
            }
            Contract::List { .. } | Contract::Map(_) => self.json_problems(&name, contract, text),
        }
    }

    /// Checks text that is no list and no mapping.
    fn text_problems(
        &self,
        name: &str,
        contract: &Contract,
        rules: &[Rule],
        text: &str,
    ) -> Vec<String> {
        let mut value = Value::String(text.to_owned());
        for rule in rules {
            match rule {
                Rule::Int if !is_whole_number(text) => {
                    return vec![format!("`{name}` must be an integer")];
                }
                Rule::Bool if !matches!(text, "true" | "false") => {
                    return vec![format!("`{name}` must be true or false")];
                }
                Rule::Bool | Rule::Equal(Literal::Bool(_)) if matches!(text, "true" | "false") => {
                    value = Value::Bool(text == "true");
                }
                Rule::Equal(Literal::Number(_)) => {
                    value = serde_json::from_str(text)
                        .ok()
                        .filter(Value::is_number)
                        .unwrap_or(value);
                }
                _ => {}
            }
        }
        let problems = self.json_problems(name, contract, &value.to_string());
        match class_of(rules) {
            Some((class, takes_id)) if !problems.is_empty() => vec![if takes_id {
                format!(
                    "`{name}` must be the id of an object of the class `{class}` in the model, or a mapping in JSON"
                )
            } else {
                format!("`{name}` must be a mapping in JSON, for an object of the class `{class}`")
            }],
            _ => problems,
        }
    }

    fn json_problems(&self, name: &str, contract: &Contract, text: &str) -> Vec<String> {
        let read = self
            .model
            .read_value(self.holder, name, text, &Limits::default());
        let (model, value) = match read.into_result() {
            Ok((read, _)) => read,
            Err(findings) => {
                let messages = findings.into_iter().map(|finding| finding.message);
                return messages
                    .map(|message| format!("`{name}`: {message}"))
                    .collect();
            }
        };
        let checked = CheckedValue {
            contract,
            release: &self.release,
            model: &model,
            parent_object: self.holder,
            name,
            value: &value,
        };
        let release_of = |object: &ModelObject| release_of(self.packages, object).ok()?.cloned();
        let first = self.model.objects().len();
        let findings = check_value(checked, first, self.packages, release_of);
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }
}

/// The class that a contract names, and whether an object of the model can be the value, not only one that is described.
fn class_of(rules: &[Rule]) -> Option<(&ClassName, bool)> {
    rules.iter().find_map(|rule| match rule {
        Rule::Class(constraint) => Some((&constraint.class, true)),
        Rule::Template(constraint) => Some((&constraint.class, false)),
        _ => None,
    })
}
