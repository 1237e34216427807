//! The prepared deployment: read and checked before any machine is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use pkgres_checks::BoundPackages;
use pkgres_engine::{
    Cancellation, DeployedArtifacts, DeployedResource, Deployment, Graph, GraphOptions, Kinds,
    Node, ObjectResources, StateLocation, Target,
};
use pkgres_manifest::ResourceId;

use super::collections_kind::{CollectionSource, with_collections};
use super::machines::{Machine, Machines};
use super::release_files::ReleaseFiles;
use super::resource_checks::with_mistakes_of_resources;
use super::state::RemovedResources;
use super::validations::Validations;
use crate::args::DeploymentArgs;
use crate::bound_release::BoundRelease;
use crate::commands::pin::read_model;
use crate::commands::validate::open_machine;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_missing_beside;
use crate::output::Output;
use crate::project::Project;
use crate::read_manifest::folder_of;
use crate::show::counted;
use crate::solve::require_current_lock;
use crate::solve_task::SolveTask;

/// A deployment and its graph.
pub(super) struct Prepared {
    pub(super) graph: Graph,
    /// Where the state of the application is on the machine.
    pub(super) state: StateLocation,
    /// Which resources belong to objects of the model.
    pub(super) objects: ObjectResources,
    resources: BTreeMap<ResourceId, DeployedResource>,
    /// The resources that are never changed.
    only_checked: BTreeSet<ResourceId>,
    /// Whether the packages have no resources.
    is_empty: bool,
    pub(super) packages: BoundPackages,
    files: Arc<ReleaseFiles>,
}

impl Prepared {
    /// Says so if there is nothing to do on a machine: neither resources nor reversals of earlier ones.
    pub(super) fn note_if_empty(&self, removed: &RemovedResources, output: &mut Output) {
        if self.is_empty && removed.reversed.is_empty() {
            output.note("The packages have no resources");
        }
    }

    /// Reads what is deployed on each machine. Machines with the same model share it.
    pub(super) fn for_each(
        machines: &Machines,
        args: &DeploymentArgs,
        context: &Context,
        output: &mut Output,
    ) -> Result<Vec<Arc<Self>>> {
        let mut by_model: BTreeMap<Option<&Path>, Arc<Self>> = BTreeMap::new();
        let prepared = machines.all.iter().map(|machine| {
            let model = machine.model.as_deref();
            if let Some(prepared) = by_model.get(&model) {
                return Ok(Arc::clone(prepared));
            }
            let prepared = Arc::new(Self::read(args, model, context, output)?);
            by_model.insert(model, Arc::clone(&prepared));
            Ok(prepared)
        });
        prepared.collect()
    }

    /// Reads the resources of the locked releases, and of the objects of the model.
    fn read(
        args: &DeploymentArgs,
        model: Option<&Path>,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let (project, bound) = locked_releases(&args.manifest, context, output)?;
        let model = match model {
            Some(path) => Some(read_model(path, &context.read_options)?),
            None => None,
        };
        let limits = &context.read_options.limits;
        let application = project.name().to_string();
        let collections = if mention(&bound.packages, &["collections"]) {
            Some(CollectionSource::open(&project, context)?)
        } else {
            None
        };
        let mut files = ReleaseFiles::new(
            bound.folders(&project, context)?,
            bound.registries,
            bound.digests,
            context.read_options.clone(),
        );
        files.require_all(&bound.packages, &bound.provided)?;
        if args.artifacts || mention(&bound.packages, &["package.files", "artifact"]) {
            files.add_digests_of_folders()?;
        }
        let files = Arc::new(files);
        let artifacts = files.locked_artifacts(&bound.packages);
        let deployed = DeployedArtifacts {
            artifacts: &artifacts,
            are_all_unpacked: args.artifacts,
        };
        let read = Deployment::with_artifacts(&bound.packages, model.as_ref(), deployed, limits);
        let (deployment, warnings) = read.into_result()?;
        let deployment = deployment.with_files(Arc::<ReleaseFiles>::clone(&files));
        output.findings(&warnings);
        let options = GraphOptions {
            without_automatic_edges: args.no_autoedges,
            without_grouping: args.no_autogroup,
        };
        let kinds = Kinds::default().with_artifacts(artifacts);
        let graph = deployment.graph(&with_collections(kinds, collections), options)?;
        let left_out = match &model {
            Some(_) => 0,
            None => class_resources(&bound.packages),
        };
        let objects = match &model {
            Some(_) => ObjectResources::Known(deployment.ids_of_objects()),
            None => ObjectResources::LeftOut,
        };
        if left_out > 0 {
            let resources = counted(left_out, "resource");
            output.remarks([format!(
                "Skipped {resources} of classes; name a model with `--model`"
            )]);
        }
        let is_empty = left_out == 0 && deployment.resources().is_empty();
        let resources = deployment.resources().iter().cloned();
        let resources = resources.map(|resource| (resource.description.id.value.clone(), resource));
        let only_checked = graph.nodes().iter().filter(|node| node.meta.noop);
        let only_checked = only_checked.flat_map(Node::ids).cloned().collect();
        Ok(Self {
            graph,
            objects,
            only_checked,
            is_empty,
            state: StateLocation::new(application).in_folder(&args.state),
            resources: resources.collect(),
            packages: bound.packages,
            files,
        })
    }

