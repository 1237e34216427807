//! The mark that says to which registry files or objects belong.

use std::path::Path;

use pkgres_files::{RealFileSystem, write_file};

use super::content::BlobError;

/// The name of the file or object with the identity of the registry.
pub(crate) const MARK: &str = "registry-id";

/// The identity in a file; none if there is no file.
pub(crate) fn read_mark(path: &Path) -> Result<Option<String>, BlobError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BlobError::failed(path.display().to_string(), error)),
    }
}

/// Writes the identity of a registry into a file.
pub(crate) fn write_mark(path: &Path, registry: &str) -> Result<(), BlobError> {
    let text = format!("{registry}\n");
    Ok(write_file(&RealFileSystem, path, text.as_bytes())?)
}
