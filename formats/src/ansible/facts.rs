//! What a collection contains and refers to, and the classes that follow from it.
//!
//! A class is a dotted path below the collection: a module or folder of `plugins`, a name at the top level of such a
//! module, a role or a playbook. `path.*` matches every name of a module whose names are unknown.
//!
//! An import that runs when its module is loaded *extends* what it imports, if the target is in a declared dependency:
//! a version without it does not work. Everything else *uses* its target: imports in functions, imports that another
//! branch replaces, names in YAML, and all that leads into collections that are not declared.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexedClass, Version};

use super::name::{is_collection_name, is_identifier};
use super::python::{Import, ImportKind};

/// The most redirects from one name to another that are followed.
const MAX_REDIRECTS: usize = 16;

/// A module or folder of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// The names at its top level.
    pub names: BTreeSet<String>,
    /// The modules of the same collection from which all names are imported.
    pub stars: Vec<String>,
    /// Whether it may have names other than these.
    pub is_open: bool,
}

/// An entry of `plugin_routing`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The kind of plug-in, such as `modules`.
    pub kind: String,
    /// The name of the plug-in without its collection.
    pub name: String,
    /// The name that is used instead.
    pub redirect: Option<String>,
    /// Whether the plug-in is gone.
    pub tombstone: bool,
    /// The version that removes the plug-in, or has removed it.
    pub removal_version: Option<Version>,
    /// Whether the plug-in is deprecated.
    pub deprecated: bool,
}

/// A fully qualified name in YAML or in a plug-in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The class that contains it, without the collection, such as `roles.web`.
    pub place: String,
    /// The folder of what is named: `modules`, `lookup`, or `roles`.
    pub kind: String,
    /// The name with its collection.
    pub name: String,
}

/// What a collection contains and refers to. Paths are dotted and without the collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The name of the collection.
    pub collection: String,
    /// The Python modules and packages below `plugins`.
    pub modules: BTreeMap<String, Module>,
    /// Other files that are found by their path: plug-ins that are no Python, roles and playbooks.
    pub others: BTreeSet<String>,
    /// The imports of modules of collections.
    pub imports: Vec<Import>,
    /// Documentation fragments: the plug-in and the name of the fragment.
    pub fragments: Vec<(String, String)>,
    /// Fully qualified names.
    pub references: Vec<Reference>,
    /// The routes of plug-ins.
    pub routes: Vec<Route>,
}

/// What a class extends and uses.
#[derive(Default)]
struct Relations {
    extends: BTreeSet<String>,
    uses: BTreeSet<String>,
}

/// A reference of a class to a class of another collection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignReference {
    /// The class that refers to it, without the collection.
    pub from: String,
    /// The class that is referred to.
    pub to: String,
    /// The collection that it belongs to.
    pub collection: String,
    /// Whether a version without the class breaks `from` when it is loaded.
    pub is_needed: bool,
    /// Whether nothing guards the reference.
    pub is_unguarded: bool,
    /// The first byte of the import, if it is one.
    pub at: Option<usize>,
}

impl Facts {
    /// The classes of the collection. `declared` says whether a collection is a declared dependency.
    pub fn classes(&self, declared: &dyn Fn(&str) -> bool) -> Vec<IndexedClass> {
        let mut classes = self.defined();
        for reference in self.foreign_references() {
            let edges = classes.entry(reference.from).or_default();
            if reference.is_needed && declared(&reference.collection) {
                edges.extends.insert(reference.to);
            } else {
                edges.uses.insert(reference.to);
            }
        }
        for route in &self.routes {
            self.add_moved(&mut classes, route, declared);
        }
        let class = |path: &str| ClassName::native(path).ok();
        let classes = classes.into_iter().filter_map(|(path, edges)| {
            let name = class(&format!("{}.{path}", self.collection))?;
            let mut indexed = IndexedClass::new(name);
            let uses = edges.uses.difference(&edges.extends);
            indexed.uses = uses.filter_map(|used| class(used)).collect();
            indexed.extends = edges
                .extends
                .iter()
                .filter_map(|parent| class(parent))
                .collect();
            Some(indexed)
        });
        classes.collect()
    }