    /// The validations of the packages; none with `--no-validate`.
    fn validations(&self, args: &DeploymentArgs, machine: &Machine) -> Result<Validations<'_>> {
        if args.no_validate {
            return Ok(Validations::default());
        }
        Validations::prepare(&self.packages, &self.files, &machine.arguments)
    }

    /// The resources that one operation changes together with a resource, itself among them.
    pub(super) fn group_of<'own>(&'own self, id: &'own ResourceId) -> &'own [ResourceId] {
        let mut groups = self
            .graph
            .nodes()
            .iter()
            .map(Node::ids)
            .filter(|ids| ids.len() > 1);
        groups
            .find(|ids| ids.contains(id))
            .unwrap_or(std::slice::from_ref(id))
    }

    /// Whether commands that only ask something could change the machine, because nothing prevents them from it.
    pub(super) fn trusts_commands(&self, machine: &Machine, target: &dyn Target) -> bool {
        let mut nodes = self.graph.nodes().iter();
        let asks = machine.location.is_remote()
            || nodes.any(|node| matches!(node.id.kind(), "exec" | "query"));
        asks && !target.enforces_read_only()
    }

    /// Whether a resource is never changed.
    pub(super) fn is_only_checked(&self, id: &ResourceId) -> bool {
        self.only_checked.contains(id)
    }

    /// A resource of the graph.
    pub(super) fn resource(&self, id: &ResourceId) -> Option<&DeployedResource> {
        self.resources.get(id)
    }
}

/// Opens a project, and binds it to the releases of its lockfile, which has to be up to date.
pub(super) fn locked_releases(
    manifest: &Path,
    context: &Context,
    output: &mut Output,
) -> Result<(Project, BoundRelease)> {
    let project = Project::open(manifest, context).map_err(|failure| {
        let folder = folder_of(manifest);
        with_mistakes_of_resources(failure, &folder, &context.read_options)
    })?;
    let package = Arc::clone(project.class_package()?);
    let Some(lock) = project.lockfile(context)? else {
        return Err(lock_missing_beside(&project.manifest, context));
    };
    let task = SolveTask::of_project(&project, context)?;
    require_current_lock(&project, &task, "", context, output)?;
    let mut bound = BoundRelease::solve(package, task, Some(lock), context, output)?;
    match bound.unbound.take() {
        None => Ok((project, bound)),
        Some(unbound) => Err(Failure {
            findings: vec![unbound],
            exit: Exit::Failed,
        }),
    }
}

/// How many resources the classes of packages have.
fn class_resources(packages: &BoundPackages) -> usize {
    let bound = packages.releases.values();
    let resources = bound.filter_map(|bound| bound.package.as_deref()?.resources.as_ref());
    let classes = resources.flat_map(|resources| &resources.for_classes);
    classes.map(|class| class.resources.len()).sum()
}

/// The validations of each machine with its arguments, so that a mistake is an error before anything runs.
pub(super) fn validations_of<'prepared>(
    machines: &Machines,
    prepared: &'prepared [Arc<Prepared>],
    args: &DeploymentArgs,
) -> Result<Vec<Validations<'prepared>>> {
    let pairs = machines.all.iter().zip(prepared);
    let validations = pairs.map(|(machine, prepared)| prepared.validations(args, machine));
    validations.collect()
}

/// Whether resources mention one of these words. It decides whether that is read which only some kinds of resources need.
fn mention(packages: &BoundPackages, words: &[&str]) -> bool {
    let bound = packages.releases.values();
    let resources = bound.filter_map(|bound| bound.package.as_deref()?.resources.as_ref());
    let mut templates = resources.flat_map(|resources| {
        let of_classes = resources
            .for_classes
            .iter()
            .flat_map(|class| &class.resources);
        resources.for_package.iter().chain(of_classes)
    });
    templates.any(|template| {
        let text = template.id().location.source().text();
        words.iter().any(|word| text.contains(word))
    })
}

/// The note that nothing prevents commands from changing the machine.
pub(super) fn trusted_commands(machine: &Machine) -> &'static str {
    if machine.location.is_remote() {
        "Commands were only asked not to change anything: by ssh, nothing can stop them"
    } else {
        "Commands were only asked not to change anything: stopping them needs root privileges or a user namespace"
    }
}

/// Opens the machine.
pub(super) fn open_target(
    machine: &Machine,
    args: &DeploymentArgs,
    cancellation: &Cancellation,
) -> Result<Arc<dyn Target>> {
    let options = args.ssh.options().cancellation(cancellation.clone());
    open_machine(&machine.location, &options)
}
