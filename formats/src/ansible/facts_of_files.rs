//! Collects the facts about a collection from the files of a folder or an artifact.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText};
use pkgres_manifest::{ClassName, Limits, ReadOptions};

use super::content::{MODULE_LIMIT, read_or_skip};
use super::documentation::foreign_fragments;
use super::facts::{Facts, Module, Reference};
use super::foreign_references::path_of;
use super::name::{dotted, is_collection_name, is_content_name};
use super::python;
use super::runtime_yml::{self, RUNTIME_FILE, Runtime};
use super::windows_imports;
use super::yaml_references::{self, NamedPlugin};
use crate::lookup::FileTree;

/// The folder with modules, which are only run. Others import no names from them.
const MODULES: &str = "plugins/modules/";

/// The folder with action plug-ins. Others import little from them but their class, which all have, while generated ones
/// have so many names that the record of a release with them would be too long.
const ACTIONS: &str = "plugins/action/";

/// Folders inside a role, which never contain another role.
const FOLDERS_OF_ROLES: [&str; 14] = [
    "action_plugins",
    "defaults",
    "files",
    "filter_plugins",
    "handlers",
    "library",
    "lookup_plugins",
    "meta",
    "module_utils",
    "molecule",
    "tasks",
    "templates",
    "tests",
    "vars",
];

/// Whether a file has to be read to know the classes of its collection, or what they declare.
pub(crate) fn is_of_interest(path: &str) -> bool {
    path == RUNTIME_FILE
        || (path.starts_with("plugins/")
            && (path.ends_with(".py") || is_for_windows(path) || is_yaml(path)))
        || (is_playbook_or_role(path) && is_yaml(path))
}

/// Whether a path is among those that make up a collection, not of what happens to be beside them.
pub(super) fn is_in_collection(path: &str) -> bool {
    path == RUNTIME_FILE || path.starts_with("plugins/") || is_playbook_or_role(path)
}

fn is_playbook_or_role(path: &str) -> bool {
    path.starts_with("roles/") || path.starts_with("playbooks/")
}

/// Whether a file below `plugins` is a module for Windows, or a utility for such modules.
fn is_for_windows(path: &str) -> bool {
    let ends = [".ps1", ".psm1", ".cs"];
    ends.iter().any(|end| path.ends_with(end))
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yml") || path.ends_with(".yaml")
}

/// Reads the files of a collection. `prefix` precedes their paths in messages: its folder, or its artifact, with a slash.
pub(crate) fn read(
    collection: &str,
    prefix: &str,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<(Facts, Runtime, Vec<Diagnostic>), Diagnostic> {
    let facts = Facts {
        collection: collection.to_owned(),
        ..Facts::default()
    };
    let mut reader = FactsReader {
        facts,
        findings: Vec::new(),
        prefix,
        tree,
        options,
    };
    let mut runtime = Runtime::default();
    for path in tree.paths()? {
        if let Some(plugin) = path.strip_prefix("plugins/") {
            if path.ends_with(".py") {
                reader.add_module(&path)?;
            } else if is_for_windows(&path) {
                reader.add_windows_plugin(&path)?;
            } else if is_yaml(&path) {
                reader.add_documentation(plugin)?;
            }
        } else if path == RUNTIME_FILE {
            let bytes = tree.read(&path, options.limits.manifest_bytes)?;
            let more;
            let shown = format!("{prefix}{path}");
            (runtime, more) =
                runtime_yml::read(&shown, &bytes.unwrap_or_default(), &options.limits);
            reader.findings.extend(more);
        } else if is_playbook_or_role(&path) {
            reader.add_playbook_or_role(&path)?;
        }
    }
    let FactsReader {
        mut facts,
        findings,
        ..
    } = reader;
    facts.routes.clone_from(&runtime.routes);
    Ok((facts, runtime, findings))
}

/// Reads the files of a collection one after the other.
struct FactsReader<'tree> {
    facts: Facts,
    findings: Vec<Diagnostic>,
    /// The prefix of the paths of files in messages.
    prefix: &'tree str,
    tree: &'tree dyn FileTree,
    options: &'tree ReadOptions,
}

