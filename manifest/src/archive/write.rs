//! Writes archives that are the same for the same files.

use std::collections::HashSet;
use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::diagnostic::Diagnostic;
use crate::package_path::PackagePath;
use crate::read_options::Limits;

use super::central_directory::CentralDirectory;
use super::{broken, check_contents, equal_names, list, smallest_archive};

/// The level of compression. It is fixed, so that the same files give the same bytes.
const LEVEL: i64 = 6;

/// A file of an archive: its path, whether it is executable, and its content.
type File = (PackagePath, bool, Vec<u8>);

/// Returns an archive of files, each with its path, whether it is executable, and its content.
///
/// The same files give the same bytes, in whatever order they come, and
/// [`Archive::open`](super::Archive::open) accepts them with the same limits: files that would be compressed too much are
/// stored.
pub fn write_archive(
    files: impl IntoIterator<Item = (PackagePath, bool, Vec<u8>)>,
    limits: &Limits,
) -> Result<Vec<u8>, Diagnostic> {
    let mut sorted = Vec::new();
    let mut unpacked = 0_u64;
    for file in files {
        // The other limits are checked on the finished archive.
        if sorted.len() as u64 >= limits.archive_entries {
            let limit = limits.archive_entries;
            return Err(Limits::exceeded("entries in an archive", limit));
        }
        unpacked = unpacked.saturating_add(file.2.len() as u64);
        if unpacked > limits.unpacked_bytes {
            let limit = limits.unpacked_bytes;
            return Err(Limits::exceeded("bytes in the files of an archive", limit));
        }
        sorted.push(file);
    }
    sorted.sort_by(|one, two| one.0.cmp(&two.0));
    equal_names::check_distinct(sorted.iter().map(|(path, ..)| (path, false)))?;
    let failed = |error| broken(format!("the archive cannot be written: {error}"));
    let mut bytes = write(&sorted, &HashSet::new()).map_err(failed)?;
    if (bytes.len() as u64) < smallest_archive(unpacked, limits) {
        let stored = stored_files(&sorted, &bytes, unpacked, limits)?;
        bytes = write(&sorted, &stored).map_err(failed)?;
    }
    check_contents(&bytes, &list(&bytes, limits)?)?;
    Ok(bytes)
}

/// Chooses the files to store, so that an archive becomes as large as it has to be and hardly larger: small files come
/// first, and those without which it is large enough are left out again. `deflated` is the archive with all of them
/// compressed.
fn stored_files(
    files: &[File],
    deflated: &[u8],
    unpacked: u64,
    limits: &Limits,
) -> Result<HashSet<usize>, Diagnostic> {
    let entries = CentralDirectory::locate(deflated, limits)?.entries(deflated.len())?;
    // What storing a file adds to the archive. The order of the files decides between equals.
    let mut growths: Vec<(u64, usize)> = (files.iter().zip(&entries).enumerate())
        .map(|(at, ((_, _, content), entry))| {
            let growth = (content.len() as u64).saturating_sub(entry.packed_size as u64);
            (growth, at)
        })
        .collect();
    growths.sort_unstable();
    let smallest = smallest_archive(unpacked, limits);
    let mut size = deflated.len() as u64;
    let enough = growths.iter().position(|(growth, _)| {
        size += growth;
        size >= smallest
    });
    growths.truncate(enough.map_or(growths.len(), |last| last + 1));
    growths.retain(|(growth, _)| {
        let is_needed = size - growth < smallest;
        size -= if is_needed { 0 } else { *growth };
        is_needed
    });
    if size > limits.archive_bytes {
        // No archive can hold the files; the error names what is in the way.
        return Ok(HashSet::new());
    }
    Ok(growths.into_iter().map(|(_, at)| at).collect())
}

/// Writes an archive. `stored` has the places of the files that are not compressed.
fn write(files: &[File], stored: &HashSet<usize>) -> zip::result::ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (at, (path, executable, content)) in files.iter().enumerate() {
        // Every option that would otherwise depend on the machine.
        let options = SimpleFileOptions::default()
            .system(System::Unix)
            .last_modified_time(DateTime::default())
            .unix_permissions(if *executable { 0o755 } else { 0o644 });
        let options = if stored.contains(&at) {
            options.compression_method(CompressionMethod::Stored)
        } else {
            options
                .compression_method(CompressionMethod::Deflated)
                .compression_level(Some(LEVEL))
        };
        writer.start_file(path.as_str(), options)?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
