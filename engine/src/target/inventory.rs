//! Inventories: machines by name, for commands that work on many of them.
//!
//! ```yaml
//! targets:
//! - ssh://root@web1.example.org
//! - name: db
//!   target: ssh://root@db.example.org
//!   facts: {role: db}
//!   model: db.yaml
//!   arguments: {size: 10}
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, read_yaml};
use pkgres_manifest::{Limits, most_similar};

use super::location::TargetLocation;

/// The keys of an inventory.
const INVENTORY_KEYS: [&str; 1] = ["targets"];

/// The keys of a machine.
const TARGET_KEYS: [&str; 5] = ["arguments", "facts", "model", "name", "target"];

/// Machines in the order of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    /// The machines. No two have the same name.
    pub targets: Vec<InventoryTarget>,
}

/// A machine of an inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryTarget {
    /// Its name, without blanks; the text of `target` unless the inventory has one.
    pub name: String,
    /// Its location.
    pub target: TargetLocation,
    /// Facts in addition to those read from the machine. They replace facts with the same key.
    pub facts: Vec<(String, String)>,
    /// The path of an object model of its own.
    pub model: Option<String>,
    /// Values for arguments of validations.
    pub arguments: Vec<InventoryArgument>,
}

/// A value for an argument of validations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryArgument {
    /// `NAME`, or `PACKAGE:NAME` for the argument of one package.
    pub name: String,
    /// The value, as it is written.
    pub value: String,
    /// The place of the name.
    pub location: Location,
}

impl Inventory {
    /// Reads an inventory from YAML or JSON. Messages call the file `name`.
    ///
    /// ```
    /// use pkgres_engine::Inventory;
    /// use pkgres_manifest::Limits;
    ///
    /// let text = b"targets:\n- ssh://root@web1\n- {name: two, target: 'rootfs:two', facts: {role: [db, web]}}\n";
    /// let read = Inventory::read("hosts.yaml", text, &Limits::default());
    /// let (inventory, _) = read.into_result().expect("it is an inventory");
    /// assert_eq!(inventory.targets[0].name, "ssh://root@web1");
    /// let fact = |value: &str| ("role".to_owned(), value.to_owned());
    /// assert_eq!(inventory.targets[1].facts, [fact("db"), fact("web")]);
    /// ```
    pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Self> {
        let read = read_yaml(name, bytes, "inventory", limits).into_result();
        let ((source, document), findings) = match read {
            Ok(read) => read,
            Err(findings) => return Parsed::new(None, findings),
        };
        let mut reader = InventoryReader {
            source: &source,
            findings,
        };
        let inventory = match &document {
            Some(document) => reader.inventory(document),
            None => reader.fail("the inventory is empty", Span::default()),
        };
        Parsed::new(inventory, reader.findings)
    }
}

struct InventoryReader<'source> {
    source: &'source Arc<SourceText>,
    findings: Vec<Diagnostic>,
}

