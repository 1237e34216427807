//! Packages: the manifest and the class files that it lists.
//!
//! [`Package::assemble`] reads the listed class files through a function of the caller, so that a package can
//! come from a folder, an archive or memory. [`Package::index_record`] reduces a package to what resolution
//! needs; from there on, roots and releases of registries are alike.

mod class_cycles;
#[cfg(feature = "packages")]
mod edit;
#[cfg(feature = "packages")]
mod files_beside_classes;
#[cfg(feature = "packages")]
mod listed_files;
mod manifest;
#[cfg(feature = "packages")]
mod unlisted_files;

pub use class_cycles::{ClassCycle, class_cycles};
#[cfg(feature = "packages")]
pub use edit::RequirementEdit;
#[cfg(test)]
pub(crate) use manifest::KNOWN_KEYS;
pub use manifest::{ClassEntry, Implementation, PackageKind, PackageManifest, UnknownKey};

#[cfg(feature = "packages")]
use listed_files::{ListedFiles, listed_files};

use std::collections::{BTreeMap, HashMap, HashSet};

#[cfg(feature = "packages")]
use crate::archive::Archive;
use crate::class_file::ClassDefinition;
use crate::diagnostic::{Code, Diagnostic, Located, Location, Parsed, SourceText, Span};
use crate::index_record::{CLASS_PACKAGES, IndexRecord, IndexedClass};
use crate::interface::Interface;
use crate::name::{ClassName, PackageName};
use crate::package_path::PackagePath;
use crate::read_options::Limits;
use crate::read_options::ReadOptions;
use crate::release::Release;
use crate::resources::{PackageResources, ReadableResources};
#[cfg(feature = "packages")]
use crate::similar::{SuggestionEffort, did_you_mean};
use crate::validation::Validation;

/// The name of the manifest in the top folder of a package.
pub const MANIFEST_FILE: &str = "manifest.yaml";

/// The folder of the class files in a package.
pub(crate) const CLASSES_FOLDER: &str = "Classes";

/// A package: its manifest and the classes of its class files.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Package {
    /// The manifest.
    pub manifest: PackageManifest,
    /// Every class of every listed file, by its full name. `None` if the format of the package is one whose
    /// classes are not read.
    pub classes: Option<BTreeMap<ClassName, ClassDefinition>>,
    /// Classes that the manifest lists but their file does not define.
    pub undefined_classes: Vec<Located<ClassName>>,
    /// Every interface that the manifest lists, by its full name.
    pub interfaces: BTreeMap<ClassName, Interface>,
    /// The content of the validation file, if the manifest names one.
    pub validation: Option<Validation>,
    /// The resources, if the manifest names their file.
    pub resources: Option<PackageResources>,
}

impl Package {
    /// Assembles a package from its manifest and the class files that this lists.
    ///
    /// `file` returns the bytes of a file of the package, or `None` if there is none. If a listed file is missing, it
    /// is asked for files that may have been meant.
    ///
    /// ```
    /// use pkgres_manifest::{Package, PackageManifest, ReadOptions, diagnostic::SourceText};
    ///
    /// let source = SourceText::new("manifest.yaml", "\
    /// FullName: org.acme.Web
    /// Type: Application
    /// Classes: {org.acme.Web: Web.yaml}
    /// ");
    /// let options = ReadOptions::default();
    /// let (manifest, _) = PackageManifest::parse(&source, &options).into_result().unwrap();
    /// let (package, _) = Package::assemble(manifest, &options, |path| {
    ///     (path.as_str() == "Classes/Web.yaml").then(|| b"Name: org.acme.Web".to_vec())
    /// })
    /// .into_result()
    /// .unwrap();
    /// assert_eq!(package.classes.unwrap().len(), 1);
    /// ```
    #[cfg(feature = "packages")]
    pub fn assemble(
        manifest: PackageManifest,
        options: &ReadOptions,
        mut file: impl FnMut(&PackagePath) -> Option<Vec<u8>>,
    ) -> Parsed<Self> {
        Self::assemble_from(manifest, options, |path| Ok(file(path)))
    }

