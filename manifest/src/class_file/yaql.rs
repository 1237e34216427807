//! Tokens of YAQL, the expression language of class files, as far as declarations need them.

/// A token and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'text> {
    pub(super) kind: TokenKind<'text>,
    pub(super) start: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'text> {
    /// `$` or `$name`.
    Variable(&'text str),
    /// A word, a dotted name or a name with a prefix: `class`, `io.murano.Object`, `std:Object`.
    Word(&'text str),
    /// A quoted text, without its quotes and with its escapes as written.
    Text(&'text str),
    /// A number as written.
    Number(&'text str),
    /// Any other character, or one of `=>`, `<=`, `>=`, `!=`.
    Symbol(&'text str),
}

/// Splits an expression into tokens; `None` if a quoted text is not closed.
pub(super) fn tokenize(text: &str) -> Option<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let word_end = |from: usize| {
        from + text[from..]
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count()
    };
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'$' => {
                at = word_end(at + 1);
                TokenKind::Variable(&text[start..at])
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' => {
                at = name_end(text, at, &word_end);
                if at == start {
                    at += 1;
                    TokenKind::Symbol(&text[start..at])
                } else {
                    TokenKind::Word(&text[start..at])
                }
            }
            b'0'..=b'9' => {
                at = word_end(at);
                if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
                {
                    at = word_end(at + 1);
                }
                TokenKind::Number(&text[start..at])
            }
            quote @ (b'\'' | b'"' | b'`') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
                TokenKind::Text(text.get(start + 1..at - 1)?)
            }
            _ => {
                let two = text.get(at..at + 2).unwrap_or("");
                at += if matches!(two, "=>" | "<=" | ">=" | "!=") {
                    2
                } else {
                    text[at..].chars().next().map_or(1, char::len_utf8)
                };
                TokenKind::Symbol(&text[start..at])
            }
        };
        tokens.push(Token { kind, start });
    }
    Some(tokens)
}

/// The end of `word`, `a.b.Word`, `prefix:Word` or `:Word`.
fn name_end(text: &str, start: usize, word_end: &impl Fn(usize) -> usize) -> usize {
    let bytes = text.as_bytes();
    let begins_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    };
    let mut at = start;
    if bytes[at] == b':' {
        return if begins_word(at + 1) {
            word_end(at + 1)
        } else {
            start
        };
    }
    at = word_end(at);
    if bytes.get(at) == Some(&b':') && begins_word(at + 1) {
        return word_end(at + 1);
    }
    while bytes.get(at) == Some(&b'.') && begins_word(at + 1) {
        let end = word_end(at + 1);
        // `a.b(` calls a method of `a`; it is not the name `a.b`.
        if bytes.get(end) == Some(&b'(') {
            break;
        }
        at = end;
    }
    at
}

/// The number of tokens before the parenthesis that closes a call, whose tokens begin after the opening one.
pub(super) fn closing_parenthesis(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| match token.kind {
        TokenKind::Symbol("(" | "[" | "{") => {
            depth += 1;
            false
        }
        TokenKind::Symbol(")") if depth == 0 => true,
        TokenKind::Symbol(")" | "]" | "}") => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => false,
    })
}

/// Splits tokens at the commas outside of parentheses.
pub(super) fn split_arguments<'tokens, 'text>(
    tokens: &'tokens [Token<'text>],
) -> Vec<&'tokens [Token<'text>]> {
    let mut depth = 0_usize;
    tokens
        .split(|token| {
            match token.kind {
                TokenKind::Symbol("(" | "[" | "{") => depth += 1,
                TokenKind::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                TokenKind::Symbol(",") => return depth == 0,
                _ => {}
            }
            false
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_split_into_tokens() {
        use TokenKind::{Number, Symbol, Text, Variable, Word};
        let kinds = |text| -> Vec<_> {
            tokenize(text)
                .expect("well-formed")
                .into_iter()
                .map(|token| token.kind)
                .collect()
        };
        assert_eq!(
            kinds("$.class(res:Instance, null, '>=1').notNull()"),
            [
                Variable("$"),
                Symbol("."),
                Word("class"),
                Symbol("("),
                Word("res:Instance"),
                Symbol(","),
                Word("null"),
                Symbol(","),
                Text(">=1"),
                Symbol(")"),
                Symbol("."),
                Word("notNull"),
                Symbol("("),
                Symbol(")"),
            ]
        );
        assert_eq!(
            kinds("$x >= 1.5"),
            [Variable("$x"), Symbol(">="), Number("1.5")]
        );
        assert_eq!(kinds("io.murano.Object"), [Word("io.murano.Object")]);
        assert_eq!(tokenize("'open"), None);
        assert_eq!(tokenize("'open\\"), None);
        assert_eq!(kinds("\u{e9}"), [Symbol("\u{e9}")]);
    }
}
