//! Writes archives that are the same for the same files.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

use crate::diagnostic::Diagnostic;
use crate::package_path::PackagePath;
use crate::read_options::Limits;

use super::{broken, check_contents, equal_names, list};

/// The level of compression. It is fixed, so that the same files give the same bytes.
const LEVEL: i64 = 6;

/// Returns an archive of files, each with its path, whether it is executable, and its content.
///
/// The same files give the same bytes, in whatever order they come, and
/// [`Archive::open`](super::Archive::open) accepts them with the same limits.
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
    let bytes = write(&sorted)
        .map_err(|error| broken(format!("the archive cannot be written: {error}")))?;
    check_contents(&bytes, &list(&bytes, limits)?)?;
    Ok(bytes)
}

fn write(files: &[(PackagePath, bool, Vec<u8>)]) -> zip::result::ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, executable, content) in files {
        // Every option that would otherwise depend on the machine.
        let options = SimpleFileOptions::default()
            .system(System::Unix)
            .last_modified_time(DateTime::default())
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .unix_permissions(if *executable { 0o755 } else { 0o644 });
        writer.start_file(path.as_str(), options)?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
