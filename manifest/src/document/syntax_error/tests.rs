//! Each mistake with its message, its place and its hint.

use super::*;
use crate::document::{Syntax, parse_yaml};

/// The first finding on a text, with the text of its place.
fn found(text: &str) -> (String, String, String) {
    let source = SourceText::new("text", text);
    let syntax = Syntax {
        depth: 64,
        nodes: 1000,
        yaql_tag: false,
        is_foreign: false,
    };
    let finding = parse_yaml(&source, syntax).diagnostics.remove(0);
    let span = finding.labels[0].location.span();
    let place = text[span.start..span.end].to_owned();
    (finding.message, place, finding.hints.join(" | "))
}

fn check(text: &str, message: &str, place: &str, hint: &str) {
    let expected = [message, place, hint].map(str::to_owned);
    let (message, place, hint) = found(text);
    assert_eq!([message, place, hint], expected, "{text:?}");
}

#[test]
fn tabs() {
    let message = "a line is indented with a tab";
    check("a:\n\tb: 1\n", message, "\t", "use spaces");
    check("a:\n  c: 1\n  \t\tb: 1\n", message, "\t\t", "use spaces");
}

#[test]
fn carriage_returns() {
    let message = "a carriage return without a line feed ends the line";
    let hint = "remove it, or write a line feed after it";
    check("a: 1\nb: x\ry\nc: 2\n", message, "\r", hint);
    check("a: 1\r\nb: x\r  y: z\r\nc: 2\r\n", message, "\r", hint);
}

#[test]
fn quotes() {
    let message = "a quote is not closed";
    check("a: \"b\nc: d\n", message, "\"", "write \"b\"");
    check("a:\n  b: '1 # x\n  c: '2'\n", message, "'", "write '1'");
    check("a: 'b\n", message, "'", "write 'b'");
    // A quoted text with what begins a comment elsewhere.
    check("{\"a: #b\": 1, \"c\n", message, "\"", "write \"c\"");
    check(
        "a: 'it's mine'\n",
        "there is text after the closing quote",
        "s mine'",
        "inside of single quotes, write `''` for an apostrophe",
    );
    check(
        "a: \"one\" two\n",
        "there is text after the closing quote",
        "two",
        "inside of double quotes, write `\\\"` for a quote",
    );
}

#[test]
fn colons() {
    let message = "a blank is missing after the colon";
    check("a:b\nc: d\n", message, ":", "write `a: b`");
    check("a: b\nc:d e # x\nf: g\n", message, ":", "write `c: d e`");
    check("a: b\n- c:d\n  e: f\n", message, ":", "write `c: d`");
    check(
        "a: b\nc\n  d: e\n",
        "a colon is missing after the key",
        "c",
        "write `c:`",
    );
    check(
        "a: the \"b\": c\n",
        "a value with a colon must be quoted",
        "the \"b\": c",
        "write \"the \\\"b\\\": c\"",
    );
}

#[test]
fn indentation() {
    let message = "the indentation fits no line above";
    let line = "indent this line by 2 spaces, like `b:`";
    check("a:\n  b: 1\n   c: 2\n", message, "c: 2", line);
    check(
        "a:\n    b: 1\n   c: 2\n",
        message,
        "c: 2",
        "indent this line by 4 spaces, like `b:`",
    );
    check(
        "a: 1\n b: 2\n",
        message,
        "b: 2",
        "do not indent this line, like `a:`",
    );
}

#[test]
fn brackets() {
    let message = "the bracket `[` is not closed";
    let hint = "close it with `]`, or put the value in quotes if it is text";
    check("a: [b, ']', c\nd: e\n", message, "[", hint);
    check("a: [[b], c\n", message, "[", hint);
    let message = "the bracket `{` is not closed";
    let hint = "close it with `}`, or put the value in quotes if it is text";
    check("a: {b: c\nd: e\n", message, "{", hint);
}

#[test]
fn reserved_characters() {
    check(
        "a: @b\n",
        "a value that begins with `@` must be quoted",
        "@b",
        "write \"@b\"",
    );
}

#[test]
fn blanks_in_scalars() {
    assert_eq!(with_blank("c.D:1").as_deref(), Some("c.D: 1"));
    assert_eq!(with_blank("c.D:>=1 x").as_deref(), Some("c.D: >=1 x"));
    assert_eq!(with_blank("c.D:1 c.E:2").as_deref(), Some("c.D: 1"));
    for other in ["", "c.D", "https://example.org", "a::b:", "1:2", "a b:c"] {
        assert_eq!(with_blank(other), None, "{other}");
    }
}
