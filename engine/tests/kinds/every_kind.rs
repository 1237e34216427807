//! What holds for every kind.

use pkgres_engine::{
    Command, Directory, Exec, File, Group, Guard, Link, Package, Query, Resource, Service, User,
};

use crate::artifact::{Served, artifact, sample};
use crate::debian::{Debian, change, is_in_order, try_change};
use crate::package::REPOSITORY;
use crate::service::define_unsupervised_web;

#[test]
fn one_change_is_enough_and_a_second_one_does_nothing() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    define_unsupervised_web(&debian);
    let bytes = sample();
    let resources: Vec<Box<dyn Resource>> = vec![
        Box::new(Group::new("www").system()),
        Box::new(User::new("web").with_group("www").with_groups(["adm"])),
        Box::new(
            Directory::new("/srv/web")
                .with_owner("web")
                .with_group("www"),
        ),
        Box::new(
            File::new("/srv/web/page")
                .with_content("hello\n")
                .with_mode(0o640),
        ),
        Box::new(Link::new("/srv/page", "web/page")),
        Box::new(Package::new("sample").with_version("1.0")),
        Box::new(Exec::new(
            Command::new("touch").argument("/made"),
            Guard::creates("/made"),
        )),
        Box::new(Service::new("web").enabled()),
        Box::new(artifact(&bytes, Served::new(bytes.clone()))),
    ];
    for resource in &resources {
        change(machine, resource.as_ref());
    }
    for resource in &resources {
        let again = try_change(machine, resource.as_ref()).expect("it can be checked");
        assert!(again.is_empty(), "{}: {again:?}", resource.definition());
        assert_eq!(resource.definition(), resource.definition());
    }
    assert!(is_in_order(machine, &Query::new(Command::new("true"))));

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
