//! Files.

use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind};

use super::attributes::{WantedAttributes, octal};
use super::directory::account_wishes;
use super::removal::Removal;
use crate::resource::{
    Change, Checked, Difference, Identifier, Input, Resource, ResourceError, Watching, Wish,
};
use crate::target::{Probe, Target, TargetError};

/// The mode of a new file unless it has its own.
const DEFAULT_MODE: u32 = 0o644;

/// The property that can receive a value.
const CONTENT: &str = "content";

/// A file that shall exist, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    path: PathBuf,
    is_absent: bool,
    content: Option<String>,
    attributes: WantedAttributes,
}

impl File {
    /// A file that shall exist, with any content.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            is_absent: false,
            content: None,
            attributes: WantedAttributes::default(),
        }
    }

    /// Sets that there shall be no such file.
    #[must_use]
    pub fn absent(mut self) -> Self {
        self.is_absent = true;
        self
    }

    /// Sets the content. Without it, a new file is empty, and the content of another one is left alone.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Sets the mode. Without it, a new file gets `0644`, and another one is left alone.
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
}

impl Resource for File {
    fn definition(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let entry = probe.entry(&self.path)?;
        let kind = entry.as_ref().map(|entry| entry.kind);
        if kind.is_some_and(|kind| kind != EntryKind::File) {
            let path = self.path.display();
            let message = format!("{path} exists and is no plain file: remove it first");
            return Err(ResourceError::Invalid(message));
        }
        if self.is_absent {
            return Ok(match kind {
                None => Checked::in_order(),
                Some(_) => Checked::drift(Removal::new("file", &self.path)),
            });
        }
        let content = input.received.get(CONTENT).or(self.content.as_ref());
        let compared = self
            .attributes
            .compare(probe, entry.as_ref(), DEFAULT_MODE)?;
        let mut differences = compared.differences;
        let mut written = None;
        if let Some(entry) = &entry {
            if let Some(content) = content
                && !has_content(probe, &self.path, entry.size, content.as_bytes())?
            {
                let (is, wanted) = (sized(entry.size), sized(content.len() as u64));
                differences.insert(0, Difference::new(CONTENT, Some(is), Some(wanted)));
                written = Some(content.clone());
            }
        } else {
            let content = content.cloned().unwrap_or_default();
            let wanted = format!(
                "{}, {}",
                octal(compared.attributes.mode),
                sized(content.len() as u64)
            );
            differences.push(Difference::new("file", None::<String>, Some(wanted)));
            written = Some(content);
        }
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(Write {
            path: self.path.clone(),
            content: written,
            attributes: compared.attributes,
            differences,
        }))
    }

    fn watching(&self, _: &dyn Probe) -> Watching {
        Watching::path(&self.path)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        vec![Identifier::path(&self.path)]
    }

    fn wishes(&self) -> Vec<Wish> {
        let mut wishes = vec![Wish::nearest_folder(&self.path)];
        wishes.extend(account_wishes(&self.attributes));
        wishes
    }

    fn receives(&self) -> &[&str] {
        &[CONTENT]
    }
}

fn sized(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    }
}

/// Whether a file has a content. Nothing is read if the sizes differ.
fn has_content(
    probe: &dyn Probe,
    path: &Path,
    size: u64,
    content: &[u8],
) -> Result<bool, ResourceError> {
    let limit = content.len() as u64;
    if size != limit {
        return Ok(false);
    }
    match probe.read(path, limit) {
        Ok(bytes) => Ok(bytes == content),
        // It grew meanwhile.
        Err(TargetError::File(error)) if error.is_too_large() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

struct Write {
    path: PathBuf,
    /// The new content; `None` if only the attributes differ.
    content: Option<String>,
    attributes: EntryAttributes,
    differences: Vec<Difference>,
}

impl Change for Write {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        match &self.content {
            Some(content) => target.write_file(&self.path, content.as_bytes(), self.attributes)?,
            None => target.set_attributes(&self.path, self.attributes)?,
        }
        Ok(())
    }
}
