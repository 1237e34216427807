//! What the deployment engine rejects in the body of a method when it loads the class: it reads each body as statements,
//! and refuses the class if one of them is none.
//!
//! A statement is an expression, an assignment (a mapping with one key, which is an expression), or a block, such as
//! `If` with `Then`, which has exactly the keys of its kind. The cases of `Match` and `Switch` are only read when they
//! run.
//!
//! Source of the rules: `expressions.py`, `macros.py` and `virtual_exceptions.py` of `murano/dsl`.

use super::expression_syntax::{is_expression, is_well_formed};
use crate::diagnostic::{Escaped, Span};
use crate::document::{Entry, Mapping, Node, Scalar, Style, Value};
use crate::similar::{did_you_mean, most_similar};

/// A mistake in a body.
pub(super) struct BodyMistake {
    pub(super) message: String,
    pub(super) span: Span,
    pub(super) hint: Option<String>,
}

/// A kind of block: its keys, and what their values are.
struct BlockKind {
    name: &'static str,
    /// Its other keys. Those after the first `required` ones can be absent.
    others: &'static [&'static str],
    required: usize,
    /// The keys whose values are statements.
    bodies: &'static [&'static str],
}

const fn block(
    name: &'static str,
    others: &'static [&'static str],
    required: usize,
    bodies: &'static [&'static str],
) -> BlockKind {
    BlockKind {
        name,
        others,
        required,
        bodies,
    }
}

/// Every kind of block. `Do` is the last, because others have it as a key.
const BLOCKS: [BlockKind; 14] = [
    block("If", &["Then", "Else"], 1, &["Then", "Else"]),
    block("While", &["Do"], 1, &["Do"]),
    block("For", &["In", "Do"], 2, &["Do"]),
    block("Repeat", &["Do"], 1, &["Do"]),
    block("Match", &["Value", "Default"], 1, &["Default"]),
    block("Switch", &["Default"], 0, &["Default"]),
    block(
        "Try",
        &["Catch", "Finally", "Else"],
        0,
        &["Try", "Finally", "Else"],
    ),
    block("Throw", &["Message", "Extra", "Cause"], 0, &[]),
    block("Parallel", &["Limit"], 0, &["Parallel"]),
    block("Return", &[], 0, &[]),
    block("Break", &[], 0, &[]),
    block("Continue", &[], 0, &[]),
    block("Rethrow", &[], 0, &[]),
    block("Do", &[], 0, &["Do"]),
];

const CATCH_KEYS: [&str; 3] = ["With", "As", "Do"];

/// The mistakes in the body of a method, which is part of a text.
pub(super) fn mistakes(body: &Node, text: &str) -> Vec<BodyMistake> {
    let mut reader = BodyReader {
        text,
        found: Vec::new(),
        rest: vec![body],
    };
    while let Some(node) = reader.rest.pop() {
        reader.statements(node);
    }
    reader.found.sort_by_key(|mistake| mistake.span.start);
    reader.found
}

struct BodyReader<'a> {
    text: &'a str,
    found: Vec<BodyMistake>,
    /// The statements that are still to be read: each a list, or a single one.
    rest: Vec<&'a Node>,
}

impl<'a> BodyReader<'a> {
    fn mistake(&mut self, message: impl Into<String>, span: Span, hint: Option<String>) {
        let message = message.into();
        self.found.push(BodyMistake {
            message,
            span,
            hint,
        });
    }

    /// Whether a scalar is an expression, also one that is marked as such.
    fn is_expression(&self, scalar: &Scalar, span: Span) -> bool {
        let before = self.text.get(..span.start).unwrap_or_default().trim_end();
        if before.ends_with("!yaql") {
            return is_well_formed(&scalar.text);
        }
        is_expression(scalar)
    }

    fn is_expression_node(&self, node: &Node) -> bool {
        node.as_scalar()
            .is_some_and(|scalar| self.is_expression(scalar, node.span))
    }

    /// Reads the statements of a block.
    fn statements(&mut self, node: &'a Node) {
        if node.is_null() {
            return;
        }
        for statement in node.items_or_self() {
            self.statement(statement);
        }
    }

    fn statement(&mut self, node: &'a Node) {
        match &node.value {
            Value::Scalar(scalar) if self.is_expression(scalar, node.span) => {}
            Value::Scalar(scalar) => {
                let (message, hint) = no_statement(scalar);
                self.mistake(message, node.span, hint);
            }
            Value::Sequence(_) => {
                let hint = "write its statements without a list of their own, or below `Do`";
                self.mistake(
                    "a list is not a statement",
                    node.span,
                    Some(hint.to_owned()),
                );
            }
            Value::Mapping(mapping) => self.mapping(mapping, node.span),
        }
    }

    fn mapping(&mut self, mapping: &'a Mapping, span: Span) {
        let is_target = |entry: &&Entry| self.is_expression(&entry.key, entry.key_span);
        let targets = mapping.entries.iter().filter(is_target).count();
        match (targets, mapping.entries.as_slice()) {
            (_, []) => self.mistake("an empty mapping is not a statement", span, None),
            (0, [first, ..]) => match BLOCKS.iter().find(|it| is_key(mapping, it.name)) {
                Some(block) => self.block(block, mapping, span),
                None => self.unknown_block(first),
            },
            (_, [_, second, ..]) => {
                let message = "an assignment is a statement of its own";
                let hint = "begin each statement with `-`".to_owned();
                self.mistake(message, second.key_span, Some(hint));
            }
            (_, [_]) => {}
        }
    }

