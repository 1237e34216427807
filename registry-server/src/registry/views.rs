//! What can be asked about packages.

use std::collections::BTreeSet;

use bytes::Bytes;
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::{BatchRequest, Digest, SignedSnapshot};

use super::{RegistryBackend, no_such_package, no_such_version};
use crate::holder::Holder;
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
    /// What let in who published it.
    pub holder: Holder,
}

impl From<Release> for ReleaseView {
    fn from(release: Release) -> Self {
        Self {
            record: release.record,
            yank_reason: release.yanked,
            holder: release.holder,
        }
    }
}

impl RegistryBackend {
    /// A package with all its releases.
    pub fn package(&self, name: &PackageName) -> Result<PackageView, Problem> {
        self.database.read(|transaction| {
            let package = packages::get(transaction, name)?.ok_or_else(|| no_such_package(name))?;
            let releases = releases::all(transaction, name, &self.settings.read.limits)?;
            if releases.is_empty() {
                // All of them were deleted; only the name still belongs to someone.
                return Err(no_such_package(name));
            }
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

    /// The names of packages that have a text in name, title or description, define a class and
    /// belong to an owner, sorted; at most `limit` of those after `marker`. What is empty does not
    /// matter.
    pub fn search_names(
        &self,
        text: &str,
        class: &str,
        owner: &str,
        marker: &str,
        limit: u64,
    ) -> Result<Vec<String>, Problem> {
        let found = self.search(&Search {
            text: text.to_owned(),
            class: class.to_owned(),
            owner: owner.to_owned(),
            marker: marker.to_owned(),
            limit,
        })?;
        Ok(found.into_iter().map(|package| package.name).collect())
    }

    /// The index document of a package.
    pub fn index_document(&self, name: &PackageName) -> Result<Option<Bytes>, Problem> {
        Ok(self
            .node
            .package(name)?
            .map(|document| document.body.clone()))
    }

    /// The document of a class.
    pub fn class_document(&self, class: &ClassName) -> Result<Option<Bytes>, Problem> {
        Ok(self
            .node
            .class(class)?
            .map(|document| document.body.clone()))
    }

    /// `names.ndjson`: the digests of all index documents.
    pub fn names(&self) -> Bytes {
        self.node.state().names().body.clone()
    }

    /// The signed state of the index.
    pub fn snapshot(&self) -> SignedSnapshot {
        self.node.snapshot().snapshot.as_ref().clone()
    }

    /// The answer to a batch request, in pieces.
    pub fn batch(&self, request: &BatchRequest) -> Result<Vec<Bytes>, Problem> {
        let batch = self.node.batch(request, self.settings.batch_names)?;
        Ok(batch.pieces)
    }

    /// Keeps an artifact that no release has yet.
    pub fn put_artifact(&self, bytes: impl Into<Bytes>) -> Result<Digest, Problem> {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        self.blobs
            .put(&digest, bytes)
            .map_err(Problem::unavailable)?;
        Ok(digest)
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
