//! Resources that one operation changes together, as a run reports them.

// The tests make files themselves.
#![allow(clippy::disallowed_methods)]

use std::any::Any;
use std::sync::Arc;

use pkgres_engine::{
    Change, Checked, Difference, DriveOptions, Ending, EntryAttributes, File, Graph, GraphBuilder,
    Input, Machine, Probe, Resource, ResourceError, RunOptions, RunRecord, Target, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};

/// Empty files that are made together. One with the name `broken` cannot be made. With `bound` among them, no other can be
/// made alone.
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

    fn ungrouped(&self) -> Option<Vec<Arc<dyn Resource>>> {
        let names = self.0.iter().map(|name| -> Option<Arc<dyn Resource>> {
            (name != "bound").then(|| Arc::new(Self(vec![name.clone()])) as _)
        });
        names.collect()
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

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

fn graph(names: &[&str]) -> Graph {
    let graph = builder(names).build().expect("it has no cycle");
    assert_eq!(graph.nodes().len(), 1, "they are one group");
    graph
}

fn builder(names: &[&str]) -> GraphBuilder {
    let mut builder = GraphBuilder::new();
    for name in names {
        let id = id(&format!("part:{name}"));
        let resource = Together(vec![(*name).to_owned()]);
        builder.add(id, resource, MetaParameters::default());
    }
    builder
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
fn a_group_that_cannot_be_split_fails_as_a_whole() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let (steps, ending, _) = run(root.path(), graph(&["bound", "broken"]), false);
    let count = |name: &str| steps.iter().filter(|step| step.starts_with(name)).count();
    assert_eq!([count("Unfinished"), count("Failed")], [2, 2]);
    let failed = states(&ending);
    assert_eq!(
        failed,
        [
            "part:bound Failed(\"it is broken\")",
            "part:broken Failed(\"it is broken\")"
        ]
    );
}

#[test]
fn a_wrong_member_fails_alone() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let mut builder = builder(&["a", "broken", "c"]);
    for name in ["behind-a", "behind-broken"] {
        let file = File::new(format!("/{name}")).with_content(name);
        let part = name.replace("behind-", "part:");
        builder.add(
            id(&format!("file:/{name}")),
            file,
            MetaParameters::default(),
        );
        builder.order(id(&part), id(&format!("file:/{name}")));
    }
    let graph = builder.build().expect("it has no cycle");
    assert_eq!(graph.nodes().len(), 3, "the parts are one group");

    let (steps, ending, record) = run(root.path(), graph, false);
    let of = |name: &str| {
        let steps = steps.iter().filter(|step| step.starts_with(name));
        let named = steps.map(|step| ["a\"", "broken\"", "c\""].map(|name| step.contains(name)));
        named.fold([0; 3], |counts, named| {
            [0, 1, 2].map(|at| counts[at] + usize::from(named[at]))
        })
    };
    assert_eq!(of("Changed")[1], 0, "{steps:?}");
    assert_eq!(
        (of("Failed"), of("Unfinished")),
        ([0, 1, 0], [0, 1, 0]),
        "{steps:?}"
    );
    assert!(
        !steps.iter().any(|step| step.starts_with("Replaced")),
        "{steps:?}"
    );
    let mut states = states(&ending);
    states.sort();
    assert_eq!(
        states,
        [
            "file:/behind-a InOrder",
            "file:/behind-broken Blocked(ResourceId { kind: \"part\", name: \"broken\" })",
            "part:a InOrder",
            "part:broken Failed(\"it is broken\")",
            "part:c InOrder",
        ]
    );
    assert_eq!(record.resources().len(), 5);
    assert!(root.path().join("c").exists() && root.path().join("behind-a").exists());
}
