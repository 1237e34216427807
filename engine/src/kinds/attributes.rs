//! Owner, group and mode, which files and folders have in common.

use std::path::Path;

use pkgres_files::{EntryAttributes, RootEntry};

use crate::resource::{Difference, ResourceError};
use crate::target::Probe;

/// The most bytes of the lists of users and groups that are read.
const MAX_ACCOUNTS: u64 = 16 << 20;

/// Owner, group and mode as they are wanted. What is `None` is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WantedAttributes {
    pub(super) mode: Option<u32>,
    pub(super) owner: Option<String>,
    pub(super) group: Option<String>,
}

/// The attributes to set, and how they differ from those on the machine.
pub(super) struct ComparedAttributes {
    pub(super) attributes: EntryAttributes,
    pub(super) differences: Vec<Difference>,
}

impl WantedAttributes {
    /// Compares with what is there; a new entry gets `default_mode` unless a mode is wanted.
    pub(super) fn compare(
        &self,
        probe: &dyn Probe,
        entry: Option<&RootEntry>,
        default_mode: u32,
    ) -> Result<ComparedAttributes, ResourceError> {
        let number = |name: Option<&String>, file: &str, what: &str| {
            name.map(|name| number_of(probe, name, file, what))
                .transpose()
        };
        let user = number(self.owner.as_ref(), "/etc/passwd", "user")?;
        let group = number(self.group.as_ref(), "/etc/group", "group")?;
        let mode = self
            .mode
            .or(entry.map(|entry| entry.mode))
            .unwrap_or(default_mode);
        let mut differences = Vec::new();
        if let Some(entry) = entry {
            if entry.mode != mode {
                let (is, wanted) = (octal(entry.mode), octal(mode));
                differences.push(Difference::new("mode", Some(is), Some(wanted)));
            }
            for (property, is, wanted) in
                [("owner", entry.user, user), ("group", entry.group, group)]
            {
                if let Some(wanted) = wanted.filter(|wanted| *wanted != is) {
                    let (is, wanted) = (is.to_string(), wanted.to_string());
                    differences.push(Difference::new(property, Some(is), Some(wanted)));
                }
            }
        }
        // What replaces a file keeps its owner.
        let attributes = EntryAttributes {
            mode,
            user: user.or(entry.map(|entry| entry.user)),
            group: group.or(entry.map(|entry| entry.group)),
        };
        Ok(ComparedAttributes {
            attributes,
            differences,
        })
    }
}

/// A mode as it is written.
pub(super) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}

/// The number of a user or group of the machine.
fn number_of(probe: &dyn Probe, name: &str, file: &str, what: &str) -> Result<u32, ResourceError> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let bytes = probe.read(Path::new(file), MAX_ACCOUNTS)?;
    let text = String::from_utf8_lossy(&bytes);
    let number = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name))
            .then(|| fields.nth(1)?.parse().ok())
            .flatten()
    });
    number.ok_or_else(|| ResourceError::Invalid(format!("the machine has no {what} `{name}`")))
}
