//! Reads packages, releases and documents of the index.

use std::collections::BTreeSet;

use bytes::Bytes;
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::{BatchRequest, SignedSnapshot};

use super::access_checks::{no_such_package, no_such_version};
use super::backend::RegistryBackend;
use crate::access::Credential;
use crate::problem::Problem;
use crate::store::collections::CollectionContent;
use crate::store::packages::{PackageRow, Search};
use crate::store::releases::ReleaseRow;
use crate::store::{catalog, collections, packages, releases};

/// A package with all its releases.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageView {
    /// The name of the package.
    pub name: PackageName,
    /// The display name of the newest release.
    pub title: String,
    /// The description of the newest release.
    pub description: String,
    /// A number that grows with each change of the owners.
    pub generation: u64,
    /// The owners of the package.
    pub owners: BTreeSet<String>,
    /// When one of these values changed, as RFC 3339.
    pub updated: String,
    /// The releases, the newest first.
    pub versions: Vec<ReleaseView>,
}

/// What a list of results says about a package.
#[derive(Debug)]
pub(crate) struct PackageSummary {
    /// The version that a solver prefers, without build metadata; none if all are yanked.
    pub(crate) newest: Option<Version>,
    /// The number of versions, with those that are yanked.
    pub(crate) versions: usize,
    /// The authors of the newest version, if that is public.
    pub(crate) author: String,
    /// Its tags.
    pub(crate) tags: Vec<String>,
    /// The classes that the package defines for others.
    pub(crate) classes: Vec<ClassName>,
    /// The interfaces that the package defines.
    pub(crate) interfaces: Vec<ClassName>,
    /// The plug-ins, roles and playbooks of the package.
    pub(crate) contents: Vec<CollectionContent>,
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleaseView {
    /// The record of the index.
    pub record: IndexRecord,
    /// Why the release is yanked; none if it is not.
    pub yank_reason: Option<String>,
    /// The credential that it was published with.
    pub credential: Credential,
}

impl From<ReleaseRow> for ReleaseView {
    fn from(release: ReleaseRow) -> Self {
        Self {
            record: release.record,
            yank_reason: release.yanked,
            credential: release.credential,
        }
    }
}

impl RegistryBackend {
    /// A package with all its releases.
    pub fn package(&self, name: &PackageName) -> Result<PackageView, Problem> {
        self.database.read(|transaction| {
            let package = packages::get(transaction, name)?.ok_or_else(|| no_such_package(name))?;
            let releases = releases::all(transaction, name, &self.options.read.limits)?;
            if releases.is_empty() {
                // All of them were deleted; only the name still has owners.
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
        let (release, _) = self.dated_release(name, version)?;
        Ok(release)
    }

    /// A release, and when its package changed, as RFC 3339.
    pub(crate) fn dated_release(
        &self,
        name: &PackageName,
        version: &Version,
    ) -> Result<(ReleaseView, String), Problem> {
        let limits = &self.options.read.limits;
        self.database.read(|transaction| {
            let release = releases::get(transaction, name, version, limits)?;
            match release.zip(packages::get(transaction, name)?) {
                Some((release, package)) => Ok((release.into(), package.updated)),
                None => Err(no_such_version(transaction, name, version)?),
            }
        })
    }

    /// The packages with a release that requires a package, sorted. The package itself need not be in
    /// the registry.
    pub fn dependants(&self, name: &PackageName) -> Result<Vec<PackageName>, Problem> {
        Ok(self
            .database
            .read(|transaction| releases::dependants(transaction, name))?)
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

    /// The document `names.ndjson`: the digests of all index documents.
    pub fn names(&self) -> Bytes {
        self.node.state().names().body.clone()
    }

    /// The signed state of the index that this node serves.
    pub fn snapshot(&self) -> SignedSnapshot {
        self.node.snapshot().snapshot.as_ref().clone()
    }

    /// The response to a batch request, in pieces.
    pub fn batch(&self, request: &BatchRequest) -> Result<Vec<Bytes>, Problem> {
        self.node.batch(request, self.options.batch_names)
    }

    /// The packages that a search finds, sorted by name.
    pub(crate) fn search(&self, search: &Search) -> Result<Vec<PackageRow>, Problem> {
        Ok(self
            .database
            .read(|transaction| packages::search(transaction, search))?)
    }

    /// What a list of results says about each of some packages.
    pub(crate) fn summaries(&self, names: &[PackageName]) -> Result<Vec<PackageSummary>, Problem> {
        self.database.read(|transaction| {
            let mut summaries = Vec::new();
            for name in names {
                let versions = releases::versions(transaction, name)?;
                let is_preferred = |version: &Version| !version.is_prerelease();
                let usable = || versions.iter().filter(|(_, is_yanked)| !is_yanked);
                let newest = usable()
                    .rev()
                    .find(|(version, _)| is_preferred(version))
                    .or_else(|| usable().next_back())
                    .map(|(version, _)| version.clone());
                let listed = match &newest {
                    Some(version) => catalog::of_release(transaction, name, version)?,
                    None => None,
                };
                let listed = listed.filter(|row| row.is_public && row.enabled);
                let (mut author, mut tags) =
                    listed.map(|row| (row.author, row.tags)).unwrap_or_default();
                let collection = match &newest {
                    Some(version) => collections::get(transaction, name, version)?,
                    None => None,
                };
                if let Some(collection) = collection {
                    let about = collection.about;
                    (author, tags) = (about.authors.join(", "), about.tags);
                }
                summaries.push(PackageSummary {
                    newest,
                    versions: versions.len(),
                    author,
                    tags,
                    classes: releases::defined(transaction, name)?,
                    interfaces: releases::interfaces(transaction, name)?,
                    contents: collections::contents(transaction, name)?,
                });
            }
            Ok(summaries)
        })
    }
}
