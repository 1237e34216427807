//! Checks whether the registry can satisfy the requirements of a release.

use std::error::Error;
use std::sync::Arc;

use pkgres_formats::ECOSYSTEMS;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, ReadOptions,
    RegistryName, Requirement,
};
use pkgres_registry_client::protocol::{ClassDocument, IndexDocument};
use pkgres_registry_client::{Artifact, Registry, RegistryError, RegistrySet, unsatisfiable};

use crate::index::Node;
use crate::problem::{Problem, ProblemCode};

/// An error if the solver proves, on the index of the node, that the requirements of a release cannot be satisfied.
pub(crate) fn check_satisfiable(
    node: &Arc<Node>,
    record: &IndexRecord,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let registry = NodeRegistry {
        name: RegistryName::parse("registry").expect("this is a name"),
        node: Arc::clone(node),
        limits: options.limits.clone(),
    };
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let mut record = record.clone();
    // The publisher knows the manifest by another path than this server.
    let requirements = record.requirements.iter().cloned();
    let without_location = |requirement| Requirement {
        location: None,
        ..requirement
    };
    record.requirements = requirements.map(without_location).collect();
    match unsatisfiable(&record, &registries, options).map_err(Problem::internal)? {
        Some(proof) => Err(Problem {
            hints: proof.hints,
            ..Problem::new(ProblemCode::Unsatisfiable, proof.reason)
        }),
        None => Ok(()),
    }
}

/// The index of a node as a registry of the solver.
struct NodeRegistry {
    name: RegistryName,
    node: Arc<Node>,
    limits: Limits,
}

impl NodeRegistry {
    fn failed(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> RegistryError {
        RegistryError::unreachable(self.name.clone(), cause)
    }
}

impl Registry for NodeRegistry {
    fn name(&self) -> &RegistryName {
        &self.name
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let records = |name: &PackageName| {
            let Some(document) = self
                .node
                .package(name)
                .map_err(|error| self.failed(error))?
            else {
                return Ok(None);
            };
            let mut reader = IndexReader::of_ecosystems(self.limits.clone(), ECOSYSTEMS);
            let parsed = IndexDocument::parse(name.as_str(), &document.body, name, &mut reader);
            parsed.map(Some).map_err(|error| self.failed(error))
        };
        names.iter().map(records).collect()
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let document = self.node.class(class);
        let Some(document) = document.map_err(|error| self.failed(error))? else {
            return Ok(Vec::new());
        };
        let read = ClassDocument::parse(&document.body);
        read.map(|read| read.packages)
            .map_err(|error| self.failed(error))
    }

    fn artifact(&self, _: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        Ok(None)
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
