//! Runs of graphs with a state.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use pkgres_engine::{
    AppliedState, Control, DriveOptions, Ending, Graph, GraphBuilder, Kinds, Machine, Resource,
    RunOptions, StateLocation, Step, drive,
};
use pkgres_manifest::MetaParameters;

/// A machine in a folder, with a state in `/state`.
pub(crate) struct Root {
    folder: tempfile::TempDir,
    pub(crate) machine: Arc<Machine>,
}

pub(crate) fn location() -> StateLocation {
    StateLocation::new("org.example.Web").in_folder("/state")
}

/// The parameters of a resource that is to be reversed.
pub(crate) fn reversed() -> MetaParameters {
    MetaParameters {
        reverse: true,
        ..MetaParameters::default()
    }
}

/// A graph of resources that are to be reversed, each with its identity.
pub(crate) fn graph(resources: Vec<(&str, Box<dyn Resource>)>) -> Graph {
    let mut builder = GraphBuilder::new();
    for (id, resource) in resources {
        let id = id.parse().expect("it is an identity");
        builder.add_shared(id, Arc::from(resource), reversed());
    }
    builder.build().expect("it is valid")
}

impl Root {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let machine = Machine::root_folder(folder.path()).expect("it is a folder");
        Self {
            machine: Arc::new(machine),
            folder,
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        std::fs::write(self.path(path), content).expect("it can be written");
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    /// Runs a graph, as `pkgres apply` does.
    pub(crate) fn apply(&self, graph: Graph) -> Ending {
        self.apply_of("org.example.Web", graph)
    }

    /// Runs a graph of an application.
    pub(crate) fn apply_of(&self, application: &str, graph: Graph) -> Ending {
        let location = StateLocation::new(application).in_folder("/state");
        let options = RunOptions::default();
        apply(&self.machine, location, graph, options, |_| false)
    }

    /// Runs a graph of an application, and counts its changes.
    pub(crate) fn count_changes_of(&self, application: &str, graph: Graph) -> usize {
        let location = StateLocation::new(application).in_folder("/state");
        let mut changes = 0;
        apply(
            &self.machine,
            location,
            graph,
            RunOptions::default(),
            |step| {
                changes += usize::from(matches!(step, Step::Changed(..)));
                false
            },
        );
        changes
    }

    /// Runs a graph and reports what happens.
    pub(crate) fn apply_observed(&self, graph: Graph, mut observe: impl FnMut(&Step)) -> Ending {
        apply(
            &self.machine,
            location(),
            graph,
            RunOptions::default(),
            |step| {
                observe(step);
                false
            },
        )
    }

    /// Runs a graph, and goes on until a step is the last one.
    pub(crate) fn apply_watched(&self, graph: Graph, is_last: impl FnMut(&Step) -> bool) -> Ending {
        let options = RunOptions {
            watch: true,
            polling: Duration::from_millis(10),
            ..RunOptions::default()
        };
        apply(&self.machine, location(), graph, options, is_last)
    }

    /// The files of the state.
    pub(crate) fn state_snapshot(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), &self.path("/state"), &mut found);
        found
    }

    /// Runs a graph, as `pkgres plan` does.
    pub(crate) fn plan(&self, graph: Graph) -> Ending {
        let state = AppliedState::read(&*self.machine, location(), Kinds::default());
        let graph = state.expect("it can be read").with_reversals(graph);
        let run = RunOptions {
            noop: true,
            ..RunOptions::default()
        };
        let options = DriveOptions {
            run,
            ..DriveOptions::default()
        };
        let target: Arc<dyn pkgres_engine::Target> = self.machine.clone();
        let (_control, controlled) = channel();
        drive(graph, target, &options, controlled, |_| ())
    }

    /// The identities that a plan shows as reversals, with what differs.
    pub(crate) fn planned(&self, graph: Graph) -> Vec<String> {
        let state = AppliedState::read(&*self.machine, location(), Kinds::default());
        let graph = state.expect("it can be read").with_reversals(graph);
        let reversals = graph.nodes().iter().filter(|node| node.is_reversal);
        reversals
            .map(|node| {
                let input = pkgres_engine::Input::default();
                let checked = node.resource.check(&*self.machine, &input);
                format!("{} {:?}", node.id, checked.expect("it can be checked"))
            })
            .collect()
    }

    /// Every file below the root with its content and mode, without the state.
    pub(crate) fn snapshot(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), self.folder.path(), &mut found);
        found.retain(|path, _| !path.starts_with("/state"));
        found
    }
}

/// Runs a graph until its end, or after a step that is the last one.
fn apply(
    machine: &Arc<Machine>,
    location: StateLocation,
    graph: Graph,
    run: RunOptions,
    mut is_last: impl FnMut(&Step) -> bool,
) -> Ending {
    let state = AppliedState::lock(&**machine, location, Kinds::default());
    let state = state.expect("nobody else works on it");
    let graph = state.begin(&**machine, graph).expect("it can be written");
    let (control, controlled) = channel();
    let options = DriveOptions {
        run,
        max_runtime: Some(Duration::from_mins(1)),
        state: Some(Arc::clone(&state)),
        ..DriveOptions::default()
    };
    let target: Arc<dyn pkgres_engine::Target> = machine.clone();
    let ending = drive(graph, target, &options, controlled, |progress| {
        if is_last(&progress.step) {
            control.send(Control::Interrupt).expect("it runs");
        }
    });
    let finished = state.finish(&**machine, &ending.nodes);
    finished.expect("it can be written");
    ending
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    use std::os::unix::fs::PermissionsExt as _;

    for entry in std::fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        let name = format!("/{}", path.strip_prefix(root).expect("inside").display());
        let metadata = std::fs::symlink_metadata(&path).expect("it is there");
        let mode = metadata.permissions().mode() & 0o7777;
        let described = if metadata.is_symlink() {
            format!(
                "-> {}",
                std::fs::read_link(&path).expect("a link").display()
            )
        } else if metadata.is_dir() {
            collect(root, &path, found);
            format!("{mode:04o} folder")
        } else {
            let content = std::fs::read(&path).expect("it can be read");
            format!("{mode:04o} {content:?}")
        };
        found.insert(name, described);
    }
}