    /// Reports a mapping that is neither an assignment nor a block.
    fn unknown_block(&mut self, first: &Entry) {
        let key = first.key.text.as_str();
        let shown = Escaped::shortened(key);
        let similar = most_similar(key, BLOCKS.iter().map(|block| block.name));
        let owner = BLOCKS.iter().find(|block| block.others.contains(&key));
        let (message, hint) = if is_well_formed(key) && key.contains('$') {
            (
                format!("`{shown}` is quoted, so the engine does not read it as a variable"),
                Some("write it without quotes".to_owned()),
            )
        } else if let Some(owner) = owner {
            (
                format!("`{shown}` belongs to `{}`, which is missing", owner.name),
                None,
            )
        } else {
            let hint = match similar {
                Some(similar) => did_you_mean(similar),
                None => "write an assignment as `$name: value`".to_owned(),
            };
            (
                format!("`{shown}` is neither a variable nor a block such as `If`"),
                Some(hint),
            )
        };
        self.mistake(message, first.key_span, hint);
    }

    fn block(&mut self, block: &BlockKind, mapping: &'a Mapping, span: Span) {
        let mut is_whole = true;
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            let is_known = key == block.name || block.others.contains(&key);
            if is_known && entry.key.is_text() {
                continue;
            }
            is_whole = false;
            let missing = block.others.iter().copied();
            let missing = missing.filter(|it| mapping.get(it).is_none());
            let hint = most_similar(key, missing).map(did_you_mean);
            let shown = Escaped::shortened(key);
            let message = format!("`{}` has no `{shown}`", block.name);
            self.mistake(message, entry.key_span, hint);
        }
        for required in &block.others[..block.required] {
            if is_whole && mapping.get(required).is_none() {
                let message = format!("`{}` needs `{required}`", block.name);
                self.mistake(message, span, None);
            }
        }
        let Some(head) = mapping.get(block.name) else {
            return;
        };
        let is_right = match block.name {
            "Break" | "Continue" => head.is_nothing(),
            "Throw" => !head.is_nothing(),
            "While" => self.is_expression_node(head),
            "For" => {
                let name = head.as_scalar();
                name.is_some_and(|it| it.is_text() && !self.is_expression(it, head.span))
            }
            "Repeat" => {
                let is_count =
                    |scalar: &Scalar| scalar.is_int() || scalar.yaml_1_1_bool().is_some();
                head.as_scalar().is_some_and(is_count) || self.is_expression_node(head)
            }
            "Match" | "Switch" => head.as_mapping().is_some(),
            _ => true,
        };
        if !is_right {
            let expected = match block.name {
                "Break" | "Continue" => "has no value",
                "Throw" => "needs the name of an exception",
                "While" => "must be an expression",
                "For" => "must be the name of a variable, without `$`",
                "Repeat" => "must be an integer or an expression",
                _ => "must be a mapping of cases",
            };
            self.mistake(format!("`{}` {expected}", block.name), head.span, None);
        }
        let bodies = block.bodies.iter().filter_map(|body| mapping.get(body));
        self.rest.extend(bodies);
        let handlers = mapping.get("Catch").filter(|node| !node.is_null());
        for handler in handlers.map(Node::items_or_self).unwrap_or_default() {
            self.handler(handler);
        }
    }

    /// Reads what `Catch` does with an exception.
    fn handler(&mut self, node: &'a Node) {
        let Some(mapping) = node.as_mapping() else {
            let message = "`Catch` must have `With`, `As` or `Do`";
            self.mistake(message, node.span, None);
            return;
        };
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            if !CATCH_KEYS.contains(&key) {
                let shown = Escaped::shortened(key);
                let hint = most_similar(key, CATCH_KEYS).map(did_you_mean);
                self.mistake(format!("`Catch` has no `{shown}`"), entry.key_span, hint);
            }
        }
        self.rest.extend(mapping.get("Do"));
    }
}

/// Why a scalar is no statement, and a hint.
fn no_statement(scalar: &Scalar) -> (String, Option<String>) {
    let shown = Escaped::shortened(scalar.text.trim_end());
    if scalar.is_null() {
        return ("nothing is not a statement".to_owned(), None);
    }
    let is_block = BLOCKS.iter().any(|block| block.name == scalar.text);
    if is_block && scalar.style == Style::Plain {
        let hint = format!("write `{shown}:`");
        return (format!("`{shown}` is not a statement"), Some(hint));
    }
    if scalar.style != Style::Plain && is_well_formed(&scalar.text) {
        let hint = "write the expression as plain text, without quotes, `|` and `>`".to_owned();
        let message =
            format!("`{shown}` is quoted, so the engine does not read it as an expression");
        return (message, Some(hint));
    }
    let is_expression_meant = scalar.text.contains(['$', '(']);
    let message = if is_expression_meant {
        format!("`{shown}` is not a valid expression")
    } else {
        format!("`{shown}` is not a statement")
    };
    (message, None)
}

fn is_key(mapping: &Mapping, key: &str) -> bool {
    mapping.entry(key).is_some_and(|entry| entry.key.is_text())
}
