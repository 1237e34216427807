//! What the state keeps of a run that did not bring everything into order, or that lacks the objects of a model.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use pkgres_engine::{
    AppliedState, Change, Checked, Difference, DriveOptions, EntryAttributes, File, Graph,
    GraphBuilder, Input, Kinds, NodeStatus, ObjectResources, Probe, Receipt, Resource,
    ResourceError, Status, Target, ValueType, Values, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};

use crate::support::{Root, graph, location};

fn file(path: &str) -> (String, Box<dyn Resource>) {
    let file = File::new(path).with_content(path);
    (format!("file:{path}"), Box::new(file))
}

fn files(paths: &[&str]) -> Graph {
    let files: Vec<_> = paths.iter().map(|path| file(path)).collect();
    let files = files
        .into_iter()
        .map(|(id, file)| (id.leak() as &str, file));
    graph(files.collect())
}

fn ids(texts: &[&str]) -> BTreeSet<ResourceId> {
    let ids = texts.iter().map(|text| text.parse());
    ids.map(|id| id.expect("it is an identity")).collect()
}

#[test]
fn what_did_not_get_into_order_is_still_new_in_the_next_run() {
    let root = Root::new();
    std::fs::create_dir(root.path("/folder")).expect("nothing is there");
    root.write("/folder/gone", b"before");
    root.apply(files(&["/folder/gone"]));
    std::fs::rename(root.path("/folder"), root.path("/away")).expect("it is there");
    for _ in 0..2 {
        let ending = root.apply(files(&["/new"]));
        assert_eq!(ending.status, Status::Failed);
        assert!(matches!(ending.nodes[1].1, NodeStatus::Blocked(_)));
        assert_eq!(root.text("/new"), None);
    }
    std::fs::rename(root.path("/away"), root.path("/folder")).expect("it is there");
    let mut seen = Vec::new();
    root.apply_observed(files(&["/new"]), |step| {
        if let pkgres_engine::Step::Changed(id, _) = step {
            seen.push(id.to_string());
        }
    });
    assert_eq!(seen, ["file:/folder/gone", "file:/new"]);
}

#[test]
fn what_never_got_onto_the_machine_is_not_left_behind() {
    let root = Root::new();
    let mut builder = GraphBuilder::new();
    for path in ["/missing/file", "/made"] {
        let id = ResourceId::new("file", path).expect("it is an identity");
        builder.add(id, File::new(path), MetaParameters::default());
    }
    root.apply(builder.build().expect("it has no cycle"));
    let state = AppliedState::read(&*root.machine, location(), Kinds::default());
    let state = state.expect("it can be read");
    let left: Vec<_> = state.left_behind(&Graph::default());
    assert_eq!(BTreeSet::from_iter(left), ids(&["file:/made"]));
}

/// Runs a graph as `pkgres apply` does; `objects` are the resources of objects. Returns what would have been left out.
fn apply(root: &Root, graph: Graph, objects: ObjectResources, owed: &[&str]) -> Vec<String> {
    let state = AppliedState::lock(&*root.machine, location(), Kinds::default());
    let state = state.expect("nobody else works on it");
    state.set_objects(objects);
    let left_out = state.left_out(&graph);
    assert_eq!(state.left_behind(&graph), []);
    let graph = state
        .begin(&*root.machine, graph)
        .expect("it can be written");
    let (_control, controlled) = std::sync::mpsc::channel();
    let target: Arc<dyn Target> = root.machine.clone();
    let ending = drive(graph, target, &DriveOptions::default(), controlled, |_| {});
    state.owe(ids(owed));
    let finished = state.finish(&*root.machine, &ending.nodes);
    finished.expect("it can be written");
    left_out.iter().map(ToString::to_string).collect()
}

#[test]
fn without_a_model_the_resources_of_objects_stay_as_they_are() {
    let root = Root::new();
    root.write("/a", b"before");
    let known = |texts: &[&str]| ObjectResources::Known(ids(texts));
    let of_package = || files(&["/p"]);
    apply(
        &root,
        files(&["/p", "/a"]),
        known(&["file:/a"]),
        &["file:/a"],
    );
    assert_eq!(root.text("/a").as_deref(), Some("/a"));

    for _ in 0..2 {
        let left_out = apply(&root, of_package(), ObjectResources::LeftOut, &[]);
        assert_eq!(left_out, ["file:/a"]);
        assert_eq!(root.text("/a").as_deref(), Some("/a"), "it is not reversed");
        let state = AppliedState::read(&*root.machine, location(), Kinds::default());
        let owed = state.expect("it can be read").owed();
        assert_eq!(owed, ids(&["file:/a"]), "its refresh is still owed");
    }

    // A model without objects says that there are none.
    let left_out = apply(&root, of_package(), known(&[]), &[]);
    assert_eq!(left_out, [] as [&str; 0]);
    assert_eq!(root.text("/a").as_deref(), Some("before"));
    assert!(root.text("/p").is_some());
}

/// Makes a file once, and then sends a value that no later check finds.
struct Token(Arc<Mutex<Option<String>>>);

const MADE: &str = "/made";

impl Resource for Token {
    fn definition(&self) -> String {
        "Token".to_owned()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        if probe.entry(Path::new(MADE))?.is_none() {
            return Ok(Checked::drift(MakeToken(Arc::clone(&self.0))));
        }
        let sent = self.0.lock().expect("no test panics meanwhile").clone();
        let values = sent.map(|text| Values::from([("token".to_owned(), text.into())]));
        Ok(Checked::InOrder(values.unwrap_or_default()))
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        &[("token", ValueType::Text)]
    }
}

struct MakeToken(Arc<Mutex<Option<String>>>);

impl Change for MakeToken {
    fn differences(&self) -> Vec<Difference> {
        vec![Difference::new("token", None::<&str>, Some("made"))]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        target.write_file(Path::new(MADE), b"", EntryAttributes::with_mode(0o644))?;
        *self.0.lock().expect("no test panics meanwhile") = Some("secret".to_owned());
        Ok(())
    }
}

#[test]
fn a_value_that_is_sent_once_is_kept_until_all_have_received_it() {
    let root = Root::new();
    // A process knows nothing of an earlier one.
    let token_to = |path: &str| {
        let mut builder = GraphBuilder::new();
        let [token, file] = ["token:it".to_owned(), format!("file:{path}")]
            .map(|id| id.parse::<ResourceId>().expect("it is an identity"));
        let meta = MetaParameters::default;
        builder.add(token.clone(), Token(Arc::default()), meta());
        builder.add(file.clone(), File::new(path), meta());
        let receipt = Receipt {
            property: "content".to_owned(),
            from: token,
            value: "token".to_owned(),
        };
        builder.add_receipt(&file, receipt);
        builder.build().expect("it has no cycle")
    };
    let path = "/state/org.example.Web/applied.json";
    let applied = || root.text(path).expect("a run has ended");
    for _ in 0..2 {
        let ending = root.apply(token_to("/folder/token"));
        assert_eq!(ending.status, Status::Failed, "the folder does not exist");
        assert!(root.text(MADE).is_some());
        assert!(applied().contains("secret"), "{}", applied());
        let mode = root.state_snapshot()[path][..4].to_owned();
        assert_eq!(mode, "0600");
    }
    std::fs::create_dir(root.path("/folder")).expect("nothing is there");
    let ending = root.apply(token_to("/folder/token"));
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert_eq!(root.text("/folder/token").as_deref(), Some("secret"));
    assert!(!applied().contains("secret"), "{}", applied());
}
