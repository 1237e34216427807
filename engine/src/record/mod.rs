//! The record of a run: what happened to each resource so far, for views and metrics.

mod metrics;

pub use metrics::MetricLabels;

use std::collections::HashMap;
use std::time::Duration;

use pkgres_manifest::ResourceId;

use crate::drive::{Progress, Step};
use crate::graph::{Graph, Node};
use crate::resource::listed;
use crate::runner::Cause;

/// The state of a resource, as far as the progress of a run says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ResourceState {
    /// It failed, and may be tried again.
    Failed,
    /// It is being checked or changed.
    Running,
    /// It differs, and nothing may be changed.
    Pending,
    /// It was changed, and is in order.
    Changed,
    /// It waits for its turn, or for a resource that failed or is not changed.
    Waiting,
    /// It was in order when it was checked last.
    InOrder,
}

/// The record of one resource in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceRecord {
    /// The resource.
    pub id: ResourceId,
    /// Its state.
    pub state: ResourceState,
    /// Since when it has this state.
    pub since: Duration,
    /// Why it was checked last; `None` if it never was.
    pub cause: Option<Cause>,
    /// The differences when it was last changed or checked, or the reason why it failed.
    pub detail: Option<String>,
    /// The number of attempts that ended.
    pub attempts: u64,
    /// The number of attempts that changed something.
    pub changes: u64,
    /// The number of attempts that failed.
    pub failures: u64,
    /// The total time of all attempts.
    pub busy: Duration,
}

impl ResourceRecord {
    fn new(id: ResourceId) -> Self {
        Self {
            id,
            state: ResourceState::Waiting,
            since: Duration::ZERO,
            cause: None,
            detail: None,
            attempts: 0,
            changes: 0,
            failures: 0,
            busy: Duration::ZERO,
        }
    }

    /// An attempt ended.
    fn ended(&mut self, state: ResourceState, detail: Option<String>, at: Duration) {
        self.attempts += 1;
        if self.state == ResourceState::Running {
            self.busy += at.saturating_sub(self.since);
        }
        self.state = state;
        self.since = at;
        self.detail = detail;
    }
}

/// The record of a run: the history of each resource so far.
///
/// ```
/// use std::sync::Arc;
/// use pkgres_engine::{
///     DriveOptions, File, GraphBuilder, Machine, ResourceState, RunRecord, drive,
/// };
///
/// # let folder = tempfile::tempdir()?;
/// let machine = Arc::new(Machine::root_folder(folder.path())?);
/// let mut builder = GraphBuilder::new();
/// builder.add("file:/motd".parse()?, File::new("/motd").with_content("hi\n"), Default::default());
/// let graph = builder.build().expect("no cycle");
///
/// let mut record = RunRecord::new(&graph);
/// let (_control, controlled) = std::sync::mpsc::channel();
/// drive(graph, machine, &DriveOptions::default(), controlled, |progress| record.note(progress));
/// assert_eq!(record.resources()[0].state, ResourceState::Changed);
/// assert!(record.is_converged());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunRecord {
    resources: Vec<ResourceRecord>,
    by_id: HashMap<ResourceId, usize>,
    is_converged: bool,
    converged_at: Option<Duration>,
    at: Duration,
    delay: Duration,
    failed_validations: usize,
}

impl RunRecord {
    /// The record of a run that has not begun.
    pub fn new(graph: &Graph) -> Self {
        let mut record = Self::default();
        // What is hidden has no history.
        let nodes = graph.nodes().iter().filter(|node| !node.meta.hidden);
        for id in nodes.flat_map(Node::ids) {
            record.entry(id);
        }
        record
    }

    /// Takes note of what happened.
    pub fn note(&mut self, progress: &Progress) {
        let at = progress.at;
        self.at = self.at.max(at);
        match &progress.step {
            Step::Started(id, cause) => {
                self.is_converged = false;
                let resource = self.entry(id);
                resource.state = ResourceState::Running;
                resource.since = at;
                resource.cause = Some(*cause);
            }
            Step::InOrder(id) => self.entry(id).ended(ResourceState::InOrder, None, at),
            Step::Changed(id, differences) => {
                let resource = self.entry(id);
                resource.changes += 1;
                resource.ended(ResourceState::Changed, Some(listed(differences)), at);
            }
            Step::Pending(id, differences) => {
                let detail = Some(listed(differences));
                self.entry(id).ended(ResourceState::Pending, detail, at);
            }
            // What could be checked is in order.
            Step::Unknown(id, reason) => {
                let detail = Some(reason.clone());
                self.entry(id).ended(ResourceState::InOrder, detail, at);
            }
            // The attempt is still running: how it failed follows.
            Step::Unfinished(id, _) => self.entry(id).changes += 1,
            Step::Failed(id, message) => {
                let resource = self.entry(id);
                resource.failures += 1;
                resource.ended(ResourceState::Failed, Some(message.clone()), at);
            }
            Step::Deferred(id, _, reason) => {
                let detail = Some(reason.clone());
                self.entry(id).ended(ResourceState::Waiting, detail, at);
            }
            Step::Cancelled(id) => self.entry(id).ended(ResourceState::Waiting, None, at),
            Step::Converged => {
                self.is_converged = true;
                if self.is_in_order() {
                    self.converged_at = Some(at);
                }
            }
            Step::Ending(_) | Step::NotWatched(..) | Step::Replaced(_) | Step::NotReplaced(_) => {}
        }
    }

    /// Sets how long the run took before its graph was started, such as for validations.
    pub fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// Sets how many validations the machine failed last.
    pub fn set_failed_validations(&mut self, count: usize) {
        self.failed_validations = count;
    }

    /// The resources, in the order of the graph.
    pub fn resources(&self) -> &[ResourceRecord] {
        &self.resources
    }

    /// The number of resources that have a state.
    pub fn count(&self, state: ResourceState) -> usize {
        let resources = self.resources.iter();
        resources.filter(|resource| resource.state == state).count()
    }

    /// Whether every resource is in order, or may not be changed.
    pub fn is_converged(&self) -> bool {
        self.is_converged
    }

    /// Whether every resource is in order.
    fn is_in_order(&self) -> bool {
        let is_good = |state| matches!(state, ResourceState::InOrder | ResourceState::Changed);
        self.is_converged
            && self
                .resources
                .iter()
                .all(|resource| is_good(resource.state))
    }

    /// When something happened last.
    pub fn at(&self) -> Duration {
        self.at
    }

    fn entry(&mut self, id: &ResourceId) -> &mut ResourceRecord {
        let number = *self.by_id.entry(id.clone()).or_insert_with(|| {
            self.resources.push(ResourceRecord::new(id.clone()));
            self.resources.len() - 1
        });
        &mut self.resources[number]
    }
}
