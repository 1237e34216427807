//! Reads the files around a `requirements.yml`: the modules and roles that playbooks, tasks and handlers use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText};
use pkgres_manifest::document::{Mapping, Node, Value, lenient_yaml};
use pkgres_manifest::{ClassName, PackageName, ReadOptions, Requirement, SetOptions, Version};

use super::facts::split_collection;
use super::foreign_references::path_of;
use super::name::is_collection_name;
use super::removed_plugins::ForeignRoutes;
use super::yaml_references::{self, NamedPlugin};
use crate::format::{FormatFile, ProjectUse};
use crate::lookup::FileTree;
use crate::references::{
    AllowedReleases, ClassReference, ReferenceHints, ReferenceWords, References, somewhere_in,
};

/// The most YAML files that are read.
const MAX_FILES: usize = 5_000;

/// The folder of a project in which some programs expect its `requirements.yml`.
const FOLDER_OF_REQUIREMENTS: &str = "collections";

/// Folders with collections of others, or with what is no part of the project.
const FOLDERS_OF_OTHERS: [&str; 4] = [
    "ansible_collections",
    "node_modules",
    "site-packages",
    "venv",
];

/// Folders whose files are tasks, or the dependencies of roles.
const FOLDERS_OF_TASKS: [&str; 3] = ["tasks", "handlers", "meta"];

