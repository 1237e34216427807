//! Deployments: the resources of locked releases and of the objects of a model, as one graph.
//!
//! The resources below `Package` exist once per release. Those below `Classes` exist once for each object of the class
//! or of a class that extends it; the object's properties fill in their templates. Requirements between packages are
//! not edges: a resource waits for another one only if one of them names the other, or finds it automatically, as a
//! file finds its folder. So independent packages are brought into order in parallel.

mod check;
mod contradictions;
mod graph;
mod object_values;

pub use check::{ResourceCheck, check_templates};
pub use graph::GraphOptions;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use pkgres_checks::BoundPackages;
use pkgres_manifest::diagnostic::{Diagnostic, Location, Parsed, Severity};
use pkgres_manifest::{
    Limits, ObjectId, ObjectModel, Package, Release, ResourceDescription, ResourceId,
    ResourceTemplate,
};

use crate::kinds::{LockedArtifacts, PackageFiles};
use crate::objects::{ObjectClasses, model_findings, release_of};
use object_values::ObjectValues;

/// A resource of a deployment, with its origin.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeployedResource {
    /// The resource.
    pub description: ResourceDescription,
    /// The release whose package describes it.
    pub release: Release,
    /// The name of the object that it belongs to, if it belongs to one.
    pub object: Option<String>,
    /// Where that object is.
    object_location: Option<Location>,
}

/// The resources of locked releases and of the objects of a model.
#[derive(Clone, Default)]
pub struct Deployment {
    resources: Vec<DeployedResource>,
    /// The files of the packages.
    files: Option<Arc<dyn PackageFiles>>,
}

impl fmt::Debug for Deployment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Deployment")
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

/// The artifacts that a deployment can unpack, and which of them it does.
#[derive(Debug, Clone, Copy)]
pub struct DeployedArtifacts<'artifacts> {
    /// The artifacts of the releases.
    pub artifacts: &'artifacts LockedArtifacts,
    /// Whether all of them are unpacked, or only those whose files a resource names with `${package.files}`.
    pub are_all_unpacked: bool,
}

impl Deployment {
    /// The resources of the releases of a resolution, by name and version, then those of the objects of a model, in the
    /// order of the model.
    ///
    /// # Errors
    ///
    /// A template cannot be filled in, or no release defines the class of an object.
    pub fn new(
        packages: &BoundPackages,
        model: Option<&ObjectModel>,
        limits: &Limits,
    ) -> Parsed<Self> {
        Self::collect(packages, model, None, limits)
    }

    /// The resources as in [`new`](Self::new), and resources that unpack artifacts: of all releases, or only of those
    /// whose files a resource names with `${package.files}`. Such a resource comes after the artifact.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_artifacts(
        packages: &BoundPackages,
        model: Option<&ObjectModel>,
        artifacts: DeployedArtifacts<'_>,
        limits: &Limits,
    ) -> Parsed<Self> {
        Self::collect(packages, model, Some(artifacts), limits)
    }

    /// Sets where the files of packages come from, which resources put on a machine.
    #[must_use]
    pub fn with_files(mut self, files: Arc<dyn PackageFiles>) -> Self {
        self.files = Some(files);
        self
    }

    fn collect(
        packages: &BoundPackages,
        model: Option<&ObjectModel>,
        artifacts: Option<DeployedArtifacts<'_>>,
        limits: &Limits,
    ) -> Parsed<Self> {
        let mut collected = Collected {
            packages,
            objects: Rc::new(ObjectClasses::new(packages)),
            artifacts,
            limits,
            resources: Vec::new(),
            unpacked: BTreeSet::new(),
            findings: Vec::new(),
        };
        for release in packages.releases.keys() {
            let of_package = collected
                .package(release)
                .and_then(|it| it.resources.as_ref());
            let templates = of_package.map_or(&[][..], |resources| &resources.for_package);
            let values = ObjectValues::of_release(release);
            let values = values.with_files(collected.files_path(release));
            collected.add(templates, &values, None);
        }
        if let Some(model) = model {
            for number in 0..model.objects().len() {
                collected.object(model, ObjectId(number));
            }
            collected.check_contracts(model);
        }
        for release in packages.releases.keys() {
            collected.check_unused_templates(release);
        }
        let mut resources = collected.artifacts();
        resources.append(&mut collected.resources);
        let deployment = Self {
            resources,
            files: None,
        };
        Parsed::new(Some(deployment), collected.findings)
    }

    /// The resources.
    pub fn resources(&self) -> &[DeployedResource] {
        &self.resources
    }

    /// The resources that are there only because of objects.
    pub fn ids_of_objects(&self) -> BTreeSet<ResourceId> {
        let ids = |is_of_object: bool| {
            let resources = self.resources.iter();
            let resources = resources.filter(move |it| it.object.is_some() == is_of_object);
            resources.map(|resource| &resource.description.id.value)
        };
        let of_packages: BTreeSet<&ResourceId> = ids(false).collect();
        let of_objects = ids(true).filter(|id| !of_packages.contains(id));
        of_objects.cloned().collect()
    }
}

