//! Plans for object models: the packages that the objects of a model require.
//!
//! A plan has two stages, and a type for each. [`ModelPlan`] finds the packages that define the
//! classes of objects without a package; [`ObjectPackages`] then finds the versions of the packages
//! of pinned objects. Like the solver, a plan does no input or output: it names the packages that
//! it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, capped};
use pkgres_manifest::{
    ClassName, IndexRecord, ObjectId, ObjectModel, PackageName, Spec, Version, VersionPin,
};

use crate::request::{ModelRoot, ObjectRequirement};

/// The requirements of the objects of a model, and the substitutions of missing versions.
#[derive(Debug, Clone)]
pub struct PlannedModel {
    /// The model and the requirements of its objects.
    pub root: ModelRoot,
    /// Replaced pins, whose versions are missing.
    pub substitutions: Vec<Substitution>,
}

/// The packages that define a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definers {
    /// These packages.
    Packages(BTreeSet<PackageName>),
    /// No package. A class with a similar name may have been meant.
    Nobody {
        /// The similar class and a package that defines it.
        similar: Option<(ClassName, PackageName)>,
    },
}

/// A plan for the packages and versions of the objects of a model.
///
/// The package of an object is the package that it names, or else the locked package that defines its class, or else
/// the only package that does.
#[derive(Debug)]
pub struct ModelPlan {
    model: Arc<ObjectModel>,
    fallback: Fallback,
    /// Packages that are preferred if several define a class.
    locked: BTreeSet<PackageName>,
    /// The classes that the host supplies.
    definers: BTreeMap<ClassName, Definers>,
    /// The versions that the host supplies.
    versions: BTreeMap<PackageName, Vec<Version>>,
}

impl ModelPlan {
    /// A plan for a model. `locked` are the locked packages, `provided` the releases of the host.
    pub fn new(
        model: Arc<ObjectModel>,
        locked: BTreeSet<PackageName>,
        provided: &[IndexRecord],
        fallback: Fallback,
    ) -> Self {
        let mut versions: BTreeMap<PackageName, Vec<Version>> = BTreeMap::new();
        for record in provided {
            let known = versions.entry(record.name.clone()).or_default();
            known.push(record.version.clone());
        }
        let mut plan = Self {
            model,
            fallback,
            locked,
            definers: BTreeMap::new(),
            versions,
        };
        for class in plan.needed_classes() {
            let defining = provided.iter().filter(|record| record.exports(&class));
            let defining: BTreeSet<_> = defining.map(|record| record.name.clone()).collect();
            if !defining.is_empty() {
                plan.definers.insert(class, Definers::Packages(defining));
            }
        }
        plan
    }

    /// The classes whose packages the plan needs.
    pub fn needed_classes(&self) -> BTreeSet<ClassName> {
        self.model
            .objects()
            .iter()
            .filter(|object| object.package.is_none())
            .map(|object| object.class.clone())
            .filter(|class| !self.definers.contains_key(class))
            .collect()
    }

    /// Continues with the packages that define the [needed classes](Self::needed_classes). Other
    /// classes are defined by no package.
    pub fn with_definers(mut self, definers: BTreeMap<ClassName, Definers>) -> ObjectPackages {
        for (class, defining) in definers {
            self.definers.entry(class).or_insert(defining);
        }
        let objects = self.model.objects().iter();
        let packages = objects.map(|object| match &object.package {
            Some(package) => Ok(package.clone()),
            None => self.definer(&object.class),
        });
        let packages = packages.collect();
        ObjectPackages {
            plan: self,
            packages,
        }
    }

    /// The package of an object without `package`, or all candidates.
    fn definer(&self, class: &ClassName) -> Result<PackageName, BTreeSet<PackageName>> {
        let Some(Definers::Packages(all)) = self.definers.get(class) else {
            return Err(BTreeSet::new());
        };
        let locked: BTreeSet<PackageName> = all.intersection(&self.locked).cloned().collect();
        let chosen = if locked.is_empty() {
            all.clone()
        } else {
            locked
        };
        match chosen.first() {
            Some(only) if chosen.len() == 1 => Ok(only.clone()),
            _ => Err(chosen),
        }
    }

    /// The error that no package, or several, define the class of an object.
    fn no_package(&self, object: ObjectId, packages: &BTreeSet<PackageName>) -> Diagnostic {
        let location = self.model.object(object).location.clone();
        let class = &self.model.object(object).class;
        let shown = self.model.shown(object);
        if packages.is_empty() {
            let message =
                format!("the object {shown} is of class `{class}`, which no package defines");
            let finding = Diagnostic::error(Code::Model, message).at(location);
            return match self.definers.get(class) {
                Some(Definers::Nobody {
                    similar: Some((similar, package)),
                }) => finding.hint(format!(
                    "did you mean `{similar}`, which {package} defines?"
                )),
                _ => finding.hint("`--registry` adds a registry with a package that defines it"),
            };
        }
        let names: Vec<String> = packages.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("several packages define the class `{class}` of the object {shown}");
        Diagnostic::error(Code::ModelAmbiguous, message)
            .label(location, names.join(", "))
            .hint("name the package: add `package` to the object's header")
    }
}

/// A plan with the package of each object, or the reason why there is none.
#[derive(Debug)]
pub struct ObjectPackages {
    plan: ModelPlan,
    /// For each object, its package or all candidates.
    packages: Vec<Result<PackageName, BTreeSet<PackageName>>>,
}

