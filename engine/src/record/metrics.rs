//! Metrics of a run in the text format of Prometheus.
//!
//! Names and units follow the conventions of Prometheus: base units in the name, `_total` for counters. Counters are
//! per kind of resource, so the number of metrics does not grow with the number of resources; only failing resources
//! have a metric each.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::{ResourceRecord, ResourceState, RunRecord};

/// Facts about a run that its metrics show besides its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricLabels {
    /// The machine, as people write it.
    pub target: String,
    /// The version of the program.
    pub version: String,
    /// The time of the start of the run, since the beginning of 1970.
    pub started: Duration,
}

/// The states with their names. Changed resources are in order.
const STATES: [(&str, &[ResourceState]); 5] = [
    ("failed", &[ResourceState::Failed]),
    (
        "in_order",
        &[ResourceState::InOrder, ResourceState::Changed],
    ),
    ("pending", &[ResourceState::Pending]),
    ("running", &[ResourceState::Running]),
    ("waiting", &[ResourceState::Waiting]),
];

impl RunRecord {
    /// The metrics of the run, as the textfile collector of the node exporter reads them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use pkgres_engine::{File, GraphBuilder, MetricLabels, RunRecord};
    ///
    /// let mut builder = GraphBuilder::new();
    /// builder.add("file:/motd".parse()?, File::new("/motd"), Default::default());
    /// let graph = builder.build().expect("no cycle");
    /// let labels = MetricLabels {
    ///     target: "local:".to_owned(),
    ///     version: "1.2.0".to_owned(),
    ///     started: Duration::from_secs(1_800_000_000),
    /// };
    /// let metrics = RunRecord::new(&graph).prometheus(&labels);
    /// assert!(metrics.contains("pkgres_resources{target=\"local:\",state=\"waiting\"} 1\n"));
    /// # Ok::<(), pkgres_manifest::ResourceIdError>(())
    /// ```
    pub fn prometheus(&self, labels: &MetricLabels) -> String {
        let mut text = MetricsText {
            target: escaped(&labels.target),
            text: String::new(),
        };
        text.metric("build_info", "gauge", "The version of pkgres.");
        text.sample("build_info", &[("version", &labels.version)], 1);
        text.metric("resources", "gauge", "The resources in each state.");
        for (name, states) in STATES {
            let count: usize = states.iter().map(|state| self.count(*state)).sum();
            text.sample("resources", &[("state", name)], count);
        }
        let by_kind = self.by_kind();
        for (name, help, count) in COUNTERS {
            text.metric(name, "counter", help);
            for (kind, totals) in &by_kind {
                text.sample(name, &[("kind", kind)], count(totals));
            }
        }
        let name = "attempt_duration_seconds";
        text.metric(name, "summary", "How long attempts took.");
        for (kind, totals) in &by_kind {
            let labels = [("kind", *kind)];
            text.sample(&format!("{name}_sum"), &labels, totals.busy.as_secs_f64());
            text.sample(&format!("{name}_count"), &labels, totals.attempts);
        }
        let failing = self.resources.iter();
        let failing = failing.filter(|resource| resource.state == ResourceState::Failed);
        let mut failing = failing.peekable();
        if failing.peek().is_some() {
            let help = "The resources that failed at their last attempt.";
            text.metric("resource_failing", "gauge", help);
        }
        for resource in failing {
            let id = resource.id.to_string();
            text.sample("resource_failing", &[("resource", &id)], 1);
        }
        let help = "Whether every resource is up to date.";
        text.metric("converged", "gauge", help);
        text.sample("converged", &[], u8::from(self.is_in_order()));
        if let Some(at) = self.converged_at {
            let name = "last_converged_timestamp_seconds";
            text.metric(name, "gauge", "When every resource was last up to date.");
            text.sample(name, &[], (labels.started + self.delay + at).as_secs_f64());
        }
        let help = "The validations that the machine failed last.";
        text.metric("failed_validations", "gauge", help);
        text.sample("failed_validations", &[], self.failed_validations);
        let name = "run_start_timestamp_seconds";
        text.metric(name, "gauge", "When the run began.");
        text.sample(name, &[], labels.started.as_secs_f64());
        text.text
    }

    fn by_kind(&self) -> BTreeMap<&str, KindTotals> {
        let mut totals: BTreeMap<&str, KindTotals> = BTreeMap::new();
        for resource in &self.resources {
            totals.entry(resource.id.kind()).or_default().add(resource);
        }
        totals
    }
}

/// What happened to all resources of a kind.
#[derive(Default)]
struct KindTotals {
    attempts: u64,
    changes: u64,
    failures: u64,
    busy: Duration,
}

impl KindTotals {
    fn add(&mut self, resource: &ResourceRecord) {
        self.attempts += resource.attempts;
        self.changes += resource.changes;
        self.failures += resource.failures;
        self.busy += resource.busy;
    }
}

/// A counter: its name, its description and its value.
type Counter = (&'static str, &'static str, fn(&KindTotals) -> u64);

const COUNTERS: [Counter; 3] = [
    (
        "attempts_total",
        "The checks of resources, with the changes that followed.",
        |it| it.attempts,
    ),
    (
        "changes_total",
        "The attempts that changed something.",
        |it| it.changes,
    ),
    ("failures_total", "The attempts that failed.", |it| {
        it.failures
    }),
];

/// The text of metrics. All have the target as a label.
struct MetricsText {
    target: String,
    text: String,
}

impl MetricsText {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text does not fail.
        let _ = writeln!(self.text, "# HELP pkgres_{name} {help}");
        let _ = writeln!(self.text, "# TYPE pkgres_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let more: String = labels
            .iter()
            .map(|(label, value)| format!(",{label}=\"{}\"", escaped(value)))
            .collect();
        let target = &self.target;
        let _ = writeln!(
            self.text,
            "pkgres_{name}{{target=\"{target}\"{more}}} {value}"
        );
    }
}

/// The value of a label as it is written.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}
