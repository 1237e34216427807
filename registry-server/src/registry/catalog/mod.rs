//! The catalog: releases with what is said of them beside the index, and categories.

mod categories;
mod change;
mod filter;
mod listing;

use bytes::Bytes;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    IndexRecord, LazyArchive, MANIFEST_FILE, PackageManifest, PackageName, PackagePath,
};

use super::{Published, RegistryBackend};
use crate::access::{Actor, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::publish;
use crate::store::catalog::{self, CatalogRow};
use crate::store::{packages, releases};
use pkgres_registry_client::protocol::Digest;

pub(crate) use categories::{CategoryView, check as check_categories};
pub(crate) use filter::{Comparison, Filter, VersionTest};
pub(crate) use listing::{complete, list};

/// A release of the catalog.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    pub(crate) row: CatalogRow,
    pub(crate) record: IndexRecord,
}

/// What is said of a release when it is uploaded; what is not said is what the manifest says.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) categories: Vec<String>,
    pub(crate) is_public: bool,
    pub(crate) enabled: bool,
}

/// A file of a package that the catalog hands out by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Form,
    Logo,
    SupplierLogo,
}

impl RegistryBackend {
    /// Publishes the release that an archive is. Unlike [`RegistryBackend::publish`] it is an error if
    /// the registry has it already.
    pub(crate) fn upload(
        &self,
        actor: &Actor,
        archive: &Bytes,
        upload: Upload,
    ) -> Result<CatalogEntry, Problem> {
        actor.require(Scope::Publish)?;
        let options = &self.settings.read;
        let mut candidate = publish::candidate(None, archive, options)?;
        let (name, version) = (
            candidate.record.name.clone(),
            candidate.record.version.clone(),
        );
        actor.require_for(Scope::Publish, &name)?;
        let listing = &mut candidate.listing;
        if let Some(name) = upload.name {
            listing.name = name;
        }
        if let Some(description) = upload.description {
            listing.description = description;
        }
        if let Some(tags) = upload.tags {
            listing.tags = tags;
        }
        listing.categories = upload.categories;
        listing.is_public = upload.is_public;
        listing.enabled = upload.enabled;
        match self.publish_candidate(actor, &candidate, archive, false)? {
            Published::Created(record) => {
                let row = self
                    .database
                    .read(|transaction| catalog::of_release(transaction, &name, &version))?;
                let row = row.ok_or_else(no_such_entry)?;
                Ok(CatalogEntry { row, record })
            }
            Published::Unchanged(_) => {
                let detail = format!("{name} {version} was published already");
                Err(Problem::new(ProblemCode::VersionExists, detail))
            }
        }
    }

    /// The release with an id, if whoever asks may see it: it is public, or its package belongs
    /// to them.
    pub(crate) fn catalog_entry(
        &self,
        actor: Option<&Actor>,
        id: &str,
    ) -> Result<CatalogEntry, Problem> {
        let row = self.database.read(|transaction| {
            let row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            if !row.is_public {
                let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
                let Some(actor) = actor else {
                    let detail = "this release is not public: a token is needed";
                    return Err(Problem::new(ProblemCode::Unauthorized, detail));
                };
                if !actor.is_admin()
                    && !packages::owners(transaction, &name)?.contains(&actor.owner)
                {
                    let detail = format!("this release of {name} is not public");
                    return Err(Problem::new(ProblemCode::NotOwner, detail));
                }
            }
            Ok(row)
        })?;
        self.entry(row)
    }

    fn entry(&self, row: CatalogRow) -> Result<CatalogEntry, Problem> {
        let limits = &self.settings.read.limits;
        let record = IndexRecord::parse_line(&row.record, limits).map_err(Problem::internal)?;
        Ok(CatalogEntry { row, record })
    }

    /// A file of a release of the catalog, where the manifest says or, if it does not, where such
    /// files usually are. Of the archive, the manifest and this file are unpacked, and nothing else:
    /// anybody may ask for them.
    pub(crate) fn catalog_part(&self, entry: &CatalogEntry, part: Part) -> Result<Bytes, Problem> {
        let digest = Digest::parse(&entry.row.sha256)?;
        let gone = || Problem::internal(format!("the artifact {digest} is missing"));
        let bytes = self.artifact(&digest)?.ok_or_else(gone)?;
        let options = &self.settings.read;
        let shown = format!("{}-{}.zip", entry.row.package, entry.row.version);
        // All of it was checked when it was published.
        let damaged = |error: Diagnostic| Problem::internal(error.to_string());
        let archive = LazyArchive::open(&shown, bytes, &options.limits).map_err(damaged)?;
        let usual = |path: &str| PackagePath::parse(path).expect("this is a path");
        let manifest = archive
            .read_start(&usual(MANIFEST_FILE), options.limits.manifest_bytes)
            .map_err(damaged)?
            .unwrap_or_default();
        let (manifest, _) = PackageManifest::read(&shown, &manifest, options)
            .into_result()
            .map_err(|_| Problem::internal(format!("{shown} cannot be read")))?;
        let path = match part {
            Part::Form => manifest
                .ui
                .unwrap_or_else(|| usual("ui.yaml"))
                .below("UI")
                .map_err(|error| Problem::internal(error.to_string()))?,
            Part::Logo => manifest.logo.unwrap_or_else(|| usual("logo.png")),
            Part::SupplierLogo => usual("supplier_logo.png"),
        };
        let missing = || {
            let detail = format!("{shown} has no {path}");
            Problem::new(ProblemCode::NoSuchEntry, detail)
        };
        let mut receiving = self.incoming.receive();
        let mut added = Ok(());
        archive
            .unpack(&path, |piece| {
                if added.is_ok() {
                    added = receiving.add(piece);
                }
            })
            .map_err(damaged)?
            .ok_or_else(missing)?;
        added
            .and_then(|()| receiving.finish())
            .map_err(Problem::internal)
    }
}

pub(crate) fn no_such_entry() -> Problem {
    let detail = "the catalog has no package of this id";
    Problem::new(ProblemCode::NoSuchEntry, detail)
}

/// The id of a release: other bytes are another release.
fn id(sha256: &str) -> String {
    sha256.chars().take(32).collect()
}

/// The version of a release as it is kept.
fn version_key(record: &IndexRecord) -> String {
    releases::key(&record.version)
}
