//! Adds published releases to the catalog.

use pkgres_manifest::IndexRecord;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_registry_client::protocol::Digest;

use crate::candidate::Listing;
use crate::database::{self, Transaction};
use crate::problem::{Problem, ProblemCode};
use crate::store::catalog::{self, CatalogRow};
use crate::store::{groups, version_key};

/// Adds the row of a release.
pub(super) fn add(
    transaction: &mut dyn Transaction,
    record: &IndexRecord,
    digest: &Digest,
    listing: &Listing,
    owner: &str,
) -> database::Result<()> {
    let sha256 = digest.to_string();
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
