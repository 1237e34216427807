//! Builds the graph of a deployment's resources, and gives each error its position in the file that the resource comes
//! from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located, Location};
use pkgres_manifest::{
    ReceivedProperty, Release, ResourceDescription, ResourceId, did_you_mean, most_similar,
};

use super::contradictions::contradictions;
use super::{DeployedResource, Deployment};
use crate::graph::{Graph, GraphBuilder, GraphError, Receipt};
use crate::kinds::{FilesOfPackage, Kinds};
use crate::resource::{Resource, ValueType};

/// The parts to leave out of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphOptions {
    /// Whether to leave out automatic edges, such as the edge from a file to its folder.
    pub without_automatic_edges: bool,
    /// Whether to change each resource by an operation of its own.
    pub without_grouping: bool,
}

impl Deployment {
    /// The graph of all resources.
    ///
    /// # Errors
    ///
    /// All errors at once: unknown kinds, wrong properties, several resources with one identity, edges to resources
    /// that do not exist, values that no resource sends, and cycles.
    pub fn graph(&self, kinds: &Kinds, options: GraphOptions) -> Result<Graph, Vec<Diagnostic>> {
        let mut builder = GraphBuilder::new();
        let ReadResources {
            by_id,
            read_by_id,
            mut findings,
        } = self.read_resources(kinds, &mut builder);
        // What is wrong with single resources does not hide what is wrong with the others together.
        let is_built = |id: &ResourceId| {
            read_by_id.contains_key(id)
                || id.kind() == ResourceDescription::ALL && by_id.contains_key(id)
        };
        for resource in &self.resources {
            if is_built(&resource.description.id.value) {
                add_edges(resource, is_built, &mut builder);
            }
        }
        if options.without_automatic_edges {
            builder.without_automatic_edges();
        }
        if options.without_grouping {
            builder.without_grouping();
        }
        let place_of = |id: &ResourceId| Some(&by_id.get(id)?.description.id.location);
        findings.extend(contradictions(builder.nodes(), place_of));
        match builder.build() {
            Ok(graph) if findings.is_empty() => Ok(graph),
            Ok(_) => Err(findings),
            Err(errors) => {
                // A member that is wrong is reported already.
                let is_new = |error: &&GraphError| !matches!(error, GraphError::Unknown { unknown, .. } if by_id.contains_key(unknown));
                let errors = errors.iter().filter(is_new);
                findings.extend(errors.map(|error| located(error, &by_id)));
                Err(findings)
            }
        }
    }

    /// Reads all resources and adds them to a graph, without edges.
    fn read_resources(&self, kinds: &Kinds, builder: &mut GraphBuilder) -> ReadResources<'_> {
        let mut findings = Vec::new();
        let mut mistakes = Mistakes::default();
        let mut by_id: BTreeMap<&ResourceId, &DeployedResource> = BTreeMap::new();
        let mut read_by_id: BTreeMap<&ResourceId, Arc<dyn Resource>> = BTreeMap::new();
        for resource in &self.resources {
            let description = &resource.description;
            let id = &description.id.value;
            if id.kind() == ResourceDescription::ALL {
                if let Some(first) = by_id.get(id) {
                    findings.push(declared_twice(first, resource));
                    continue;
                }
                by_id.insert(id, resource);
                let members = description.members.iter();
                let members = members.map(|member| member.value.clone());
                builder.add_composite(id.clone(), members.collect());
                continue;
            }
            let files = match &self.files {
                Some(files) => FilesOfPackage::new(files.as_ref(), &resource.release),
                None => FilesOfPackage::none(),
            };
            let read = match kinds.read_with_files(description, files) {
                Ok(read) => read,
                Err(errors) => {
                    // Another one of this name may be right, but is not looked at without this one.
                    by_id.entry(id).or_insert(resource);
                    mistakes.add(errors, resource);
                    continue;
                }
            };
            match (by_id.get(id), read_by_id.get(id)) {
                (None, _) => {
                    by_id.insert(id, resource);
                    builder.add_shared(id.clone(), Arc::clone(&read), description.meta.clone());
                    read_by_id.insert(id, read);
                }
                // Several packages may need the same folder. What depends on it is added below.
                (Some(first), Some(same))
                    if same.definition() == read.definition()
                        && first.description.meta == description.meta => {}
                (Some(first), Some(_)) => findings.push(declared_twice(first, resource)),
                (Some(_), None) => {}
            }
        }
        for resource in &self.resources {
            for reference in references(resource) {
                if !by_id.contains_key(&reference.value) {
                    findings.push(unknown(resource, reference, by_id.keys().copied()));
                }
            }
        }
        findings.splice(0..0, mistakes.findings());
        ReadResources {
            by_id,
            read_by_id,
            findings,
        }
    }
}

