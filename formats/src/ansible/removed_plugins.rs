//! Finds plug-ins that are used although the newest allowed release of their collection no longer has them, or
//! announces their removal.
//!
//! Its `meta/runtime.yml` says so. Both are findings for whoever names such a plug-in, be it a collection or a playbook.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, ReadOptions, Requirement, Version};

use super::artifact::CollectionArtifact;
use super::facts::{Route, has_own_file, redirect_target};
use super::moved::{called, folder_of, moved_to};
use super::narrow_range::{narrowed_range, with_bound};
use super::runtime_yml::{self, RUNTIME_FILE};
use crate::lookup::{FileTree, ReleaseContent, ReleaseLookup};
use crate::references::{
    AllowedReleases, ClassReference, ReferenceHints, References, somewhere_in,
};

/// The routes of other collections, which are read once they are asked for.
pub(super) struct ForeignRoutes<'check> {
    known: &'check dyn ReleaseLookup,
    options: &'check ReadOptions,
    /// The routes of the newest allowed release of each collection.
    read: RefCell<BTreeMap<PackageName, Rc<[Route]>>>,
}

impl<'check> ForeignRoutes<'check> {
    pub(super) fn new(known: &'check dyn ReleaseLookup, options: &'check ReadOptions) -> Self {
        Self {
            known,
            options,
            read: RefCell::default(),
        }
    }

    /// Warnings about plug-ins that `root` uses and that a version that the range allows will not have, or that lead to
    /// nothing. `manifest` is the path of the file with the range.
    pub(super) fn warnings(
        &self,
        root: &dyn References,
        manifest: &str,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        let mut findings = self.removed_soon(root, manifest, references, requirement, allowed);
        findings.extend(self.redirected_to_nothing(root, references, allowed));
        findings
    }

    /// Warnings about plug-ins that `root` uses and that a version that the range allows will not have.
    fn removed_soon(
        &self,
        root: &dyn References,
        manifest: &str,
        references: &[ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        let routes = self.of_newest(allowed);
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
                .at(root.place_of(reference))
                .label(
                    stated.unwrap_or_else(|| somewhere_in(manifest)),
                    "the range is stated here",
                )
                .hint(format!(
                    "until you replace it, `{}` excludes that version",
                    with_bound(requirement.spec.written(), "<", removal)
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

    /// Warnings about plug-ins that `root` uses and that the newest allowed release redirects into a collection that it
    /// requires, of which no allowed version has the target.
    fn redirected_to_nothing(
        &self,
        root: &dyn References,
        references: &[ClassReference],
        allowed: &AllowedReleases,
    ) -> Vec<Diagnostic> {
        let Some(newest) = allowed.newest() else {
            return Vec::new();
        };
        let routes = self.of_newest(allowed);
        let mut seen = BTreeSet::new();
        let mut findings = Vec::new();
        for reference in references {
            let Some(route) = route_of(&routes, reference).filter(|route| !route.tombstone) else {
                continue;
            };
            let target = redirect_target(route).filter(|(_, target)| has_own_file(target));
            let Some((collection, target)) = target else {
                continue;
            };
            let requirement = newest
                .requirements
                .iter()
                .find(|one| one.package.as_str() == collection);
            let class = ClassName::native(&format!("{collection}.{target}"));
            let Some((requirement, class)) = requirement.zip(class.ok()) else {
                continue;
            };
            if !seen.insert((&route.kind, &route.name)) || self.may_have(requirement, &class) {
                continue;
            }
            let message = format!(
                "`{}` {} `{}`, which {} {} redirects to `{}`, which no version of `{}` in `{}` has",
                Escaped::shortened(&reference.from),
                root.verb(reference),
                reference.to,
                newest.name,
                newest.version,
                called(&class),
                requirement.package,
                Escaped::shortened(requirement.spec.written()),
            );
            let finding = Diagnostic::warning(Code::UndefinedUse, message);
            findings.push(finding.at(root.place_of(reference)));
        }
        findings
    }

    /// Whether a release that a requirement allows has a class, as far as it is known.
    fn may_have(&self, requirement: &Requirement, class: &ClassName) -> bool {
        let name = &requirement.package;
        let Some(releases) = self.known.releases(name) else {
            return true;
        };
        let allowed = |one: &&IndexRecord| !one.yanked && requirement.spec.matches(&one.version);
        let mut versions: Vec<Version> = releases
            .iter()
            .filter(allowed)
            .map(|one| one.version.clone())
            .collect();
        versions.sort_unstable();
        let Some(newest) = versions.pop() else {
            return true;
        };
        // Most often the newest has it, and reading the classes of more releases can take long.
        for versions in [vec![newest], versions] {
            let complete = self.known.complete(name, &versions);
            let mut releases = complete.iter().flatten();
            let may_have = releases.any(|one| {
                versions.contains(&one.version) && (one.classes.is_none() || one.defines(class))
            });
            if may_have {
                return true;
            }
        }
        false
    }

    /// The routes of plug-ins in the newest of some releases.
    fn of_newest(&self, allowed: &AllowedReleases) -> Rc<[Route]> {
        let mut known = self.read.borrow_mut();
        let routes = known.entry(allowed.name.clone()).or_insert_with(|| {
            let newest = allowed.newest();
            newest
                .map(|newest| self.read_of(newest))
                .unwrap_or_default()
                .into()
        });
        Rc::clone(routes)
    }

    fn read_of(&self, record: &IndexRecord) -> Vec<Route> {
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
        let (runtime, _) = runtime_yml::read(RUNTIME_FILE, &bytes, &self.options.limits);
        runtime.routes
    }
}

impl ReferenceHints for ForeignRoutes<'_> {
    fn kind_of(&self, class: &ClassName) -> String {
        folder_of(class)
    }

    fn narrowed(&self, range: &str, fits: &[(&Version, bool)]) -> Option<String> {
        narrowed_range(range, fits)
    }

    fn moved_to(
        &self,
        release: &IndexRecord,
        class: &ClassName,
    ) -> Option<(PackageName, ClassName)> {
        moved_to(release, class)
    }

    /// The newest release says of a plug-in that it is gone, or where it has moved.
    fn explain_missing(
        &self,
        reference: &ClassReference,
        allowed: &AllowedReleases,
    ) -> Option<String> {
        let newest = allowed.newest()?;
        if let Some((_, target)) = moved_to(newest, &reference.to) {
            return Some(format!(
                "`meta/runtime.yml` of {} {} says that it moved to `{}`",
                allowed.name,
                newest.version,
                called(&target)
            ));
        }
        let routes = self.of_newest(allowed);
        let route = route_of(&routes, reference)?;
        let newest = &newest.version;
        route.tombstone.then(|| {
            let name = &allowed.name;
            format!("`meta/runtime.yml` of {name} {newest} says that it is gone")
        })
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
