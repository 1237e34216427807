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

/// Writes the files, then does `last`. If a file cannot be written or `last` fails, those that were written get their old
/// text again.
pub(crate) fn write_together<T>(
    files: &[ChangedFile],
    last: impl FnOnce() -> Result<T>,
) -> Result<T> {
    for (at, file) in files.iter().enumerate() {
        if let Err(error) = write(file) {
            restore(&files[..at]);
            return Err(error);
        }
    }
    last().inspect_err(|_| restore(files))
}

fn write(file: &ChangedFile) -> Result<()> {
    // Renaming another file over it would replace it although it is read-only.
    let is_read_only = std::fs::metadata(&file.path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().readonly());
    if is_read_only {
        let path = file.path.clone();
        let reason = "it is read-only".to_owned();
        return Err(FileError::Rejected { path, reason }.into());
    }
    write_text(&file.path, &file.after).map_err(Failure::from)
}

/// Writes the text of a file. A byte order mark stays: it is no part of the text that was read and edited.
fn write_text(path: &Path, text: &str) -> std::result::Result<(), FileError> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";

    let is_marked =
        std::fs::read(path).is_ok_and(|old| old.starts_with(BYTE_ORDER_MARK.as_bytes()));
    let mark = if is_marked { BYTE_ORDER_MARK } else { "" };
    write_file(&RealFileSystem, path, format!("{mark}{text}").as_bytes())
}

/// Restores what can be restored: the error that is reported is the first one.
fn restore(files: &[ChangedFile]) {
    for file in files.iter().rev() {
        let _ = match &file.before {
            Some(text) => write_text(&file.path, text).is_ok(),
            None => RealFileSystem.remove(&file.path).is_ok(),
        };
    }
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

        let locked = file("c", Some("old"));
        let mut rights = std::fs::metadata(&locked.path)
            .expect("it exists")
            .permissions();
        rights.set_readonly(true);
        std::fs::set_permissions(&locked.path, rights).expect("it is ours");
        files.push(locked);
        assert!(write_together(&files, || Ok(())).is_err());
        assert_eq!(text(&files[0]).as_deref(), Some("old"));
        assert_eq!(text(&files[2]).as_deref(), Some("old"));

        files.pop();
        write_together(&files, || Ok(())).expect("both can be written");
        assert_eq!(text(&files[1]).as_deref(), Some("new"));
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
