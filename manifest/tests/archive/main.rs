//! Archives: what is rejected and why, what is accepted, and what other readers make of it.

mod accepted;
mod build;
mod entries;
mod framing;
mod headers;
mod limits;
mod random;

use build::Entry;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Archive, Limits, PackagePath};

fn open(bytes: Vec<u8>) -> Result<Archive, Diagnostic> {
    Archive::open("test.zip", bytes, &Limits::default())
}

/// Checks that each archive is rejected, with a message that says so.
fn assert_rejected(cases: impl IntoIterator<Item = (&'static str, Vec<u8>, &'static str)>) {
    for (what, bytes, expected) in cases {
        match open(bytes) {
            Ok(_) => panic!("{what}: accepted"),
            Err(error) => {
                assert!(error.message.contains(expected), "{what}: {error}");
                assert!(
                    matches!(error.code, Code::Archive | Code::Path),
                    "{what}: {error}"
                );
                assert_eq!(error.labels[0].location.source().name(), "test.zip");
            }
        }
    }
}

/// The default limits but for a change.
fn changed_limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn path(text: &str) -> PackagePath {
    PackagePath::parse(text).expect("a path")
}

const CONTENT: &[u8] = b"content content content content";

fn sample() -> Entry {
    Entry::deflated("Resources/a", CONTENT)
}
