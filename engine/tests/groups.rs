//! Resources that one operation changes together, as a run reports them.

// The tests make files themselves.
#![allow(clippy::disallowed_methods)]

use std::any::Any;
use std::sync::Arc;

use pkgres_engine::{
    Change, Checked, Difference, DriveOptions, Ending, EntryAttributes, Graph, GraphBuilder, Input,
    Machine, Probe, Resource, ResourceError, RunOptions, RunRecord, Target, drive,
};
use pkgres_manifest::MetaParameters;

/// Empty files that are made together. One with the name `broken` cannot be made.
#[derive(Debug, Clone)]
struct Together(Vec<String>);

impl Resource for Together {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let mut missing = Vec::new();
        for name in &self.0 {
            if probe.entry(format!("/{name}").as_ref())?.is_none() {
                missing.push(name.clone());
            }
        }
        Ok(if missing.is_empty() {
            Checked::in_order()
        } else {
            Checked::drift(Make(missing))
        })
    }

    fn group(&self) -> Option<String> {
        Some("together".to_owned())
    }

    fn grouped(&self, members: &[&dyn Resource]) -> Option<Box<dyn Resource>> {
        let members = members.iter().map(|member| {
            let member = member.as_any()?.downcast_ref::<Self>()?;
            Some(member.0.clone())
        });
        let names: Option<Vec<_>> = members.collect();
        Some(Box::new(Self(names?.concat())))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

struct Make(Vec<String>);

impl Change for Make {
    fn differences(&self) -> Vec<Difference> {
        let names = self.0.iter();
        names
            .map(|name| Difference::new(name, None::<String>, Some("made")))
            .collect()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        if self.0.iter().any(|name| name == "broken") {
            return Err(ResourceError::Invalid("it is broken".to_owned()));
        }
        for name in &self.0 {
            let attributes = EntryAttributes::with_mode(0o644);
            target.write_file(format!("/{name}").as_ref(), b"", attributes)?;
        }
        Ok(())
    }
}

fn graph(names: &[&str]) -> Graph {
    let mut builder = GraphBuilder::new();
    for name in names {
        let id = format!("part:{name}").parse().expect("it is an identity");
        let resource = Together(vec![(*name).to_owned()]);
        builder.add(id, resource, MetaParameters::default());
    }
    let graph = builder.build().expect("it has no cycle");
    assert_eq!(graph.nodes().len(), 1, "they are one group");
    graph
}

/// The steps of a run, its end, and what was recorded.
fn run(root: &std::path::Path, graph: Graph, noop: bool) -> (Vec<String>, Ending, RunRecord) {
    let machine = Arc::new(Machine::root_folder(root).expect("it is a folder"));
    let options = DriveOptions {
        run: RunOptions {
            noop,
            ..RunOptions::default()
        },
        ..DriveOptions::default()
    };
    let mut record = RunRecord::new(&graph);
    let mut steps = Vec::new();
    let (_control, controlled) = std::sync::mpsc::channel();
    let ending = drive(graph, machine, &options, controlled, |progress| {
        record.note(progress);
        steps.push(format!("{:?}", progress.step));
    });
    (steps, ending, record)
}

fn states(ending: &Ending) -> Vec<String> {
    let nodes = ending.nodes.iter();
    nodes.map(|(id, state)| format!("{id} {state:?}")).collect()
}

#[test]
fn each_member_of_a_group_has_its_own_state() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::File::create(root.path().join("b")).expect("the folder is there");
    let (_, ending, _) = run(root.path(), graph(&["a", "b", "c"]), true);
    let states = states(&ending);
    let starts = ["part:a Pending([", "part:b InOrder", "part:c Pending(["];
    assert_eq!(states.len(), starts.len());
    for (state, start) in states.iter().zip(starts) {
        assert!(state.starts_with(start), "{states:?}");
    }
    assert!(states[0].contains("\"a\"") && !states[0].contains("\"c\""));

    let (steps, ending, record) = run(root.path(), graph(&["a", "b", "c"]), false);
    let count = |name: &str| steps.iter().filter(|step| step.starts_with(name)).count();
    assert_eq!(
        [count("Started"), count("Changed"), count("InOrder")],
        [3, 2, 1]
    );
    assert_eq!(ending.nodes.len(), 3);
    assert_eq!(record.resources().len(), 3);
}

#[test]
fn a_group_fails_as_a_whole() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let (steps, ending, _) = run(root.path(), graph(&["a", "broken"]), false);
    let count = |name: &str| steps.iter().filter(|step| step.starts_with(name)).count();
    assert_eq!([count("Unfinished"), count("Failed")], [2, 2]);
    let failed = states(&ending);
    assert_eq!(
        failed,
        [
            "part:a Failed(\"it is broken\")",
            "part:broken Failed(\"it is broken\")"
        ]
    );
}