    /// The classes that the files and the routes within the collection define.
    fn defined(&self) -> BTreeMap<String, Relations> {
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for path in self.modules.keys().chain(&self.others) {
            let folders = path
                .match_indices('.')
                .map(|(dot, _)| path[..dot].to_owned());
            paths.extend(folders);
            paths.insert(path.clone());
        }
        let mut classes: BTreeMap<String, Relations> = BTreeMap::new();
        for path in paths {
            for name in self.names_of(&path) {
                classes.insert(format!("{path}.{name}"), Relations::default());
            }
            classes.insert(path, Relations::default());
        }
        // An action plug-in without a module of its name is used as a module.
        let actions: Vec<String> = classes
            .keys()
            .filter_map(|path| path.strip_prefix("plugins.action."))
            .filter(|name| !name.contains('.'))
            .map(|name| format!("plugins.modules.{name}"))
            .collect();
        for module in actions {
            classes.entry(module).or_default();
        }
        let routes: BTreeMap<String, &Route> = self
            .routes
            .iter()
            .map(|route| (format!("plugins.{}.{}", route.kind, route.name), route))
            .collect();
        let mut redirected = Vec::new();
        for (path, route) in &routes {
            if route.tombstone {
                let below = format!("{path}.");
                classes.retain(|class, _| class != path && !class.starts_with(&below));
            } else if let Some(target) = self.target_of(&routes, route) {
                redirected.push((path.clone(), target));
            }
        }
        for (path, target) in redirected {
            if !classes.contains_key(&target) || classes.contains_key(&path) {
                continue;
            }
            for name in self.names_of(&target) {
                classes.insert(format!("{path}.{name}"), Relations::default());
            }
            classes.insert(path, Relations::default());
        }
        classes
    }

    /// The path in the same collection to which redirects lead.
    fn target_of(&self, routes: &BTreeMap<String, &Route>, route: &Route) -> Option<String> {
        let mut current = route;
        for _ in 0..MAX_REDIRECTS {
            let (collection, path) = redirect_target(current)?;
            if collection != self.collection {
                return None;
            }
            match routes.get(&path) {
                Some(next) if next.redirect.is_some() => current = next,
                _ => return Some(path),
            }
        }
        None
    }

    /// Adds a name that is redirected into a declared dependency. Whether it works depends on the version of that, so
    /// it uses its target. A redirect into any other collection defines nothing: the plug-in has moved.
    fn add_moved(
        &self,
        classes: &mut BTreeMap<String, Relations>,
        route: &Route,
        declared: &dyn Fn(&str) -> bool,
    ) {
        let Some((collection, target)) = redirect_target(route) else {
            return;
        };
        let path = format!("plugins.{}.{}", route.kind, route.name);
        let is_core = matches!(&*collection, "ansible.builtin" | "ansible.legacy");
        if route.tombstone || collection == self.collection || !(is_core || declared(&collection)) {
            return;
        }
        classes.entry(format!("{path}.*")).or_default();
        let edges = classes.entry(path).or_default();
        if !is_core {
            edges.uses.insert(format!("{collection}.{target}"));
        }
    }

    /// The names of a module, with those that it imports by `*`; `*` if there may be more.
    fn names_of(&self, path: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut rest = vec![path.to_owned()];
        while let Some(path) = rest.pop() {
            let Some(module) = self.modules.get(&path) else {
                // A folder without `__init__.py` has no names but its modules.
                continue;
            };
            if !seen.insert(path) {
                continue;
            }
            let is_short = |name: &&String| is_identifier(name);
            names.extend(module.names.iter().filter(is_short).cloned());
            if module.is_open {
                names.insert("*".to_owned());
            }
            for star in &module.stars {
                let own = star
                    .strip_prefix(&self.collection)
                    .and_then(|rest| rest.strip_prefix('.'))
                    .filter(|path| self.modules.contains_key(*path));
                match own {
                    Some(own) => rest.push(own.to_owned()),
                    None => {
                        names.insert("*".to_owned());
                    }
                }
            }
        }
        names
    }

