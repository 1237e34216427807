//! Reads the files of a collection, each up to a size.

use pkgres_manifest::diagnostic::{Code, Diagnostic};

use super::python::MAX_MODULE_BYTES;
use crate::lookup::FileTree;
use crate::references::somewhere_in;

/// The size up to which modules are read, in bytes.
pub(super) const MODULE_LIMIT: u64 = MAX_MODULE_BYTES as u64;

/// The content of a file of a collection; `None`, with a warning, if it is too large. ansible-core loads the other files
/// all the same.
pub(super) fn read_or_skip(
    tree: &dyn FileTree,
    path: &str,
    shown: &str,
    limit: u64,
    findings: &mut Vec<Diagnostic>,
) -> Result<Option<Vec<u8>>, Diagnostic> {
    match tree.read(path, limit) {
        Ok(bytes) => Ok(Some(bytes.unwrap_or_default())),
        Err(error) if error.code == Code::Limit => {
            let message = format!("the file is not read: it has more than {limit} bytes");
            let finding = Diagnostic::warning(Code::BrokenPackage, message);
            findings.push(finding.at(somewhere_in(shown)));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
