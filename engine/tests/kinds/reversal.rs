//! What was there before resources comes back, for the kinds that need programs of the machine.

use std::path::Path;

use pkgres_engine::{
    Before, Checked, Command, Exec, Group, Guard, Input, Kinds, Machine, Package, Resource,
    SentValue, Service, User,
};
use pkgres_manifest::ResourceId;
use pkgres_tests::debian::REPOSITORY;

use crate::debian::{Debian, change, is_in_order};
use crate::service::define_unsupervised_web;

/// Makes the machine as a resource wants it, and then as it was before. Returns what the way back changes.
fn there_and_back(machine: &Machine, id: &str, resource: &dyn Resource) -> Vec<String> {
    assert!(resource.is_reversible(), "{id}");
    let id: ResourceId = id.parse().expect("it is an identity");
    let input = Input::default();
    let mut before = Before::new(&id, machine, &input, Path::new("/kept"));
    let description = resource.reversed(&mut before).expect("it can be read");
    let description = description.expect("there is something to restore");
    change(machine, resource);
    let reversal = Kinds::default().read(&description).expect("it is valid");
    let changed = change(machine, reversal.as_ref());
    assert!(!is_in_order(machine, resource), "{id} is still there");
    changed
}

#[test]
fn users_and_groups_are_as_they_were() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    let accounts = || debian.shell("getent passwd; getent group");
    let before = accounts();
    there_and_back(machine, "group:www", &Group::new("www").with_number(2000));
    there_and_back(machine, "user:web", &User::new("web"));
    assert_eq!(accounts(), before);

    change(machine, &Group::new("www").with_number(2000));
    let web = User::new("web").with_groups(["www", "users"]);
    change(
        machine,
        &web.clone().with_shell("/bin/sh").with_comment("Web"),
    );
    let before = accounts();
    let number = Group::new("www").with_number(2001);
    there_and_back(machine, "group:www", &number);
    let changed = web
        .with_only_groups(["adm", "www"])
        .with_shell("/bin/bash")
        .with_comment("Other");
    assert_eq!(
        there_and_back(machine, "user:web", &changed),
        [
            "groups: adm,www -> users,www",
            "shell: /bin/bash -> /bin/sh",
            "comment: Other -> Web"
        ]
    );
    assert_eq!(accounts(), before);
}

#[test]
fn packages_have_the_version_that_they_had() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    // Configuration files stay.
    let installed = || {
        let format = "${db:Status-Status} ${Package} ${Version}\\n";
        let query = format!("dpkg-query --show --showformat '{format}'");
        debian.shell(&format!("{query} | grep ^installed"))
    };
    let without = installed();
    let old = Package::new("sample").with_version("1.0");
    there_and_back(machine, "package:sample", &old);
    assert_eq!(installed(), without);

    change(machine, &old);
    let with_old = installed();
    let new = Package::new("sample").with_version("2.0");
    there_and_back(machine, "package:sample", &new);
    there_and_back(machine, "package:sample", &Package::new("sample").absent());
    assert_eq!(installed(), with_old);
}

#[test]
fn a_service_is_enabled_as_it_was() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    define_unsupervised_web(&debian);
    let service = Service::new("web").enabled();
    let changed = there_and_back(machine, "service:web", &service);
    assert_eq!(changed, ["start: enabled -> disabled"]);
    change(machine, &service);
    // What it receives counts as what it has.
    let received = Input {
        received: [("enabled".to_owned(), SentValue::Boolean(false))].into(),
        ..Input::default()
    };
    let checked = service
        .check(machine, &received)
        .expect("it can be checked");
    assert!(matches!(checked, Checked::Drift(_)), "{checked:?}");
    let disabled = Service::new("web").disabled();
    let changed = there_and_back(machine, "service:web", &disabled);
    assert_eq!(changed, ["start: disabled -> enabled"]);
}

#[test]
fn a_command_is_undone_as_the_user_that_ran_it() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell("mkdir /srv/work; chown nobody /srv/work");
    let command = Command::new("touch").argument("made").user("nobody");
    let exec = Exec::new(
        command.folder("/srv/work"),
        Guard::creates("/srv/work/made"),
    )
    .with_undo(Command::new("sh").arguments(["-c", "id -un >user; rm made"]));
    let changed = there_and_back(machine, "exec:make", &exec);
    assert_eq!(
        changed,
        [
            "state: done -> undone",
            "undo: sh -c 'id -un >user; rm made'"
        ]
    );
    assert_eq!(debian.text("/srv/work/user"), "nobody\n");
}