    /// Assembles a package like [`assemble`](Self::assemble) from files that may fail to be read. The errors
    /// of `file` are among the findings.
    #[cfg(feature = "packages")]
    pub fn assemble_from(
        manifest: PackageManifest,
        options: &ReadOptions,
        file: impl FnMut(&PackagePath) -> Result<Option<Vec<u8>>, Diagnostic>,
    ) -> Parsed<Self> {
        let mut files = ListedFiles::new(&manifest, options, file);
        let validation = files.validation();
        if !manifest.format.has_class_files() {
            let own = manifest.name.value.as_class();
            let own = own.filter(|_| manifest.format.is_heat_hot());
            let classes = own.map(|name| {
                let core = options.core.as_ref();
                let parent = core.map(|core| core.class_of_core("Application"));
                let location = &manifest.name.location;
                let definition = ClassDefinition::of_heat_template(name, parent, location);
                BTreeMap::from([(definition.name.value.clone(), definition)])
            });
            let diagnostics = files.findings;
            let package = Self {
                manifest,
                classes,
                undefined_classes: Vec::new(),
                interfaces: BTreeMap::new(),
                validation,
                resources: None,
            };
            return Parsed::new(Some(package), diagnostics);
        }
        let mut classes: BTreeMap<ClassName, ClassDefinition> = BTreeMap::new();
        for (entry, requested) in listed_files(&manifest) {
            let Some(definitions) = files.class_file(entry, &requested) else {
                continue;
            };
            for definition in definitions {
                if let Some(first) = classes.get(&definition.name.value) {
                    files.findings.push(
                        Diagnostic::error(
                            Code::ClassName,
                            format!("the class `{}` is defined twice", definition.name.value),
                        )
                        .label(definition.name.location.clone(), "again here")
                        .label(first.name.location.clone(), "first here"),
                    );
                } else {
                    classes.insert(definition.name.value.clone(), definition);
                }
            }
        }
        let interfaces = files.interfaces();
        let resources = files.resources();
        let mut diagnostics = files.findings;
        if let Some(resources) = &resources {
            diagnostics.extend(classes_of_others(resources, &classes));
        }
        let limit = options.limits.inheritance_depth;
        if longest_chain(&classes) > limit {
            let error = Limits::exceeded("classes that extend one another in a chain", limit);
            diagnostics.push(error.at(manifest.name.location.clone()));
        }
        let undefined_classes = manifest
            .classes
            .iter()
            .filter(|entry| !classes.contains_key(&entry.name.value))
            .map(|entry| entry.name.clone())
            .collect();
        let package = Self {
            manifest,
            classes: Some(classes),
            undefined_classes,
            interfaces,
            validation,
            resources,
        };
        Parsed::new(Some(package), diagnostics)
    }

    /// Returns the classes of all files that can be read, for a package that cannot be assembled because of
    /// others.
    #[cfg(feature = "packages")]
    pub fn readable_classes(
        manifest: &PackageManifest,
        options: &ReadOptions,
        mut file: impl FnMut(&PackagePath) -> Option<Vec<u8>>,
    ) -> Vec<ClassDefinition> {
        if !manifest.format.has_class_files() {
            return Vec::new();
        }
        // The findings on the others were reported when the package was assembled.
        let mut files = ListedFiles::new(manifest, options, |path| Ok(file(path)));
        let listed = listed_files(manifest).into_iter();
        let classes = listed.filter_map(|(entry, requested)| files.class_file(entry, &requested));
        classes.flatten().collect()
    }

    /// Returns the resources without a mistake, for a package that cannot be assembled because of others.
    #[cfg(feature = "packages")]
    pub fn readable_resources(
        manifest: &PackageManifest,
        options: &ReadOptions,
        mut file: impl FnMut(&PackagePath) -> Option<Vec<u8>>,
    ) -> Option<ReadableResources> {
        let named = manifest.resources.as_ref()?;
        let bytes = file(&named.value)?;
        let name = sibling(manifest.source().name(), &named.value);
        PackageResources::readable(&name, &bytes, options)
    }

    /// Reads the manifest of an archive and nothing else. Messages call the archive `name`.
    #[cfg(feature = "packages")]
    pub fn manifest_of_archive<Bytes: AsRef<[u8]>>(
        name: &str,
        archive: &Archive<Bytes>,
        options: &ReadOptions,
    ) -> Parsed<PackageManifest> {
        let path = PackagePath::parse(MANIFEST_FILE).expect("the manifest's name is a valid path");
        let shown = format!("{name}/{MANIFEST_FILE}");
        if let Some(bytes) = archive.read_start(&path, options.limits.manifest_bytes) {
            PackageManifest::read(&shown, &bytes, options)
        } else {
            let message = format!("the archive has no `{MANIFEST_FILE}` at its top");
            let location = Location::new(&SourceText::new(name, ""), Span::default());
            Parsed::failed(Diagnostic::error(Code::PackageShape, message).at(location))
        }
    }

    /// Reads a package from an archive. Messages call the archive `name`.
    #[cfg(feature = "packages")]
    pub fn from_archive<Bytes: AsRef<[u8]>>(
        name: &str,
        archive: &Archive<Bytes>,
        options: &ReadOptions,
    ) -> Parsed<Self> {
        let mut diagnostics = Vec::new();
        match Self::manifest_of_archive(name, archive, options).drain_into(&mut diagnostics) {
            Some(manifest) => Self::assemble(manifest, options, |path| {
                archive.read_start(path, options.limits.class_file_bytes)
            }),
            None => Parsed::new(None, diagnostics),
        }
    }

    /// The package's name.
    pub fn name(&self) -> &PackageName {
        &self.manifest.name.value
    }

    /// The name and the version of the package.
    pub fn release(&self) -> Release {
        Release::new(self.name().clone(), self.manifest.version.clone())
    }

