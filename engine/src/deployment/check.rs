//! Checks the resources of a single package, without a lockfile, a model or a machine.
//!
//! The values of most templates are not known yet, so each one is replaced by a placeholder. Errors about parts of the
//! file with such a template are left out: with the real value, the part may be correct.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_checks::BoundPackages;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, ClassResources, Limits, PackageResources, Release,
    ResourceDescription, ResourceId, ResourceTemplate, TemplateValue, TemplateValues, did_you_mean,
    most_similar,
};

use super::graph::references;
use super::{DeployedResource, Deployment, GraphOptions};
use crate::kinds::{ARTIFACT, Directory, FilesOfPackage, Kinds, PackageFiles};

/// The resources of a package, to be checked without a machine.
#[derive(Clone)]
pub struct ResourceCheck<'package> {
    /// The resources.
    pub resources: &'package PackageResources,
    /// The release of the package.
    pub release: &'package Release,
    /// The files of the package.
    pub files: Arc<dyn PackageFiles>,
    /// The classes of the package, if they are known.
    pub classes: Option<&'package BTreeMap<ClassName, ClassDefinition>>,
    /// Whether the package requires no other package, so its resources can only refer to each other.
    pub is_alone: bool,
    /// Whether these are all resources of the package. If others cannot be read, references to resources that do not
    /// exist are not reported: they may be to these.
    pub is_complete: bool,
}

impl std::fmt::Debug for ResourceCheck<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ResourceCheck")
            .field("release", &self.release)
            .finish_non_exhaustive()
    }
}

impl ResourceCheck<'_> {
    /// The mistakes that a plan would find: kinds that do not exist, wrong properties, references to resources that do
    /// not exist, cycles, and resources that contradict each other.
    pub fn findings(&self, kinds: &Kinds, limits: &Limits) -> Vec<Diagnostic> {
        // Artifacts come from a lockfile: there is such a kind, and nothing to read.
        let kinds = &(kinds.clone()).with(ARTIFACT, |name, _| Ok(Directory::new(name)));
        let of_package = self.filled_in(&self.resources.for_package, limits);
        let mut findings = self.unknown_properties(limits);
        let of_package = self.right(of_package, kinds, &mut findings);
        let classes = self.resources.for_classes.iter();
        let classes: Vec<Vec<DeployedResource>> = classes
            .map(|class| {
                let of_class = self.filled_in(&class.resources, limits);
                self.right(of_class, kinds, &mut findings)
            })
            .collect();
        let all: BTreeSet<ResourceId> = (self.resources.for_classes.iter())
            .flat_map(|class| self.filled_in(&class.resources, limits))
            .chain(self.filled_in(&self.resources.for_package, limits))
            .map(|resource| resource.description.id.value)
            .collect();
        let scopes = if classes.is_empty() {
            vec![Vec::new()]
        } else {
            classes
        };
        if self.is_complete {
            for resource in scopes.iter().flatten().chain(&of_package) {
                self.check_references(resource, &all, &mut findings);
            }
        }
        for class in scopes {
            let mut resources = of_package.clone();
            resources.extend(class);
            findings.extend(self.graph_findings(resources, kinds));
        }
        let mut unique: Vec<Diagnostic> = Vec::with_capacity(findings.len());
        for finding in findings {
            // Resources of the package are in the graph of each class.
            if !unique.contains(&finding) {
                unique.push(finding);
            }
        }
        unique.sort_by_key(|finding| {
            let place = finding.labels.first();
            place.map(|place| place.location.span().start)
        });
        unique
    }

    /// The mistakes of templates that name a property which the class of the object does not have.
    fn unknown_properties(&self, limits: &Limits) -> Vec<Diagnostic> {
        let classes = self.resources.for_classes.iter();
        let findings = classes.filter_map(|class| {
            let properties = self.properties_of(&class.class.value)?;
            Some(unknown_properties(class, &properties, limits))
        });
        findings.flatten().collect()
    }

    /// The properties of a class and its ancestors; `None` if an ancestor is in another package.
    fn properties_of(&self, class: &ClassName) -> Option<BTreeSet<&str>> {
        let classes = self.classes?;
        let mut properties = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            if !seen.insert(class) {
                continue;
            }
            let definition = classes.get(class)?;
            let own = definition.properties.iter();
            properties.extend(own.map(|property| property.name.value.as_str()));
            open.extend(definition.extends.iter().map(|parent| &parent.value));
        }
        Some(properties)
    }

    /// Resources with texts in place of the values that are not known.
    fn filled_in(&self, templates: &[ResourceTemplate], limits: &Limits) -> Vec<DeployedResource> {
        let values = AnyValues {
            release: self.release,
            version: self.release.version.to_string(),
        };
        let filled = templates.iter().filter_map(|template| {
            // What cannot be filled in is reported when the file is read.
            let (description, _) = template.instantiate(&values, limits).into_result().ok()?;
            Some(DeployedResource {
                description,
                release: self.release.clone(),
                object: None,
                object_location: None,
            })
        });
        filled.collect()
    }

    /// The resources that their kinds accept.
    fn right(
        &self,
        resources: Vec<DeployedResource>,
        kinds: &Kinds,
        findings: &mut Vec<Diagnostic>,
    ) -> Vec<DeployedResource> {
        let right = resources.into_iter().filter(|resource| {
            let description = &resource.description;
            if description.id.value.kind() == ARTIFACT {
                return false;
            }
            // It stands for others, and is of no kind.
            if description.id.value.kind() == ResourceDescription::ALL {
                return true;
            }
            let files = FilesOfPackage::new(self.files.as_ref(), self.release);
            match kinds.read_with_files(description, files) {
                Ok(_) => true,
                Err(errors) => {
                    findings.extend(errors.into_iter().filter(is_certain));
                    false
                }
            }
        });
        right.collect()
    }

    /// Reports names of resources that do not exist. Those of required packages are not known here.
    fn check_references(
        &self,
        resource: &DeployedResource,
        all: &BTreeSet<ResourceId>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let id = &resource.description.id.value;
        for reference in references(resource) {
            let is_elsewhere = has_unknown_value(&reference.location)
                || reference.value.kind() == ARTIFACT
                || all.contains(&reference.value);
            if is_elsewhere {
                continue;
            }
            let names: Vec<String> = (all.iter().filter(|other| *other != id))
                .map(ToString::to_string)
                .collect();
            let name = reference.value.to_string();
            let similar = most_similar(&name, names.iter().map(String::as_str));
            let finding = match (self.is_alone, similar) {
                (true, _) => {
                    let message = format!("`{id}` refers to `{name}`, which does not exist");
                    Diagnostic::error(Code::Resource, message)
                }
                (false, Some(_)) => {
                    let message =
                        format!("`{id}` refers to `{name}`, which this package does not have");
                    Diagnostic::warning(Code::Resource, message)
                }
                (false, None) => continue,
            };
            let finding = finding.at(reference.location.clone());
            findings.push(finding.maybe_hint(similar.map(did_you_mean)));
        }
    }

    /// What is wrong with resources together.
    fn graph_findings(&self, resources: Vec<DeployedResource>, kinds: &Kinds) -> Vec<Diagnostic> {
        let known: BTreeSet<ResourceId> = (resources.iter())
            .map(|resource| resource.description.id.value.clone())
            .collect();
        let mut resources = resources;
        for resource in &mut resources {
            retain_known(&mut resource.description, &known);
        }
        let deployment = Deployment {
            resources,
            files: Some(Arc::clone(&self.files)),
        };
        let graph = deployment.graph(kinds, GraphOptions::default());
        let findings = graph.err().unwrap_or_default().into_iter();
        findings.filter(is_certain).collect()
    }
}

