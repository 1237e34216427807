//! The errors of registries.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{PackageName, RegistryName};
use pkgres_resolver::ProvideError;

use crate::namespace::Namespace;
use crate::registry_title::titled;

/// The error of a registry that cannot answer. An absent package is not an error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RegistryError {
    /// The registry could not be read at all.
    Unreachable {
        /// The registry.
        registry: RegistryName,
        /// The cause.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The registry was read, and holds or answers something that is not valid.
    Invalid(Box<Diagnostic>),
    /// A request to the registry failed.
    Request {
        /// The registry.
        registry: RegistryName,
        /// The kind of the error.
        kind: RequestErrorKind,
        /// The error as a finding.
        finding: Box<Diagnostic>,
        /// Whether a run that uses only the cache may succeed.
        cache_may_help: bool,
        /// The error of the network or of the HTTP library behind it, if there is one.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// The call was dropped before a registry could answer: the program ends, or no thread could be started.
    Interrupted,
    /// A registry answered with something that the solver cannot use.
    Unusable(ProvideError),
    /// A registry returned answers for a different number of packages than it was asked for, so nobody knows which
    /// answer is about which package.
    WrongLength {
        /// The registry.
        registry: RegistryName,
        /// The number of names.
        asked: usize,
        /// The number of answers.
        answered: usize,
    },
    /// The solver still needs these packages after all registries have answered.
    Unanswered(Vec<PackageName>),
    /// A package is bound to a registry that is not in the set. Another registry must not take its place.
    LeftOut {
        /// The package.
        package: PackageName,
        /// The namespace that binds it.
        namespace: Namespace,
        /// The registry that it is bound to.
        registry: RegistryName,
    },
}

/// The kind of the error of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestErrorKind {
    /// The registry cannot be reached, or its answer cannot be used.
    Failed,
    /// The answer is a web page, or leads to another server, as those of networks that require a login do.
    Intercepted,
    /// The registry rejected the request.
    Rejected,
    /// There are no credentials, or they are not accepted: other ones would help.
    Unauthorized,
    /// The credentials are accepted, and do not permit this.
    Insufficient,
    /// Access is denied, and a token from `pkgres login` would not help.
    Denied,
}

impl RequestErrorKind {
    /// Whether the registry refused access, or something between refused it.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::Intercepted | Self::Unauthorized | Self::Insufficient | Self::Denied
        )
    }
}

/// The hint for a registry that cannot be reached.
const OFFLINE_HINT: &str = "`--offline` uses only what is in the cache";

/// The hint for a registry that failed, and whose answer no cache has.
pub(crate) const LATER_HINT: &str = "try again later, or ask the operator of the registry";

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { registry, source } => {
                write!(formatter, "{} cannot be read: {source}", titled(registry))
            }
            Self::Invalid(finding) | Self::Request { finding, .. } => finding.fmt(formatter),
            Self::Interrupted => {
                formatter.write_str("no registry was read: the call was dropped before it ran")
            }
            Self::Unusable(error) => write!(
                formatter,
                "a registry gave an answer that cannot be used: {error}"
            ),
            Self::WrongLength {
                registry,
                asked,
                answered,
            } => {
                let title = titled(registry);
                write!(
                    formatter,
                    "{title} gave {answered} answers instead of {asked}"
                )
            }
            Self::Unanswered(packages) => {
                write!(
                    formatter,
                    "the registries answered nothing for {}",
                    names(packages)
                )
            }
            Self::LeftOut {
                package, registry, ..
            } => write!(
                formatter,
                "`{package}` is bound to the registry `{registry}`, which is not among the registries of this run"
            ),
        }
    }
}

// It can be cloned, so the causes are shared, which `thiserror` cannot read.
impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { source, .. } => Some(source.as_ref()),
            Self::Request { source, .. } => match source {
                Some(source) => Some(source.as_ref()),
                None => None,
            },
            Self::Unusable(error) => Some(error),
            Self::Invalid(_)
            | Self::Interrupted
            | Self::WrongLength { .. }
            | Self::Unanswered(_)
            | Self::LeftOut { .. } => None,
        }
    }
}

/// Two errors are equal if they say the same: causes cannot be compared.
impl PartialEq for RegistryError {
    fn eq(&self, other: &Self) -> bool {
        self.to_diagnostic() == other.to_diagnostic()
    }
}

impl Eq for RegistryError {}

impl From<ProvideError> for RegistryError {
    fn from(error: ProvideError) -> Self {
        Self::Unusable(error)
    }
}

fn names(packages: &[PackageName]) -> String {
    let names: Vec<String> = packages.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

impl RegistryError {
    /// The error of a registry that could not be read at all, with its cause: another error or a string.
    pub fn unreachable(
        registry: RegistryName,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Unreachable {
            registry,
            source: Arc::from(cause.into()),
        }
    }

    /// The error of a registry of which a file or folder could not be read; the path is as messages show it.
    #[cfg(feature = "index")]
    pub(crate) fn unreachable_at(
        registry: &RegistryName,
        path: String,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let source = cause.into();
        Self::unreachable(registry.clone(), FailedAt { path, source })
    }

    /// The error as a finding.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Self::Unreachable { .. }
            | Self::Interrupted
            | Self::Unusable(_)
            | Self::WrongLength { .. }
            | Self::Unanswered(_) => Diagnostic::error(Code::RegistryUnreachable, self.to_string()),
            Self::LeftOut {
                namespace,
                registry,
                ..
            } => Diagnostic::error(Code::Usage, self.to_string()).hint(format!(
                "`namespaces` of `registries.{registry}` has `{namespace}`; name that registry, too, or another one in its place: `{registry}=LOCATION`"
            )),
            Self::Request {
                finding,
                cache_may_help: true,
                ..
            } => finding.as_ref().clone().hint(OFFLINE_HINT),
            Self::Invalid(finding) | Self::Request { finding, .. } => finding.as_ref().clone(),
        }
    }

    /// The same error of an operation for which a cache cannot help, such as publishing.
    #[must_use]
    pub fn without_cache(mut self) -> Self {
        if let Self::Request {
            finding,
            cache_may_help,
            ..
        } = &mut self
            && std::mem::take(cache_may_help)
            && finding.hints.is_empty()
        {
            finding.hints.push(LATER_HINT.to_owned());
        }
        self
    }
}

impl From<Diagnostic> for RegistryError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(Box::new(diagnostic))
    }
}

/// The error of a file or folder of a registry.
#[cfg(feature = "index")]
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
struct FailedAt {
    path: String,
    source: Box<dyn Error + Send + Sync>,
}
