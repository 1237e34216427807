//! What operators watch.

use http::header::HeaderValue;
use http::{StatusCode, header};

use super::refuse::errors_document;
use super::reply::{NO_CACHE, Reply};
use super::route::{Access, GET, Handler, Route, Surface};

/// `healthz`: whether this node can answer.
pub(crate) const HEALTH: Surface = Surface {
    prefix: "healthz",
    routes: &[Route {
        path: "healthz",
        handlers: &[Handler {
            summary: "Whether this node reaches its data",
            access: Access::Everyone,
            gives: "text/plain",
            run: |service, _| {
                service.registry.check()?;
                let kind = HeaderValue::from_static("text/plain; charset=utf-8");
                let reply = Reply::with_body(StatusCode::OK, kind, "ok\n".into());
                Ok(reply.header(header::CACHE_CONTROL, NO_CACHE))
            },
            ..GET
        }],
    }],
    has_microversions: false,
    error: errors_document,
};

/// `metrics`: counters for Prometheus.
pub(crate) const METRICS: Surface = Surface {
    prefix: "metrics",
    routes: &[Route {
        path: "metrics",
        handlers: &[Handler {
            summary: "Counters for Prometheus",
            access: Access::Everyone,
            gives: "application/openmetrics-text",
            run: |service, _| {
                let text = service.metrics.text(&service.registry);
                let kind = HeaderValue::from_static(
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                );
                let reply = Reply::with_body(StatusCode::OK, kind, text.into());
                Ok(reply.header(header::CACHE_CONTROL, NO_CACHE))
            },
            ..GET
        }],
    }],
    has_microversions: false,
    error: errors_document,
};