/// Returns the mistakes of templates that name a property which the class of the object does not have, for the classes
/// of a release. Classes with an ancestor that is unknown may have any property.
pub fn check_templates(
    packages: &BoundPackages,
    release: &Release,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let package = packages.releases.get(release);
    let package = package.and_then(|bound| bound.package.as_deref());
    let resources = package.and_then(|package| package.resources.as_ref());
    let classes = resources.into_iter().flat_map(|it| &it.for_classes);
    let findings = classes.filter_map(|class| {
        let found = packages.properties_of(release, &class.class.value);
        let names = found.properties.into_keys().collect();
        (found.is_complete).then(|| unknown_properties(class, &names, limits))
    });
    findings.flatten().collect()
}

/// The templates of a class that name other properties than these.
fn unknown_properties(
    class: &ClassResources,
    properties: &BTreeSet<&str>,
    limits: &Limits,
) -> Vec<Diagnostic> {
    let values = PropertiesOfClass(properties);
    let mut findings = Vec::new();
    for template in &class.resources {
        if let Err(errors) = template.instantiate(&values, limits).into_result() {
            // What else is wrong with a template is reported when the file is read.
            let is_unknown = |finding: &Diagnostic| finding.code == Code::ResourceTemplate;
            findings.extend(errors.into_iter().filter(is_unknown).map(|finding| {
                let class = Escaped::shortened(class.class.value.as_str()).to_string();
                finding.hint(format!("the class is `{class}`"))
            }));
        }
    }
    findings
}

/// Leaves out what a resource says about others that are not looked at.
fn retain_known(description: &mut ResourceDescription, known: &BTreeSet<ResourceId>) {
    for edges in [
        &mut description.after,
        &mut description.before,
        &mut description.notifies,
        &mut description.members,
    ] {
        edges.retain(|id| known.contains(&id.value));
    }
    description
        .receives
        .retain(|received| known.contains(&received.sender.value));
}

/// Whether a finding is about something that no value changes.
fn is_certain(finding: &Diagnostic) -> bool {
    let mut places = finding.labels.iter().map(|label| &label.location);
    !places.any(has_unknown_value)
}

/// Whether a place has a template whose value depends on more than the package.
fn has_unknown_value(place: &Location) -> bool {
    let span = place.span();
    let text = place.source().text().get(span.start..span.end);
    let mut templates = text.unwrap_or_default().split("${").skip(1);
    templates.any(|template| {
        let path = template.split('}').next().unwrap_or_default();
        !["package.name", "package.version"].contains(&path)
    })
}

/// A text for each value: for those of an object, their names.
struct AnyValues<'package> {
    release: &'package Release,
    version: String,
}

/// A text for each property of a class, and for all that is below it.
struct PropertiesOfClass<'class>(&'class BTreeSet<&'class str>);

impl TemplateValues for PropertiesOfClass<'_> {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        match path {
            ["this", property, ..] if !self.0.contains(property) => TemplateValue::Unknown {
                part: 1,
                known: self.0.iter().map(ToString::to_string).collect(),
            },
            path => TemplateValue::Text(Cow::Owned(path.join("."))),
        }
    }
}

impl TemplateValues for AnyValues<'_> {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        TemplateValue::Text(match path {
            ["package", "name"] => Cow::Borrowed(self.release.name.as_str()),
            ["package", "version"] => Cow::Borrowed(&self.version),
            ["package", ..] => Cow::Borrowed("/package"),
            path => Cow::Owned(path.join(".")),
        })
    }
}
