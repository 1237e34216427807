//! Publishes Ansible collections, and looks them up for Galaxy clients.

use bytes::Bytes;
use jiff::SignedDuration;
use pkgres_manifest::{IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::Digest;

use super::access_checks::{no_such_package, no_such_version};
use super::backend::RegistryBackend;
use super::contents::ReleaseContents;
use super::publish::{Published, RequirementCheck};
use crate::access::{Principal, Scope};
use crate::candidate::{self, Details};
use crate::database::{DatabaseError, Transaction};
use crate::problem::Problem;
use crate::store::collections::{self, CollectionContent, CollectionRow, ListedCollection};
use crate::store::{changes, packages};

/// A collection with all its releases.
#[derive(Debug)]
pub(crate) struct CollectionView {
    pub(crate) description: String,
    /// When a release was published, yanked or deleted, as RFC 3339. Clients compare it with that of an earlier
    /// answer, and the clock has seconds alone: the fraction is the serial of the change.
    pub(crate) updated: String,
    /// The releases, the newest first.
    pub(crate) versions: Vec<ListedCollection>,
}

impl CollectionView {
    /// When the first of its releases was published.
    pub(crate) fn created(&self) -> &str {
        let published = self.versions.iter().map(|version| &*version.published);
        published.min().unwrap_or(&self.updated)
    }

    /// The releases that are not yanked, the newest first.
    pub(crate) fn offered(&self) -> impl DoubleEndedIterator<Item = &ListedCollection> {
        self.versions.iter().filter(|version| !version.is_yanked)
    }
}

/// A part of the list of collections.
#[derive(Debug)]
pub(crate) struct CollectionPage {
    pub(crate) collections: Vec<(PackageName, CollectionView)>,
    /// The number of collections on all pages.
    pub(crate) count: usize,
    pub(crate) is_last: bool,
}

/// A collection with all its releases, if it has any.
fn view(
    transaction: &mut dyn Transaction,
    name: &PackageName,
) -> Result<Option<CollectionView>, DatabaseError> {
    let versions = collections::all(transaction, name)?;
    let package = packages::get(transaction, name)?;
    let Some(package) = package.filter(|_| !versions.is_empty()) else {
        return Ok(None);
    };
    let changed = changes::last_of(transaction, name)?.map(|(at, serial)| {
        let fraction = i64::try_from(serial % 1_000_000).unwrap_or_default();
        (at + SignedDuration::from_micros(fraction)).to_string()
    });
    Ok(Some(CollectionView {
        description: package.description,
        updated: changed.unwrap_or(package.updated),
        versions,
    }))
}

impl RegistryBackend {
    /// Publishes the Ansible collection of an artifact: everything is stored, or nothing.
    ///
    /// If the artifact has a `file_name`, it has to be the one that follows from name and version of the collection.
    /// Its dependencies need not be in the registry, because clients may take them from another server.
    pub fn publish_collection(
        &self,
        principal: &Principal,
        file_name: Option<&str>,
        artifact: &Bytes,
    ) -> Result<Published, Problem> {
        principal.require(Scope::Publish)?;
        let (candidate, texts) =
            candidate::check_collection(file_name, artifact, &self.options.read)?;
        principal.require_for(Scope::Publish, &candidate.record.name)?;
        let details = Details::Collection(&texts);
        let check = RequirementCheck::Skipped;
        self.publish_candidate(principal, &candidate, details, artifact, check)
    }

    /// A collection with all its releases.
    pub(crate) fn collection(&self, name: &PackageName) -> Result<CollectionView, Problem> {
        let found = self.database.read(|transaction| view(transaction, name))?;
        found.ok_or_else(|| no_such_package(name))
    }

    /// The collections of a page, sorted by name, and the number of all that are wanted.
    ///
    /// The page begins behind the first `skipped` of the names that come after `marker`.
    pub(crate) fn collections(
        &self,
        is_wanted: impl Fn(&PackageName) -> bool,
        marker: Option<&PackageName>,
        (skipped, limit): (usize, usize),
    ) -> Result<CollectionPage, Problem> {
        let page = self.database.read(|transaction| {
            let mut names = collections::names(transaction)?;
            names.retain(|name| is_wanted(name));
            let count = names.len();
            names.retain(|name| marker.is_none_or(|marker| name > marker));
            let mut rest = names.into_iter().skip(skipped);
            let mut views = Vec::new();
            for name in rest.by_ref().take(limit) {
                if let Some(view) = view(transaction, &name)? {
                    views.push((name, view));
                }
            }
            Ok::<_, DatabaseError>(CollectionPage {
                collections: views,
                count,
                is_last: rest.next().is_none(),
            })
        })?;
        Ok(page)
    }

    /// A release of a collection.
    pub(crate) fn collection_version(
        &self,
        name: &PackageName,
        version: &Version,
    ) -> Result<CollectionRow, Problem> {
        self.database.read(
            |transaction| match collections::get(transaction, name, version)? {
                Some(release) => Ok(release),
                None => Err(no_such_version(transaction, name, version)?),
            },
        )
    }

    /// The modules, plug-ins, roles and playbooks of all releases of a collection, sorted by name.
    pub(crate) fn contents_of_collection(
        &self,
        name: &PackageName,
    ) -> Result<Vec<CollectionContent>, Problem> {
        Ok(self
            .database
            .read(|transaction| collections::contents(transaction, name))?)
    }

    /// The texts of a release of a collection, which were read when it was published.
    pub(super) fn collection_contents(
        &self,
        record: &IndexRecord,
    ) -> Result<ReleaseContents, Problem> {
        let (name, version) = (&record.name, &record.version);
        let texts = self
            .database
            .read(|transaction| collections::texts(transaction, name, version))?;
        let texts = texts.ok_or_else(|| no_such_package(name))?;
        let about = texts.about;
        Ok(ReleaseContents {
            title: record.name.to_string(),
            description: about.description.unwrap_or_default(),
            authors: about.authors,
            tags: about.tags,
            licences: about.license,
            readme: texts.readme,
            licence: texts.licence,
            is_lost: false,
        })
    }

    /// The release of a collection whose artifact has a digest.
    pub(crate) fn collection_of_artifact(
        &self,
        digest: &Digest,
    ) -> Result<Option<(PackageName, ListedCollection)>, Problem> {
        let digest = digest.to_string();
        Ok(self
            .database
            .read(|transaction| collections::of_artifact(transaction, &digest))?)
    }
}