/// The resources of a deployment, and what is wrong with single ones.
struct ReadResources<'resources> {
    /// The first resource of each name.
    by_id: BTreeMap<&'resources ResourceId, &'resources DeployedResource>,
    /// Those that could be read.
    read_by_id: BTreeMap<&'resources ResourceId, Arc<dyn Resource>>,
    findings: Vec<Diagnostic>,
}

/// The mistakes of resources, each once for all objects that it occurs for.
#[derive(Default)]
struct Mistakes<'resources>(Vec<(Diagnostic, Vec<&'resources DeployedResource>)>);

impl<'resources> Mistakes<'resources> {
    fn add(&mut self, errors: Vec<Diagnostic>, resource: &'resources DeployedResource) {
        for error in errors {
            match self.0.iter_mut().find(|(other, _)| *other == error) {
                Some((_, resources)) => resources.push(resource),
                None => self.0.push((error, vec![resource])),
            }
        }
    }

    /// What depends on the values of one object names it.
    fn findings(self) -> impl Iterator<Item = Diagnostic> {
        let mistakes = self.0.into_iter();
        mistakes.map(|(finding, resources)| match resources[..] {
            [resource] => match &resource.object_location {
                Some(location) => finding.label(location.clone(), "for this object"),
                None => finding,
            },
            _ => finding,
        })
    }
}

/// Adds the edges of a resource to others that are built.
fn add_edges(
    resource: &DeployedResource,
    is_built: impl Fn(&ResourceId) -> bool,
    builder: &mut GraphBuilder,
) {
    let description = &resource.description;
    let id = &description.id.value;
    let is_known = |other: &&Located<ResourceId>| is_built(&other.value);
    for other in description.after.iter().filter(is_known) {
        builder.order(other.value.clone(), id.clone());
    }
    for other in description.before.iter().filter(is_known) {
        builder.order(id.clone(), other.value.clone());
    }
    for other in description.notifies.iter().filter(is_known) {
        builder.notify(id.clone(), other.value.clone());
    }
    let is_sent = |received: &&ReceivedProperty| is_built(&received.sender.value);
    for received in description.receives.iter().filter(is_sent) {
        let receipt = Receipt {
            property: received.property.value.clone(),
            from: received.sender.value.clone(),
            value: received.output.value.clone(),
        };
        builder.add_receipt(id, receipt);
    }
}

/// The resources that a resource names.
pub(super) fn references(
    resource: &DeployedResource,
) -> impl Iterator<Item = &Located<ResourceId>> {
    let description = &resource.description;
    let senders = description.receives.iter().map(|received| &received.sender);
    let edges = description.after.iter().chain(&description.before);
    edges.chain(&description.notifies).chain(senders)
}

fn declared_twice(first: &DeployedResource, again: &DeployedResource) -> Diagnostic {
    let id = &again.description.id;
    let place = &first.description.id.location;
    let what = different_properties(&first.description, &again.description);
    let message = format!(
        "the resource `{}` is declared twice, and differs in {what}",
        id.value
    );
    let finding = Diagnostic::error(Code::Resource, message);
    match (&first.object, &again.object) {
        (Some(one), Some(other)) if *place == id.location => finding
            .label(id.location.clone(), {
                let (one, other) = (Escaped::shortened(one), Escaped::shortened(other));
                format!("for the objects `{one}` and `{other}`")
            })
            .hint("name it by a property in which the objects differ, such as `${this.name}`"),
        _ => finding
            .label(id.location.clone(), of_release(again))
            .label(place.clone(), of_release(first)),
    }
}

