//! Problems: the errors of all operations, with one code for each condition.
//!
//! A [`Problem`] has a detail for the client, and may have a cause, which is for the log alone: it may
//! show how the server is built. HTTP turns the code into a status; see RFC 9457 for the idea.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use pkgres_registry_client::protocol::Malformed;

use crate::database::{BoxError, DatabaseError};

macro_rules! codes {
    ($($(#[$documentation:meta])* $name:ident = $status:literal $text:literal,)*) => {
        /// The condition of a problem. Codes are never renamed or reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProblemCode {
            $($(#[$documentation])* $name,)*
        }

        impl ProblemCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as responses have it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The status of responses with this code.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

/// Whether an error, or one of its causes, is that there is no space to write files, or that they can only be read.
fn is_unwritable(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind;

    let mut next = Some(error);
    while let Some(error) = next {
        let io = error.downcast_ref::<std::io::Error>();
        let is_full = io.is_some_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem
            )
        });
        if is_full {
            return true;
        }
        next = error.source();
    }
    false
}

codes! {
    /// No route has the path.
    NoSuchAddress = 404 "pkgres.no_such_address",
    /// There is no package with the name.
    NoSuchPackage = 404 "pkgres.no_such_package",
    /// The package has no such version.
    NoSuchVersion = 404 "pkgres.no_such_version",
    /// No release defines the class.
    NoSuchClass = 404 "pkgres.no_such_class",
    /// No release defines the interface.
    NoSuchInterface = 404 "pkgres.no_such_interface",
    /// There is no artifact with the digest.
    NoSuchBlob = 404 "pkgres.no_such_blob",
    /// The catalog has no release with the id, or the release has no such file.
    NoSuchEntry = 404 "pkgres.no_such_entry",
    /// There is no category with the id.
    NoSuchCategory = 404 "pkgres.no_such_category",
    /// There is no bundle with the name.
    NoSuchBundle = 404 "pkgres.no_such_bundle",
    /// There is no token with the id.
    NoSuchToken = 404 "pkgres.no_such_token",
    /// The path does not support the method.
    MethodNotAllowed = 405 "pkgres.method_not_allowed",
    /// The response has none of the media types that the client accepts.
    NotAcceptable = 406 "pkgres.not_acceptable",
    /// The microversion is not a version of the form `X.Y`.
    MicroversionInvalid = 400 "pkgres.microversion_invalid",
    /// The server does not support the microversion.
    MicroversionUnknown = 406 "pkgres.microversion_unknown",
    /// The body has a different media type than the path expects.
    MediaTypeUnsupported = 415 "pkgres.media_type_unsupported",
    /// A header is invalid.
    HeaderInvalid = 400 "pkgres.header_invalid",
    /// The path is not well formed.
    AddressInvalid = 400 "pkgres.address_invalid",
    /// A parameter of the query is unknown, repeated or invalid.
    QueryInvalid = 400 "pkgres.query_invalid",
    /// The body is invalid.
    BodyInvalid = 400 "pkgres.body_invalid",
    /// The body ended early.
    BodyIncomplete = 400 "pkgres.body_incomplete",
    /// The body did not arrive in time.
    BodyTooSlow = 408 "pkgres.body_too_slow",
    /// The body is larger than the limit.
    BodyTooLarge = 413 "pkgres.body_too_large",
    /// A precondition of the request does not hold.
    PreconditionFailed = 412 "pkgres.precondition_failed",
    /// The range lies outside of the artifact.
    RangeNotSatisfiable = 416 "pkgres.range_not_satisfiable",
    /// The name in the path is invalid.
    NameInvalid = 400 "pkgres.name_invalid",
    /// The version in the path is invalid.
    VersionInvalid = 400 "pkgres.version_invalid",
    /// The archive or the package in it is invalid.
    PackageInvalid = 400 "pkgres.package_invalid",
    /// The archive is another release than that of the path.
    ReleaseMismatch = 400 "pkgres.release_mismatch",
    /// The release was published with other bytes.
    VersionExists = 409 "pkgres.version_exists",
    /// There is a package whose name differs only in case.
    NameTaken = 409 "pkgres.name_taken",
    /// There is a category with the name.
    CategoryExists = 409 "pkgres.category_exists",
    /// The requirements of the release cannot be satisfied from the registry.
    Unsatisfiable = 409 "pkgres.unsatisfiable",
    /// The package has changed since the client read its generation.
    ConcurrentUpdate = 409 "pkgres.concurrent_update",
    /// The request needs a valid token.
    Unauthorized = 401 "pkgres.unauthorized",
    /// The token does not permit this.
    Forbidden = 403 "pkgres.forbidden",
    /// The package has different owners.
    NotOwner = 403 "pkgres.not_owner",
    /// The category still has releases.
    CategoryInUse = 403 "pkgres.category_in_use",
    /// The value cannot be changed, or not in this way.
    NotChangeable = 403 "pkgres.not_changeable",
    /// The body has a transfer coding other than chunked.
    TransferCodingUnsupported = 501 "pkgres.transfer_coding_unsupported",
    /// The server failed; the log has the cause.
    Internal = 500 "pkgres.internal",
    /// The database or the artifacts cannot be reached now.
    Unavailable = 503 "pkgres.unavailable",
}

/// The error of an operation.
///
/// `{}` shows the code and the detail, `{:#}` the cause as well. The cause is the
/// [source](Error::source).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The condition.
    pub code: ProblemCode,
    /// The message for the client.
    pub detail: String,
    /// What the client can do about it.
    pub hints: Vec<String>,
    /// The cause, only for the log.
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
    /// The length of the artifact, in bytes, if the problem is a range outside of it.
    pub length: Option<u64>,
}

impl Problem {
    /// A problem that the client can understand and solve.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            hints: Vec::new(),
            cause: None,
            length: None,
        }
    }

    /// A failure of the server. The cause goes to the log, not into the response.
    ///
    /// A full or read-only disk is not the fault of the program, and passes: it is
    /// [`Unavailable`](ProblemCode::Unavailable).
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        if is_unwritable(&*cause) {
            return Self::unavailable(cause);
        }
        let detail = "the server failed; its log says why under the request id";
        Self::new(ProblemCode::Internal, detail).with_cause(cause)
    }

    /// The database or the artifacts cannot be reached. The cause goes to the log, not into the
    /// response.
    pub fn unavailable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "the server cannot reach its data at the moment; try again";
        Self::new(ProblemCode::Unavailable, detail).with_cause(cause)
    }

    /// This problem with a cause for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause: BoxError = cause.into();
        self.cause = Some(Arc::from(cause));
        self
    }
}

