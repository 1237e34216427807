//! Checks packages and object models without solving.
//!
//! Every check is a pure function from something that was read to [findings](Diagnostic). A finding is an
//! error if the package cannot work, and a warning if it probably does not do what its author intended. Real packages
//! have no finding without a reason, so each finding is worth reading.
//!
//! - [`check_manifest`], [`check_classes`] and [`check_package`] check a package. The caller provides the
//!   classes of required packages through [`RequiredPackages`], so that this crate knows no registries.
//! - [`check_member_uses`] checks the members that the bodies of methods use.
//! - [`compare_apis`] finds the differences between the classes of two versions, and the version bump that they need.
//! - [`update_effects`] finds out which of these differences concern a package that depends on the one that changed.
//! - [`compare_records`] and [`compare_declarations`] find the differences between releases of other ecosystems.
//! - [`conformance()`] compares classes with the interfaces that they implement; [`ClassStubs`] calls their functions for a host.
//! - [`check_validation`] checks a validation file.
//! - [`check_pinned`], [`check_model`] and [`check_previous_versions`] check an object model and the contracts of its
//!   classes. Contracts that only the deployment engine can evaluate are listed as not checked.
//!
//! ```
//! use pkgres_checks::check_manifest;
//! use pkgres_manifest::{PackageManifest, ReadOptions};
//!
//! let text = b"Type: Application\nFullName: org.acme.Web\nRequire: {org.acme.Db: '>=2, <1'}\n";
//! let (manifest, _) = PackageManifest::read("manifest.yaml", text, &ReadOptions::default())
//!     .into_result()
//!     .expect("the manifest can be read");
//! let findings = check_manifest(&manifest);
//! assert_eq!(findings[0].message, "no version of `org.acme.Db` can match `>=2, <1`");
//! ```

mod ambiguous_properties;
mod api;
mod bound_packages;
mod classes;
mod conformance;
mod declarations;
mod interface_differences;
mod manifest;
mod members;
mod model;
mod record_differences;
mod record_effects;
mod required_classes;
mod single_parents;
mod suggestions;
mod validation;
mod written_contracts;

pub use api::{
    ApiComparison, ApiDifference, ApiOf, ApiRule, Bump, Impact, Reliance, UpdateEffect, Witness,
    compare_apis, update_effects,
};
pub use bound_packages::{BoundPackage, BoundPackages};
pub use conformance::{
    Answer, Baseline, BaselineEntry, CallError, CallWarning, Capability, CapabilityCase,
    ClassConformance, ClassStubs, ConformanceFindings, FunctionConformance, InterfaceConformance,
    Level, Levels, Platform, ReturnSchema, ReturnViolation, SignatureDifference, Strictness,
    check_interface, class_conformance, conformance, conformance_findings, inherited_conformance,
    interface_text,
};
pub use declarations::compare_declarations;
pub use interface_differences::{
    InterfaceDifference, interface_differences, package_interface_differences,
};
pub use members::{ClassProperties, DeclaredMethod, check_member_uses};
pub use model::{
    CheckedValue, ModelReport, check_model, check_model_of, check_objects, check_pinned,
    check_previous_versions, check_value,
};
pub use record_differences::{ConcernedTasks, RecordDifference, RecordRule, compare_records};
pub use record_effects::{RecordEffect, RecordReliances};
pub use required_classes::{Defines, RequiredPackages};
pub use validation::check_validation;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassDefinition, Package, PackageManifest, PackageName, SuggestionEffort};

/// Returns the findings on a manifest by itself; see the [example](crate).
pub fn check_manifest(manifest: &PackageManifest) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    manifest::check(manifest, &mut findings);
    findings
}

/// Returns the findings on a package: its manifest, its classes, and the classes that it takes from the
/// packages that it requires.
///
/// ```
/// use pkgres_checks::{Defines, RequiredPackages, check_package};
/// use pkgres_manifest::{
///     ClassName, Package, PackageManifest, PackageName, ReadOptions, Spec, Version,
/// };
///
/// /// A registry without packages.
/// struct Nothing;
///
/// impl RequiredPackages for Nothing {
///     fn defines(&self, _: &PackageName, _: &Spec, _: &ClassName) -> Defines {
///         Defines::No
///     }
///
///     fn classes(&self, _: &PackageName) -> Vec<ClassName> {
///         Vec::new()
///     }
///
///     fn newest(&self, _: &PackageName) -> Option<Version> {
///         None
///     }
/// }
///
/// let text = b"FullName: org.acme.Web\nType: Application\nClasses: {org.acme.Web: Web.yaml}\n";
/// let options = ReadOptions::with_core(None);
/// let (manifest, _) = PackageManifest::read("manifest.yaml", text, &options)
///     .into_result()
///     .expect("the manifest is valid");
/// let class = b"Name: org.acme.Web\nExtends: org.acme.Server\n";
/// let (package, _) = Package::assemble(manifest, &options, |_| Some(class.to_vec()))
///     .into_result()
///     .expect("the class is valid");
/// let findings = check_package(&package, None, &Nothing);
/// assert_eq!(
///     findings[0].message,
///     "`org.acme.Server` is extended, but no required package defines it"
/// );
/// ```
pub fn check_package(
    package: &Package,
    core: Option<&PackageName>,
    required: &dyn RequiredPackages,
) -> Vec<Diagnostic> {
    let mut findings = check_manifest(&package.manifest);
    let mut effort = SuggestionEffort::default();
    classes::check(package, core, &mut effort, &mut findings);
    required_classes::check(package, core, required, &mut effort, &mut findings);
    findings.extend(conformance::check_interfaces(package));
    in_order(findings)
}

/// Returns the findings on classes that do not depend on the package that defines them.
///
/// ```
/// use pkgres_checks::check_classes;
/// use pkgres_manifest::{ReadOptions, read_class_file};
///
/// let text = b"Name: org.acme.Web\nProperties:\n  port:\n    Contract: $.itn()\n";
/// let (classes, _) = read_class_file("Web.yaml", text, &[], &ReadOptions::default())
///     .into_result()
///     .expect("the class is valid");
/// assert_eq!(check_classes(&classes)[0].hints, ["did you mean `int`?"]);
/// ```
pub fn check_classes<'class>(
    classes: impl IntoIterator<Item = &'class ClassDefinition>,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for class in classes {
        classes::check_class(class, &mut findings);
    }
    in_order(findings)
}

/// Sorts findings by file, and by place in the file.
fn in_order(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.sort_by_cached_key(|finding| {
        finding.labels.first().map(|label| {
            let location = &label.location;
            (location.source().name().to_owned(), location.span().start)
        })
    });
    findings
}
