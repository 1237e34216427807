//! The names of files and folders that are being written beside their targets.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};

/// The prefix of temporary names. No package may have a file with such a name.
const PREFIX: &str = ".pkgres-";

/// The suffix of temporary names.
const SUFFIX: &str = ".tmp";

/// The suffix of the name that a folder has from when it makes place for another one until it is removed.
const REPLACED_SUFFIX: &str = ".old";

/// The length, in bytes, from which names are not in temporary names as a whole. Names can have 255 bytes, and 143 on
/// some encrypted file systems.
const LONG_NAME: usize = 100;

/// A name that no other write uses, of this process or of another one, which may be gone or run on another machine.
pub(crate) fn temporary_name(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // Each state has keys of its own, so that the hash of nothing is a random number.
    let random = RandomState::new().build_hasher().finish();
    let name = shortened(name);
    format!("{PREFIX}{name}.{random:016x}-{number}{SUFFIX}")
}

/// Whether a name is one that [`temporary_name`] returns for `name`.
pub(crate) fn is_temporary_name_of(name: &str, temporary: &str) -> bool {
    target_of(temporary).is_some_and(|target| target == shortened(name))
}

/// A name, or the beginning of a long name with a hash of all of it.
fn shortened(name: &str) -> Cow<'_, str> {
    if name.len() < LONG_NAME {
        return Cow::Borrowed(name);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    let start = &name[..name.floor_char_boundary(LONG_NAME / 2)];
    Cow::Owned(format!("{start}-{:016x}", hasher.finish()))
}

/// Whether a name is one that [`temporary_name`] returns, for whatever name.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    target_of(name).is_some()
}

/// The name of what makes place for the folder with a temporary name.
pub(crate) fn replaced_name(temporary: &str) -> String {
    let name = temporary.strip_suffix(SUFFIX).unwrap_or(temporary);
    format!("{name}{REPLACED_SUFFIX}")
}

/// The temporary name for which [`replaced_name`] returns `replaced`, if it is one of `name`.
pub(crate) fn replacement_of(name: &str, replaced: &str) -> Option<String> {
    let temporary = replaced.strip_suffix(REPLACED_SUFFIX)?.to_owned() + SUFFIX;
    is_temporary_name_of(name, &temporary).then_some(temporary)
}

/// The part of a temporary name that comes from the name of its target.
fn target_of(temporary: &str) -> Option<&str> {
    let name = temporary.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    // The target may have dots in its name: `web` and `web.conf` can be in one folder.
    let (target, end) = name.rsplit_once('.')?;
    let (random, number) = end.split_once('-')?;
    let is_random = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_random && number.parse::<u32>().is_ok()).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_belongs_to_one_target() {
        let (long, longer) = ("x".repeat(254), "é".repeat(127));
        let names = [
            "web", "web.conf", "web.", ".web", "web.0-0", "é", &long, &longer,
        ];
        for name in names {
            let temporary = temporary_name(name);
            assert!(temporary.len() < 143, "{temporary}");
            assert!(is_temporary_name(&temporary), "{temporary}");
            for other in names {
                let belongs = is_temporary_name_of(other, &temporary);
                assert_eq!(belongs, other == name, "{other} {temporary}");
                let replacement = replacement_of(other, &replaced_name(&temporary));
                assert_eq!(replacement.is_some(), belongs, "{other} {temporary}");
            }
        }
        for other in [
            ".pkgres-web.tmp",
            ".pkgres-web.conf.tmp",
            ".pkgres-web.1-1.tmp",
            ".pkgres-web.0123456789abcdef-0.tmp.zip",
            "web.0123456789abcdef-0.tmp",
        ] {
            assert!(!is_temporary_name(other), "{other}");
        }
    }
}
