//! The kind `file`: a file that must exist with some content and attributes, or must not exist.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{EntryAttributes, EntryKind, RootEntry};
use pkgres_manifest::ResourceDescription;
use pkgres_manifest::diagnostic::counted;

use super::attributes::{WantedAttributes, attribute_setters, octal};
use super::directory::account_wishes;
use super::parent_folders::{Parents, check_not_mounted, may_remedy_at};
use super::path_text;
use super::removal::Removal;
use crate::resource::{
    Awaited, Before, Change, Checked, Definition, Difference, Identifier, Input, Presence,
    Resource, ResourceError, ValueType, Watching, Wish,
};
use crate::target::{Probe, Target, has_content};

/// The mode of a new file unless it has its own.
const DEFAULT_MODE: u32 = 0o644;

/// How a value is shown that another resource sends once it was changed.
const KNOWN_LATER: &str = "known after apply";

/// The property that can receive a value.
const CONTENT: &str = "content";

/// The most bytes of a file that is copied or kept.
const MOST_COPIED: u64 = 256 << 20;

/// A file that must exist, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    path: PathBuf,
    is_absent: bool,
    /// Whether missing folders around it are made.
    has_parents: bool,
    content: Option<Content>,
    /// The file of the machine that has the content.
    copied: Option<PathBuf>,
    attributes: WantedAttributes,
}

/// The content of a file, which can be long.
#[derive(Clone, PartialEq, Eq)]
struct Content(Arc<[u8]>);

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", counted(self.0.len(), "byte"))
    }
}

impl File {
    /// A file that must exist, with any content.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            is_absent: false,
            has_parents: false,
            content: None,
            copied: None,
            attributes: WantedAttributes::default(),
        }
    }

    /// Requires that the file does not exist.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.is_absent = true;
        self
    }

    /// Sets the content. Without it, a new file is empty, and an existing one keeps its content.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(Content(content.into().into_bytes().into()));
        self
    }

    /// Sets the content to bytes, which need not be text.
    #[must_use]
    pub fn with_bytes(mut self, content: impl Into<Vec<u8>>) -> Self {
        self.content = Some(Content(content.into().into()));
        self
    }

    /// Whether it has a content.
    pub(super) fn has_content(&self) -> bool {
        self.content.is_some()
    }

    /// Copies the content from another file of the machine, which may have any bytes.
    #[must_use]
    pub fn with_copy_of(mut self, path: impl AsRef<Path>) -> Self {
        self.copied = Some(path.as_ref().to_owned());
        self
    }

    attribute_setters!("file", "0644");
}

impl Resource for File {
    fn definition(&self) -> String {
        let Self {
            path,
            is_absent,
            has_parents,
            content,
            copied,
            attributes,
        } = self;
        let mut definition = Definition::new("file")
            .with("path", path)
            .with("is_absent", is_absent)
            .with("parents", has_parents)
            .with("copy_of", copied);
        if let Some(content) = content {
            definition = definition.with_bytes(CONTENT, &content.0);
        }
        attributes.added_to(definition).into_text()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let entry = probe.entry(&self.path)?;
        let kind = entry.as_ref().map(|entry| entry.kind);
        if kind.is_some_and(|kind| kind != EntryKind::File) {
            return Err(ResourceError::InTheWay {
                path: self.path.clone(),
                wanted: "a plain file",
            });
        }
        if self.is_absent {
            return Ok(match kind {
                None => Checked::in_order(),
                Some(_) => Checked::drift(Removal::new("file", &self.path)),
            });
        }
        if let Some(awaited) = input.awaited.get(CONTENT) {
            return self.check_awaited((probe, input), entry.as_ref(), awaited);
        }
        let content = self.wanted_content(probe, input)?;
        let compared = self
            .attributes
            .compare((probe, input), entry.as_ref(), DEFAULT_MODE)?;
        let mut differences = compared.differences;
        let mut written = None;
        if let Some(entry) = &entry {
            if let Some(content) = content
                && !has_content(probe, &self.path, entry.size, &content.0)?
            {
                let (is, mut wanted) = (
                    counted(entry.size, "byte"),
                    counted(content.0.len(), "byte"),
                );
                if is == wanted {
                    wanted = wanted.replacen(' ', " other ", 1);
                }
                differences.insert(0, Difference::new(CONTENT, Some(is), Some(wanted)));
                written = Some(content);
            }
        } else {
            let content = content.unwrap_or_else(|| Content(Arc::default()));
            let wanted = format!(
                "{}, {}",
                octal(compared.attributes.mode),
                counted(content.0.len(), "byte")
            );
            differences.push(Difference::new("file", None::<String>, Some(wanted)));
            written = Some(content);
        }
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        let parents = Parents::missing(self.has_parents, &self.path, probe)?;
        differences.extend(parents.difference());
        Ok(Checked::drift(Write {
            path: self.path.clone(),
            content: written,
            attributes: compared.attributes,
            exists: entry.is_some(),
            parents,
            differences,
        }))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        let copied = self.copied.iter().cloned();
        Watching::Paths([self.path.clone()].into_iter().chain(copied).collect())
    }

    fn presence(&self) -> Presence {
        Presence::unless(self.is_absent)
    }