impl FactsReader<'_> {
    fn content(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let shown = format!("{}{path}", self.prefix);
        read_or_skip(self.tree, path, &shown, limit, &mut self.findings)
    }

    fn add_windows_plugin(&mut self, path: &str) -> Result<(), Diagnostic> {
        let Some(module) = dotted(path) else {
            return Ok(());
        };
        let bytes = self.content(path, MODULE_LIMIT)?.unwrap_or_default();
        let imports = windows_imports::read(&self.facts.collection, &module, path, &bytes);
        self.facts.imports.extend(imports);
        self.facts.others.insert(module);
        Ok(())
    }

    /// Adds the documentation of a plug-in that is a file beside it, or the plug-in that consists of it.
    fn add_documentation(&mut self, plugin: &str) -> Result<(), Diagnostic> {
        let Some(path) = dotted(plugin) else {
            return Ok(());
        };
        let path = format!("plugins.{path}");
        let limits = &self.options.limits;
        let bytes = self.content(&format!("plugins/{plugin}"), limits.class_file_bytes)?;
        let bytes = bytes.unwrap_or_default();
        add_fragments(&mut self.facts, &path, plugin, &bytes, limits);
        self.facts.others.insert(path);
        Ok(())
    }

    fn add_module(&mut self, path: &str) -> Result<(), Diagnostic> {
        let Some(dotted) = dotted(path) else {
            return Ok(());
        };
        let (module, is_package) = match dotted.strip_suffix(".__init__") {
            Some(package) => (package.to_owned(), true),
            None => (dotted, false),
        };
        let content = self.content(path, MODULE_LIMIT)?;
        let is_skipped = content.is_none();
        let bytes = content.unwrap_or_default();
        let facts = &mut self.facts;
        let is_run_only = path.starts_with(MODULES);
        add_fragments(facts, &module, path, &bytes, &self.options.limits);
        if is_skipped || (is_run_only && !refers_to_others(&facts.collection, &bytes)) {
            let entry = Module {
                is_open: true,
                ..Module::default()
            };
            facts.modules.insert(module, entry);
            return Ok(());
        }
        let full = format!("{}.{module}", facts.collection);
        let read = python::read(&full, is_package, &bytes);
        for mut import in read.imports {
            import.module.clone_from(&module);
            path.clone_into(&mut import.path);
            facts.imports.push(import);
        }
        for name in read.module_names {
            facts.references.push(Reference {
                place: module.clone(),
                kind: "modules".to_owned(),
                name,
            });
        }
        let entry = if is_run_only || path.starts_with(ACTIONS) {
            Module {
                is_open: true,
                ..Module::default()
            }
        } else {
            Module {
                names: read.names,
                stars: read.stars,
                is_open: read.is_open,
            }
        };
        facts.modules.insert(module, entry);
        Ok(())
    }

    fn add_playbook_or_role(&mut self, path: &str) -> Result<(), Diagnostic> {
        let Some(place) = playbook_or_role_of(path) else {
            return Ok(());
        };
        self.facts.others.insert(place.clone());
        if !is_yaml(path) {
            return Ok(());
        }
        let limits = &self.options.limits;
        let content = self.content(path, limits.unpacked_bytes)?;
        let bytes = content.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let source = SourceText::new(path, text.as_ref());
        let facts = &mut self.facts;
        for NamedPlugin { kind, name, .. } in yaml_references::find(&source, limits) {
            let is_foreign =
                super::facts::split_collection(&name).is_some_and(|(collection, _)| {
                    is_collection_name(collection) && collection != facts.collection
                });
            let reference = Reference {
                place: place.clone(),
                kind: kind.to_owned(),
                name,
            };
            if is_foreign && !facts.references.contains(&reference) {
                facts.references.push(reference);
            }
        }
        Ok(())
    }
}

/// Adds the documentation fragments of other collections that a plug-in names in a file.
fn add_fragments(facts: &mut Facts, plugin: &str, path: &str, bytes: &[u8], limits: &Limits) {
    let named = foreign_fragments(&facts.collection, path, bytes, limits).into_iter();
    let of_plugin = named.map(|(_, fragment)| (plugin.to_owned(), fragment));
    facts.fragments.extend(of_plugin);
}