    /// The references to classes of other collections, in order and each once.
    pub fn foreign_references(&self) -> Vec<ForeignReference> {
        let mut references = Vec::new();
        for import in &self.imports {
            let Some((collection, _)) = split_collection(&import.target) else {
                continue;
            };
            let asked = if import.names.is_empty() {
                vec![import.target.clone()]
            } else {
                let names = import.names.iter();
                names
                    .map(|name| format!("{}.{name}", import.target))
                    .collect()
            };
            for to in asked {
                references.push(ForeignReference {
                    from: import.module.clone(),
                    to,
                    collection: collection.to_owned(),
                    is_needed: matches!(import.kind, ImportKind::Hard | ImportKind::Guarded),
                    is_unguarded: import.kind == ImportKind::Hard,
                    at: Some(import.at),
                });
            }
        }
        for (from, fragment) in &self.fragments {
            let mut parts = fragment.splitn(4, '.');
            let (Some(namespace), Some(name), Some(fragment)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let collection = format!("{namespace}.{name}");
            if is_collection_name(&collection) && is_identifier(fragment) {
                references.push(ForeignReference {
                    from: from.clone(),
                    to: format!("{collection}.plugins.doc_fragments.{fragment}"),
                    collection,
                    is_needed: !from.starts_with("plugins.modules."),
                    is_unguarded: false,
                    at: None,
                });
            }
        }
        for reference in &self.references {
            let Some((collection, name)) = split_collection(&reference.name) else {
                continue;
            };
            let to = match &*reference.kind {
                "roles" => format!("{collection}.roles.{name}"),
                kind => format!("{collection}.plugins.{kind}.{name}"),
            };
            references.push(ForeignReference {
                from: reference.place.clone(),
                to,
                collection: collection.to_owned(),
                is_needed: false,
                is_unguarded: false,
                at: None,
            });
        }
        references.retain(|reference| {
            let collection = &*reference.collection;
            collection != self.collection
                && !matches!(collection, "ansible.builtin" | "ansible.legacy")
                && is_collection_name(collection)
        });
        references.sort();
        references.dedup_by(|next, kept| {
            (&next.from, &next.to, next.is_needed) == (&kept.from, &kept.to, kept.is_needed)
        });
        references
    }
}

/// A collection and the rest of a dotted name.
pub(crate) fn split_collection(name: &str) -> Option<(&str, &str)> {
    let first = name.find('.')?;
    let second = first + 1 + name[first + 1..].find('.')?;
    Some((&name[..second], &name[second + 1..]))
}

/// The collection and path to which a route leads.
fn redirect_target(route: &Route) -> Option<(String, String)> {
    let redirect = route.redirect.as_deref()?;
    let (is_path, name) = match redirect.strip_prefix("ansible_collections.") {
        Some(name) => (true, name),
        None => (false, redirect),
    };
    let (collection, rest) = split_collection(name)?;
    let is_path = is_path || rest.starts_with("plugins.");
    let path = if is_path {
        rest.to_owned()
    } else {
        format!("plugins.{}.{rest}", route.kind)
    };
    Some((collection.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(target: &str, names: &[&str], kind: ImportKind) -> Import {
        Import {
            module: "plugins.modules.page".to_owned(),
            target: target.to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            kind,
            at: 0,
        }
    }

    fn module(names: &[&str], stars: &[&str]) -> Module {
        Module {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            stars: stars.iter().map(|name| (*name).to_owned()).collect(),
            is_open: false,
        }
    }

    fn route(kind: &str, name: &str, redirect: &str) -> Route {
        Route {
            kind: kind.to_owned(),
            name: name.to_owned(),
            redirect: Some(redirect.to_owned()),
            ..Route::default()
        }
    }

    fn facts() -> Facts {
        Facts {
            collection: "acme.web".to_owned(),
            modules: [
                ("plugins.modules.page".to_owned(), Module::default()),
                (
                    "plugins.module_utils.html.tags".to_owned(),
                    module(&["a", "b"], &[]),
                ),
            ]
            .into(),
            ..Facts::default()
        }
    }

    fn lines(facts: &Facts) -> Vec<String> {
        let classes = facts.classes(&|name| name == "acme.net");
        classes
            .iter()
            .map(|class| format!("{} {:?} {:?}", class.name, class.extends, class.uses))
            .filter(|line| !line.ends_with("[] []") || line.contains("module_utils"))
            .map(|line| {
                line.replace("acme.web.plugins.", "")
                    .replace("acme.net.plugins.", "net:")
            })
            .collect()
    }

    #[test]
    fn folders_modules_and_names_are_classes() {
        assert_eq!(
            lines(&facts()),
            [
                "module_utils [] []",
                "module_utils.html [] []",
                "module_utils.html.tags [] []",
                "module_utils.html.tags.a [] []",
                "module_utils.html.tags.b [] []",
            ]
        );
    }

    #[test]
    fn only_what_runs_at_load_time_extends_and_only_into_dependencies() {
        let mut facts = facts();
        facts.modules.remove("plugins.module_utils.html.tags");
        facts.imports = vec![
            import(
                "acme.net.plugins.module_utils.tcp",
                &["a", "b"],
                ImportKind::Hard,
            ),
            import(
                "acme.net.plugins.module_utils.udp",
                &[],
                ImportKind::Guarded,
            ),
            import(
                "acme.net.plugins.module_utils.ip",
                &[],
                ImportKind::Alternative,
            ),
            import("acme.net.plugins.module_utils.lazy", &[], ImportKind::Lazy),
            import("acme.other.plugins.module_utils.x", &[], ImportKind::Hard),
            import("acme.web.plugins.module_utils.y", &[], ImportKind::Hard),
            import("ansible.builtin.plugins.z", &[], ImportKind::Hard),
        ];
        let page = "plugins.modules.page".to_owned();
        facts.fragments = vec![
            (page.clone(), "acme.net.tcp.more".to_owned()),
            ("plugins.lookup.page".to_owned(), "acme.net.tcp".to_owned()),
            (page, "files".to_owned()),
        ];
        assert_eq!(
            lines(&facts),
            [
                "lookup.page [net:doc_fragments.tcp] []",
                "modules.page [net:module_utils.tcp.a, net:module_utils.tcp.b, net:module_utils.udp] \
                 [net:doc_fragments.tcp, net:module_utils.ip, net:module_utils.lazy, \
                 acme.other.plugins.module_utils.x]",
            ]
        );
    }

    #[test]
    fn routes_count_as_what_they_are() {
        let mut facts = facts();
        facts
            .modules
            .insert("plugins.module_utils.gone".to_owned(), module(&["x"], &[]));
        facts.routes = vec![
            route("module_utils", "old", "acme.web.html.tags"),
            route("module_utils", "older", "acme.web.old"),
            route("module_utils", "loop", "acme.web.loop"),
            route("module_utils", "lost", "acme.web.nothing"),
            route(
                "module_utils",
                "moved",
                "ansible_collections.acme.other.plugins.module_utils.x",
            ),
            route("module_utils", "net", "acme.net.tcp"),
            Route {
                tombstone: true,
                ..route("module_utils", "gone", "acme.web.html.tags")
            },
        ];
        assert_eq!(
            lines(&facts),
            [
                "module_utils [] []",
                "module_utils.html [] []",
                "module_utils.html.tags [] []",
                "module_utils.html.tags.a [] []",
                "module_utils.html.tags.b [] []",
                "module_utils.net [] [net:module_utils.tcp]",
                "module_utils.net.* [] []",
                "module_utils.old [] []",
                "module_utils.old.a [] []",
                "module_utils.old.b [] []",
                "module_utils.older [] []",
                "module_utils.older.a [] []",
                "module_utils.older.b [] []",
            ]
        );
    }

    #[test]
    fn star_imports_within_the_collection_are_followed() {
        let mut facts = facts();
        let own = "acme.web.plugins.module_utils.";
        facts.modules.insert(
            "plugins.module_utils.all".to_owned(),
            module(&["c"], &[&format!("{own}html.tags"), &format!("{own}all")]),
        );
        facts.modules.insert(
            "plugins.module_utils.any".to_owned(),
            module(&[], &["acme.net.plugins.module_utils.tcp"]),
        );
        let lines = lines(&facts);
        for expected in ["all.a", "all.b", "all.c", "any.*"] {
            assert!(
                lines.contains(&format!("module_utils.{expected} [] []")),
                "{expected}"
            );
        }
        assert!(!lines.contains(&"module_utils.all.* [] []".to_owned()));
    }
}
