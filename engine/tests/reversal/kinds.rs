//! What each kind restores.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::os::unix::fs::PermissionsExt as _;

use pkgres_engine::{
    Command, Directory, Exec, File, Graph, GraphBuilder, Group, Guard, Kinds, Link, NodeStatus,
    Package, Query, Resource, Service, Status, User,
};
use pkgres_manifest::ResourceDescription;

use crate::support::{Root, graph, reversed};

/// Applies a graph and then an empty one, which has to bring back everything.
fn there_and_back(root: &Root, resources: Vec<(&str, Box<dyn Resource>)>) {
    let before = root.snapshot();
    let ending = root.apply(graph(resources));
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert_ne!(root.snapshot(), before);
    let ending = root.apply(Graph::default());
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert_eq!(root.snapshot(), before);
    let left = root.planned(Graph::default());
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_file_gets_its_content_and_mode_back() {
    let root = Root::new();
    // No text: any bytes are kept.
    root.write("/motd", b"hello\xff\n");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(root.path("/motd"), mode).expect("it is ours");
    let file = File::new("/motd")
        .with_content("welcome\n")
        .with_mode(0o644);
    there_and_back(&root, vec![("file:/motd", Box::new(file))]);
}

#[test]
fn a_file_that_was_not_there_is_removed_and_one_that_was_removed_comes_back() {
    let root = Root::new();
    root.write("/old", b"old\n");
    there_and_back(
        &root,
        vec![
            ("file:/new", Box::new(File::new("/new").with_content("new"))),
            ("file:/old", Box::new(File::new("/old").absent())),
        ],
    );
}

#[test]
fn what_a_resource_leaves_alone_is_not_restored() {
    let root = Root::new();
    root.write("/motd", b"hello\n");
    let file = File::new("/motd").with_mode(0o600);
    root.apply(graph(vec![("file:/motd", Box::new(file))]));
    root.write("/motd", b"changed by others\n");
    root.apply(Graph::default());
    assert_eq!(root.text("/motd").as_deref(), Some("changed by others\n"));
    let mode = std::fs::metadata(root.path("/motd")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o644);
}

#[test]
fn folders_go_after_what_is_in_them_and_stay_with_what_others_put_there() {
    let root = Root::new();
    let resources = || -> Vec<(&str, Box<dyn Resource>)> {
        vec![
            ("file:/srv/web/page", Box::new(File::new("/srv/web/page"))),
            ("directory:/srv/web", Box::new(Directory::new("/srv/web"))),
            ("directory:/srv", Box::new(Directory::new("/srv"))),
        ]
    };
    there_and_back(&root, resources());

    root.apply(graph(resources()));
    root.write("/srv/web/theirs", b"precious");
    let ending = root.apply(Graph::default());
    assert_eq!(ending.status, Status::Converged, "{ending:?}");
    assert_eq!(root.text("/srv/web/theirs").as_deref(), Some("precious"));
    assert_eq!(root.text("/srv/web/page"), None);
}

#[test]
fn a_folder_gets_its_mode_back() {
    let root = Root::new();
    std::fs::create_dir(root.path("/srv")).expect("it can be made");
    let folder = Directory::new("/srv").with_mode(0o700);
    there_and_back(&root, vec![("directory:/srv", Box::new(folder))]);
}

#[test]
fn a_link_leads_where_it_led() {
    let root = Root::new();
    std::os::unix::fs::symlink("releases/1", root.path("/current")).expect("it can be made");
    there_and_back(
        &root,
        vec![
            (
                "link:/current",
                Box::new(Link::new("/current", "releases/2")),
            ),
            ("link:/other", Box::new(Link::new("/other", "current"))),
        ],
    );
}

#[test]
fn kinds_that_lose_something_cannot_be_reversed() {
    let touch = || Command::new("touch").argument("/made");
    let remove = || Command::new("rm").argument("/made");
    let exec = || Exec::new(touch(), Guard::creates("/made"));
    let cannot: Vec<Box<dyn Resource>> = vec![
        Box::new(Directory::new("/srv").absent()),
        Box::new(User::new("web").absent()),
        Box::new(Group::new("web").absent()),
        Box::new(Query::new(touch())),
        Box::new(exec()),
        Box::new(Exec::new(touch(), Guard::OnRefresh).with_undo(remove())),
        // Properties cannot say who the guard runs as.
        Box::new(Exec::new(touch(), Guard::Unless(remove().user("web"))).with_undo(remove())),
    ];
    for resource in cannot {
        assert!(!resource.is_reversible(), "{}", resource.definition());
    }
    let can: Vec<Box<dyn Resource>> = vec![
        Box::new(Directory::new("/srv")),
        Box::new(File::new("/srv").absent()),
        Box::new(Link::absent("/srv")),
        Box::new(User::new("web")),
        Box::new(Group::new("web")),
        Box::new(Package::new("web").absent()),
        Box::new(Service::new("web").enabled()),
        Box::new(exec().with_undo(remove())),
    ];
    for resource in can {
        assert!(resource.is_reversible(), "{}", resource.definition());
    }
}

#[test]
fn what_could_not_be_restored_is_not_removed_by_force() {
    let root = Root::new();
    std::fs::create_dir(root.path("/motd")).expect("nothing is there");
    root.write("/motd/precious", b"x");
    let id = "file:/motd".parse().expect("it is an identity");
    let described = ResourceDescription::new(id)
        .with("content", "new")
        .with("force", "true");
    let forced = Kinds::default().read(&described).expect("it is valid");
    let mut builder = GraphBuilder::new();
    builder.add_shared(described.id.value, forced, reversed());
    let ending = root.apply(builder.build().expect("it has no cycle"));
    let NodeStatus::Failed(message) = &ending.nodes[0].1 else {
        panic!("{ending:?}");
    };
    assert!(message.contains("could not be restored"), "{message}");
    assert_eq!(root.text("/motd/precious").as_deref(), Some("x"));
}
