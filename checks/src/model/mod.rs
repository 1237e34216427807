//! Checks pinned object models: contracts here, and versions in `versions.rs`.

mod class_constraints;
mod versions;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, Contract, ContractCheck, ContractPlace, ConvertedValue, Exclusions,
    ModelObject, ModelValue, ObjectId, ObjectModel, PropertyHolder, Release, ValueProblem,
    ValueViolation, VersionPin, did_you_mean, held_objects, most_similar,
};

use self::class_constraints::ConstrainedClass;
pub use self::versions::{check_pinned, check_previous_versions};
use crate::bound_packages::{Ancestry, BoundPackages, ClassAt};

/// The result of [`check_model`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ModelReport {
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// The calls in contracts that only the deployment engine can evaluate, as written, each once.
    pub not_checked: BTreeSet<String>,
}

/// Checks the values of a pinned model against the contracts of its classes.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use pkgres_checks::{BoundPackage, BoundPackages, check_model};
/// use pkgres_manifest::{Limits, ObjectModel, Package, PackageManifest, ReadOptions};
///
/// let text = b"FullName: org.acme.Web\nType: Application\nVersion: 1.0.0\nClasses: {org.acme.Web: Web.yaml}\n";
/// let options = ReadOptions::with_core(None);
/// let (manifest, _) = PackageManifest::read("manifest.yaml", text, &options)
///     .into_result()
///     .expect("the manifest is valid");
/// let class = b"Name: org.acme.Web\nProperties:\n  port:\n    Contract: $.int().notNull()\n";
/// let (package, _) = Package::assemble(manifest, &options, |_| Some(class.to_vec()))
///     .into_result()
///     .expect("the class is valid");
/// let release = package.release();
/// let packages = BoundPackages {
///     root_class: None,
///     releases: BTreeMap::from([(
///         release,
///         BoundPackage {
///             package: Some(Arc::new(package)),
///             requires: Vec::new(),
///         },
///     )]),
/// };
/// let text = br#"{
///     "?": {"id": "web", "type": "org.acme.Web/1.0.0@org.acme.Web"},
///     "port": "eighty"
/// }"#;
/// let (model, _) = ObjectModel::read("model.json", text, &Limits::default())
///     .into_result()
///     .expect("the model is valid");
/// let report = check_model(&model, &packages);
/// assert_eq!(
///     report.findings[0].message,
///     "`port` of the object `web` must be an integer, as `org.acme.Web` requires"
/// );
/// ```
pub fn check_model(model: &ObjectModel, packages: &BoundPackages) -> ModelReport {
    check_model_of(model, packages, |object| {
        match (&object.package, &object.version) {
            (Some(package), VersionPin::Exact(version)) => {
                Some(Release::new(package.clone(), version.clone()))
            }
            _ => None,
        }
    })
}

/// The same check of a model that need not be pinned: `release_of` says which release defines the class of an object.
/// Objects without one are not checked.
pub fn check_model_of(
    model: &ObjectModel,
    packages: &BoundPackages,
    release_of: impl Fn(&ModelObject) -> Option<Release>,
) -> ModelReport {
    let releases: Vec<_> = model.objects().iter().map(release_of).collect();
    let undetermined = vec![None; releases.len()];
    check(model, packages, &releases, undetermined, None)
}

/// The same check of a model whose objects have these `releases`, in the order of the model. Objects without one are not
/// checked, and neither are those that are written inside them: the class of the outer object decides which of their
/// values count. A warning says so.
///
/// That an object is of the wrong class is not reported where that is `known`.
pub fn check_objects(
    model: &ObjectModel,
    packages: &BoundPackages,
    releases: &[Option<Release>],
    known: &BTreeSet<ContractPlace>,
) -> ModelReport {
    let mut undetermined: Vec<Option<ObjectId>> = Vec::with_capacity(releases.len());
    for (number, (object, release)) in model.objects().iter().zip(releases).enumerate() {
        let around = object.holder.and_then(|holder| undetermined[holder.0]);
        let is_unknown = release.is_none().then_some(ObjectId(number));
        undetermined.push(around.or(is_unknown));
    }
    check(model, packages, releases, undetermined, Some(known))
}

