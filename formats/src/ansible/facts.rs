//! What a collection contains and refers to, and the classes that follow from it.
//!
//! A class is a dotted path below the collection: a module or folder of `plugins`, a name at the top level of such a
//! module, a role or a playbook. `path.*` matches every name of a module whose names are unknown.
//!
//! An import that runs when its module is loaded *extends* its target, if the target is in a declared dependency: a
//! version without the target does not work. So does a redirect of something that is imported. Everything else *uses*
//! its target: imports in functions, imports that another branch can replace, names in YAML, and all references to
//! collections that are not declared.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexedClass, Version};

use super::name::{is_collection_name, is_identifier};
use super::python::Import;

/// The most redirects from one name to another that are followed.
const MAX_REDIRECTS: usize = 16;

/// After this many classes from redirects, the rest are written as `*`.
const MAX_REDIRECTED_CLASSES: usize = 100_000;

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

/// An entry of `plugin_routing` or `import_redirection`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The kind of plug-in, such as `modules`.
    pub kind: String,
    /// The name of the plug-in without its collection.
    pub name: String,
    /// The name that is used instead.
    pub redirect: Option<String>,
    /// Whether the plug-in was removed.
    pub tombstone: bool,
    /// The version that removes the plug-in, or has removed it.
    pub removal_version: Option<Version>,
    /// Whether the plug-in is deprecated.
    pub deprecated: bool,
    /// Whether it is an entry of `import_redirection`, which also redirects what is below a package.
    pub redirects_imports: bool,
}

impl Route {
    /// Whether others import what it redirects, so that they do not load without its target. Plug-ins of other kinds are
    /// only looked up where a task names them.
    pub(super) fn is_of_imports(&self) -> bool {
        self.redirects_imports || matches!(&*self.kind, "module_utils" | "doc_fragments")
    }
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

/// Facts about a collection: its modules, other files and references. Paths are dotted and without the collection.
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
    /// Documentation fragments of other collections: the plug-in and the name of the fragment.
    pub fragments: Vec<(String, String)>,
    /// Fully qualified names.
    pub references: Vec<Reference>,
    /// The routes of plug-ins.
    pub routes: Vec<Route>,
}

/// What a class extends and uses.
#[derive(Default)]
struct Relations {
    extends: BTreeSet<ClassName>,
    uses: BTreeSet<ClassName>,
    /// The plug-in of a collection that is not required which is used in its place.
    moved_to: Option<ClassName>,
}

impl Facts {
    /// The classes of the collection. `declared` says whether a collection is a declared dependency.
    pub fn classes(&self, declared: &dyn Fn(&str) -> bool) -> Vec<IndexedClass> {
        let mut classes = self.defined();
        for reference in self.foreign_references() {
            let edges = classes.entry(reference.from).or_default();
            if reference.is_needed && declared(reference.package.as_str()) {
                edges.extends.insert(reference.to);
            } else {
                edges.uses.insert(reference.to);
            }
        }
        let routes = self.routes_by_path();
        for (path, route) in &routes {
            if let Some(end) = self.end_of(&routes, route).filter(|_| !route.tombstone) {
                self.add_moved(&mut classes, path, (route, end), declared);
            }
        }
        let classes = classes.into_iter().filter_map(|(path, edges)| {
            let name = ClassName::native(&format!("{}.{path}", self.collection)).ok()?;
            if let Some(target) = edges.moved_to {
                return Some(moved_class(name, target));
            }
            let mut indexed = IndexedClass::new(name);
            let uses = edges.uses.difference(&edges.extends);
            indexed.uses = uses.cloned().collect();
            indexed.extends = edges.extends.into_iter().collect();
            Some(indexed)
        });
        classes.collect()
    }

