//! Files of projects that change together.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pkgres_files::{Follow, NewContent, RealFileSystem, read_file, write_file, write_files};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::failure::{Failure, Result};

/// A file that changes.
pub(crate) struct ChangedFile {
    pub(crate) path: PathBuf,
    /// The bytes before; `None` if there is no such file.
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Vec<u8>,
    /// Whether it is written only if it has not changed since it was read: users edit it, too.
    pub(crate) must_be_unchanged: bool,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

impl ChangedFile {
    /// A file with a text that was read and edited. If there was no file, the text before is empty. A byte order mark stays:
    /// it is no part of the texts.
    pub(crate) fn with_text(path: PathBuf, before: &str, after: &str) -> Result<Self> {
        let before = read_unchanged(&path, before)?;
        let is_marked =
            (before.as_ref()).is_some_and(|old| old.starts_with(BYTE_ORDER_MARK.as_bytes()));
        let mark = if is_marked { BYTE_ORDER_MARK } else { "" };
        Ok(Self {
            path,
            before,
            after: format!("{mark}{after}").into_bytes(),
            must_be_unchanged: true,
        })
    }

    /// The text before and afterwards, without byte order marks.
    pub(crate) fn texts(&self) -> [Cow<'_, str>; 2] {
        let before = self.before.as_deref().unwrap_or_default();
        [before, &self.after].map(text_of)
    }

    /// Fails if the file must not have changed, but has.
    fn check(&self) -> Result<()> {
        if self.must_be_unchanged {
            let [before, _] = self.texts();
            read_unchanged(&self.path, &before)?;
        }
        Ok(())
    }
}

/// The text in bytes, without a byte order mark.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes());
    String::from_utf8_lossy(text.unwrap_or(bytes))
}

/// Reads a file whose text must be the one that was edited: otherwise, the edit of somebody else would be lost.
fn read_unchanged(path: &Path, before: &str) -> Result<Option<Vec<u8>>> {
    let before = text_of(before.as_bytes());
    let changed = || {
        let message = format!("{} was changed meanwhile", Escaped::path(path));
        let finding = Diagnostic::error(Code::File, message);
        Failure::from(finding.hint("nothing was written; run the command again"))
    };
    // A longer file has another text.
    let limit = (BYTE_ORDER_MARK.len() + before.len()) as u64;
    let bytes = match read_file(path, limit, Follow::Links) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.is_not_found() => None,
        Err(error) if error.is_too_large() => return Err(changed()),
        Err(error) => return Err(error.into()),
    };
    if text_of(bytes.as_deref().unwrap_or_default()) != before {
        return Err(changed());
    }
    Ok(bytes)
}

/// Writes the files: all of them, or none. A file that could not be restored is an error of its own.
pub(crate) fn write_together<'file>(
    files: impl IntoIterator<Item = &'file ChangedFile>,
) -> Result<()> {
    let mut contents = Vec::new();
    for file in files {
        file.check()?;
        contents.push(NewContent {
            path: &file.path,
            before: file.before.as_deref(),
            after: &file.after,
        });
    }
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

/// Writes the edited text of a file, as [`ChangedFile::with_text`].
pub(crate) fn write_text(path: &Path, before: &str, after: &str) -> Result<()> {
    let file = ChangedFile::with_text(path.to_owned(), before, after)?;
    Ok(write_file(&RealFileSystem, path, &file.after)?)
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
        ChangedFile::with_text(path, before.unwrap_or_default(), "new").expect("it is unchanged")
    }

    #[test]
    fn files_change_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, before| changed(folder.path().join(name), before);
        let mut files = vec![file("a", Some("old")), file("b", None)];
        let text = |file: &ChangedFile| std::fs::read_to_string(&file.path).ok();
        let names = || std::fs::read_dir(folder.path()).map(Iterator::count).ok();

        let folder_of_that_name = ChangedFile {
            must_be_unchanged: false,
            ..file("c", None)
        };
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

    #[test]
    fn a_file_that_somebody_else_changed_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        for (before, theirs) in [("old", "their longer text"), ("old", "it"), ("", "it")] {
            let before = Some(before).filter(|text| !text.is_empty());
            let files = [
                changed(folder.path().join("b"), None),
                changed(path.clone(), before),
            ];
            write_file(&RealFileSystem, &path, theirs.as_bytes()).expect("it can be written");
            let failure = write_together(&files).expect_err("it has another text");
            let message = &failure.findings[0].message;
            assert!(message.ends_with("was changed meanwhile"), "{message}");
            assert_eq!(std::fs::read_to_string(&path).expect("it exists"), theirs);
            assert!(!files[0].path.exists());
            assert!(write_text(&path, before.unwrap_or_default(), "new").is_err());
            RealFileSystem.remove(&path).expect("it exists");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_no_file_that_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let changed = ChangedFile::with_text(folder.path().to_owned(), "", "new");
        assert!(changed.is_err());
    }
}
