//! The options that a task sets, found by pattern below the name of its module.

use std::collections::BTreeSet;

/// The most lines before and behind the name of a module that are looked at: a longer task may set any option.
const MAX_LINES: usize = 500;

/// A line of a task: where its content begins, and what that is.
struct Line<'text> {
    /// The column of the content, behind the dashes of lists.
    column: usize,
    /// Whether there is a dash before the content: a task begins here.
    has_dash: bool,
    content: &'text str,
}

/// Splits a line; `None` if it is blank or a comment.
fn split(line: &str) -> Option<Line<'_>> {
    let mut content = line.trim_start_matches(' ');
    let mut has_dash = false;
    while let Some(rest) = content.strip_prefix("- ") {
        has_dash = true;
        content = rest.trim_start_matches(' ');
    }
    let column = line.len() - content.len();
    let content = content.trim_end();
    let is_empty = content.is_empty() || content.starts_with('#');
    (!is_empty).then_some(Line {
        column,
        has_dash,
        content,
    })
}

/// The key of a line, and what is behind its colon.
fn key_of(content: &str) -> Option<(&str, &str)> {
    let (key, value) = content.split_once(':')?;
    let is_key = value.is_empty() || value.starts_with([' ', '\t']);
    let key = key.trim().trim_matches(['"', '\'']);
    let is_plain = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '.');
    (is_key && !key.is_empty() && key.chars().all(is_plain)).then_some((key, value.trim()))
}

/// The options that a task sets. `line` is the first byte of the line that names the module. `None` if they are not written
/// one by one, so that any option may be set.
pub(super) fn task_options(text: &str, line: usize) -> Option<BTreeSet<String>> {
    let (before, from) = text.split_at(line);
    let mut lines = from.lines();
    let module = split(lines.next()?)?;
    let (_, value) = key_of(module.content)?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    let mut options = BTreeSet::new();
    if !(value.is_empty() || value == "{}" || value.starts_with('#')) {
        return None;
    }
    let mut column: Option<usize> = None;
    let mut is_below = true;
    for (number, line) in lines.enumerate() {
        if number == MAX_LINES {
            return None;
        }
        let Some(line) = split(line) else {
            continue;
        };
        if line.column > module.column {
            let first = *column.get_or_insert(line.column);
            // What is deeper belongs to the value of an option.
            if is_below && line.column <= first {
                let (key, _) = key_of(line.content).filter(|_| !line.has_dash)?;
                options.insert(key.to_owned());
            }
            continue;
        }
        is_below = false;
        column.get_or_insert(0);
        if line.column < module.column || line.has_dash {
            break;
        }
        if is_args(&line) {
            return None;
        }
    }
    if !module.has_dash {
        for (number, line) in before.lines().rev().enumerate() {
            if number == MAX_LINES {
                return None;
            }
            let Some(line) = split(line) else {
                continue;
            };
            if line.column == module.column && is_args(&line) {
                return None;
            }
            if line.column < module.column || line.column == module.column && line.has_dash {
                break;
            }
        }
    }
    Some(options)
}

/// Whether a line has further options of the task.
fn is_args(line: &Line<'_>) -> bool {
    key_of(line.content).is_some_and(|(key, _)| key == "args")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options of the task that has `a.b.c` in the text; `?` if they are unknown.
    fn options(text: &str) -> String {
        let at = text.find("a.b.c").expect("the text has it");
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        match task_options(text, line) {
            Some(options) => options.into_iter().collect::<Vec<_>>().join(" "),
            None => "?".to_owned(),
        }
    }

    #[test]
    fn options_are_those_that_are_written_one_by_one() {
        for (text, expected) in [
            (
                "- a.b.c:\n    x: 1\n    y: {z: 1}\n- debug:\n    no: 1\n",
                "x y",
            ),
            (
                "- name: one\n  a.b.c:\n    x:\n      - z: 1\n        w: 2\n    'y': |\n      v: 1\n  when: u: 1\n",
                "x y",
            ),
            (
                "  - name: one\n    a.b.c:\n\n      # z: 1\n      x: '{{ y }}'\n    register: z\n",
                "x",
            ),
            ("- a.b.c:\n", ""),
            ("- a.b.c: {}\n", ""),
            ("- a.b.c: # nothing\n- args: 1\n", ""),
            ("- block:\n    - a.b.c:\n        x: 1\n  args: 1\n", "x"),
            ("- args: {y: 1}\n- a.b.c:\n    x: 1\n", "x"),
        ] {
            assert_eq!(options(text), expected, "{text}");
        }
    }

    #[test]
    fn options_that_are_given_otherwise_are_unknown() {
        for text in [
            "- a.b.c: x=1\n",
            "- a.b.c: {x: 1}\n",
            "- a.b.c: '{{ x }}'\n",
            "- a.b.c:\n    x: 1\n  args: {y: 1}\n",
            "- args: {y: 1}\n  a.b.c:\n    x: 1\n",
            "- name: one\n  args:\n    y: 1\n  a.b.c:\n    x: 1\n",
            "- a.b.c:\n    <<: *x\n",
            "- a.b.c:\n    - x\n",
            "- a.b.c:\n    {{ x }}\n",
            "- action: a.b.c x=1\n",
        ] {
            assert_eq!(options(text), "?", "{text}");
        }
        let long = "    y: 1\n".repeat(MAX_LINES + 1);
        assert_eq!(options(&format!("- a.b.c:\n{long}")), "?");
        assert_eq!(options(&format!("- x:\n{long}  a.b.c:\n")), "?");
    }
}
