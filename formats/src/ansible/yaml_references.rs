//! Fully qualified names in the YAML of roles and playbooks, found by pattern.
//!
//! Playbooks are templates: much of what they name is in expressions, so they are not parsed as YAML. A name in a
//! comment or in a text can be found by mistake. Nothing depends on it but a report.

use super::name::is_identifier;

/// The most lines below `import_role` and `include_role` in which their `name` is looked for.
const LINES_OF_ROLE: usize = 6;

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPlugin<'text> {
    /// The folder that it is looked up in.
    pub(crate) kind: &'static str,
    /// The name with its collection.
    pub(crate) name: &'text str,
    /// The first byte of its line.
    pub(crate) line: usize,
}

/// The names in a text.
pub(crate) fn find(text: &str) -> Vec<NamedPlugin<'_>> {
    let mut found = Vec::new();
    let mut lines_of_role = 0_usize;
    let mut next_line = 0;
    for line in text.split_inclusive('\n') {
        let at = next_line;
        next_line += line.len();
        let mut add = |kind, name| {
            found.push(NamedPlugin {
                kind,
                name,
                line: at,
            });
        };
        let line = line.trim();
        if line.starts_with('#') {
            continue;
        }
        let item = line.trim_start_matches("- ").trim_start();
        if let Some((key, value)) = item.split_once(':') {
            let value = unquoted(value);
            let key = unquoted(key);
            let last = key.rsplit('.').next().unwrap_or(key);
            if matches!(last, "import_role" | "include_role") {
                lines_of_role = LINES_OF_ROLE;
            } else if is_qualified(key) {
                add("modules", key);
            }
            let names_role = key == "role" || (key == "name" && lines_of_role > 0);
            if names_role && is_qualified(value) {
                add("roles", value);
            }
            if matches!(key, "module" | "action") && is_qualified(value) {
                add("modules", value);
            }
        } else if line.starts_with("- ") && is_qualified(unquoted(item)) {
            // An entry of `roles`.
            add("roles", unquoted(item));
        }
        lines_of_role = lines_of_role.saturating_sub(1);
        for name in lookups(line) {
            add("lookup", name);
        }
    }
    found
}

/// The names in `lookup('a.b.c')` and in its short forms.
fn lookups(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for call in ["lookup(", "query(", "q("] {
        for (at, _) in line.match_indices(call) {
            let is_word = line[..at]
                .chars()
                .next_back()
                .is_none_or(|before| !before.is_alphanumeric() && before != '_');
            let argument = line[at + call.len()..].trim_start();
            let quote = argument.chars().next();
            let Some(quote) = quote.filter(|quote| matches!(quote, '\'' | '"')) else {
                continue;
            };
            let name = argument[1..].split(quote).next().unwrap_or_default();
            if is_word && is_qualified(name) {
                found.push(name);
            }
        }
    }
    found
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Whether a text is a name with its collection.
fn is_qualified(text: &str) -> bool {
    text.split('.').count() >= 3 && text.split('.').all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of each name.
    fn lines_of(text: &str) -> Vec<&str> {
        let lines = find(text).into_iter();
        let lines = lines.map(|found| text[found.line..].lines().next().expect("a line"));
        lines.collect()
    }

    #[test]
    fn names_are_found_where_they_mean_something() {
        let text = "# acme.net.comment:\n- hosts: all\n  roles:\n    - acme.net.one\n    - role: acme.net.two\n  tasks:\n    \
            - name: acme.net.title of a task\n      acme.net.open:\n        port: \"{{ lookup('acme.net.find', x) }}\"\n    \
            - ansible.builtin.include_role:\n        name: \"acme.net.three\"\n    - debug:\n        msg: \"{{ iq('acme.net.no') }}\"\n    \
            - action: acme.net.old\n";
        let found = find(text);
        let found: Vec<String> = found
            .iter()
            .map(|found| format!("{} {}", found.kind, found.name))
            .collect();
        let lines = lines_of(text);
        assert_eq!(lines[0].trim(), "- acme.net.one");
        assert_eq!(
            lines[3].trim(),
            "port: \"{{ lookup('acme.net.find', x) }}\""
        );
        assert_eq!(
            found,
            [
                "roles acme.net.one",
                "roles acme.net.two",
                "modules acme.net.open",
                "lookup acme.net.find",
                "roles acme.net.three",
                "modules acme.net.old",
            ]
        );
    }
}
