//! A request as handlers see it: everything about it was checked that the table says.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, Version};

use super::query::Query;
use crate::access::Actor;
use crate::problem::{Problem, ProblemCode};

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    /// What stands for the parts in braces of the address, in their order.
    pub(crate) parts: Vec<String>,
    pub(crate) query: Query,
    pub(crate) headers: Arc<HeaderMap>,
    pub(crate) body: Bytes,
    /// Who asks, where the table says that this has to be known.
    pub(crate) actor: Option<Actor>,
}

impl Request {
    /// Part of the address.
    pub(crate) fn part(&self, at: usize) -> &str {
        self.parts.get(at).map_or("", String::as_str)
    }

    /// The part of the address that names a package.
    pub(crate) fn package(&self, at: usize) -> Result<PackageName, Problem> {
        PackageName::parse(self.part(at))
            .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))
    }

    /// The part of the address that is a version.
    pub(crate) fn release_version(&self, at: usize) -> Result<Version, Problem> {
        Version::parse(self.part(at))
            .map_err(|error| Problem::new(ProblemCode::VersionInvalid, error.to_string()))
    }

    /// Who asks. Only for handlers that nobody reaches without a token.
    pub(crate) fn actor(&self) -> Result<&Actor, Problem> {
        self.actor
            .as_ref()
            .ok_or_else(|| Problem::internal("a handler asks for a token that it does not demand"))
    }

    /// The body as JSON of a type that refuses what it does not know.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let error = error.to_string();
            let detail = format!(
                "the body is not what it should be: {}",
                Escaped::new(&error)
            );
            Problem::new(ProblemCode::BodyInvalid, detail)
        })
    }
}
