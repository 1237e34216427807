//! The kind `link`: a symbolic link that must exist, or must not.

use std::path::{Path, PathBuf};

use pkgres_files::EntryKind;
use pkgres_manifest::ResourceDescription;

use super::parent_folders::{Parents, may_remedy_at};
use super::path_text;
use super::removal::Removal;
use crate::resource::{
    Before, Change, Checked, Definition, Difference, Identifier, Input, Presence, Resource,
    ResourceError, Watching, Wish,
};
use crate::target::{Probe, Target};

/// A symbolic link that must exist, or must not. Its target need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    path: PathBuf,
    /// Its target; `None` if the link must not exist.
    target: Option<PathBuf>,
    /// Whether missing folders around it are made.
    has_parents: bool,
}

impl Link {
    /// A link at `path` that leads to `target`.
    pub fn new(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            target: Some(target.as_ref().to_owned()),
            has_parents: false,
        }
    }

    /// A link that must not exist, whatever its target is.
    pub fn absent(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            target: None,
            has_parents: false,
        }
    }

    /// Sets that the folders around it are made if they are missing, with the mode `0755`.
    #[must_use]
    pub fn with_parents(mut self) -> Self {
        self.has_parents = true;
        self
    }
}

impl Resource for Link {
    fn definition(&self) -> String {
        let Self {
            path,
            target,
            has_parents,
        } = self;
        Definition::new("link")
            .with("path", path)
            .with("target", target)
            .with("parents", has_parents)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let entry = probe.entry(&self.path)?;
        let kind = entry.as_ref().map(|entry| entry.kind);
        if kind.is_some_and(|kind| kind != EntryKind::Link) {
            return Err(ResourceError::InTheWay {
                path: self.path.clone(),
                wanted: "a link",
            });
        }
        let is = entry.and_then(|entry| entry.link_target);
        if is == self.target {
            return Ok(Checked::in_order());
        }
        let Some(wanted) = &self.target else {
            return Ok(Checked::drift(Removal::new("link", &self.path)));
        };
        Ok(Checked::drift(MakeLink {
            parents: Parents::missing(self.has_parents, &self.path, probe)?,
            path: self.path.clone(),
            is,
            wanted: wanted.clone(),
        }))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.path)
    }

    fn may_make_folder(&self, folder: &Path) -> bool {
        // A link to a folder is one for what is below it.
        let leads_there = self.target.is_some() && folder.starts_with(&self.path);
        leads_there || self.has_parents && self.path.starts_with(folder)
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        folder.starts_with(&self.path) || self.may_make_folder(folder)
    }

    fn may_remedy(&self, error: &ResourceError) -> bool {
        // What is below it is somewhere else afterwards.
        may_remedy_at(self, &self.path, true, error)
    }

    fn presence(&self) -> Presence {
        Presence::unless(self.target.is_none())
    }

    fn identifiers(&self) -> Vec<Identifier> {
        vec![Identifier::path(&self.path)]
    }

    fn wishes(&self) -> Vec<Wish> {
        Wish::around(&self.path).to_vec()
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let description = before.description("link", path_text(&self.path)?)?;
        let Some(entry) = before.probe().entry(&self.path)? else {
            return Ok(Some(description.with("state", "absent")));
        };
        let Some(target) = entry.link_target else {
            // The check says what is wrong.
            return Ok(None);
        };
        Ok(Some(description.with("target", path_text(&target)?)))
    }
}

struct MakeLink {
    parents: Parents,
    path: PathBuf,
    is: Option<PathBuf>,
    wanted: PathBuf,
}

impl Change for MakeLink {
    fn differences(&self) -> Vec<Difference> {
        let shown = |path: &PathBuf| path.display().to_string();
        let (is, wanted) = (self.is.as_ref().map(shown), shown(&self.wanted));
        let link = Difference::new("link", is, Some(wanted));
        std::iter::once(link)
            .chain(self.parents.difference())
            .collect()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.parents.check(&self.path, probe)
    }

    fn is_atomic(&self) -> bool {
        self.parents.is_empty()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        self.parents.make_around(&self.path, target, || {
            target.make_link(&self.path, &self.wanted)
        })
    }
}
