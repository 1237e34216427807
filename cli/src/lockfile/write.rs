//! Writes a lockfile, and reports what was written.

use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, LockDiff, Lockfile, ReadOptions};
use serde_json::{Value, json};

use crate::failure::Result;
use crate::show::{self, counted};
use crate::write_together::{ChangedFile, Writing, write_together};

/// The result of writing a lockfile, or of a dry run.
pub(crate) struct WriteOutcome {
    /// The path of the lockfile.
    file: String,
    /// Whether its content differs from the previous one.
    pub(crate) is_changed: bool,
    /// Whether it was written, or will be with other files.
    is_written: bool,
}

/// Whether a lockfile was changed, or would be, by the document of the command that wrote it.
pub(crate) fn changes_lock(document: &Value) -> bool {
    document["written"] == true || document["status"] == WOULD_LOCK
}

/// The status of a lockfile that a dry run would change.
const WOULD_LOCK: &str = "would_lock";

impl WriteOutcome {
    /// The status in JSON documents.
    fn status(&self) -> &'static str {
        if self.is_changed && !self.is_written {
            WOULD_LOCK
        } else {
            "locked"
        }
    }

    /// The JSON document of a command that writes a lockfile, without the fields of its own.
    pub(crate) fn to_json(&self, diff: &LockDiff) -> Value {
        json!({
            "schema_version": 1,
            "status": self.status(),
            "file": self.file,
            "written": self.is_written,
            "changes": show::changes_json(diff),
        })
    }

    /// The last line of a command that writes a lockfile.
    pub(crate) fn summary(&self, packages: usize, changes: usize) -> String {
        let packages = counted(packages, "package");
        let suffix = match changes {
            0 => String::new(),
            count => format!(" ({})", counted(count, "change")),
        };
        match (self.is_changed, self.is_written) {
            (false, _) => format!("The lockfile is up to date: {packages}"),
            (true, true) => format!("Locked {packages}{suffix}"),
            (true, false) => format!("Would lock {packages}{suffix}; nothing was written"),
        }
    }
}

/// The text of a lockfile within the size limit of the reader.
pub(crate) struct LockText(String);

impl LockText {
    /// The text of a lockfile; an error if no command could read it afterwards.
    pub(crate) fn new(lock: &Lockfile, options: &ReadOptions) -> Result<Self> {
        let text = lock.to_text();
        let (length, limit) = (text.len(), options.limits.lock_bytes);
        if length as u64 > limit {
            let packages = counted(lock.packages.len(), "package");
            let message = format!(
                "{LOCK_FILE} would have {length} bytes for {packages}, more than the limit of {limit} bytes"
            );
            return Err(Diagnostic::error(Code::Limit, message)
                .hint("nothing was written; `pkgres resolve` needs no lockfile")
                .into());
        }
        Ok(Self(text))
    }
}

/// Writes a lockfile if its content changes.
pub(crate) fn write_lock(
    path: &Path,
    LockText(text): &LockText,
    before: Option<&[u8]>,
    writing: Writing<'_>,
    options: &ReadOptions,
) -> Result<WriteOutcome> {
    let is_unchanged =
        |bytes: &[u8]| bytes == text.as_bytes() || are_equivalent(bytes, text, options);
    let is_changed = !before.is_some_and(is_unchanged);
    let file = || ChangedFile {
        path: path.to_owned(),
        before: before.map(<[u8]>::to_vec),
        after: text.clone().into_bytes(),
        // Other runs wait for this one, and nobody edits it.
        must_be_unchanged: false,
    };
    match writing {
        Writing::AtOnce if is_changed => write_together([&file()])?,
        Writing::Together(pending) if is_changed => pending.add(file()),
        Writing::AtOnce | Writing::Together(_) | Writing::Never => {}
    }
    Ok(WriteOutcome {
        file: path.to_string_lossy().into_owned(),
        is_changed,
        is_written: is_changed && !matches!(writing, Writing::Never),
    })
}

/// Whether two lockfiles are equivalent although their bytes differ: build metadata does not distinguish
/// releases.
fn are_equivalent(bytes: &[u8], text: &str, options: &ReadOptions) -> bool {
    let read = |bytes| {
        Lockfile::read_of_ecosystems(
            LOCK_FILE,
            bytes,
            &options.limits,
            pkgres_formats::ECOSYSTEMS,
        )
        .into_result()
    };
    let (Ok((before, _)), Ok((now, _))) = (read(bytes), read(text.as_bytes())) else {
        return false;
    };
    before == now && before.to_text().as_bytes() == bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockfile_over_the_size_limit_is_not_written() {
        let lock = Lockfile::default();
        let mut options = ReadOptions::default();
        let length = lock.to_text().len() as u64;
        options.limits.lock_bytes = length;
        assert!(LockText::new(&lock, &options).is_ok());
        options.limits.lock_bytes = length - 1;
        let failure = LockText::new(&lock, &options).err();
        let failure = failure.expect("it is larger than the limit");
        let finding = &failure.findings[0];
        assert_eq!(finding.code, Code::Limit);
        let expected = format!("pkgres.lock would have {length} bytes for 0 packages, more than");
        assert!(finding.message.starts_with(&expected), "{finding:?}");
    }
}
