//! The state of an application on a machine, for a plan and for a run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pkgres_engine::{
    AppliedState, Cancellation, Ending, Graph, Kinds, ObjectResources, StateError, StateLocation,
    Target, TargetError,
};
use pkgres_manifest::ResourceId;
use pkgres_manifest::diagnostic::{Code, Diagnostic};

use super::machines::Machine;
use crate::args::ApplyArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::show::counted;

/// The most resources that a note lists.
const MOST_LISTED: usize = 5;

/// The resources that were applied before and are gone from the packages.
#[derive(Default)]
pub(super) struct RemovedResources {
    /// Those that are reversed.
    pub(super) reversed: BTreeSet<ResourceId>,
    /// Those that stay as they are.
    left_behind: Vec<ResourceId>,
    /// Those of objects, which stay as they are because no model says which objects there are.
    left_out: Vec<ResourceId>,
    /// The resources of the packages that an earlier run did not refresh after a change.
    pub(super) pending_refreshes: BTreeSet<ResourceId>,
}

impl RemovedResources {
    fn new(state: &AppliedState, graph: &Graph, whole: &Graph) -> Self {
        let reversals = whole.nodes().iter().filter(|node| node.is_reversal);
        Self {
            reversed: reversals.map(|node| node.id.clone()).collect(),
            left_behind: state.left_behind(graph),
            left_out: state.left_out(graph),
            pending_refreshes: state.owed(),
        }
    }

    /// Lists the resources that stay as they are.
    pub(super) fn note(&self, output: &mut Output) {
        if !self.left_behind.is_empty() {
            let ids = &self.left_behind;
            let [are, stay] = match ids.len() {
                1 => ["is", "stays as it is"],
                _ => ["are", "stay as they are"],
            };
            output.remarks([format!(
                "{} of an earlier run {are} gone from the packages and {stay}: {}",
                counted(ids.len(), "resource"),
                listed(ids.iter())
            )]);
        }
        if !self.left_out.is_empty() {
            let ids = &self.left_out;
            let stay = match ids.len() {
                1 => "stays as it is",
                _ => "stay as they are",
            };
            output.remarks([format!(
                "{} of objects of an earlier run {stay} without `--model`: {}",
                counted(ids.len(), "resource"),
                listed(ids.iter())
            )]);
        }
    }
}

/// The first of some resources.
fn listed<'ids>(ids: impl ExactSizeIterator<Item = &'ids ResourceId>) -> String {
    let more = if ids.len() > MOST_LISTED { ", ..." } else { "" };
    let shown: Vec<String> = ids.take(MOST_LISTED).map(ToString::to_string).collect();
    format!("{}{more}", shown.join(", "))
}

/// How often a machine that another run has locked is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Locks the state on a machine, and reads it: two runs would undo each other's changes. Says so if it has to wait;
/// `None` if it is cancelled before the other run ends.
pub(super) fn lock_state(
    (location, objects): (&StateLocation, &ObjectResources),
    target: &dyn Target,
    machine: &Machine,
    args: &ApplyArgs,
    cancellation: &Cancellation,
    output: &mut Output,
) -> Result<Option<Arc<AppliedState>>> {
    let limit = args.lock_timeout.map(Duration::from_secs);
    let start = Instant::now();
    let mut waits = false;
    loop {
        let (location, kinds) = (location.clone(), Kinds::default());
        let state = if args.noop {
            AppliedState::lock_existing(target, location, kinds)
        } else {
            AppliedState::lock(target, location, kinds)
        };
        let holder = match state {
            Err(StateError::Target {
                source: TargetError::Locked { folder, holder },
                ..
            }) => {
                let process = holder.map(|id| format!("process {id}"));
                let process = process.unwrap_or_else(|| "a process".to_owned());
                format!("{process} has locked the folder {}", folder.display())
            }
            state => {
                let state = state.map_err(|error| failure(&error))?;
                state.set_objects(objects.clone());
                return Ok(Some(state));
            }
        };
        if cancellation.is_cancelled() {
            return Ok(None);
        }
        let target = &machine.location;
        if let Some(limit) = limit.filter(|limit| start.elapsed() >= *limit) {
            let limit = limit.as_secs();
            let message = format!(
                "another `pkgres apply` on {target} still runs after {limit} s: nothing was changed"
            );
            let finding = Diagnostic::error(Code::ResourceFailed, message);
            return Err(Failure {
                findings: vec![finding.hint(format!("{holder} there"))],
                exit: Exit::Failed,
            });
        }
        if !waits {
            waits = true;
            output.note(&format!(
                "Waiting for another `pkgres apply` on {target} to end: {holder} there"
            ));
        }
        std::thread::sleep(LOCK_PAUSE);
    }
}

