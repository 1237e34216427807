//! Reads validation files: the document and its arguments. [`validators`] reads the validators.

mod validators;

#[cfg(all(test, feature = "json"))]
pub(crate) use validators::KINDS;

use std::collections::HashSet;
use std::sync::Arc;

use super::{
    ArgumentName, ArgumentValue, RESERVED_NAMES, Validation, ValidationArgument, VariableName,
    is_held,
};
use crate::diagnostic::{Code, Escaped, Located, Parsed, SourceText, Span, in_order};
use crate::document::{Documents, Entry, Node, NodeReader, Scalar, Syntax, parse_yaml};
use crate::read_options::ReadOptions;
use crate::similar::{did_you_mean, most_similar};

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
        nodes: NodeReader::partial(source, Code::Validation, nodes.is_some()),
        options,
    };
    let validation = reader.documents(&nodes.unwrap_or(readable));
    Parsed::new(
        validation,
        in_order(diagnostics, reader.nodes.into_findings()),
    )
}

struct ValidationReader<'source> {
    nodes: NodeReader<'source>,
    options: &'source ReadOptions,
}

impl ValidationReader<'_> {
    fn documents(&mut self, documents: &[Node]) -> Option<Validation> {
        let document = self.nodes.only_document(documents, "validation file")?;
        let Some(mapping) = document.as_mapping() else {
            if self.nodes.is_whole() {
                let finding = self.nodes.wrong_kind("a validation", "a mapping", document);
                // Its items are validators.
                finding.hints = vec!["write the list below `validators:`".to_owned()];
            }
            return None;
        };
        self.nodes
            .unknown_keys(mapping, &VALIDATION_KEYS, "a validation");
        let arguments = mapping
            .present("arguments")
            .map_or_else(Vec::new, |node| self.arguments(node));
        let Some(validators) = mapping.get("validators") else {
            let start = document.span.start;
            let beginning = Span { start, end: start };
            self.nodes.missing("`validators` is missing", beginning);
            return None;
        };
        let validators = self.validators(validators, "`validators`", 0);
        Some(Validation {
            source: Arc::clone(self.nodes.source()),
            arguments,
            validators,
        })
    }

    fn arguments(&mut self, node: &Node) -> Vec<ValidationArgument> {
        let Some(mapping) = self.nodes.mapping(node, "`arguments`") else {
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
                self.nodes.error(message, entry.key_span);
            }
            arguments.push(argument);
        }
        arguments
    }

    fn argument(&mut self, entry: &Entry) -> Option<ValidationArgument> {
        let name = self
            .nodes
            .parsed(&entry.key.text, entry.key_span, ArgumentName::parse);
        let mapping = self.nodes.mapping_or_null(&entry.value, "an argument")?;
        self.nodes
            .unknown_keys(mapping, &ARGUMENT_KEYS, "an argument");
        let description = mapping.present("description").and_then(|node| {
            let scalar = self.nodes.text(node, "`description`")?;
            Some(scalar.text.clone())
        });
        let default = mapping
            .present("default")
            .and_then(|node| self.value(node, "`default`"));
        let required = mapping
            .present("required")
            .and_then(|node| self.nodes.boolean(node, "`required`"));
        let choices = mapping
            .present("choices")
            .map_or_else(Vec::new, |node| self.choices(node));
        let target_variable = mapping.present("target_variable").and_then(|node| {
            let scalar = self.nodes.text(node, "`target_variable`")?;
            let variable = self
                .nodes
                .parsed(&scalar.text, node.span, VariableName::parse)?;
            self.reject_reserved(&variable.value, node.span);
            Some(variable)
        });
        if let (Some(name), None) = (&name, &target_variable) {
            self.reject_reserved(&name.value.as_variable(), entry.key_span);
        }
        let hidden = mapping.entry("hidden");
        let hidden = hidden.map(|entry| self.nodes.location(entry.key_span));
        // As for Sahara, an argument without a default has to say that it is required.
        if mapping.present("default").is_none() && required != Some(true) {
            let message = format!(
                "the argument `{}` has no `default` and is not `required`",
                Escaped::shortened(&entry.key.text)
            );
            self.nodes
                .error(message, entry.key_span)
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
            let hint = most_similar(default.value.as_str(), similar).map(did_you_mean);
            let span = default.location.span();
            self.nodes.error(message, span).hints.extend(hint);
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
        let Some(items) = self.nodes.list(node, "`choices`", "a list") else {
            return Vec::new();
        };
        if items.is_empty() {
            self.nodes.error("`choices` has no value", node.span);
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
                self.nodes
                    .error(format!("the choice `{choice}` is listed twice"), item.span);
            }
        }
        choices
    }

    /// Refuses a name that the engine gives a value to.
    fn reject_reserved(&mut self, name: &VariableName, span: Span) {
        if RESERVED_NAMES.contains(&name.as_str()) {
            let message = format!("the name `{name}` is reserved: pkgres gives it a value");
            self.nodes.error(message, span);
        } else if is_held(name) {
            let message = format!(
                "an argument cannot set the variable `{name}`, which decides how scripts run"
            );
            self.nodes
                .error(message, span)
                .hints
                .push("name another variable with `target_variable`".to_owned());
        }
    }

    fn value(&mut self, node: &Node, what: &str) -> Option<Located<ArgumentValue>> {
        let Some(scalar) = node.as_scalar() else {
            self.nodes.wrong_kind(what, "text", node);
            return None;
        };
        self.value_of(scalar, node.span)
    }

    fn value_of(&mut self, scalar: &Scalar, span: Span) -> Option<Located<ArgumentValue>> {
        let mut value = self
            .nodes
            .parsed(&scalar.text, span, ArgumentValue::parse)?;
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
        let scalar = self.nodes.text(node, what)?;
        self.nodes
            .parsed(&scalar.text, node.span, ArgumentName::parse)
    }
}
