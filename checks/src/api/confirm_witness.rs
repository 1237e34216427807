//! Runs the checks on a witness, to confirm that it works with the old version and fails with the new one.

use std::sync::Arc;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ClassName, MANIFEST_FILE, Package, PackageManifest, PackageName, ReadOptions, Release, Spec,
    Version,
};

use super::ApiOf;
use super::witness::Witness;
use crate::bound_packages::BoundPackage;
use crate::required_classes::{Defines, RequiredPackages};
use crate::{check_member_uses, check_package};

impl Witness {
    /// The errors of the witness with a release: none with the old one, and at least one with the new one.
    ///
    /// They are those of `pkgres check --members`.
    pub fn errors_with(&self, api: ApiOf<'_>) -> Vec<Diagnostic> {
        let core = api.packages.root_class.as_ref();
        let core = core.and_then(|root| root.as_str().rsplit_once('.'));
        let core = core.and_then(|(core, _)| PackageName::parse(core).ok());
        let options = ReadOptions::with_core(core.clone());
        let file = |path: &str| {
            let mut files = self.files.iter();
            let file = files.find(|(name, _)| name == path);
            file.map(|(_, text)| text.as_bytes().to_vec())
        };
        let manifest = file(MANIFEST_FILE).unwrap_or_default();
        let manifest = PackageManifest::read(MANIFEST_FILE, &manifest, &options).into_result();
        let package = manifest.and_then(|(manifest, _)| {
            let package = Package::assemble(manifest, &options, |path| file(path.as_str()));
            package.into_result()
        });
        let package = match package {
            Ok((package, _)) => Arc::new(package),
            Err(errors) => return errors,
        };
        let mut packages = api.packages.clone();
        let release = package.release();
        let core = core.as_ref();
        // The release has its own version of the core library.
        let bound = packages.releases.get(api.release);
        let of_core = bound.into_iter().flat_map(|bound| &bound.requires);
        let of_core = of_core
            .filter(|Release { name, .. }| Some(name) == core)
            .cloned();
        let requires = of_core.chain([api.release.clone()]).collect();
        let witness = BoundPackage {
            package: Some(Arc::clone(&package)),
            requires,
        };
        packages.releases.insert(release.clone(), witness);
        let mut findings = check_package(&package, core, &OnlyRelease(api));
        findings.extend(check_member_uses(&packages, &release));
        findings.retain(Diagnostic::is_error);
        findings
    }
}

/// A registry with one release.
struct OnlyRelease<'packages>(ApiOf<'packages>);

impl OnlyRelease<'_> {
    fn package(&self) -> Option<&Package> {
        let bound = self.0.packages.releases.get(self.0.release)?;
        bound.package.as_deref()
    }
}

impl RequiredPackages for OnlyRelease<'_> {
    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Defines {
        let Release { name, version } = self.0.release;
        match self.package() {
            Some(release) if package == name && spec.matches(version) => {
                if release.exports(class) {
                    Defines::Yes
                } else {
                    Defines::No
                }
            }
            _ if package == name => Defines::Unknown,
            // The witness names no class of the core library.
            _ => Defines::No,
        }
    }

    fn classes(&self, _: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _: &PackageName) -> Option<Version> {
        None
    }
}
