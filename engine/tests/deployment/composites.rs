//! Resources of the kind `all`, which stand for others.

use pkgres_engine::{File, GraphBuilder, GraphError};
use pkgres_manifest::{MetaParameters, ResourceId};

use crate::{edges, graph, ids, package};

fn web(resources: &str) -> Result<pkgres_engine::Graph, Vec<String>> {
    graph(&[package("Web", &[], resources)], None)
}

#[test]
fn edges_mean_all_members_which_go_one_after_another() {
    let graph = web(
        "Package:\n- file: /first\n- all: web\n  after: [file:/first]\n  notifies: [file:/last]\n  members:\n\
         \x20 - file: /b\n  - all: inner\n    members: [{file: /d}, {file: /c}]\n  - file: /a\n- file: /last\n  after: ['all:inner']\n",
    );
    let graph = graph.expect("it is valid");
    assert_eq!(
        ids(&graph),
        [
            "file:/first",
            "file:/b",
            "file:/d",
            "file:/c",
            "file:/a",
            "file:/last"
        ]
    );
    assert_eq!(
        edges(&graph),
        [
            "file:/a => file:/last",
            "file:/b -> file:/c",
            "file:/b -> file:/d",
            "file:/b => file:/last",
            "file:/c -> file:/a",
            "file:/c => file:/last",
            "file:/d -> file:/a",
            "file:/d -> file:/c",
            "file:/d => file:/last",
            "file:/first -> file:/a",
            "file:/first -> file:/b",
            "file:/first -> file:/c",
            "file:/first -> file:/d",
        ]
    );
}

#[test]
fn each_object_has_its_own_members() {
    let package = package(
        "Web",
        &[("Web", "")],
        "Classes:\n  a.Web.Web:\n  - all: 'web ${this.name}'\n    members:\n    - file: '/${this.name}/b'\n    - file: '/${this.name}/a'\n",
    );
    let model = "- '?': {id: one, type: a.Web.Web}\n  name: x\n- '?': {id: two, type: a.Web.Web}\n  name: y\n";
    let graph = graph(&[package], Some(model)).expect("it is valid");
    assert_eq!(
        edges(&graph),
        ["file:/x/b -> file:/x/a", "file:/y/b -> file:/y/a"]
    );
}

#[test]
fn mistakes_have_places() {
    let failed = |resources: &str| web(resources).expect_err("there is a mistake");
    assert_eq!(
        failed("Package:\n- all: web\n  members: [{file: /a}, {file: /b, before: ['file:/a']}]\n"),
        [
            "Web/r.yaml:3:20: error[PK0105]: resources wait for each other in a cycle: `file:/a` -> `file:/b` -> `file:/a` [Web/r.yaml:3:32]"
        ]
    );
    // An edge between what stands for a resource and the resource itself is a cycle.
    assert_eq!(
        failed("Package:\n- all: web\n  members: [{file: /a, after: ['all:web']}]\n"),
        [
            "Web/r.yaml:3:20: error[PK0105]: resources wait for each other in a cycle: `file:/a` -> `file:/a`"
        ]
    );
    assert_eq!(
        failed(
            "Package:\n- all: web\n  members: [{file: /a}]\n- file: /b\n  receives: {content: {'all:web': stdout}}\n"
        ),
        ["Web/r.yaml:5:35: error[PK0105]: `all:web` does not send a value `stdout`"]
    );
}

#[test]
fn a_program_names_several_resources_at_once() {
    let id = |text: &str| text.parse::<ResourceId>().expect("it is an identity");
    let errors = |composites: &[(&str, &[&str])]| {
        let mut builder = GraphBuilder::new();
        builder.add(id("file:/a"), File::new("/a"), MetaParameters::default());
        for (name, members) in composites {
            builder.add_composite(id(name), members.iter().map(|member| id(member)).collect());
        }
        builder.build().expect_err("there is a mistake")
    };
    assert_eq!(
        errors(&[("all:x", &["file:/a"]), ("all:x", &["file:/a"])]),
        [GraphError::Duplicate(id("all:x"))]
    );
    assert_eq!(
        errors(&[("all:x", &["all:y"]), ("all:y", &["all:x"])]),
        [GraphError::Cycle(vec![id("all:x"), id("all:y")])]
    );
    let unknown = errors(&[("all:x", &["file:/b"])]);
    assert_eq!(unknown.len(), 1);
    assert_eq!(
        unknown[0].to_string(),
        "`all:x` refers to `file:/b`, which does not exist"
    );
}
