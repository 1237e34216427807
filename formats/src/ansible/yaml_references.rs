//! Finds names of other collections in playbooks, task files, roles and inventories: modules with the options that
//! tasks set, roles, playbooks, lookups and other plug-ins.
//!
//! Only names in places where Ansible looks something up count: a module is a key of a task, a role an entry of
//! `roles`, a lookup a call in a template. A file that is not YAML has no names, because Ansible cannot read it either.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{SourceText, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, Value, lenient_yaml};

use super::name::is_content_name;

/// The keys of plays and blocks that have tasks.
const LISTS_OF_TASKS: [&str; 7] = [
    "tasks",
    "pre_tasks",
    "post_tasks",
    "handlers",
    "block",
    "rescue",
    "always",
];
/// The keys of plays and tasks whose value is the name of a plug-in, with the folders of these.
const PLUGIN_KEYS: [(&str, &str); 3] = [
    ("connection", "connection"),
    ("become_method", "become"),
    ("strategy", "strategy"),
];

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPlugin {
    /// The folder that it is looked up in.
    pub(crate) kind: &'static str,
    /// The name with its collection.
    pub(crate) name: String,
    /// The place of the name.
    pub(crate) span: Span,
    /// The options that a module gets. `None` if these are not written one by one, so that any may be set.
    pub(crate) options: Option<BTreeSet<String>>,
}

/// The names in a text, in its order.
pub(crate) fn find(source: &Arc<SourceText>, limits: &Limits) -> Vec<NamedPlugin> {
    find_in(&lenient_yaml(source, limits), source.text())
}

/// The names in the documents of a text, in its order.
pub(crate) fn find_in(documents: &[Node], text: &str) -> Vec<NamedPlugin> {
    let mut finder = Finder {
        text,
        found: Vec::new(),
    };
    for document in documents {
        match &document.value {
            Value::Sequence(items) => finder.plays_and_tasks(items),
            Value::Mapping(mapping) => finder.mapping_of_file(mapping),
            Value::Scalar(_) => {}
        }
    }
    finder.found
}

struct Finder<'text> {
    text: &'text str,
    found: Vec<NamedPlugin>,
}

