//! Types of other models that the required releases lack.
//!
//! A requirement names the minimum release. If that release lacks a type that the model extends or uses, nobody who has
//! exactly that release can load the model. So only this release is checked, and not every release that the requirement
//! allows, as for other formats. If no registry has it, at least one of the allowed releases must have the type.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Span};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, did_you_mean};

use super::super::node_id::{NodeId, package_name};
use super::super::nodeset::{Model, NodeSet, RequiredModel, TypeKind};
use super::super::record::{class_name, extended_name};
use super::super::release::ModelRelease;
use crate::lookup::ReleaseLookup;

/// The releases in which the types of a model are looked up.
struct Candidates<'known> {
    /// The namespace of the model.
    uri: &'known str,
    /// The minimum release, or all that are allowed if no registry has it.
    releases: Vec<&'known IndexRecord>,
    /// Whether they are the minimum release.
    is_minimum: bool,
    /// All releases of the model.
    known: &'known [IndexRecord],
    /// The requirement; `None` if the namespace is not required.
    required: Option<&'known RequiredModel>,
}

impl NodeSet<'_> {
    /// Whether required models, and those that are extended without being required, have all that is extended and used.
    pub(super) fn check_required_types(
        &self,
        model: &Model,
        known: &dyn ReleaseLookup,
    ) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for required in &model.required {
            seen.insert(&required.uri);
            if !self.is_own(&required.uri) {
                findings.extend(self.check_requirement(model, required, known));
            }
        }
        let parents = self.types_of(model).flat_map(|one| &one.extends);
        for uri in parents.map(|parent| self.uri(parent.id.namespace)) {
            if !self.is_own(uri)
                && seen.insert(uri)
                && let Some(releases) = releases_of(uri, known)
            {
                let candidates = Candidates {
                    uri,
                    releases: releases.iter().collect(),
                    is_minimum: false,
                    known: &releases,
                    required: None,
                };
                findings.extend(self.lacking(model, &candidates));
            }
        }
        findings
    }

    fn check_requirement(
        &self,
        model: &Model,
        required: &RequiredModel,
        known: &dyn ReleaseLookup,
    ) -> Vec<Diagnostic> {
        let uri = Escaped::new(&required.uri);
        let warn = |message: String| {
            let finding = Diagnostic::warning(Code::ClassesNotRead, message);
            finding.at(self.locate(required.span))
        };
        let releases = releases_of(&required.uri, known);
        let not_compared = self.uncompared_version(required, releases.as_deref());
        let mut findings = Vec::from_iter(not_compared);
        let Some(releases) = releases else {
            let message = format!("no registry has `{uri}`, so its types were not checked");
            let similar = package_name(&required.uri).ok();
            let similar = similar.and_then(|name| known.similar(&name));
            // A model is required once.
            let is_required = |name: &PackageName| {
                let mut required = model.required.iter();
                required.any(|other| other.uri == name.as_str())
            };
            let similar = similar.filter(|similar| !is_required(similar));
            let hint = similar.map(|similar| did_you_mean(similar.as_str()));
            findings.push(warn(message).maybe_hint(hint));
            return findings;
        };
        let stated = &required.release;
        let spec = stated.to_spec();
        let is_any = stated.is_any();
        let minimum = releases.iter().filter(|release| {
            !is_any
                && ModelRelease::of(&release.version)
                    .is_some_and(|release| release.has_all_of(stated))
        });
        let minimum = minimum.min_by(|one, two| one.version.cmp(&two.version));
        let allowed = releases
            .iter()
            .filter(|release| spec.matches(&release.version));
        let candidates = Candidates {
            uri: &required.uri,
            releases: minimum.map_or_else(|| allowed.collect(), |minimum| vec![minimum]),
            is_minimum: minimum.is_some(),
            known: &releases,
            required: Some(required),
        };
        if minimum.is_none() && !is_any {
            let versions = candidates.releases.iter().map(|release| &release.version);
            let stated = shown(stated);
            let none = format!("no registry has {stated} of `{uri}`");
            findings.push(match versions.min() {
                // Many requirements name a release that was never published.
                Some(next) => {
                    let message = format!("{none}; the next one is {next}");
                    let finding = Diagnostic::note(Code::ClassesNotRead, message);
                    finding.at(self.locate(required.span))
                }
                None => warn(format!("{none}, nor any that is newer")),
            });
        }
        findings.extend(self.lacking(model, &candidates));
        findings
    }

    /// The note about a requirement that states a `Version` and nothing that is compared.
    fn uncompared_version(
        &self,
        required: &RequiredModel,
        releases: Option<&[IndexRecord]>,
    ) -> Option<Diagnostic> {
        let stated = &required.release;
        let version = stated.version().filter(|_| stated.is_any())?;
        let message = format!(
            "the `Version` {version} of a `RequiredModel` is not compared, so every release of `{}` satisfies the \
             requirement",
            Escaped::new(&required.uri)
        );
        let read = releases.unwrap_or_default().iter();
        let read = read.filter_map(|release| ModelRelease::of(&release.version));
        let mut same = read.filter(|release| release.version() == Some(version));
        let hint = match same.find_map(|release| release.published_text()) {
            Some(date) => format!("add `PublicationDate=\"{date}\"`, which is that of {version}"),
            None => "add the `PublicationDate`".to_owned(),
        };
        let finding = Diagnostic::note(Code::Field, message);
        Some(finding.at(self.locate(required.span)).hint(hint))
    }

    /// The findings about the types that all candidates lack.
    fn lacking(&self, model: &Model, candidates: &Candidates<'_>) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        if candidates.releases.is_empty() {
            return findings;
        }
        let mut extended: Vec<ClassName> = Vec::new();
        let mut seen = BTreeSet::new();
        let is_required = |id: &NodeId<'_>| self.uri(id.namespace) == candidates.uri;
        for one in self.types_of(model) {
            let parents = one.extends.iter();
            for parent in parents.filter(|parent| is_required(&parent.id)) {
                let identifier = parent.id.identifier.to_string();
                let name = extended_name(candidates.uri, &identifier, parent.kind);
                let Ok(name) = name else { continue };
                extended.push(name.clone());
                if candidates.define(&name) || !seen.insert(name) {
                    continue;
                }
                let message = format!(
                    "`{}` extends {}, {}",
                    Escaped::shortened(&one.browse_name),
                    candidates.shown(&identifier),
                    candidates.reason(&identifier, Some(parent.kind))
                );
                let finding = Diagnostic::error(Code::ClassUnavailable, message);
                findings.push(self.labelled(finding, parent.span, candidates));
            }
        }
        let uses = self.uses_of(model);
        for used in uses.filter(|used| is_required(&used.id)) {
            let identifier = used.id.identifier.to_string();
            let Ok(name) = class_name(candidates.uri, &identifier) else {
                continue;
            };
            if candidates.define(&name) || !seen.insert(name) {
                continue;
            }
            let message = format!(
                "the {} {} is used, {}",
                used.role.as_str(),
                candidates.shown(&identifier),
                candidates.reason(&identifier, None)
            );
            let finding = Diagnostic::warning(Code::UndefinedUse, message);
            findings.push(finding.at(self.locate(used.span)));
        }
        let hint = candidates.least_with(&extended);
        if let (Some(hint), Some(first)) = (hint, findings.iter_mut().find(|one| one.is_error())) {
            first.hints.push(hint);
        }
        findings
    }

    fn labelled(&self, finding: Diagnostic, span: Span, candidates: &Candidates<'_>) -> Diagnostic {
        let finding = finding.at(self.locate(span));
        match candidates.required {
            Some(required) => finding.label(
                self.locate(required.span),
                "the minimum release is stated here",
            ),
            None => finding,
        }
    }
}