/// The name of an object: its id, or its class and place.
fn name_of(model: &ObjectModel, object: ObjectId) -> String {
    let id = model.object(object).id.clone();
    id.unwrap_or_else(|| model.shown(object))
}

/// The resources that were collected so far.
struct Collected<'packages> {
    packages: &'packages BoundPackages,
    objects: Rc<ObjectClasses<'packages>>,
    artifacts: Option<DeployedArtifacts<'packages>>,
    limits: &'packages Limits,
    resources: Vec<DeployedResource>,
    /// The releases whose files resources name.
    unpacked: BTreeSet<Release>,
    findings: Vec<Diagnostic>,
}

impl<'packages> Collected<'packages> {
    /// The folder on a machine with the files of a release.
    fn files_path(&self, release: &Release) -> Option<PathBuf> {
        self.artifacts?.artifacts.files_path(release)
    }

    /// The resources of the artifacts that are unpacked, except for those that packages describe.
    fn artifacts(&self) -> Vec<DeployedResource> {
        let Some(DeployedArtifacts {
            artifacts,
            are_all_unpacked,
        }) = self.artifacts
        else {
            return Vec::new();
        };
        let wanted = artifacts
            .releases()
            .filter(|release| are_all_unpacked || self.unpacked.contains(*release));
        let resources = wanted.filter_map(|release| {
            let mut description = ResourceDescription::new(artifacts.id(release));
            let mut described = self.resources.iter();
            if described.any(|it| it.description.id.value == description.id.value) {
                return None;
            }
            // Nothing but the manifest stands for it in a file.
            if let Some(package) = self.package(release) {
                description.id.location = package.manifest.name.location.clone();
            }
            Some(DeployedResource {
                description,
                release: release.clone(),
                object: None,
                object_location: None,
            })
        });
        resources.collect()
    }

    fn package(&self, release: &Release) -> Option<&'packages Package> {
        self.packages.releases.get(release)?.package.as_deref()
    }

    /// Adds resources of a release or an object.
    fn add(
        &mut self,
        templates: &[ResourceTemplate],
        values: &ObjectValues<'_, '_>,
        object: Option<(&ObjectModel, ObjectId)>,
    ) {
        for template in templates {
            match template.instantiate(values, self.limits).into_result() {
                Ok((mut description, findings)) => {
                    self.findings.extend(findings);
                    if let Some(artifacts) = self.artifacts.filter(|_| values.take_uses_files()) {
                        let mut artifact = description.id.clone();
                        artifact.value = artifacts.artifacts.id(values.release());
                        description.after.push(artifact);
                        self.unpacked.insert(values.release().clone());
                    }
                    self.resources.push(DeployedResource {
                        description,
                        release: values.release().clone(),
                        object: object.map(|(model, object)| name_of(model, object)),
                        object_location: object
                            .map(|(model, object)| model.object(object).location.clone()),
                    });
                }
                Err(findings) => {
                    let located = findings.into_iter().map(|finding| match object {
                        None => finding,
                        Some((model, object)) => {
                            let location = model.object(object).location.clone();
                            finding.label(location, "filled in for this object")
                        }
                    });
                    self.findings.extend(located);
                }
            }
        }
    }

    /// Checks the values of a model against the contracts of its classes, as templates rely on them.
    fn check_contracts(&mut self, model: &ObjectModel) {
        let findings = model_findings(self.packages, model);
        self.findings.extend(findings);
    }

    /// Warns of templates that can never be filled in. Those of classes with objects are reported already.
    fn check_unused_templates(&mut self, release: &Release) {
        for mut finding in check_templates(self.packages, release, self.limits) {
            let place = |finding: &Diagnostic| finding.labels.first().cloned();
            if !self.findings.iter().any(|it| place(it) == place(&finding)) {
                finding.severity = Severity::Warning;
                self.findings.push(finding);
            }
        }
    }

    /// Adds the resources of an object: those of the most distant ancestor of its class first.
    fn object(&mut self, model: &ObjectModel, object: ObjectId) {
        let described = model.object(object);
        let release = match release_of(self.packages, described) {
            Ok(Some(release)) => release.clone(),
            Ok(None) => return,
            Err(finding) => {
                let finding = finding.at(described.location.clone());
                self.findings.push(finding);
                return;
            }
        };
        let lineage = self.packages.lineage(&release, &described.class);
        for (release, class) in lineage.iter().rev() {
            let of_package = self.package(release).and_then(|it| it.resources.as_ref());
            let templates = of_package.map_or(&[][..], |resources| resources.of_class(class));
            let objects = Rc::clone(&self.objects);
            let values = ObjectValues::of_object(release, (&objects, model, object));
            let values = values.with_files(self.files_path(release));
            self.add(templates, &values, Some((model, object)));
        }
    }
}
