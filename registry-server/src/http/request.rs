//! Requests as handlers see them: checked against the table of routes.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, Version, read_json};

use super::query::Query;
use crate::access::Principal;
use crate::problem::{Problem, ProblemCode};

/// The header of a proxy with the path that it removed. Addresses in documents begin with it.
pub(super) const FORWARDED_PREFIX: &str = "x-forwarded-prefix";

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The values of the parameters of the path, in their order.
    pub(crate) parts: Vec<String>,
    pub(crate) query: Query,
    pub(crate) headers: Arc<HeaderMap>,
    pub(crate) body: Bytes,
    /// The principal, if the route authenticates requests.
    pub(crate) principal: Option<Principal>,
}

impl Request {
    /// A parameter of the path.
    pub(crate) fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }

    /// A parameter of the path that is the name of a package.
    pub(crate) fn package(&self, at: usize) -> Result<PackageName, Problem> {
        PackageName::parse(self.part(at))
            .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))
    }

    /// A parameter of the path that is a version.
    pub(crate) fn release_version(&self, at: usize) -> Result<Version, Problem> {
        Version::parse(self.part(at))
            .map_err(|error| Problem::new(ProblemCode::VersionInvalid, error.to_string()))
    }

    /// The principal. Only for routes that require a token.
    pub(crate) fn principal(&self) -> Result<&Principal, Problem> {
        self.principal.as_ref().ok_or_else(|| {
            Problem::internal("a handler uses a token that its route does not require")
        })
    }

    /// The body, as JSON of a type that rejects unknown keys.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Problem> {
        read_json(&self.body).map_err(|error| {
            let error = error.to_string();
            let detail = format!("the body is invalid: {}", Escaped::new(&error));
            Problem::new(ProblemCode::BodyInvalid, detail)
        })
    }
}
