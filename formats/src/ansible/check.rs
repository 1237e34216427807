//! What is wrong with a collection, beyond what keeps it from being read: imports that its dependencies do not
//! guarantee.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, ReadOptions, Requirement, Version};

use super::artifact::CollectionArtifact;
use super::facts::{Facts, ForeignReference, Route};
use super::narrow::{defines_class, narrowed_range, with_clause};
use super::runtime::{self, RUNTIME_FILE};
use crate::format::{FileTree, ReleaseContent, ReleaseLookup};

/// The most versions that are listed in a message.
const SHOWN_VERSIONS: usize = 3;

/// A collection that is checked, with what is known about others.
pub(crate) struct CollectionCheck<'check> {
    pub(crate) record: &'check IndexRecord,
    pub(crate) facts: &'check Facts,
    pub(crate) tree: &'check dyn FileTree,
    /// The path of the file that states the dependencies.
    pub(crate) manifest: &'check str,
    pub(crate) known: &'check dyn ReleaseLookup,
    pub(crate) options: &'check ReadOptions,
}

/// The allowed releases of a dependency.
struct Allowed {
    name: PackageName,
    /// Those whose classes are known, ascending.
    releases: Vec<IndexRecord>,
    /// All that are known, allowed or not.
    all: Vec<IndexRecord>,
    /// The routes of the newest one.
    routes: Vec<Route>,
}