/// The properties in which two descriptions of a resource differ.
fn different_properties(first: &ResourceDescription, again: &ResourceDescription) -> String {
    let value = |description: &ResourceDescription, key: &str| {
        let taken = description.properties.clone().take(key);
        taken.map(|located| located.value)
    };
    let all = first.properties.keys().chain(again.properties.keys());
    let keys: BTreeSet<&str> = all.collect();
    let mut differ: Vec<String> = keys
        .into_iter()
        .filter(|key| value(first, key) != value(again, key))
        .map(|key| format!("`{key}`"))
        .collect();
    if first.meta != again.meta {
        differ.push("`meta`".to_owned());
    }
    if first
        .members
        .iter()
        .map(|member| &member.value)
        .ne(again.members.iter().map(|member| &member.value))
    {
        differ.push("`members`".to_owned());
    }
    if differ.is_empty() {
        // Such as a file of the package that has the resource.
        return "its values".to_owned();
    }
    differ.join(", ")
}

fn of_release(resource: &DeployedResource) -> String {
    let Release { name, version } = &resource.release;
    format!("by {name} {version}")
}

fn unknown<'ids>(
    resource: &DeployedResource,
    reference: &Located<ResourceId>,
    ids: impl Iterator<Item = &'ids ResourceId>,
) -> Diagnostic {
    let id = &resource.description.id.value;
    let message = format!(
        "`{id}` refers to `{}`, which does not exist",
        reference.value
    );
    let finding = Diagnostic::error(Code::Resource, message).at(reference.location.clone());
    let names: Vec<String> = ids
        .filter(|other| *other != id)
        .map(ToString::to_string)
        .collect();
    let similar = most_similar(
        &reference.value.to_string(),
        names.iter().map(String::as_str),
    );
    finding.maybe_hint(similar.map(did_you_mean))
}

/// An error of a graph with the places of the resources that take part.
fn located(error: &GraphError, by_id: &BTreeMap<&ResourceId, &DeployedResource>) -> Diagnostic {
    let ids: &[ResourceId] = match error {
        GraphError::Cycle(ids) => ids,
        GraphError::NotSent { receiver, .. } => std::slice::from_ref(receiver),
        GraphError::Duplicate(id)
        | GraphError::Irreversible(id)
        | GraphError::Unknown { id, .. }
        | GraphError::CannotReceive { id, .. }
        | GraphError::WrongType { id, .. } => std::slice::from_ref(id),
    };
    let finding = Diagnostic::error(Code::Resource, error.to_string());
    let places = ids.iter().filter_map(|id| {
        let description = &by_id.get(id)?.description;
        let place = description
            .receives
            .iter()
            .find_map(|received| match error {
                GraphError::CannotReceive { property, .. }
                | GraphError::WrongType { property, .. } => {
                    (received.property.value == *property).then_some(&received.property.location)
                }
                GraphError::NotSent { id, value, .. } => (received.sender.value == *id
                    && received.output.value == *value)
                    .then_some(&received.output.location),
                _ => None,
            });
        Some(place.unwrap_or(&description.id.location))
    });
    let finding = places
        .cloned()
        .fold(finding, |finding: Diagnostic, place: Location| {
            finding.at(place)
        });
    match error {
        GraphError::Irreversible(id) if id.kind() == "exec" => finding.hint(
            "add the command that undoes it as `undo`, and `creates`, `unless` or `only_if`, which show whether that is necessary",
        ),
        GraphError::WrongType { expected, sent: ValueType::Text, .. } => {
            finding.hint(format!("an `exec` or `query` with `output: {expected}` sends one"))
        }
        GraphError::CannotReceive { property: name, possible, .. }
        | GraphError::NotSent { value: name, possible, .. } => {
            let similar = most_similar(name, possible.iter().map(String::as_str));
            match (similar, &possible[..]) {
                (Some(similar), _) => finding.hint(did_you_mean(similar)),
                (None, []) => finding,
                (None, possible) => {
                    let possible: Vec<_> = possible.iter().map(|name| format!("`{name}`")).collect();
                    finding.hint(format!("it can be {}", possible.join(", ")))
                }
            }
        }
        _ => finding,
    }
}