    /// The classes that the files and the routes within the collection define.
    fn defined(&self) -> BTreeMap<String, Relations> {
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for path in self.modules.keys().chain(&self.others) {
            // A folder of roles is no role.
            let is_role = path.starts_with("roles.");
            let folders = path.match_indices('.').map(|(dot, _)| &path[..dot]);
            let folders = folders.take(if is_role { 1 } else { usize::MAX });
            paths.extend(folders.map(str::to_owned));
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
        for path in self.modules.keys() {
            let Some(name) = path.strip_prefix("plugins.action.") else {
                continue;
            };
            let below = format!("{path}.");
            let next = self.modules.range(below.clone()..).next();
            let is_package = next.is_some_and(|(next, _)| next.starts_with(&below));
            if !is_package {
                classes
                    .entry(format!("plugins.modules.{name}"))
                    .or_default();
            }
        }
        let routes = self.routes_by_path();
        let mut redirected = Vec::new();
        for (path, route) in &routes {
            if route.tombstone {
                let below = format!("{path}.");
                classes.retain(|class, _| class != path && !class.starts_with(&below));
            } else if let Some(target) = self.target_of(&routes, route) {
                redirected.push((path.clone(), target, route.redirects_imports));
            }
        }
        let mut added: BTreeSet<String> = BTreeSet::new();
        for (path, target, redirects_imports) in redirected {
            if !classes.contains_key(&target) || classes.contains_key(&path) {
                continue;
            }
            let mut names = BTreeSet::new();
            if added.len() >= MAX_REDIRECTED_CLASSES {
                names.insert("*".to_owned());
            } else {
                names.extend(self.names_of(&target));
                if redirects_imports {
                    let below = format!("{target}.");
                    let members = classes.range(below.clone()..);
                    let members = members.map_while(|(class, _)| class.strip_prefix(&below));
                    names.extend(members.map(str::to_owned));
                }
            }
            added.extend(names.into_iter().map(|name| format!("{path}.{name}")));
            added.insert(path);
        }
        for class in added {
            classes.entry(class).or_default();
        }
        classes
    }

    /// The plug-ins that are redirected within the collection: their paths, and those of the plug-ins that are used
    /// instead.
    pub(super) fn redirects(&self) -> Vec<(String, String)> {
        let ends = self.ends_of_redirects().into_iter();
        ends.filter(|(_, (collection, _))| *collection == self.collection)
            .map(|(path, (_, target))| (path, target))
            .collect()
    }

    /// The plug-ins that are redirected within the collection to something that it does not have.
    pub(super) fn dangling_redirects(&self) -> Vec<(String, String)> {
        let redirects = self.redirects();
        if redirects.is_empty() {
            return redirects;
        }
        let defined = self.defined();
        let mut dangling = redirects;
        dangling.retain(|(path, target)| has_own_file(path) && !defined.contains_key(target));
        dangling
    }

    /// The plug-ins that are redirected: their paths, and the collections and paths of those that are used instead.
    pub(super) fn ends_of_redirects(&self) -> Vec<(String, (String, String))> {
        let routes = self.routes_by_path();
        let used = routes.iter().filter(|(_, route)| !route.tombstone);
        let ends = used.filter_map(|(path, route)| {
            let end = self.end_of(&routes, route)?;
            Some((path.clone(), end))
        });
        ends.collect()
    }

    /// The path in the same collection to which redirects lead.
    fn target_of(&self, routes: &BTreeMap<String, &Route>, route: &Route) -> Option<String> {
        let (collection, path) = self.end_of(routes, route)?;
        (collection == self.collection).then_some(path)
    }

    /// The collection and path to which redirects lead.
    fn end_of(&self, routes: &BTreeMap<String, &Route>, route: &Route) -> Option<(String, String)> {
        let mut current = route;
        for _ in 0..MAX_REDIRECTS {
            let (collection, path) = redirect_target(current)?;
            match routes.get(&path) {
                Some(next) if next.redirect.is_some() && collection == self.collection => {
                    current = next;
                }
                _ => return Some((collection, path)),
            }
        }
        None
    }

    /// The routes by the paths of their plug-ins.
    pub(super) fn routes_by_path(&self) -> BTreeMap<String, &Route> {
        let routes = self.routes.iter();
        routes
            .map(|route| (format!("plugins.{}.{}", route.kind, route.name), route))
            .collect()
    }

    /// Adds a name that is redirected into another collection. If that is a declared dependency, the name is a class that
    /// extends its target [if it is imported](Route::is_of_imports), or else uses it, because it depends on the version
    /// whether it works; one without [a file of its own](has_own_file) uses nothing. A redirect into any other collection defines nothing: the plug-in
    /// [has moved](super::moved).
    fn add_moved(
        &self,
        classes: &mut BTreeMap<String, Relations>,
        path: &str,
        (route, (collection, target)): (&Route, (String, String)),
        declared: &dyn Fn(&str) -> bool,
    ) {
        let is_core = matches!(&*collection, "ansible.builtin" | "ansible.legacy");
        if collection == self.collection {
            return;
        }
        let target = ClassName::native(&format!("{collection}.{target}")).ok();
        if !(is_core || declared(&collection)) {
            if is_collection_name(&collection)
                && let Some(target) = target
                && !classes.contains_key(path)
            {
                let moved_to = Some(target);
                let relations = Relations {
                    moved_to,
                    ..Relations::default()
                };
                classes.insert(path.to_owned(), relations);
            }
            return;
        }
        classes.entry(format!("{path}.*")).or_default();
        let edges = classes.entry(path.to_owned()).or_default();
        if is_core || !has_own_file(path) {
            return;
        }
        if route.is_of_imports() {
            edges.extends.extend(target);
        } else {
            edges.uses.extend(target);
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
}

/// The class for a plug-in that [has moved](super::moved).
pub(super) fn moved_class(name: ClassName, target: ClassName) -> IndexedClass {
    let mut class = IndexedClass::new(name);
    class.internal = true;
    class.uses = vec![target];
    class
}

/// A collection and the rest of a dotted name.
pub(crate) fn split_collection(name: &str) -> Option<(&str, &str)> {
    let first = name.find('.')?;
    let second = first + 1 + name[first + 1..].find('.')?;
    Some((&name[..second], &name[second + 1..]))
}

/// Whether a plug-in with this path in its collection is found by a file of its name. Filters and tests are not: one file
/// defines many, and their names are only known once it is loaded.
pub(super) fn has_own_file(path: &str) -> bool {
    let kind = path.strip_prefix("plugins.").unwrap_or(path);
    let kind = kind.split('.').next().unwrap_or(kind);
    !matches!(kind, "filter" | "test")
}

/// The collection and path to which a route leads.
pub(super) fn redirect_target(route: &Route) -> Option<(String, String)> {
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
mod tests;