/// Whether a module may refer to other collections. Most modules do not, and need not be parsed.
fn refers_to_others(collection: &str, bytes: &[u8]) -> bool {
    let prefix = b"ansible_collections.";
    let has_other = memchr::memmem::find_iter(bytes, prefix).any(|at| {
        let rest = bytes.get(at + prefix.len()..).unwrap_or_default();
        let after = rest.strip_prefix(collection.as_bytes());
        !after.is_some_and(|after| after.starts_with(b"."))
    });
    // Four dots lead from a module into other collections of the namespace.
    let others: [&[u8]; 2] = [b"from ....", b"module_name"];
    has_other || (others.iter()).any(|other| memchr::memmem::find(bytes, other).is_some())
}

/// The playbook or role that a file belongs to.
fn playbook_or_role_of(path: &str) -> Option<String> {
    match path.split_once('/')? {
        ("roles", rest) => role_of(rest),
        ("playbooks", _) if is_yaml(path) => dotted(path),
        _ => None,
    }
}

/// The role that a file below `roles` belongs to. A role can be in other folders: `a.b.net.tcp` is `net/tcp`. It ends
/// before the first of its own folders, or else is the first folder.
fn role_of(path: &str) -> Option<String> {
    let (folders, _) = path.rsplit_once('/')?;
    let folders: Vec<&str> = folders.split('/').collect();
    let own = (folders.iter().skip(1)).position(|folder| FOLDERS_OF_ROLES.contains(folder));
    let role = &folders[..=own.unwrap_or_default()];
    let role = if role.iter().all(|name| is_content_name(name)) {
        role
    } else {
        &folders[..1]
    };
    is_content_name(role[0]).then(|| format!("roles.{}", role.join(".")))
}

