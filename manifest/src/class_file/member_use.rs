//! Uses of classes in the bodies of methods: members of their own object, and the creation of objects.
//!
//! Bodies are not interpreted. Only two forms are recognized in their text, because their meaning does not depend
//! on values: `$this.name`, with or without a call, and `new(Class, ...)`.

use std::collections::BTreeMap;

use super::yaql::{Token, TokenKind, tokenize};
use crate::diagnostic::Located;
use crate::name::ClassName;

/// The arguments of a call, without their values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallArguments {
    /// The number of arguments by position.
    pub positional: usize,
    /// The names of the arguments by name, in order.
    pub named: Vec<String>,
}

/// A use of a member of the object itself in the body of a method, such as `$this.port` or `$this.deploy(force => true)`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberUse {
    /// The name of the property or method.
    pub member: Located<String>,
    /// The arguments, if it is a call.
    pub call: Option<CallArguments>,
}

/// The creation of an object in the body of a method: `new(Class, ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectCreation {
    /// The class of the object.
    pub class: Located<ClassName>,
    /// Whether the name has dots and no quotes: the engine does not read it as the name of a class.
    pub is_unquoted: bool,
    /// The arguments after the class. Those by name are values of properties, or arguments of the initializer.
    pub arguments: CallArguments,
}

/// A use as written in an expression.
#[derive(Debug, PartialEq)]
pub(super) enum WrittenUse<'text> {
    Member {
        name: &'text str,
        call: Option<CallArguments>,
    },
    Creation {
        class: &'text str,
        is_quoted: bool,
        arguments: CallArguments,
    },
}

/// The uses in an expression, in order.
pub(super) fn written_uses(text: &str) -> Vec<WrittenUse<'_>> {
    // Most expressions have neither, and need not be split.
    if !text.contains("$this") && !text.contains("new") {
        return Vec::new();
    }
    let tokens = tokenize(text).unwrap_or_default();
    let mut calls = calls(&tokens);
    let mut uses = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at..] {
            [
                Token {
                    kind: TokenKind::Word("new"),
                    ..
                },
                Token {
                    kind: TokenKind::Symbol("("),
                    ..
                },
                Token {
                    kind: kind @ (TokenKind::Word(class) | TokenKind::Text(class)),
                    ..
                },
                ..,
            ] => {
                let mut arguments = calls.remove(&(at + 1)).unwrap_or_default();
                // The first one is the class.
                arguments.positional = arguments.positional.saturating_sub(1);
                uses.push(WrittenUse::Creation {
                    class,
                    is_quoted: matches!(kind, TokenKind::Text(_)),
                    arguments,
                });
            }
            [
                Token {
                    kind: TokenKind::Variable("$this"),
                    ..
                },
                Token {
                    kind: TokenKind::Symbol("."),
                    ..
                },
                Token {
                    kind: TokenKind::Word(written),
                    ..
                },
                rest @ ..,
            ] => {
                // `$this.a.b` reads the property `b` of the property `a`.
                let name = written.split('.').next().unwrap_or(written);
                let is_call = name == *written
                    && matches!(
                        rest.first(),
                        Some(Token {
                            kind: TokenKind::Symbol("("),
                            ..
                        })
                    );
                let call = is_call.then(|| calls.remove(&(at + 3))).flatten();
                if name.contains(':') || is_call && call.is_none() {
                    continue;
                }
                uses.push(WrittenUse::Member { name, call });
            }
            _ => {}
        }
    }
    uses
}

/// A bracket that is not closed yet.
struct OpenArguments {
    at: usize,
    /// Where the last argument begins.
    argument: usize,
    arguments: CallArguments,
}

impl OpenArguments {
    fn end_argument(&mut self, tokens: &[Token<'_>], end: usize) {
        match &tokens[self.argument..end] {
            [] => {}
            [
                Token {
                    kind: TokenKind::Word(name),
                    ..
                },
                Token {
                    kind: TokenKind::Symbol("=>"),
                    ..
                },
                ..,
            ] => self.arguments.named.push((*name).to_owned()),
            _ => self.arguments.positional += 1,
        }
        self.argument = end + 1;
    }
}

/// The arguments of all calls that are closed, by the positions of their opening parentheses. Calls can be nested
/// deeply, so each token is looked at once.
fn calls(tokens: &[Token<'_>]) -> BTreeMap<usize, CallArguments> {
    let mut calls = BTreeMap::new();
    let mut open: Vec<OpenArguments> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Symbol("(" | "[" | "{") => open.push(OpenArguments {
                at,
                argument: at + 1,
                arguments: CallArguments::default(),
            }),
            TokenKind::Symbol(",") => {
                if let Some(innermost) = open.last_mut() {
                    innermost.end_argument(tokens, at);
                }
            }
            TokenKind::Symbol(")" | "]" | "}") => {
                if let Some(mut closed) = open.pop() {
                    closed.end_argument(tokens, at);
                    calls.insert(closed.at, closed.arguments);
                }
            }
            _ => {}
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(positional: usize, named: &[&str]) -> CallArguments {
        CallArguments {
            positional,
            named: named.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn member(name: &str, call: Option<CallArguments>) -> WrittenUse<'_> {
        WrittenUse::Member { name, call }
    }

    #[test]
    fn members_of_the_object_are_found() {
        assert_eq!(
            written_uses("$this.port + $this.host.name"),
            [member("port", None), member("host", None)]
        );
        assert_eq!(
            written_uses("$this.deploy(1, f($a, $b), force => true).wait()"),
            [member("deploy", Some(arguments(2, &["force"])))]
        );
        assert_eq!(
            written_uses("$this.a($this.b())"),
            [
                member("a", Some(arguments(1, &[]))),
                member("b", Some(arguments(0, &[])))
            ]
        );
        assert_eq!(
            written_uses("$this.a([1, 2], {x => $this.b(3, y => 4, z => 5)})"),
            [
                member("a", Some(arguments(2, &[]))),
                member("b", Some(arguments(1, &["y", "z"])))
            ]
        );
        assert!(written_uses("$.port").is_empty());
        assert!(written_uses("'$this.port").is_empty());
        assert!(written_uses("$this.open(").is_empty());
    }

    #[test]
    fn creations_are_found() {
        let creation = |class, arguments| WrittenUse::Creation {
            class,
            is_quoted: class == ":B",
            arguments,
        };
        assert_eq!(
            written_uses("new(sys:Resources, $this.owner, x => new(':B'))"),
            [
                creation("sys:Resources", arguments(1, &["x"])),
                member("owner", None),
                creation(":B", arguments(0, &[])),
            ]
        );
        assert!(written_uses("renew(x)").is_empty());
        assert_eq!(
            written_uses("new(A, 1"),
            [creation("A", CallArguments::default())]
        );
    }
}
