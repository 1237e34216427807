//! Checks of pinned object models: pins, contracts, and the table of packages of an environment.

mod bound;
mod values;

pub use bound::{BoundPackage, BoundPackages};

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ClassName, ObjectId, ObjectModel, PackageName, Property, Version, VersionPin, most_similar,
};

use bound::ClassAt;

/// The usages of properties whose values do not come from the model.
const NOT_IN_MODEL: [&str; 4] = ["Out", "Runtime", "Static", "Config"];

/// The result of [`check_model`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ModelReport {
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// The calls in contracts that only the deployment engine can evaluate, as written, each once.
    pub not_checked: BTreeSet<String>,
}

/// Returns an error for each object without a package or version.
///
/// ```
/// use pkgres_checks::check_pinned;
/// use pkgres_manifest::{Limits, ObjectModel};
///
/// let text = br#"{"?": {"id": "web", "type": "org.acme.Web", "package": "org.acme.Web"}}"#;
/// let (model, _) = ObjectModel::read("model.json", text, &Limits::default())
///     .into_result()
///     .expect("the model is right");
/// assert_eq!(check_pinned(&model)[0].message, "the object `web` has no version");
/// ```
pub fn check_pinned(model: &ObjectModel) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (number, object) in model.objects().iter().enumerate() {
        let missing = match (&object.package, &object.version) {
            (Some(_), VersionPin::Exact(_)) => continue,
            (None, VersionPin::Exact(_)) => "no package",
            (Some(_), _) => "no version",
            (None, _) => "neither a package nor a version",
        };
        let message = format!("the object {} has {missing}", model.shown(ObjectId(number)));
        findings.push(
            Diagnostic::error(Code::ModelUnpinned, message)
                .at(object.location.clone())
                .hint("`pkgres pin` writes them into the model"),
        );
    }
    findings
}

/// Checks the values of a pinned model against the contracts of its classes.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use pkgres_checks::{BoundPackage, BoundPackages, check_model};
/// use pkgres_manifest::{Limits, ObjectModel, Package, PackageManifest, ReadOptions, Version};
///
/// let text = b"FullName: org.acme.Web\nType: Application\nClasses: {org.acme.Web: Web.yaml}\n";
/// let options = ReadOptions::with_core(None);
/// let (manifest, _) = PackageManifest::read("manifest.yaml", text, &options)
///     .into_result()
///     .expect("the manifest is right");
/// let class = b"Name: org.acme.Web\nProperties:\n  port:\n    Contract: $.int().notNull()\n";
/// let (package, _) = Package::assemble(manifest, &options, |_| Some(class.to_vec()))
///     .into_result()
///     .expect("the class is right");
/// let release = (package.name().clone(), Version::new(1, 0, 0));
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
///     .expect("the model is right");
/// let report = check_model(&model, &packages);
/// assert_eq!(
///     report.findings[0].message,
///     "`port` of the object `web` must be a whole number, as `org.acme.Web` requires"
/// );
/// ```
pub fn check_model(model: &ObjectModel, packages: &BoundPackages) -> ModelReport {
    let mut report = ModelReport::default();
    for (number, object) in model.objects().iter().enumerate() {
        let (Some(package), VersionPin::Exact(version)) = (&object.package, &object.version) else {
            continue;
        };
        let start = ClassAt {
            release: (package.clone(), version.clone()),
            class: object.class.clone(),
        };
        let Some(properties) = packages.properties(&start) else {
            let message = format!(
                "the class of the object {} is not known: its contracts are not checked",
                model.shown(ObjectId(number))
            );
            report.findings.push(
                Diagnostic::warning(Code::ContractNotChecked, message).at(object.location.clone()),
            );
            continue;
        };
        check_object(model, ObjectId(number), &properties, &mut report);
    }
    report
}

/// Checks the table of packages of an environment against the versions that are `used`: it has to list these
/// and should list no others.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use pkgres_checks::check_fixations;
/// use pkgres_manifest::{Limits, ObjectModel};
///
/// let text = br#"{"Objects": {}, "SystemData": {"Packages": {"org.acme.Web": ["1.0.0"]}}}"#;
/// let (model, _) = ObjectModel::read("model.json", text, &Limits::default())
///     .into_result()
///     .expect("the model is right");
/// assert_eq!(
///     check_fixations(&model, &BTreeMap::new())[0].message,
///     "`SystemData.Packages` lists org.acme.Web 1.0.0, which nothing uses"
/// );
/// ```
pub fn check_fixations(
    model: &ObjectModel,
    used: &BTreeMap<PackageName, BTreeSet<Version>>,
) -> Vec<Diagnostic> {
    if !model.is_environment() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let in_table = |name: &PackageName, version: &Version| {
        model
            .fixations()
            .get(name)
            .is_some_and(|versions| versions.contains(version))
    };
    for (name, versions) in model.fixations() {
        for version in versions {
            if !used
                .get(name)
                .is_some_and(|versions| versions.contains(version))
            {
                let message =
                    format!("`SystemData.Packages` lists {name} {version}, which nothing uses");
                findings.push(Diagnostic::warning(Code::ModelUnpinned, message));
            }
        }
    }
    for (name, versions) in used {
        for version in versions.iter().filter(|version| !in_table(name, version)) {
            let message = format!("{name} {version} is used and not in `SystemData.Packages`");
            findings.push(
                Diagnostic::error(Code::ModelUnpinned, message)
                    .hint("`pkgres pin` writes the table"),
            );
        }
    }
    findings
}

fn check_object(
    model: &ObjectModel,
    number: ObjectId,
    properties: &BTreeMap<String, (ClassName, Property)>,
    report: &mut ModelReport,
) {
    let object = model.object(number);
    for (name, value) in &object.properties {
        let Some((class, property)) = properties.get(name) else {
            let shown = Escaped::shortened(name);
            let message = format!("the class `{}` has no property `{shown}`", object.class);
            let mut finding =
                Diagnostic::warning(Code::UnknownKey, message).at(value.location.clone());
            if let Some(similar) = most_similar(name, properties.keys().map(String::as_str)) {
                finding = finding.hint(format!("did you mean `{similar}`?"));
            }
            report.findings.push(finding);
            continue;
        };
        values::check(model, number, name, class, property, value, report);
    }
    for (name, (class, property)) in properties {
        let has_value = object
            .properties
            .iter()
            .any(|(property, _)| property == name);
        let is_optional =
            property.has_default || NOT_IN_MODEL.contains(&property.usage.value.as_str());
        if !has_value && !is_optional && values::requires_value(&property.contract.value) {
            let message = format!(
                "the object {} has no `{}`, which `{class}` requires",
                model.shown(number),
                Escaped::shortened(name)
            );
            report
                .findings
                .push(Diagnostic::error(Code::ModelContract, message).at(object.location.clone()));
        }
    }
}