/// Where playbooks and roles name classes, each at its first place. Paths are shown with a prefix.
pub(super) fn named_places(
    tree: &dyn FileTree,
    prefix: &str,
    options: &ReadOptions,
) -> BTreeMap<(String, ClassName), Location> {
    let mut places = BTreeMap::new();
    for path in tree.paths().unwrap_or_default() {
        let Some(from) = playbook_or_role_of(&path).filter(|_| is_yaml(&path)) else {
            continue;
        };
        let Ok(Some(bytes)) = tree.read(&path, options.limits.unpacked_bytes) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let source = SourceText::new(format!("{prefix}{path}"), text.as_ref());
        for named in yaml_references::find(&source, &options.limits) {
            let Some((collection, name)) = super::facts::split_collection(&named.name) else {
                continue;
            };
            let path = path_of(named.kind, name);
            let Ok(class) = ClassName::native(&format!("{collection}.{path}")) else {
                continue;
            };
            let place = places.entry((from.clone(), class));
            place.or_insert_with(|| Location::new(&source, named.span));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Files in memory.
    #[derive(Default)]
    struct Files(BTreeMap<&'static str, &'static str>);

    impl FileTree for Files {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(self.0.keys().map(|path| (*path).to_owned()).collect())
        }

        fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(self.0.get(path).map(|text| text.as_bytes().to_vec()))
        }
    }

    #[test]
    fn plugins_can_have_the_names_of_keywords() {
        for (path, expected) in [
            ("plugins/modules/lambda.py", Some("plugins.modules.lambda")),
            ("plugins/modules/import.py", Some("plugins.modules.import")),
            ("plugins/modules/a-b.py", None),
            ("plugins/modules/README", None),
        ] {
            assert_eq!(dotted(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn findings_name_files_with_the_folder_of_the_collection() {
        let tree = Files([("meta/runtime.yml", "requires_ansible: 2.9\n")].into());
        let read = read("acme.web", "web/", &tree, &ReadOptions::default());
        let (_, _, findings) = read.expect("the files can be read");
        let finding = findings[0].to_string();
        assert!(
            finding.starts_with("web/meta/runtime.yml:1:19: "),
            "{finding}"
        );
    }

    #[test]
    fn references_are_found_however_they_are_written() {
        let tree = Files(
            [
                ("plugins/lookup/find.py", ""),
                (
                    "plugins/lookup/find.yml",
                    "DOCUMENTATION:\n  extends_documentation_fragment: [acme.net.beside]\n",
                ),
                (
                    "plugins/modules/near.py",
                    "from ....net.plugins.module_utils.tcp import connect\n",
                ),
                (
                    "plugins/modules/quoted.py",
                    "DOCUMENTATION = '{\"extends_documentation_fragment\": [\"acme.net.quoted\"]}'\n",
                ),
            ]
            .into(),
        );
        let (facts, _, _) =
            read("acme.web", "", &tree, &ReadOptions::default()).expect("the files can be read");
        let references = facts.foreign_references();
        let references = references
            .iter()
            .map(|one| format!("{} {}", one.from, one.to));
        assert_eq!(
            references.collect::<Vec<_>>(),
            [
                "plugins.lookup.find acme.net.plugins.doc_fragments.beside",
                "plugins.modules.near acme.net.plugins.module_utils.tcp.connect",
                "plugins.modules.quoted acme.net.plugins.doc_fragments.quoted",
            ]
        );
    }

    /// The fragments of other collections that a plug-in with some documentation extends.
    fn extended(documentation: &'static str) -> Vec<String> {
        let tree = Files([("plugins/lookup/find.py", documentation)].into());
        let read = read("acme.web", "", &tree, &ReadOptions::default());
        let (facts, _, _) = read.expect("the files can be read");
        let references = facts.foreign_references().into_iter();
        references
            .filter(|reference| reference.is_needed)
            .filter_map(|reference| Some(reference.to.as_str().rsplit_once('.')?.1.to_owned()))
            .collect()
    }

    #[test]
    fn fragments_are_those_of_the_parsed_documentation() {
        for (documentation, expected) in [
            ("D\n# extends_documentation_fragment: acme.net.no\n", ""),
            (
                "EXTENDED = 'extends_documentation_fragment: acme.net.no'\n",
                "",
            ),
            (
                "D = '''\nname: x\n# extends_documentation_fragment: acme.net.no\n'''\n",
                "",
            ),
            (
                "D = '''\ndescription: see extends_documentation_fragment: acme.net.no\n'''\n",
                "",
            ),
            (
                "D = '''\noptions:\n  x:\n    extends_documentation_fragment: acme.net.no\n'''\n",
                "",
            ),
            ("D = '''\nK: acme.net.a\nother: acme.net.b\n'''\n", "a"),
            (
                "D = '''\nK: acme.net.a, acme.net.b.c # acme.net.d\n'''\n",
                "a b",
            ),
            (
                "D = '''\nK:\n  - acme.net.a # a: list\n  # more: of it\n\n  - acme.net.b\n'''\n",
                "a b",
            ),
            (
                "D = '''\nK: [\"acme.net.a\",\n   # more\n   acme.net.b\n ]\n'''\n",
                "a b",
            ),
            (
                "D = '''\nK:\n  - files\n  - 'acme.web.a'\n  - ansible.builtin.a\n  - acme.net.a\n'''\n",
                "a",
            ),
            (
                "D = '''\nx: &x acme.net.no\ny: [acme.net.no]\nK:\n- acme.net.a\nz: acme.net.no\n'''\n",
                "a",
            ),
            ("D = '{\"K\": [\"acme.net.a\"]}'\n", "a"),
            ("D = 'K:\\n- acme.net.a\\n'\n", "a"),
        ] {
            let text = documentation.replace("D = ", "DOCUMENTATION = ");
            let text = text.replace('K', "extends_documentation_fragment");
            assert_eq!(extended(text.leak()).join(" "), expected, "{documentation}");
        }
    }

    #[test]
    fn roles_can_be_in_folders() {
        for (path, expected) in [
            ("roles/web/tasks/main.yml", Some("roles.web")),
            ("roles/web/README.md", Some("roles.web")),
            ("roles/web/molecule/default/converge.yml", Some("roles.web")),
            (
                "roles/web/molecule/default/tasks/main.yml",
                Some("roles.web"),
            ),
            ("roles/web/tests/vars/main.yml", Some("roles.web")),
            ("roles/web/templates/net/tcp.j2", Some("roles.web")),
            ("roles/net/tcp/tasks/main.yml", Some("roles.net.tcp")),
            ("roles/net/tcp/udp/meta/main.yml", Some("roles.net.tcp.udp")),
            ("roles/tasks/tasks/main.yml", Some("roles.tasks")),
            ("roles/web/not-it/tasks/main.yml", Some("roles.web")),
            ("roles/not-it/tasks/main.yml", None),
            ("roles/README.md", None),
            ("playbooks/net/site.yml", Some("playbooks.net.site")),
            ("playbooks/README.md", None),
        ] {
            assert_eq!(playbook_or_role_of(path).as_deref(), expected, "{path}");
        }
        let tree = Files([("roles/net/tcp/tasks/main.yml", "- acme.net.open:\n")].into());
        let read = read("acme.web", "", &tree, &ReadOptions::default());
        let (facts, _, _) = read.expect("the files can be read");
        let classes = facts.classes(&|_| true);
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["acme.web.roles", "acme.web.roles.net.tcp"]);
        assert_eq!(classes[1].uses.len(), 1);
    }

    /// A tree with files that are too large to be read.
    struct LargeFiles(&'static [&'static str]);

    impl FileTree for LargeFiles {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(self.0.iter().map(|path| (*path).to_owned()).collect())
        }

        fn read(&self, _: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Err(Limits::exceeded("bytes in a file", limit))
        }
    }

    #[test]
    fn files_that_are_too_large_are_classes_without_references() {
        let tree = LargeFiles(&[
            "playbooks/site.yml",
            "plugins/filter/quote.yml",
            "plugins/module_utils/Sc.cs",
            "plugins/module_utils/tcp.py",
            "plugins/module_utils/udp/__init__.py",
            "plugins/modules/page.ps1",
        ]);
        let (facts, _, findings) = read("acme.web", "web/", &tree, &ReadOptions::default())
            .expect("the collection can be read");
        let classes = facts.classes(&|_| true);
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        for name in [
            "acme.web.playbooks.site",
            "acme.web.plugins.filter.quote",
            "acme.web.plugins.module_utils.Sc",
            "acme.web.plugins.module_utils.tcp",
            "acme.web.plugins.module_utils.tcp.*",
            "acme.web.plugins.module_utils.udp.*",
            "acme.web.plugins.modules.page",
        ] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), tree.0.len());
        assert_eq!(
            shown[2],
            "web/plugins/module_utils/Sc.cs:1:1: warning[PK0042]: the file is not read: it has more than 8388608 bytes"
        );
    }

    #[test]
    fn the_files_of_a_collection_are_its_facts() {
        let tree = Files(
            [
                ("README.md", "ansible_collections.acme.net.x"),
                ("plugins/README.md", ""),
                (
                    "plugins/modules/page.py",
                    "DOCUMENTATION = r'''\nextends_documentation_fragment:\n  - acme.net.tcp\n  - \"files\"\noptions: {}\n'''\n\
                     from ansible_collections.acme.net.plugins.module_utils.tcp import connect\nX = 1\n",
                ),
                ("plugins/modules/plain.py", "from ansible_collections.acme.web.plugins.x import y\n"),
                ("plugins/modules/win.ps1", ""),
                ("plugins/module_utils/a/__init__.py", "from .b import *\nA = 1\n"),
                ("plugins/module_utils/a/b.py", "B = 1\n"),
                ("plugins/module_utils/not-python.py", ""),
                ("plugins/filter/quote.yml", ""),
                ("plugins/lookup/find.py", "DOCUMENTATION = 'extends_documentation_fragment: [acme.net.tcp.more]'\n"),
                ("roles/nginx/tasks/main.yml", "- acme.net.open:\n    port: 80\n- acme.web.page:\n"),
                ("roles/nginx/files/x", ""),
                ("playbooks/site.yml", "- ansible.builtin.import_role:\n    name: acme.net.firewall\n"),
                ("meta/runtime.yml", "requires_ansible: '>=2.15'\nplugin_routing:\n  modules:\n    old: {redirect: acme.web.page}\n"),
            ]
            .into(),
        );
        let (facts, runtime, findings) =
            read("acme.web", "", &tree, &ReadOptions::default()).expect("the files can be read");
        assert!(findings.is_empty());
        assert!(runtime.requires_ansible.is_some());
        insta::assert_debug_snapshot!(facts);
        let classes = facts.classes(&|name| name == "acme.net");
        let lines: Vec<String> = classes
            .iter()
            .map(|class| {
                format!(
                    "{} extends {:?} uses {:?}",
                    class.name, class.extends, class.uses
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
