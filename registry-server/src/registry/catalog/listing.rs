//! Writing the rows of releases.

use pkgres_manifest::IndexRecord;
use pkgres_registry_client::protocol::Digest;

use super::{id, version_key};
use crate::blobs::{Blobs, Incoming};
use crate::database::{self, Database, Transaction};
use crate::problem::Problem;
use crate::publish::{self, Listing};
use crate::registry::Settings;
use crate::store::catalog::{self, CatalogRow};

/// Writes the row of a release that is new.
pub(crate) fn list(
    transaction: &mut dyn Transaction,
    record: &IndexRecord,
    listing: &Listing,
    owner: &str,
) -> database::Result<()> {
    let sha256 = record
        .digest
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    let published = record.published.clone().unwrap_or_default();
    catalog::add(
        transaction,
        &CatalogRow {
            id: id(&sha256),
            package: record.name.to_string(),
            version: version_key(record),
            name: listing.name.clone(),
            kind: listing.kind.to_owned(),
            author: listing.author.clone(),
            description: listing.description.clone(),
            tags: listing.tags.clone(),
            categories: listing.categories.clone(),
            is_public: listing.is_public,
            enabled: listing.enabled,
            owner: owner.to_owned(),
            created: published.clone(),
            updated: published,
            record: String::new(),
            sha256,
        },
    )
}

/// Writes the rows of releases that were published before there was a catalog, from their
/// archives.
pub(crate) fn complete(
    database: &Database,
    blobs: &Blobs,
    incoming: &Incoming,
    settings: &Settings,
) -> Result<(), Problem> {
    let missing = database.read(|transaction| catalog::missing(transaction))?;
    for release in missing {
        let digest = Digest::parse(&release.sha256)?;
        let gone = || Problem::internal(format!("the artifact {digest} is missing"));
        let bytes = blobs.get(&digest, incoming).map_err(Problem::unavailable)?;
        let archive = bytes.ok_or_else(gone)?;
        let candidate = publish::candidate(None, &archive, &settings.read)?;
        let record = IndexRecord::parse_line(&release.record, &settings.read.limits)
            .map_err(Problem::internal)?;
        database.write(|transaction| {
            // Another node may do the same at the same time.
            if catalog::of_release(transaction, &record.name, &record.version)?.is_none() {
                let record = IndexRecord {
                    published: Some(release.published.clone()),
                    ..record.clone()
                };
                list(transaction, &record, &candidate.listing, &release.owner)?;
            }
            Ok::<_, Problem>(())
        })?;
    }
    Ok(())
}
