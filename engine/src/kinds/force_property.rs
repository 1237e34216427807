//! The property `force` of files, folders and links, which replaces whatever else is at their path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pkgres_files::{EntryKind, FileError, RootEntry};
use pkgres_manifest::{Facts, Properties, PropertyErrors, ResourceDescription};

use super::parent_folders::{check_not_mounted, check_place};
use crate::resource::{
    Before, Change, Checked, Definition, Difference, Input, Resource, ResourceError,
    forward_resource,
};
use crate::target::{Command, Output, Probe, Target, TargetError};

/// A resource at a path, at which something of another kind may be in the way.
pub(super) struct Forced<Kind> {
    resource: Kind,
    path: PathBuf,
    /// The kind of entry that the resource wants at the path.
    kind: EntryKind,
    /// Whether an entry of another kind is removed. Otherwise it is an error.
    replaces: bool,
}

impl<Kind: Resource> Forced<Kind> {
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

impl<Kind: Resource> Resource for Forced<Kind> {
    fn definition(&self) -> String {
        let definition = self.resource.definition();
        if self.replaces {
            Definition::new("forced")
                .with("resource", definition)
                .into_text()
        } else {
            definition
        }
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let Some(obstacle) = self.obstacle(probe)? else {
            return self.resource.check(probe, input);
        };
        let cleared = Cleared {
            probe,
            path: &self.path,
        };
        // Nothing is removed in vain: what cannot be made afterwards is an error here.
        let change = match self.resource.check(&cleared, input)? {
            Checked::InOrder(_) | Checked::Kept(_) => None,
            Checked::Drift(change) => Some(change),
        };
        Ok(Checked::drift(Replacement {
            path: self.path.clone(),
            obstacle,
            change,
        }))
    }

    forward_resource!(resource);

    fn may_remedy(&self, error: &ResourceError) -> bool {
        let is_replaced =
            matches!(error, ResourceError::InTheWay { path, .. } if path.starts_with(&self.path));
        self.replaces && is_replaced || self.resource.may_remedy(error)
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
struct Replacement {
    path: PathBuf,
    obstacle: &'static str,
    /// `None` if nothing must be there.
    change: Option<Box<dyn Change>>,
}

impl Change for Replacement {
    fn differences(&self) -> Vec<Difference> {
        let obstacle = Difference::new("in the way", Some(self.obstacle), None::<&str>);
        let change = self.change.iter().flat_map(|change| change.differences());
        std::iter::once(obstacle).chain(change).collect()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        check_not_mounted(probe, &self.path)?;
        match &self.change {
            Some(change) => change.precheck(probe),
            None => check_place(probe, &self.path),
        }
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        target.remove(&self.path)?;
        match self.change {
            Some(change) => change.apply(target),
            None => Ok(()),
        }
    }
}

/// A machine after the removal of what is at a path.
struct Cleared<'probe> {
    probe: &'probe dyn Probe,
    path: &'probe Path,
}

impl Cleared<'_> {
    fn check_left(&self, path: &Path) -> Result<(), TargetError> {
        if !path.starts_with(self.path) {
            return Ok(());
        }
        let error = FileError::System {
            action: "cannot read",
            path: path.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        Err(error.into())
    }
}

impl Probe for Cleared<'_> {
    fn facts(&self) -> &Facts {
        self.probe.facts()
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        if path.starts_with(self.path) {
            return Ok(None);
        }
        self.probe.entry(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        self.check_left(path)?;
        self.probe.read(path, limit)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        self.check_left(path)?;
        self.probe.names(path)
    }

    fn check_writable(&self, folder: &Path) -> Result<(), TargetError> {
        self.probe.check_writable(folder)
    }

    fn mount_point(&self, path: &Path) -> Result<Option<PathBuf>, TargetError> {
        self.check_left(path)?;
        self.probe.mount_point(path)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        self.probe.query(command)
    }

    fn enforces_read_only(&self) -> bool {
        self.probe.enforces_read_only()
    }

    fn watchable(&self) -> Option<PathBuf> {
        self.probe.watchable()
    }
}
