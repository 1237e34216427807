//! Lints on manifests.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageManifest, PackageName};

pub(crate) fn check(
    manifest: &PackageManifest,
    core: Option<&PackageName>,
    findings: &mut Vec<Diagnostic>,
) {
    findings.extend(manifest.unknown_key_findings());
    for requirement in &manifest.requirements {
        if requirement.spec.set().is_empty() {
            let message = format!(
                "no version of `{}` can match `{}`",
                requirement.package, requirement.spec
            );
            let mut finding = Diagnostic::warning(Code::EmptySpec, message);
            if let Some(location) = &requirement.location {
                finding = finding.at(location.clone());
            }
            findings.push(finding);
        }
    }
    let names_core = |core: &&PackageName| {
        manifest
            .requirements
            .iter()
            .any(|requirement| requirement.package == **core)
    };
    if let Some(core) = core.filter(|core| *core != &manifest.name.value && !names_core(core)) {
        let message = format!(
            "the manifest does not say which versions of the core library `{core}` it accepts"
        );
        findings.push(
            Diagnostic::warning(Code::CoreUnpinned, message)
                .label(
                    manifest.name.location.clone(),
                    "any 0.x version is accepted",
                )
                .hint(format!("add `{core}: 0` to `Require`")),
        );
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
