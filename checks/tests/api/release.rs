//! Releases made of texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_checks::{ApiComparison, ApiOf, BoundPackage, BoundPackages, Impact, compare_apis};
use pkgres_manifest::{ClassName, Package, PackageManifest, PackageName, ReadOptions, Release};

/// A release with the releases that it is bound to.
pub(crate) struct BoundRelease {
    packages: BoundPackages,
    release: Release,
}

impl BoundRelease {
    /// A release of `acme.App` with one class file, which defines the classes that are listed.
    pub(crate) fn new(version: &str, classes: &[&str], class_file: &str) -> Self {
        let mut manifest = format!("Type: Library\nFullName: acme.App\nVersion: {version}\n");
        manifest.push_str("Classes:\n");
        for class in classes {
            manifest.push_str(&format!("  {class}: App.yaml\n"));
        }
        let package = package(&manifest, class_file);
        let release = package.release();
        let bound = BoundPackage {
            package: Some(Arc::new(package)),
            requires: Vec::new(),
        };
        let releases = BTreeMap::from([(release.clone(), bound)]);
        Self {
            packages: BoundPackages {
                root_class: None,
                releases,
            },
            release,
        }
    }

    /// The release, in a universe with a core library, whose root class every class without a parent extends.
    pub(crate) fn with_root_class(mut self, root: &str) -> Self {
        self.packages.root_class = Some(ClassName::parse(root).expect("a name"));
        self
    }

    /// The release, bound to another one.
    pub(crate) fn bound_to(mut self, manifest: &str, class_file: &str) -> Self {
        let package = package(manifest, class_file);
        let other = package.release();
        let bound = BoundPackage {
            package: Some(Arc::new(package)),
            requires: Vec::new(),
        };
        self.packages.releases.insert(other.clone(), bound);
        let own = self.packages.releases.get_mut(&self.release);
        own.expect("it is there").requires.push(other);
        self
    }

    pub(crate) fn api(&self) -> ApiOf<'_> {
        ApiOf {
            packages: &self.packages,
            release: &self.release,
        }
    }
}

fn package(manifest: &str, class_file: &str) -> Package {
    let options = ReadOptions::with_core(None);
    let (manifest, _) = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options)
        .into_result()
        .expect("the manifest is valid");
    let package = Package::assemble(manifest, &options, |_| Some(class_file.as_bytes().to_vec()));
    package.into_result().expect("the classes are right").0
}

/// The comparison of two releases, whose witnesses are verified.
pub(crate) fn compare(old: &BoundRelease, new: &BoundRelease) -> ApiComparison {
    let comparison = compare_apis(old.api(), new.api());
    for difference in &comparison.differences {
        let package = PackageName::parse("acme.App").expect("a name");
        let witness = difference.witness(&package);
        let is_major = difference.impact() == Impact::Major;
        assert_eq!(witness.is_some(), is_major, "{}", difference.message);
        if let Some(witness) = witness {
            let files = &witness.files;
            assert_eq!(witness.errors_with(old.api()), [], "{files:?}");
            assert_ne!(witness.errors_with(new.api()), [], "{files:?}");
        }
    }
    comparison
}

/// The differences as `rule class.member(argument)`.
pub(crate) fn shown(comparison: &ApiComparison) -> Vec<String> {
    let differences = comparison.differences.iter();
    differences
        .map(|it| {
            let mut text = format!("{} {}", it.rule, it.class);
            if let Some(member) = &it.member {
                text.push_str(&format!(" {member}"));
            }
            if let Some(argument) = &it.argument {
                text.push_str(&format!("({argument})"));
            }
            for inheritor in &it.inheritors {
                text.push_str(&format!(", {inheritor}"));
            }
            text
        })
        .collect()
}
