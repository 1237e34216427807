//! The errors of operations on files, with the path and the operation that failed.

use std::io;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

/// The error of an operation on a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system reports an error.
    #[error("{} {}: {source}", .action, Escaped::path(.path))]
    System {
        /// The action, such as "cannot read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is of the wrong kind, or must not be used.
    #[error("{}: {reason}", Escaped::path(.path))]
    Rejected {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is larger than the limit.
    #[error("{}: more than the limit of {limit} bytes", Escaped::path(.path))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
}

impl FileError {
    pub(crate) fn system(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::System {
            action,
            path,
            source,
        }
    }

    pub(crate) fn rejected(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Rejected {
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the file is larger than the limit.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// The error as a finding.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let code = if self.is_too_large() {
            Code::Limit
        } else {
            Code::File
        };
        Diagnostic::error(code, self.to_string())
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        error.to_diagnostic()
    }
}
