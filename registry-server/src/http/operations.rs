//! The routes for operators: health and metrics of a node.

use http::header::HeaderValue;
use http::{StatusCode, header};

use super::error_response::errors_document;
use super::response::{NO_CACHE, Response};
use super::route::{Access, GET, Handler, Route, Surface};

/// `healthz`: whether this node reaches its data.
pub(crate) const HEALTH: Surface = Surface {
    prefix: "healthz",
    routes: &[Route {
        path: "healthz",
        handlers: &[Handler {
            summary: "Whether this node reaches its data",
            access: Access::Public,
            media_type: "text/plain",
            ignores_accept: true,
            run: |service, _| {
                service.registry.check()?;
                let kind = HeaderValue::from_static("text/plain; charset=utf-8");
                let response = Response::with_body(StatusCode::OK, kind, "ok\n".into());
                Ok(response.header(header::CACHE_CONTROL, NO_CACHE))
            },
            ..GET
        }],
    }],
    has_microversions: false,
    error_schema: "Errors",
    error: errors_document,
};

/// `metrics`: metrics for Prometheus.
pub(crate) const METRICS: Surface = Surface {
    prefix: "metrics",
    routes: &[Route {
        path: "metrics",
        handlers: &[Handler {
            summary: "Metrics for Prometheus",
            access: Access::Public,
            media_type: "application/openmetrics-text",
            ignores_accept: true,
            run: |service, _| {
                let text = service.metrics.text(&service.registry);
                let kind = HeaderValue::from_static(
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                );
                let response = Response::with_body(StatusCode::OK, kind, text.into());
                Ok(response.header(header::CACHE_CONTROL, NO_CACHE))
            },
            ..GET
        }],
    }],
    has_microversions: false,
    error_schema: "Errors",
    error: errors_document,
};