/// A value that is none of a property, such as that of an argument of a method.
#[derive(Debug, Clone, Copy)]
pub struct CheckedValue<'a> {
    /// Its contract.
    pub contract: &'a Contract,
    /// The release with the contract, in which the names of classes are looked up.
    pub release: &'a Release,
    /// The model with the objects in the value, see [`ObjectModel::read_value`].
    pub model: &'a ObjectModel,
    /// The object that holds the value.
    pub parent_object: ObjectId,
    /// The name of the value in messages.
    pub name: &'a str,
    /// The value.
    pub value: &'a ModelValue,
}

/// Checks a value, and the objects from number `first` on, which are those in it. `release_of` is as for
/// [`check_model_of`]. Returns what is wrong, in the words of the contracts of models.
pub fn check_value(
    checked: CheckedValue<'_>,
    first: usize,
    packages: &BoundPackages,
    release_of: impl Fn(&ModelObject) -> Option<Release>,
) -> Vec<Diagnostic> {
    let CheckedValue {
        contract,
        release,
        model,
        parent_object,
        name,
        value,
    } = checked;
    let known = BTreeSet::new();
    let classes = model.objects().iter().map(|object| {
        Some(ClassAt {
            release: release_of(object)?,
            class: object.class.clone(),
        })
    });
    let mut check = ModelCheck {
        checks_versions: true,
        value_of: Some(parent_object),
        ..ModelCheck::new(model, packages, classes.collect(), &known)
    };
    let exclusions = Exclusions::default();
    for held in held_objects([contract], value, &exclusions) {
        check.exclusions[held.object.0].extend(held.exclusions);
    }
    let mut found = ContractCheck::default();
    found.value(
        model,
        parent_object,
        name,
        contract,
        Some(value),
        &exclusions,
    );
    let declaring = ClassAt {
        release: release.clone(),
        class: model.object(parent_object).class.clone(),
    };
    let mut rest = check.take(found, parent_object, &declaring, &value.location);
    while let Some(object) = rest.pop() {
        check.properties(parent_object, &object, &mut rest);
    }
    for number in first..model.objects().len() {
        check.object(ObjectId(number));
    }
    check.constrained_descriptions();
    check.report.findings.retain(Diagnostic::is_error);
    check.report.findings
}

/// `undetermined` has for each object the one whose unknown release is the reason not to check it. `known` is where the
/// solver found objects of wrong classes, if it checked that.
fn check(
    model: &ObjectModel,
    packages: &BoundPackages,
    releases: &[Option<Release>],
    undetermined: Vec<Option<ObjectId>>,
    known: Option<&BTreeSet<ContractPlace>>,
) -> ModelReport {
    let classes = model.objects().iter().zip(releases);
    let classes = classes.map(|(object, release)| {
        Some(ClassAt {
            release: release.clone()?,
            class: object.class.clone(),
        })
    });
    let nothing = BTreeSet::new();
    let places = known.unwrap_or(&nothing);
    let mut check = ModelCheck {
        checks_versions: known.is_none(),
        ..ModelCheck::new(model, packages, classes.collect(), places)
    };
    for (number, undetermined) in undetermined.into_iter().enumerate() {
        match undetermined {
            None => check.object(ObjectId(number)),
            Some(unknown) => check.not_checked(ObjectId(number), unknown),
        }
    }
    check.constrained_descriptions();
    check.report_unknown();
    let start = |finding: &Diagnostic| {
        let label = finding.labels.first();
        label.map(|label| label.location.span().start)
    };
    check.report.findings.sort_by_key(start);
    check.report
}

