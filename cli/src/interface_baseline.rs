//! Reads files with known violations of interfaces.

use std::path::Path;

use pkgres_checks::Baseline;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::ReadOptions;
use pkgres_manifest::diagnostic::{Code, Diagnostic};

use crate::failure::{Failure, Result};

/// Reads the known violations that a user gave with `--baseline`.
pub(crate) fn read_baseline(file: &Path, options: &ReadOptions) -> Result<Baseline> {
    let bytes = read_file(file, options.limits.lock_bytes, Follow::Links)?;
    let name = file.to_string_lossy();
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = format!("{name} is not UTF-8");
        Diagnostic::error(Code::Encoding, message)
    })?;
    Baseline::read(&name, &text).map_err(Failure::from)
}
