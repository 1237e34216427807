//! What a file asks about mounts.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};

use pkgres_manifest::Facts;

use super::*;
use crate::target::{Command, Machine, Output, TargetError};

/// A machine that counts the questions about mounts.
struct Counting {
    machine: Machine,
    questions: AtomicUsize,
}

impl Probe for Counting {
    fn facts(&self) -> &Facts {
        self.machine.facts()
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        self.machine.entry(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        self.machine.read(path, limit)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        self.machine.names(path)
    }

    fn mount_point(&self, path: &Path) -> Result<Option<PathBuf>, TargetError> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        self.machine.mount_point(path)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        self.machine.query(command)
    }

    fn enforces_read_only(&self) -> bool {
        self.machine.enforces_read_only()
    }

    fn watchable(&self) -> Option<PathBuf> {
        self.machine.watchable()
    }
}

impl Target for Counting {
    fn write_file(&self, _: &Path, _: &[u8], _: EntryAttributes) -> Result<(), TargetError> {
        Err(TargetError::Unsupported("the disk is full".to_owned()))
    }

    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        self.machine.make_folder(path, attributes)
    }

    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError> {
        self.machine.make_link(path, target)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        self.machine.rename(from, to)
    }

    fn set_attributes(&self, _: &Path, _: EntryAttributes) -> Result<(), TargetError> {
        Err(TargetError::Unsupported("the disk is full".to_owned()))
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        self.machine.remove(path)
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        self.machine.run(command)
    }
}

#[test]
#[allow(clippy::disallowed_methods)]
fn only_a_file_that_is_replaced_can_be_mounted() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::write(root.path().join("old"), "old").expect("the root is there");
    let target = Counting {
        machine: Machine::root_folder(root.path()).expect("it is a folder"),
        questions: AtomicUsize::new(0),
    };
    for (file, expected) in [
        (File::new("/new").with_content("x"), 0),
        (File::new("/old").with_content("x"), 1),
        (File::new("/old").with_mode(0o600), 0),
    ] {
        let check = || match file.check(&target, &Input::default()) {
            Ok(Checked::Drift(change)) => change,
            _ => panic!("it differs"),
        };
        let questions = || target.questions.swap(0, Ordering::Relaxed);
        check().precheck(&target).expect("it can be changed");
        assert_eq!(questions(), expected, "{file:?}");
        assert!(check().apply(&target).is_err());
        assert_eq!(questions(), expected, "{file:?}");
    }
}
