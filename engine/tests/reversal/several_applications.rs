//! Applications that reverse the same resource on one machine.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::os::unix::fs::PermissionsExt as _;

use pkgres_engine::{File, Graph, Link};

use crate::support::{Root, graph};

const ONE: &str = "org.example.One";
const TWO: &str = "org.example.Two";
const THREE: &str = "org.example.Three";

fn motd(file: File) -> Graph {
    graph(vec![("file:/motd", Box::new(file))])
}

fn motd_of(application: &str) -> Graph {
    motd(File::new("/motd").with_content(application))
}

/// In whatever order they go, the last one that is there has what it wants, and in the end everything is as it was.
#[test]
fn what_was_there_before_all_applications_comes_back() {
    for before in [None, Some("hello")] {
        for (order, left) in [
            ([ONE, TWO, THREE], [Some(THREE), Some(THREE)]),
            ([ONE, THREE, TWO], [Some(THREE), Some(TWO)]),
            ([TWO, ONE, THREE], [Some(THREE), Some(THREE)]),
            ([TWO, THREE, ONE], [Some(THREE), Some(ONE)]),
            ([THREE, ONE, TWO], [Some(TWO), Some(TWO)]),
            ([THREE, TWO, ONE], [Some(TWO), Some(ONE)]),
        ] {
            let root = Root::new();
            if let Some(before) = before {
                root.write("/motd", before.as_bytes());
            }
            for application in [ONE, TWO, THREE] {
                root.apply_of(application, motd_of(application));
            }
            let ends = [left[0], left[1], before];
            for (application, left) in order.into_iter().zip(ends) {
                root.apply_of(application, Graph::default());
                assert_eq!(root.text("/motd").as_deref(), left, "{order:?}");
            }
        }
    }
}

/// An application that finds a resource as it wants it changes nothing, and needs it all the same.
#[test]
fn what_applications_describe_equally_stays_until_the_last_one_goes() {
    for before in [None, Some("hello")] {
        for order in [[ONE, TWO, THREE], [THREE, ONE, TWO], [TWO, THREE, ONE]] {
            let root = Root::new();
            if let Some(before) = before {
                root.write("/motd", before.as_bytes());
            }
            for application in [ONE, TWO, THREE] {
                let changes = root.count_changes_of(application, motd_of("welcome"));
                assert_eq!(changes, usize::from(application == ONE));
            }
            for (application, left) in
                order
                    .into_iter()
                    .zip([Some("welcome"), Some("welcome"), before])
            {
                root.apply_of(application, Graph::default());
                assert_eq!(root.text("/motd").as_deref(), left, "{order:?}");
            }
        }
    }
}

/// It is not up to an application that found a resource absent to make it again.
#[test]
fn what_applications_want_absent_stays_away_until_the_last_one_goes() {
    let absent = || motd(File::new("/motd").absent());
    for order in [[ONE, TWO], [TWO, ONE]] {
        let root = Root::new();
        root.write("/motd", b"hello");
        for application in [ONE, TWO] {
            root.apply_of(application, absent());
        }
        for (application, left) in order.into_iter().zip([None, Some("hello")]) {
            root.apply_of(application, Graph::default());
            assert_eq!(root.text("/motd").as_deref(), left, "{order:?}");
        }
    }
}

/// Another application may leave properties alone that this one has changed.
#[test]
fn properties_that_the_other_application_leaves_alone_are_restored() {
    let root = Root::new();
    root.write("/motd", b"hello");
    let mode = || {
        let metadata = std::fs::metadata(root.path("/motd")).expect("it is there");
        metadata.permissions().mode() & 0o7777
    };
    let usual = mode();
    let one = File::new("/motd").with_content(ONE).with_mode(0o600);
    root.apply_of(ONE, motd(one));
    root.apply_of(TWO, motd_of(TWO));
    assert_eq!(mode(), 0o600);
    root.apply_of(ONE, Graph::default());
    assert_eq!((root.text("/motd").as_deref(), mode()), (Some(TWO), usual));
    root.apply_of(TWO, Graph::default());
    assert_eq!(
        (root.text("/motd").as_deref(), mode()),
        (Some("hello"), usual)
    );
}

/// A resource that another application does not have is reversed as ever.
#[test]
fn other_resources_of_another_application_change_nothing() {
    let root = Root::new();
    let link = || -> Graph {
        let link = Link::new("/latest", "/motd");
        graph(vec![("link:/latest", Box::new(link))])
    };
    root.apply_of(ONE, link());
    root.apply_of(TWO, motd_of(TWO));
    // What is no state of an application is left alone.
    root.write("/state/README", b"");
    root.apply_of(ONE, Graph::default());
    assert!(!root.path("/latest").exists());
    assert_eq!(root.text("/motd").as_deref(), Some(TWO));
}
