//! Files of a project that change together.

use std::path::{Path, PathBuf};

use pkgres_files::{FileError, FileSystem as _, RealFileSystem, write_file};

use crate::failure::{Failure, Result};

/// A file that changes.
pub(crate) struct ChangedFile {
    pub(crate) path: PathBuf,
    /// The text before; `None` if there is no such file.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Writes the files, then does `finish`. If a file cannot be written or `finish` fails, those that were written get their
/// old text again. A file that cannot be restored is an error of its own.
///
/// A command that is killed in between leaves new files beside old ones: each file is replaced at once, but not all.
pub(crate) fn write_together<T>(
    files: &[ChangedFile],
    finish: impl FnOnce() -> Result<T>,
) -> Result<T> {
    for (at, file) in files.iter().enumerate() {
        if let Err(error) = write_text(&file.path, &file.after) {
            return Err(restore(&files[..at], error.into()));
        }
    }
    finish().map_err(|error| restore(files, error))
}

/// Writes the text of a file. A byte order mark stays: it is no part of the text that was read and edited.
pub(crate) fn write_text(path: &Path, text: &str) -> std::result::Result<(), FileError> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";

    let is_marked =
        std::fs::read(path).is_ok_and(|old| old.starts_with(BYTE_ORDER_MARK.as_bytes()));
    let mark = if is_marked { BYTE_ORDER_MARK } else { "" };
    write_file(&RealFileSystem, path, format!("{mark}{text}").as_bytes())
}

/// Restores the files, and adds those that keep their new content to the error.
fn restore(files: &[ChangedFile], mut error: Failure) -> Failure {
    for file in files.iter().rev() {
        let restored = match &file.before {
            Some(text) => write_text(&file.path, text),
            None => RealFileSystem
                .remove(&file.path)
                .map_err(|source| FileError::System {
                    action: "cannot remove",
                    path: file.path.clone(),
                    source,
                }),
        };
        if let Err(reason) = restored {
            let mut finding = reason.to_diagnostic();
            finding.message = format!("the old content could not be restored: {}", finding.message);
            error.findings.push(finding);
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_change_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, before: Option<&str>| {
            let path = folder.path().join(name);
            if let Some(text) = before {
                write_file(&RealFileSystem, &path, text.as_bytes()).expect("it can be written");
            }
            ChangedFile {
                path,
                before: before.map(str::to_owned),
                after: "new".to_owned(),
            }
        };
        let mut files = vec![file("a", Some("old")), file("b", None)];
        let text = |file: &ChangedFile| std::fs::read_to_string(&file.path).ok();

        let result = write_together(&files, || Err::<(), _>(Failure::usage("no")));
        assert!(result.is_err());
        assert_eq!(text(&files[0]).as_deref(), Some("old"));
        assert_eq!(text(&files[1]), None);

        let folder_of_that_name = file("c", None);
        let path = &folder_of_that_name.path;
        RealFileSystem.create_folder(path).expect("it is free");
        files.push(folder_of_that_name);
        assert!(write_together(&files, || Ok(())).is_err());
        assert_eq!(text(&files[0]).as_deref(), Some("old"));
        assert_eq!(text(&files[1]), None);

        files.pop();
        write_together(&files, || Ok(())).expect("both can be written");
        assert_eq!(text(&files[1]).as_deref(), Some("new"));
    }

    #[test]
    fn files_that_cannot_be_restored_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        let file = ChangedFile {
            path: inner.join("a"),
            before: Some("old".to_owned()),
            after: "new".to_owned(),
        };

        let result = write_together(std::slice::from_ref(&file), || {
            RealFileSystem.remove(&inner).expect("it is ours");
            Err::<(), _>(Failure::usage("no"))
        });
        let findings = result.expect_err("it fails").findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert_eq!(findings[0].message, "no");
        let expected = "the old content could not be restored: ";
        assert!(findings[1].message.starts_with(expected), "{findings:?}");
    }

    #[test]
    fn a_byte_order_mark_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        write_file(&RealFileSystem, &path, "\u{feff}old".as_bytes()).expect("it can be written");
        let file = ChangedFile {
            path: path.clone(),
            before: Some("old".to_owned()),
            after: "new".to_owned(),
        };
        let text = || std::fs::read_to_string(&path).expect("it exists");

        let result = write_together(std::slice::from_ref(&file), || {
            assert_eq!(text(), "\u{feff}new");
            Err::<(), _>(Failure::usage("no"))
        });
        assert!(result.is_err());
        assert_eq!(text(), "\u{feff}old");
    }
}
