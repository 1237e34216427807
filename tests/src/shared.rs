//! Test data that is not part of the repository.
//!
//! It is in the folder that `PKGRES_SHARED` names, by default `../shared`. If it is missing, the tests
//! that need it report that on stderr and pass, unless `PKGRES_REQUIRE_SHARED` is set.

use std::path::{Path, PathBuf};

use crate::skip;

/// The hostile inputs that are accepted although the shared data expects an error, with the reason.
pub const ACCEPTED: [(&str, &str); 5] = [
    (
        "class/name_missing",
        "a class without a name is the one that its file is listed for",
    ),
    (
        "manifest/require_empty_range.yaml",
        "a range that nothing matches is a warning",
    ),
    (
        "manifest/require_float.yaml",
        "specs are read as source text: 1.10 is 1.10",
    ),
    (
        "manifest/version_float_11.yaml",
        "versions are read as source text: 1.1 is 1.1.0",
    ),
    (
        "manifest/version_float_110.yaml",
        "versions are read as source text: 1.10 is 1.10.0",
    ),
];

/// The path of a file or folder of the shared data. Reports it and returns `None` if it is missing.
///
/// # Panics
///
/// If it is missing although `PKGRES_REQUIRE_SHARED` is set.
pub fn path(relative: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PKGRES_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let path = folder.join(relative);
    if path.exists() {
        return Some(path);
    }
    skip::without_data(&format!("{} is not there", path.display()));
    None
}
