//! What holds for every kind.

use std::collections::BTreeSet;
use std::time::Duration;

use pkgres_engine::{
    Command, Directory, Exec, File, Group, Guard, Kinds, Link, LockedArtifacts, Package, Query,
    Resource, Service, User,
};
use pkgres_manifest::Limits;
use pkgres_tests::debian::REPOSITORY;

use crate::artifact::{Served, artifact, sample};
use crate::debian::{Debian, change, is_in_order, try_change};
use crate::service::define_unsupervised_web;

/// Checks that a test has all kinds that there are, so that none is forgotten.
pub(crate) fn assert_all_kinds<'kinds>(tested: impl IntoIterator<Item = &'kinds str>) {
    let source = Served::new(sample());
    let kinds = Kinds::default().with_artifacts(LockedArtifacts::new(source, Limits::default()));
    let known: BTreeSet<&str> = kinds.names().collect();
    let tested: BTreeSet<&str> = tested.into_iter().collect();
    assert_eq!(tested, known);
}

#[test]
fn one_change_is_enough_and_a_second_one_does_nothing() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    define_unsupervised_web(&debian);
    let bytes = sample();
    let resources: Vec<(&str, Box<dyn Resource>)> = vec![
        ("group", Box::new(Group::new("www").system())),
        (
            "user",
            Box::new(User::new("web").with_group("www").with_groups(["adm"])),
        ),
        (
            "directory",
            Box::new(
                Directory::new("/srv/web")
                    .with_owner("web")
                    .with_group("www"),
            ),
        ),
        (
            "file",
            Box::new(
                File::new("/srv/web/page")
                    .with_content("hello\n")
                    .with_mode(0o640),
            ),
        ),
        ("link", Box::new(Link::new("/srv/page", "web/page"))),
        (
            "package",
            Box::new(Package::new("sample").with_version("1.0")),
        ),
        (
            "exec",
            Box::new(Exec::new(
                Command::new("touch").argument("/made"),
                Guard::creates("/made"),
            )),
        ),
        ("service", Box::new(Service::new("web").enabled())),
        (
            "artifact",
            Box::new(artifact(&bytes, Served::new(bytes.clone()))),
        ),
    ];
    // A query is never changed.
    let query = Query::new(Command::new("true"));
    let tested = resources.iter().map(|(kind, _)| *kind);
    assert_all_kinds(tested.chain(["query"]));
    for (_, resource) in &resources {
        change(machine, resource.as_ref());
    }
    for (_, resource) in &resources {
        let again = try_change(machine, resource.as_ref()).expect("it can be checked");
        assert!(again.is_empty(), "{}: {again:?}", resource.definition());
        assert_eq!(resource.definition(), resource.definition());
    }
    assert!(is_in_order(machine, &query));

    // The other way round, and back.
    let removals: Vec<Box<dyn Resource>> = vec![
        Box::new(Service::new("web").disabled()),
        Box::new(Package::new("sample").absent()),
        Box::new(Link::absent("/srv/page")),
        Box::new(File::new("/srv/web/page").absent()),
        Box::new(Directory::new("/srv/web").absent()),
        Box::new(User::new("web").absent()),
        Box::new(Group::new("www").absent()),
    ];
    for removal in &removals {
        change(machine, removal.as_ref());
        assert!(is_in_order(machine, removal.as_ref()));
    }
}

/// Names of fields in the code may change; what counts as the same resource may not.
#[test]
fn definitions_have_the_properties_by_name() {
    let link = Link::new("/a", "/b\", parents: true").definition();
    let expected = r#"link, path: "/a", target: Some("/b\", parents: true"), parents: false"#;
    assert_eq!(link, expected);
    let command = || Command::new("true").argument("x");
    let guard = || Guard::creates("/a");
    let different: Vec<String> = [
        Exec::new(command(), guard()),
        Exec::new(command().argument("y"), guard()),
        Exec::new(command().user("nobody"), guard()),
        Exec::new(command().input("x"), guard()),
        Exec::new(command().timeout(Duration::from_secs(1)), guard()),
        Exec::new(command(), Guard::Unless(command())),
        Exec::new(command(), Guard::OnlyIf(command())),
        Exec::new(command(), guard()).with_guard(Guard::OnRefresh),
        Exec::new(command(), guard()).with_undo(command()),
        Exec::new(command(), guard()).undone(),
    ]
    .map(|exec| exec.definition())
    .into();
    let files = [
        File::new("/a"),
        File::new("/a").absent(),
        File::new("/a").with_content(""),
        File::new("/a").with_content("x"),
        File::new("/a").with_copy_of("/x"),
        File::new("/a").with_parents(),
        File::new("/a").with_mode(0o644),
        File::new("/a").with_owner("x"),
        File::new("/a").with_group("x"),
    ]
    .map(|file| file.definition());
    let all: Vec<String> = different.into_iter().chain(files).collect();
    let texts: BTreeSet<&String> = all.iter().collect();
    assert_eq!(texts.len(), all.len(), "{all:#?}");
    let again = Exec::new(command(), guard()).definition();
    assert_eq!(again, all[0]);
}
