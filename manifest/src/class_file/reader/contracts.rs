//! Contracts of properties and arguments.

use super::Reader;
use crate::class_file::contract::{Contract, MapKey, Rule, parse_expression, unreadable};
use crate::diagnostic::{Code, Located, Span};
use crate::document::{Mapping, Node, Value};

impl Reader<'_> {
    /// The contract of a declaration; anything goes if there is none.
    pub(super) fn contract_of(&mut self, declaration: &Mapping, span: Span) -> Located<Contract> {
        match declaration.get("Contract") {
            Some(node) => {
                let contract = self.contract(node);
                self.located(contract, node.span)
            }
            None => self.located(Contract::Rules(Vec::new()), span),
        }
    }

    /// Recursion is bounded by the depth limit on documents.
    fn contract(&mut self, node: &Node) -> Contract {
        match &node.value {
            Value::Scalar(scalar) if scalar.is_null() => Contract::Rules(Vec::new()),
            Value::Scalar(scalar) => Contract::Rules(self.rules(&scalar.text, node.span)),
            Value::Sequence(nodes) => {
                let bounds: Vec<u64> = nodes
                    .iter()
                    .rev()
                    .map_while(|node| node.as_scalar()?.text.parse().ok())
                    .collect();
                let items = &nodes[..nodes.len() - bounds.len().min(2)];
                let (minimum, maximum) = match bounds.as_slice() {
                    [] => (0, None),
                    [minimum] => (*minimum, None),
                    [maximum, minimum, ..] => (*minimum, Some(*maximum)),
                };
                Contract::List {
                    items: items.iter().map(|item| self.contract(item)).collect(),
                    minimum,
                    maximum,
                }
            }
            Value::Mapping(mapping) => {
                let mut entries = Vec::with_capacity(mapping.entries.len());
                for entry in &mapping.entries {
                    let key = if entry.key.text.contains('$') {
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

    fn rules(&mut self, text: &str, span: Span) -> Vec<Rule> {
        match parse_expression(text, &self.namespaces) {
            Ok(rules) => {
                for class in Contract::Rules(rules.clone()).classes() {
                    self.uses.push(self.located(class.clone(), span));
                }
                rules
            }
            Err(reason) => {
                self.error(Code::Contract, unreadable(text, &reason), span);
                Vec::new()
            }
        }
    }
}
