//! The texts that a module assigns to names.
//!
//! They are read as Python's `ast` gives them: literals in any quotes, adjacent ones as one text, over several lines and
//! in parentheses. What Python would have to compute is no such text.

use std::collections::BTreeMap;
use std::ops::Range;

use pkgres_manifest::diagnostic::Span;
use tree_sitter::Node;

/// The value of one or several literals, and where its parts are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LiteralText {
    /// The text.
    pub(crate) value: String,
    /// Where parts of the text begin: in the text, and in the module. Within a part, both have the same bytes.
    parts: Vec<(usize, usize)>,
}

impl LiteralText {
    /// The place in the module of a place in the text.
    pub(crate) fn written_at(&self, span: Span) -> Span {
        let place = |at: usize| {
            let following = self.parts.partition_point(|(start, _)| *start <= at);
            let part = following
                .checked_sub(1)
                .and_then(|last| self.parts.get(last));
            part.map_or(0, |(start, written)| written + (at - start))
        };
        Span {
            start: place(span.start),
            end: place(span.end),
        }
    }

    fn push(&mut self, text: &str, written: usize) {
        if !text.is_empty() {
            self.parts.push((self.value.len(), written));
            self.value.push_str(text);
        }
    }

    /// Adds the text between the quotes of a literal. `start` is where it begins in the module. `None` if the text of an
    /// escape sequence is not known.
    fn push_literal(&mut self, content: &str, start: usize, is_raw: bool) -> Option<()> {
        let special: &[char] = if is_raw { &['\r'] } else { &['\r', '\\'] };
        let mut at = 0;
        while let Some(length) = content[at..].find(special) {
            self.push(&content[at..at + length], start + at);
            at += length;
            let rest = &content[at..];
            let (text, length) = if rest.starts_with('\r') {
                // Python reads the end of a line in one way, wherever the file was written.
                (
                    "\n".to_owned(),
                    if rest.starts_with("\r\n") { 2 } else { 1 },
                )
            } else {
                escape(rest)?
            };
            self.push(&text, start + at);
            at += length;
        }
        self.push(&content[at..], start + at);
        Some(())
    }
}

/// The text of the escape sequence that a text begins with, and the length of the sequence. `None` if Python does not
/// accept the sequence, if it is half of a surrogate pair, or if it names a character, as `\N{BULLET}` does.
fn escape(text: &str) -> Option<(String, usize)> {
    let Some(kind) = text[1..].chars().next() else {
        return Some((text.to_owned(), text.len()));
    };
    let length = 1 + kind.len_utf8();
    let plain = |text: &str| (text.to_owned(), length);
    let number = |digits: usize| {
        let digits = text.get(length..length + digits)?;
        // `from_str_radix` accepts a sign.
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let digits = Some(digits).filter(|_| is_number)?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        Some((char::from_u32(number)?.to_string(), length + digits.len()))
    };
    match kind {
        '\r' if text[length..].starts_with('\n') => Some((String::new(), length + 1)),
        '\n' | '\r' => Some(plain("")),
        '\\' | '\'' | '"' => Some(plain(&text[1..length])),
        'a' => Some(plain("\u{7}")),
        'b' => Some(plain("\u{8}")),
        'f' => Some(plain("\u{c}")),
        'n' => Some(plain("\n")),
        'r' => Some(plain("\r")),
        't' => Some(plain("\t")),
        'v' => Some(plain("\u{b}")),
        'x' => number(2),
        'u' => number(4),
        'U' => number(8),
        '0'..='7' => {
            let digits = text[1..].bytes().take(3);
            let count = digits
                .take_while(|digit| matches!(digit, b'0'..=b'7'))
                .count();
            let number = u32::from_str_radix(&text[1..=count], 8).ok();
            let character = number.and_then(char::from_u32);
            character.map(|character| (character.to_string(), 1 + count))
        }
        'N' => None,
        // Python keeps an unknown sequence as it is written.
        _ => Some(plain(&text[..length])),
    }
}

/// The texts that a module assigns to names.
#[derive(Debug, Default)]
pub(crate) struct AssignedTexts<'module> {
    /// The texts by their names, and where they are written. A value that is no text is `None`.
    pub(crate) texts: BTreeMap<&'module str, (Option<LiteralText>, Span)>,
    /// Whether some may be missing, because the module has errors, or is too large to be parsed.
    pub(crate) is_broken: bool,
}

/// The texts that are assigned to names at the top level of a module, or in the classes there. The last assignment to a
/// name counts.
pub(crate) fn assigned(module: &str, in_classes: bool) -> AssignedTexts<'_> {
    let Some(tree) = super::parse(module.as_bytes()) else {
        return AssignedTexts {
            is_broken: true,
            ..AssignedTexts::default()
        };
    };
    let root = tree.root_node();
    let mut texts = BTreeMap::new();
    let mut cursor = root.walk();
    for statement in root.named_children(&mut cursor) {
        if !in_classes {
            add(statement, module, &mut texts);
            continue;
        }
        let is_class = statement.kind() == "class_definition";
        let Some(body) = statement.child_by_field_name("body").filter(|_| is_class) else {
            continue;
        };
        let mut cursor = body.walk();
        for statement in body.named_children(&mut cursor) {
            add(statement, module, &mut texts);
        }
    }
    AssignedTexts {
        texts,
        is_broken: root.has_error(),
    }
}

