//! Which versions a model names: those of its objects, and those in its table of packages.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ObjectId, ObjectModel, PackageName, Version, VersionPin};

/// Returns an error for each object without a package or version.
///
/// ```
/// use pkgres_checks::check_pinned;
/// use pkgres_manifest::{Limits, ObjectModel};
///
/// let text = br#"{"?": {"id": "web", "type": "org.acme.Web", "package": "org.acme.Web"}}"#;
/// let (model, _) = ObjectModel::read("model.json", text, &Limits::default())
///     .into_result()
///     .expect("the model is valid");
/// assert_eq!(check_pinned(&model)[0].message, "the object `web` has no version");
/// ```
pub fn check_pinned(model: &ObjectModel) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (number, object) in model.objects().iter().enumerate() {
        let shown = model.shown(ObjectId(number));
        let message = match (&object.package, &object.version) {
            (Some(_), VersionPin::Exact(_)) => continue,
            (None, VersionPin::Exact(_)) => format!("the object {shown} has no package"),
            (Some(_), VersionPin::None) => format!("the object {shown} has no version"),
            (None, VersionPin::None) => {
                format!("the object {shown} has neither a package nor a version")
            }
            (package, VersionPin::Range(spec)) => {
                let without = if package.is_none() {
                    "no package, and "
                } else {
                    ""
                };
                format!("the object {shown} has {without}the versions `{spec}` instead of one")
            }
        };
        let finding = Diagnostic::error(Code::ModelUnpinned, message);
        findings.push(finding.at(object.location.clone()));
    }
    findings
}

/// Checks the table of packages of an environment against the versions that are `used`: it has to list these
/// and should list no others.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use pkgres_checks::check_previous_versions;
/// use pkgres_manifest::{Limits, ObjectModel};
///
/// let text = br#"{"Objects": {}, "SystemData": {"Packages": {"org.acme.Web": ["1.0.0"]}}}"#;
/// let (model, _) = ObjectModel::read("model.json", text, &Limits::default())
///     .into_result()
///     .expect("the model is valid");
/// assert_eq!(
///     check_previous_versions(&model, &BTreeMap::new())[0].message,
///     "`SystemData.Packages` lists org.acme.Web 1.0.0, which nothing uses"
/// );
/// ```
pub fn check_previous_versions(
    model: &ObjectModel,
    used: &BTreeMap<PackageName, BTreeSet<Version>>,
) -> Vec<Diagnostic> {
    if !model.is_environment() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let in_table = |name: &PackageName, version: &Version| {
        model
            .previous_versions()
            .get(name)
            .is_some_and(|versions| versions.contains(version))
    };
    for (name, versions) in model.previous_versions() {
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
            findings.push(Diagnostic::error(Code::ModelUnpinned, message));
        }
    }
    findings
}
