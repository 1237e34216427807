//! Reads files with known violations of interfaces.

use std::path::Path;

use pkgres_checks::Baseline;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::ReadOptions;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::failure::{Failure, Result};

/// Reads the known violations that a user gave with `--baseline`.
pub(crate) fn read_baseline(file: &Path, options: &ReadOptions) -> Result<Baseline> {
    let bytes = read_file(file, options.limits.lock_bytes, Follow::Links)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("{} is not UTF-8", Escaped::path(file));
        Diagnostic::error(Code::Encoding, message)
    })?;
    Baseline::read(&file.to_string_lossy(), &text).map_err(Failure::from)
}
