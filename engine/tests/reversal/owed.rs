//! Refreshes are not lost: whenever a run ends before one, the next run makes up for it.

use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use pkgres_engine::{
    AppliedState, Cancellable, Cancellation, Change, Checked, Control, Difference, DriveOptions,
    Effect, EntryAttributes, Fault, File, Graph, GraphBuilder, Input, Kinds, Probe, Resource,
    ResourceError, RunOptions, SimulatedMachine, StateLocation, Target, TargetError, drive,
};
use pkgres_manifest::MetaParameters;

const CONFIG: &str = "/config";
const LOADED: &str = "/loaded";

/// A program that reads its configuration when it is refreshed, and only then.
struct Program;

impl Resource for Program {
    fn definition(&self) -> String {
        "Program".to_owned()
    }

    fn check(&self, _: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        if input.refresh {
            Ok(Checked::drift(Reload))
        } else {
            Ok(Checked::in_order())
        }
    }

    fn is_refreshable(&self) -> bool {
        true
    }
}

struct Reload;

impl Change for Reload {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("program", None::<&str>, Some("reloaded"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let config = target.read(Path::new(CONFIG), 100)?;
        let attributes = EntryAttributes::with_mode(0o644);
        Ok(target.write_file(Path::new(LOADED), &config, attributes)?)
    }
}

fn graph(content: &str) -> Graph {
    let id = |text: &str| text.parse().expect("it is an identity");
    let mut builder = GraphBuilder::new();
    let file = File::new(CONFIG).with_content(content);
    builder.add(id("file:/config"), file, MetaParameters::default());
    builder.add(id("program:web"), Program, MetaParameters::default());
    // What needs no refresh is not owed one.
    let other = File::new("/other").with_content("other");
    builder.add(id("file:/other"), other, MetaParameters::default());
    builder.notify(id("file:/config"), id("program:web"));
    builder.notify(id("file:/config"), id("file:/other"));
    builder.build().expect("it has no cycle")
}

/// Runs a graph as `pkgres apply` does, until the machine crashes. Returns the resources that were owed a refresh before.
fn apply(machine: &Arc<SimulatedMachine>, content: &str) -> Vec<String> {
    let location = StateLocation::new("org.example.Web").in_folder("/state");
    let Ok(state) = AppliedState::lock(&**machine, location, Kinds::default()) else {
        return Vec::new();
    };
    let owed = state.owed();
    let Ok(graph) = state.begin(&**machine, graph(content)) else {
        return Vec::new();
    };
    let options = DriveOptions {
        run: RunOptions {
            owed: owed.clone(),
            jobs: 1,
            ..RunOptions::default()
        },
        state: Some(Arc::clone(&state)),
        ..DriveOptions::default()
    };
    let (control, controlled) = channel();
    let target: Arc<dyn Target> = Arc::<SimulatedMachine>::clone(machine);
    let ending = drive(graph, target, &options, controlled, |_| {
        if machine.is_crashed() {
            // The run may have ended already.
            let _ = control.send(Control::Interrupt);
        }
    });
    // A process that is killed does not get here.
    if !machine.is_crashed() {
        state.owe(ending.owed);
        let finished = state.finish(&**machine, &ending.nodes);
        assert!(finished.is_ok() || machine.is_crashed(), "{finished:?}");
    }
    owed.iter().map(ToString::to_string).collect()
}

fn text(machine: &SimulatedMachine, path: &str) -> Option<String> {
    let bytes = machine.files().remove(Path::new(path))?;
    Some(String::from_utf8(bytes).expect("it is text"))
}

#[test]
fn a_change_that_is_cancelled_while_refreshes_are_noted_is_cancelled() {
    let machine = SimulatedMachine::new(|_, _| Fault::None);
    let location = StateLocation::new("org.example.Web").in_folder("/state");
    let state = AppliedState::lock(&machine, location, Kinds::default());
    let state = state.expect("nobody else works on it");
    let graph = state.begin(&machine, graph("text"));
    let graph = graph.expect("it can be written");
    let mut nodes = graph.nodes().iter();
    let file = nodes.find(|node| node.id.name() == CONFIG);
    let file = file.expect("the graph has the file");
    let checked = file.resource.check(&machine, &Input::default());
    let Ok(Checked::Drift(change)) = checked else {
        panic!("the file is missing: {checked:?}");
    };
    let cancellation = Cancellation::default();
    cancellation.interrupt();
    let changed = change.apply(&Cancellable::new(&machine, cancellation));
    assert!(
        matches!(changed, Err(ResourceError::Target(TargetError::Cancelled))),
        "{changed:?}"
    );
    assert_eq!(text(&machine, CONFIG), None);
}

#[test]
fn a_run_that_is_killed_at_any_moment_loses_no_refresh() {
    let mut crashes = 0;
    let mut made_up = 0;
    for moment in 0..1_000 {
        // It crashes before this effect.
        let left = Arc::new(Mutex::new(None));
        let counted = Arc::clone(&left);
        let machine = SimulatedMachine::new(move |_: &Effect<'_>, _| {
            match &mut *counted.lock().expect("no test panics meanwhile") {
                Some(0) => Fault::Crash,
                Some(left) => {
                    *left -= 1;
                    Fault::None
                }
                None => Fault::None,
            }
        });
        let machine = Arc::new(machine);
        apply(&machine, "first");
        assert_eq!(text(&machine, LOADED).as_deref(), Some("first"));
        let set = |moment| *left.lock().expect("no test panics meanwhile") = moment;

        set(Some(moment));
        apply(&machine, "second");
        set(None);
        let is_crashed = machine.is_crashed();
        machine.restart();
        let owed = apply(&machine, "second");
        assert_eq!(text(&machine, CONFIG).as_deref(), Some("second"));
        assert_eq!(
            text(&machine, LOADED).as_deref(),
            Some("second"),
            "a crash before effect {moment} loses the refresh"
        );
        made_up += usize::from(owed == ["program:web"]);
        // Once it was made up for, nothing is owed.
        assert!(apply(&machine, "second").is_empty());
        if !is_crashed {
            break;
        }
        crashes += 1;
    }
    assert!(
        crashes > 5 && made_up > 1,
        "{crashes} crashes, {made_up} refreshes made up for"
    );
}
