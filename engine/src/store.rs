//! The store: unpacked archives on a machine, and which applications use them.
//!
//! ```text
//! /var/lib/pkgres/store/
//! ├── .lock/     locked while uses are written, and while unused archives are removed
//! ├── .uses/     a file for each application: the folder of its state, then the digests of its archives, a line each
//! └── 6bd3…/     an archive and its files
//! ```
//!
//! An application names its archives before a run looks at them, and gives up those of earlier releases at the end of a
//! run that has brought everything into order. So whoever holds the lock can remove what nobody names, also while
//! others run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pkgres_files::EntryAttributes;
use pkgres_manifest::{Hexadecimal, sha256};

use crate::target::{Probe, Target, TargetError, TargetLock, make_data_folder};

/// The folder with all archives.
pub(crate) const STORE: &str = "/var/lib/pkgres/store";

const LOCK: &str = ".lock";
const USES: &str = ".uses";

/// The number of hexadecimal digits of a digest.
const DIGITS: usize = 64;

/// The most bytes of a file with uses.
const MOST_BYTES: u64 = 16 << 20;

/// How often the lock is tried before it is an error that another process holds it, and the pause in between. Nobody
/// holds it for longer than it takes to remove some folders.
const TRIES: usize = 600;
const PAUSE: Duration = Duration::from_millis(100);

/// The archives in the store that no application uses, and what was left behind by runs that were killed while they
/// unpacked one.
///
/// # Errors
///
/// The store cannot be read, or what an application uses is damaged.
pub fn unused_archives(probe: &dyn Probe) -> Result<Vec<PathBuf>, TargetError> {
    let store = Path::new(STORE);
    if probe.entry(store)?.is_none() {
        return Ok(Vec::new());
    }
    let used = all_used(probe)?;
    let names = probe.names(store)?.into_iter();
    let unused = names.filter(|name| {
        let name = name.to_string_lossy();
        // A folder that is being unpacked begins with a dot.
        let digest = name.strip_prefix('.').unwrap_or(&name);
        is_digest(digest) && !used.contains(digest)
    });
    Ok(unused.map(|name| store.join(name)).collect())
}

/// Removes the archives in the store that no application uses, and returns them. This can be done while others apply
/// packages to the machine.
///
/// # Errors
///
/// Those of [`unused_archives`], or the store cannot be written.
pub fn remove_unused_archives(target: &dyn Target) -> Result<Vec<PathBuf>, TargetError> {
    if unused_archives(target)?.is_empty() {
        return Ok(Vec::new());
    }
    let _lock = lock(target)?;
    let unused = unused_archives(target)?;
    for path in &unused {
        target.remove(path)?;
    }
    Ok(unused)
}

/// Notes which archives an application uses from now on, which is named by the folder of its state; `keeps_earlier` says
/// whether it still uses those that it used before.
pub(crate) fn note_uses(
    target: &dyn Target,
    application: &Path,
    archives: &BTreeSet<String>,
    keeps_earlier: bool,
) -> Result<(), TargetError> {
    let name = application.as_os_str().as_encoded_bytes();
    let file = Path::new(STORE)
        .join(USES)
        .join(Hexadecimal(&sha256(name)).to_string());
    let earlier = used_by(target, &file)?;
    let mut all = archives.clone();
    if keeps_earlier {
        all.extend(earlier.iter().cloned());
    }
    if all == earlier {
        return Ok(());
    }
    let _lock = lock(target)?;
    if all.is_empty() {
        return target.remove(&file);
    }
    let mut text = format!("{}\n", application.display());
    for digest in &all {
        text.push_str(digest);
        text.push('\n');
    }
    make_data_folder(target, &Path::new(STORE).join(USES), 0o755)?;
    target.write_file(&file, text.as_bytes(), EntryAttributes::with_mode(0o644))
}

/// The archives in the store that a text mentions by the paths of their folders.
pub(crate) fn mentioned_archives(text: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    let folder = format!("{STORE}/");
    let mut after = text.split(&folder);
    after.next();
    let digests = after.filter_map(|rest| rest.get(..DIGITS).filter(|digest| is_digest(digest)));
    digests.map(str::to_owned).collect()
}

fn is_digest(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == DIGITS && text.bytes().all(is_digit)
}

/// The archives that all applications use.
fn all_used(probe: &dyn Probe) -> Result<BTreeSet<String>, TargetError> {
    let folder = Path::new(STORE).join(USES);
    if probe.entry(&folder)?.is_none() {
        return Ok(BTreeSet::new());
    }
    let mut used = BTreeSet::new();
    for name in probe.names(&folder)? {
        // Other files are what a killed run left behind.
        if is_digest(&name.to_string_lossy()) {
            used.extend(used_by(probe, &folder.join(name))?);
        }
    }
    Ok(used)
}

/// The archives that the application with a file uses.
fn used_by(probe: &dyn Probe, file: &Path) -> Result<BTreeSet<String>, TargetError> {
    if probe.entry(file)?.is_none() {
        return Ok(BTreeSet::new());
    }
    let bytes = probe.read(file, MOST_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: BTreeSet<String> = text.lines().skip(1).map(str::to_owned).collect();
    match lines.iter().find(|line| !is_digest(line)) {
        None => Ok(lines),
        Some(_) => Err(TargetError::Unsupported(format!(
            "{} is damaged: remove it, and run `pkgres apply` for {} again",
            file.display(),
            text.lines().next().unwrap_or("its application")
        ))),
    }
}

/// Locks the store, which may have to be made first.
fn lock(target: &dyn Target) -> Result<Option<TargetLock>, TargetError> {
    let folder = Path::new(STORE).join(LOCK);
    make_data_folder(target, &folder, 0o700)?;
    for _ in 1..TRIES {
        match target.lock(&folder) {
            Err(TargetError::Locked { .. }) => std::thread::sleep(PAUSE),
            locked => return locked,
        }
    }
    target.lock(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_found_in_texts_by_their_paths() {
        let digest = "0123456789abcdef".repeat(4);
        let text = format!(r#"{{"target":"{STORE}/{digest}/files/site","other":"{STORE}/.uses"}}"#);
        let found: Vec<String> = mentioned_archives(text.as_bytes()).into_iter().collect();
        assert_eq!(found, [digest]);
        assert!(mentioned_archives(b"nothing").is_empty());
    }
}
