//! Checks a collection for imports that its dependencies do not guarantee.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{ClassName, PackageName, ReadOptions, Requirement, Version};

use super::facts::Facts;
use super::facts_of_files::named_places;
use super::removed_plugins::ForeignRoutes;
use crate::lookup::{FileTree, ReleaseLookup};
use crate::references::{
    AllowedReleases, ClassReference, ReferenceHints, ReferenceWords, References, somewhere_in,
};

/// The references of a collection that is checked.
pub(crate) struct CollectionReferences<'check> {
    pub(crate) facts: &'check Facts,
    pub(crate) tree: &'check dyn FileTree,
    /// What precedes the paths of its files in messages: its folder, or its artifact, with a slash.
    pub(super) prefix: &'check str,
    /// The path of the file that states the dependencies.
    pub(crate) manifest: &'check str,
    pub(crate) options: &'check ReadOptions,
    pub(super) routes: ForeignRoutes<'check>,
    /// Where its YAML files name classes of other collections, once it was asked for.
    pub(super) named: OnceCell<BTreeMap<(String, ClassName), Location>>,
}

impl<'check> CollectionReferences<'check> {
    /// The references of the collection with these facts. `known` looks up the collections that it names.
    pub(super) fn new(
        facts: &'check Facts,
        tree: &'check dyn FileTree,
        prefix: &'check str,
        manifest: &'check str,
        options: &'check ReadOptions,
        known: &'check dyn ReleaseLookup,
    ) -> Self {
        Self {
            facts,
            tree,
            prefix,
            manifest,
            options,
            routes: ForeignRoutes::new(known, options),
            named: OnceCell::new(),
        }
    }
}

impl References for CollectionReferences<'_> {
    fn references(&self) -> Vec<ClassReference> {
        self.facts.foreign_references()
    }

    fn verb(&self, reference: &ClassReference) -> &'static str {
        if reference.at.is_some() {
            "imports"
        } else {
            "names"
        }
    }

    fn words(&self) -> ReferenceWords {
        ReferenceWords {
            classes: "modules",
            references: "imports from it",
            needed: "imported",
            used: "named",
        }
    }

    fn declaration(&self, package: &PackageName, least: Option<&Version>) -> Option<String> {
        let range = least.map_or_else(|| "*".to_owned(), |least| format!(">={least}"));
        Some(format!("add `{package}: \"{range}\"` to `dependencies`"))
    }

    fn hints(&self) -> &dyn ReferenceHints {
        &self.routes
    }

    /// Warnings about plug-ins that are used and that a version that the range allows will not have.
    fn other_findings(
        &self,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        self.routes
            .removed_soon(self, self.manifest, references, requirement, allowed)
    }

    /// The place of a reference: the import, the name in a YAML file, or the beginning of its file.
    fn place_of(&self, reference: &ClassReference) -> Location {
        let stem = reference.from.replace('.', "/");
        let limit = self.options.limits.class_file_bytes;
        for path in [format!("{stem}.py"), format!("{stem}/__init__.py")] {
            let Ok(Some(bytes)) = self.tree.read(&path, limit) else {
                continue;
            };
            let Ok(text) = String::from_utf8(bytes) else {
                break;
            };
            let span = reference.at.filter(|at| text.is_char_boundary(*at));
            let span = span.map_or_else(Span::default, |at| {
                let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
                Span { start: at, end }
            });
            let path = format!("{}{path}", self.prefix);
            return Location::new(&SourceText::new(path, text), span);
        }
        let named = || named_places(self.tree, self.prefix, self.options);
        let named = self.named.get_or_init(named);
        let place = named.get(&(reference.from.clone(), reference.to.clone()));
        place.map_or_else(|| somewhere_in(self.manifest), Clone::clone)
    }
}
