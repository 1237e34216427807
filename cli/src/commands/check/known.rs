//! The classes of the packages that registries and the host have.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use pkgres_checks::{Defines, RequiredPackages};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, ReadOptions, Spec};
use pkgres_registry_client::{RegistryError, RegistrySet};
use pkgres_resolver::Supply;

use crate::args::RegistryArgs;
use crate::failure::Result;
use crate::members;
use crate::place::Place;
use crate::registries;

/// What is known of the packages that packages in one folder require.
pub(super) struct Known {
    locations: Vec<Place>,
    /// Whether what members of the workspace have comes from there.
    is_member: bool,
    options: ReadOptions,
    pub(super) registries: RegistrySet,
    provided: Rc<[IndexRecord]>,
    /// What was asked for already: reading a package takes long, and says again what is wrong
    /// with it.
    releases: RefCell<BTreeMap<PackageName, Rc<[IndexRecord]>>>,
    errors: RefCell<Vec<RegistryError>>,
}

impl Known {
    pub(super) fn open(
        args: &RegistryArgs,
        path: &Path,
        provided: &Rc<[IndexRecord]>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let locations = registries::locations(args, Some(path))?;
        Ok(Self {
            registries: registries::open_all(&locations, args, options)?,
            locations,
            is_member: members::is_member(path, options)?,
            options: options.clone(),
            provided: Rc::clone(provided),
            releases: RefCell::default(),
            errors: RefCell::default(),
        })
    }

    /// Whether what a package at `path` requires comes from the same places.
    pub(super) fn is_for(&self, args: &RegistryArgs, path: &Path) -> bool {
        let is_member = members::is_member(path, &self.options);
        registries::locations(args, Some(path)).is_ok_and(|locations| locations == self.locations)
            && is_member.is_ok_and(|is_member| is_member == self.is_member)
    }

    /// Registries that did not answer. They count as not knowing the package.
    pub(super) fn take_errors(&self) -> Vec<RegistryError> {
        self.errors.take()
    }

    /// All releases of a package; none if nothing is known of it.
    fn releases(&self, package: &PackageName) -> Rc<[IndexRecord]> {
        let mut known = self.releases.borrow_mut();
        let releases = known.entry(package.clone()).or_insert_with(|| {
            let provided: Vec<IndexRecord> = self
                .provided
                .iter()
                .filter(|record| record.name == *package)
                .cloned()
                .collect();
            if !provided.is_empty() {
                return provided.into();
            }
            // Whether the workspace can be read was found out when it was asked for members.
            if self.is_member
                && let Ok(Some(member)) = members::release(package, &self.options)
            {
                return Rc::new([member]);
            }
            match self.registries.supply(std::slice::from_ref(package)) {
                Ok(supplies) => match supplies.into_iter().next() {
                    Some(Supply::Releases { records, .. }) => records.into(),
                    _ => Rc::default(),
                },
                Err(error) => {
                    self.errors.borrow_mut().push(error);
                    Rc::default()
                }
            }
        });
        Rc::clone(releases)
    }
}

impl RequiredPackages for Known {
    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Defines {
        let releases = self.releases(package);
        let mut matching = releases
            .iter()
            .filter(|record| spec.matches(&record.version))
            .peekable();
        if matching.peek().is_none() {
            return Defines::Unknown;
        }
        let mut result = Defines::No;
        for record in matching {
            if record.classes.is_none() {
                return Defines::Unknown;
            }
            if record.exports(class) {
                result = Defines::Yes;
            }
        }
        result
    }

    fn classes(&self, package: &PackageName) -> Vec<ClassName> {
        let mut names: Vec<ClassName> = self
            .releases(package)
            .iter()
            .flat_map(|record| record.classes.iter().flatten())
            .filter(|class| !class.internal)
            .map(|class| class.name.clone())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
