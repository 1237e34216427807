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
    ClassName, IndexRecord, ObjectId, ObjectModel, PackageName, Release, Spec, Version, VersionPin,
};

use crate::request::{Locked, ModelRoot, ObjectRequirement, PrereleasePolicy, SolveOptions};

/// The requirements of the objects of a model, and the substitutions of missing versions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlannedModel {
    /// The model and the requirements of its objects.
    pub root: ModelRoot,
    /// The pins whose versions are missing, and that may be replaced.
    pub substitutions: Vec<Substitution>,
    /// The releases that objects are pinned to. They belong to [`Locked::kept`], so that they can be chosen even if they
    /// were yanked since.
    pub pinned: BTreeSet<Release>,
}

/// A model that cannot be planned.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WrongModel {
    /// The errors, which are [`capped`].
    pub findings: Vec<Diagnostic>,
    /// The requirements of the objects, in the order of the model, except of those with errors.
    pub objects: Vec<Option<ObjectRequirement>>,
    /// The releases that these objects are pinned to, as in [`PlannedModel::pinned`].
    pub pinned: BTreeSet<Release>,
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
    /// The releases that are preferred.
    locked: BTreeSet<Release>,
    /// What else decides whether a release can be chosen.
    options: SolveOptions,
    /// The classes that the host supplies.
    definers: BTreeMap<ClassName, Definers>,
    /// The releases that the host supplies.
    releases: BTreeMap<PackageName, Vec<IndexRecord>>,
}

impl ModelPlan {
    /// A plan for a model. The preferred releases of `locked` decide if several packages define a class; `provided` are
    /// the releases of the host.
    pub fn new(
        model: Arc<ObjectModel>,
        locked: &Locked,
        provided: &[IndexRecord],
        options: SolveOptions,
        fallback: Fallback,
    ) -> Self {
        let mut releases: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for record in provided {
            let known = releases.entry(record.name.clone()).or_default();
            known.push(record.clone());
        }
        let mut plan = Self {
            model,
            fallback,
            locked: locked.preferred.clone(),
            options,
            definers: BTreeMap::new(),
            releases,
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
        let is_locked = |name: &&PackageName| {
            let mut locked = self.locked.iter();
            locked.any(|Release { name: locked, .. }| locked == *name)
        };
        let locked: BTreeSet<PackageName> = all.iter().filter(is_locked).cloned().collect();
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

    /// The packages that the objects of a class may mean, of the packages that define the class and their releases.
    ///
    /// Only packages count that have a release which can be chosen, or to which an object of the class is pinned. If none
    /// is left, or only one that lacks the version of a pin, all count.
    pub fn eligible(
        &self,
        class: &ClassName,
        defining: &BTreeMap<PackageName, Vec<IndexRecord>>,
    ) -> BTreeSet<PackageName> {
        let objects = self.model.objects().iter();
        let pins: BTreeSet<&Version> = objects
            .filter(|object| object.package.is_none() && object.class == *class)
            .filter_map(|object| match &object.version {
                VersionPin::Exact(version) => Some(version),
                _ => None,
            })
            .collect();
        let is_pinned =
            |record: &IndexRecord| pins.contains(&record.version) && has_class(record, class);
        let can_be_meant = |records: &[IndexRecord]| {
            let mut records = records.iter();
            records.any(|record| is_pinned(record) || self.can_choose(record, class))
        };
        let eligible: BTreeSet<PackageName> = defining
            .iter()
            .filter(|(_, records)| can_be_meant(records))
            .map(|(name, _)| name.clone())
            .collect();
        let lacks_pin = |name: &PackageName| {
            let known: BTreeSet<_> = defining[name].iter().map(|known| &known.version).collect();
            !pins.is_subset(&known)
        };
        let is_certain = match eligible.first() {
            Some(only) if eligible.len() == 1 => !lacks_pin(only),
            first => first.is_some(),
        };
        if is_certain {
            eligible
        } else {
            defining.keys().cloned().collect()
        }
    }

    /// Whether a release can be chosen for an object of a class, as far as the release alone says so.
    fn can_choose(&self, record: &IndexRecord, class: &ClassName) -> bool {
        let options = &self.options;
        let is_open = || {
            let is_old_enough = options
                .exclude_newer
                .is_none_or(|cutoff| record.is_published_before(cutoff));
            let is_left_out =
                options.prerelease == PrereleasePolicy::Never && record.version.is_prerelease();
            !record.yanked && is_old_enough && !is_left_out
        };
        let release = record.release();
        has_class(record, class) && (self.locked.contains(&release) || is_open())
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

/// Whether a release has a class, as far as its record says so.
fn has_class(record: &IndexRecord, class: &ClassName) -> bool {
    record.classes.is_none() || record.exports(class)
}

/// A plan with the package of each object, or the reason why there is none.
#[derive(Debug)]
pub struct ObjectPackages {
    plan: ModelPlan,
    /// For each object, its package or all candidates.
    packages: Vec<Result<PackageName, BTreeSet<PackageName>>>,
}

impl ObjectPackages {
    /// The packages whose releases the plan needs, to check pins.
    pub fn needed_packages(&self) -> BTreeSet<PackageName> {
        let objects = self.plan.model.objects().iter().zip(&self.packages);
        objects
            .filter(|(object, _)| matches!(object.version, VersionPin::Exact(_)))
            .filter_map(|(_, package)| package.as_ref().ok())
            .filter(|package| !self.plan.releases.contains_key(*package))
            .cloned()
            .collect()
    }

    /// The requirements of the objects, or the errors in the model, for the releases of the
    /// [needed packages](Self::needed_packages). Other packages have none.
    ///
    /// # Errors
    ///
    /// Some objects have no package, or a version that is missing.
    pub fn with_releases(
        mut self,
        releases: BTreeMap<PackageName, Vec<IndexRecord>>,
    ) -> Result<PlannedModel, WrongModel> {
        for (name, records) in releases {
            self.plan.releases.entry(name).or_insert(records);
        }
        let mut substitutions = Vec::new();
        let model = Arc::clone(&self.plan.model);
        let mut findings = Vec::new();
        let numbers = (0..model.objects().len()).map(ObjectId);
        let objects = numbers.map(|object| {
            let found = self.requirement(object, &mut substitutions);
            found.map_err(|finding| findings.push(finding)).ok()
        });
        let objects: Vec<Option<ObjectRequirement>> = objects.collect();
        if !findings.is_empty() {
            return Err(WrongModel {
                findings: capped(findings),
                pinned: pinned(&model, &objects),
                objects,
            });
        }
        let pinned = pinned(&model, &objects);
        let mut requirements = objects.into_iter().flatten();
        let root = ModelRoot::new(model, |_| {
            requirements.next().expect("no object has an error")
        });
        Ok(PlannedModel {
            root,
            substitutions,
            pinned,
        })
    }

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
                let known = plan.releases.get(&package).map_or(&[][..], Vec::as_slice);
                if known.iter().any(|record| record.version == *version) {
                    Spec::exactly(version)
                } else {
                    let replacements = plan.instead((id, version), &package, known)?;
                    let spec = replacements[0].clone();
                    substitutions.push(Substitution {
                        object: id,
                        package: package.clone(),
                        missing: version.clone(),
                        replacements,
                    });
                    spec
                }
            }
        };
        Ok(ObjectRequirement { package, spec })
    }
}

/// The releases that objects with these requirements are pinned to.
fn pinned(model: &ObjectModel, objects: &[Option<ObjectRequirement>]) -> BTreeSet<Release> {
    let objects = model.objects().iter().zip(objects);
    let pinned = objects.filter_map(|(object, required)| match (&object.version, required) {
        (VersionPin::Exact(version), Some(required)) => {
            Some(Release::new(required.package.clone(), version.clone()))
        }
        _ => None,
    });
    pinned.collect()
}

/// The versions that may replace a pinned version that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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

/// A pin whose version is missing. The solver chooses what replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Substitution {
    /// The object.
    pub object: ObjectId,
    /// Its package.
    pub package: PackageName,
    /// The pinned version.
    pub missing: Version,
    /// The versions that may replace it, from the preferred ones on. The last of these specs has all versions of the
    /// others.
    replacements: Vec<Spec>,
}