/// An object whose values are checked: one of the model, or one that a contract describes.
struct CheckedObject<'a> {
    /// Its path in the object of the model that it is written in; empty for that object itself.
    path: String,
    class: ClassAt,
    properties: &'a [(String, ModelValue)],
    location: &'a Location,
    exclusions: Exclusions,
}

struct ModelCheck<'a> {
    model: &'a ObjectModel,
    packages: &'a BoundPackages,
    /// The class of each object, where it is known.
    classes: Vec<Option<ClassAt>>,
    /// Where it is known that an object is of the wrong class.
    known: &'a BTreeSet<ContractPlace>,
    report: ModelReport,
    /// The classes whose contracts are not known, each with the first object that has them.
    unknown: BTreeMap<ClassName, &'a Location>,
    /// The values in each object that are not checked, as far as its holders were visited.
    exclusions: Vec<Exclusions>,
    /// Whether the releases of the objects are final, so that their versions have to meet specs in contracts. Otherwise,
    /// that is for the solver.
    checks_versions: bool,
    /// The object that holds a value that is none of its properties, if only that is checked.
    value_of: Option<ObjectId>,
    /// The classes of the objects that contracts describe, by the beginnings of their mappings.
    described: HashMap<usize, ClassAt>,
    /// The contracts on these objects, each with the object of the model that holds the value.
    constrained: Vec<ConstrainedClass<'a>>,
}

impl<'a> ModelCheck<'a> {
    fn new(
        model: &'a ObjectModel,
        packages: &'a BoundPackages,
        classes: Vec<Option<ClassAt>>,
        known: &'a BTreeSet<ContractPlace>,
    ) -> Self {
        Self {
            model,
            packages,
            classes,
            known,
            report: ModelReport::default(),
            unknown: BTreeMap::new(),
            exclusions: vec![Exclusions::default(); model.objects().len()],
            checks_versions: false,
            value_of: None,
            described: HashMap::new(),
            constrained: Vec::new(),
        }
    }

    /// Checks an object of the model, and the objects in it that contracts describe.
    fn object(&mut self, parent_object: ObjectId) {
        let object = self.model.object(parent_object);
        let Some(class) = self.classes[parent_object.0].clone() else {
            return;
        };
        let mut rest = vec![CheckedObject {
            path: String::new(),
            class,
            properties: &object.properties,
            location: &object.location,
            exclusions: self.exclusions[parent_object.0].clone(),
        }];
        while let Some(object) = rest.pop() {
            self.properties(parent_object, &object, &mut rest);
        }
    }

    /// Checks the properties of an object. The objects that contracts describe in it are added to `rest`.
    fn properties(
        &mut self,
        parent_object: ObjectId,
        object: &CheckedObject<'a>,
        rest: &mut Vec<CheckedObject<'a>>,
    ) {
        let Ancestry {
            known: ancestry,
            mut unknown,
        } = self.packages.known_ancestry(&object.class);
        // The root class declares no properties. No registry may have it: the core library comes with the engine.
        unknown.retain(|class| Some(class) != self.packages.root_class.as_ref());
        if unknown.is_empty() {
            self.unknown_properties(object, &ancestry);
        }
        for class in unknown {
            self.unknown.entry(class).or_insert(object.location);
        }
        let values: HashMap<&str, &'a ModelValue> = (object.properties.iter())
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        // A class that declares a property again does not end the contracts of its ancestors. What
        // several of them find is reported for the nearest.
        let mut reported: HashSet<(String, ValueProblem)> = HashSet::new();
        let mut nearest: HashMap<&str, ConvertedValue<'a>> = HashMap::new();
        for (declaring, definition) in &ancestry {
            let definition: &'a ClassDefinition = definition;
            for property in &definition.properties {
                let name = property.name.value.as_str();
                let value = values.get(name).copied();
                let mut found = ContractCheck::default();
                let property_holder = PropertyHolder {
                    object: parent_object,
                    path: &object.path,
                    described: (!object.path.is_empty()).then_some(object.location),
                };
                let (model, exclusions) = (self.model, &object.exclusions);
                if let Some(converted) = nearest.get(name) {
                    found.inherited(model, property_holder, property, converted, exclusions);
                } else {
                    let converted =
                        found.property(model, property_holder, property, value, exclusions);
                    nearest.insert(name, converted);
                }
                found.violations.retain(|violation| {
                    let key = (violation.path.clone(), violation.problem.clone());
                    reported.insert(key)
                });
                rest.extend(self.take(found, parent_object, declaring, object.location));
            }
        }
        let definitions = ancestry.iter().map(|(_, definition)| *definition);
        self.exclude(object, &definitions.collect::<Vec<_>>());
    }