/// Reads what the files of a project use. `file` is its `requirements.yml`.
pub(super) fn project_uses(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> (Vec<ProjectUse>, Vec<Diagnostic>) {
    match read(file, tree, options) {
        Ok(read) => read,
        Err(error) => {
            let message = format!(
                "the playbooks of the project were not read: {}",
                error.message
            );
            let finding = Diagnostic::warning(Code::ClassesNotRead, message);
            (Vec::new(), vec![finding.at(somewhere_in(file.path))])
        }
    }
}

fn read(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<(Vec<ProjectUse>, Vec<Diagnostic>), Diagnostic> {
    let folder = file.path.strip_suffix(file.name()).unwrap_or_default();
    let around = tree.around(FOLDER_OF_REQUIREMENTS);
    let (tree, folder, own) = match &around {
        Some(around) => {
            let own = format!("{FOLDER_OF_REQUIREMENTS}/{}", file.name());
            (around.as_ref(), path_around(folder), own)
        }
        None => (tree, folder.to_owned(), file.name().to_owned()),
    };
    let paths = tree.paths()?.into_iter();
    let mut paths = paths.filter(|path| *path != own && is_candidate(path));
    let mut uses = Vec::new();
    for path in paths.by_ref().take(MAX_FILES) {
        // A file that is too large is none that somebody wrote.
        let Ok(Some(bytes)) = tree.read(&path, options.limits.class_file_bytes) else {
            continue;
        };
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        let is_of_tasks = is_of_tasks(&path);
        if is_of_tasks || may_be_playbook_or_inventory(&text) {
            let source = SourceText::new(format!("{folder}{path}"), text);
            let documents = lenient_yaml(&source, &options.limits);
            if is_of_tasks || documents.iter().any(is_playbook_or_inventory) {
                let names = yaml_references::find_in(&documents, source.text());
                add_uses(&path, &source, names, &mut uses);
            }
        }
    }
    let mut findings = Vec::new();
    if paths.next().is_some() {
        let message = format!("only {MAX_FILES} YAML files of the project were read");
        let finding = Diagnostic::warning(Code::ClassesNotRead, message);
        findings.push(finding.at(somewhere_in(file.path)));
    }
    Ok((uses, findings))
}

/// The prefix of paths in the parent of a folder called [`FOLDER_OF_REQUIREMENTS`]. `folder` is the path of that
/// folder, with its last slash.
fn path_around(folder: &str) -> String {
    let around = folder
        .trim_end_matches('/')
        .strip_suffix(FOLDER_OF_REQUIREMENTS);
    match around.filter(|around| around.is_empty() || around.ends_with('/')) {
        Some(around) => around.to_owned(),
        // It was called by another name, such as `.`.
        None => format!("{folder}../"),
    }
}

/// Whether a file can be one of the project, as far as its path says.
fn is_candidate(path: &str) -> bool {
    let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
    is_yaml
        && !path
            .split('/')
            .any(|part| FOLDERS_OF_OTHERS.contains(&part))
}

fn is_of_tasks(path: &str) -> bool {
    path.split('/').any(|part| FOLDERS_OF_TASKS.contains(&part))
}

/// Whether a file can be a playbook or an inventory, so that it is parsed. Most files of a project are neither.
fn may_be_playbook_or_inventory(text: &str) -> bool {
    ["hosts", "import_playbook", "plugin"]
        .iter()
        .any(|key| text.contains(key))
}

/// Whether a document is a list of plays, of which one names its hosts or imports another playbook, or the
/// configuration of an inventory.
fn is_playbook_or_inventory(document: &Node) -> bool {
    let is_play = |play: &Mapping| {
        let mut keys = play.entries.iter().map(|entry| entry.key.text.as_str());
        keys.any(|key| key == "hosts" || yaml_references::is_import_of_playbook(key))
    };
    match &document.value {
        Value::Sequence(items) => items.iter().filter_map(Node::as_mapping).any(is_play),
        Value::Mapping(mapping) => mapping.entry("plugin").is_some(),
        Value::Scalar(_) => false,
    }
}

/// Adds what a file uses, each class once, where it is named first, with the options that its tasks set.
fn add_uses(
    path: &str,
    source: &Arc<SourceText>,
    names: Vec<NamedPlugin>,
    uses: &mut Vec<ProjectUse>,
) {
    let mut known: BTreeMap<ClassName, usize> = BTreeMap::new();
    for NamedPlugin {
        kind,
        name,
        span,
        options,
    } in names
    {
        let split = split_collection(&name);
        let Some((collection, name)) = split.filter(|(name, _)| is_collection_name(name)) else {
            continue;
        };
        // Those are parts of ansible-core.
        if matches!(collection, "ansible.builtin" | "ansible.legacy") {
            continue;
        }
        let class = format!("{collection}.{}", path_of(kind, name));
        let (Ok(class), Ok(package)) = (ClassName::native(&class), PackageName::native(collection))
        else {
            continue;
        };
        let place = Location::new(source, span);
        let task = options.clone().map(|options| (place.clone(), options));
        if let Some(&at) = known.get(&class) {
            add_options(&mut uses[at].options, options);
            uses[at].tasks.extend(task);
            continue;
        }
        known.insert(class.clone(), uses.len());
        uses.push(ProjectUse {
            file: path.to_owned(),
            class,
            package,
            at: place,
            tasks: task.into_iter().collect(),
            options: options.map(|options| SetOptions {
                somewhere: options.clone(),
                everywhere: options,
            }),
        });
    }
}

/// Adds the options that another task sets.
fn add_options(known: &mut Option<SetOptions>, more: Option<BTreeSet<String>>) {
    match (known.as_mut(), more) {
        (Some(known), Some(more)) => {
            known.everywhere.retain(|option| more.contains(option));
            known.somewhere.extend(more);
        }
        _ => *known = None,
    }
}

/// The references of a project that is checked.
pub(super) struct ProjectReferences<'check> {
    uses: &'check [ProjectUse],
    places: BTreeMap<(&'check str, &'check ClassName), &'check Location>,
    /// The path of the file that states the requirements.
    requirements: &'check str,
    routes: ForeignRoutes<'check>,
}

impl<'check> ProjectReferences<'check> {
    /// The references of the files around the file at `requirements`.
    pub(super) fn new(
        uses: &'check [ProjectUse],
        requirements: &'check str,
        routes: ForeignRoutes<'check>,
    ) -> Self {
        let places = uses
            .iter()
            .map(|one| ((one.file.as_str(), &one.class), &one.at));
        Self {
            uses,
            places: places.collect(),
            requirements,
            routes,
        }
    }
}

impl References for ProjectReferences<'_> {
    fn references(&self) -> Vec<ClassReference> {
        let references = self.uses.iter().map(|one| ClassReference {
            from: one.file.clone(),
            to: one.class.clone(),
            package: one.package.clone(),
            is_needed: false,
            is_unguarded: false,
            at: None,
        });
        references.collect()
    }

    fn place_of(&self, reference: &ClassReference) -> Location {
        let found = self.places.get(&(reference.from.as_str(), &reference.to));
        found.map_or_else(|| somewhere_in(self.requirements), |at| (*at).clone())
    }

    fn verb(&self, _: &ClassReference) -> &'static str {
        "names"
    }

    fn words(&self) -> ReferenceWords {
        ReferenceWords {
            classes: "modules",
            references: "uses of it",
            needed: "named",
            used: "named",
        }
    }

    fn declaration(&self, package: &PackageName, _: Option<&Version>) -> Option<String> {
        Some(format!("add `- name: {package}` to `collections`"))
    }

    fn hints(&self) -> &dyn ReferenceHints {
        &self.routes
    }

    fn other_findings(
        &self,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        (self.routes).warnings(self, self.requirements, references, requirement, allowed)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use pkgres_manifest::{IndexRecord, IndexedClass, Limits};

    use super::*;
    use crate::ansible::Collections;
    use crate::format::Format as _;
    use crate::lookup::ReleaseLookup;

    /// Files in memory.
    struct Files(BTreeMap<&'static str, Vec<u8>>);

    impl FileTree for Files {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            if self.0.contains_key("broken") {
                return Err(Diagnostic::error(Code::File, "cannot read the folder"));
            }
            Ok(self.0.keys().map(|path| (*path).to_owned()).collect())
        }

        fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(self.0.get(path).cloned())
        }
    }

    /// What a project uses, with the places, and the findings.
    fn uses(files: &[(&'static str, &str)]) -> (Vec<String>, Vec<String>) {
        let files = files
            .iter()
            .map(|(path, text)| (*path, text.as_bytes().to_vec()));
        let tree = Files(files.collect());
        let file = FormatFile {
            path: "app/requirements.yml",
            bytes: b"",
        };
        let (uses, findings) = project_uses(&file, &tree, &ReadOptions::default());
        let uses = uses
            .iter()
            .map(|one| format!("{}: {} ({})", one.file, one.class, one.at));
        (
            uses.collect(),
            findings.iter().map(|one| one.message.clone()).collect(),
        )
    }

    #[test]
    fn a_playbook_is_recognized_however_it_is_written() {
        for play in [
            "- {hosts: all, tasks: [acme.net.open: {}]}",
            "- \"hosts\": all\n  tasks:\n  - acme.net.open:\n",
            "- hosts : all\n  tasks:\n  - acme.net.open:\n",
            "---\n-\n  tasks:\n  - acme.net.open:\n  hosts: all\n",
        ] {
            let (found, _) = uses(&[("site.yml", play)]);
            assert!(
                matches!(found.as_slice(), [one] if one.contains("acme.net.plugins.modules.open")),
                "{play}: {found:?}"
            );
        }
        // Variables can have such names.
        let variables =
            "app:\n  hosts: x\n  plugin: acme.net.no\n  port: \"{{ lookup('acme.net.no') }}\"\n";
        assert!(uses(&[("vars.yml", variables)]).0.is_empty());
    }

    #[test]
    fn playbooks_and_tasks_are_read_and_other_files_are_not() {
        let task = "- acme.net.open:\n- acme.net.open:\n";
        let (found, findings) = uses(&[
            ("requirements.yml", "- hosts: x\n  acme.net.no:\n"),
            (
                "site.yml",
                "- name: all\n  hosts: all\n  roles:\n  - acme.net.server\n",
            ),
            ("more.yaml", "- import_playbook: acme.net.whole\n"),
            ("roles/a/tasks/main.yml", task),
            (
                "roles/a/handlers/sub/main.yml",
                "- x: \"{{ lookup('acme.net.find') }}\"\n",
            ),
            ("roles/a/vars/main.yml", task),
            ("hosts/acme.yml", "plugin: acme.net.hosts\n"),
            ("compose.yml", "labels:\n  org.label.schema: 1\n"),
            (
                "collections/ansible_collections/b/c/roles/a/tasks/main.yml",
                task,
            ),
            ("venv/lib/x/tasks/main.yml", task),
            ("tasks/text.txt", task),
            (
                "tasks/builtin.yml",
                "- ansible.builtin.copy:\n- ansible.legacy.copy:\n",
            ),
        ]);
        assert_eq!(
            found,
            [
                "hosts/acme.yml: acme.net.plugins.inventory.hosts (app/hosts/acme.yml:1:9)",
                "more.yaml: acme.net.playbooks.whole (app/more.yaml:1:20)",
                "roles/a/handlers/sub/main.yml: acme.net.plugins.lookup.find (app/roles/a/handlers/sub/main.yml:1:18)",
                "roles/a/tasks/main.yml: acme.net.plugins.modules.open (app/roles/a/tasks/main.yml:1:3)",
                "site.yml: acme.net.roles.server (app/site.yml:4:5)",
            ]
        );
        assert_eq!(findings, [""; 0]);
    }

    #[test]
    fn options_of_all_tasks_of_a_file_are_collected() {
        let options = |text: &str| {
            let mut uses = Vec::new();
            let source = SourceText::new("a.yml", text);
            let names = yaml_references::find(&source, &Limits::default());
            add_uses("a.yml", &source, names, &mut uses);
            let [one] = uses.as_slice() else {
                panic!("{uses:?}");
            };
            one.options.as_ref().map(|options| {
                let joined = |options: &BTreeSet<String>| {
                    options.iter().cloned().collect::<Vec<_>>().join(" ")
                };
                [joined(&options.somewhere), joined(&options.everywhere)]
            })
        };
        let task = "- a.b.c:\n    x: 1\n    y: 1\n";
        assert_eq!(options(task), Some(["x y", "x y"].map(str::to_owned)));
        let text = format!("{task}- a.b.c:\n    x: 1\n    z: 1\n");
        assert_eq!(options(&text), Some(["x y z", "x"].map(str::to_owned)));
        assert_eq!(options(&format!("{task}- a.b.c: x=1\n{task}")), None);
    }

    #[test]
    fn the_place_is_that_of_the_task_that_is_concerned() {
        let text = "- a.b.c: {x: 1, y: 1}\n- a.b.c: {z: 1}\n- a.b.c: x=1\n";
        let mut uses = Vec::new();
        let source = SourceText::new("a.yml", text);
        let names = yaml_references::find(&source, &Limits::default());
        add_uses("a.yml", &source, names, &mut uses);
        for (option, is_set, place) in [
            ("x", true, "a.yml:1:3"),
            ("x", false, "a.yml:2:3"),
            ("z", true, "a.yml:2:3"),
            ("z", false, "a.yml:1:3"),
            ("w", true, "a.yml:1:3"),
        ] {
            let found = uses[0].place_of(&[option.to_owned()], is_set);
            assert_eq!(found.to_string(), place, "{option} {is_set}");
        }
    }

    #[test]
    fn the_project_is_around_a_folder_of_requirements() {
        for (folder, around) in [
            ("", "../"),
            ("collections/", ""),
            ("a/collections/", "a/"),
            ("/collections/", "/"),
            ("./", "./../"),
            ("my-collections/", "my-collections/../"),
        ] {
            assert_eq!(path_around(folder), around, "{folder}");
        }
    }

    /// Releases of `acme.net` whose classes are only known once they were asked for. The newest one has no `old`.
    #[derive(Default)]
    struct Drafts(RefCell<BTreeSet<Version>>);

    impl ReleaseLookup for Drafts {
        fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
            let of_version = |major: u64| {
                let version = Version::new(major, 0, 0);
                let mut record = IndexRecord::new(package.clone(), version.clone());
                if self.0.borrow().contains(&version) {
                    let names = [("new", true), ("old", major < 9)].into_iter();
                    let names = names.filter(|(_, is_there)| *is_there);
                    record = record.with_classes(names.map(|(name, _)| {
                        let name = format!("acme.net.plugins.modules.{name}");
                        IndexedClass::new(ClassName::native(&name).expect("a name"))
                    }));
                }
                record
            };
            (package.as_str() == "acme.net").then(|| (1..10).map(of_version).collect())
        }

        fn complete(
            &self,
            package: &PackageName,
            versions: &[Version],
        ) -> Option<Vec<IndexRecord>> {
            self.0.borrow_mut().extend(versions.iter().cloned());
            self.releases(package)
        }
    }

    /// The findings about a playbook that names a module of `acme.net`.
    fn check(module: &str, known: &Drafts) -> Vec<Diagnostic> {
        let text = format!("- hosts: x\n  tasks:\n  - acme.net.{module}:\n");
        let tree = Files(BTreeMap::from([("site.yml", text.into_bytes())]));
        let file = FormatFile {
            path: "requirements.yml",
            bytes: b"collections: [acme.net]\n",
        };
        Collections.check_root(&file, &tree, known, &ReadOptions::default())
    }

    #[test]
    fn misspelt_modules_have_a_suggestion() {
        let hints = |module: &str| -> Vec<String> {
            let findings = check(module, &Drafts::default());
            findings
                .into_iter()
                .flat_map(|finding| finding.hints)
                .collect()
        };
        assert_eq!(
            hints("nwe"),
            ["did you mean `acme.net.plugins.modules.new`?"]
        );
        assert_eq!(hints("none_of_this_name"), [""; 0]);
    }

    #[test]
    fn older_releases_are_read_only_if_the_newest_lacks_something() {
        let check = |module: &str| {
            let known = Drafts::default();
            let findings = check(module, &known);
            let codes = findings.iter().map(|finding| finding.code);
            (known.0.into_inner().len(), codes.collect::<Vec<_>>())
        };
        assert_eq!(check("new"), (1, vec![]));
        assert_eq!(check("old"), (9, vec![Code::RangeTooWide]));
        assert_eq!(check("none"), (9, vec![Code::UndefinedUse]));
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_a_warning() {
        let (found, findings) = uses(&[("broken", "")]);
        assert_eq!(found, [""; 0]);
        assert_eq!(
            findings,
            ["the playbooks of the project were not read: cannot read the folder"]
        );
    }
}
