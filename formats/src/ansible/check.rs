//! Checks a collection that can be read, for imports that its dependencies do not guarantee.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, Requirement, Version};

use super::artifact::CollectionArtifact;
use super::facts::{Facts, Route};
use super::narrow::{narrowed_range, with_clause};
use super::runtime::{self, RUNTIME_FILE};
use crate::lookup::{FileTree, ReleaseContent, ReleaseLookup};
use crate::references::{
    AllowedReleases, ClassReference, ReferenceWords, References, somewhere_in,
};

/// The references of a collection that is checked.
pub(crate) struct CollectionReferences<'check> {
    pub(crate) facts: &'check Facts,
    pub(crate) tree: &'check dyn FileTree,
    /// The path of the file that states the dependencies.
    pub(crate) manifest: &'check str,
    pub(crate) known: &'check dyn ReleaseLookup,
    pub(crate) options: &'check ReadOptions,
    /// The routes of the newest allowed release of each dependency, as far as they were read.
    pub(crate) routes: RefCell<BTreeMap<PackageName, Rc<[Route]>>>,
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
        }
    }

    fn declaration(&self, package: &PackageName, least: Option<&Version>) -> Option<String> {
        let range = least.map_or_else(|| "*".to_owned(), |least| format!(">={least}"));
        Some(format!("add `{package}: \"{range}\"` to `dependencies`"))
    }

    fn narrowed(&self, range: &str, fits: &[(&Version, bool)]) -> Option<String> {
        narrowed_range(range, fits)
    }

    fn explain_missing(
        &self,
        reference: &ClassReference,
        allowed: &AllowedReleases,
    ) -> Option<String> {
        let routes = self.routes_of(allowed);
        let route = route_of(&routes, reference)?;
        let newest = &allowed.newest()?.version;
        route.tombstone.then(|| {
            let name = &allowed.name;
            format!("`meta/runtime.yml` of {name} {newest} says that it is gone")
        })
    }

    /// Warnings about plug-ins that are used and that a version that the range allows will not have.
    fn other_findings(
        &self,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        let routes = self.routes_of(allowed);
        let mut seen = BTreeSet::new();
        let mut findings = Vec::new();
        for reference in references {
            let Some(route) = route_of(&routes, reference) else {
                continue;
            };
            let Some(removal) = &route.removal_version else {
                continue;
            };
            let is_reached = route.deprecated && requirement.spec.matches(removal);
            if !is_reached || !seen.insert((&route.kind, &route.name)) {
                continue;
            }
            let message = format!(
                "`{}` uses `{}.{}`, which is deprecated and will be gone in {removal}, and the range `{}` allows that version",
                Escaped::shortened(&reference.from),
                allowed.name,
                Escaped::shortened(&route.name),
                Escaped::shortened(requirement.spec.written()),
            );
            let stated = requirement.location.clone();
            let mut finding = Diagnostic::warning(Code::RemovedSoon, message)
                .at(self.place_of(reference))
                .label(
                    stated.unwrap_or_else(|| somewhere_in(self.manifest)),
                    "the range is stated here",
                )
                .hint(format!(
                    "until it is replaced, `{}` keeps that version away",
                    with_clause(requirement.spec.written(), &format!("<{removal}"))
                ));
            if let Some(redirect) = &route.redirect {
                finding = finding.hint(format!(
                    "`{}` is used in its place already",
                    Escaped::shortened(redirect)
                ));
            }
            findings.push(finding);
        }
        findings
    }

    /// The place of a reference: the import, or the beginning of its file.
    fn place_of(&self, reference: &ClassReference) -> Location {
        let stem = reference.from.replace('.', "/");
        let folder = self
            .manifest
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        let limit = self.options.limits.class_file_bytes;
        for path in [format!("{stem}.py"), format!("{stem}/__init__.py")] {
            let Ok(Some(bytes)) = self.tree.read(&path, limit) else {
                continue;
            };
            let shown = if folder.is_empty() {
                path
            } else {
                format!("{folder}/{path}")
            };
            let Ok(text) = String::from_utf8(bytes) else {
                break;
            };
            let span = reference.at.filter(|at| text.is_char_boundary(*at));
            let span = span.map_or_else(Span::default, |at| {
                let end = text[at..].find('\n').map_or(text.len(), |line| at + line);
                Span { start: at, end }
            });
            return Location::new(&SourceText::new(shown, text), span);
        }
        somewhere_in(self.manifest)
    }
}

impl CollectionReferences<'_> {
    /// The routes of plug-ins in the newest of some releases.
    fn routes_of(&self, allowed: &AllowedReleases) -> Rc<[Route]> {
        let mut known = self.routes.borrow_mut();
        let routes = known.entry(allowed.name.clone()).or_insert_with(|| {
            let newest = allowed.newest();
            newest
                .map(|newest| self.read_routes(newest))
                .unwrap_or_default()
                .into()
        });
        Rc::clone(routes)
    }

    fn read_routes(&self, record: &IndexRecord) -> Vec<Route> {
        let limit = self.options.limits.manifest_bytes;
        let read = |tree: &dyn FileTree| tree.read(RUNTIME_FILE, limit).ok().flatten();
        let bytes = match self.known.content(record) {
            Some(ReleaseContent::Folder(tree)) => read(tree.as_ref()),
            Some(ReleaseContent::File(bytes)) => {
                let artifact = CollectionArtifact::read("artifact", &bytes, self.options);
                artifact.ok().and_then(|artifact| read(&artifact))
            }
            None => None,
        };
        let Some(bytes) = bytes else {
            return Vec::new();
        };
        let (runtime, _) = runtime::read(RUNTIME_FILE, &bytes, &self.options.limits);
        runtime.routes
    }
}

/// The route of the plug-in that a reference leads to.
fn route_of<'routes>(
    routes: &'routes [Route],
    reference: &ClassReference,
) -> Option<&'routes Route> {
    let path = reference
        .to
        .as_str()
        .strip_prefix(reference.package.as_str())?;
    let path = path.strip_prefix(".plugins.")?;
    routes.iter().find(|route| {
        let rest = path
            .strip_prefix(&route.kind)
            .and_then(|rest| rest.strip_prefix('.'));
        let rest = rest.and_then(|rest| rest.strip_prefix(&route.name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
