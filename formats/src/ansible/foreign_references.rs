//! Lists what a collection refers to in other collections.

use pkgres_manifest::{ClassName, PackageName};

use super::facts::{Facts, has_own_file, split_collection};
use super::name::{is_collection_name, is_identifier};
use super::python::ImportKind;
use crate::references::ClassReference;

impl Facts {
    /// The references to classes of other collections, in order and each once.
    pub fn foreign_references(&self) -> Vec<ClassReference> {
        let mut references = self.imported();
        references.extend(self.named_fragments());
        references.extend(self.named_in_yaml());
        references.sort();
        references.dedup_by(|next, kept| {
            (&next.from, &next.to, next.is_needed) == (&kept.from, &kept.to, kept.is_needed)
        });
        references
    }

    /// The plug-ins that are redirected into other collections, as references to the plug-ins that are used instead. Those
    /// without [a file of their own](has_own_file) are left out.
    pub(super) fn redirected_elsewhere(&self) -> Vec<ClassReference> {
        let routes = self.routes_by_path();
        let ends = self.ends_of_redirects().into_iter();
        let ends = ends.filter(|(path, _)| has_own_file(path));
        let references = ends.filter_map(|(path, (collection, target))| {
            let reference = self.reference(&path, &collection, &target)?;
            Some(ClassReference {
                is_needed: routes.get(&path).is_some_and(|route| route.is_of_imports()),
                ..reference
            })
        });
        references.collect()
    }

    /// A reference that is not needed; `None` if it leads to no class of another collection. ansible-core is none, and
    /// what is elsewhere than in the folders with classes, such as `tests`, is not known.
    fn reference(&self, from: &str, collection: &str, path: &str) -> Option<ClassReference> {
        let is_core = matches!(collection, "ansible.builtin" | "ansible.legacy");
        let folder = path.split('.').next().unwrap_or(path);
        if !matches!(folder, "plugins" | "roles" | "playbooks") {
            return None;
        }
        if is_core || collection == self.collection || !is_collection_name(collection) {
            return None;
        }
        Some(ClassReference {
            from: from.to_owned(),
            to: ClassName::native(&format!("{collection}.{path}")).ok()?,
            package: PackageName::native(collection).ok()?,
            is_needed: false,
            is_unguarded: false,
            at: None,
        })
    }

    fn imported(&self) -> Vec<ClassReference> {
        let mut references = Vec::new();
        for import in &self.imports {
            let Some((collection, module)) = split_collection(&import.target) else {
                continue;
            };
            let mut add = |path: &str| {
                let reference = self.reference(&import.module, collection, path);
                references.extend(reference.map(|reference| ClassReference {
                    is_needed: matches!(import.kind, ImportKind::Hard | ImportKind::Guarded),
                    is_unguarded: import.kind == ImportKind::Hard,
                    at: Some((import.path.clone(), import.at)),
                    ..reference
                }));
            };
            if import.names.is_empty() {
                add(module);
            }
            for name in &import.names {
                add(&format!("{module}.{name}"));
            }
        }
        references
    }

    /// Documentation fragments. Modules work without them.
    fn named_fragments(&self) -> impl Iterator<Item = ClassReference> {
        self.fragments.iter().filter_map(|(from, fragment)| {
            let (collection, rest) = split_collection(fragment)?;
            let name = rest.split('.').next().filter(|name| is_identifier(name))?;
            let path = format!("plugins.doc_fragments.{name}");
            let reference = self.reference(from, collection, &path)?;
            Some(ClassReference {
                is_needed: !from.starts_with("plugins.modules."),
                ..reference
            })
        })
    }

    /// Names of plug-ins and roles in YAML, and in arguments of modules.
    fn named_in_yaml(&self) -> impl Iterator<Item = ClassReference> {
        self.references.iter().filter_map(|named| {
            let (collection, name) = split_collection(&named.name)?;
            self.reference(&named.place, collection, &path_of(&named.kind, name))
        })
    }
}

/// The path in its collection of something that is looked up by its name in a folder of plug-ins, or among the roles or
/// playbooks.
pub(super) fn path_of(kind: &str, name: &str) -> String {
    match kind {
        "roles" | "playbooks" => format!("{kind}.{name}"),
        kind => format!("plugins.{kind}.{name}"),
    }
}
