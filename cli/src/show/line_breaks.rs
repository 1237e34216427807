//! Breaks lines so that they fit the width of a terminal.

use super::columns::{columns, without_styles};

/// The narrowest terminal for which lines are broken.
const LEAST_WIDTH: usize = 20;

/// Text whose lines fit a terminal, as far as its words do. The rest of a line is indented below it. A command in
/// backticks is one word, so that it can be copied, and quoted source lines stay as they are.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    if width < LEAST_WIDTH {
        return text.to_owned();
    }
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if columns(line) <= width || is_source(line) {
            wrapped.push_str(line);
        } else {
            wrap_line(line, width, &mut wrapped);
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// Whether a line is a part of a quoted source: it has the margin with line numbers.
fn is_source(line: &str) -> bool {
    let plain = without_styles(line);
    let margin =
        plain.trim_start_matches(|character: char| character == ' ' || character.is_ascii_digit());
    margin.starts_with('|') || margin.starts_with("-->") || margin.starts_with(":::")
}

fn wrap_line(line: &str, width: usize, wrapped: &mut String) {
    let content = line.trim_start_matches(' ');
    let indentation = line.len() - content.len();
    let hanging = " ".repeat((indentation + 4).min(width / 3));
    wrapped.push_str(&line[..indentation]);
    let mut column = indentation;
    let mut is_first = true;
    for word in words(content) {
        let length = columns(word);
        if !is_first && column + 1 + length > width {
            wrapped.push('\n');
            wrapped.push_str(&hanging);
            column = hanging.len();
        } else if !is_first {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += length;
        is_first = false;
    }
}

/// The words of a line; what is in backticks is a part of one word.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |character: char| {
        is_quoted ^= character == '`';
        character == ' ' && !is_quoted
    })
    .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_words_stay_whole() {
        let text = "hint: the versions of org.example.Database are 1.0.0 and 2.0.0: `pkgres add a b`\nshort\n";
        let narrow = wrapped(text, 40);
        assert_eq!(
            narrow,
            "hint: the versions of\n    org.example.Database are 1.0.0 and\n    2.0.0: `pkgres add a b`\nshort\n"
        );
        assert_eq!(wrapped(text, 200), text);
        let styled = "\u{1b}[1mhint\u{1b}[0m: one two three four";
        assert_eq!(wrapped(styled, 27), styled);
        let source = "12 | a line of a file that is longer than the terminal is wide";
        assert_eq!(wrapped(source, 30), source);
        let long = "a verylongwordthatdoesnotfitintothelineofaterminal b";
        assert_eq!(
            wrapped(long, 20),
            "a\n    verylongwordthatdoesnotfitintothelineofaterminal\n    b"
        );
    }
}
