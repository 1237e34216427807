//! Reads validation files: the document and its arguments. [`validators`] reads the validators.

mod validators;

#[cfg(all(test, feature = "json"))]
pub(crate) use validators::KINDS;

use std::collections::HashSet;
use std::sync::Arc;

use super::{
    ArgumentName, ArgumentValue, RESERVED_NAMES, Validation, ValidationArgument,
    ValidationValueError, VariableName, is_held,
};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Located, Location, Parsed, SourceText, Span, in_order,
};
use crate::document::{Documents, Entry, Mapping, Node, Scalar, Syntax, mapping_hint, parse_yaml};
use crate::read_options::ReadOptions;
use crate::similar::most_similar;

/// The keys of a validation file.
pub(crate) const VALIDATION_KEYS: [&str; 2] = ["arguments", "validators"];

/// The keys of an argument. The last one has no meaning, but occurs.
pub(crate) const ARGUMENT_KEYS: [&str; 6] = [
    "choices",
    "default",
    "description",
    "required",
    "target_variable",
    "hidden",
];

pub(super) fn parse(source: &Arc<SourceText>, options: &ReadOptions) -> Parsed<Validation> {
    let Documents {
        nodes,
        readable,
        diagnostics,
    } = parse_yaml(source, Syntax::of_manifest(&options.limits));
    let mut reader = ValidationReader {
        source,
        options,
        is_whole: nodes.is_some(),
        findings: Vec::new(),
    };
    let validation = reader.documents(&nodes.unwrap_or(readable));
    Parsed::new(validation, in_order(diagnostics, reader.findings))
}

struct ValidationReader<'source> {
    source: &'source Arc<SourceText>,
    options: &'source ReadOptions,
    /// Whether there is no syntax error. If there is one, what seems to be missing may be in the rest.
    is_whole: bool,
    findings: Vec<Diagnostic>,
}