impl CollectionCheck<'_> {
    /// The findings about what the collection imports and names of others.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let mut by_collection: BTreeMap<String, Vec<ForeignReference>> = BTreeMap::new();
        for reference in self.facts.foreign_references() {
            let references = by_collection.entry(reference.collection.clone());
            references.or_default().push(reference);
        }
        let mut findings = Vec::new();
        for (collection, references) in by_collection {
            let mut requirements = self.record.requirements.iter();
            let requirement = requirements.find(|one| one.package.as_str() == collection);
            match requirement {
                Some(requirement) => findings.extend(self.declared(requirement, &references)),
                None => findings.extend(self.undeclared(&collection, &references)),
            }
        }
        findings
    }

    /// The warning about a collection that is not among the dependencies.
    fn undeclared(&self, collection: &str, references: &[ForeignReference]) -> Option<Diagnostic> {
        let is_certain = |one: &&ForeignReference| one.is_needed && one.is_unguarded;
        let first = references
            .iter()
            .find(is_certain)
            .or_else(|| references.first())?;
        let how = if first.at.is_some() {
            "imports"
        } else {
            "names"
        };
        let when = if is_certain(&first) {
            ""
        } else {
            ", which works only where it happens to be installed"
        };
        let more = match references.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more)".to_owned(),
            more => format!(" (and {more} more)"),
        };
        let message = format!(
            "`{}` {how} `{}`{more}, and `{collection}` is not among the dependencies{when}",
            Escaped::shortened(&first.from),
            Escaped::shortened(&first.to),
        );
        let range = self.range_with(collection, references);
        let hint = format!("add `{collection}: \"{range}\"` to `dependencies`");
        let finding = Diagnostic::warning(Code::NotRequired, message);
        Some(finding.at(self.place_of(first)).hint(hint))
    }

    /// The range of the versions of a collection that is not declared from the first with all that is needed of it on.
    fn range_with(&self, collection: &str, references: &[ForeignReference]) -> String {
        let any = "*".to_owned();
        let Ok(name) = PackageName::native(collection) else {
            return any;
        };
        let releases = self.known.releases(&name).unwrap_or_default();
        let needed = classes_of(references, |one| one.is_needed);
        let has_all = |record: &&IndexRecord| {
            let stable = !record.yanked && !record.version.is_prerelease();
            stable && needed.iter().all(|(class, _)| defines_class(record, class))
        };
        let fitting = releases.iter().filter(has_all).map(|one| &one.version);
        match fitting.min() {
            Some(least) if !needed.is_empty() => format!(">={least}"),
            _ => any,
        }
    }

    /// The findings about what is imported of a dependency.
    fn declared(
        &self,
        requirement: &Requirement,
        references: &[ForeignReference],
    ) -> Vec<Diagnostic> {
        let allowed = match self.allowed(requirement) {
            Ok(allowed) => allowed,
            Err(finding) => return vec![finding],
        };
        let mut findings = Vec::new();
        let mut lacked: Vec<(&ForeignReference, ClassName)> = Vec::new();
        for (class, reference) in classes_of(references, |one| one.is_needed) {
            let defining = allowed
                .releases
                .iter()
                .filter(|one| defines_class(one, &class));
            match defining.count() {
                0 => findings.push(self.missing(reference, &class, requirement, &allowed)),
                count if count < allowed.releases.len() => lacked.push((reference, class)),
                _ => {}
            }
        }
        for (class, reference) in classes_of(references, |one| !one.is_needed) {
            if !allowed
                .releases
                .iter()
                .any(|one| defines_class(one, &class))
            {
                findings.push(self.missing(reference, &class, requirement, &allowed));
            }
        }
        findings.extend(self.too_wide(&lacked, requirement, &allowed));
        findings.extend(self.removed_soon(references, requirement, &allowed));
        findings
    }

    /// The releases that a requirement allows, with their classes.
    fn allowed(&self, requirement: &Requirement) -> Result<Allowed, Diagnostic> {
        let name = &requirement.package;
        let not_checked = |reason: String| {
            let message = format!("{reason}, so that imports from it were not checked");
            Err(Diagnostic::warning(Code::ClassesNotRead, message).at(self.place_in(requirement)))
        };
        let Some(all) = self.known.releases(name) else {
            return not_checked(format!("no registry has `{name}`"));
        };
        let has_stable = all.iter().any(|one| !one.version.is_prerelease());
        let is_allowed = |record: &&IndexRecord| {
            let spec = &requirement.spec;
            let is_candidate =
                !has_stable || !record.version.is_prerelease() || spec.names_prerelease();
            !record.yanked && is_candidate && spec.matches(&record.version)
        };
        let versions: Vec<Version> = all
            .iter()
            .filter(is_allowed)
            .map(|one| one.version.clone())
            .collect();
        if versions.is_empty() {
            let range = Escaped::shortened(requirement.spec.written());
            return not_checked(format!(
                "no registry has a version of `{name}` in `{range}`"
            ));
        }
        let all = self.known.complete(name, &versions).unwrap_or(all);
        let mut releases: Vec<IndexRecord> = all
            .iter()
            .filter(|one| one.classes.is_some())
            .filter(is_allowed)
            .cloned()
            .collect();
        releases.sort_by(|one, two| one.version.cmp(&two.version));
        let Some(newest) = releases.last() else {
            return not_checked(format!("no registry knows the modules of `{name}`"));
        };
        Ok(Allowed {
            name: name.clone(),
            routes: self.routes_of(newest),
            releases,
            all,
        })
    }

    /// The routes of plug-ins in a release.
    fn routes_of(&self, record: &IndexRecord) -> Vec<Route> {
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

    /// The finding about something that no allowed version has.
    fn missing(
        &self,
        reference: &ForeignReference,
        class: &ClassName,
        requirement: &Requirement,
        allowed: &Allowed,
    ) -> Diagnostic {
        let how = if reference.at.is_some() {
            "imports"
        } else {
            "names"
        };
        let message = format!(
            "`{}` {how} `{class}`, which no version of `{}` in `{}` has",
            Escaped::shortened(&reference.from),
            allowed.name,
            Escaped::shortened(requirement.spec.written()),
        );
        let finding = if reference.is_needed {
            Diagnostic::error(Code::ClassUnavailable, message)
        } else {
            Diagnostic::warning(Code::UndefinedUse, message)
        };
        let mut finding = finding.at(self.place_of(reference));
        if let Some(route) = route_of(&allowed.routes, reference)
            && route.tombstone
        {
            let newest = allowed.releases.last().map(|one| one.version.to_string());
            finding = finding.hint(format!(
                "`meta/runtime.yml` of {} {} says that it is gone",
                allowed.name,
                newest.unwrap_or_default()
            ));
        }
        let elsewhere = allowed.all.iter().filter(|one| defines_class(one, class));
        match elsewhere.map(|one| &one.version).max() {
            Some(other) => finding.hint(format!("{other} is the newest version that has it")),
            None => finding,
        }
    }

    /// The warning about a range that allows versions without something that is imported.
    fn too_wide(
        &self,
        lacked: &[(&ForeignReference, ClassName)],
        requirement: &Requirement,
        allowed: &Allowed,
    ) -> Option<Diagnostic> {
        let (reference, class) = lacked.first()?;
        let without: Vec<String> = allowed
            .releases
            .iter()
            .filter(|one| !defines_class(one, class))
            .map(|one| one.version.to_string())
            .collect();
        let mut shown = without[..without.len().min(SHOWN_VERSIONS)].join(", ");
        if without.len() > SHOWN_VERSIONS {
            shown = format!("{shown} and {} others", without.len() - SHOWN_VERSIONS);
        }
        let message = format!(
            "`{}` imports `{class}`, and the range `{}` of `{}` allows versions without it: {shown}",
            Escaped::shortened(&reference.from),
            Escaped::shortened(requirement.spec.written()),
            allowed.name,
        );
        let finding = Diagnostic::warning(Code::RangeTooWide, message)
            .at(self.place_of(reference))
            .label(self.place_in(requirement), "the range is stated here");
        let fits: Vec<(&Version, bool)> = allowed
            .releases
            .iter()
            .map(|one| {
                let fits = lacked.iter().all(|(_, class)| defines_class(one, class));
                (&one.version, fits)
            })
            .collect();
        Some(match narrowed_range(requirement.spec.written(), &fits) {
            Some(range) => finding.hint(format!(
                "`{range}` has the versions that have all that is imported"
            )),
            None => finding,
        })
    }

    /// Warnings about plug-ins that are used and that a version that the range allows will not have.
    fn removed_soon(
        &self,
        references: &[ForeignReference],
        requirement: &Requirement,
        allowed: &Allowed,
    ) -> Vec<Diagnostic> {
        let mut seen = BTreeSet::new();
        let mut findings = Vec::new();
        for reference in references {
            let Some(route) = route_of(&allowed.routes, reference) else {
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
            let mut finding = Diagnostic::warning(Code::RemovedSoon, message)
                .at(self.place_of(reference))
                .label(self.place_in(requirement), "the range is stated here")
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

    /// The place of a requirement.
    fn place_in(&self, requirement: &Requirement) -> Location {
        requirement.location.clone().unwrap_or_else(|| {
            let source = SourceText::new(self.manifest, "");
            Location::new(&source, Span::default())
        })
    }

    /// The place of a reference: the import, or the beginning of its file.
    fn place_of(&self, reference: &ForeignReference) -> Location {
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
        let source = SourceText::new(self.manifest, "");
        Location::new(&source, Span::default())
    }
}

/// The classes that some references lead to, each once with its first reference.
fn classes_of(
    references: &[ForeignReference],
    is_wanted: impl Fn(&ForeignReference) -> bool,
) -> Vec<(ClassName, &ForeignReference)> {
    let mut seen = BTreeSet::new();
    references
        .iter()
        .filter(|one| is_wanted(one) && seen.insert(one.to.clone()))
        .filter_map(|one| Some((ClassName::native(&one.to).ok()?, one)))
        .collect()
}

/// The route of the plug-in that a reference leads to.
fn route_of<'routes>(
    routes: &'routes [Route],
    reference: &ForeignReference,
) -> Option<&'routes Route> {
    let path = reference.to.strip_prefix(&reference.collection)?;
    let path = path.strip_prefix(".plugins.")?;
    routes.iter().find(|route| {
        let rest = path
            .strip_prefix(&route.kind)
            .and_then(|rest| rest.strip_prefix('.'));
        let rest = rest.and_then(|rest| rest.strip_prefix(&route.name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
