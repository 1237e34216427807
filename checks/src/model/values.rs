//! Checking values against contracts.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ClassName, Contract, MapKey, ModelValue, ObjectId, ObjectModel, Property, Rule, ValueKind,
};

use super::ModelReport;

/// Whether a contract requires a value.
pub(super) fn requires_value(contract: &Contract) -> bool {
    matches!(contract, Contract::Rules(rules) if rules.contains(&Rule::NotNull))
}

/// Checks the value of a property of an object.
pub(super) fn check(
    model: &ObjectModel,
    holder: ObjectId,
    name: &str,
    class: &ClassName,
    property: &Property,
    value: &ModelValue,
    report: &mut ModelReport,
) {
    let mut check = Check {
        model,
        holder,
        class,
        report,
    };
    check.contract(&property.contract.value, value, name);
}

struct Check<'a> {
    model: &'a ObjectModel,
    holder: ObjectId,
    class: &'a ClassName,
    report: &'a mut ModelReport,
}

impl Check<'_> {
    fn report(&mut self, path: &str, what: &str, value: &ModelValue) {
        let message = format!(
            "`{}` of the object {} {what}, as `{}` requires",
            Escaped::shortened(path),
            self.model.shown(self.holder),
            self.class
        );
        let finding = Diagnostic::error(Code::ModelContract, message);
        self.report
            .findings
            .push(finding.at(value.location.clone()));
    }

    /// Recursion is bounded by the depth limit on documents.
    fn contract(&mut self, contract: &Contract, value: &ModelValue, path: &str) {
        match contract {
            Contract::Rules(rules) => {
                for rule in rules {
                    self.rule(rule, value, path);
                }
            }
            Contract::List {
                items,
                minimum,
                maximum,
            } => {
                let single = std::slice::from_ref(value);
                let values = match &value.kind {
                    ValueKind::List(values) => values.as_slice(),
                    ValueKind::Null => &[],
                    // A single value means a list of one.
                    _ => single,
                };
                let count = values.len() as u64;
                if count < *minimum {
                    self.report(path, &format!("must have at least {minimum} items"), value);
                }
                if maximum.is_some_and(|maximum| count > maximum) {
                    let maximum = maximum.unwrap_or_default();
                    self.report(path, &format!("must have at most {maximum} items"), value);
                }
                for (at, value) in values.iter().enumerate() {
                    if let Some(item) = items.get(at).or(items.last()) {
                        self.contract(item, value, &format!("{path}[{at}]"));
                    }
                }
            }
            Contract::Map(keys) => self.map(keys, value, path),
        }
    }

    fn map(&mut self, keys: &[(MapKey, Contract)], value: &ModelValue, path: &str) {
        let entries = match &value.kind {
            ValueKind::Map(entries) => entries.as_slice(),
            ValueKind::Null => &[],
            _ => {
                self.report(path, "must be a mapping", value);
                return;
            }
        };
        for (key, contract) in keys {
            match key {
                MapKey::Named(name) => {
                    let path = format!("{path}.{name}");
                    match entries.iter().find(|(key, _)| key == name) {
                        Some((_, value)) => self.contract(contract, value, &path),
                        None if requires_value(contract) => {
                            self.report(&path, "must be there", value);
                        }
                        None => {}
                    }
                }
                MapKey::Matching(rules) => {
                    for rule in rules {
                        if let Rule::Unchecked(written) = rule {
                            self.report.not_checked.insert(written.clone());
                        }
                    }
                    let is_named = |name: &String| {
                        keys.iter()
                            .any(|(key, _)| matches!(key, MapKey::Named(key) if key == name))
                    };
                    for (name, value) in entries.iter().filter(|(name, _)| !is_named(name)) {
                        self.contract(contract, value, &format!("{path}.{name}"));
                    }
                }
            }
        }
    }

    fn rule(&mut self, rule: &Rule, value: &ModelValue, path: &str) {
        let is_structure = matches!(
            value.kind,
            ValueKind::List(_) | ValueKind::Map(_) | ValueKind::Object(_) | ValueKind::Reference(_)
        );
        match rule {
            Rule::NotNull if value.kind == ValueKind::Null => {
                self.report(path, "must not be null", value);
            }
            Rule::String if is_structure => self.report(path, "must be text", value),
            Rule::Bool if is_structure => self.report(path, "must be true or false", value),
            Rule::Int if !is_whole_number(&value.kind) => {
                self.report(path, "must be a whole number", value);
            }
            Rule::Class(constraint) if !is_object_or_null(&value.kind) => {
                let what = format!("must be an object of class `{}`", constraint.class);
                self.report(path, &what, value);
            }
            Rule::Template(constraint)
                if !matches!(value.kind, ValueKind::Map(_)) && !is_object_or_null(&value.kind) =>
            {
                let what = format!("must describe an object of class `{}`", constraint.class);
                self.report(path, &what, value);
            }
            Rule::Owned => match value.kind {
                ValueKind::Reference(object)
                    if self.model.object(object).holder != Some(self.holder) =>
                {
                    self.report(path, "must be written inside the object", value);
                }
                _ => {}
            },
            Rule::NotOwned => match value.object() {
                Some(object) if self.model.object(object).holder == Some(self.holder) => {
                    self.report(path, "must belong to another object", value);
                }
                _ => {}
            },
            Rule::Unchecked(written) => {
                self.report.not_checked.insert(written.clone());
            }
            _ => {}
        }
    }
}

fn is_object_or_null(kind: &ValueKind) -> bool {
    matches!(
        kind,
        ValueKind::Object(_) | ValueKind::Reference(_) | ValueKind::Null
    )
}

/// Null, a whole number, or text that is one.
fn is_whole_number(kind: &ValueKind) -> bool {
    match kind {
        ValueKind::Null | ValueKind::Bool(_) => true,
        ValueKind::Number(text) | ValueKind::Text(text) => text.trim().parse::<i128>().is_ok(),
        _ => false,
    }
}
