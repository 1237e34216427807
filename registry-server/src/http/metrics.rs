//! Counts requests, and renders metrics for Prometheus.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry as Collection;

use crate::registry::RegistryBackend;

/// The labels of requests. Clients choose none of the values, so their number is limited.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    method: &'static str,
    status: u16,
}

/// The metrics of this process.
pub(super) struct Metrics {
    collection: Collection,
    requests: Family<RequestLabels, Counter>,
    seconds: Histogram,
    serial: Gauge,
    packages: Gauge,
    failed_reads: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut collection = Collection::with_prefix("pkgres");
        let requests = Family::default();
        collection.register("requests", "Requests that were answered", requests.clone());
        let seconds = Histogram::new([0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0]);
        collection.register("request_seconds", "How long answers took", seconds.clone());
        let serial = Gauge::default();
        collection.register("serial", "The serial that this node serves", serial.clone());
        let packages = Gauge::default();
        collection.register(
            "packages",
            "The packages that this node serves",
            packages.clone(),
        );
        let failed_reads = Counter::default();
        collection.register(
            "failed_archive_reads",
            "Reads of an archive of a release that failed, because it is missing or cannot be reached",
            failed_reads.clone(),
        );
        Self {
            collection,
            requests,
            seconds,
            serial,
            packages,
            failed_reads,
        }
    }

    /// Counts a request.
    pub(crate) fn count(
        &self,
        route: &'static str,
        method: &Method,
        status: StatusCode,
        taken: Duration,
    ) {
        let method = match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::DELETE => "DELETE",
            Method::OPTIONS => "OPTIONS",
            Method::PATCH => "PATCH",
            _ => "other",
        };
        let status = status.as_u16();
        let labels = RequestLabels {
            route,
            method,
            status,
        };
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(taken.as_secs_f64());
    }

    /// All metrics, as text.
    pub(crate) fn text(&self, registry: &RegistryBackend) -> String {
        self.serial
            .set(i64::try_from(registry.serial()).unwrap_or(i64::MAX));
        self.packages
            .set(i64::try_from(registry.package_count()).unwrap_or(i64::MAX));
        let failed = self.failed_reads.inner();
        failed.store(registry.failed_reads(), Ordering::Relaxed);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut text, &self.collection);
        text
    }
}