impl Candidates<'_> {
    fn define(&self, name: &ClassName) -> bool {
        let mut releases = self.releases.iter();
        // A release without classes may have any.
        releases.any(|release| release.classes.is_none() || release.exports(name))
    }

    /// A type with the name that any release gives it.
    fn shown(&self, identifier: &str) -> String {
        let name = class_name(self.uri, identifier).ok();
        let label = |release: &IndexRecord| {
            let label = release.label(name.as_ref()?)?;
            Some(Escaped::shortened(label).to_string())
        };
        let id = Escaped::shortened(identifier);
        let namespace = Escaped::new(self.uri);
        match self.known.iter().rev().find_map(label) {
            Some(label) => format!("`{id}` ({label}) of `{namespace}`"),
            None => format!("`{id}` of `{namespace}`"),
        }
    }

    /// What is wrong with a type that all candidates lack, as a relative clause.
    fn reason(&self, identifier: &str, kind: Option<TypeKind>) -> String {
        let mut text = match (&*self.releases, self.required) {
            ([release], _) if self.is_minimum => {
                format!("which {} does not define", release.version)
            }
            (_, Some(_)) => "which no release that the requirement allows defines".to_owned(),
            (_, None) => "which no release defines".to_owned(),
        };
        let has_another = class_name(self.uri, identifier).is_ok_and(|name| self.define(&name));
        if let Some(kind) = kind.filter(|_| has_another) {
            text.push_str(&format!(" as {}", kind.as_str()));
        }
        text
    }

    /// The hint that names the least release with all types that are extended.
    fn least_with(&self, extended: &[ClassName]) -> Option<String> {
        let spec = self.required?.release.to_spec();
        let mut fitting: Vec<&IndexRecord> = self.known.iter().collect();
        fitting.retain(|release| {
            spec.matches(&release.version) && extended.iter().all(|name| release.exports(name))
        });
        let least = fitting
            .into_iter()
            .min_by(|one, two| one.version.cmp(&two.version))?;
        Some(format!(
            "the oldest release with all types that are extended is {}: require that one",
            least.version
        ))
    }
}

fn releases_of(uri: &str, known: &dyn ReleaseLookup) -> Option<Vec<IndexRecord>> {
    known.releases(&package_name(uri).ok()?)
}

/// A release of a requirement, as far as it is stated.
fn shown(stated: &ModelRelease) -> String {
    match stated.model_version() {
        Some(model_version) if stated.version().is_none() && stated.published().is_none() => {
            format!("ModelVersion {model_version}")
        }
        _ => stated.full_text(),
    }
}
