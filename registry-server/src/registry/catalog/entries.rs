//! Releases of the catalog: uploads, reads and changes them, and reads files from their archives.

use bytes::Bytes;
use pkgres_manifest::diagnostic::Located;
use pkgres_manifest::{IndexRecord, PackageName, PackagePath};
use pkgres_registry_client::protocol::Digest;

use crate::access::{Principal, Scope};
use crate::candidate::{self, Details};
use crate::problem::{Problem, ProblemCode};
use crate::registry::access_checks::{no_such_entry, require_owner, why_hidden};
use crate::registry::add_to_catalog::check_categories;
use crate::registry::backend::RegistryBackend;
use crate::registry::contents::{damaged, lost, usual};
use crate::registry::publish::{Published, RequirementCheck};
use crate::store::catalog::{self, CatalogRow};

/// A release of the catalog.
#[derive(Debug)]
pub(crate) struct CatalogEntry {
    pub(crate) row: CatalogRow,
    pub(crate) record: IndexRecord,
}

/// The values that an upload sets; for other values, the catalog has the manifest.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) categories: Vec<String>,
    pub(crate) is_public: bool,
    pub(crate) enabled: bool,
}

/// A file of an archive that the catalog serves on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CatalogPart {
    Form,
    Logo,
    SupplierLogo,
}

/// The limit of the name of a release in the catalog, in characters.
pub(crate) const MAX_NAME: usize = 80;

impl RegistryBackend {
    /// Publishes the release of an archive. Unlike [`publish`](Self::publish), this is an error if the
    /// registry has the release already.
    pub(crate) fn upload(
        &self,
        principal: &Principal,
        archive: &Bytes,
        upload: Upload,
    ) -> Result<CatalogEntry, Problem> {
        principal.require(Scope::Publish)?;
        let (candidate, mut listing) = candidate::check_archive(None, archive, &self.options.read)?;
        let (name, version) = (
            candidate.record.name.clone(),
            candidate.record.version.clone(),
        );
        principal.require_for(Scope::Publish, &name)?;
        if let Some(name) = upload.name {
            listing.name = name;
        }
        if let Some(description) = upload.description {
            listing.description = description;
        }
        for tag in upload.tags.into_iter().flatten() {
            if !listing.tags.contains(&tag) {
                listing.tags.push(tag);
            }
        }
        let length = listing.name.chars().count();
        if length > MAX_NAME {
            let detail = format!("the name has {length} characters, and may have {MAX_NAME}");
            return Err(Problem::new(ProblemCode::PackageInvalid, detail));
        }
        listing.categories = upload.categories;
        listing.is_public = upload.is_public;
        listing.enabled = upload.enabled;
        let details = Details::Listing(&listing);
        let check = RequirementCheck::Required;
        match self.publish_candidate(principal, &candidate, details, archive, check)? {
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

    /// The release with an id, if the principal may see it.
    pub(crate) fn catalog_entry(
        &self,
        principal: Option<&Principal>,
        id: &str,
    ) -> Result<CatalogEntry, Problem> {
        let row = self.database.read(|transaction| {
            let row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
            match why_hidden(transaction, principal, &name, row.is_public)? {
                Some(problem) => Err(problem),
                None => Ok(row),
            }
        })?;
        self.entry(row)
    }

    pub(super) fn entry(&self, row: CatalogRow) -> Result<CatalogEntry, Problem> {
        let limits = &self.options.read.limits;
        let record = IndexRecord::parse_line(&row.record, limits).map_err(Problem::internal)?;
        Ok(CatalogEntry { row, record })
    }

    /// A file out of the archive of a release: at the path in the manifest, or else at the usual path.
    /// Only the manifest and this file are unpacked, because anonymous users can request it.
    pub(crate) fn catalog_part(
        &self,
        entry: &CatalogEntry,
        part: CatalogPart,
    ) -> Result<Bytes, Problem> {
        let digest = Digest::parse(&entry.row.sha256)?;
        let (package, version) = (&entry.row.package, &entry.row.version);
        let stored = self.stored_archive(&digest, package, version)?;
        let stored = stored.ok_or_else(|| lost(package, version, &digest))?;
        let manifest = self.stored_manifest(&stored)?;
        let path = match part {
            CatalogPart::Form => named_or(manifest.ui, "ui.yaml")
                .below("UI")
                .map_err(|error| Problem::internal(error.to_string()))?,
            CatalogPart::Logo => named_or(manifest.logo, "logo.png"),
            CatalogPart::SupplierLogo => named_or(manifest.supplier_logo, "supplier_logo.png"),
        };
        let missing = || {
            let detail = format!("{} has no {path}", stored.shown());
            Problem::new(ProblemCode::NoSuchEntry, detail)
        };
        let mut receiving = self.incoming.receive();
        let mut added = Ok(());
        stored
            .files()
            .unpack(&path, |piece| {
                if added.is_ok() {
                    added = receiving.add(piece);
                }
            })
            .map_err(|error| damaged(&error))?
            .ok_or_else(missing)?;
        added
            .and_then(|()| receiving.finish())
            .map_err(Problem::internal)
    }

    /// Changes the row of a release: all changes are made, or none. The index stays as it is.
    pub(crate) fn change_entry(
        &self,
        principal: &Principal,
        id: &str,
        change: EntryChange<'_>,
    ) -> Result<CatalogEntry, Problem> {
        let row = self.database.write(|transaction| {
            let mut row = catalog::get(transaction, id)?.ok_or_else(no_such_entry)?;
            let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
            principal.require_for(Scope::Publish, &name)?;
            require_owner(transaction, principal, &name)?;
            change(&mut row)?;
            check_categories(transaction, &row.categories)?;
            row.updated = self.environment.now().to_string();
            catalog::update(transaction, &row)?;
            Ok::<_, Problem>(row)
        })?;
        self.entry(row)
    }
}

/// Changes a row, or returns why it cannot be changed.
type EntryChange<'a> = &'a dyn Fn(&mut CatalogRow) -> Result<(), Problem>;

/// The path that a manifest names, or else the usual one.
fn named_or(named: Option<Located<PackagePath>>, usual_name: &str) -> PackagePath {
    named.map_or_else(|| usual(usual_name), |named| named.value)
}