    /// Notes what is not checked in the objects that an object holds.
    fn exclude(&mut self, object: &CheckedObject<'_>, ancestry: &[&'a ClassDefinition]) {
        for (name, value) in object.properties {
            let declared = |definition: &&'a ClassDefinition| -> Option<&'a Contract> {
                let property = definition.property(name)?;
                Some(&property.contract.value)
            };
            let own = ancestry.first().and_then(declared);
            let all = || ancestry.iter().filter_map(declared).collect();
            let contracts: Vec<&Contract> = own.map_or_else(all, |own| vec![own]);
            for held in held_objects(contracts, value, &object.exclusions.of(name)) {
                self.exclusions[held.object.0].extend(held.exclusions);
            }
        }
    }

    /// Reports what a check of a property found, and returns the objects that its contract describes.
    fn take(
        &mut self,
        found: ContractCheck<'a>,
        parent_object: ObjectId,
        declaring: &ClassAt,
        location: &Location,
    ) -> Vec<CheckedObject<'a>> {
        for violation in found.violations {
            let finding = self.violation(&violation, parent_object, &declaring.class);
            let at = violation.location.as_ref().unwrap_or(location);
            self.report.findings.push(finding.at(at.clone()));
        }
        let place = |path| ContractPlace {
            holder: parent_object,
            path,
        };
        for constrained in found.objects {
            if self.known.contains(&place(constrained.path.clone())) {
                continue;
            }
            let finding = self.wrong_class(&constrained, parent_object);
            self.report.findings.extend(finding);
        }
        for constrained in found.constrained_descriptions {
            self.constrained.push(ConstrainedClass {
                place: place(constrained.path),
                constraint: constrained.constraint,
                described: constrained.described.span().start,
                location: location.clone(),
            });
        }
        for named in found.named_classes {
            let release = &declaring.release;
            if self.packages.lookup(release, named.class).is_some()
                || self.packages.may_define(release, named.class)
                || self.packages.root_class.as_ref() == Some(named.class)
                || self.known.contains(&place(named.path.clone()))
            {
                continue;
            }
            let finding = self.no_such_class(named.class, &named.path, parent_object, declaring);
            self.report.findings.push(finding.at(location.clone()));
        }
        let not_checked = found.not_checked.into_iter().map(str::to_owned);
        self.report.not_checked.extend(not_checked);
        let mut described = Vec::new();
        for object in found.described {
            let class = object.constraint.described();
            let spec = object.constraint.spec_of_described();
            let found = self.packages.lookup(&declaring.release, class);
            let is_allowed =
                |at: &ClassAt| spec.is_none_or(|spec| spec.matches(&at.release.version));
            if let Some(class) = found.filter(is_allowed) {
                let start = object.location.span().start;
                self.described.entry(start).or_insert(class.clone());
                // The class of an object that names none may be another one than that of the contract.
                if object.constraint.default.is_some() {
                    self.constrained.push(ConstrainedClass {
                        place: place(object.path.clone()),
                        constraint: object.constraint,
                        described: start,
                        location: object.location.clone(),
                    });
                }
                described.push(CheckedObject {
                    path: object.path,
                    class,
                    properties: object.properties,
                    location: object.location,
                    exclusions: object.exclusions,
                });
                continue;
            }
            if self.packages.may_define(&declaring.release, class) {
                self.unknown.entry(class.clone()).or_insert(object.location);
                continue;
            }
            let finding = self.no_such_class(class, &object.path, parent_object, declaring);
            let finding = finding.at(object.location.clone());
            self.report.findings.push(finding);
        }
        described
    }

    /// The finding that the class that a contract names is not found.
    fn no_such_class(
        &self,
        class: &ClassName,
        path: &str,
        parent_object: ObjectId,
        declaring: &ClassAt,
    ) -> Diagnostic {
        let message = format!(
            "the contract of `{path}`{} names the class `{class}`, which no package that {} requires \
             defines",
            self.of_object(parent_object),
            declaring.release.name
        );
        Diagnostic::error(Code::ModelContract, message)
    }

    /// The words that name an object after a property; none for a value that is none of a property.
    fn of_object(&self, parent_object: ObjectId) -> String {
        if self.value_of == Some(parent_object) {
            return String::new();
        }
        format!(" of the object {}", self.model.shown(parent_object))
    }

    /// Warns that an object is not checked, because the release of another one, which it may be itself, is unknown.
    fn not_checked(&mut self, object: ObjectId, unknown: ObjectId) {
        let shown = self.model.shown(object);
        let why = if object == unknown {
            "the version of its class is not known".to_owned()
        } else {
            let around = self.model.shown(unknown);
            format!("it is inside the object {around}, whose version is not known")
        };
        let message = format!("the values of the object {shown} are not checked: {why}");
        let finding = Diagnostic::warning(Code::ContractNotChecked, message);
        let location = self.model.object(object).location.clone();
        self.report.findings.push(finding.at(location));
    }

    /// Warns of each class whose contracts are not known, once.
    fn report_unknown(&mut self) {
        for (class, location) in std::mem::take(&mut self.unknown) {
            let message =
                format!("the class `{class}` is not known, so its contracts are not checked");
            let finding = Diagnostic::warning(Code::ContractNotChecked, message);
            self.report.findings.push(finding.at(location.clone()));
        }
    }

    fn violation(
        &self,
        violation: &ValueViolation,
        parent_object: ObjectId,
        class: &ClassName,
    ) -> Diagnostic {
        let path = Escaped::shortened(&violation.path);
        let shown = self.model.shown(parent_object);
        let message = match violation.problem {
            ValueProblem::Absent if self.value_of != Some(parent_object) => {
                format!("the object {shown} has no `{path}`, which `{class}` requires")
            }
            ref problem if self.value_of == Some(parent_object) => format!("`{path}` {problem}"),
            ref problem => {
                format!("`{path}` of the object {shown} {problem}, as `{class}` requires")
            }
        };
        Diagnostic::error(Code::ModelContract, message)
    }

    /// Reports properties that no class of the ancestry declares.
    fn unknown_properties(
        &mut self,
        object: &CheckedObject<'_>,
        ancestry: &[(ClassAt, &ClassDefinition)],
    ) {
        let declared: BTreeSet<&str> = (ancestry.iter())
            .flat_map(|(_, definition)| &definition.properties)
            .map(|property| property.name.value.as_str())
            .collect();
        for (name, value) in object.properties {
            if declared.contains(name.as_str()) {
                continue;
            }
            let shown = Escaped::shortened(name);
            let message = format!(
                "the class `{}` has no property `{shown}`",
                object.class.class
            );
            let mut finding =
                Diagnostic::warning(Code::UnknownKey, message).at(value.location.clone());
            finding =
                finding.maybe_hint(most_similar(name, declared.iter().copied()).map(did_you_mean));
            self.report.findings.push(finding);
        }
    }
}