impl InventoryReader<'_> {
    fn fail<T>(&mut self, message: impl Into<String>, span: Span) -> Option<T> {
        let location = Location::new(self.source, span);
        let finding = Diagnostic::error(Code::Field, message).at(location);
        self.findings.push(finding);
        None
    }

    fn unknown_key(&mut self, entry: &Entry, owner: &str, known: &[&str]) {
        let key = Escaped::shortened(&entry.key.text);
        let location = Location::new(self.source, entry.key_span);
        let message = format!("unknown key `{key}` in {owner}");
        let finding = Diagnostic::error(Code::Field, message).at(location);
        let similar = most_similar(&entry.key.text, known.iter().copied());
        self.findings.push(match similar {
            None if known == INVENTORY_KEYS => {
                finding.hint("list the machines below `targets`, such as `- local:`")
            }
            Some(similar) => finding.hint(format!("did you mean `{similar}`?")),
            None => {
                let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
                finding.hint(format!("the keys of {owner} are {}", known.join(", ")))
            }
        });
    }

    fn inventory(&mut self, document: &Node) -> Option<Inventory> {
        let Some(mapping) = document.as_mapping() else {
            let message = "an inventory is a mapping with the key `targets`";
            return self.fail(message, document.span);
        };
        let mut inventory = Inventory::default();
        for entry in &mapping.entries {
            match (entry.key.text.as_str(), entry.value.as_sequence()) {
                ("targets", Some(items)) => inventory.targets = self.targets(items),
                ("targets", None) => {
                    self.fail::<()>("`targets` is a list of machines", entry.value.span);
                }
                _ => self.unknown_key(entry, "an inventory", &INVENTORY_KEYS),
            }
        }
        Some(inventory)
    }

    fn targets(&mut self, items: &[Node]) -> Vec<InventoryTarget> {
        let mut targets: Vec<InventoryTarget> = Vec::with_capacity(items.len());
        let mut places: HashMap<String, Location> = HashMap::with_capacity(items.len());
        for item in items {
            let Some((target, span)) = self.target(item) else {
                continue;
            };
            let location = Location::new(self.source, span);
            if let Some(first) = places.get(&target.name) {
                let name = Escaped::shortened(&target.name);
                let message = format!("two machines have the name `{name}`");
                let finding = Diagnostic::error(Code::Field, message).at(location);
                let finding = finding.label(first.clone(), "the first one");
                self.findings.push(finding);
                continue;
            }
            places.insert(target.name.clone(), location);
            targets.push(target);
        }
        targets
    }

    /// A machine, and the place of its name.
    fn target(&mut self, item: &Node) -> Option<(InventoryTarget, Span)> {
        if item.as_scalar().is_some() {
            let name = self.text(item, "a machine")?;
            let target = InventoryTarget {
                target: self.location(&name, item.span)?,
                name: self.name(name, item.span)?,
                facts: Vec::new(),
                model: None,
                arguments: Vec::new(),
            };
            return Some((target, item.span));
        }
        let Some(mapping) = item.as_mapping() else {
            let message =
                "a machine is a text such as `ssh://root@web1`, or a mapping with the key `target`";
            return self.fail(message, item.span);
        };
        self.described(mapping, item.span)
    }

    fn described(&mut self, mapping: &Mapping, span: Span) -> Option<(InventoryTarget, Span)> {
        let (mut name, mut target, mut model) = (None, None, None);
        let mut facts = Vec::new();
        let mut arguments = Vec::new();
        for entry in &mapping.entries {
            let value = &entry.value;
            match entry.key.text.as_str() {
                "name" => name = Some((self.text(value, "`name`")?, value.span)),
                "target" => target = Some((self.text(value, "`target`")?, value.span)),
                "model" => model = Some(self.text(value, "`model`")?),
                "facts" => facts = self.facts(value)?,
                "arguments" => arguments = self.arguments(value)?,
                _ => self.unknown_key(entry, "a machine of an inventory", &TARGET_KEYS),
            }
        }
        let Some((target, target_span)) = target else {
            return self.fail("a machine has no `target`", span);
        };
        let (name, at) = name.unwrap_or_else(|| (target.clone(), target_span));
        let target = InventoryTarget {
            target: self.location(&target, target_span)?,
            name: self.name(name, at)?,
            facts,
            model,
            arguments,
        };
        Some((target, at))
    }

    fn location(&mut self, text: &str, span: Span) -> Option<TargetLocation> {
        match text.parse() {
            Ok(location) => Some(location),
            Err(error) => self.fail(format!("{error}"), span),
        }
    }

    fn facts(&mut self, node: &Node) -> Option<Vec<(String, String)>> {
        let Some(mapping) = node.as_mapping() else {
            return self.fail("facts must be a mapping", node.span);
        };
        let mut pairs = Vec::new();
        for entry in &mapping.entries {
            let values = entry.value.as_sequence();
            for value in values.unwrap_or(std::slice::from_ref(&entry.value)) {
                let value = self.text(value, "a fact")?;
                pairs.push((entry.key.text.clone(), value));
            }
        }
        Some(pairs)
    }

    /// Checks a name: it begins each line that is about the machine.
    fn name(&mut self, name: String, span: Span) -> Option<String> {
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
        if name.is_empty() || name.chars().any(is_odd) {
            return self.fail("the name of a machine is a text without blanks", span);
        }
        Some(name)
    }

    fn arguments(&mut self, node: &Node) -> Option<Vec<InventoryArgument>> {
        let Some(mapping) = node.as_mapping() else {
            let message = "`arguments` is a mapping from arguments of validations to values";
            return self.fail(message, node.span);
        };
        let mut arguments = Vec::with_capacity(mapping.entries.len());
        for entry in &mapping.entries {
            let value = self.text(&entry.value, "the value of an argument")?;
            arguments.push(InventoryArgument {
                name: entry.key.text.clone(),
                value,
                location: Location::new(self.source, entry.key_span),
            });
        }
        Some(arguments)
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        match node.as_scalar().filter(|scalar| !scalar.is_null()) {
            Some(scalar) => Some(scalar.text.clone()),
            None => self.fail(format!("{what} is a text"), node.span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let read = Inventory::read("hosts.yaml", text.as_bytes(), &Limits::default());
        let findings = read.into_result().expect_err("it is wrong");
        findings
            .iter()
            .map(|finding| finding.message.clone())
            .collect()
    }

    #[test]
    fn json_of_a_program_is_an_inventory() {
        let text = br#"{"targets": [{"name": "a", "target": "local:", "model": "m.yaml",
            "arguments": {"web:size": 010, "x": ""}}]}"#;
        let read = Inventory::read("hosts", text, &Limits::default());
        let (inventory, _) = read.into_result().expect("it is an inventory");
        let [target] = &inventory.targets[..] else {
            panic!("{inventory:?}");
        };
        assert_eq!(target.model.as_deref(), Some("m.yaml"));
        let arguments: Vec<_> = target
            .arguments
            .iter()
            .map(|argument| (argument.name.as_str(), argument.value.as_str()))
            .collect();
        // As it is written.
        assert_eq!(arguments, [("web:size", "010"), ("x", "")]);
    }

    #[test]
    fn mistakes_are_errors() {
        for (text, expected) in [
            ("", "the inventory is empty"),
            ("[a]", "an inventory is a mapping with the key `targets`"),
            ("hosts: []", "unknown key `hosts` in an inventory"),
            ("targets: a", "`targets` is a list of machines"),
            (
                "targets: [[a]]",
                "a machine is a text such as `ssh://root@web1`, or a mapping with the key `target`",
            ),
            ("targets: [~]", "a machine is a text"),
            ("targets: [{name: a}]", "a machine has no `target`"),
            (
                r#"targets: [{target: "local:", tags: b}]"#,
                "unknown key `tags` in a machine of an inventory",
            ),
            (
                r#"targets: [{target: "local:", name: 'b c'}]"#,
                "the name of a machine is a text without blanks",
            ),
            (
                r#"targets: ["local:", {target: "rootfs:b", name: "local:"}]"#,
                "two machines have the name `local:`",
            ),
            (
                r#"targets: [{target: "local:", facts: [x]}]"#,
                "facts must be a mapping",
            ),
            (
                r#"targets: [{target: "local:", facts: {x: {y: z}}}]"#,
                "a fact is a text",
            ),
            (
                r#"targets: [{target: "local:", arguments: [x]}]"#,
                "`arguments` is a mapping from arguments of validations to values",
            ),
            (
                r#"targets: [{target: "local:", arguments: {x: [y]}}]"#,
                "the value of an argument is a text",
            ),
        ] {
            assert_eq!(errors(text), [expected], "{text}");
        }
    }
}