impl ObjectPackages {
    /// The packages whose versions the plan needs, to check pins.
    pub fn needed_packages(&self) -> BTreeSet<PackageName> {
        let objects = self.plan.model.objects().iter().zip(&self.packages);
        objects
            .filter(|(object, _)| matches!(object.version, VersionPin::Exact(_)))
            .filter_map(|(_, package)| package.as_ref().ok())
            .filter(|package| !self.plan.versions.contains_key(*package))
            .cloned()
            .collect()
    }

    /// The requirements of the objects, or the errors in the model, which are [`capped`], for the versions of the
    /// [needed packages](Self::needed_packages). Other packages have none.
    pub fn with_versions(
        mut self,
        versions: BTreeMap<PackageName, Vec<Version>>,
    ) -> Result<PlannedModel, Vec<Diagnostic>> {
        for (name, versions) in versions {
            self.plan.versions.entry(name).or_insert(versions);
        }
        let mut substitutions = Vec::new();
        let model = Arc::clone(&self.plan.model);
        let root = ModelRoot::try_new(model, |object| self.requirement(object, &mut substitutions));
        let root = root.map_err(capped)?;
        Ok(PlannedModel {
            root,
            substitutions,
        })
    }

    /// The requirement of an object.
    fn requirement(
        &self,
        id: ObjectId,
        substitutions: &mut Vec<Substitution>,
    ) -> Result<ObjectRequirement, Diagnostic> {
        let plan = &self.plan;
        let package = match &self.packages[id.0] {
            Ok(package) => package.clone(),
            Err(packages) => return Err(plan.no_package(id, packages)),
        };
        let spec = match &plan.model.object(id).version {
            VersionPin::None => Spec::any(),
            VersionPin::Range(spec) => spec.clone(),
            VersionPin::Exact(version) => {
                let known = plan.versions.get(&package).map_or(&[][..], Vec::as_slice);
                let (object, pin) = ((&*plan.model, id), (&package, version));
                match pinned(object, pin, known, plan.fallback)? {
                    Some(substitution) => {
                        let spec = Spec::exactly(&substitution.replacement);
                        substitutions.push(substitution);
                        spec
                    }
                    None => Spec::exactly(version),
                }
            }
        };
        Ok(ObjectRequirement { package, spec })
    }
}

/// The versions that may replace a pinned version that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// Report an error.
    #[default]
    Never,
    /// Take the newest of the same minor version, else of the same major version; never an older
    /// one.
    Newer,
    /// Like `Newer`, but take an older one if there is no newer one.
    Any,
}

/// A missing pinned version and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The object.
    pub object: ObjectId,
    /// Its package.
    pub package: PackageName,
    /// The pinned version.
    pub missing: Version,
    /// The version that replaces it.
    pub replacement: Version,
}

/// The substitution of a pinned version, if it is missing.
pub(super) fn pinned(
    (model, object): (&ObjectModel, ObjectId),
    (package, version): (&PackageName, &Version),
    known: &[Version],
    fallback: Fallback,
) -> Result<Option<Substitution>, Diagnostic> {
    if known.contains(version) {
        return Ok(None);
    }
    if let Some(replacement) = replacement_for(known, version, fallback) {
        return Ok(Some(Substitution {
            object,
            package: package.clone(),
            missing: version.clone(),
            replacement,
        }));
    }
    let shown = model.shown(object);
    let message = format!("the object {shown} is pinned to {package} {version}, which is gone");
    let mut error =
        Diagnostic::error(Code::ModelGone, message).at(model.object(object).location.clone());
    if let Some(nearest) = nearest(known, version) {
        error = error.hint(format!("the nearest version is {nearest}"));
        let helps = |fallback| replacement_for(known, version, fallback).is_some();
        if fallback == Fallback::Never && helps(Fallback::Newer) {
            error = error.hint("`--fallback` takes the newest of the same minor or major version");
        } else if fallback != Fallback::Any && helps(Fallback::Any) {
            error = error
                .hint("`--fallback --allow-older` takes an older one of the same major version");
        }
    } else {
        error = error.hint(format!("no registry has a package `{package}`"));
    }
    Err(error)
}

/// The version that replaces a missing one: the newest of the same minor version, else of the same major version.
fn replacement_for(known: &[Version], missing: &Version, fallback: Fallback) -> Option<Version> {
    let same_major = |version: &&Version| version.major() == missing.major();
    let same_minor = |version: &&Version| same_major(version) && version.minor() == missing.minor();
    let is_newer = |version: &&Version| *version > missing;
    let stable_first = |version: &&Version| (!version.is_prerelease(), (*version).clone());
    let pick = |is_eligible: &dyn Fn(&&Version) -> bool| {
        let eligible = known.iter().filter(|version| is_eligible(version));
        eligible.max_by_key(stable_first).cloned()
    };
    let newer = || {
        pick(&|version| same_minor(version) && is_newer(version))
            .or_else(|| pick(&|version| same_major(version) && is_newer(version)))
    };
    match fallback {
        Fallback::Never => None,
        Fallback::Newer => newer(),
        Fallback::Any => newer()
            .or_else(|| pick(&same_minor))
            .or_else(|| pick(&same_major)),
    }
}

/// The next newer version, else the next older one.
fn nearest<'version>(known: &'version [Version], missing: &Version) -> Option<&'version Version> {
    known
        .iter()
        .filter(|version| *version > missing)
        .min()
        .or_else(|| known.iter().filter(|version| *version < missing).max())
}
