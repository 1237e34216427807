//! Checks a NodeSet file that can be read.
//!
//! A requirement names the minimum release. If that release lacks a type that the model extends or uses, nobody who has
//! exactly that release can load the model. So only this release is checked, and not every release that the requirement
//! allows, as for other formats.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{ClassName, IndexRecord};

use super::node_id::{NodeId, package_name};
use super::nodeset::{Model, NodeSet, NodeUse, RequiredModel, TypeKind};
use super::record::{class_name, extended_name};
use crate::lookup::ReleaseLookup;

/// The types without supertypes: `BaseObjectType`, `BaseVariableType`, `BaseDataType` and `References`.
const BASE_TYPES: [u32; 4] = [58, 62, 24, 31];

impl NodeSet<'_> {
    /// The findings about the models, with what is known about those that they require.
    pub fn check(&self, known: &dyn ReleaseLookup) -> Vec<Diagnostic> {
        let mut findings = self.check_supertypes();
        for model in &self.models {
            findings.extend(self.check_used_namespaces(model));
            for required in &model.required {
                findings.extend(self.check_requirement(model, required, known));
            }
        }
        findings
    }

    /// Warnings about types without a supertype, and with several.
    fn check_supertypes(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for one in &self.types {
            let supertypes = one.extends.iter().filter(|parent| !parent.is_interface);
            let name = Escaped::shortened(&one.browse_name);
            let is_base = BASE_TYPES.iter().any(|base| one.id == NodeId::of_ua(*base));
            let message = match supertypes.count() {
                0 if !is_base => format!("`{name}` has no supertype"),
                0 | 1 => continue,
                count => format!("`{name}` has {count} supertypes, and can have one"),
            };
            let finding = Diagnostic::warning(Code::Extends, message);
            findings.push(finding.at(self.locate(one.span)));
        }
        findings
    }

    /// The uses of the types and other nodes of a model.
    fn uses_of<'set>(&'set self, model: &'set Model) -> impl Iterator<Item = &'set NodeUse<'set>> {
        let of_types = self.types_of(model).flat_map(|one| &one.uses);
        of_types.chain(self.node_uses_of(model))
    }

    /// Warnings about namespaces of used types that are not required. Those of extended types are reported when the file
    /// is read.
    fn check_used_namespaces(&self, model: &Model) -> Vec<Diagnostic> {
        let mut known: BTreeSet<&str> = model.required.iter().map(|one| &*one.uri).collect();
        known.insert(&model.uri);
        let parents = self.types_of(model).flat_map(|one| &one.extends);
        known.extend(parents.map(|parent| self.uri(parent.id.namespace)));
        let mut findings = Vec::new();
        for used in self.uses_of(model) {
            let namespace = self.uri(used.id.namespace);
            if known.insert(namespace) {
                let message = format!(
                    "the {} `{}` of `{}` is used, which `{}` does not require",
                    used.role.as_str(),
                    Escaped::shortened(&used.id.identifier.to_string()),
                    Escaped::new(namespace),
                    Escaped::new(&model.uri)
                );
                let finding = Diagnostic::warning(Code::NotRequired, message);
                findings.push(finding.at(self.locate(used.span)));
            }
        }
        findings
    }

    /// Whether the least release of a requirement has all that is extended and used of it.
    fn check_requirement(
        &self,
        model: &Model,
        required: &RequiredModel,
        known: &dyn ReleaseLookup,
    ) -> Vec<Diagnostic> {
        let uri = Escaped::new(&required.uri);
        let warn = |message: String| {
            let finding = Diagnostic::warning(Code::ClassesNotRead, message);
            vec![finding.at(self.locate(required.span))]
        };
        let releases = package_name(&required.uri)
            .ok()
            .and_then(|name| known.releases(&name));
        let Some(releases) = releases else {
            return warn(format!(
                "no registry has `{uri}`, so that its types were not checked"
            ));
        };
        let stated = &required.release;
        if stated.published().is_none() && stated.model_version().is_none() {
            return Vec::new();
        }
        let version = stated.to_version();
        let text = version.to_string();
        let is_stated = |release: &&IndexRecord| {
            release.version == version || release.version.to_string() == text
        };
        let Some(declared) = releases.iter().find(is_stated) else {
            let spec = stated.to_spec();
            let mut later: Vec<&IndexRecord> = releases.iter().collect();
            later.retain(|release| spec.matches(&release.version));
            let next = later.iter().map(|release| &release.version).min();
            let next = match next {
                Some(next) => format!("; the next one is {next}"),
                None => ", nor any that is newer".to_owned(),
            };
            return warn(format!("no registry has {text} of `{uri}`{next}"));
        };
        self.lacking(model, required, declared, &releases)
    }

    /// The findings about the types that a release lacks.
    fn lacking(
        &self,
        model: &Model,
        required: &RequiredModel,
        declared: &IndexRecord,
        releases: &[IndexRecord],
    ) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut extended: Vec<ClassName> = Vec::new();
        let mut seen = BTreeSet::new();
        let is_required = |id: &NodeId<'_>| self.uri(id.namespace) == required.uri;
        for one in self.types_of(model) {
            let parents = one.extends.iter();
            for parent in parents.filter(|parent| is_required(&parent.id)) {
                let identifier = parent.id.identifier.to_string();
                let name = extended_name(&required.uri, &identifier, parent.kind);
                let Ok(name) = name else { continue };
                extended.push(name.clone());
                if declared.exports(&name) || !seen.insert(name) {
                    continue;
                }
                let what = Lacked::new(&required.uri, &identifier, declared, releases);
                let message = format!(
                    "`{}` extends {}, which {} {}",
                    Escaped::shortened(&one.browse_name),
                    what.shown,
                    declared.version,
                    what.reason(Some(parent.kind))
                );
                let finding = Diagnostic::error(Code::ClassUnavailable, message);
                findings.push(finding.at(self.locate(parent.span)).label(
                    self.locate(required.span),
                    "the least release is stated here",
                ));
            }
        }
        let uses = self.uses_of(model);
        for used in uses.filter(|used| is_required(&used.id)) {
            let identifier = used.id.identifier.to_string();
            let Ok(name) = class_name(&required.uri, &identifier) else {
                continue;
            };
            if declared.exports(&name) || !seen.insert(name) {
                continue;
            }
            let what = Lacked::new(&required.uri, &identifier, declared, releases);
            let message = format!(
                "the {} {} is used, which {} {}",
                used.role.as_str(),
                what.shown,
                declared.version,
                what.reason(None)
            );
            let finding = Diagnostic::warning(Code::UndefinedUse, message);
            findings.push(finding.at(self.locate(used.span)));
        }
        let hint = least_with(&extended, required, releases);
        if let (Some(hint), Some(first)) = (hint, findings.iter_mut().find(|one| one.is_error())) {
            first.hints.push(hint);
        }
        findings
    }
}