impl Finder<'_> {
    /// Adds a scalar that is the name of a plug-in.
    fn add(&mut self, kind: &'static str, node: &Node) {
        if let Some(scalar) = node.as_scalar() {
            self.add_name(kind, scalar.text.trim(), node.span, None);
        }
    }

    /// Adds a name that is written in a part of the text.
    fn add_name(
        &mut self,
        kind: &'static str,
        name: &str,
        within: Span,
        options: Option<BTreeSet<String>>,
    ) {
        if !is_qualified(name) {
            return;
        }
        // Escapes can stand for letters.
        let written = self.text.get(within.start..within.end);
        let span = match written.and_then(|written| written.find(name)) {
            Some(at) => Span {
                start: within.start + at,
                end: within.start + at + name.len(),
            },
            None => within,
        };
        self.found.push(NamedPlugin {
            kind,
            name: name.to_owned(),
            span,
            options,
        });
    }

    /// A file that is a mapping: the `meta/main.yml` of a role, an inventory, or variables.
    fn mapping_of_file(&mut self, mapping: &Mapping) {
        for entry in &mapping.entries {
            match entry.key.text.as_str() {
                "dependencies" => self.roles(&entry.value),
                "plugin" => self.add("inventory", &entry.value),
                _ => {}
            }
            self.lookups(&entry.value);
        }
    }

    fn plays_and_tasks(&mut self, items: &[Node]) {
        for mapping in items.iter().filter_map(Node::as_mapping) {
            self.play_or_task(mapping);
        }
    }

    fn play_or_task(&mut self, mapping: &Mapping) {
        let has_args = mapping.entry("args").is_some();
        for entry in &mapping.entries {
            let key = entry.key.text.as_str();
            let value = &entry.value;
            match without_core_collection(key) {
                key if LISTS_OF_TASKS.contains(&key) => {
                    self.plays_and_tasks(value.as_sequence().unwrap_or_default());
                    continue;
                }
                "roles" => self.roles(value),
                "import_role" | "include_role" => {
                    self.role_of_task(value);
                }
                "import_playbook" => self.playbook(value),
                "module_defaults" => self.module_defaults(value),
                "action" | "local_action" => self.action(value),
                key => {
                    if let Some((_, kind)) = PLUGIN_KEYS.iter().find(|(name, _)| *name == key) {
                        self.add(kind, value);
                    } else if let Some(lookup) = key.strip_prefix("with_") {
                        self.add_name("lookup", lookup, entry.key_span, None);
                    } else {
                        let options = options_of(value).filter(|_| !has_args);
                        self.add_name("modules", key, entry.key_span, options);
                    }
                }
            }
            self.lookups(value);
        }
    }

    /// The roles of a play, or the dependencies of a role.
    fn roles(&mut self, list: &Node) {
        for item in list.as_sequence().unwrap_or_default() {
            let role = match &item.value {
                Value::Mapping(mapping) => mapping.get("role").or_else(|| mapping.get("name")),
                _ => Some(item),
            };
            if let Some(role) = role {
                self.add("roles", role);
            }
        }
    }

    /// The role of a task, which is an option of its module: `name: x` or, on one line, `name=x`.
    fn role_of_task(&mut self, options: &Node) {
        match &options.value {
            Value::Mapping(mapping) => {
                if let Some(role) = mapping.get("name") {
                    self.add("roles", role);
                }
            }
            Value::Scalar(scalar) => {
                let mut words = scalar.text.split_whitespace();
                if let Some(name) = words.find_map(|word| word.strip_prefix("name=")) {
                    self.add_name("roles", name, options.span, None);
                }
            }
            Value::Sequence(_) => {}
        }
    }

    /// A playbook of a collection, whose name can have the extension of its file.
    fn playbook(&mut self, node: &Node) {
        if let Some(scalar) = node.as_scalar() {
            let name = scalar.text.trim();
            let stem = [".yml", ".yaml"]
                .iter()
                .find_map(|extension| name.strip_suffix(extension));
            self.add_name("playbooks", stem.unwrap_or(name), node.span, None);
        }
    }

    fn module_defaults(&mut self, node: &Node) {
        for Entry { key, key_span, .. } in node.as_mapping().into_iter().flat_map(|m| &m.entries) {
            self.add_name("modules", &key.text, *key_span, None);
        }
    }

    /// The old form of a task, in which the module is a value.
    fn action(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => {
                let name = scalar.text.split_whitespace().next().unwrap_or_default();
                self.add_name("modules", name, node.span, None);
            }
            Value::Mapping(mapping) => {
                if let Some(module) = mapping.get("module") {
                    self.add("modules", module);
                }
            }
            Value::Sequence(_) => {}
        }
    }

    /// The lookups in all templates of a part.
    fn lookups(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => {
                // Ansible expands no templates in it.
                let before = self.text.get(..node.span.start).unwrap_or_default();
                if before.trim_end().ends_with("!unsafe") {
                    return;
                }
                for name in lookups(&scalar.text) {
                    self.add_name("lookup", name, node.span, None);
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.lookups(item)),
            Value::Mapping(mapping) => {
                let values = mapping.entries.iter().map(|entry| &entry.value);
                values.for_each(|value| self.lookups(value));
            }
        }
    }
}

/// The options below the name of a module, if they are written one by one.
fn options_of(value: &Node) -> Option<BTreeSet<String>> {
    if value.is_null() {
        return Some(BTreeSet::new());
    }
    let entries = &value.as_mapping()?.entries;
    let is_plain = |key: &str| {
        key.bytes()
            .all(|next| next.is_ascii_alphanumeric() || next == b'_')
    };
    let options = entries.iter().map(|entry| &entry.key.text);
    options
        .map(|key| is_plain(key).then(|| key.clone()))
        .collect()
}

/// Whether a key of a play imports another playbook.
pub(crate) fn is_import_of_playbook(key: &str) -> bool {
    without_core_collection(key) == "import_playbook"
}

/// The name of a keyword or an action of ansible-core, which can be written with its collection.
fn without_core_collection(key: &str) -> &str {
    let name = key
        .strip_prefix("ansible.builtin.")
        .or_else(|| key.strip_prefix("ansible.legacy."));
    name.unwrap_or(key)
}

