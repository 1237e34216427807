//! Checks a collection for imports that its dependencies do not guarantee.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{
    ClassName, IndexRecord, Limits, PackageName, ReadOptions, Requirement, Version,
};

use super::documentation::foreign_fragments;
use super::facts::{Facts, split_collection};
use super::facts_of_files::named_places;
use super::removed_plugins::ForeignRoutes;
use super::runtime_yml::{RUNTIME_FILE, places_of_redirects};
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
    /// The plug-ins that are redirected into collections that it requires, as references.
    redirects: Vec<ClassReference>,
    /// Where its YAML files name classes of other collections, once it was asked for.
    pub(super) named: OnceCell<BTreeMap<(String, ClassName), Location>>,
    /// Where its plug-ins are redirected, by their paths, once it was asked for.
    redirect_places: OnceCell<BTreeMap<String, Location>>,
    /// The modules in which references were located, by their paths; `None` for what cannot be read.
    modules: RefCell<BTreeMap<String, Option<Rc<LocatedModule>>>>,
}

impl<'check> CollectionReferences<'check> {
    /// The references of the collection with this record and these facts. `known` looks up the collections that it names.
    pub(super) fn new(
        record: &IndexRecord,
        facts: &'check Facts,
        tree: &'check dyn FileTree,
        prefix: &'check str,
        manifest: &'check str,
        options: &'check ReadOptions,
        known: &'check dyn ReleaseLookup,
    ) -> Self {
        // Plug-ins that moved to a collection that is not required work where that happens to be installed.
        let mut redirects = facts.redirected_elsewhere();
        redirects.retain(|redirect| {
            let mut requirements = record.requirements.iter();
            requirements.any(|requirement| requirement.package == redirect.package)
        });
        Self {
            redirects,
            facts,
            tree,
            prefix,
            manifest,
            options,
            routes: ForeignRoutes::new(known, options),
            named: OnceCell::new(),
            redirect_places: OnceCell::new(),
            modules: RefCell::default(),
        }
    }

    /// Warnings about plug-ins that are redirected within the collection to something that it does not have.
    pub(super) fn dangling_redirects(&self) -> Vec<Diagnostic> {
        let dangling = self.facts.dangling_redirects().into_iter();
        let findings = dangling.map(|(path, target)| {
            let message = format!(
                "`{}` is redirected to `{}`, which the collection does not have",
                Escaped::shortened(&path),
                Escaped::shortened(&target)
            );
            Diagnostic::warning(Code::UndefinedUse, message).at(self.place_of_redirect(&path))
        });
        findings.collect()
    }

    fn place_of_redirect(&self, path: &str) -> Location {
        let limits = &self.options.limits;
        let shown = format!("{}{RUNTIME_FILE}", self.prefix);
        let places = self.redirect_places.get_or_init(|| {
            let read = self.tree.read(RUNTIME_FILE, limits.manifest_bytes);
            let bytes = read.ok().flatten().unwrap_or_default();
            places_of_redirects(&shown, &bytes, limits)
        });
        let place = places.get(path).cloned();
        place.unwrap_or_else(|| somewhere_in(&shown))
    }

    /// A module, if it can be read.
    fn module(&self, path: String) -> Option<Rc<LocatedModule>> {
        let mut modules = self.modules.borrow_mut();
        if let Some(known) = modules.get(&path) {
            return known.clone();
        }
        let limits = &self.options.limits;
        let bytes = self
            .tree
            .read(&path, limits.class_file_bytes)
            .ok()
            .flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let module = text.map(|text| {
            let shown = format!("{}{path}", self.prefix);
            let own = &self.facts.collection;
            Rc::new(LocatedModule::new(own, &path, shown, text, limits))
        });
        modules.insert(path, module.clone());
        module
    }

    /// Whether a reference is that of a plug-in to the one that it is redirected to.
    fn is_redirect(&self, reference: &ClassReference) -> bool {
        self.redirects.contains(reference)
    }
}

/// A module with references. It is read once, however many of them are located in it.
struct LocatedModule {
    source: Arc<SourceText>,
    /// The first place of each documentation fragment of other collections that it names.
    fragments: BTreeMap<String, usize>,
}

impl LocatedModule {
    fn new(own: &str, path: &str, shown: String, text: String, limits: &Limits) -> Self {
        let mut fragments = BTreeMap::new();
        for (at, named) in foreign_fragments(own, path, text.as_bytes(), limits) {
            fragments.entry(fragment_of(&named)).or_insert(at);
        }
        Self {
            source: SourceText::new(shown, text),
            fragments,
        }
    }

    /// The line from a reference on, if its place is known.
    fn location(&self, reference: &ClassReference) -> Location {
        let text = self.source.text();
        let stated = reference.at.as_ref().map(|(_, at)| *at);
        let at = stated.or_else(|| {
            let (collection, path) = split_collection(reference.to.as_str())?;
            let name = path.strip_prefix("plugins.doc_fragments.")?;
            let fragment = format!("{collection}.{name}");
            self.fragments.get(&fragment).copied()
        });
        let span = at.filter(|at| text.is_char_boundary(*at));
        let span = span.map_or_else(Span::default, |at| {
            let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
            Span { start: at, end }
        });
        Location::new(&self.source, span)
    }
}

/// A fragment without the name of a text in it.
fn fragment_of(named: &str) -> String {
    let (collection, rest) = split_collection(named).unwrap_or_default();
    let name = rest.split('.').next().unwrap_or_default();
    format!("{collection}.{name}")
}

impl References for CollectionReferences<'_> {
    fn references(&self) -> Vec<ClassReference> {
        let mut references = self.facts.foreign_references();
        references.extend(self.redirects.iter().cloned());
        references
    }

    fn verb(&self, reference: &ClassReference) -> &'static str {
        if reference.at.is_some() {
            "imports"
        } else if self.is_redirect(reference) {
            "is redirected to"
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
        (self.routes).warnings(self, self.manifest, references, requirement, allowed)
    }

    /// The place of a reference: the import, the redirect, the name in a file, or the beginning of its file.
    fn place_of(&self, reference: &ClassReference) -> Location {
        if self.is_redirect(reference) {
            return self.place_of_redirect(&reference.from);
        }
        let stem = reference.from.replace('.', "/");
        let paths = match &reference.at {
            Some((path, _)) => vec![path.clone()],
            None => vec![format!("{stem}.py"), format!("{stem}/__init__.py")],
        };
        for path in paths {
            if let Some(module) = self.module(path) {
                return module.location(reference);
            }
        }
        let named = || named_places(self.tree, self.prefix, self.options);
        let named = self.named.get_or_init(named);
        let place = named.get(&(reference.from.clone(), reference.to.clone()));
        place.map_or_else(|| somewhere_in(self.manifest), Clone::clone)
    }
}