/// A type that a release lacks.
struct Lacked {
    /// The type as it is shown.
    shown: String,
    /// Whether the release has a type with the id.
    has_another: bool,
}

impl Lacked {
    fn new(
        namespace: &str,
        identifier: &str,
        declared: &IndexRecord,
        releases: &[IndexRecord],
    ) -> Self {
        let name = class_name(namespace, identifier).ok();
        let label = |release: &IndexRecord| {
            let label = release.label(name.as_ref()?)?;
            Some(Escaped::shortened(label).to_string())
        };
        let id = Escaped::shortened(identifier);
        let namespace = Escaped::new(namespace);
        let shown = match releases.iter().rev().find_map(label) {
            Some(label) => format!("`{id}` ({label}) of `{namespace}`"),
            None => format!("`{id}` of `{namespace}`"),
        };
        Self {
            shown,
            has_another: name.is_some_and(|name| declared.exports(&name)),
        }
    }

    fn reason(&self, kind: Option<TypeKind>) -> String {
        match kind {
            Some(kind) if self.has_another => {
                format!("does not define as {}", kind.as_str())
            }
            _ => "does not define".to_owned(),
        }
    }
}

/// The hint that names the least release with all types that are extended.
fn least_with(
    extended: &[ClassName],
    required: &RequiredModel,
    releases: &[IndexRecord],
) -> Option<String> {
    let spec = required.release.to_spec();
    let mut fitting: Vec<&IndexRecord> = releases.iter().collect();
    fitting.retain(|release| {
        spec.matches(&release.version) && extended.iter().all(|name| release.exports(name))
    });
    let least = fitting
        .into_iter()
        .min_by(|one, two| one.version.cmp(&two.version))?;
    Some(format!(
        "the least release with all types that are extended is {}: require that one",
        least.version
    ))
}
