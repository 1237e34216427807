//! Reads interface files.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Deprecation, FactMatch, Interface, InterfaceFunction};
use crate::class_file::ClassFileReader;
use crate::diagnostic::{Code, Escaped, Located, Parsed, SourceText, Span, in_order, is_hazardous};
use crate::document::{
    Documents, Mapping, Node, NodeReader, Numbers, Scalar, Syntax, as_json, parse_yaml,
};
use crate::name::{ClassName, is_identifier};
use crate::read_options::ReadOptions;
use crate::similar::{SuggestionEffort, did_you_mean};
use crate::version::Version;

/// The keys that an interface can have.
pub(crate) const INTERFACE_KEYS: [&str; 4] = ["Description", "Functions", "Name", "Namespaces"];

/// The keys that a function of an interface can have.
pub(crate) const FUNCTION_KEYS: [&str; 6] = [
    "Arguments",
    "Deprecated",
    "Description",
    "NotApplicable",
    "Returns",
    "Supported",
];

const DEPRECATION_KEYS: [&str; 3] = ["removed_in", "since", "successor"];

pub(super) fn parse(
    source: &Arc<SourceText>,
    requested: Option<&ClassName>,
    options: &ReadOptions,
) -> Parsed<Interface> {
    let Documents {
        nodes,
        readable,
        diagnostics,
    } = parse_yaml(source, Syntax::of_class_file(&options.limits));
    let mut reader = InterfaceReader(ClassFileReader::new(
        source,
        Code::Interface,
        &diagnostics,
        nodes.is_some(),
    ));
    let documents = nodes.unwrap_or(readable);
    let document = reader.nodes().only_document(&documents, "interface file");
    let interface = document.and_then(|document| reader.interface(document, requested));
    let found = reader.0.nodes.into_findings();
    Parsed::new(interface, in_order(diagnostics, found))
}

struct InterfaceReader<'source>(ClassFileReader<'source>);

