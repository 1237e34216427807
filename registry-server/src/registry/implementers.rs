//! Finds the packages that define an interface, and the classes that implement it.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, Interface, PackageName};

use super::backend::RegistryBackend;
use crate::problem::{Problem, ProblemCode};
use crate::store::releases;

/// The most packages that are searched for classes.
const MAX_PACKAGES: usize = 500;

/// The classes that implement an interface.
#[derive(Debug, Default)]
pub(crate) struct Implementers {
    /// The classes, each with the newest release of its package, sorted by package and class.
    pub(crate) classes: Vec<(IndexRecord, ClassName)>,
    /// Whether a bound was reached before all packages were searched.
    pub(crate) is_partial: bool,
}

impl RegistryBackend {
    /// The packages that define an interface, sorted.
    pub(crate) fn definers_of_interface(
        &self,
        interface: &ClassName,
    ) -> Result<Vec<PackageName>, Problem> {
        let read = self
            .database
            .read(|transaction| releases::defining_interface(transaction, interface));
        Ok(read?)
    }

    /// Searches the newest releases of the packages that define an interface, and of those that require one of these,
    /// for classes that implement the interface: at most `limit`.
    pub(crate) fn implementers(
        &self,
        interface: &ClassName,
        definers: &[PackageName],
        limit: usize,
    ) -> Result<Implementers, Problem> {
        let mut packages: BTreeSet<PackageName> = definers.iter().cloned().collect();
        for package in definers {
            packages.extend(self.dependants(package)?);
        }
        let mut found = Implementers {
            is_partial: packages.len() > MAX_PACKAGES,
            ..Implementers::default()
        };
        for package in packages.iter().take(MAX_PACKAGES) {
            let record = match self.release_for_spec(package, None) {
                Ok(record) => record,
                Err(problem) if problem.code == ProblemCode::NoSuchVersion => continue,
                // It was removed meanwhile.
                Err(problem) if problem.code == ProblemCode::NoSuchPackage => continue,
                Err(problem) => return Err(problem),
            };
            for class in record.classes.iter().flatten() {
                if !class.implements.contains(interface) {
                    continue;
                }
                if found.classes.len() == limit {
                    found.is_partial = true;
                    return Ok(found);
                }
                found.classes.push((record.clone(), class.name.clone()));
            }
        }
        Ok(found)
    }

    /// The definition of an interface in a release; `None` if the release has none, or its file cannot be read.
    pub(crate) fn interface_definition(
        &self,
        record: &IndexRecord,
        interface: &ClassName,
    ) -> Result<Option<Interface>, Problem> {
        let interfaces = BTreeSet::from([interface.clone()]);
        let package = self.package_with(record, &BTreeSet::new(), &interfaces)?;
        Ok(package.and_then(|mut package| package.interfaces.remove(interface)))
    }
}
