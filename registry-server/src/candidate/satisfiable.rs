//! Checks whether the registry can satisfy the requirements of a release.
//!
//! The solver runs on the index of the node, with a bound on its steps. Only a proof that there is no
//! solution is an error.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use pkgres_formats::ECOSYSTEMS;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, ReadOptions,
    RegistryName, Spec, Version,
};
use pkgres_registry_client::protocol::{ClassDocument, IndexDocument};
use pkgres_registry_client::{Answer, Artifact, Registry, RegistryError, RegistrySet, drive};
use pkgres_resolver::{HintKind, Request, Resolver};

use crate::index::Node;
use crate::problem::{Problem, ProblemCode};

/// The bound on steps of the solver. A release that takes more is published: giving up proves nothing.
const MAX_STEPS: u64 = 200_000;

/// An error if the solver proves that the requirements of a release cannot be satisfied.
///
/// The core library is usually not in a registry, because the host supplies it. Then every version that
/// is required counts as present, with all classes that are required of it.
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
    let mut request = Request::new(record.clone());
    request.core.clone_from(&options.core);
    request.options.max_steps = MAX_STEPS;
    if let Some(core) = &options.core
        && record.name != *core
        && node.state().package(core).is_none()
    {
        request.provided = core_releases(&registry, core, record)?;
    }
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let mut resolver = Resolver::new(request);
    match drive(&mut resolver, &registries, options).map_err(Problem::internal)? {
        Answer::Conflict(conflict) => {
            let mut detail = conflict.summary.clone();
            // A hint with an option is for a command line: there is none here, and that of the
            // publisher would be about other registries.
            let hints = conflict.hints.iter();
            for hint in hints.filter(|hint| hint.kind != HintKind::Option) {
                detail.push_str(&format!("; hint: {hint}"));
            }
            Err(Problem::new(ProblemCode::Unsatisfiable, detail))
        }
        // Only a proof that there is no resolution excludes a release.
        _ => Ok(()),
    }
}

/// A release of the core library for the first version of each spec for it, in the release and in
/// everything that it requires.
fn core_releases(
    registry: &NodeRegistry,
    core: &PackageName,
    record: &IndexRecord,
) -> Result<Vec<IndexRecord>, Problem> {
    let mut versions = BTreeSet::new();
    let mut seen = BTreeSet::from([record.name.clone()]);
    let mut open = vec![vec![record.clone()]];
    while let Some(records) = open.pop() {
        for record in records {
            let mut names_core = false;
            for requirement in &record.requirements {
                if requirement.package == *core {
                    names_core = true;
                    versions.extend(first_versions(&requirement.spec));
                } else if seen.insert(requirement.package.clone()) {
                    let names = std::slice::from_ref(&requirement.package);
                    let found = registry.records(names).map_err(Problem::internal)?;
                    open.extend(found.into_iter().flatten());
                }
            }
            if !names_core {
                versions.extend(first_versions(&Spec::unspecified()));
            }
        }
    }
    let release = |version| IndexRecord::new(core.clone(), version);
    Ok(versions.into_iter().map(release).collect())
}

/// The first version of each interval of a spec.
fn first_versions(spec: &Spec) -> Vec<Version> {
    let intervals = spec.set().intervals().iter();
    intervals.map(|interval| interval.from.clone()).collect()
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
