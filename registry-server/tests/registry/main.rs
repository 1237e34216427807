//! The registry without HTTP: every case on every kind of storage.

mod cases;
mod catalog;
mod lost;
mod nodes;
mod proxy;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod sweeping;
mod tls;

use pkgres_tests::services;

use crate::cases::CASES;
use crate::support::Place;

#[test]
fn on_files() {
    for (name, case) in CASES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        named(name, || case(&Place::files(folder.path())));
    }
}

#[test]
fn on_services() {
    let Some(postgres) = services::postgres() else {
        return;
    };
    let Some(objects) = services::object_store() else {
        return;
    };
    for (at, (name, case)) in CASES.iter().enumerate() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bucket = objects.bucket(&format!("case{at}"));
        let place = Place::services(folder.path(), postgres.database(), Some(bucket));
        named(name, || case(&place));
    }
    nodes::follow_each_other(&postgres);
    nodes::need_the_same_archives(&postgres);
}

/// Runs a case, and prints its name if it fails.
fn named(name: &str, case: impl FnOnce()) {
    struct OnPanic<'name>(&'name str);
    impl Drop for OnPanic<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                #[allow(clippy::print_stderr)]
                {
                    eprintln!("in the case `{}`", self.0);
                }
            }
        }
    }
    let _guard = OnPanic(name);
    case();
}