    fn may_make_folder(&self, folder: &Path) -> bool {
        self.has_parents && self.path.starts_with(folder)
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        folder.starts_with(&self.path) || self.may_make_folder(folder)
    }

    fn may_remedy(&self, error: &ResourceError) -> bool {
        may_remedy_at(self, &self.path, self.is_absent, error)
    }

    fn is_plain_file(&self) -> bool {
        !self.is_absent
    }

    fn identifiers(&self) -> Vec<Identifier> {
        vec![Identifier::path(&self.path)]
    }

    fn wishes(&self) -> Vec<Wish> {
        let mut wishes = Wish::around(&self.path).to_vec();
        wishes.extend(account_wishes(&self.attributes));
        let copied = self.copied.iter().map(Identifier::path);
        wishes.extend(copied.map(Wish::after));
        wishes
    }

    fn is_reversible(&self) -> bool {
        true
    }

    fn reversed(
        &self,
        before: &mut Before<'_>,
    ) -> Result<Option<ResourceDescription>, ResourceError> {
        let probe = before.probe();
        let description = before.description("file", path_text(&self.path)?)?;
        let entry = match probe.entry(&self.path)? {
            None => return Ok(Some(description.with("state", "absent"))),
            Some(entry) if entry.kind == EntryKind::File => entry,
            // The check says what is wrong.
            Some(_) => return Ok(None),
        };
        let is_content_changed = self.is_absent
            || self.content.is_some()
            || self.copied.is_some()
            || before.input().received.contains_key(CONTENT);
        let mut description = description;
        if is_content_changed {
            let kept = before.keep(probe.read(&self.path, MOST_COPIED)?);
            description = description.with("copy_of", path_text(&kept)?);
        }
        if self.is_absent {
            // All of it is going to be lost.
            let all = WantedAttributes {
                mode: Some(entry.mode),
                owner: Some(entry.user.to_string()),
                group: Some(entry.group.to_string()),
            };
            return Ok(Some(all.restored(&entry, description)));
        }
        Ok(Some(self.attributes.restored(&entry, description)))
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        &[(CONTENT, ValueType::Text)]
    }
}

impl File {
    /// The wanted content of the file, if it matters.
    fn wanted_content(
        &self,
        probe: &dyn Probe,
        input: &Input,
    ) -> Result<Option<Content>, ResourceError> {
        if let Some(copied) = &self.copied {
            return Ok(Some(Content(probe.read(copied, MOST_COPIED)?.into())));
        }
        let received = input.received.get(CONTENT);
        let received = received.map(|value| Content(value.to_string().into_bytes().into()));
        Ok(received.or_else(|| self.content.clone()))
    }

    /// The check while the content that it receives is not known. Nothing is written in its place.
    fn check_awaited(
        &self,
        (probe, input): (&dyn Probe, &Input),
        entry: Option<&RootEntry>,
        awaited: &Awaited,
    ) -> Result<Checked, ResourceError> {
        let compared = self
            .attributes
            .compare((probe, input), entry, DEFAULT_MODE)?;
        let mut differences = compared.differences;
        match entry {
            None if awaited.is_pending => {
                let mode = octal(compared.attributes.mode);
                let wanted = Some(format!("{mode}, content {KNOWN_LATER}"));
                differences.push(Difference::new("file", None::<String>, wanted));
            }
            None => {
                let message =
                    format!("the file does not exist, and its content is not known: {awaited}");
                return Err(ResourceError::Invalid(message));
            }
            Some(entry) if awaited.is_pending => {
                let (is, wanted) = (counted(entry.size, "byte"), KNOWN_LATER);
                differences.insert(0, Difference::new(CONTENT, Some(is), Some(wanted)));
            }
            Some(_) if differences.is_empty() => {
                let message = format!("its content is not known: {awaited}");
                return Err(ResourceError::Unknown(message));
            }
            Some(_) => {}
        }
        Ok(Checked::drift(Write {
            path: self.path.clone(),
            content: None,
            attributes: compared.attributes,
            exists: entry.is_some(),
            parents: Parents::missing(self.has_parents, &self.path, probe)?,
            differences,
        }))
    }
}

struct Write {
    path: PathBuf,
    /// The new content; `None` if only the attributes differ.
    content: Option<Content>,
    attributes: EntryAttributes,
    /// Whether the file is there already.
    exists: bool,
    parents: Parents,
    differences: Vec<Difference>,
}

impl Write {
    /// Checks that nothing is mounted at the file, if it is to be replaced. Nothing can be mounted where nothing is.
    fn check_replaceable(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        if self.exists && self.content.is_some() {
            check_not_mounted(probe, &self.path)?;
        }
        Ok(())
    }
}

impl Change for Write {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.check_replaceable(probe)?;
        self.parents.check(&self.path, probe)
    }

    fn is_atomic(&self) -> bool {
        self.parents.is_empty()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        self.parents
            .make_around(&self.path, target, || match &self.content {
                Some(content) => target.write_file(&self.path, &content.0, self.attributes),
                None => target.set_attributes(&self.path, self.attributes),
            })
            // The system only says that it is busy.
            .map_err(|error| match self.check_replaceable(target) {
                Err(mounted @ ResourceError::Invalid(_)) => mounted,
                _ => error,
            })
    }
}

#[cfg(test)]
mod tests;