impl<'source> InterfaceReader<'source> {
    fn nodes(&mut self) -> &mut NodeReader<'source> {
        &mut self.0.nodes
    }

    fn interface(&mut self, document: &Node, requested: Option<&ClassName>) -> Option<Interface> {
        let mapping = self.nodes().mapping(document, "an interface")?;
        if let Some(node) = mapping.get("Namespaces") {
            self.0.namespaces(node);
        }
        self.nodes()
            .unknown_keys(mapping, &INTERFACE_KEYS, "an interface");
        let start = document.span.start;
        let beginning = Span { start, end: start };
        let name = match (mapping.get("Name"), requested) {
            (Some(node), _) => self.0.class_name(node, "`Name`", Code::Interface)?,
            (None, Some(requested)) => self.0.nodes.located(requested.clone(), beginning),
            (None, None) => {
                self.nodes().error("the interface has no `Name`", beginning);
                return None;
            }
        };
        let functions = mapping.get("Functions").filter(|node| !node.is_nothing());
        let functions = functions.and_then(|node| self.nodes().mapping(node, "`Functions`"));
        let functions = functions.map_or(&[][..], |functions| &functions.entries);
        let functions: Vec<InterfaceFunction> = functions
            .iter()
            .filter_map(|entry| {
                let name = self.0.nodes.located(entry.key.text.clone(), entry.key_span);
                self.function(name, &entry.value)
            })
            .collect();
        self.check_successors(&functions);
        Some(Interface { name, functions })
    }

    fn function(&mut self, name: Located<String>, node: &Node) -> Option<InterfaceFunction> {
        if !is_identifier(&name.value) {
            let message = format!(
                "`{}` cannot be the name of a function: use letters, digits and `_` only",
                Escaped::shortened(&name.value)
            );
            self.nodes().error(message, name.location.span());
        }
        let empty = Mapping::default();
        let mapping = if node.is_nothing() {
            &empty
        } else {
            self.nodes().mapping(node, "a function")?
        };
        self.nodes()
            .unknown_keys(mapping, &FUNCTION_KEYS, "a function");
        let arguments = mapping.get("Arguments").map(|node| self.0.arguments(node));
        let returns = mapping.present("Returns").map(|node| {
            self.0
                .nodes
                .located(as_json(node, Numbers::ByValue).to_string(), node.span)
        });
        let supported = self.fact_match(mapping, "Supported");
        let not_applicable = self.fact_match(mapping, "NotApplicable");
        if let (Some(supported), Some(not_applicable)) = (&supported, &not_applicable)
            && let Some((key, value)) = supported.in_common(not_applicable)
        {
            let message = format!(
                "`{}` is both supported and not applicable where `{}` is `{}`",
                Escaped::shortened(&name.value),
                Escaped::shortened(key),
                Escaped::shortened(value)
            );
            self.nodes().error(message, name.location.span());
        }
        Some(InterfaceFunction {
            arguments: arguments.unwrap_or_default(),
            returns,
            supported,
            not_applicable,
            deprecated: self.deprecation(mapping),
            name,
        })
    }

    /// Reads the platforms under a key.
    fn fact_match(&mut self, mapping: &Mapping, key: &str) -> Option<FactMatch> {
        let node = mapping.present(key)?;
        let facts = self.nodes().mapping(node, &format!("`{key}`"))?;
        if facts.entries.is_empty() {
            let message = format!("`{key}` names no platform");
            self.nodes().error(message, node.span);
        }
        let mut platforms = FactMatch::default();
        for entry in &facts.entries {
            if entry.key.text.eq_ignore_ascii_case("osfamily") {
                let message = "`osfamily` is another spelling of `os_family`";
                self.nodes()
                    .warning_of(Code::UnknownKey, message, entry.key_span)
                    .add_hint("write `os_family`");
            }
            let key = &entry.key.text;
            if let Some(reserved) = reserved_character(key).or_else(|| key.find(' ').map(|_| ' ')) {
                let character = Escaped::from_char(reserved);
                let message = format!("the key of a fact cannot have `{character}`");
                self.nodes().error(message, entry.key_span);
            }
            let values = entry.value.items_or_self();
            let mut texts = Vec::with_capacity(values.len());
            for value in values {
                let Some(scalar) = self.nodes().text(value, "a value of a fact") else {
                    continue;
                };
                if let Some(reserved) = reserved_character(&scalar.text) {
                    let character = Escaped::from_char(reserved);
                    let message = format!("a value of a fact cannot have `{character}`");
                    self.nodes().error(message, value.span);
                }
                texts.push(scalar.text.as_str());
            }
            if values.is_empty() {
                let key = Escaped::shortened(&entry.key.text);
                self.nodes()
                    .error(format!("`{key}` has no value"), entry.value.span);
            }
            let key = self.0.nodes.located(entry.key.text.clone(), entry.key_span);
            platforms.add(key, texts);
        }
        Some(platforms)
    }

    fn deprecation(&mut self, mapping: &Mapping) -> Option<Deprecation> {
        let node = mapping.present("Deprecated")?;
        if node.as_scalar().and_then(Scalar::as_bool) == Some(true) {
            return Some(Deprecation::default());
        }
        let mapping = self.nodes().mapping(node, "`Deprecated`")?;
        self.nodes()
            .unknown_keys(mapping, &DEPRECATION_KEYS, "a deprecation");
        let since = self.version(mapping, "since");
        let removed_in = self.version(mapping, "removed_in");
        if let (Some(since), Some(removed_in)) = (&since, &removed_in)
            && removed_in <= since
        {
            let message = "`removed_in` must be a later version than `since`";
            self.nodes().error(message, node.span);
        }
        let successor = mapping.get("successor").and_then(|node| {
            let scalar = node.as_scalar().filter(|scalar| !scalar.is_null())?;
            Some(self.nodes().located(scalar.text.clone(), node.span))
        });
        Some(Deprecation {
            since,
            removed_in,
            successor,
        })
    }

    fn version(&mut self, mapping: &Mapping, key: &str) -> Option<Version> {
        let node = mapping.present(key)?;
        let Some(scalar) = node.as_scalar() else {
            self.nodes()
                .wrong_kind(&format!("`{key}`"), "a version", node);
            return None;
        };
        match Version::parse(&scalar.text) {
            Ok(version) => Some(version),
            Err(error) => {
                self.nodes()
                    .error_of(Code::Version, error.to_string(), node.span);
                None
            }
        }
    }

    /// Warns about successors that are no other functions of the interface.
    fn check_successors(&mut self, functions: &[InterfaceFunction]) {
        let names = functions
            .iter()
            .map(|function| function.name.value.as_str());
        let known: HashSet<&str> = names.clone().collect();
        let mut effort = SuggestionEffort::default();
        for function in functions {
            let deprecated = function.deprecated.as_ref();
            let Some(successor) = deprecated.and_then(|it| it.successor.as_ref()) else {
                continue;
            };
            let is_own = successor.value == function.name.value;
            if !is_own && known.contains(successor.value.as_str()) {
                continue;
            }
            let shown = Escaped::shortened(&successor.value);
            let message = if is_own {
                format!("`{shown}` is its own successor")
            } else {
                format!("the successor `{shown}` is no function of the interface")
            };
            let others = names.clone().filter(|name| *name != function.name.value);
            let similar = effort.most_similar(&successor.value, others);
            let finding = self.nodes().warning(message, successor.location.span());
            finding.hints.extend(similar.map(did_you_mean));
        }
    }
}

/// The character of a fact that no other text with facts could tell from one of its own.
fn reserved_character(text: &str) -> Option<char> {
    let is_reserved =
        |character: &char| is_hazardous(*character) || r#",;=()"\"#.contains(*character);
    text.chars().find(is_reserved)
}