/// Reads the state of a machine that a plan compares.
pub(super) fn read_state(
    (location, objects): (&StateLocation, &ObjectResources),
    target: &dyn Target,
) -> Result<Arc<AppliedState>> {
    let state = AppliedState::read(target, location.clone(), Kinds::default());
    let state = state.map_err(|error| failure(&error))?;
    state.set_objects(objects.clone());
    Ok(state)
}

/// A graph with the reversals of what is removed, for a run that changes nothing on the machine itself.
pub(super) fn plan_reversals(
    state: &Arc<AppliedState>,
    graph: &Graph,
) -> (Graph, RemovedResources) {
    let whole = state.with_reversals(graph.clone());
    let removed = RemovedResources::new(state, graph, &whole);
    (whole, removed)
}

/// The state of a run that changes the machine.
pub(super) struct RunState {
    state: Arc<AppliedState>,
    target: Arc<dyn Target>,
}

impl RunState {
    /// Begins a run with a state that is locked, and returns the graph with the reversals of what is removed.
    pub(super) fn begin(
        state: Arc<AppliedState>,
        target: &Arc<dyn Target>,
        graph: &Graph,
    ) -> Result<(Self, Graph, RemovedResources)> {
        let whole = state.begin(&**target, graph.clone());
        let whole = whole.map_err(|error| failure(&error))?;
        let removed = RemovedResources::new(&state, graph, &whole);
        let target = Arc::clone(target);
        Ok((Self { state, target }, whole, removed))
    }

    /// The state that the run has to know.
    pub(super) fn shared(&self) -> Arc<AppliedState> {
        Arc::clone(&self.state)
    }

    /// Forgets what is removed, and keeps what the next run has to refresh.
    pub(super) fn finish(self, ending: &Ending, output: &mut Output) -> Result<()> {
        let pending_refreshes = &ending.owed;
        if !pending_refreshes.is_empty() {
            output.note(&format!(
                "Not refreshed after a change, which the next run makes up for: {}",
                listed(pending_refreshes.iter())
            ));
        }
        self.state.owe(pending_refreshes.clone());
        let finished = self.state.finish(&*self.target, &ending.nodes);
        finished.map_err(|error| failure(&error))
    }
}

/// The failure that a content which has to be restored is lost, if it is.
pub(super) fn lost_content(
    state: &AppliedState,
    target: &dyn Target,
    graph: &Graph,
) -> Option<Failure> {
    let checked = state.check_contents(target, graph);
    checked.err().map(|error| failure(&error))
}

/// The failure to read or write the state of a machine.
fn failure(error: &StateError) -> Failure {
    let finding = Diagnostic::error(Code::File, error.to_string());
    let finding = match error {
        StateError::Target {
            source: TargetError::Connection { .. },
            ..
        } => finding.hint("run it again once the machine answers"),
        StateError::Target { .. } => finding.hint(
            "run it as the user of earlier runs, or name another folder of the machine with `--state`",
        ),
        StateError::Lost {
            resource, record, ..
        } => finding
            .hint("restore this file of the machine from a backup")
            .hint(format!(
                "or remove {} there: `{resource}` then stays as it is now",
                record.display()
            )),
        StateError::Version { .. } => {
            finding.hint("use the version of pkgres that wrote it, or a newer one")
        }
        _ => {
            finding.hint("restore the file from a backup, or remove it: what it says is lost then")
        }
    };
    Failure {
        findings: vec![finding],
        exit: Exit::Resource,
    }
}
