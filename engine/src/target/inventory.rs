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

use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located, Location, Parsed, Span};
use pkgres_manifest::document::{Mapping, Node, NodeReader, read_yaml};

use super::location::TargetLocation;

/// The hint about an unknown key of an inventory, which has one.
const HOW_TO_LIST: &str = "list the machines below `targets`, such as `- local:`";

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
    pub model: Option<Located<String>>,
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
        let ((source, document), mut findings) = match read {
            Ok(read) => read,
            Err(findings) => return Parsed::new(None, findings),
        };
        let mut reader = InventoryReader(NodeReader::new(&source, Code::Field));
        let inventory = match &document {
            Some(document) => reader.inventory(document),
            None => reader.fail("the inventory is empty", Span::default()),
        };
        findings.extend(reader.0.into_findings());
        Parsed::new(inventory, findings)
    }
}

struct InventoryReader<'source>(NodeReader<'source>);

impl InventoryReader<'_> {
    fn fail<T>(&mut self, message: impl Into<String>, span: Span) -> Option<T> {
        self.0.error(message, span);
        None
    }

    fn inventory(&mut self, document: &Node) -> Option<Inventory> {
        let expected = "a mapping with the key `targets`";
        let Some(mapping) = document.as_mapping() else {
            let finding = self.0.wrong_kind("an inventory", expected, document);
            finding.hints = vec![HOW_TO_LIST.to_owned()];
            return None;
        };
        let mut inventory = Inventory::default();
        for entry in &mapping.entries {
            if entry.key.text == "targets" {
                let items = self.0.list(&entry.value, "`targets`", "a list of machines");
                inventory.targets = items.map_or_else(Vec::new, |items| self.targets(items));
            } else {
                let finding = self.0.unknown_key(entry, &["targets"], "an inventory");
                finding.hints = vec![HOW_TO_LIST.to_owned()];
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
            let location = self.0.location(span);
            if let Some(first) = places.get(&target.name) {
                let name = Escaped::shortened(&target.name);
                let message = format!("two machines have the name `{name}`");
                let finding = Diagnostic::error(Code::Field, message).at(location);
                let finding = finding.label(first.clone(), "the first one");
                self.0.report(finding);
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
            let expected = "text such as `ssh://root@web1`, or a mapping with the key `target`";
            self.0.wrong_kind("a machine", expected, item);
            return None;
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
                "model" => {
                    let path = self.text(value, "`model`")?;
                    model = Some(self.0.located(path, value.span));
                }
                "facts" => facts = self.facts(value)?,
                "arguments" => arguments = self.arguments(value)?,
                _ => {
                    self.0
                        .unknown_key(entry, &TARGET_KEYS, "a machine of an inventory");
                }
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
        let mapping = self.0.mapping(node, "`facts`")?;
        let mut pairs = Vec::new();
        for entry in &mapping.entries {
            for value in entry.value.items_or_self() {
                let value = self.text(value, "a fact")?;
                pairs.push((entry.key.text.clone(), value));
            }
        }
        Some(pairs)
    }

    /// Checks a name: it begins each line that is about the machine, and may be one of a list separated by commas.
    fn name(&mut self, name: String, span: Span) -> Option<String> {
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
        if name.is_empty() || name.chars().any(is_odd) {
            let message = "the name of a machine is a text without blanks and commas";
            return self.fail(message, span);
        }
        Some(name)
    }

    fn arguments(&mut self, node: &Node) -> Option<Vec<InventoryArgument>> {
        let expected = "a mapping from arguments of validations to values";
        let Some(mapping) = node.as_mapping() else {
            self.0.wrong_kind("`arguments`", expected, node);
            return None;
        };
        let mut arguments = Vec::with_capacity(mapping.entries.len());
        for entry in &mapping.entries {
            let value = self.text(&entry.value, "the value of an argument")?;
            arguments.push(InventoryArgument {
                name: entry.key.text.clone(),
                value,
                location: self.0.location(entry.key_span),
            });
        }
        Some(arguments)
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let scalar = self.0.text(node, what)?;
        Some(scalar.text.clone())
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
        let model = target.model.as_ref();
        assert_eq!(model.map(|model| model.value.as_str()), Some("m.yaml"));
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
        // The hint about a list that should be a mapping would lead to the next error.
        let read = Inventory::read("hosts.yaml", b"- rootfs:h1\n", &Limits::default());
        let findings = read.into_result().expect_err("it is a list");
        assert_eq!(findings[0].hints, [HOW_TO_LIST]);
        for (text, expected) in [
            ("", "the inventory is empty"),
            (
                "[a]",
                "an inventory must be a mapping with the key `targets`, not a list",
            ),
            ("hosts: []", "unknown key `hosts` in an inventory"),
            (
                "targets: a",
                "`targets` must be a list of machines, not a scalar",
            ),
            (
                "targets: [[a]]",
                "a machine must be text such as `ssh://root@web1`, or a mapping with the key `target`, not a list",
            ),
            ("targets: [~]", "a machine must be text, not null"),
            ("targets: [{name: a}]", "a machine has no `target`"),
            (
                r#"targets: [{target: "local:", tags: b}]"#,
                "unknown key `tags` in a machine of an inventory",
            ),
            (
                r#"targets: [{target: "local:", name: 'b c'}]"#,
                "the name of a machine is a text without blanks and commas",
            ),
            // `--limit b,c` would be two names.
            (
                r#"targets: [{target: "local:", name: 'b,c'}]"#,
                "the name of a machine is a text without blanks and commas",
            ),
            (
                r#"targets: ["local:", {target: "rootfs:b", name: "local:"}]"#,
                "two machines have the name `local:`",
            ),
            (
                r#"targets: [{target: "local:", facts: [x]}]"#,
                "`facts` must be a mapping, not a list",
            ),
            (
                r#"targets: [{target: "local:", facts: {x: {y: z}}}]"#,
                "a fact must be text, not a mapping",
            ),
            (
                r#"targets: [{target: "local:", arguments: [x]}]"#,
                "`arguments` must be a mapping from arguments of validations to values, not a list",
            ),
            (
                r#"targets: [{target: "local:", arguments: {x: [y]}}]"#,
                "the value of an argument must be text, not a list",
            ),
        ] {
            assert_eq!(errors(text), [expected], "{text}");
        }
    }
}
