//! Finds class files that a manifest does not list. Their classes are not part of the package, and nothing else says so.

use std::collections::HashSet;

use super::{CLASSES_FOLDER, Package, sibling};
use crate::class_file::read_class_file;
use crate::name::ClassName;
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;

/// The most unlisted files that are read for one class.
const MAX_FILES: usize = 200;

impl Package {
    /// The file in the folder of classes that defines a class and that the manifest does not list, as its entry would
    /// name it. `files` are the files of the package, and `read` returns the bytes of one.
    ///
    /// ```
    /// use pkgres_manifest::{ClassName, Package, PackageManifest, PackagePath, ReadOptions};
    /// use pkgres_manifest::diagnostic::SourceText;
    ///
    /// let source = SourceText::new("manifest.yaml", "{FullName: org.acme.Web, Type: Library}");
    /// let options = ReadOptions::default();
    /// let (manifest, _) = PackageManifest::parse(&source, &options).into_result().unwrap();
    /// let (package, _) = Package::assemble(manifest, &options, |_| None).into_result().unwrap();
    /// let class = ClassName::parse("org.acme.Page").unwrap();
    /// let files = [PackagePath::parse("Classes/Page.yaml").unwrap()];
    /// let found = package.unlisted_file(&class, &files, &options, |_| Some(b"Name: org.acme.Page".to_vec()));
    /// assert_eq!(found.unwrap().as_str(), "Page.yaml");
    /// ```
    pub fn unlisted_file<'files>(
        &self,
        class: &ClassName,
        files: impl IntoIterator<Item = &'files PackagePath>,
        options: &ReadOptions,
        mut read: impl FnMut(&PackagePath) -> Option<Vec<u8>>,
    ) -> Option<PackagePath> {
        if !self.manifest.format.has_class_files() {
            return None;
        }
        let entries = self.manifest.classes.iter();
        let listed: HashSet<&str> = entries.map(|entry| entry.file.value.as_str()).collect();
        let below_classes = files.into_iter().filter_map(|file| {
            let name = file.as_str().strip_prefix(CLASSES_FOLDER)?;
            let name = name.strip_prefix('/')?;
            let is_class_file = name.ends_with(".yaml") || name.ends_with(".yml");
            (is_class_file && !listed.contains(name)).then_some((file, name))
        });
        let mut found = below_classes.take(MAX_FILES).filter(|(file, _)| {
            let Some(bytes) = read(file) else {
                return false;
            };
            let shown = sibling(self.manifest.source().name(), file);
            let classes = read_class_file(&shown, &bytes, &[], options).into_result();
            let (classes, _) = classes.unwrap_or_default();
            classes.iter().any(|defined| defined.name.value == *class)
        });
        let (_, name) = found.next()?;
        PackagePath::parse(name).ok()
    }
}
