//! Reads the members of a class: properties, and methods with their arguments and bodies.

use super::ClassFileReader;
use crate::class_file::contract::{parse_expression, unreadable};
use crate::class_file::expression_syntax::is_word;
use crate::class_file::member_use::{WrittenUse, written_uses};
use crate::class_file::statements::mistakes;
use crate::class_file::{
    Argument, ArgumentUsage, Contract, Literal, MapKey, MemberUse, Method, ObjectCreation,
    Property, Rule,
};
use crate::diagnostic::{Code, Escaped, Located, Span};
use crate::document::{Entry, Mapping, Node, Numbers, Scalar, Style, Value, as_json};

/// The keys that declarations can have.
const PROPERTY_KEYS: [&str; 4] = ["Contract", "Default", "Meta", "Usage"];
const METHOD_KEYS: [&str; 5] = ["Arguments", "Body", "Meta", "Scope", "Usage"];
const ARGUMENT_KEYS: [&str; 4] = ["Contract", "Default", "Meta", "Usage"];

/// The usages that declarations can have; the first is that of one without.
const METHOD_USAGES: [&str; 4] = ["Runtime", "Action", "Extension", "Static"];
const ARGUMENT_USAGES: [&str; 3] = ["Standard", "KwArgs", "VarArgs"];

