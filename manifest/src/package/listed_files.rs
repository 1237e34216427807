//! Reads the files that a manifest lists: class files, interfaces, the validation and the resources.

use std::collections::{BTreeMap, HashMap};

use super::{CLASSES_FOLDER, ClassEntry, PackageManifest, sibling};
use crate::class_file::{self, ClassDefinition};
use crate::diagnostic::{Code, Diagnostic, Located};
use crate::interface::{INTERFACES_FOLDER, Interface, read_interface_file};
use crate::name::ClassName;
use crate::package_path::PackagePath;
use crate::read_options::ReadOptions;
use crate::resources::PackageResources;
use crate::similar::did_you_mean;
use crate::validation::{Validation, read_validation_file};

/// The class files of a manifest, each with the first entry and all classes that it is listed for. Takes time nearly
/// linear in the entries, of which a manifest can have tens of thousands, each with a file of its own.
pub(super) fn listed_files(manifest: &PackageManifest) -> Vec<(&ClassEntry, Vec<&ClassName>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut files: Vec<(&ClassEntry, Vec<&ClassName>)> = Vec::new();
    for entry in &manifest.classes {
        let place = *places
            .entry(entry.file.value.as_str())
            .or_insert(files.len());
        if place == files.len() {
            files.push((entry, Vec::new()));
        }
        files[place].1.push(&entry.name.value);
    }
    files
}

/// Reads the files that a manifest lists, and collects the findings on them.
pub(super) struct ListedFiles<'package, File> {
    manifest: &'package PackageManifest,
    options: &'package ReadOptions,
    /// Returns the bytes of a file of the package, or `None` if there is none.
    file: File,
    pub(super) findings: Vec<Diagnostic>,
}

impl<'package, File> ListedFiles<'package, File>
where
    File: FnMut(&PackagePath) -> Result<Option<Vec<u8>>, Diagnostic>,
{
    pub(super) fn new(
        manifest: &'package PackageManifest,
        options: &'package ReadOptions,
        file: File,
    ) -> Self {
        Self {
            manifest,
            options,
            file,
            findings: Vec::new(),
        }
    }

    /// The classes of a class file, which is listed for some of them.
    pub(super) fn class_file(
        &mut self,
        entry: &ClassEntry,
        requested: &[&ClassName],
    ) -> Option<Vec<ClassDefinition>> {
        let (name, bytes) = self.listed(entry, CLASSES_FOLDER)?;
        let read = class_file::read_class_file(&name, &bytes, requested, self.options);
        read.drain_into(&mut self.findings)
    }

    /// The validation of the package.
    pub(super) fn validation(&mut self) -> Option<Validation> {
        let named = self.manifest.validate.as_ref()?;
        let (name, bytes) = self.named(&named.value, named)?;
        read_validation_file(&name, &bytes, self.options).drain_into(&mut self.findings)
    }

    /// The resources of the package.
    pub(super) fn resources(&mut self) -> Option<PackageResources> {
        let named = self.manifest.resources.as_ref()?;
        let (name, bytes) = self.named(&named.value, named)?;
        PackageResources::read(&name, &bytes, self.options).drain_into(&mut self.findings)
    }

    /// The interfaces of the package. Each has a file of its own.
    pub(super) fn interfaces(&mut self) -> BTreeMap<ClassName, Interface> {
        let mut interfaces = BTreeMap::new();
        for entry in &self.manifest.interfaces {
            let Some((name, bytes)) = self.listed(entry, INTERFACES_FOLDER) else {
                continue;
            };
            let listed = &entry.name.value;
            let read = read_interface_file(&name, &bytes, Some(listed), self.options);
            let Some(interface) = read.drain_into(&mut self.findings) else {
                continue;
            };
            if interface.name.value == *listed {
                interfaces.insert(listed.clone(), interface);
            } else {
                let message = format!(
                    "the file defines `{}`, but the manifest lists it for `{listed}`",
                    interface.name.value
                );
                let error = Diagnostic::error(Code::Interface, message)
                    .label(interface.name.location, "")
                    .label(entry.name.location.clone(), "it is listed here");
                self.findings.push(error);
            }
        }
        interfaces
    }

    /// The name in messages and the bytes of a file that the manifest lists for a class or interface.
    fn listed(&mut self, entry: &ClassEntry, folder: &str) -> Option<(String, Vec<u8>)> {
        match entry.file.value.below(folder) {
            Ok(path) => {
                let read = self.named(&path, &entry.file);
                if read.is_none() {
                    self.hint_at_file(folder, &entry.file.value);
                }
                read
            }
            Err(error) => {
                let error = Diagnostic::error(Code::Path, error.to_string());
                self.findings.push(error.at(entry.file.location.clone()));
                None
            }
        }
    }

    /// Adds the file that was probably intended to the last error, which is about a file that is not below its folder.
    fn hint_at_file(&mut self, folder: &str, file: &PackagePath) {
        let mut exists = |path: &str| {
            let path = PackagePath::parse(path);
            path.is_ok_and(|path| matches!((self.file)(&path), Ok(Some(_))))
        };
        let written = file.as_str();
        let (stem, ending) = written.rsplit_once('.').unwrap_or((written, ""));
        let other = if ending == "yaml" { "yml" } else { "yaml" };
        let other = format!("{stem}.{other}");
        let in_other_case = with_first_in_other_case(written);
        let below = written
            .strip_prefix(folder)
            .and_then(|rest| rest.strip_prefix('/'));
        let hint = match below {
            Some(below) if exists(written) => {
                format!("paths are relative to `{folder}`: write `{below}`")
            }
            _ if exists(&format!("{folder}/{other}")) => did_you_mean(other),
            _ if exists(&format!("{folder}/{in_other_case}")) => did_you_mean(in_other_case),
            _ if exists(written) => format!("move `{written}` into the folder `{folder}`"),
            _ => return,
        };
        if let Some(last) = self.findings.last_mut() {
            last.hints.push(hint);
        }
    }

    /// The name in messages and the bytes of a file at a path. `named` is where the manifest names it.
    fn named(
        &mut self,
        path: &PackagePath,
        named: &Located<PackagePath>,
    ) -> Option<(String, Vec<u8>)> {
        match (self.file)(path) {
            Ok(Some(bytes)) => Some((sibling(self.manifest.source().name(), path), bytes)),
            Ok(None) => {
                let message = format!("the package has no file `{path}`");
                let error = Diagnostic::error(Code::PackageShape, message);
                self.findings.push(error.at(named.location.clone()));
                None
            }
            Err(error) => {
                self.findings.push(error);
                None
            }
        }
    }
}

/// A path whose first letter is in upper case instead of lower case, or the other way round.
fn with_first_in_other_case(path: &str) -> String {
    let mut characters = path.chars();
    let first = characters.next().map(|first| match first {
        'a'..='z' => first.to_ascii_uppercase(),
        _ => first.to_ascii_lowercase(),
    });
    first.into_iter().chain(characters).collect()
}
