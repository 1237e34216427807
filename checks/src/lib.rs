//! What can be said about packages and object models without solving.
//!
//! Everything here is a pure function from what was read to [findings](Diagnostic). A finding is
//! an error if the package cannot work, a warning if it probably does not do what was meant.
//!
//! This crate stands on `pkgres-manifest` alone. It knows nothing of registries: whoever calls
//! says, through [`RequiredPackages`], what the required packages define.
//!
//! ```
//! use pkgres_checks::check_manifest;
//! use pkgres_manifest::{PackageManifest, PackageName, ReadOptions};
//!
//! let text = b"Format: 1.4\nType: Application\nFullName: org.acme.Web\nVersion: 1.0.0\n";
//! let (manifest, _) = PackageManifest::read("manifest.yaml", text, &ReadOptions::default())
//!     .into_result()
//!     .expect("the manifest is right");
//! let core = PackageName::default_core_library();
//! let findings = check_manifest(&manifest, Some(&core));
//! // Nothing says which version of the core library the package was made for.
//! assert_eq!(findings[0].code.to_string(), "PK0070");
//! ```

mod classes;
mod manifest;
mod model;
mod required;
mod suggestions;

pub use model::{
    BoundPackage, BoundPackages, ModelReport, check_fixations, check_model, check_pinned,
};
pub use required::{Required, RequiredPackages};

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassDefinition, Package, PackageManifest, PackageName};

use crate::suggestions::Effort;

/// Everything that is to be said about a manifest by itself.
pub fn check_manifest(manifest: &PackageManifest, core: Option<&PackageName>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    manifest::check(manifest, core, &mut findings);
    findings
}

/// Everything that is to be said about a package. `required` knows the classes of the packages
/// that it requires, as far as they are there.
pub fn check_package(
    package: &Package,
    core: Option<&PackageName>,
    required: &dyn RequiredPackages,
) -> Vec<Diagnostic> {
    let mut findings = check_manifest(&package.manifest, core);
    let mut effort = Effort::default();
    classes::check(package, core, &mut effort, &mut findings);
    required::check(package, core, required, &mut effort, &mut findings);
    in_order(findings)
}

/// Everything that is to be said about classes without the package that they are in.
pub fn check_classes<'class>(
    classes: impl IntoIterator<Item = &'class ClassDefinition>,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for class in classes {
        classes::check_class(class, &mut findings);
    }
    in_order(findings)
}

/// Findings in the order of the files, and of the places in a file.
fn in_order(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.sort_by_cached_key(|finding| {
        finding.labels.first().map(|label| {
            let location = &label.location;
            (location.source().name().to_owned(), location.span().start)
        })
    });
    findings
}
