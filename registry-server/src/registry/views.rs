//! What can be asked about packages.

use std::collections::BTreeSet;

use pkgres_manifest::{IndexRecord, PackageName, Version};

use super::{Registry, no_such_package, no_such_version};
use crate::problem::Problem;
use crate::store::packages::{PackageRow, Search};
use crate::store::releases::Release;
use crate::store::{packages, releases};

/// A package with all its releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageView {
    /// The name.
    pub name: PackageName,
    /// The name that is shown to people, from the newest release.
    pub title: String,
    /// What it is, from the newest release.
    pub description: String,
    /// Grows with each change of the owners.
    pub generation: u64,
    /// Who owns it.
    pub owners: BTreeSet<String>,
    /// When something of this changed, as RFC 3339.
    pub updated: String,
    /// Its releases, the newest first.
    pub versions: Vec<ReleaseView>,
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseView {
    /// The record as it stands in the index.
    pub record: IndexRecord,
    /// Why it is yanked; nothing while it is not.
    pub yank_reason: Option<String>,
    /// The number of the token that it was published with.
    pub token: String,
}

impl From<Release> for ReleaseView {
    fn from(release: Release) -> Self {
        Self {
            record: release.record,
            yank_reason: release.yanked,
            token: release.token,
        }
    }
}

impl Registry {
    /// A package with all its releases.
    pub fn package(&self, name: &PackageName) -> Result<PackageView, Problem> {
        self.database.read(|transaction| {
            let package = packages::get(transaction, name)?.ok_or_else(|| no_such_package(name))?;
            let releases = releases::all(transaction, name, &self.settings.read.limits)?;
            Ok(PackageView {
                name: name.clone(),
                title: package.title,
                description: package.description,
                generation: package.generation,
                owners: packages::owners(transaction, name)?,
                updated: package.updated,
                versions: releases.into_iter().rev().map(ReleaseView::from).collect(),
            })
        })
    }

    /// A release.
    pub fn release(&self, name: &PackageName, version: &Version) -> Result<ReleaseView, Problem> {
        let limits = &self.settings.read.limits;
        self.database.read(
            |transaction| match releases::get(transaction, name, version, limits)? {
                Some(release) => Ok(release.into()),
                None => Err(no_such_version(transaction, name, version)?),
            },
        )
    }

    /// The packages that have a release which requires a package, sorted. The package itself need
    /// not be in the registry.
    pub fn dependants(&self, name: &PackageName) -> Result<Vec<PackageName>, Problem> {
        Ok(self
            .database
            .read(|transaction| releases::dependants(transaction, name))?)
    }

    pub(crate) fn search(&self, search: &Search) -> Result<Vec<PackageRow>, Problem> {
        Ok(self
            .database
            .read(|transaction| packages::search(transaction, search))?)
    }

    /// Fails unless the data can be reached.
    pub fn check(&self) -> Result<(), Problem> {
        self.database
            .read(|transaction| crate::store::current_serial(transaction))?;
        Ok(())
    }
}
