//! Real packages, as texts that can be edited.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_checks::{ApiOf, BoundPackage, BoundPackages};
use pkgres_manifest::{
    ClassDefinition, ClassName, MANIFEST_FILE, Package, PackageManifest, PackageName, ReadOptions,
    Release,
};
use pkgres_tests::shared;

/// A package as texts by path.
#[derive(Clone)]
pub(crate) struct Texts(pub(crate) BTreeMap<String, String>);

impl Texts {
    fn read(folder: &Path) -> Option<Self> {
        let mut texts = BTreeMap::new();
        let mut rest: Vec<PathBuf> = vec![folder.to_owned()];
        while let Some(path) = rest.pop() {
            if path.is_dir() {
                let entries = fs::read_dir(&path).ok()?;
                rest.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
            } else if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
                texts.insert(name, fs::read_to_string(&path).ok()?);
            }
        }
        Some(Self(texts))
    }

    /// The package; `None` if it has no classes, or if they cannot be read.
    pub(crate) fn package(&self) -> Option<Package> {
        let options = ReadOptions::default();
        let manifest = self.0.get(MANIFEST_FILE)?;
        let manifest = PackageManifest::read(MANIFEST_FILE, manifest.as_bytes(), &options);
        let (manifest, _) = manifest.into_result().ok()?;
        if !manifest.format.has_class_files() {
            return None;
        }
        let package = Package::assemble(manifest, &options, |path| {
            let text = self.0.get(path.as_str())?;
            Some(text.clone().into_bytes())
        });
        let (package, _) = package.into_result().ok()?;
        Some(package)
    }
}

/// The packages of the corpus.
pub(crate) struct Corpus {
    pub(crate) texts: Vec<Texts>,
    packages: BTreeMap<PackageName, Arc<Package>>,
}

impl Corpus {
    pub(crate) fn read() -> Option<Self> {
        let mut folders = Vec::new();
        for part in ["murano", "murano-apps", "murano-contrib"] {
            let mut rest = vec![shared::path(&format!("corpus/{part}"))?];
            while let Some(folder) = rest.pop() {
                if folder.join(MANIFEST_FILE).is_file() {
                    folders.push(folder);
                    continue;
                }
                let entries = fs::read_dir(&folder).expect("a folder of the corpus");
                let entries = entries.map(|entry| entry.expect("an entry of it").path());
                rest.extend(entries.filter(|path| path.is_dir()));
            }
        }
        folders.sort();
        let mut corpus = Self {
            texts: Vec::new(),
            packages: BTreeMap::new(),
        };
        for folder in folders {
            let texts = Texts::read(&folder).expect("the corpus is text");
            if let Some(package) = texts.package() {
                let name = package.name().clone();
                corpus.packages.insert(name, Arc::new(package));
                corpus.texts.push(texts);
            }
        }
        Some(corpus)
    }

    /// A package with all others that it requires, each in the one version that there is.
    pub(crate) fn bind(&self, package: Package) -> Bound {
        let core = PackageName::default_core_library();
        let requires = |package: &Package| {
            let own = package.name();
            let named = package.manifest.requirements.iter();
            let named = named.map(|required| &required.package);
            let all = std::iter::once(&core)
                .filter(|core| *core != own)
                .chain(named);
            let known = all.filter_map(|name| self.packages.get(name));
            known.map(|package| package.release()).collect()
        };
        let package = Arc::new(package);
        let mut packages = BoundPackages {
            root_class: Some(core.root_class()),
            releases: BTreeMap::new(),
        };
        for package in self.packages.values().chain([&package]) {
            let release = package.release();
            let bound = BoundPackage {
                package: Some(Arc::clone(package)),
                requires: requires(package),
            };
            packages.releases.insert(release, bound);
        }
        let release = package.release();
        Bound {
            package,
            packages,
            release,
        }
    }

    /// Whether a proper ancestor of a class declares a member, by a walk of its own.
    pub(crate) fn declared_above(
        &self,
        own: &Package,
        class: &ClassDefinition,
        declares: &dyn Fn(&ClassDefinition) -> bool,
    ) -> bool {
        let mut ancestors = self.ancestors(own, class).into_iter().flatten();
        ancestors.any(declares)
    }

    /// Whether all ancestors of a class are in the corpus.
    pub(crate) fn knows_ancestors(&self, own: &Package, class: &ClassDefinition) -> bool {
        self.ancestors(own, class).iter().all(Option::is_some)
    }

    /// The proper ancestors of a class; `None` for each that is not in the corpus.
    fn ancestors<'own>(
        &'own self,
        own: &'own Package,
        class: &'own ClassDefinition,
    ) -> Vec<Option<&'own ClassDefinition>> {
        let find = |name: &ClassName| {
            let own = own.classes.as_ref().and_then(|classes| classes.get(name));
            own.or_else(|| {
                let mut others = self.packages.values();
                others.find_map(|package| package.classes.as_ref()?.get(name))
            })
        };
        let mut rest: Vec<&ClassName> = class.extends.iter().map(|parent| &parent.value).collect();
        let mut seen = Vec::new();
        let mut ancestors = Vec::new();
        while let Some(name) = rest.pop() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let ancestor = find(name);
            ancestors.push(ancestor);
            let parents = ancestor.into_iter().flat_map(|ancestor| &ancestor.extends);
            rest.extend(parents.map(|parent| &parent.value));
        }
        ancestors
    }
}

/// A package bound to others.
pub(crate) struct Bound {
    pub(crate) package: Arc<Package>,
    pub(crate) packages: BoundPackages,
    pub(crate) release: Release,
}

impl Bound {
    pub(crate) fn api(&self) -> ApiOf<'_> {
        ApiOf {
            packages: &self.packages,
            release: &self.release,
        }
    }
}
