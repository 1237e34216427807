//! Lists the files that differ between an overlay and the machine below, with their contents.

use std::path::{Path, PathBuf};

use pkgres_files::{EntryKind, FileError, Follow, RootEntry, RootFolder};

use super::error::TargetError;
use super::overlay::Overlay;

/// The most bytes of a file that is compared as text.
const MAX_TEXT_BYTES: u64 = 256 << 10;

/// The most bytes of a file whose content is compared at all. A larger one that was written counts as changed.
const MAX_COMPARED_BYTES: u64 = 64 << 20;

/// A path with something else on an overlay than on the machine below.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDifference {
    /// The path on the machine.
    pub path: PathBuf,
    /// The entry on the machine below; `None` if there is none.
    pub before: Option<RootEntry>,
    /// The entry on the overlay; `None` if there is none.
    pub after: Option<RootEntry>,
    /// The content of plain files.
    pub content: ContentDifference,
    /// Whether every user of the machine can read both contents: the files permit it, and all folders above them.
    pub is_public: bool,
}

/// The difference between the contents of a plain file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentDifference {
    /// None, or there is no plain file.
    None,
    /// Short texts. No file is an empty text.
    Text {
        /// The text on the machine below.
        before: String,
        /// The text on the overlay.
        after: String,
    },
    /// Other contents than short texts.
    Other,
}

impl Overlay {
    /// The files, folders and links that differ from the machine below, sorted by path. A file that was written again
    /// with the same content and attributes does not differ.
    pub fn file_differences(&self) -> Result<Vec<FileDifference>, TargetError> {
        let mut differences = Vec::new();
        for change in self.changes()? {
            let before = self.lower.entry(&change.path)?;
            let content = content(
                &change.path,
                (&self.lower, before.as_ref()),
                (&self.upper, change.now.as_ref()),
            )?;
            if content != ContentDifference::None || !is_same(before.as_ref(), change.now.as_ref())
            {
                let entries = [before.as_ref(), change.now.as_ref()];
                let is_readable = |entry: &RootEntry| entry.mode & 0o004 != 0;
                let is_public = entries.into_iter().flatten().all(is_readable)
                    && self.is_reachable_by_everybody(&change.path)?;
                differences.push(FileDifference {
                    path: change.path,
                    is_public,
                    before,
                    after: change.now,
                    content,
                });
            }
        }
        Ok(differences)
    }

    /// Whether everybody may pass through all folders above a path, on the machine below and on the overlay.
    fn is_reachable_by_everybody(&self, path: &Path) -> Result<bool, TargetError> {
        let root = Path::new("/");
        for folder in path.ancestors().skip(1).filter(|folder| *folder != root) {
            for machine in [&self.lower, &self.upper] {
                let is_open = |entry: RootEntry| entry.mode & 0o001 != 0;
                if !machine.entry(folder)?.is_none_or(is_open) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Whether two entries are the same. The size of a folder means nothing.
fn is_same(before: Option<&RootEntry>, after: Option<&RootEntry>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) if before.kind == EntryKind::Folder => {
            let size = before.size;
            *before
                == RootEntry {
                    size,
                    ..after.clone()
                }
        }
        _ => before == after,
    }
}

/// A file in one of two folders.
type In<'folder> = (&'folder RootFolder, Option<&'folder RootEntry>);

fn content(path: &Path, before: In<'_>, after: In<'_>) -> Result<ContentDifference, FileError> {
    let size_of = |(_, entry): &In<'_>| {
        let file = entry.filter(|entry| entry.kind == EntryKind::File);
        file.map(|file| file.size)
    };
    let sizes = [size_of(&before), size_of(&after)];
    if sizes == [None, None] {
        return Ok(ContentDifference::None);
    }
    if sizes
        .iter()
        .flatten()
        .any(|size| *size > MAX_COMPARED_BYTES)
    {
        return Ok(ContentDifference::Other);
    }
    let bytes = |(folder, _): In<'_>, size: Option<u64>| match size {
        Some(_) => folder.read(path, MAX_COMPARED_BYTES, Follow::Nothing),
        None => Ok(Vec::new()),
    };
    let (before, after) = (bytes(before, sizes[0])?, bytes(after, sizes[1])?);
    if before == after {
        return Ok(ContentDifference::None);
    }
    Ok(match (text(before), text(after)) {
        (Some(before), Some(after)) => ContentDifference::Text { before, after },
        _ => ContentDifference::Other,
    })
}

/// A text that is short enough to be shown; `None` if the bytes are none.
fn text(bytes: Vec<u8>) -> Option<String> {
    let is_short = u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_TEXT_BYTES);
    let text = String::from_utf8(bytes).ok().filter(|_| is_short)?;
    (!text.contains('\0')).then_some(text)
}