    /// The names of the classes that each listed file defines.
    pub fn classes_by_file(&self) -> BTreeMap<&PackagePath, Vec<&ClassName>> {
        let mut by_source: HashMap<&str, Vec<&ClassName>> = HashMap::new();
        for class in self.classes.iter().flat_map(BTreeMap::values) {
            let source = class.name.location.source().name();
            by_source.entry(source).or_default().push(&class.name.value);
        }
        let mut by_file = BTreeMap::new();
        for entry in &self.manifest.classes {
            let file = &entry.file.value;
            by_file.entry(file).or_insert_with(|| {
                let path = file.below(CLASSES_FOLDER).ok();
                let shown = path.map(|path| sibling(self.manifest.source().name(), &path));
                let defined = shown.and_then(|shown| by_source.remove(shown.as_str()));
                defined.unwrap_or_default()
            });
        }
        by_file
    }

    /// Whether other packages can see a class of this one. They see the classes that the manifest lists.
    pub fn exports(&self, class: &ClassName) -> bool {
        self.manifest.format.is_heat_hot()
            || self
                .manifest
                .classes
                .iter()
                .any(|entry| entry.name.value == *class)
    }

    /// Returns the index record of the package, without digest and size.
    pub fn index_record(&self) -> IndexRecord {
        let listed: HashSet<&ClassName> =
            (self.manifest.classes.iter().map(|entry| &entry.name.value)).collect();
        let is_heat_hot = self.manifest.format.is_heat_hot();
        let implements: HashMap<&ClassName, &Vec<Located<ClassName>>> = (self.manifest.implements)
            .iter()
            .map(|entry| (&entry.class.value, &entry.interfaces))
            .collect();
        let implements = |class: &ClassName| {
            let interfaces = implements.get(class).into_iter().copied().flatten();
            interfaces
                .map(|interface| interface.value.clone())
                .collect()
        };
        let classes = self.classes.as_ref().map(|classes| {
            let undefined = self.undefined_classes.iter().map(|class| IndexedClass {
                name: class.value.clone(),
                internal: false,
                extends: Vec::new(),
                implements: implements(&class.value),
                uses: Vec::new(),
            });
            let mut indexed: Vec<IndexedClass> = classes
                .values()
                .map(|class| IndexedClass {
                    name: class.name.value.clone(),
                    internal: !is_heat_hot && !listed.contains(&class.name.value),
                    extends: class
                        .extends
                        .iter()
                        .map(|parent| parent.value.clone())
                        .collect(),
                    implements: implements(&class.name.value),
                    uses: class.uses.iter().map(|used| used.value.clone()).collect(),
                })
                .chain(undefined)
                .collect();
            indexed.sort_by(|one, two| one.name.cmp(&two.name));
            indexed
        });
        IndexRecord {
            ecosystem: CLASS_PACKAGES,
            name: self.name().clone(),
            version: self.manifest.version.clone(),
            format: Some(self.manifest.format.to_string().into()),
            requirements: self.manifest.requirements.clone().into(),
            classes: classes.map(Into::into),
            interfaces: self.interfaces.keys().cloned().collect(),
            digest: None,
            size: None,
            yanked: false,
            published: None,
            labels: crate::shared_list::Shared::new(),
        }
    }
}

/// The errors about classes with resources that the package does not define.
#[cfg(feature = "packages")]
fn classes_of_others(
    resources: &PackageResources,
    classes: &BTreeMap<ClassName, ClassDefinition>,
) -> Vec<Diagnostic> {
    let others = resources.for_classes.iter().map(|entry| &entry.class);
    let others = others.filter(|class| !classes.contains_key(&class.value));
    let mut effort = SuggestionEffort::default();
    let errors = others.map(|class| {
        let message = format!("the package has no class `{}`", class.value);
        let error = Diagnostic::error(Code::Resource, message).at(class.location.clone());
        let own = classes.keys().map(ClassName::as_str);
        let similar = effort.most_similar_name(class.value.as_str(), own);
        error.maybe_hint(similar.map(did_you_mean))
    });
    errors.collect()
}

/// The name in messages of a file beside a manifest.
fn sibling(manifest: &str, path: &PackagePath) -> String {
    match manifest.strip_suffix(MANIFEST_FILE) {
        Some(folder) => format!("{folder}{path}"),
        None => path.to_string(),
    }
}

/// The length of the longest chain of classes of the package that extend one another. A cycle ends a chain;
/// checks report it as such.
fn longest_chain(classes: &BTreeMap<ClassName, ClassDefinition>) -> usize {
    let mut depth: HashMap<&ClassName, usize> = HashMap::new();
    for start in classes.keys() {
        let mut stack = vec![(start, false)];
        while let Some((name, parents_done)) = stack.pop() {
            let Some(class) = classes.get(name) else {
                continue;
            };
            if parents_done {
                let above = class
                    .extends
                    .iter()
                    .filter_map(|parent| depth.get(&parent.value))
                    .max();
                let own = above.map_or(0, |above| above + 1);
                depth.insert(name, own);
            } else if !depth.contains_key(name) {
                depth.insert(name, 0);
                stack.push((name, true));
                stack.extend(
                    class
                        .extends
                        .iter()
                        .filter(|parent| !depth.contains_key(&parent.value))
                        .map(|parent| (&parent.value, false)),
                );
            }
        }
    }
    depth.values().copied().max().unwrap_or(0)
}
