//! Owner, group and mode: compares the wanted attributes of files and folders with those on the machine.

use pkgres_files::{EntryAttributes, RootEntry};
use pkgres_manifest::ResourceDescription;

use super::accounts::number_elsewhere;
use crate::resource::{Account, Definition, Difference, Input, ResourceError};
use crate::target::Probe;

/// Owner, group and mode as they are wanted. What is `None` is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct WantedAttributes {
    pub(super) mode: Option<u32>,
    pub(super) owner: Option<String>,
    pub(super) group: Option<String>,
}

/// Methods of a kind that set its fields `attributes` and `has_parents`: with what the kind is, and the mode of a new
/// one.
macro_rules! attribute_setters {
    ($kind:literal, $mode:literal) => {
        /// Sets that the folders around it are made if they are missing, with the mode `0755`.
        #[must_use]
        pub fn with_parents(mut self) -> Self {
            self.has_parents = true;
            self
        }

        #[doc = concat!("Sets the mode. Without one, a new ", $kind, " gets `", $mode, "`, and an existing one keeps its mode.")]
        #[must_use]
        pub fn with_mode(mut self, mode: u32) -> Self {
            self.attributes.mode = Some(mode);
            self
        }

        /// Sets the user that owns it, by name or number.
        #[must_use]
        pub fn with_owner(mut self, owner: impl Into<String>) -> Self {
            self.attributes.owner = Some(owner.into());
            self
        }

        /// Sets its group, by name or number.
        #[must_use]
        pub fn with_group(mut self, group: impl Into<String>) -> Self {
            self.attributes.group = Some(group.into());
            self
        }
    };
}
pub(super) use attribute_setters;

/// The attributes to set, and how they differ from those on the machine.
pub(super) struct ComparedAttributes {
    pub(super) attributes: EntryAttributes,
    pub(super) differences: Vec<Difference>,
}

impl WantedAttributes {
    /// Compares with what is there; a new entry gets `default_mode` unless a mode is wanted.
    pub(super) fn compare(
        &self,
        (probe, input): (&dyn Probe, &Input),
        entry: Option<&RootEntry>,
        default_mode: u32,
    ) -> Result<ComparedAttributes, ResourceError> {
        let number = |account: Account, name: Option<&str>| {
            let number = |name| number_of(account, name, probe, input);
            name.map(number).transpose()
        };
        let user = number(Account::User, self.owner.as_deref())?;
        let group = number(Account::Group, self.group.as_deref())?;
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

impl WantedAttributes {
    /// The definition of a resource with these properties added.
    pub(super) fn added_to(&self, definition: Definition) -> Definition {
        let Self { mode, owner, group } = self;
        definition
            .with("mode", mode)
            .with("owner", owner)
            .with("group", group)
    }

    /// The attributes of an entry as properties that restore them, as far as different ones are wanted.
    pub(super) fn restored(
        &self,
        entry: &RootEntry,
        mut description: ResourceDescription,
    ) -> ResourceDescription {
        if self.mode.is_some() {
            description = description.with("mode", octal(entry.mode));
        }
        if self.owner.is_some() {
            description = description.with("owner", entry.user.to_string());
        }
        if self.group.is_some() {
            description = description.with("group", entry.group.to_string());
        }
        description
    }
}

/// A mode as it is written.
pub(super) fn octal(mode: u32) -> String {
    format!("{mode:04o}")
}

/// The number of a user or group, as it will be once the changes before are made.
fn number_of(
    account: Account,
    name: &str,
    probe: &dyn Probe,
    input: &Input,
) -> Result<u32, ResourceError> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let mut listed = account.listed(probe)?.into_iter();
    let found = match listed.find(|(other, _)| other == name) {
        Some((_, number)) => Some(number),
        None => number_elsewhere(probe, account, name)?,
    };
    let Some(number) = found else {
        let name = name.to_owned();
        return Err(ResourceError::MissingAccount { account, name });
    };
    let foreseen = input.foreseen_number(&account.identifier(name));
    Ok(foreseen.unwrap_or(number))
}
