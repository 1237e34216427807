//! Checks manifests, such as a spec that no version matches.

use pkgres_manifest::PackageManifest;
use pkgres_manifest::diagnostic::{Code, Diagnostic};

pub(crate) fn check(manifest: &PackageManifest, findings: &mut Vec<Diagnostic>) {
    findings.extend(manifest.unknown_key_findings());
    for requirement in &manifest.requirements {
        if requirement.spec.set().is_empty() {
            let message = format!(
                "no version of `{}` can match `{}`",
                requirement.package, requirement.spec
            );
            let mut finding = Diagnostic::warning(Code::EmptySpec, message);
            if let Some(meant) = requirement.spec.probably_meant() {
                finding = finding.hint(format!("write `{meant}`"));
            }
            if let Some(location) = &requirement.location {
                finding = finding.at(location.clone());
            }
            findings.push(finding);
        }
    }
    if !manifest.format.has_known_classes() {
        let message = format!(
            "the classes of packages of format `{}` are not read",
            manifest.format
        );
        findings.push(
            Diagnostic::warning(Code::ClassesNotRead, message).at(manifest.name.location.clone()),
        );
    }
}
