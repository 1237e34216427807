//! From a model to what its objects demand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Severity};
use pkgres_manifest::{
    ClassName, IndexRecord, ObjectId, ObjectModel, PackageName, Spec, Version, VersionPin,
};

use crate::request::{ModelRoot, ObjectDemand};

/// What happens where a pinned version is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// It is an error.
    #[default]
    Never,
    /// The newest of the same minor version is taken, else of the same major version; never an
    /// older one.
    Newer,
    /// Likewise, and an older one where there is no newer one.
    Any,
}

/// A pinned version that is gone, and what is taken instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The object.
    pub object: ObjectId,
    /// Its package.
    pub package: PackageName,
    /// The version that is gone.
    pub gone: Version,
    /// The version that is taken instead.
    pub instead: Version,
}

/// What the objects of a model demand, and what was decided on the way.
#[derive(Debug, Clone)]
pub struct PlannedModel {
    /// The model and the demands of its objects.
    pub root: ModelRoot,
    /// Pinned versions that are gone.
    pub substitutions: Vec<Substitution>,
}

/// Finds out which packages the objects of a model come from, and in which versions they may.
///
/// An object's package is the one that it names, else the one in the lock that defines its class,
/// else the only one that does. Like the solver, a plan does no input or output: it says what it
/// needs to be told.
#[derive(Debug)]
pub struct ModelPlan {
    model: Arc<ObjectModel>,
    fallback: Fallback,
    /// Packages that are preferred where several define a class.
    locked: BTreeSet<PackageName>,
    definers: BTreeMap<ClassName, BTreeSet<PackageName>>,
    versions: BTreeMap<PackageName, Vec<Version>>,
    /// What may be meant by classes that nobody defines.
    similar: BTreeMap<ClassName, (ClassName, PackageName)>,
}

impl ModelPlan {
    /// A plan for a model. `locked` are the packages that a lock holds, `provided` the releases
    /// that the host supplies.
    pub fn new(
        model: Arc<ObjectModel>,
        locked: BTreeSet<PackageName>,
        provided: &[IndexRecord],
        fallback: Fallback,
    ) -> Self {
        let mut plan = Self {
            model,
            fallback,
            locked,
            definers: BTreeMap::new(),
            versions: BTreeMap::new(),
            similar: BTreeMap::new(),
        };
        for record in provided {
            plan.versions
                .entry(record.name.clone())
                .or_default()
                .push(record.version.clone());
        }
        for class in plan.needed_classes() {
            let definers: BTreeSet<PackageName> = provided
                .iter()
                .filter(|record| {
                    record.classes.as_ref().is_some_and(|classes| {
                        classes
                            .iter()
                            .any(|known| known.name == class && !known.internal)
                    })
                })
                .map(|record| record.name.clone())
                .collect();
            if !definers.is_empty() {
                plan.definers.insert(class, definers);
            }
        }
        plan
    }

    /// The classes of which the plan needs to know which packages define them.
    pub fn needed_classes(&self) -> BTreeSet<ClassName> {
        self.model
            .objects()
            .iter()
            .filter(|object| object.package.is_none())
            .map(|object| object.class.clone())
            .filter(|class| !self.definers.contains_key(class))
            .collect()
    }

    /// Says which packages define a class.
    pub fn provide_definers(&mut self, class: &ClassName, packages: Vec<PackageName>) {
        self.definers
            .entry(class.clone())
            .or_default()
            .extend(packages);
    }

    /// Says which class may be meant by one that no package defines, and a package that defines it.
    pub fn suggest_class(&mut self, class: &ClassName, similar: ClassName, package: PackageName) {
        self.similar.insert(class.clone(), (similar, package));
    }

    /// The packages of which the plan needs to know the versions, to tell whether pinned ones are
    /// gone. Say which packages define the needed classes first.
    pub fn needed_packages(&self) -> BTreeSet<PackageName> {
        self.model
            .objects()
            .iter()
            .filter(|object| matches!(object.version, VersionPin::Exact(_)))
            .filter_map(|object| match &object.package {
                Some(package) => Some(package.clone()),
                None => self.definer(&object.class).ok(),
            })
            .filter(|package| !self.versions.contains_key(package))
            .collect()
    }

    /// Says which versions a package has.
    pub fn provide_versions(&mut self, package: &PackageName, versions: Vec<Version>) {
        self.versions.insert(package.clone(), versions);
    }

