//! The property `force` of files, folders and links, which replaces whatever else is at their path.

use std::path::{Path, PathBuf};

use pkgres_files::EntryKind;
use pkgres_manifest::{Properties, PropertyErrors, ResourceDescription};

use super::parent_folders::check_place;
use crate::resource::{
    Before, Change, Checked, Difference, Identifier, Input, Presence, Resource, ResourceError,
    ValueType, Watching, Wish,
};
use crate::target::{Probe, Target};

/// A resource at a path, at which something of another kind may be in the way.
#[derive(Clone)]
pub(super) struct Forced<Kind> {
    resource: Kind,
    path: PathBuf,
    /// The kind of entry that the resource wants at the path.
    kind: EntryKind,
    /// Whether an entry of another kind is removed. Otherwise it is an error.
    replaces: bool,
}

impl<Kind: Resource + Clone> Forced<Kind> {
    /// Reads a resource with the property `force`.
    pub(super) fn read(
        kind: EntryKind,
        name: &str,
        properties: &mut Properties,
        read: impl FnOnce(&mut Properties) -> Result<Kind, PropertyErrors>,
    ) -> Result<Self, PropertyErrors> {
        let replaces = properties.take_bool("force")? == Some(true);
        let resource = read(properties)?;
        if replaces && name == "/" {
            let message = "the folder `/` cannot be replaced";
            return Err(properties.invalid("force", message).into());
        }
        Ok(Self {
            resource,
            path: Path::new(name).to_owned(),
            kind,
            replaces,
        })
    }

    /// The entry at the path that has to be removed first, if it is of another kind.
    fn obstacle(&self, probe: &dyn Probe) -> Result<Option<&'static str>, ResourceError> {
        if !self.replaces {
            return Ok(None);
        }
        let entry = probe.entry(&self.path)?.map(|entry| entry.kind);
        Ok(entry
            .filter(|kind| *kind != self.kind)
            .map(|kind| match kind {
                EntryKind::File => "a file",
                EntryKind::Folder => "a folder with everything in it",
                EntryKind::Link => "a link",
                _ => "a special file",
            }))
    }
}

impl<Kind: Resource + Clone + 'static> Resource for Forced<Kind> {
    fn definition(&self) -> String {
        let definition = self.resource.definition();
        if self.replaces {
            format!("Forced {definition}")
        } else {
            definition
        }
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        match self.obstacle(probe)? {
            None => self.resource.check(probe, input),
            Some(obstacle) => Ok(Checked::drift(Replacement {
                forced: self.clone(),
                obstacle,
                input: input.clone(),
            })),
        }
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        self.resource.watching(probe)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        self.resource.identifiers()
    }

    fn wishes(&self) -> Vec<Wish> {
        self.resource.wishes()
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        self.resource.sends()
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        self.resource.receives()
    }

    fn presence(&self) -> Presence {
        self.resource.presence()
    }

    fn may_make_folder(&self, folder: &Path) -> bool {
        self.resource.may_make_folder(folder)
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        self.resource.may_open_folder(folder)
    }

    fn is_plain_file(&self) -> bool {
        self.resource.is_plain_file()
    }

    fn is_reversible(&self) -> bool {
        self.resource.is_reversible()
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        if let Some(obstacle) = self.obstacle(before.probe())? {
            let path = self.path.display();
            let message = format!(
                "{obstacle} at {path} would be replaced, and could not be restored: move it away, or leave out `force` or `reverse`"
            );
            return Err(ResourceError::Invalid(message));
        }
        self.resource.reversed(before)
    }
}

/// The removal of what is in the way, and the change after it.
struct Replacement<Kind> {
    forced: Forced<Kind>,
    obstacle: &'static str,
    input: Input,
}

impl<Kind: Resource + Clone> Change for Replacement<Kind> {
    fn differences(&self) -> Vec<Difference> {
        let obstacle = Some(self.obstacle);
        vec![Difference::new("in the way", obstacle, None::<&str>)]
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        check_place(probe, &self.forced.path)
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        // What it receives may be missing: then nothing is removed.
        self.input.require_known()?;
        let Forced { resource, path, .. } = &self.forced;
        target.remove(path)?;
        match resource.check(target, &self.input)? {
            Checked::InOrder(_) | Checked::Kept(_) => Ok(()),
            Checked::Drift(change) => change.apply(target),
        }
    }
}