/// Adds the names and the value of an assignment such as `A = B = "text"`.
fn add<'module>(
    statement: Node<'_>,
    module: &'module str,
    texts: &mut BTreeMap<&'module str, (Option<LiteralText>, Span)>,
) {
    let mut next = Some(statement)
        .filter(|statement| statement.kind() == "expression_statement")
        .and_then(|statement| statement.named_child(0));
    let mut names = Vec::new();
    while let Some(node) = next {
        if node.kind() == "assignment" {
            let name = node.child_by_field_name("left");
            let name = name.filter(|name| name.kind() == "identifier");
            names.extend(name.and_then(|name| module.get(name.byte_range())));
            next = node.child_by_field_name("right");
            continue;
        }
        for name in &names {
            let span = Span {
                start: node.start_byte(),
                end: node.end_byte(),
            };
            texts.insert(name, (literal(node, module.as_bytes()), span));
        }
        break;
    }
}

/// The text of an expression; `None` if it is no text, or has to be computed.
pub(super) fn literal(expression: Node<'_>, module: &[u8]) -> Option<LiteralText> {
    let written = |range: Range<usize>| std::str::from_utf8(module.get(range)?).ok();
    let mut text = LiteralText::default();
    let mut rest = vec![expression];
    while let Some(node) = rest.pop() {
        match node.kind() {
            "comment" => {}
            "parenthesized_expression" | "concatenated_string" => {
                let mut cursor = node.walk();
                let parts: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                rest.extend(parts.into_iter().rev());
            }
            "string" => {
                let first = node
                    .child(0)
                    .filter(|first| first.kind() == "string_start")?;
                let last = node.child(node.child_count().checked_sub(1)?);
                let last = last.filter(|last| last.kind() == "string_end" && !last.is_missing())?;
                let prefix = written(first.byte_range())?.to_ascii_lowercase();
                let prefix = prefix.trim_end_matches(['\'', '"']);
                if !matches!(prefix, "" | "r" | "u") {
                    return None;
                }
                let content = written(first.end_byte()..last.start_byte())?;
                text.push_literal(content, first.end_byte(), prefix == "r")?;
            }
            _ => return None,
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a module.
    fn values(module: &str) -> Vec<String> {
        let texts = assigned(module, false).texts.into_iter();
        let lines = texts.map(|(name, (text, _))| {
            let value = text.map(|text| text.value);
            format!("{name} {value:?}")
        });
        lines.collect()
    }

    #[test]
    fn texts_are_those_of_python() {
        for (module, expected) in [
            ("A = 'a'\n", r#"A Some("a")"#),
            ("A = \\\n\"\"\"\na\n\"\"\"\n", r#"A Some("\na\n")"#),
            (
                "A = ('''a\n'''\n  # more\n  \"b\" r'\\n')\n",
                r#"A Some("a\nb\\n")"#,
            ),
            ("A = u'a' 'b'  # end\n", r#"A Some("ab")"#),
            ("A = '''a\\\nb\\'\\q'''\n", r#"A Some("ab'\\q")"#),
            ("A = '\\x41\\u00e9\\101\\0\\t'\n", r#"A Some("AéA\0\t")"#),
            ("A = '''a\r\nb\\\r\nc'''\r\n", r#"A Some("a\nbc")"#),
            ("A = 'a'\nA = 'b'\n", r#"A Some("b")"#),
            ("A = '\\x4'\n", "A None"),
            ("A = '\\x+1'\n", "A None"),
            ("A = '\\u-001'\n", "A None"),
            ("A = '\\ud800'\n", "A None"),
            ("A = '\\N{BULLET}'\n", "A None"),
            ("A = r'\\N{BULLET}\\x+1'\n", r#"A Some("\\N{BULLET}\\x+1")"#),
            ("A = '\\g\\8'\n", r#"A Some("\\g\\8")"#),
            ("A = f'a'\n", "A None"),
            ("A = b'a'\n", "A None"),
            ("A = 'a' + B\n", "A None"),
            ("A = dict(a=1)\n", "A None"),
            ("A = ''\n", r#"A Some("")"#),
        ] {
            assert_eq!(values(module), [expected], "{module}");
        }
        assert_eq!(
            values("A = B = 'a'\nC.d = 'c'\nif A:\n    E = 'e'\n"),
            [r#"A Some("a")"#, r#"B Some("a")"#]
        );
        assert_eq!(values("A = '''a"), ["A None"]);
    }

    #[test]
    fn places_in_a_text_are_places_in_the_module() {
        let module = "A = ('a\\tb'\n  '''c\\\nd''')\n";
        let (text, _) = &assigned(module, false).texts["A"];
        let text = text.as_ref().expect("a text");
        assert_eq!(text.value, "a\tbcd");
        for (at, character) in text.value.char_indices() {
            let place = text.written_at(Span { start: at, end: at });
            let expected = if character == '\t' { '\\' } else { character };
            assert!(module[place.start..].starts_with(expected), "{character}");
        }
    }
}
