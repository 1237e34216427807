//! Which texts the deployment engine reads as YAQL expressions: those that have a character which words and numbers do
//! not have, and that its grammar accepts.
//!
//! What an expression means does not matter here, so precedence does not either: the grammar accepts the same texts
//! with any. One pass over the characters keeps the open brackets on a stack, and whether a value or an operator comes
//! next.
//!
//! Source of the rules: the lexer and the grammar of the package `yaql`, and the operators that
//! `murano/dsl/yaql_integration.py` adds (`is`, and `:` as a prefix and between values).

use crate::document::{Scalar, Style};

/// Whether the deployment engine reads a scalar as an expression, and not as text, a number, a date or a word.
pub(super) fn is_expression(scalar: &Scalar) -> bool {
    scalar.style == Style::Plain
        && !is_word(&scalar.text)
        && scalar.is_text()
        && is_well_formed(&scalar.text)
}

/// Whether a text has only characters of words and numbers. Such a text is never an expression.
pub(super) fn is_word(text: &str) -> bool {
    let mut characters = text.chars();
    characters.all(|it| it.is_alphanumeric() || it.is_whitespace() || matches!(it, '_' | '.'))
}

/// A token, as far as the grammar distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GrammarToken {
    /// A variable, a word, a number or a quoted text.
    Value,
    /// The beginning of a call, with its opening parenthesis.
    Call,
    /// `(`.
    Parenthesis,
    /// `[`, which begins a list or an index.
    Bracket,
    /// `{`.
    Brace,
    /// `)`, `]` or `}`.
    Closing(char),
    Comma,
    /// `=>`.
    Mapping,
    /// An operator between two values.
    Binary,
    /// An operator before a value.
    Prefix,
    /// `+`, `-` or `:`, which are both.
    Either,
}

/// What the grammar accepts next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedNext {
    /// An argument, nothing in its place, or the end of the arguments.
    Argument,
    /// A value.
    Value,
    /// An operator, or the end of a value.
    Operator,
}

/// The arguments that an open bracket has so far.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum BracketArguments {
    #[default]
    None,
    Positional,
    /// Others may have been before them.
    Named,
}

/// An open bracket.
#[derive(Default)]
struct OpenBracket {
    closing: char,
    /// Whether this is a parenthesis around one value, which takes no arguments.
    is_around_value: bool,
    arguments: BracketArguments,
    /// Whether the current argument has a name.
    is_named: bool,
    /// The number of commas since the argument before the current one.
    commas: usize,
}

impl OpenBracket {
    fn of(closing: char) -> Self {
        Self {
            closing,
            ..Self::default()
        }
    }

    /// Ends an argument; `false` if an argument without a name comes after one with a name.
    fn end_argument(&mut self) -> bool {
        if self.is_named {
            self.arguments = BracketArguments::Named;
        } else if self.arguments == BracketArguments::Named {
            return false;
        } else {
            self.arguments = BracketArguments::Positional;
        }
        self.is_named = false;
        self.commas = 0;
        true
    }

    /// Makes the current value a name; `false` if there can be none.
    fn begin_named(&mut self) -> bool {
        let is_possible = match self.arguments {
            BracketArguments::None => self.commas == 0,
            BracketArguments::Positional => self.commas <= 2,
            BracketArguments::Named => true,
        };
        let is_first = !self.is_named;
        self.is_named = true;
        is_possible && is_first && !self.is_around_value
    }
}

