//! A Debian system on which resources are checked and changed for real.

use std::path::Path;
use std::sync::Arc;

use pkgres_engine::{
    Checked, Command, Difference, Input, Machine, Overlay, Probe as _, Resource, ResourceError,
    Target as _,
};
use pkgres_tests::skip;
use tempfile::TempDir;

/// A Debian system that a test can change. All tests share the folder below it, which stays as it is.
pub(crate) struct Debian {
    overlay: Overlay,
    _place: TempDir,
}

impl Debian {
    /// A system as debootstrap makes it. Reports it and returns `None` if there is none, or if the user may not use it.
    pub(crate) fn new() -> Option<Self> {
        let Some(root) = std::env::var_os("PKGRES_DEBIAN_ROOT") else {
            skip::without_service("PKGRES_DEBIAN_ROOT names no Debian system");
            return None;
        };
        let place = tempfile::tempdir().expect("a folder for the test");
        match Overlay::new(Path::new(&root), place.path()) {
            Ok(overlay) => Some(Self {
                overlay,
                _place: place,
            }),
            Err(error) => {
                skip::without_service(&error.to_string());
                None
            }
        }
    }

    pub(crate) fn machine(&self) -> &Machine {
        self.overlay.machine()
    }

    pub(crate) fn shared_machine(&self) -> Arc<Machine> {
        self.overlay.shared_machine()
    }

    /// What a shell writes that runs a text.
    pub(crate) fn shell(&self, text: &str) -> String {
        let command = Command::new("/bin/sh").arguments(["-c", text]);
        let output = self.machine().run(&command).expect("there is a shell");
        assert!(output.is_success(), "{text}: {:?}", output.last_words());
        output.text()
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> String {
        let bytes = self.machine().read(Path::new(path), 1 << 20);
        String::from_utf8(bytes.expect("the file is there")).expect("the file is text")
    }
}

/// Whether the machine is as a resource wants it.
pub(crate) fn is_in_order(machine: &Machine, resource: &dyn Resource) -> bool {
    let checked = resource.check(machine, &Input::default());
    matches!(checked.expect("it can be checked"), Checked::InOrder(_))
}

/// Whether the machine is as a resource wants it, unless something else changes before it.
pub(crate) fn is_kept(machine: &Machine, resource: &dyn Resource) -> bool {
    let checked = resource.check(machine, &Input::default());
    matches!(checked.expect("it can be checked"), Checked::Kept(_))
}

/// Changes the machine as a resource wants it, which must be necessary, and enough in one run. Returns what differed.
pub(crate) fn change(machine: &Machine, resource: &dyn Resource) -> Vec<String> {
    let differences = try_change(machine, resource).expect("it can be changed");
    let definition = resource.definition();
    assert!(!differences.is_empty(), "nothing differs: {definition}");
    let again = resource.check(machine, &Input::default());
    let again = again.expect("it can be checked again");
    assert!(
        matches!(again, Checked::InOrder(_)),
        "after a change, {definition} has {again:?}"
    );
    differences
}

/// Changes the machine if that is necessary. Returns what differed.
pub(crate) fn try_change(
    machine: &Machine,
    resource: &dyn Resource,
) -> Result<Vec<String>, ResourceError> {
    match resource.check(machine, &Input::default())? {
        Checked::InOrder(_) | Checked::Kept(_) => Ok(Vec::new()),
        Checked::Drift(change) => {
            let differences = change.differences();
            change.apply(machine)?;
            Ok(differences.iter().map(Difference::to_string).collect())
        }
    }
}
