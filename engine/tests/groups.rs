//! Resources that one operation changes together, as a run reports them.

// The tests make files themselves.
#![allow(clippy::disallowed_methods)]

use std::any::Any;
use std::sync::Arc;

use pkgres_engine::{
    AppliedState, Before, Change, Checked, Difference, DriveOptions, Ending, EntryAttributes, File,
    Graph, GraphBuilder, Input, Kinds, Machine, Probe, Resource, ResourceError, ResourceState,
    RunOptions, RunRecord, StateLocation, Status, Target, drive,
};
use pkgres_manifest::{MetaParameters, ResourceDescription, ResourceId};

/// Empty files that are made together. One with the name `broken` cannot be made, `refused` is known to be impossible,
/// and `late` has to be made after `zeal`.
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

    fn is_reversible(&self) -> bool {
        true
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let path = format!("/{}", self.0[0]);
        let description = before.description("file", &path)?;
        Ok(Some(description.with("state", "absent")))
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

    fn precheck(&self, _: &dyn Probe) -> Result<(), ResourceError> {
        if self.0.iter().any(|name| name == "refused") {
            return Err(ResourceError::Invalid("it is refused".to_owned()));
        }
        Ok(())
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        if self.0.iter().any(|name| name == "broken") {
            return Err(ResourceError::Invalid("it is broken".to_owned()));
        }
        let needs_other = self.0.iter().any(|name| name == "late");
        if needs_other && target.entry("/zeal".as_ref())?.is_none() {
            return Err(ResourceError::Invalid("it needs zeal".to_owned()));
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
fn a_member_that_fails_does_not_keep_the_others_from_being_changed() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::File::create(root.path().join("b")).expect("the folder is there");
    let (steps, ending, record) = run(root.path(), graph(&["a", "b", "broken"]), false);
    let count = |name: &str| steps.iter().filter(|step| step.starts_with(name)).count();
    assert_eq!(
        [
            count("Changed"),
            count("InOrder"),
            count("Unfinished"),
            count("Failed")
        ],
        [1, 1, 1, 1],
        "{steps:#?}"
    );
    assert_eq!(
        states(&ending),
        [
            "part:a InOrder",
            "part:b InOrder",
            "part:broken Failed(\"it is broken\")"
        ]
    );
    assert_eq!(ending.status, Status::Failed);
    assert_eq!(record.count(ResourceState::Failed), 1);
    assert!(root.path().join("a").exists());
}

#[test]
fn a_dry_run_finds_which_member_is_impossible() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::File::create(root.path().join("b")).expect("the folder is there");
    let (_, ending, _) = run(root.path(), graph(&["a", "b", "refused"]), true);
    let states = states(&ending);
    assert!(states[0].starts_with("part:a Pending(["), "{states:?}");
    assert_eq!(
        states[1..],
        ["part:b InOrder", "part:refused Failed(\"it is refused\")"]
    );
}

#[test]
fn a_member_can_wait_for_another_one() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let (_, ending, _) = run(root.path(), graph(&["broken", "late", "zeal"]), false);
    assert_eq!(
        states(&ending),
        [
            "part:broken Failed(\"it is broken\")",
            "part:late InOrder",
            "part:zeal InOrder"
        ]
    );
}

/// The members of a group in their order, then what waits for them.
fn with_dependants(broken: &str) -> Graph {
    let mut builder = GraphBuilder::new();
    for name in ["a", broken] {
        let resource = Together(vec![name.to_owned()]);
        builder.add(id(&format!("part:{name}")), resource, meta());
    }
    for (name, before) in [("/of-a", "a"), ("/of-other", broken)] {
        let file = id(&format!("file:{name}"));
        builder.add(file.clone(), File::new(name).with_content("x"), meta());
        builder.order(id(&format!("part:{before}")), file);
    }
    builder.build().expect("it has no cycle")
}

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

fn meta() -> MetaParameters {
    MetaParameters::default()
}

#[test]
fn only_what_waits_for_the_member_that_fails_is_skipped() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let (_, ending, _) = run(root.path(), with_dependants("broken"), false);
    assert_eq!(
        states(&ending),
        [
            "part:a InOrder",
            "part:broken Failed(\"it is broken\")",
            "file:/of-a InOrder",
            "file:/of-other Blocked(ResourceId { kind: \"part\", name: \"broken\" })",
        ]
    );
    assert!(root.path().join("of-a").exists());

    let root = tempfile::tempdir().expect("a folder for the test");
    let (_, ending, _) = run(root.path(), with_dependants("refused"), true);
    let states = states(&ending);
    assert!(states[2].starts_with("file:/of-a Pending("), "{states:?}");
    assert!(
        states[3].starts_with("file:/of-other Blocked("),
        "{states:?}"
    );
}

#[test]
fn what_was_there_before_is_kept_for_members_that_are_changed_alone() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let machine = Arc::new(Machine::root_folder(root.path()).expect("it is a folder"));
    let mut builder = GraphBuilder::new();
    for name in ["a", "refused"] {
        let meta = MetaParameters {
            reverse: true,
            ..meta()
        };
        let resource = Together(vec![name.to_owned()]);
        builder.add(id(&format!("part:{name}")), resource, meta);
    }
    let graph = builder.build().expect("it has no cycle");
    let location = StateLocation::new("org.example.Web").in_folder("/state");
    let state = AppliedState::lock(&*machine, location.clone(), Kinds::default());
    let state = state.expect("nobody has it");
    let graph = state.begin(&*machine, graph).expect("it is written");
    let (_control, controlled) = std::sync::mpsc::channel();
    let options = DriveOptions {
        state: Some(Arc::clone(&state)),
        ..DriveOptions::default()
    };
    drive(graph, machine, &options, controlled, |_| {});
    assert!(root.path().join("a").exists());
    let record = |name: &str| {
        let record = location.record(&id(&format!("part:{name}")));
        let inside = record.strip_prefix("/").expect("it is absolute");
        root.path().join(inside).exists()
    };
    assert_eq!([record("a"), record("refused")], [true, false]);
}
