//! Finds out whether artifacts and a data folder belong to the registry in the database.
//!
//! Artifacts without a release are removed. With the database of another registry, that would be all of them. So the
//! identity of the registry is also written beside the artifacts and into the data folder, and compared.

use std::path::Path;
use std::time::SystemTime;

use super::open_error::OpenError;
use crate::blobs::{BlobError, Blobs, MARK, read_mark, write_mark};
use crate::database::Database;
use crate::problem::Problem;
use crate::store::{facts, releases, tokens};

/// The file with the first token, which `pkgres serve` writes into the data folder.
const TOKEN_FILE: &str = "admin-token";

/// An error if there are artifacts for a database that would be created.
pub(super) fn check_without_database(blobs: &Blobs, database: &Path) -> Result<(), OpenError> {
    if blobs.owner()?.is_some() || !is_empty(blobs)? {
        let reason = format!(
            "{} belongs to a registry, but its database {} is missing",
            blobs.mark_place(),
            database.display()
        );
        return Err(OpenError::Foreign(reason));
    }
    Ok(())
}

/// An error if the artifacts or the data folder belong to another registry, or if the artifacts of this one are
/// elsewhere. Marks those that have no mark, if they are known to belong to this one.
pub(super) fn claim(
    data: &Path,
    blobs: &Blobs,
    database: &Database,
    identity: &str,
) -> Result<(), OpenError> {
    // Nothing is marked before everything is compared.
    let file = data.join(MARK);
    let of_data = read_mark(&file)?;
    // The mark is there before the database knows of it.
    let is_marked = database.read(facts::has_artifacts)?;
    let of_blobs = blobs.owner()?;
    compare(&file.display().to_string(), of_data.as_deref(), identity)?;
    compare(&blobs.mark_place(), of_blobs.as_deref(), identity)?;
    let (has_releases, has_tokens) = database.read(|transaction| {
        let has_releases = releases::is_any(transaction)?;
        Ok::<_, Problem>((has_releases, !tokens::is_empty(transaction)?))
    })?;
    if of_blobs.is_none() {
        let place = blobs.mark_place();
        match (has_releases, is_empty(blobs)?) {
            (false, false) => {
                return Err(OpenError::Foreign(format!(
                    "there are archives beside {place}, but the database has no releases"
                )));
            }
            // Another folder or bucket than before: no release could be downloaded.
            (true, true) => {
                return Err(OpenError::NoArchives(format!(
                    "the database has releases, but there are no archives beside {place}"
                )));
            }
            // Others have archives elsewhere: neither could download what the other publishes.
            (false, true) if is_marked => return Err(kept_elsewhere(blobs, identity)),
            _ => {}
        }
    }
    if of_data.is_none() && !has_tokens && data.join(TOKEN_FILE).exists() {
        return Err(OpenError::Foreign(format!(
            "{} has the {TOKEN_FILE} of a registry, but the database has no tokens",
            data.display()
        )));
    }
    if of_blobs.is_none() || !is_marked {
        // Nodes that start at once come one after the other here.
        database.write(|transaction| {
            if !is_marked && facts::has_artifacts(transaction)? && blobs.owner()?.is_none() {
                return Err(kept_elsewhere(blobs, identity));
            }
            if of_blobs.is_none() {
                blobs.mark(identity)?;
                // Another registry may have been faster.
                compare(&blobs.mark_place(), blobs.owner()?.as_deref(), identity)?;
            }
            facts::remember_artifacts(transaction)?;
            Ok::<_, OpenError>(())
        })?;
    }
    if of_data.is_none() {
        write_mark(&file, identity)?;
    }
    Ok(())
}

/// The error about artifacts that have no mark, although those of the database have one.
fn kept_elsewhere(blobs: &Blobs, identity: &str) -> OpenError {
    let place = blobs.mark_place();
    OpenError::NoArchives(format!(
        "the archives of this database were kept elsewhere before: {place} does not exist. To keep them here from now \
         on, write `{identity}` into it"
    ))
}

/// An error if a mark names another registry.
fn compare(place: &str, found: Option<&str>, identity: &str) -> Result<(), OpenError> {
    match found {
        Some(found) if found != identity => Err(OpenError::Foreign(format!(
            "{place} names the registry {found}, but the database is that of {identity}"
        ))),
        _ => Ok(()),
    }
}

/// Whether there are no artifacts: each is at least zero seconds old at any time.
fn is_empty(blobs: &Blobs) -> Result<bool, BlobError> {
    Ok(blobs.older_than(0, SystemTime::UNIX_EPOCH)?.is_empty())
}