/// Whether the grammar accepts a text as an expression.
pub(super) fn is_well_formed(text: &str) -> bool {
    let mut open: Vec<OpenBracket> = Vec::new();
    let mut next = ExpectedNext::Value;
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.is_empty() {
            return next == ExpectedNext::Operator && open.is_empty();
        }
        let before = text[..text.len() - rest.len()].chars().next_back();
        let Some((token, length)) = token(rest, before) else {
            return false;
        };
        rest = &rest[length..];
        next = match (token, next) {
            (GrammarToken::Value, ExpectedNext::Argument | ExpectedNext::Value) => {
                ExpectedNext::Operator
            }
            (
                GrammarToken::Prefix | GrammarToken::Either,
                ExpectedNext::Argument | ExpectedNext::Value,
            )
            | (GrammarToken::Binary | GrammarToken::Either, ExpectedNext::Operator) => {
                ExpectedNext::Value
            }
            (GrammarToken::Parenthesis, ExpectedNext::Argument | ExpectedNext::Value) => {
                let mut parenthesis = OpenBracket::of(')');
                parenthesis.is_around_value = true;
                open.push(parenthesis);
                ExpectedNext::Value
            }
            (GrammarToken::Call, ExpectedNext::Argument | ExpectedNext::Value) => {
                open.push(OpenBracket::of(')'));
                ExpectedNext::Argument
            }
            (GrammarToken::Brace, ExpectedNext::Argument | ExpectedNext::Value) => {
                open.push(OpenBracket::of('}'));
                ExpectedNext::Argument
            }
            // A list, or an index after a value.
            (GrammarToken::Bracket, _) => {
                open.push(OpenBracket::of(']'));
                ExpectedNext::Argument
            }
            (GrammarToken::Comma, ExpectedNext::Argument | ExpectedNext::Operator) => {
                let Some(bracket) = open.last_mut().filter(|it| !it.is_around_value) else {
                    return false;
                };
                let is_ended = match next {
                    ExpectedNext::Operator => bracket.end_argument(),
                    // No argument can be left out after one with a name.
                    _ => bracket.arguments != BracketArguments::Named,
                };
                if !is_ended {
                    return false;
                }
                bracket.commas += 1;
                ExpectedNext::Argument
            }
            (GrammarToken::Mapping, ExpectedNext::Operator) => {
                if !open.last_mut().is_some_and(OpenBracket::begin_named) {
                    return false;
                }
                ExpectedNext::Value
            }
            (GrammarToken::Closing(closing), ExpectedNext::Argument | ExpectedNext::Operator) => {
                let Some(mut bracket) = open.pop().filter(|it| it.closing == closing) else {
                    return false;
                };
                let is_ended = match next {
                    ExpectedNext::Operator => bracket.end_argument(),
                    _ => bracket.arguments == BracketArguments::None && bracket.commas == 0,
                };
                if !is_ended {
                    return false;
                }
                ExpectedNext::Operator
            }
            _ => return false,
        };
    }
}

/// The token that a text begins with, and its length. `before` is the character before the text.
fn token(text: &str, before: Option<char>) -> Option<(GrammarToken, usize)> {
    let word_length = |text: &str| text.find(|it| !is_word_character(it)).unwrap_or(text.len());
    let mut characters = text.chars();
    let first = characters.next()?;
    let second = characters.next();
    if first == '$' {
        return Some((GrammarToken::Value, 1 + word_length(&text[1..])));
    }
    if is_word_character(first) {
        // A word cannot begin in the middle of another one, as after `1` in `1x`.
        if before.is_some_and(is_word_character) {
            return None;
        }
        let length = word_length(text);
        if first.is_numeric() {
            return number_length(text, length).map(|length| (GrammarToken::Value, length));
        }
        if text[length..].starts_with('(') {
            return Some((GrammarToken::Call, length + 1));
        }
        let token = match &text[..length] {
            "mod" | "in" | "and" | "or" | "is" => GrammarToken::Binary,
            "not" => GrammarToken::Prefix,
            word if word.starts_with("__") => return None,
            _ => GrammarToken::Value,
        };
        return Some((token, length));
    }
    let token = match (first, second) {
        ('\'' | '"' | '`', _) => {
            return quoted_length(text, first).map(|length| (GrammarToken::Value, length));
        }
        ('?', Some('.'))
        | ('=' | '!', Some('~'))
        | ('!' | '>' | '<', Some('='))
        | ('-', Some('>')) => {
            return Some((GrammarToken::Binary, 2));
        }
        ('=', Some('>')) => return Some((GrammarToken::Mapping, 2)),
        ('.' | '*' | '/' | '>' | '<' | '=', _) => GrammarToken::Binary,
        ('+' | '-' | ':', _) => GrammarToken::Either,
        ('(', _) => GrammarToken::Parenthesis,
        ('[', _) => GrammarToken::Bracket,
        ('{', _) => GrammarToken::Brace,
        (')' | ']' | '}', _) => GrammarToken::Closing(first),
        (',', _) => GrammarToken::Comma,
        _ => return None,
    };
    Some((token, 1))
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of the number that a text begins with; `word` is that of its first word. A fraction belongs to it.
fn number_length(text: &str, word: usize) -> Option<usize> {
    if !text[..word].chars().all(char::is_numeric) {
        return None;
    }
    let fraction = text[word..].strip_prefix('.').map(|rest| {
        let end = rest.find(|it| !is_word_character(it));
        &rest[..end.unwrap_or(rest.len())]
    });
    let is_fraction = |digits: &&str| !digits.is_empty() && digits.chars().all(char::is_numeric);
    Some(
        fraction
            .filter(is_fraction)
            .map_or(word, |it| word + 1 + it.len()),
    )
}

/// The length of a quoted text with its quotes. No line ends after a backslash.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == quote {
            return Some(at + 1);
        }
        if character == '\\' {
            characters.next().filter(|(_, escaped)| *escaped != '\n')?;
        }
    }
    None
}
