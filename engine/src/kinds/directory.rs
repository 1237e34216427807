//! The kind `directory`: a folder that must exist, or must not.

use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind};
use pkgres_manifest::ResourceDescription;

use super::attributes::{WantedAttributes, attribute_setters, octal};
use super::parent_folders::{Parents, may_remedy_at};
use super::path_text;
use super::removal::Removal;
use crate::resource::{
    Before, Change, Checked, Definition, Difference, Identifier, Input, Presence, Resource,
    ResourceError, Watching, Wish,
};
use crate::target::{Probe, Target};

/// The mode of a new folder unless it has its own.
const DEFAULT_MODE: u32 = 0o755;

/// A folder that must exist, or must not. Its content does not matter, but is removed with a folder that must not
/// exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    path: PathBuf,
    absence: Absence,
    /// Whether missing folders around it are made.
    has_parents: bool,
    attributes: WantedAttributes,
}

/// Whether a folder must be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// It must exist.
    No,
    /// It must not exist if it is empty.
    IfEmpty,
    /// It must not exist, whatever is in it.
    Yes,
}

impl Directory {
    /// A folder that must exist.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            absence: Absence::No,
            has_parents: false,
            attributes: WantedAttributes::default(),
        }
    }

    /// Requires that the folder does not exist.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.absence = Absence::Yes;
        self
    }

    /// Requires that the folder does not exist if it is empty. A folder with something in it stays.
    #[must_use]
    pub fn absent_if_empty(mut self) -> Self {
        self.absence = Absence::IfEmpty;
        self
    }

    attribute_setters!("folder", "0755");
}

impl Resource for Directory {
    fn definition(&self) -> String {
        let Self {
            path,
            absence,
            has_parents,
            attributes,
        } = self;
        let state = match absence {
            Absence::No => "present",
            Absence::IfEmpty => "absent-if-empty",
            Absence::Yes => "absent",
        };
        let definition = Definition::new("directory")
            .with("path", path)
            .with("state", state)
            .with("parents", has_parents);
        attributes.added_to(definition).into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let entry = probe.entry(&self.path)?;
        let kind = entry.as_ref().map(|entry| entry.kind);
        if self.absence != Absence::No {
            return match kind {
                None => Ok(Checked::in_order()),
                Some(EntryKind::Folder)
                    if self.absence == Absence::IfEmpty && !probe.names(&self.path)?.is_empty() =>
                {
                    let reason = "it goes if nothing is left in it after the changes before it";
                    Ok(Checked::Kept(reason.to_owned()))
                }
                Some(EntryKind::Folder) => Ok(Checked::drift(Removal::new("folder", &self.path))),
                Some(_) => Err(obstacle(&self.path)),
            };
        }
        if kind.is_some_and(|kind| kind != EntryKind::Folder) {
            return Err(obstacle(&self.path));
        }
        let compared = self
            .attributes
            .compare((probe, input), entry.as_ref(), DEFAULT_MODE)?;
        let mut differences = compared.differences;
        if entry.is_none() {
            let mode = octal(compared.attributes.mode);
            differences.push(Difference::new("folder", None::<String>, Some(mode)));
        }
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        let parents = Parents::missing(self.has_parents, &self.path, probe)?;
        differences.extend(parents.difference());
        Ok(Checked::drift(Make {
            path: self.path.clone(),
            exists: entry.is_some(),
            attributes: compared.attributes,
            parents,
            differences,
        }))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.path)
    }

    fn may_make_folder(&self, folder: &Path) -> bool {
        self.path == folder || self.has_parents && self.path.starts_with(folder)
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        folder.starts_with(&self.path) || self.may_make_folder(folder)
    }

    fn may_remedy(&self, error: &ResourceError) -> bool {
        may_remedy_at(self, &self.path, self.absence != Absence::No, error)
    }

    fn presence(&self) -> Presence {
        match self.absence {
            Absence::No => Presence::Present,
            Absence::IfEmpty => Presence::Unsaid,
            Absence::Yes => Presence::Absent,
        }
    }

    fn identifiers(&self) -> Vec<Identifier> {
        let path = self.path.clone();
        vec![match self.absence {
            Absence::IfEmpty => Identifier::EmptiedFolder(path),
            Absence::No | Absence::Yes => Identifier::Path(path),
        }]
    }

    fn wishes(&self) -> Vec<Wish> {
        let mut wishes = Wish::around(&self.path).to_vec();
        wishes.extend(account_wishes(&self.attributes));
        wishes
    }

    /// The contents of a folder are not kept.
    fn is_reversible(&self) -> bool {
        self.absence == Absence::No
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let description = before.description("directory", path_text(&self.path)?)?;
        Ok(match before.probe().entry(&self.path)? {
            None => Some(description.with("state", "absent-if-empty")),
            Some(entry) if entry.kind == EntryKind::Folder => {
                Some(self.attributes.restored(&entry, description))
            }
            // The check says what is wrong.
            Some(_) => None,
        })
    }
}

fn obstacle(path: &Path) -> ResourceError {
    ResourceError::InTheWay {
        path: path.to_owned(),
        wanted: "a folder",
    }
}

/// The user and the group that have to exist before they can own something.
pub(super) fn account_wishes(attributes: &WantedAttributes) -> impl Iterator<Item = Wish> {
    let user = attributes.owner.clone().map(Identifier::User);
    let group = attributes.group.clone().map(Identifier::Group);
    user.into_iter().chain(group).map(Wish::after)
}

struct Make {
    path: PathBuf,
    exists: bool,
    attributes: EntryAttributes,
    parents: Parents,
    differences: Vec<Difference>,
}

impl Change for Make {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.parents.check(&self.path, probe)
    }

    fn is_atomic(&self) -> bool {
        self.parents.is_empty()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        self.parents.make_around(&self.path, target, || {
            if self.exists {
                target.set_attributes(&self.path, self.attributes)
            } else {
                target.make_folder(&self.path, self.attributes)
            }
        })
    }
}
