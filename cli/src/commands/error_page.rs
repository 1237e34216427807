//! The pages about error codes and about the rules of compatibility: sections of `docs/errors.md`,
//! `docs/compatibility.md` and `docs/compatibility-elsewhere.md`, whose examples are run by tests.

use pkgres_checks::{ApiRule, RecordRule};
use pkgres_manifest::diagnostic::Code;

use crate::show;

/// The page of the book. The link beside the sources makes it a part of the published crate.
const PAGES: &str = include_str!("../../errors.md");

/// The page of the book about rules.
const RULES: &str = include_str!("../../compatibility.md");

/// The page of the book about rules for ecosystems other than class packages.
const RECORD_RULES: &str = include_str!("../../compatibility-elsewhere.md");

/// The page about a code, as Markdown without its heading mark.
pub(super) fn of(code: Code) -> &'static str {
    section(PAGES, &code.to_string())
}

/// The page about a rule, as Markdown without its heading mark.
pub(super) fn of_rule(rule: ApiRule) -> &'static str {
    section(RULES, rule.id())
}

/// The page about a rule of another ecosystem that has no counterpart for class packages, as Markdown without its heading
/// mark.
pub(super) fn of_record_rule(rule: RecordRule) -> &'static str {
    section(RECORD_RULES, rule.id())
}

fn section(pages: &'static str, subject: &str) -> &'static str {
    let heading = format!("{subject}: ");
    let mut sections = pages.split("\n## ").skip(1);
    let section = sections.find(|section| section.starts_with(&heading));
    section
        .expect("a test compares the page with its subjects")
        .trim_end()
}

/// What a code means, without example and remedy.
pub(super) fn meaning(code: Code) -> String {
    let lines: Vec<&str> = code.explanation().lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}

/// Markdown for a terminal: without comments for tests, and with indented blocks. With a width, paragraphs are filled,
/// and what commands print is broken like in a terminal. Commands and files stay as they are.
pub(super) fn as_text(markdown: &str, width: Option<usize>) -> String {
    let mut text = String::new();
    let mut paragraph = Vec::new();
    let mut is_inside = false;
    let mut is_output = false;
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let is_plain = !line.is_empty() && !line.starts_with(['<', '|', '-', '#']);
        if is_plain && !is_fence && !is_inside {
            paragraph.push(line);
            continue;
        }
        fill(&mut paragraph, width, &mut text);
        if is_fence {
            is_inside = !is_inside;
            is_output = line == "```console" || line == "```text";
        } else if is_inside && !line.is_empty() {
            let is_fixed = !is_output || line.starts_with("$ ");
            let line = format!("    {line}\n");
            text.push_str(&match width {
                Some(width) if !is_fixed => show::wrapped(&line, width),
                _ => line,
            });
        } else if is_inside {
            text.push('\n');
        } else if !line.starts_with("<!-- ") {
            let line = format!("{line}\n");
            text.push_str(&match width {
                Some(width) => show::wrapped(&line, width),
                None => line,
            });
        }
    }
    fill(&mut paragraph, width, &mut text);
    text
}

/// The widest lines of filled paragraphs, in columns.
const MAX_WIDTH: usize = 100;

/// Takes the lines of a paragraph, and adds it in lines that fit the width, if there is one.
fn fill(paragraph: &mut Vec<&str>, width: Option<usize>, text: &mut String) {
    let lines = std::mem::take(paragraph);
    let Some(width) = width else {
        for line in lines {
            text.push_str(&format!("{line}\n"));
        }
        return;
    };
    let mut column = 0;
    let words = lines.join(" ");
    for word in show::words(&words) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width.min(MAX_WIDTH) {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    if !lines.is_empty() {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_left_out() {
        let markdown =
            "Title\n\n`a`:\n```yaml\nb: c\n\nd: e\n```\n\n<!-- exit: 1 -->\n```console\n$ f\n```\n";
        let text = "Title\n\n`a`:\n    b: c\n\n    d: e\n\n    $ f\n";
        assert_eq!(as_text(markdown, None), text);
    }

    #[test]
    fn paragraphs_and_output_fit_a_narrow_terminal() {
        let markdown = "PK1: a title\n\nSome words in a row\nthat go on with `on and on`.\n\n```yaml\na: line that is not broken\n```\n\n\
                        ```console\n$ a command that is not broken\nan error that is broken\n```\n";
        let filled = "PK1: a title\n\nSome words in a row\nthat go on with\n`on and on`.\n\n    a: line that is not broken\n\n\
                      \x20   $ a command that is not broken\n    an error that is\n      broken\n";
        assert_eq!(as_text(markdown, Some(20)), filled);
    }
}
