//! Checks a NodeSet file that can be read.
//!
//! `own_types.rs` looks for types that the file itself should define, `required_types.rs` for those of other models.

mod own_types;
mod required_types;

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use super::node_id::NodeId;
use super::nodeset::{Model, NodeSet, NodeUse, OwnNodes};
use crate::lookup::ReleaseLookup;

/// The types without supertypes: `BaseObjectType`, `BaseVariableType`, `BaseDataType` and `References`.
const BASE_TYPES: [u32; 4] = [58, 62, 24, 31];

impl NodeSet<'_> {
    /// The findings about the models, with the nodes of the file and what is known about other models.
    pub(super) fn check(&self, nodes: &OwnNodes<'_>, known: &dyn ReleaseLookup) -> Vec<Diagnostic> {
        let mut findings = self.check_supertypes();
        findings.extend(self.check_cycles());
        findings.extend(self.check_own_types(nodes));
        for model in &self.models {
            findings.extend(self.check_used_namespaces(model));
            findings.extend(self.check_required_types(model, known));
        }
        findings
    }

    /// Whether a namespace is that of a model of the file.
    fn is_own(&self, uri: &str) -> bool {
        self.models.iter().any(|model| model.uri == uri)
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
}
