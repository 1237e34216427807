//! What all handlers work with.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::identify::Identifier;
use super::metrics::Metrics;
use super::request_id::RequestIds;
use crate::index::Document;
use crate::registry::RegistryBackend;

/// Answers requests.
pub struct Service {
    pub(crate) registry: Arc<RegistryBackend>,
    pub(crate) metrics: Metrics,
    pub(crate) config: Document,
    /// What the service answers, as `OpenAPI` 3.1.
    pub(crate) description: Value,
    pub(super) identifier: Identifier,
    pub(super) identities: RequestIds,
    pub(super) body_patience: Duration,
}

impl Service {
    /// A service that says this of itself.
    pub(super) fn describing(
        description: Value,
        registry: Arc<RegistryBackend>,
        body_patience: Duration,
    ) -> Self {
        Self {
            config: Document::new(registry.config().to_json()),
            metrics: Metrics::new(),
            description,
            identifier: Identifier::default(),
            identities: RequestIds::new(registry.environment.random()),
            registry,
            body_patience,
        }
    }

    /// Looks up tokens again, as after one was removed.
    pub(crate) fn forget_tokens(&self) {
        self.identifier.forget();
    }
}
