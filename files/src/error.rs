//! What can go wrong with a file.

use std::io;
use std::path::PathBuf;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

/// An operation on a file failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("{} {}: {source}", .action, Escaped::new(&.path.to_string_lossy()))]
    System {
        /// What was tried, such as "cannot read".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// There is something at the path that is not what is needed there.
    #[error("{}: {reason}", Escaped::new(&.path.to_string_lossy()))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why it is left alone.
        reason: String,
    },
    /// The file is larger than what is read.
    #[error("{}: more than the limit of {limit} bytes", Escaped::new(&.path.to_string_lossy()))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many bytes it may have.
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

    pub(crate) fn refused(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self::Refused {
            path: path.into(),
            reason: reason.into(),
        }
    }

    /// Whether there is no such file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the file is there and larger than what is read.
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
