//! JSON documents as the same trees as YAML.
//!
//! `serde_json` splits the text one level at a time into raw values. These are slices of the text, which
//! gives their places.

use std::sync::Arc;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::merge_marker::merge_conflict;
use super::{Entry, Mapping, Node, Scalar, Style, Syntax, Value};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use crate::read_options::Limits;

pub(super) fn parse(source: &Arc<SourceText>, syntax: Syntax) -> Parsed<Node> {
    let text = source.text();
    if let Some(offset) = too_deep(text, syntax.depth) {
        let location = Location::new(
            source,
            Span {
                start: offset,
                end: offset + 1,
            },
        );
        return Parsed::failed(Limits::exceeded("levels of nesting", syntax.depth).at(location));
    }
    let raw = match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => raw,
        Err(error) => {
            let conflict = merge_conflict(source);
            return Parsed::failed(conflict.unwrap_or_else(|| syntax_error(source, 0, &error)));
        }
    };
    let mut composer = JsonComposer {
        source,
        syntax,
        nodes: 0,
    };
    match composer.compose(raw) {
        Ok(node) => Parsed::new(Some(node), Vec::new()),
        Err(diagnostic) => Parsed::failed(*diagnostic),
    }
}

/// The place where brackets first nest deeper than `limit`. This is checked before anything recurses.
fn too_deep(text: &str, limit: usize) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > limit {
                    return Some(offset);
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn syntax_error(source: &Arc<SourceText>, base: usize, error: &serde_json::Error) -> Diagnostic {
    let text = &source.text()[base..];
    let line_start = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let start = base + line_start + error.column().saturating_sub(1);
    let message = error.to_string();
    let message = message
        .split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned();
    Diagnostic::error(Code::Syntax, Escaped::shortened(&message).to_string())
        .at(Location::new(source, Span { start, end: start }))
}

struct JsonComposer<'source> {
    source: &'source Arc<SourceText>,
    syntax: Syntax,
    nodes: usize,
}

type Composed<T> = Result<T, Box<Diagnostic>>;

impl<'source> JsonComposer<'source> {
    /// Recursion is bounded by the depth limit, which was checked on the text.
    fn compose(&mut self, raw: &'source RawValue) -> Composed<Node> {
        let text = raw.get();
        let start = text.as_ptr() as usize - self.source.text().as_ptr() as usize;
        let span = Span {
            start,
            end: start + text.len(),
        };
        self.nodes += 1;
        if self.nodes > self.syntax.nodes {
            let error = Limits::exceeded("nodes", self.syntax.nodes);
            return Err(Box::new(error.at(Location::new(self.source, span))));
        }
        let syntax = |error: serde_json::Error| Box::new(syntax_error(self.source, start, &error));
        let value = match text.as_bytes().first() {
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::Deserializer::from_str(text)
                    .deserialize_seq(Items)
                    .map_err(syntax)?;
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.push(self.compose(item)?);
                }
                Value::Sequence(nodes)
            }
            Some(b'{') => {
                let members: Vec<(String, &RawValue)> = serde_json::Deserializer::from_str(text)
                    .deserialize_map(Members)
                    .map_err(syntax)?;
                self.compose_members(members)?
            }
            Some(b'"') => Value::Scalar(Scalar {
                text: serde_json::from_str(text).map_err(syntax)?,
                style: Style::Quoted,
            }),
            _ => Value::Scalar(Scalar {
                text: text.to_owned(),
                style: Style::Plain,
            }),
        };
        Ok(Node { span, value })
    }

    fn compose_members(&mut self, members: Vec<(String, &'source RawValue)>) -> Composed<Value> {
        let mut seen = std::collections::HashSet::new();
        let mut entries = Vec::with_capacity(members.len());
        for (key, value) in members {
            let value = self.compose(value)?;
            let key_span = self.key_before(value.span);
            if !seen.insert(key.clone()) {
                let message = format!("the key `{}` appears twice", Escaped::shortened(&key));
                return Err(Box::new(
                    Diagnostic::error(Code::DuplicateKey, message)
                        .at(Location::new(self.source, key_span)),
                ));
            }
            entries.push(Entry {
                key: Scalar {
                    text: key,
                    style: Style::Quoted,
                },
                key_span,
                value,
            });
        }
        Ok(Value::Mapping(Mapping { entries }))
    }

    /// The place of the key before a value, quotes included.
    fn key_before(&self, value: Span) -> Span {
        let before = self.source.text()[..value.start].trim_end();
        let before = before.strip_suffix(':').unwrap_or(before).trim_end();
        let end = before.len();
        let mut start = end.saturating_sub(1);
        while let Some(quote) = before[..start].rfind('"') {
            start = quote;
            let backslashes = before[..quote]
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'\\')
                .count();
            if backslashes % 2 == 0 {
                break;
            }
        }
        Span { start, end }
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}
