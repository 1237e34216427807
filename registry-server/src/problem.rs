//! Why a request is not answered: one code for each condition.

use std::fmt;

use pkgres_registry_client::protocol::Malformed;

use crate::database::DatabaseError;

macro_rules! codes {
    ($($(#[$documentation:meta])* $name:ident = $status:literal $text:literal,)*) => {
        /// The conditions that errors tell apart. Codes are never renamed or reused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProblemCode {
            $($(#[$documentation])* $name,)*
        }

        impl ProblemCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as it stands in answers.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The status of answers with this code.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

codes! {
    /// There is nothing at the address.
    NoSuchAddress = 404 "pkgres.no_such_address",
    /// There is no package of the name.
    NoSuchPackage = 404 "pkgres.no_such_package",
    /// The package has no such version.
    NoSuchVersion = 404 "pkgres.no_such_version",
    /// No release defines the class.
    NoSuchClass = 404 "pkgres.no_such_class",
    /// There is no artifact of the digest.
    NoSuchBlob = 404 "pkgres.no_such_blob",
    /// There is no release of the id in the catalog, or no such file in it.
    NoSuchEntry = 404 "pkgres.no_such_entry",
    /// There is no category of the id.
    NoSuchCategory = 404 "pkgres.no_such_category",
    /// There is no bundle of the name.
    NoSuchBundle = 404 "pkgres.no_such_bundle",
    /// There is no token of the number.
    NoSuchToken = 404 "pkgres.no_such_token",
    /// The address does not take the method.
    MethodNotAllowed = 405 "pkgres.method_not_allowed",
    /// The answer cannot have any of the media types that are accepted.
    NotAcceptable = 406 "pkgres.not_acceptable",
    /// The microversion is not a version.
    MicroversionInvalid = 400 "pkgres.microversion_invalid",
    /// The microversion is not one of those that are spoken.
    MicroversionUnknown = 406 "pkgres.microversion_unknown",
    /// The body has another media type than the address takes.
    MediaTypeUnsupported = 415 "pkgres.media_type_unsupported",
    /// A header makes no sense.
    HeaderInvalid = 400 "pkgres.header_invalid",
    /// The address is not well formed.
    AddressInvalid = 400 "pkgres.address_invalid",
    /// A parameter of the query is unknown, repeated or wrong.
    QueryInvalid = 400 "pkgres.query_invalid",
    /// The body is not what it should be.
    BodyInvalid = 400 "pkgres.body_invalid",
    /// The body did not arrive as a whole.
    BodyIncomplete = 400 "pkgres.body_incomplete",
    /// The body did not arrive in time.
    BodyTooSlow = 408 "pkgres.body_too_slow",
    /// The body is larger than the limit.
    BodyTooLarge = 413 "pkgres.body_too_large",
    /// The range lies outside of the artifact.
    RangeNotSatisfiable = 416 "pkgres.range_not_satisfiable",
    /// The name in the address is not a name.
    NameInvalid = 400 "pkgres.name_invalid",
    /// The version in the address is not a version.
    VersionInvalid = 400 "pkgres.version_invalid",
    /// The archive or the package in it cannot be used.
    PackageInvalid = 400 "pkgres.package_invalid",
    /// The archive holds another release than the address says.
    ReleaseMismatch = 400 "pkgres.release_mismatch",
    /// The release was published with other bytes.
    VersionExists = 409 "pkgres.version_exists",
    /// There is a package whose name differs in case alone.
    NameTaken = 409 "pkgres.name_taken",
    /// There is a category of the name.
    CategoryExists = 409 "pkgres.category_exists",
    /// The requirements of the release cannot be satisfied from the registry.
    Unsatisfiable = 409 "pkgres.unsatisfiable",
    /// The package was changed since its generation was read.
    ConcurrentUpdate = 409 "pkgres.concurrent_update",
    /// A token is needed, and there is none that is valid.
    Unauthorized = 401 "pkgres.unauthorized",
    /// The token may not do this.
    Forbidden = 403 "pkgres.forbidden",
    /// The package belongs to others.
    NotOwner = 403 "pkgres.not_owner",
    /// The category still has releases.
    CategoryInUse = 403 "pkgres.category_in_use",
    /// This cannot be changed, or not in this way.
    NotChangeable = 403 "pkgres.not_changeable",
    /// Something went wrong inside; the log says what.
    Internal = 500 "pkgres.internal",
    /// The database or the artifacts cannot be reached at the moment.
    Unavailable = 503 "pkgres.unavailable",
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The condition.
    pub code: ProblemCode,
    /// What is wrong, for whoever asked.
    pub detail: String,
    /// What is wrong, for the log alone: it may say how the server is built.
    pub cause: Option<String>,
    /// How many bytes the artifact has of which a range was asked for.
    pub length: Option<u64>,
}

impl Problem {
    /// A problem that whoever asked can see and mend.
    pub fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            cause: None,
            length: None,
        }
    }

    /// Something went wrong inside. `cause` goes to the log, not into the answer.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self {
            code: ProblemCode::Internal,
            detail: "the server failed; its log says why under the request id".to_owned(),
            cause: Some(cause.to_string()),
            length: None,
        }
    }

    /// Something that the server needs does not answer.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self {
            code: ProblemCode::Unavailable,
            detail: "the server cannot reach its data at the moment; try again".to_owned(),
            cause: Some(cause.to_string()),
            length: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.as_str(), self.detail)?;
        match &self.cause {
            Some(cause) => write!(formatter, " ({cause})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Unreachable(_) | DatabaseError::NoTls | DatabaseError::Untrusted(_) => {
                Self::unavailable(error)
            }
            // Nothing of this program has one: it came from whoever asks.
            DatabaseError::Nul => Self::new(ProblemCode::BodyInvalid, error.to_string()),
            _ => Self::internal(error),
        }
    }
}

/// What is read back from the data was written by this program: that it is malformed is no fault
/// of whoever asked.
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
}
