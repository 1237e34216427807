//! Symbolic links.

use pkgres_engine::{File, Input, Link, Machine, Resource as _};

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
    assert!(error.to_string().contains("/missing/file"), "{error}");
}
