//! Resolution of paths: to the module that defines the item, or to another crate.

use std::collections::BTreeSet;

use crate::sources::{Crate, Meaning, ModuleId, Written};

/// How many imports may follow each other. The sources compile, so that only an import that this
/// module does not understand, such as one of a crate that is named like a module, needs more.
const MAX_IMPORTS: usize = 16;

/// Where something is defined.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    /// The module that defines it.
    pub(crate) module: ModuleId,
    /// The item; none if it is the module itself, or what a macro defines there.
    pub(crate) item: Option<String>,
}

impl Crate {
    /// The definitions that a path in a module means. Re-exports are followed. Empty for what other crates define;
    /// several where an item and a module share a name.
    pub(crate) fn definitions(&self, module: ModuleId, path: &[String]) -> BTreeSet<Definition> {
        let mut found = BTreeSet::new();
        self.follow(module, path, MAX_IMPORTS, &mut found);
        found
    }

    /// A path with the import that its first name comes from: `Instant::now` as
    /// `std::time::Instant::now`.
    pub(crate) fn in_full(&self, module: ModuleId, path: &[String]) -> Written {
        let names = &self.modules[module].names;
        let meanings = path.first().and_then(|name| names.get(name));
        let import = meanings
            .into_iter()
            .flatten()
            .find_map(|meaning| match meaning {
                Meaning::Import(import) => Some(import),
                Meaning::Module(_) | Meaning::Item => None,
            });
        match import {
            Some(import) => import.iter().chain(&path[1..]).cloned().collect(),
            None => path.to_vec(),
        }
    }

    fn follow(
        &self,
        module: ModuleId,
        path: &[String],
        imports_left: usize,
        found: &mut BTreeSet<Definition>,
    ) {
        let mut start = None;
        let mut rest = path;
        while let [first, others @ ..] = rest {
            start = match first.as_str() {
                "crate" => Some(0),
                "self" => Some(start.unwrap_or(module)),
                "super" => self.modules[start.unwrap_or(module)].parent,
                _ => break,
            };
            rest = others;
        }
        match (start, rest) {
            (Some(start), _) => self.walk(start, rest, imports_left, found),
            // A name alone may be a variable as well, which modules are not.
            (None, [name]) if !self.is_imported(module, name) => {}
            (None, _) => {
                self.look_up(module, rest, imports_left, found);
            }
        }
    }

    /// Follows a path from a module to whose names its first segment belongs.
    fn walk(
        &self,
        module: ModuleId,
        path: &[String],
        imports_left: usize,
        found: &mut BTreeSet<Definition>,
    ) {
        if path.is_empty() || !self.look_up(module, path, imports_left, found) {
            found.insert(Definition { module, item: None });
        }
    }

    /// Follows a path whose first segment a module knows. Returns whether it does.
    fn look_up(
        &self,
        module: ModuleId,
        path: &[String],
        imports_left: usize,
        found: &mut BTreeSet<Definition>,
    ) -> bool {
        let [name, rest @ ..] = path else {
            return false;
        };
        let Some(meanings) = self.modules[module].names.get(name) else {
            return self.look_up_in_globs(module, path, imports_left, found);
        };
        for meaning in meanings {
            match meaning {
                Meaning::Module(child) => self.walk(*child, rest, imports_left, found),
                Meaning::Item => {
                    let item = Some(name.clone());
                    found.insert(Definition { module, item });
                }
                Meaning::Import(import) if imports_left > 0 && import != path => {
                    let path: Written = import.iter().chain(rest).cloned().collect();
                    self.follow(module, &path, imports_left - 1, found);
                }
                Meaning::Import(_) => {}
            }
        }
        true
    }

    fn look_up_in_globs(
        &self,
        module: ModuleId,
        path: &[String],
        imports_left: usize,
        found: &mut BTreeSet<Definition>,
    ) -> bool {
        if imports_left == 0 {
            return false;
        }
        let globs = self.modules[module].globs.iter();
        let mut imported = globs.flat_map(|glob| self.definitions(module, glob));
        imported.any(|from| {
            from.module != module && self.look_up(from.module, path, imports_left - 1, found)
        })
    }

    /// Whether a name alone is an item of the module or imported by it, not merely its child.
    fn is_imported(&self, module: ModuleId, name: &str) -> bool {
        let module = &self.modules[module];
        let meanings = module.names.get(name).into_iter().flatten();
        !module.globs.is_empty()
            || meanings
                .into_iter()
                .any(|meaning| !matches!(meaning, Meaning::Module(_)))
    }
}