impl PlannedModel {
    /// Lets missing pins be replaced by less preferred versions where the model has no resolution otherwise: another
    /// minor version, or a prerelease. `is_solvable` tells whether there may be a resolution; only a proof counts as no.
    ///
    /// Objects of one class with the same missing pin are replaced alike. Earlier objects come first: they keep the
    /// preferred versions if any resolution allows it. If there is no resolution with any replacements, all versions are
    /// allowed, so that the conflict is about all of them.
    ///
    /// # Errors
    ///
    /// The first error of `is_solvable`.
    pub fn choose_replacements<E>(
        &mut self,
        mut is_solvable: impl FnMut(&ModelRoot) -> Result<bool, E>,
    ) -> Result<(), E> {
        let groups = self.replaced_alike();
        if groups.iter().all(|group| group.specs.len() == 1) || is_solvable(&self.root)? {
            return Ok(());
        }
        for group in &groups {
            group.choose(group.specs.len() - 1, &mut self.root);
        }
        if !is_solvable(&self.root)? {
            return Ok(());
        }
        for group in &groups {
            for rank in 0..group.specs.len() {
                group.choose(rank, &mut self.root);
                // With the last one, there is a resolution.
                if rank + 1 == group.specs.len() || is_solvable(&self.root)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The objects of one class with the same missing pin, in the order of the model.
    fn replaced_alike(&self) -> Vec<ReplacedAlike> {
        let mut groups: Vec<ReplacedAlike> = Vec::new();
        let mut known = BTreeMap::new();
        for substitution in &self.substitutions {
            let object = substitution.object;
            let class = &self.root.model.object(object).class;
            let key = (&substitution.package, &substitution.missing, class);
            let group = *known.entry(key).or_insert_with(|| {
                groups.push(ReplacedAlike {
                    objects: Vec::new(),
                    specs: substitution.replacements.clone(),
                });
                groups.len() - 1
            });
            groups[group].objects.push(object);
        }
        groups
    }
}

/// Objects whose missing pins have the same replacements.
struct ReplacedAlike {
    objects: Vec<ObjectId>,
    /// The replacements, from the preferred ones on.
    specs: Vec<Spec>,
}

impl ReplacedAlike {
    /// Takes the replacements of a rank.
    fn choose(&self, rank: usize, root: &mut ModelRoot) {
        for object in &self.objects {
            root.objects[object.0].spec = self.specs[rank].clone();
        }
    }
}

impl ModelPlan {
    /// The versions from which one is taken for an object instead of the version that it is pinned to, which is missing;
    /// at least one spec, see [`replacements`].
    fn instead(
        &self,
        (object, missing): (ObjectId, &Version),
        package: &PackageName,
        known: &[IndexRecord],
    ) -> Result<Vec<Spec>, Diagnostic> {
        let described = self.model.object(object);
        let usable = known
            .iter()
            .filter(|record| self.can_choose(record, &described.class));
        let usable: Vec<&Version> = usable.map(|record| &record.version).collect();
        let specs = replacements(&usable, missing, self.fallback);
        if !specs.is_empty() {
            return Ok(specs);
        }
        let shown = self.model.shown(object);
        let message = format!("the object {shown} is pinned to {package} {missing}, which is gone");
        let error = Diagnostic::error(Code::ModelGone, message).at(described.location.clone());
        if known.is_empty() {
            return Err(error.hint(format!("no registry has a package `{package}`")));
        }
        let Some(nearest) = nearest(&usable, missing) else {
            return Err(error.hint(format!("no other version of `{package}` can be chosen")));
        };
        let error = error.hint(format!("the nearest version is {nearest}"));
        let helps = |fallback| !replacements(&usable, missing, fallback).is_empty();
        Err(
            if self.fallback == Fallback::Never && helps(Fallback::Newer) {
                error.hint("`--fallback` takes the newest of the same minor or major version")
            } else if self.fallback != Fallback::Any && helps(Fallback::Any) {
                error
                    .hint("`--fallback --allow-older` takes an older one of the same major version")
            } else {
                error.hint("remove the version from the header of the object, and pin it again")
            },
        )
    }
}

/// The versions that may replace a missing one, from the preferred ones on: those of the same minor version, then those
/// of the same major version; stable versions first, and newer versions than the missing one first. The last spec has
/// all versions of the others.
fn replacements(usable: &[&Version], missing: &Version, fallback: Fallback) -> Vec<Spec> {
    let same_major = |version: &Version| version.major() == missing.major();
    let same_minor = |version: &Version| same_major(version) && version.minor() == missing.minor();
    let newer = |version: &Version| version > missing;
    let range = |is_eligible: &dyn Fn(&Version) -> bool, takes_prereleases: bool| {
        let eligible = usable
            .iter()
            .copied()
            .filter(|version| is_eligible(version));
        let (stable, prereleases): (Vec<&Version>, Vec<&Version>) =
            eligible.partition(|version| !version.is_prerelease());
        // Bounds that are prereleases would say that prereleases are wanted.
        let bounding = if takes_prereleases {
            [stable, prereleases].concat()
        } else if stable.is_empty() {
            prereleases
        } else {
            stable
        };
        let (oldest, newest) = (bounding.iter().min()?, bounding.iter().max()?);
        if oldest == newest {
            return Some(Spec::exactly(oldest));
        }
        let (oldest, newest) = (oldest.without_build(), newest.without_build());
        Spec::parse(&format!(">={oldest},<={newest}")).ok()
    };
    let mut specs = Vec::new();
    for takes_prereleases in [false, true] {
        let mut add = |is_eligible: &dyn Fn(&Version) -> bool| {
            specs.extend(range(is_eligible, takes_prereleases));
        };
        if fallback != Fallback::Never {
            add(&|version| same_minor(version) && newer(version));
            add(&|version| same_major(version) && newer(version));
        }
        if fallback == Fallback::Any {
            add(&same_minor);
            add(&same_major);
        }
    }
    specs.dedup();
    specs
}

/// The next newer version, else the next older one. A stable version comes before any prerelease, unless a prerelease is
/// missing.
fn nearest<'version>(usable: &[&'version Version], missing: &Version) -> Option<&'version Version> {
    let among = |versions: &[&'version Version]| {
        let newer = versions.iter().filter(|version| **version > missing).min();
        let older = || versions.iter().filter(|version| **version < missing).max();
        newer.or_else(older).copied()
    };
    let is_stable = |version: &&&Version| missing.is_prerelease() || !version.is_prerelease();
    let stable: Vec<&Version> = usable.iter().filter(is_stable).copied().collect();
    among(&stable).or_else(|| among(usable))
}
