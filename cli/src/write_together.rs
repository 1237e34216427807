//! Files of projects that change together.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pkgres_files::{FileError, NewContent, RealFileSystem, write_file, write_files};

use crate::failure::{Failure, Result};

/// A file that changes.
pub(crate) struct ChangedFile {
    pub(crate) path: PathBuf,
    /// The bytes before; `None` if there is no such file.
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Vec<u8>,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl ChangedFile {
    /// A file that gets a new text. A byte order mark stays: it is no part of the text that was read and edited.
    pub(crate) fn with_text(path: PathBuf, text: &str) -> Self {
        let before = std::fs::read(&path).ok();
        let is_marked =
            (before.as_ref()).is_some_and(|old| old.starts_with(BYTE_ORDER_MARK.as_bytes()));
        let mark = if is_marked { BYTE_ORDER_MARK } else { "" };
        Self {
            path,
            before,
            after: format!("{mark}{text}").into_bytes(),
        }
    }

    /// The text before and afterwards, without byte order marks.
    pub(crate) fn texts(&self) -> [Cow<'_, str>; 2] {
        let before = self.before.as_deref().unwrap_or_default();
        [before, &self.after].map(|bytes| {
            let text = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes());
            String::from_utf8_lossy(text.unwrap_or(bytes))
        })
    }
}

/// Writes the files: all of them, or none. A file that could not be restored is an error of its own.
pub(crate) fn write_together<'file>(
    files: impl IntoIterator<Item = &'file ChangedFile>,
) -> Result<()> {
    let contents: Vec<NewContent<'_>> = files
        .into_iter()
        .map(|file| NewContent {
            path: &file.path,
            before: file.before.as_deref(),
            after: &file.after,
        })
        .collect();
    write_files(&RealFileSystem, &contents).map_err(|failed| {
        let mut failure = Failure::from(failed.error);
        failure
            .findings
            .extend(failed.not_restored.iter().map(|reason| {
                let mut finding = reason.to_diagnostic();
                finding.message =
                    format!("the old content could not be restored: {}", finding.message);
                finding
            }));
        failure
    })
}

/// Writes the text of a file, whose byte order mark stays.
pub(crate) fn write_text(path: &Path, text: &str) -> std::result::Result<(), FileError> {
    let file = ChangedFile::with_text(path.to_owned(), text);
    write_file(&RealFileSystem, path, &file.after)
}

/// Files that are written later, and together. Projects are locked in parallel.
#[derive(Default)]
pub(crate) struct PendingFiles(Mutex<Vec<ChangedFile>>);

impl PendingFiles {
    pub(crate) fn add(&self, file: ChangedFile) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(file);
    }

    /// The files, in the order of their paths.
    pub(crate) fn into_files(self) -> Vec<ChangedFile> {
        let mut files = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files
    }
}

/// When a command writes the files that it changes.
#[derive(Clone, Copy)]
pub(crate) enum Writing<'run> {
    /// Never: it only shows what it would change.
    Never,
    AtOnce,
    /// With other files, once it is known that none of them fails.
    Together(&'run PendingFiles),
}

impl Writing<'_> {
    pub(crate) fn at_once_unless(is_dry_run: bool) -> Self {
        if is_dry_run {
            Self::Never
        } else {
            Self::AtOnce
        }
    }
}

#[cfg(test)]
mod tests {
    use pkgres_files::FileSystem as _;

    use super::*;

    fn changed(path: PathBuf, before: Option<&str>) -> ChangedFile {
        if let Some(text) = before {
            write_file(&RealFileSystem, &path, text.as_bytes()).expect("it can be written");
        }
        ChangedFile::with_text(path, "new")
    }

    #[test]
    fn files_change_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, before| changed(folder.path().join(name), before);
        let mut files = vec![file("a", Some("old")), file("b", None)];
        let text = |file: &ChangedFile| std::fs::read_to_string(&file.path).ok();
        let names = || std::fs::read_dir(folder.path()).map(Iterator::count).ok();

        let folder_of_that_name = file("c", None);
        let path = &folder_of_that_name.path;
        RealFileSystem.create_folder(path).expect("it is free");
        files.push(folder_of_that_name);
        assert!(write_together(&files).is_err());
        assert_eq!(text(&files[0]).as_deref(), Some("old"));
        assert_eq!(text(&files[1]), None);
        assert_eq!(names(), Some(2), "no temporary file is left");

        files.pop();
        write_together(&files).expect("both can be written");
        assert_eq!(text(&files[0]).as_deref(), Some("new"));
        assert_eq!(text(&files[1]).as_deref(), Some("new"));
    }

    #[test]
    fn a_byte_order_mark_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = changed(folder.path().join("a"), Some("\u{feff}old"));
        assert_eq!(file.texts(), ["old", "new"]);
        write_together([&file]).expect("it can be written");
        let text = std::fs::read_to_string(&file.path).expect("it exists");
        assert_eq!(text, "\u{feff}new");
    }
}
