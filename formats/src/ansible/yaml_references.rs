//! Fully qualified names in the YAML of roles and playbooks, found by pattern.
//!
//! Playbooks are templates: much of what they name is in expressions, so they are not parsed as YAML. A name in a
//! comment or in a text can be found by mistake. Nothing depends on it but a report.

use super::name::is_identifier;

/// The most lines below `import_role` and `include_role` in which their `name` is looked for.
const LINES_OF_ROLE: usize = 6;

/// The names in a text, each with the folder that it is looked up in.
pub(crate) fn find(text: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut lines_of_role = 0_usize;
    for line in text.lines() {
        let line = line.trim_start();
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
                found.push(("modules", key.to_owned()));
            }
            let names_role = key == "role" || (key == "name" && lines_of_role > 0);
            if names_role && is_qualified(value) {
                found.push(("roles", value.to_owned()));
            }
            if matches!(key, "module" | "action") && is_qualified(value) {
                found.push(("modules", value.to_owned()));
            }
        } else if line.starts_with("- ") && is_qualified(unquoted(item)) {
            // An entry of `roles`.
            found.push(("roles", unquoted(item).to_owned()));
        }
        lines_of_role = lines_of_role.saturating_sub(1);
        lookups(line, &mut found);
    }
    found
}

/// Finds the names in `lookup('a.b.c')` and in its short forms.
fn lookups(line: &str, found: &mut Vec<(&'static str, String)>) {
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
                found.push(("lookup", name.to_owned()));
            }
        }
    }
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

    #[test]
    fn names_are_found_where_they_mean_something() {
        let text = "# acme.net.comment:\n- hosts: all\n  roles:\n    - acme.net.one\n    - role: acme.net.two\n  tasks:\n    \
            - name: acme.net.title of a task\n      acme.net.open:\n        port: \"{{ lookup('acme.net.find', x) }}\"\n    \
            - ansible.builtin.include_role:\n        name: \"acme.net.three\"\n    - debug:\n        msg: \"{{ iq('acme.net.no') }}\"\n    \
            - action: acme.net.old\n";
        let found = find(text);
        let found: Vec<String> = found
            .iter()
            .map(|(kind, name)| format!("{kind} {name}"))
            .collect();
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
