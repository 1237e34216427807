//! Searches in registries that are read as a whole.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, PackageName};

use crate::registry_error::RegistryError;

/// The classes that releases define for others, sorted.
///
/// Only names are kept of a record, so that records can be read one after the other.
pub(crate) fn defined_classes(
    records: impl IntoIterator<Item = impl Borrow<IndexRecord>>,
) -> Vec<ClassName> {
    let mut names: BTreeSet<ClassName> = BTreeSet::new();
    for record in records {
        let classes = record.borrow().classes.iter().flatten();
        for class in classes.filter(|class| !class.internal) {
            // Most releases define what others of the package do.
            if !names.contains(&class.name) {
                names.insert(class.name.clone());
            }
        }
    }
    names.into_iter().collect()
}

/// How many packages are looked up at once.
const AT_ONCE: usize = 500;

/// A package that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The package.
    pub name: PackageName,
    /// Its display name, as the registry has it, if the registry has one.
    pub title: Option<String>,
}

/// Whether each word is in one of the texts, in upper or lower case.
pub(crate) fn matches<'text>(words: &[String], texts: impl Iterator<Item = &'text str>) -> bool {
    let texts: Vec<String> = texts.map(str::to_lowercase).collect();
    words.iter().all(|word| {
        let word = word.to_lowercase();
        texts.iter().any(|text| text.contains(&word))
    })
}

/// The releases of each package that was looked up; `None` for a package that the registry does not have.
pub(crate) type RecordsResult = Result<Vec<Option<Vec<IndexRecord>>>, RegistryError>;

/// The packages of a registry that is read as a whole: all words are in the name, or in names of classes and interfaces.
pub(crate) fn search_known(
    known: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    words: &[String],
    limit: usize,
) -> Result<Vec<Found>, RegistryError> {
    let mut found = Vec::new();
    visit(known, records, |name, records| {
        let classes = records
            .iter()
            .flat_map(|record| record.classes.iter().flatten());
        let classes = classes.filter(|class| !class.internal);
        let classes = classes.map(|class| &class.name);
        let interfaces = records.iter().flat_map(|record| &record.interfaces);
        let names = classes.chain(interfaces).map(ClassName::as_str);
        if found.len() < limit && matches(words, std::iter::once(name.as_str()).chain(names)) {
            found.push(Found {
                name: name.clone(),
                title: None,
            });
        }
    })?;
    Ok(found)
}

/// The packages of a registry that is read as a whole with a release that requires a package.
pub(crate) fn requiring_known(
    known: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    package: &PackageName,
) -> Result<Vec<PackageName>, RegistryError> {
    let mut found = Vec::new();
    visit(known, records, |name, records| {
        if records.iter().any(|record| requires(record, package)) {
            found.push(name.clone());
        }
    })?;
    Ok(found)
}

fn requires(record: &IndexRecord, package: &PackageName) -> bool {
    let mut requirements = record.requirements.iter();
    requirements.any(|requirement| requirement.package == *package)
}

/// Visits packages that a registry has, with their releases. Those without an answer are left out.
fn visit(
    mut names: Vec<PackageName>,
    records: impl Fn(&[PackageName]) -> RecordsResult,
    mut each: impl FnMut(&PackageName, &[IndexRecord]),
) -> Result<(), RegistryError> {
    names.sort_unstable();
    for names in names.chunks(AT_ONCE) {
        for (name, records) in names.iter().zip(records(names)?) {
            if let Some(records) = records {
                each(name, &records);
            }
        }
    }
    Ok(())
}