/// Problems are equal if their messages are equal.
impl PartialEq for Problem {
    fn eq(&self, other: &Self) -> bool {
        let cause = |problem: &Self| problem.cause.as_ref().map(ToString::to_string);
        (self.code, &self.detail, &self.hints, self.length)
            == (other.code, &other.detail, &other.hints, other.length)
            && cause(self) == cause(other)
    }
}

impl Eq for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.as_str(), self.detail)?;
        match &self.cause {
            Some(cause) if formatter.alternate() => write!(formatter, " ({cause})"),
            _ => Ok(()),
        }
    }
}

impl Error for Problem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}

impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unreachable(_)
            | DatabaseError::Unwritable(_)
            | DatabaseError::NoTls
            | DatabaseError::Untrusted(_) => Self::unavailable(error),
            // No text of this program has one: it comes from the client.
            DatabaseError::Nul => Self::new(ProblemCode::BodyInvalid, error.to_string()),
            _ => Self::internal(error),
        }
    }
}

/// This program wrote what it reads from the data: if that is malformed, the client is not at fault.
impl From<Malformed> for Problem {
    fn from(error: Malformed) -> Self {
        Self::internal(error)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_condition_has_its_own_code() {
        let texts: BTreeSet<&str> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), ProblemCode::ALL.len());
        assert!(texts.iter().all(|text| text.starts_with("pkgres.")));
    }

    #[test]
    fn data_that_can_only_be_read_are_unavailable() {
        let problem = Problem::from(DatabaseError::Unwritable("the disk is full".into()));
        assert_eq!(problem.code, ProblemCode::Unavailable);
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(Problem::internal(full).code, ProblemCode::Unavailable);
        let problem = Problem::from(DatabaseError::failed("no such table"));
        assert_eq!(problem.code, ProblemCode::Internal);
    }

    #[test]
    fn the_cause_is_the_source_and_not_for_clients() {
        let problem = Problem::unavailable(DatabaseError::Nul);
        let source = problem.source().expect("the cause");
        assert!(source.is::<DatabaseError>());
        assert!(!problem.to_string().contains("U+0000"));
        assert!(format!("{problem:#}").contains("U+0000"));
    }
}
