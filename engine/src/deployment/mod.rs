//! Deployments: the resources of locked releases and of the objects of a model, as one graph.
//!
//! The resources below `Package` of a release exist once. Those below `Classes` exist once for each object whose class, or
//! an ancestor of it, has them; the object's properties fill in their templates. Requirements between packages are no
//! edges: a resource waits for another one only if one of them names the other, or looks for it as a file looks for its
//! folder. So independent packages are brought into order side by side.

mod graph;
mod object_values;

pub use graph::GraphOptions;

use std::collections::BTreeMap;

use pkgres_checks::BoundPackages;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Parsed};
use pkgres_manifest::{
    ClassName, Limits, ModelObject, ObjectId, ObjectModel, Package, PackageName,
    ResourceDescription, ResourceTemplate, Version, VersionPin,
};

use object_values::ObjectValues;

/// A release by name and version.
type Release = (PackageName, Version);

/// A resource of a deployment, with its origin.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeployedResource {
    /// The resource.
    pub description: ResourceDescription,
    /// The release whose package describes it.
    pub release: (PackageName, Version),
    /// The name of the object that it belongs to, if it belongs to one.
    pub object: Option<String>,
}

/// The resources of locked releases and of the objects of a model.
#[derive(Debug, Clone, Default)]
pub struct Deployment {
    resources: Vec<DeployedResource>,
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
        let mut collected = Collected {
            packages,
            limits,
            resources: Vec::new(),
            findings: Vec::new(),
        };
        for release in packages.releases.keys() {
            let of_package = collected
                .package(release)
                .and_then(|it| it.resources.as_ref());
            let templates = of_package.map_or(&[][..], |resources| &resources.for_package);
            collected.add(templates, &ObjectValues::of_release(release), None);
        }
        if let Some(model) = model {
            for number in 0..model.objects().len() {
                collected.object(model, ObjectId(number));
            }
        }
        let deployment = Self {
            resources: collected.resources,
        };
        Parsed::new(Some(deployment), collected.findings)
    }

    /// The resources.
    pub fn resources(&self) -> &[DeployedResource] {
        &self.resources
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
    limits: &'packages Limits,
    resources: Vec<DeployedResource>,
    findings: Vec<Diagnostic>,
}

impl<'packages> Collected<'packages> {
    fn package(&self, release: &Release) -> Option<&'packages Package> {
        self.packages.releases.get(release)?.package.as_deref()
    }

    /// Adds resources of a release or an object.
    fn add(
        &mut self,
        templates: &[ResourceTemplate],
        values: &ObjectValues<'_>,
        object: Option<(&ObjectModel, ObjectId)>,
    ) {
        for template in templates {
            match template.instantiate(values, self.limits).into_result() {
                Ok((description, findings)) => {
                    self.findings.extend(findings);
                    self.resources.push(DeployedResource {
                        description,
                        release: values.release().clone(),
                        object: object.map(|(model, object)| name_of(model, object)),
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

    /// Adds the resources of an object: those of the most distant ancestor of its class first.
    fn object(&mut self, model: &ObjectModel, object: ObjectId) {
        let described = model.object(object);
        let release = match self.release_of(described) {
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
            let values = ObjectValues::of_object(release, model, object);
            self.add(templates, &values, Some((model, object)));
        }
    }

    /// The release that defines the class of an object; `None` for a class of the core library that is not there.
    fn release_of(&self, object: &ModelObject) -> Result<Option<&'packages Release>, Diagnostic> {
        let class = &object.class;
        let pinned = match &object.version {
            VersionPin::Exact(version) => Some(version),
            VersionPin::None | VersionPin::Range(_) => None,
        };
        let by_name: BTreeMap<&PackageName, Vec<&Release>> = self.packages.releases.iter().fold(
            BTreeMap::new(),
            |mut by_name: BTreeMap<_, Vec<_>>, (release, bound)| {
                let package = bound.package.as_deref();
                if package.is_some_and(|package| package.exports(class)) {
                    by_name.entry(&release.0).or_default().push(release);
                }
                by_name
            },
        );
        let mut candidates: Vec<&Release> = by_name.into_values().flatten().collect();
        if let Some(package) = &object.package {
            candidates.retain(|(name, _)| name == package);
        }
        let unpinned = candidates.clone();
        if let Some(version) = pinned {
            candidates.retain(|(_, candidate)| candidate == version);
        }
        let error = |message: String, hint: &str| {
            Diagnostic::error(Code::Model, message).hint(hint.to_owned())
        };
        match (candidates.as_slice(), unpinned.as_slice(), pinned) {
            ([release], _, _) => Ok(Some(release)),
            ([], [(name, locked), ..], Some(version)) => Err(error(
                format!("the object is pinned to {name} {version}, and the lockfile has {locked}"),
                "`pkgres pin` writes versions into a model",
            )),
            ([], _, _) if self.is_of_core(class) => Ok(None),
            ([], _, _) => Err(error(
                format!("no locked release defines the class `{class}`"),
                "require the package of the class in the manifest, and lock again",
            )),
            (several, _, _) => {
                let names: Vec<String> = several
                    .iter()
                    .map(|(name, version)| format!("{} {version}", Escaped::new(name.as_str())))
                    .collect();
                Err(error(
                    format!("several releases define the class: {}", names.join(", ")),
                    "`pkgres pin` writes package and version into a model",
                ))
            }
        }
    }

    /// Whether a class is one of the core library.
    fn is_of_core(&self, class: &ClassName) -> bool {
        let root = self.packages.root_class.as_ref().map(ClassName::as_str);
        let core = root.and_then(|root| root.rsplit_once('.'));
        core.is_some_and(|(core, _)| {
            let rest = class.as_str().strip_prefix(core);
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }
}
