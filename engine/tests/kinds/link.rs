//! Symbolic links, and what is in the way of them and others.

// The tests make files themselves.
#![allow(clippy::disallowed_methods)]

use pkgres_engine::{File, Input, Kinds, Link, Machine, Resource as _};
use pkgres_manifest::ResourceDescription;

use crate::debian::{change, is_in_order, try_change};

#[test]
fn a_link_is_made_changed_and_removed() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let made = change(&machine, &Link::new("/current", "releases/1"));
    assert_eq!(made, ["link: releases/1"]);
    let changed = change(&machine, &Link::new("/current", "releases/2"));
    assert_eq!(changed, ["link: releases/1 -> releases/2"]);
    let target = std::fs::read_link(folder.path().join("current")).expect("it is a link");
    assert_eq!(target.to_str(), Some("releases/2"));
    let removed = change(&machine, &Link::absent("/current"));
    assert_eq!(removed, ["link: remove /current"]);
    assert!(is_in_order(&machine, &Link::absent("/current")));
}

#[test]
fn a_file_is_not_replaced_by_a_link() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    change(&machine, &File::new("/current").with_content("precious"));
    for link in [Link::new("/current", "/"), Link::absent("/current")] {
        let error = link
            .check(&machine, &Input::default())
            .expect_err("there is a file");
        assert_eq!(
            error.to_string(),
            "/current exists, but is not a link: remove it first"
        );
    }
    let error = try_change(&machine, &File::new("/missing/file")).expect_err("it has no folder");
    assert_eq!(
        error.to_string(),
        "the folder /missing does not exist: add a resource `directory: /missing`, or `parents: true`, or say `after` what makes it"
    );
}

#[test]
fn what_is_in_the_way_is_only_replaced_by_force() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let path = folder.path().join("current");
    let kinds = Kinds::default();
    let described = |id: &str, property: &str, value: &str| {
        let id = id.parse().expect("it is an identity");
        ResourceDescription::new(id).with(property, value)
    };
    let file = || described("file:/current", "content", "new");
    let link = || described("link:/current", "target", "elsewhere");
    let directory = || described("directory:/current", "mode", "0750");
    let gone = || described("file:/current", "state", "absent");
    let in_the_way = |make: &dyn Fn(), differ: [&str; 2], description: ResourceDescription| {
        make();
        let resource = kinds.read(&description).expect("it is valid");
        let error = resource.check(&machine, &Input::default());
        let error = error.expect_err("something is in the way").to_string();
        assert!(error.contains("/current exists"), "{error}");
        let resource = kinds.read(&description.with("force", "true"));
        let differences = change(&machine, &*resource.expect("it is valid"));
        let [obstacle, made] = differ;
        let obstacle = format!("in the way: remove {obstacle}");
        let made = (!made.is_empty()).then(|| made.to_owned());
        let wanted: Vec<_> = std::iter::once(obstacle).chain(made).collect();
        assert_eq!(differences, wanted);
    };
    let filled = || {
        std::fs::create_dir_all(path.join("a/b")).expect("it can be made");
        std::fs::write(path.join("a/b/c"), "x").expect("it can be written");
    };
    let all = "a folder with everything in it";
    in_the_way(&filled, [all, "file: 0644, 3 bytes"], file());
    assert_eq!(std::fs::read_to_string(&path).expect("it is a file"), "new");
    in_the_way(&|| {}, ["a file", "link: elsewhere"], link());
    assert!(path.is_symlink());
    in_the_way(&|| {}, ["a link", "folder: 0750"], directory());
    assert!(path.is_dir());
    in_the_way(&filled, [all, ""], gone());
    assert!(!path.exists());

    // Without anything in the way, it makes no difference.
    let plain = kinds.read(&file()).expect("it is valid");
    change(&machine, &*plain);
    let forced = kinds
        .read(&file().with("force", "true"))
        .expect("it is valid");
    assert!(is_in_order(&machine, &*forced));
    assert_ne!(plain.definition(), forced.definition());
    let root = described("directory:/", "mode", "0755").with("force", "true");
    let errors = kinds.read(&root).err().expect("that cannot be");
    assert!(
        errors[0].message.contains("cannot be replaced"),
        "{errors:?}"
    );
}

/// An obstacle is removed only if its replacement can be made.
#[test]
fn nothing_is_removed_for_what_cannot_be_made() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let path = folder.path().join("current");
    std::fs::create_dir(&path).expect("it can be made");
    std::fs::write(path.join("kept"), "x").expect("it can be written");
    for (property, value) in [
        ("owner", "nobody-here"),
        ("copy_of", "/missing"),
        ("copy_of", "/current/kept"),
    ] {
        let id = "file:/current".parse().expect("it is an identity");
        let described = ResourceDescription::new(id).with("force", "true");
        let resource = Kinds::default().read(&described.with(property, value));
        let resource = resource.expect("it is valid");
        let failed = try_change(&machine, &*resource).is_err();
        assert!(failed, "{property}: {value}");
        assert!(path.join("kept").exists(), "{property}: {value}");
    }
}
