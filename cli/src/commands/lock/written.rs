//! Lockfiles as files: their text, and how they get to where they belong.

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{LOCK_FILE, LockDiff, Lockfile, ReadOptions};
use serde_json::{Value, json};

use crate::failure::Result;
use crate::project::Project;
use crate::show::{self, counted};

/// A lockfile that was written, or would have been.
pub(crate) struct Written {
    /// The lockfile.
    pub(crate) file: String,
    /// Whether it holds something else than before.
    pub(crate) is_new: bool,
    /// Whether it was written.
    pub(crate) on_disk: bool,
}

impl Written {
    /// What happened, as one word.
    fn status(&self) -> &'static str {
        if self.is_new && !self.on_disk {
            "would_lock"
        } else {
            "locked"
        }
    }

    /// What happened, as the beginning of the JSON that a command answers.
    pub(crate) fn answer(&self, diff: &LockDiff) -> Value {
        json!({
            "schema_version": 1,
            "status": self.status(),
            "file": self.file,
            "written": self.on_disk,
            "changes": show::changes_json(diff),
        })
    }

    /// What happened, as one line.
    pub(crate) fn summary(&self, packages: usize, changes: usize) -> String {
        let packages = counted(packages, "package");
        let suffix = match changes {
            0 => String::new(),
            count => format!(" ({})", counted(count, "change")),
        };
        match (self.is_new, self.on_disk) {
            (false, _) => format!("The lockfile is up to date: {packages}"),
            (true, true) => format!("Locked {packages}{suffix}"),
            (true, false) => format!("Would lock {packages}{suffix}; nothing was written"),
        }
    }
}

/// The text of a lockfile that can be read again once it is written.
pub(crate) struct LockText(String);

impl LockText {
    /// The text of a lockfile. One that no command could read afterwards is refused.
    pub(crate) fn of(lock: &Lockfile, options: &ReadOptions) -> Result<Self> {
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

/// Writes a lockfile, unless it would stay as it is or nothing is to be written.
pub(crate) fn write_lock(
    project: &Project,
    LockText(text): &LockText,
    before: Option<&[u8]>,
    dry_run: bool,
    options: &ReadOptions,
) -> Result<Written> {
    let path = project.lock_path();
    let is_new =
        !before.is_some_and(|bytes| bytes == text.as_bytes() || say_the_same(bytes, text, options));
    let is_written = is_new && !dry_run;
    if is_written {
        write_file(&RealFileSystem, &path, text.as_bytes())?;
    }
    Ok(Written {
        file: path.to_string_lossy().into_owned(),
        is_new,
        on_disk: is_written,
    })
}

/// Whether a lockfile as it is written says the same as another one, though its bytes differ: build
/// metadata does not tell releases apart.
fn say_the_same(bytes: &[u8], text: &str, options: &ReadOptions) -> bool {
    let read = |bytes| Lockfile::read(LOCK_FILE, bytes, &options.limits).into_result();
    let (Ok((before, _)), Ok((now, _))) = (read(bytes), read(text.as_bytes())) else {
        return false;
    };
    before == now && before.to_text().as_bytes() == bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockfile_that_could_not_be_read_again_is_not_written() {
        let lock = Lockfile::default();
        let mut options = ReadOptions::default();
        let length = lock.to_text().len() as u64;
        options.limits.lock_bytes = length;
        assert!(LockText::of(&lock, &options).is_ok());
        options.limits.lock_bytes = length - 1;
        let failure = LockText::of(&lock, &options).err();
        let failure = failure.expect("it is larger than the limit");
        let finding = &failure.findings[0];
        assert_eq!(finding.code, Code::Limit);
        let expected = format!("pkgres.lock would have {length} bytes for 0 packages, more than");
        assert!(finding.message.starts_with(&expected), "{finding:?}");
    }
}