    /// What the objects demand, or what is wrong with the model.
    pub fn finish(self) -> Result<PlannedModel, Vec<Diagnostic>> {
        let mut objects = Vec::with_capacity(self.model.objects().len());
        let mut substitutions = Vec::new();
        let mut errors = Vec::new();
        for (number, object) in self.model.objects().iter().enumerate() {
            let id = ObjectId(number);
            let package = match &object.package {
                Some(package) => package.clone(),
                None => match self.definer(&object.class) {
                    Ok(package) => package,
                    Err(packages) => {
                        errors.push(self.no_package(id, &packages));
                        continue;
                    }
                },
            };
            let spec = match &object.version {
                VersionPin::None => Spec::any(),
                VersionPin::Range(spec) => spec.clone(),
                VersionPin::Exact(version) => match self.pinned(id, &package, version) {
                    Ok(Some(substitution)) => {
                        let spec = Spec::exactly(&substitution.instead);
                        substitutions.push(substitution);
                        spec
                    }
                    Ok(None) => Spec::exactly(version),
                    Err(error) => {
                        errors.push(*error);
                        continue;
                    }
                },
            };
            objects.push(ObjectDemand { package, spec });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(PlannedModel {
            root: ModelRoot {
                model: self.model,
                objects,
            },
            substitutions,
        })
    }

    /// The package that an object without `package` comes from, or all that it could.
    fn definer(&self, class: &ClassName) -> Result<PackageName, BTreeSet<PackageName>> {
        let all = self.definers.get(class).cloned().unwrap_or_default();
        let locked: BTreeSet<PackageName> = all.intersection(&self.locked).cloned().collect();
        let choice = if locked.is_empty() { all } else { locked };
        match choice.first() {
            Some(only) if choice.len() == 1 => Ok(only.clone()),
            _ => Err(choice),
        }
    }

    fn no_package(&self, object: ObjectId, packages: &BTreeSet<PackageName>) -> Diagnostic {
        let location = self.model.object(object).location.clone();
        let class = &self.model.object(object).class;
        let shown = self.model.shown(object);
        if packages.is_empty() {
            let message =
                format!("the object {shown} is of class `{class}`, which no package defines");
            let finding = Diagnostic::error(Code::Model, message).at(location);
            return match self.similar.get(class) {
                Some((similar, package)) => finding.hint(format!(
                    "did you mean `{similar}`, which {package} defines?"
                )),
                None => finding.hint("`--registry` adds a registry with a package that defines it"),
            };
        }
        let names: Vec<String> = packages.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("several packages define the class `{class}` of the object {shown}");
        Diagnostic::error(Code::ModelAmbiguous, message)
            .label(location, names.join(", "))
            .hint("name the package: add `package` to the object's header")
    }

    /// Whether a pinned version is there; if not, what is taken instead.
    fn pinned(
        &self,
        object: ObjectId,
        package: &PackageName,
        version: &Version,
    ) -> Result<Option<Substitution>, Box<Diagnostic>> {
        let known = self.versions.get(package).map_or(&[][..], Vec::as_slice);
        if known.contains(version) {
            return Ok(None);
        }
        let instead = match self.fallback {
            Fallback::Never => None,
            Fallback::Newer => fallback(known, version, false),
            Fallback::Any => fallback(known, version, true),
        };
        if let Some(instead) = instead {
            return Ok(Some(Substitution {
                object,
                package: package.clone(),
                gone: version.clone(),
                instead,
            }));
        }
        let shown = self.model.shown(object);
        let message = format!("the object {shown} is pinned to {package} {version}, which is gone");
        let mut error = Diagnostic::error(Code::ModelGone, message).at(self
            .model
            .object(object)
            .location
            .clone());
        debug_assert_eq!(error.severity, Severity::Error);
        if let Some(nearest) = nearest(known, version) {
            error = error.hint(format!("the nearest version is {nearest}"));
            let helps = |older_too| fallback(known, version, older_too).is_some();
            if self.fallback == Fallback::Never && helps(false) {
                error =
                    error.hint("`--fallback` takes the newest of the same minor or major version");
            } else if self.fallback != Fallback::Any && helps(true) {
                error = error.hint(
                    "`--fallback --allow-older` takes an older one of the same major version",
                );
            }
        } else {
            error = error.hint(format!("no registry has a package `{package}`"));
        }
        Err(Box::new(error))
    }
}

/// The newest of the same minor version, else of the same major version.
fn fallback(known: &[Version], gone: &Version, older_too: bool) -> Option<Version> {
    let same_major = |version: &&Version| version.major() == gone.major();
    let same_minor = |version: &&Version| same_major(version) && version.minor() == gone.minor();
    let newer = |version: &&Version| *version > gone;
    let stable_first = |version: &&Version| (!version.is_prerelease(), (*version).clone());
    let pick = |fits: &dyn Fn(&&Version) -> bool| {
        known
            .iter()
            .filter(|version| fits(version))
            .max_by_key(stable_first)
            .cloned()
    };
    pick(&|version| same_minor(version) && newer(version))
        .or_else(|| pick(&|version| same_major(version) && newer(version)))
        .or_else(|| if older_too { pick(&same_minor) } else { None })
        .or_else(|| if older_too { pick(&same_major) } else { None })
}

/// The next newer version, else the next older one.
fn nearest<'version>(known: &'version [Version], gone: &Version) -> Option<&'version Version> {
    known
        .iter()
        .filter(|version| *version > gone)
        .min()
        .or_else(|| known.iter().filter(|version| *version < gone).max())
}