impl ValidationReader<'_> {
    fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn located<T>(&self, value: T, span: Span) -> Located<T> {
        let location = self.location(span);
        Located { value, location }
    }

    /// Reports an error, and returns it so that hints can be added.
    fn error(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        let finding = Diagnostic::error(Code::Validation, message).at(self.location(span));
        self.findings.push(finding);
        self.findings.last_mut().expect("it was pushed")
    }

    /// Reports that a node should be something else.
    fn wrong_kind(&mut self, what: &str, expected: &str, node: &Node) {
        let message = format!("{what} must be {expected}, not {}", node.kind());
        let hint = mapping_hint(node).filter(|_| expected.contains("mapping"));
        self.error(message, node.span).hints.extend(hint);
    }

    fn documents(&mut self, documents: &[Node]) -> Option<Validation> {
        let document = match documents {
            [] => {
                if self.is_whole {
                    self.error("the validation file is empty", Span::default());
                }
                return None;
            }
            [document, second, ..] if self.is_whole => {
                let message = "a validation file must be a single document";
                self.error(message, second.span);
                document
            }
            [document, ..] => document,
        };
        let Some(mapping) = document.as_mapping() else {
            if self.is_whole {
                self.wrong_kind("a validation", "a mapping", document);
            }
            return None;
        };
        self.unknown_keys(mapping, &VALIDATION_KEYS, "a validation");
        let arguments = mapping.get("arguments").filter(|node| !node.is_null());
        let arguments = arguments.map_or_else(Vec::new, |node| self.arguments(node));
        let Some(validators) = mapping.get("validators") else {
            if self.is_whole {
                let start = document.span.start;
                self.error("`validators` is missing", Span { start, end: start });
            }
            return None;
        };
        let validators = self.validators(validators, "`validators`", 0);
        Some(Validation {
            source: Arc::clone(self.source),
            arguments,
            validators,
        })
    }

    fn arguments(&mut self, node: &Node) -> Vec<ValidationArgument> {
        let Some(mapping) = self.mapping(node, "`arguments`") else {
            return Vec::new();
        };
        let mut arguments: Vec<ValidationArgument> = Vec::with_capacity(mapping.entries.len());
        let mut variables = HashSet::with_capacity(mapping.entries.len());
        for entry in &mapping.entries {
            let Some(argument) = self.argument(entry) else {
                continue;
            };
            if !variables.insert(argument.variable()) {
                let message = format!(
                    "another argument already has the variable `{}`",
                    argument.variable()
                );
                self.error(message, entry.key_span);
            }
            arguments.push(argument);
        }
        arguments
    }

    fn argument(&mut self, entry: &Entry) -> Option<ValidationArgument> {
        let name = self.checked(&entry.key.text, entry.key_span, ArgumentName::parse);
        let empty = Mapping::default();
        let mapping = if entry.value.is_null() {
            &empty
        } else {
            self.mapping(&entry.value, "an argument")?
        };
        self.unknown_keys(mapping, &ARGUMENT_KEYS, "an argument");
        let present = |key: &str| mapping.get(key).filter(|node| !node.is_null());
        let description = present("description").and_then(|node| {
            let text = node.as_scalar().map(|scalar| scalar.text.clone());
            if text.is_none() {
                self.wrong_kind("`description`", "text", node);
            }
            text
        });
        let default = present("default").and_then(|node| self.value(node, "`default`"));
        let required = present("required").and_then(|node| self.boolean(node, "`required`"));
        let choices = present("choices").map_or_else(Vec::new, |node| self.choices(node));
        let target_variable = present("target_variable").and_then(|node| {
            let scalar = self.text(node, "`target_variable`")?;
            let variable = self.checked(&scalar.text, node.span, VariableName::parse)?;
            self.reject_reserved(&variable.value, node.span);
            Some(variable)
        });
        if let (Some(name), None) = (&name, &target_variable) {
            self.reject_reserved(&name.value.as_variable(), entry.key_span);
        }
        let hidden = mapping.entry("hidden");
        let hidden = hidden.map(|entry| self.location(entry.key_span));
        // As for Sahara, an argument without a default has to say that it is required.
        if present("default").is_none() && required != Some(true) {
            let message = format!(
                "the argument `{}` has no `default` and is not `required`",
                Escaped::shortened(&entry.key.text)
            );
            self.error(message, entry.key_span)
                .hints
                .push("add a `default`, or `required: true`".to_owned());
        }
        if let Some(default) = &default
            && !choices.is_empty()
            && !choices.iter().any(|choice| choice.value == default.value)
        {
            let message = format!(
                "the default `{}` is not among the choices",
                Escaped::shortened(default.value.as_str())
            );
            let similar = choices.iter().map(|choice| choice.value.as_str());
            let hint = did_you_mean(default.value.as_str(), similar);
            let span = default.location.span();
            self.error(message, span).hints.extend(hint);
        }
        Some(ValidationArgument {
            name: name?,
            description,
            is_required: required.unwrap_or(false),
            default,
            choices,
            target_variable,
            hidden,
        })
    }

    fn choices(&mut self, node: &Node) -> Vec<Located<ArgumentValue>> {
        let Some(items) = node.as_sequence() else {
            self.wrong_kind("`choices`", "a list", node);
            return Vec::new();
        };
        if items.is_empty() {
            self.error("`choices` has no value", node.span);
        }
        let mut choices: Vec<Located<ArgumentValue>> = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for item in items {
            let Some(choice) = self.value(item, "a choice") else {
                continue;
            };
            if seen.insert(choice.value.clone()) {
                choices.push(choice);
            } else {
                let choice = Escaped::shortened(choice.value.as_str());
                self.error(format!("the choice `{choice}` is there twice"), item.span);
            }
        }
        choices
    }

    /// Refuses a name that the engine gives a value to.
    fn reject_reserved(&mut self, name: &VariableName, span: Span) {
        if RESERVED_NAMES.contains(&name.as_str()) {
            let message = format!("the name `{name}` is reserved: pkgres gives it a value");
            self.error(message, span);
        } else if is_held(name) {
            let message = format!(
                "an argument cannot set the variable `{name}`, which decides how scripts run"
            );
            self.error(message, span)
                .hints
                .push("name another variable with `target_variable`".to_owned());
        }
    }

    fn value(&mut self, node: &Node, what: &str) -> Option<Located<ArgumentValue>> {
        let Some(scalar) = node.as_scalar() else {
            self.wrong_kind(what, "text", node);
            return None;
        };
        self.value_of(scalar, node.span)
    }

    fn value_of(&mut self, scalar: &Scalar, span: Span) -> Option<Located<ArgumentValue>> {
        let mut value = self.checked(&scalar.text, span, ArgumentValue::parse)?;
        if scalar.is_mistakable() {
            value.value = value.value.mistakable();
        }
        Some(value)
    }

    /// The name of an argument that gets a value in the course of a validation.
    fn assigned(&mut self, node: &Node, what: &str) -> Option<Located<ArgumentName>> {
        let name = self.argument_name(node, what)?;
        self.reject_reserved(&name.value.as_variable(), node.span);
        Some(name)
    }

    fn argument_name(&mut self, node: &Node, what: &str) -> Option<Located<ArgumentName>> {
        let scalar = self.text(node, what)?;
        self.checked(&scalar.text, node.span, ArgumentName::parse)
    }

    fn checked<T>(
        &mut self,
        text: &str,
        span: Span,
        parse: fn(&str) -> Result<T, ValidationValueError>,
    ) -> Option<Located<T>> {
        match parse(text) {
            Ok(value) => Some(self.located(value, span)),
            Err(error) => {
                self.error(error.to_string(), span);
                None
            }
        }
    }

    fn text<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Scalar> {
        let scalar = node.as_scalar().filter(|scalar| !scalar.is_null());
        if scalar.is_none() {
            self.wrong_kind(what, "text", node);
        }
        scalar
    }

    fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        let value = node.as_scalar().and_then(Scalar::as_bool);
        if value.is_none() {
            self.error(format!("{what} must be `true` or `false`"), node.span);
        }
        value
    }

    fn mapping<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Mapping> {
        let mapping = node.as_mapping();
        if mapping.is_none() {
            self.wrong_kind(what, "a mapping", node);
        }
        mapping
    }

    /// The only entry of a mapping.
    fn only_entry<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Entry> {
        let mapping = self.mapping(node, what)?;
        match mapping.entries.as_slice() {
            [entry] => Some(entry),
            [] => {
                self.error(format!("{what} has no key"), node.span);
                None
            }
            [_, second, ..] => {
                let message = format!("{what} has more than one key");
                self.error(message, second.key_span)
                    .hints
                    .push("begin a new item of the list with `- `, or indent the key".to_owned());
                None
            }
        }
    }

    /// Reports every key that has no meaning: a misspelt one would have no effect.
    fn unknown_keys(&mut self, mapping: &Mapping, known: &[&'static str], owner: &str) {
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            if known.contains(&key) {
                continue;
            }
            let message = format!("unknown key `{}` in {owner}", Escaped::shortened(key));
            let hint = did_you_mean(key, known.iter().copied());
            self.error(message, entry.key_span).hints.extend(hint);
        }
    }
}

fn did_you_mean<'word>(word: &str, known: impl IntoIterator<Item = &'word str>) -> Option<String> {
    let similar = most_similar(word, known)?;
    Some(format!("did you mean `{}`?", Escaped::shortened(similar)))
}