/// The names in `lookup('a.b.c')` and in its short forms.
fn lookups(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for function in ["lookup", "query", "q"] {
        for (at, _) in text.match_indices(function) {
            let rest = text[at + function.len()..].trim_start();
            let Some(arguments) = rest.strip_prefix('(') else {
                continue;
            };
            let is_word = text[..at]
                .chars()
                .next_back()
                .is_none_or(|before| !before.is_alphanumeric() && before != '_');
            let argument = arguments.trim_start();
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

/// Whether a text is a name with its collection.
fn is_qualified(text: &str) -> bool {
    text.split('.').count() >= 3 && text.split('.').all(is_content_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name with its kind and the text at its place.
    fn names(text: &str) -> Vec<String> {
        let found = find(&SourceText::new("a.yml", text), &Limits::default());
        let found = found.iter().map(|one| {
            let written = &text[one.span.start..one.span.end];
            if written == one.name {
                format!("{} {written}", one.kind)
            } else {
                format!("{} {} in {written}", one.kind, one.name)
            }
        });
        found.collect()
    }

    /// The options of the only module in a text; `?` if they are unknown.
    fn options(text: &str) -> String {
        let found = find(&SourceText::new("a.yml", text), &Limits::default());
        let [module] = found.as_slice() else {
            panic!("{found:?}");
        };
        match &module.options {
            Some(options) => options.iter().cloned().collect::<Vec<_>>().join(" "),
            None => "?".to_owned(),
        }
    }

    #[test]
    fn names_are_found_where_they_mean_something() {
        let play = r#"
# acme.net.comment:
- import_playbook: acme.net.whole
- ansible.builtin.import_playbook: acme.net.site.yml
- hosts: [a.example.com, b]
  connection: acme.net.tunnel
  module_defaults:
    acme.net.open: {port: 1}
    group/acme.net.all: {}
  vars:
    hosts:
      - www.example.com
    acme.net.label: "{{ query(\"acme.net.escaped\") }}"
  roles:
    - acme.net.one
    - {role: acme.net.two, tags: acme.net.no}
    - name: acme.net.three
  pre_tasks:
    - name: acme.net.title of a task
      acme.net.open:
        port: "{{ lookup ( 'acme.net.find', x) }}"
        key: !vault |
          $ANSIBLE_VAULT;1.1;AES256
      with_acme.net.flattened: &list [a]
    - block:
        - ansible.builtin.include_role:
            name: "acme.net.four"
        - import_role: tasks_from=x name=acme.net.five
        - debug: msg="{{ iq('acme.net.no') }}"
      rescue:
        - action: acme.net.old port=1
        - local_action: {module: acme.net.older, port: 1}
      loop: *list
"#;
        assert_eq!(
            names(play),
            [
                "playbooks acme.net.whole",
                "playbooks acme.net.site",
                "connection acme.net.tunnel",
                "modules acme.net.open",
                "lookup acme.net.escaped",
                "roles acme.net.one",
                "roles acme.net.two",
                "roles acme.net.three",
                "modules acme.net.open",
                "lookup acme.net.find",
                "lookup acme.net.flattened",
                "roles acme.net.four",
                "roles acme.net.five",
                "modules acme.net.old",
                "modules acme.net.older",
            ]
        );
    }

    #[test]
    fn files_that_are_mappings_name_roles_and_inventories() {
        assert_eq!(
            names("dependencies:\n  - acme.net.one\n  - role: acme.net.two\nacme.net.no: 1\n"),
            ["roles acme.net.one", "roles acme.net.two"]
        );
        assert_eq!(
            names("plugin: acme.net.hosts\nkeys: \"{{ q('acme.net.find') }}\"\n"),
            ["inventory acme.net.hosts", "lookup acme.net.find"]
        );
    }

    #[test]
    fn what_is_no_yaml_names_what_can_be_read() {
        assert_eq!(names("- acme.net.one: [\n"), [""; 0]);
        assert_eq!(names("acme.net.one"), [""; 0]);
        assert_eq!(names(""), [""; 0]);
        // An escape stands for a letter of the name.
        assert_eq!(
            names("- \"acme.net.\\x6fpen\":\n"),
            ["modules acme.net.open in \"acme.net.\\x6fpen\""]
        );
    }

    #[test]
    fn options_are_those_that_are_written_one_by_one() {
        for (text, expected) in [
            (
                "- a.b.c:\n    x: 1\n    y: {z: 1}\n- debug:\n    no: 1\n",
                "x y",
            ),
            (
                "- name: one\n  a.b.c:\n    x: [{z: 1}]\n    'y': |\n      v: 1\n",
                "x y",
            ),
            ("- a.b.c: {x: 1, y: '{{ z }}'}\n", "x y"),
            ("- a.b.c:\n", ""),
            ("- a.b.c: {}\n", ""),
            ("- a.b.c: # nothing\n- args: 1\n", ""),
            ("- block:\n    - a.b.c:\n        x: 1\n  args: 1\n", "x"),
        ] {
            assert_eq!(options(text), expected, "{text}");
        }
        for text in [
            "- a.b.c: x=1\n",
            "- a.b.c: '{{ x }}'\n",
            "- args: {y: 1}\n  a.b.c:\n    x: 1\n",
            "- a.b.c:\n    <<: *x\n",
            "- a.b.c: *x\n",
            "- a.b.c: [x]\n",
            "- a.b.c: {'{{ x }}': 1}\n",
            "- action: a.b.c x=1\n",
            "- module_defaults: {a.b.c: {x: 1}}\n",
        ] {
            assert_eq!(options(text), "?", "{text}");
        }
    }
}