impl ClassFileReader<'_> {
    /// Reads the properties that a class declares.
    pub(super) fn properties(&mut self, mapping: &Mapping) -> Vec<Property> {
        let mut properties = Vec::new();
        for entry in self.entries(mapping, "Properties") {
            let Some(declaration) = entry.value.as_mapping() else {
                self.not_a_property(entry);
                continue;
            };
            self.misspelt_keys(declaration, &PROPERTY_KEYS, "a property");
            self.metas(declaration, "Property");
            self.require_contract(declaration, "the property", entry.key_span, &entry.key.text);
            let usage = self.property_usage(declaration, entry.key_span);
            properties.push(Property {
                name: self.nodes.located(entry.key.text.clone(), entry.key_span),
                contract: self.contract_of(declaration, entry.key_span),
                usage,
                has_default: declaration.get("Default").is_some(),
                default: declaration
                    .get("Default")
                    .filter(|node| self.is_literal(node))
                    .map(|node| as_json(node, Numbers::AsWritten).to_string()),
            });
        }
        properties
    }

    /// Whether a value is known without evaluating anything. Recursion is bounded by the depth limit on documents.
    fn is_literal(&self, node: &Node) -> bool {
        match &node.value {
            Value::Scalar(scalar) => {
                let before = self.nodes.source().text()[..node.span.start].trim_end();
                !scalar.text.contains('$') && !before.ends_with("!yaql")
            }
            Value::Sequence(items) => items.iter().all(|item| self.is_literal(item)),
            Value::Mapping(mapping) => {
                let mut entries = mapping.entries.iter();
                entries.all(|entry| !entry.key.text.contains('$') && self.is_literal(&entry.value))
            }
        }
    }

    /// Reports a property that is not a mapping. A contract is sometimes written in place of it.
    fn not_a_property(&mut self, entry: &Entry) {
        let (code, expected) = (Code::ClassFile, "a mapping");
        let finding = self
            .nodes
            .wrong_kind_of(code, "a property", expected, &entry.value);
        let scalar = entry.value.as_scalar();
        if let Some(contract) = scalar.filter(|scalar| scalar.text.starts_with('$')) {
            let contract = Escaped::shortened(&contract.text);
            finding.hints = vec![format!(
                "write `Contract: {contract}` below the name of the property"
            )];
        }
    }

    /// The usage as written. Whether it exists is left to checks.
    fn property_usage(&mut self, declaration: &Mapping, span: Span) -> Located<String> {
        let default = |reader: &Self| reader.nodes.located("In".to_owned(), span);
        match declaration.get("Usage") {
            None => default(self),
            Some(node) if node.is_nothing() => default(self),
            Some(node) => {
                if let Some(scalar) = node.as_scalar() {
                    return self.nodes.located(scalar.text.clone(), node.span);
                }
                self.nodes.wrong_kind("`Usage`", "a word", node);
                default(self)
            }
        }
    }

    /// Reads the methods that a class declares.
    pub(super) fn methods(&mut self, mapping: &Mapping) -> Vec<Method> {
        let mut methods = Vec::new();
        // As in the reference implementation, the old name of the key counts only without the new one.
        let has_methods = mapping
            .get("Methods")
            .is_some_and(|node| !node.is_nothing());
        let key = if has_methods { "Methods" } else { "Workflow" };
        for entry in self.entries(mapping, key) {
            let nothing = Mapping::default();
            let declaration = if entry.value.is_nothing() {
                &nothing
            } else if let Some(declaration) = self.nodes.mapping(&entry.value, "a method") {
                declaration
            } else {
                continue;
            };
            self.metas(declaration, "Method");
            self.misspelt_keys(declaration, &METHOD_KEYS, "a method");
            let arguments = declaration
                .get("Arguments")
                .map(|node| self.arguments(node))
                .unwrap_or_default();
            if let Some(body) = declaration.get("Body") {
                self.body(body);
            }
            let usage = self.one_of(declaration, "Usage", &METHOD_USAGES, "a usage of a method");
            let usage = usage.unwrap_or_else(|| METHOD_USAGES[0].to_owned());
            let scope = word(declaration, "Scope").map(str::to_owned);
            if usage == "Action" && scope.as_deref() == Some("Session") {
                let message =
                    "an action can be called from outside, so its `Scope` cannot be `Session`";
                self.reject(Code::ClassFile, message, entry.key_span);
            }
            methods.push(Method {
                name: self.nodes.located(entry.key.text.clone(), entry.key_span),
                arguments,
                usage,
                scope,
            });
        }
        methods
    }

    /// Reads arguments: a list of mappings with one entry each, or a single mapping. All entries of a mapping are read,
    /// although the deployment engine accepts only one.
    pub(crate) fn arguments(&mut self, node: &Node) -> Vec<Argument> {
        let items = match &node.value {
            Value::Mapping(_) => std::slice::from_ref(node),
            Value::Sequence(items) => items.as_slice(),
            Value::Scalar(scalar) if scalar.is_null() => &[],
            Value::Scalar(scalar) => {
                let message = "`Arguments` must be a list";
                if scalar.text.is_empty() || scalar.as_bool() == Some(false) {
                    self.reject(Code::ClassFile, message, node.span);
                } else {
                    self.nodes.error_of(Code::ClassFile, message, node.span);
                }
                &[]
            }
        };
        let mut arguments: Vec<Argument> = Vec::new();
        for item in items {
            let entries: &[Entry] = item.as_mapping().map_or(&[], |mapping| &mapping.entries);
            if entries.len() != 1 {
                let message = "an argument must be a mapping from its name to its declaration";
                let finding = self.reject(Code::ClassFile, message, item.span);
                if entries.len() > 1 {
                    let hint = "begin each argument with `-`, so that `Arguments` is a list";
                    finding.hints.push(hint.to_owned());
                }
            }
            for entry in entries {
                let argument = self.argument(entry);
                self.check_order(&arguments, &argument);
                arguments.push(argument);
            }
        }
        arguments
    }

    fn argument(&mut self, entry: &Entry) -> Argument {
        let empty = Mapping::default();
        let declaration = entry.value.as_mapping().unwrap_or(&empty);
        self.misspelt_keys(declaration, &ARGUMENT_KEYS, "an argument");
        self.require_contract(declaration, "the argument", entry.key_span, &entry.key.text);
        self.metas(declaration, "Argument");
        let usage = self.one_of(
            declaration,
            "Usage",
            &ARGUMENT_USAGES,
            "a usage of an argument",
        );
        Argument {
            name: self.nodes.located(entry.key.text.clone(), entry.key_span),
            contract: self.contract_of(declaration, entry.key_span),
            has_default: declaration.get("Default").is_some(),
            default: declaration
                .get("Default")
                .map(|node| as_json(node, Numbers::AsWritten).to_string()),
            usage: match usage.as_deref() {
                Some("VarArgs") => ArgumentUsage::VarArgs,
                Some("KwArgs") => ArgumentUsage::KwArgs,
                _ => ArgumentUsage::Standard,
            },
        }
    }

    /// Notes an argument that can never have a value.
    fn check_order(&mut self, before: &[Argument], argument: &Argument) {
        let takes_the_rest = |usage| before.iter().any(|before| before.usage == usage);
        let is_misplaced = takes_the_rest(ArgumentUsage::KwArgs)
            || (argument.usage != ArgumentUsage::KwArgs && takes_the_rest(ArgumentUsage::VarArgs));
        if is_misplaced {
            let name = Escaped::shortened(&argument.name.value);
            let message = format!(
                "the argument `{name}` comes after one that takes all further values: `VarArgs` has \
                 to come after other arguments, and `KwArgs` last"
            );
            let span = argument.name.location.span();
            self.reject(Code::ClassFile, message, span);
        }
    }

    /// Notes a declaration without a contract.
    fn require_contract(&mut self, declaration: &Mapping, what: &str, span: Span, name: &str) {
        if declaration.get("Contract").is_none() {
            let message = format!("{what} `{}` has no `Contract`", Escaped::shortened(name));
            let finding = self.reject(Code::ClassFile, message, span);
            finding
                .hints
                .push("`Contract: $` accepts every value".to_owned());
        }
    }

    /// Reads the contract of a declaration. Without one, every value is accepted.
    pub(super) fn contract_of(&mut self, declaration: &Mapping, span: Span) -> Located<Contract> {
        match declaration.get("Contract") {
            Some(node) => {
                let contract = self.contract(node);
                self.nodes.located(contract, node.span)
            }
            None => self.nodes.located(Contract::Rules(Vec::new()), span),
        }
    }

    /// Recursion is bounded by the depth limit on documents.
    fn contract(&mut self, node: &Node) -> Contract {
        match &node.value {
            Value::Scalar(scalar)
                if scalar.is_null()
                    || is_word(&scalar.text)
                    || !self.may_be_expression(scalar, node.span) =>
            {
                Contract::Rules(vec![Rule::Equal(literal(scalar))])
            }
            Value::Scalar(scalar) => Contract::Rules(self.rules(&scalar.text, node.span)),
            Value::Sequence(nodes) => {
                let bounds: Vec<i64> = nodes
                    .iter()
                    .rev()
                    .map_while(|node| length(node.as_scalar()?))
                    .collect();
                let items = &nodes[..nodes.len() - bounds.len().min(2)];
                // Negative bounds allow any number.
                let (minimum, maximum) = match bounds.as_slice() {
                    [] => (0, None),
                    [minimum] => (u64::try_from(*minimum).unwrap_or(0), None),
                    [maximum, minimum, ..] => (
                        u64::try_from(*minimum).unwrap_or(0),
                        u64::try_from(*maximum).ok(),
                    ),
                };
                Contract::List {
                    items: items.iter().map(|item| self.contract(item)).collect(),
                    minimum,
                    maximum,
                }
            }
            Value::Mapping(mapping) => {
                let mut entries = Vec::with_capacity(mapping.entries.len());
                let is_expression = |reader: &Self, entry: &Entry| {
                    entry.key.text.contains('$')
                        && reader.may_be_expression(&entry.key, entry.key_span)
                };
                let mut expressions =
                    (mapping.entries.iter()).filter(|entry| is_expression(self, entry));
                if let Some(second) = expressions.nth(1) {
                    let message = "a mapping of contracts can have only one key that is an \
                                   expression: no value meets this contract";
                    self.nodes
                        .warning_of(Code::Contract, message, second.key_span);
                }
                for entry in &mapping.entries {
                    let key = if is_expression(self, entry) {
                        MapKey::Matching(self.rules(&entry.key.text, entry.key_span))
                    } else {
                        MapKey::Named(entry.key.text.clone())
                    };
                    entries.push((key, self.contract(&entry.value)));
                }
                Contract::Map(entries)
            }
        }
    }

    /// Whether the engine may read a scalar as an expression: a plain one, or one with a tag. Others are texts.
    fn may_be_expression(&self, scalar: &Scalar, span: Span) -> bool {
        let before = self.nodes.source().text()[..span.start].trim_end();
        let before = match scalar.style {
            Style::Plain => return true,
            Style::Quoted => before,
            // The header comes before the text.
            Style::Block => before.trim_end_matches(|it: char| !it.is_whitespace()),
        };
        before.trim_end().ends_with("!yaql")
    }

    fn rules(&mut self, text: &str, span: Span) -> Vec<Rule> {
        match parse_expression(text, &self.namespaces) {
            Ok(rules) => {
                for class in Contract::Rules(rules.clone()).classes() {
                    self.uses.push(self.nodes.located(class.clone(), span));
                }
                rules
            }
            // The reference implementation looks at a contract only once it has a value to check.
            Err(_) if !self.is_namespaces_known => vec![Rule::Unchecked(text.trim().to_owned())],
            Err(reason) => {
                self.nodes
                    .warning_of(Code::Contract, unreadable(text, &reason), span);
                vec![Rule::Unchecked(text.trim().to_owned())]
            }
        }
    }

    /// Collects the classes that a method body creates, and the members that it uses.
    fn body(&mut self, node: &Node) {
        // What a syntax error hides may belong to a statement.
        if self.unreadable_from.is_none() {
            for mistake in mistakes(node, self.nodes.source().text()) {
                let finding = self.reject(Code::ClassFile, mistake.message, mistake.span);
                finding.hints.extend(mistake.hint);
            }
        }
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            match &node.value {
                Value::Scalar(scalar) => self.used(&scalar.text, node.span),
                Value::Sequence(items) => rest.extend(items.iter().rev()),
                Value::Mapping(mapping) => {
                    for entry in &mapping.entries {
                        self.used(&entry.key.text, entry.key_span);
                        rest.push(&entry.value);
                    }
                }
            }
        }
    }

    /// Collects what a part of a body uses.
    fn used(&mut self, text: &str, span: Span) {
        for used in written_uses(text) {
            match used {
                WrittenUse::Member { name, call } => {
                    let member = self.nodes.located(name.to_owned(), span);
                    self.member_uses.push(MemberUse { member, call });
                }
                WrittenUse::Creation {
                    class,
                    is_quoted,
                    arguments,
                } => {
                    // The argument of `new` can be any text: one that does not resolve is not a class name.
                    if let Ok(name) = self.namespaces.resolve(class) {
                        let is_unquoted = !is_quoted && class.contains('.');
                        let class = self.nodes.located(name, span);
                        self.uses.push(class.clone());
                        self.creations.push(ObjectCreation {
                            class,
                            is_unquoted,
                            arguments,
                        });
                    }
                }
            }
        }
    }

    /// The entries of a mapping, or none if it is absent or null.
    fn entries<'node>(&mut self, mapping: &'node Mapping, key: &str) -> &'node [Entry] {
        let node = mapping.get(key).filter(|node| !node.is_nothing());
        let mapping = node.and_then(|node| self.nodes.mapping(node, &format!("`{key}`")));
        mapping.map_or(&[], |mapping| &mapping.entries)
    }
}

/// The length of a list, if a scalar is one. `true` is 1 in Python.
fn length(scalar: &Scalar) -> Option<i64> {
    if scalar.style != Style::Plain {
        return None;
    }
    match scalar.yaml_1_1_bool() {
        Some(value) => Some(value.into()),
        None => scalar.text.parse().ok(),
    }
}

fn literal(scalar: &Scalar) -> Literal {
    if scalar.is_null() {
        Literal::Null
    } else if let Some(value) = scalar.yaml_1_1_bool() {
        Literal::Bool(value)
    } else if let Some(number) = scalar.yaml_1_1_number() {
        Literal::Number(number)
    } else {
        Literal::Text(scalar.text.clone())
    }
}

fn word<'node>(mapping: &'node Mapping, key: &str) -> Option<&'node str> {
    mapping
        .get(key)?
        .as_scalar()
        .map(|scalar| scalar.text.as_str())
}
