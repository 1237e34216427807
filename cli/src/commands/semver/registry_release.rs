//! A release of a registry, of an ecosystem other than class packages.

use std::path::Path;

use pkgres_formats::Format;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, IndexRecord, PackageName, ReleaseSource, Version};
use pkgres_registry_client::RegistrySet;

use super::compared_versions::NEWEST;
use crate::commands::info::releases_of;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::named_packages::{ProjectEcosystem, package_name, version_of};
use crate::output::Output;
use crate::read_release::ReadRelease;

/// A release as the command line names it: `NAME@VERSION`, or `@VERSION` for the package of the other side.
pub(super) struct NamedRelease<'text> {
    name: Option<PackageName>,
    /// `newest`, or a version.
    version: &'text str,
}

impl<'text> NamedRelease<'text> {
    /// Reads an argument; `None` if it is something else. An existing path comes before anything else.
    pub(super) fn parse(text: &'text str, ecosystem: ProjectEcosystem) -> Option<Self> {
        if Path::new(text).exists() {
            return None;
        }
        let (name, version) = text.split_once('@')?;
        let name = match name {
            "" => None,
            name => Some(package_name(name, ecosystem).ok()?),
        };
        Some(Self { name, version })
    }

    /// The package, if it is named.
    pub(super) fn name(&self) -> Option<&PackageName> {
        self.name.as_ref()
    }
}

/// The registries that the releases of a package come from, and the releases.
pub(super) struct Released<'run> {
    format: &'static dyn Format,
    package: PackageName,
    registries: RegistrySet,
    source: ReleaseSource,
    records: Vec<IndexRecord>,
    context: &'run Context,
}

impl<'run> Released<'run> {
    /// Looks a package up in the registries for a root; `None` if they do not have it, or have a class package of this
    /// name. Without a `format`, that of the releases is found out.
    pub(super) fn find(
        package: &PackageName,
        root: Option<&Path>,
        format: Option<&'static dyn Format>,
        context: &'run Context,
    ) -> Result<Option<Self>> {
        let released = context.registries.without_overrides();
        let configured = released.for_root(root)?;
        let stated = format.or(context.ecosystem);
        // Folders have to be read as those of an ecosystem.
        for format in pkgres_formats::ALL.iter().copied() {
            if stated.is_some_and(|stated| stated.ecosystem() != format.ecosystem()) {
                continue;
            }
            let options = context.read_options.of_ecosystem(format.ecosystem().id());
            let registries = released.open(&configured, &options)?;
            let found = releases_of(std::slice::from_ref(package), &registries, context)?;
            let Some(found) = found.into_iter().next().flatten() else {
                continue;
            };
            let (source, records) = found.into_parts();
            let Some(ecosystem) = records.first().map(|record| record.ecosystem) else {
                continue;
            };
            if ecosystem == CLASS_PACKAGES {
                return Ok(None);
            }
            return Ok(Some(Self {
                format: pkgres_formats::find(ecosystem.id()).unwrap_or(format),
                package: package.clone(),
                registries,
                source,
                records,
                context,
            }));
        }
        Ok(None)
    }

    /// Reads a release: that of a version, or the newest. `below` is a version that the newest has to be below.
    pub(super) fn read(
        &self,
        named: &NamedRelease<'_>,
        below: Option<&Version>,
        output: &mut Output,
    ) -> Result<ReadRelease> {
        let record = self.chosen(named.version, below)?;
        let read = ReadRelease::of_registry(
            record,
            &self.source,
            self.format,
            &self.registries,
            self.context,
        )?;
        output.registry_findings(&self.registries.take_findings());
        Ok(read)
    }

    fn chosen(&self, version: &str, below: Option<&Version>) -> Result<&IndexRecord> {
        let package = &self.package;
        let unknown = |what: String| {
            let message = format!("the registries have {what}");
            Failure::from(Diagnostic::error(Code::UnknownPackage, message))
        };
        if version == NEWEST {
            let usable = self.records.iter().filter(|record| {
                !record.yanked && below.is_none_or(|below| record.version < *below)
            });
            let newest =
                usable.max_by_key(|record| (!record.version.is_prerelease(), &record.version));
            return newest.ok_or_else(|| {
                unknown(match below {
                    Some(below) => format!("no version of `{package}` below {below}"),
                    None => format!("no version of `{package}`"),
                })
            });
        }
        let wanted =
            version_of(package, version, Some(self.format.ecosystem())).map_err(|error| {
                let shown = Escaped::shortened(version);
                Failure::usage(format!("`{package}@{shown}`: {error}"))
            })?;
        let mut records = self.records.iter();
        records
            .find(|record| wanted.names_release(&record.version))
            .ok_or_else(|| unknown(format!("no version {wanted} of `{package}`")))
    }
}
