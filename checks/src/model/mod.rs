//! Whether a pinned object model fulfils the contracts of its classes.

mod bound;
mod values;

pub use bound::{BoundPackage, BoundPackages};

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ClassName, ObjectId, ObjectModel, PackageName, Property, Version, VersionPin, most_similar,
};

use bound::ClassAt;

/// Properties of these usages are not given by the model.
const NOT_GIVEN: [&str; 4] = ["Out", "Runtime", "Static", "Config"];

/// What is to be said about a pinned model.
#[derive(Debug, Clone, Default)]
pub struct ModelReport {
    /// What is wrong or probably not meant.
    pub findings: Vec<Diagnostic>,
    /// The parts of contracts that only the deployment engine can check, as written; each once.
    pub not_checked: BTreeSet<String>,
}

/// Whether every object says its package and version; an error for each that does not.
pub fn check_pinned(model: &ObjectModel) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (number, object) in model.objects().iter().enumerate() {
        let missing = match (&object.package, &object.version) {
            (Some(_), VersionPin::Exact(_)) => continue,
            (None, VersionPin::Exact(_)) => "no package",
            (Some(_), _) => "no version",
            (None, _) => "neither package nor version",
        };
        let message = format!(
            "the object {} says {missing}",
            model.shown(ObjectId(number))
        );
        findings.push(
            Diagnostic::error(Code::ModelUnpinned, message)
                .at(object.location.clone())
                .hint("`pkgres pin` writes them into the model"),
        );
    }
    findings
}

/// Checks the values of a pinned model against the contracts of its classes.
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

/// Checks the table of packages of an environment: what it lists is to be used, and the other way
/// round.
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
        let is_given = object.properties.iter().any(|(given, _)| given == name);
        let is_optional =
            property.has_default || NOT_GIVEN.contains(&property.usage.value.as_str());
        if !is_given && !is_optional && values::wants_value(&property.contract.value) {
            let message = format!(
                "the object {} has no `{}`, which `{class}` wants",
                model.shown(number),
                Escaped::shortened(name)
            );
            report
                .findings
                .push(Diagnostic::error(Code::ModelContract, message).at(object.location.clone()));
        }
    }
}
