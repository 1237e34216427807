//! The service: answers HTTP requests for a registry.

use std::sync::Arc;
use std::time::Duration;

use pkgres_manifest::PackageName;
use serde_json::{Value, json};

use super::authenticate::Authenticator;
use super::metrics::Metrics;
use super::request_id::RequestIds;
use super::turn::Turns;
use crate::access::Principal;
use crate::index::Document;
use crate::registry::RegistryBackend;

/// The timeout of a body, unless the embedder sets another one.
const BODY_TIMEOUT: Duration = Duration::from_mins(1);

/// The code of the warning that a name is similar to another one.
const SIMILAR_NAME: &str = "pkgres.similar_name";

/// Answers HTTP requests for a registry.
pub struct Service {
    pub(super) registry: Arc<RegistryBackend>,
    pub(super) metrics: Metrics,
    pub(super) config: Document,
    /// The description of all routes, as `OpenAPI` 3.1.
    pub(super) description: Value,
    pub(super) authenticator: Authenticator,
    pub(super) request_ids: RequestIds,
    pub(super) turns: Turns,
    pub(super) body_timeout: Duration,
}

impl Service {
    /// A service with a description of its routes.
    pub(super) fn with_description(registry: Arc<RegistryBackend>, description: Value) -> Self {
        Self {
            config: Document::new(registry.config().to_json()),
            metrics: Metrics::new(),
            description,
            authenticator: Authenticator::default(),
            request_ids: RequestIds::new(registry.environment.random()),
            turns: Turns::default(),
            registry,
            body_timeout: BODY_TIMEOUT,
        }
    }

    /// This service with another timeout of the bodies of requests, which is a minute by default.
    #[must_use]
    pub fn with_body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Reads tokens from the database again, because one was removed.
    pub(super) fn forget_tokens(&self) {
        self.authenticator.forget();
    }

    /// The warnings about a release that was published.
    pub(super) fn publish_warnings(&self, principal: &Principal, name: &PackageName) -> Vec<Value> {
        // The release is published: a warning that cannot be computed is no reason for an error.
        let similar = self.registry.similar_names(principal, name);
        let similar = similar.unwrap_or_else(|problem| {
            let problem = format!("{problem:#}");
            tracing::error!(problem, "similar names cannot be found");
            Vec::new()
        });
        let warning = |other: &str| {
            let detail = format!(
                "{name} is easily taken for {other}, which belongs to others; if this is not intended, \
                 publish under another name"
            );
            json!({ "code": SIMILAR_NAME, "detail": detail })
        };
        if !self.registry.may_read(principal) {
            let some = similar.first();
            return some
                .map(|_| warning("another package"))
                .into_iter()
                .collect();
        }
        similar
            .iter()
            .map(|other| warning(other.as_str()))
            .collect()
    }
}
