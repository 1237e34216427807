//! Adds published releases to the catalog.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{IndexRecord, ReadOptions};
use pkgres_registry_client::protocol::Digest;

use crate::blobs::{Blobs, Incoming};
use crate::candidate::{self, Listing};
use crate::database::{self, Database, Transaction};
use crate::problem::{Problem, ProblemCode};
use crate::store::catalog::{self, CatalogRow};
use crate::store::{collections, groups, releases, version_key};

/// Adds the row of a release.
pub(super) fn add(
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
            version: version_key(&record.version),
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

/// The id of a release, which other bytes do not share.
fn id(sha256: &str) -> String {
    sha256.chars().take(32).collect()
}

/// Adds the rows of releases that were published before there was a catalog, from their archives.
pub(super) fn add_missing(
    database: &Database,
    blobs: &Blobs,
    incoming: &Incoming,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let unlisted = database.read(|transaction| catalog::unlisted(transaction))?;
    for release in unlisted {
        let digest = Digest::parse(&release.sha256)?;
        let missing = || Problem::internal(format!("the artifact {digest} is missing"));
        let bytes = blobs.get(&digest, incoming).map_err(Problem::unavailable)?;
        let archive = bytes.ok_or_else(missing)?;
        let (_, listing) = candidate::check_archive(None, &archive, options)?;
        let record =
            IndexRecord::parse_line(&release.record, &options.limits).map_err(Problem::internal)?;
        database.write(|transaction| {
            // Another node may do the same at the same time.
            if catalog::of_release(transaction, &record.name, &record.version)?.is_none() {
                let record = IndexRecord {
                    published: Some(release.published.clone()),
                    ..record.clone()
                };
                add(transaction, &record, &listing, &release.owner)?;
            }
            Ok::<_, Problem>(())
        })?;
    }
    Ok(())
}

/// Adds the interfaces of packages that were published before interfaces had a table.
pub(super) fn add_missing_interfaces(
    database: &Database,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let packages = database.read(|transaction| releases::without_interfaces(transaction))?;
    for package in packages {
        database.write(|transaction| {
            let all = releases::all(transaction, &package, &options.limits)?;
            releases::derive_interfaces(transaction, &package, &all)
        })?;
    }
    Ok(())
}

/// Adds the contents, authors and tags of collections that were published before the registry searched them.
pub(super) fn add_missing_contents(
    database: &Database,
    options: &ReadOptions,
) -> Result<(), Problem> {
    let packages = database.read(|transaction| collections::unsearchable(transaction))?;
    for package in packages {
        database.write(|transaction| {
            let all = releases::all(transaction, &package, &options.limits)?;
            let records = all.iter().map(|release| &release.record);
            collections::derive_contents(transaction, &package, records)?;
            collections::add_authors_and_tags(transaction, &package)
        })?;
    }
    Ok(())
}

/// An error if there is no category with one of the names.
pub(super) fn check_categories(
    transaction: &mut dyn Transaction,
    names: &[String],
) -> Result<(), Problem> {
    if names.is_empty() {
        return Ok(());
    }
    let known = groups::categories(transaction)?;
    for name in names {
        if !known.iter().any(|category| category.name == *name) {
            let name = Escaped::shortened(name);
            let detail = format!("there is no category `{name}`");
            return Err(Problem::new(ProblemCode::BodyInvalid, detail));
        }
    }
    Ok(())
}
