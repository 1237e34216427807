//! Recognizes files that are roots or releases of ecosystems other than class packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, entry_path, read_file, read_head};
use pkgres_formats::{Format, FormatFile, FormatNames, HEAD_BYTES, ReleaseExtent};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{LOCK_FILE, MANIFEST_FILE, ReadOptions};

use crate::invocation::quoted;
use crate::read_manifest::folder_of;

/// The most roots that a message names.
const MAX_NAMED: usize = 5;

/// The most entries of a folder that are looked at for a root.
const MAX_ENTRIES: usize = 10_000;

/// The root below the folder of a project, at a path where an ecosystem has it.
pub(crate) fn nested_root(folder: &Path) -> Option<PathBuf> {
    let formats = pkgres_formats::ALL.iter();
    let mut paths = formats.flat_map(|format| format.names().nested_roots);
    paths.find_map(|path| Some(entry_path(folder, path)).filter(|path| path.is_file()))
}

/// A file that is a root, and its format.
pub(crate) type Recognized = (PathBuf, &'static dyn Format);

/// The file that is a root of another ecosystem, and its format. `path` names it, or its folder. A folder with roots of
/// several ecosystems is an error, and so is one with several roots, none of which has a usual name.
pub(crate) fn recognize(
    path: &Path,
    stated: Option<&'static dyn Format>,
) -> Result<Option<Recognized>, Diagnostic> {
    if stated.is_some_and(|format| !is_foreign(&format)) {
        return Ok(None);
    }
    let names_file = path.is_file();
    let is_default = path.file_name() == Some(MANIFEST_FILE.as_ref());
    if names_file && !is_default {
        let format = stated
            .or_else(|| format_of(path, None))
            .or_else(|| by_name(path));
        return Ok(format.map(|format| (path.to_owned(), format)));
    }
    let folder = folder_of(path);
    let has_manifest = folder.join(MANIFEST_FILE).exists();
    if has_manifest && stated.is_none() || !(path.is_dir() || is_default) {
        return Ok(None);
    }
    // The manifest is that of a class package, which is not meant if another ecosystem is stated.
    let root = one_of(roots_in(&folder, stated), &folder)?;
    Ok(root.or_else(|| Some((path.to_owned(), stated.filter(|_| names_file)?))))
}

/// The file of a project that is a root of another ecosystem, for titles. Problems with it are reported elsewhere.
pub(crate) fn root_file(manifest: &Path, stated: Option<&'static dyn Format>) -> Option<PathBuf> {
    let root = recognize(manifest, stated).ok().flatten();
    root.map(|(path, _)| path)
}

/// A warning that a folder has roots of other ecosystems beside its manifest, which is taken unless one is stated.
pub(crate) fn roots_beside_manifest(manifest: &Path) -> Option<Diagnostic> {
    let formats = || pkgres_formats::ALL.iter().copied().filter(is_foreign);
    let can_be_root = |name: &str| {
        formats().any(|format| {
            format.is_release_name(name) || format.names().usual_roots.contains(&name)
        })
    };
    let roots = named_roots_in(&folder_of(manifest), None, can_be_root);
    let (first, _) = roots.first()?;
    let mut ids: Vec<&str> = vec![pkgres_manifest::CLASS_PACKAGES.id()];
    for (_, format) in &roots {
        let id = format.ecosystem().id();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let options = ids.iter().map(|id| format!("`--ecosystem {id}`"));
    let message = format!(
        "{} is the root, and not {} beside it",
        Escaped::path(manifest),
        Escaped::path(first)
    );
    let hint = format!("{} chooses one", sentence_list(options, "or"));
    Some(Diagnostic::warning(Code::Usage, message).hint(hint))
}

/// The roots of other ecosystems in a folder below the one that a user names, if it is a project: it has a lockfile, or a
/// root with a name that people give to roots. Other files that can be roots may be releases of a registry.
pub(crate) fn roots_of_project(
    folder: &Path,
    stated: Option<&'static dyn Format>,
) -> Vec<Recognized> {
    if stated.is_some_and(|format| !is_foreign(&format)) || folder.join(MANIFEST_FILE).exists() {
        return Vec::new();
    }
    let roots = if folder.join(LOCK_FILE).is_file() {
        roots_in(folder, stated)
    } else {
        named_roots(folder, stated, |names| names.written_roots().collect())
    };
    let mut roots = match one_of(roots.clone(), folder) {
        Ok(root) => root.into_iter().collect(),
        Err(_) => roots,
    };
    // Other roots in the folder of a release are a part of it, as in the folder of one that was installed.
    if release_of_folder(folder).is_some() {
        roots.retain(|(path, format)| takes_folder(path, *format));
    }
    roots
}

/// The file that says that a folder is a release of another ecosystem as a whole, so that what is below is a part of it.
pub(crate) fn release_of_folder(folder: &Path) -> Option<Recognized> {
    let roots = named_roots(folder, None, |names| names.usual_roots.to_vec());
    let mut roots = roots.into_iter();
    roots.find(|(path, format)| takes_folder(path, *format))
}

/// Whether a root is a release that takes its folder as a whole.
fn takes_folder(root: &Path, format: &dyn Format) -> bool {
    let head = Head::read(root).unwrap_or_else(|| Head::empty(root));
    format.release_extent(&head.file()) == Some(ReleaseExtent::Folder)
}

/// The roots in a folder that have one of the names of their format.
fn named_roots(
    folder: &Path,
    stated: Option<&'static dyn Format>,
    names: impl Fn(FormatNames) -> Vec<&'static str>,
) -> Vec<Recognized> {
    let mut roots = Vec::new();
    for format in pkgres_formats::ALL {
        for name in names(format.names()) {
            let path = folder.join(name);
            if let Some(format) = format_of(&path, stated) {
                roots.push((path, format));
            }
        }
    }
    roots
}

fn is_foreign(format: &&'static dyn Format) -> bool {
    format.ecosystem() != pkgres_manifest::CLASS_PACKAGES
}

/// The format of a root of another ecosystem, or of the stated one.
fn format_of(path: &Path, stated: Option<&'static dyn Format>) -> Option<&'static dyn Format> {
    let head = Head::read(path)?;
    let mut formats = pkgres_formats::ALL.iter().copied().filter(is_foreign);
    formats.find(|format| {
        stated.is_none_or(|one| one.ecosystem() == format.ecosystem())
            && format.is_root(&head.file())
    })
}

/// The format of a release of another ecosystem: of a file, which need not be there, or of a folder without a manifest.
pub(crate) fn format_of_release(path: &Path) -> Option<&'static dyn Format> {
    let is_release = |path: &Path, format: &dyn Format| {
        let head = Head::read(path).unwrap_or_else(|| Head::empty(path));
        let file = head.file();
        format.is_release_name(file.name()) && format.release_extent(&file).is_some()
    };
    if path.join(MANIFEST_FILE).exists() {
        return None;
    }
    if path.is_dir() {
        let mut roots = roots_in(path, None).into_iter();
        return roots
            .find(|(path, format)| is_release(path, *format))
            .map(|(_, format)| format);
    }
    let mut formats = pkgres_formats::ALL.iter().copied().filter(is_foreign);
    formats.find(|format| is_release(path, *format))
}

/// The roots of other ecosystems in a folder, sorted by name.
pub(crate) fn roots_in(folder: &Path, stated: Option<&'static dyn Format>) -> Vec<Recognized> {
    named_roots_in(folder, stated, |_| true)
}

/// The roots of other ecosystems in a folder whose names can be those of roots, sorted by name. Other files are not
/// opened.
fn named_roots_in(
    folder: &Path,
    stated: Option<&'static dyn Format>,
    can_be_root: impl Fn(&str) -> bool,
) -> Vec<Recognized> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut entries: Vec<PathBuf> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| !name.to_string_lossy().starts_with('.'))
        .filter(|name| can_be_root(&name.to_string_lossy()))
        .map(|name| entry_path(folder, name))
        .collect();
    entries.sort();
    let roots = entries
        .into_iter()
        .filter_map(|path| format_of(&path, stated).map(|format| (path, format)));
    roots.collect()
}

/// The roots that people could write where a path leads, if nothing is there: at the path itself or, for a stated
/// ecosystem, in the folder that the path names.
pub(crate) fn absent_roots(path: &Path, stated: Option<&'static dyn Format>) -> Vec<Recognized> {
    let folder = folder_of(path);
    let names_folder = path.is_dir() || path.file_name() == Some(MANIFEST_FILE.as_ref());
    let is_other_meant = names_folder && (stated.is_none() || nested_root(&folder).is_some());
    if is_other_meant || !matches!(recognize(path, stated), Ok(None)) || !folder.is_dir() {
        return Vec::new();
    }
    let mut roots = Vec::new();
    for format in pkgres_formats::ALL.iter().copied().filter(is_foreign) {
        if stated.is_some_and(|one| one.ecosystem() != format.ecosystem()) {
            continue;
        }
        for name in format.names().written_roots() {
            let root = entry_path(&folder, name);
            let is_meant = names_folder || path.file_name() == Some(name.as_ref());
            if is_meant && root.symlink_metadata().is_err() {
                roots.push((root, format));
            }
        }
    }
    roots
}

/// The format of a text that none recognizes, by the name of its file: it can say what is wrong with the text.
fn by_name(path: &Path) -> Option<&'static dyn Format> {
    let head = Head::read(path)?;
    let file = head.file();
    let formats = pkgres_formats::ALL.iter().copied();
    let mut formats = formats.filter(|format| format.is_release_name(file.name()));
    let format = formats.next()?;
    let mut all = std::iter::once(format).chain(formats);
    let is_release = all.any(|format| format.release_extent(&file).is_some());
    (!is_release && is_foreign(&format)).then_some(format)
}

/// The format of a release of another ecosystem that is a single file, such as an archive. Of several formats for such a
/// name, it is the first one that can read the release, or else the first one, which says what is wrong.
pub(crate) fn format_of_artifact(
    path: &Path,
    options: &ReadOptions,
) -> Option<&'static dyn Format> {
    let name = path.file_name()?.to_str()?;
    let mut foreign = pkgres_formats::ALL.iter().filter(|it| is_foreign(it));
    if !foreign.any(|format| format.is_release_name(name)) {
        return None;
    }
    let head = Head::read(path)?;
    let file = head.file();
    let formats = pkgres_formats::ALL.iter().copied().filter(is_foreign);
    let mut formats = formats
        .filter(|format| is_artifact(*format, &file))
        .peekable();
    let first = formats.next()?;
    if formats.peek().is_none() {
        return Some(first);
    }
    let Ok(bytes) = read_file(path, options.limits.archive_bytes, Follow::Links) else {
        return Some(first);
    };
    let file = FormatFile {
        bytes: &bytes,
        ..file
    };
    let can_read =
        |format: &&'static dyn Format| format.read_releases(&file, &(), options).value().is_some();
    let readable = std::iter::once(first).chain(formats).find(can_read);
    Some(readable.unwrap_or(first))
}

/// Whether a file looks like a release by itself.
fn is_artifact(format: &dyn Format, file: &FormatFile<'_>) -> bool {
    format.is_release_name(file.name()) && format.release_extent(file) == Some(ReleaseExtent::File)
}

/// The one of several roots in a folder that is meant: the only one, or the one with the most usual name. Names do not
/// decide between ecosystems.
fn one_of(mut roots: Vec<Recognized>, folder: &Path) -> Result<Option<Recognized>, Diagnostic> {
    if roots.len() <= 1 {
        return Ok(roots.pop());
    }
    let rank = |(path, format): &Recognized| {
        let mut usual = format.names().usual_roots.iter();
        usual.position(|name| path.file_name() == Some(name.as_ref()))
    };
    let ids: BTreeSet<&str> = (roots.iter())
        .map(|(_, format)| format.ecosystem().id())
        .collect();
    let best = (0..roots.len())
        .filter_map(|at| Some((rank(&roots[at])?, at)))
        .min();
    if let Some((_, at)) = best.filter(|_| ids.len() == 1) {
        return Ok(Some(roots.swap_remove(at)));
    }
    // One of each ecosystem comes first.
    let mut unnamed = ids.clone();
    roots.sort_by_cached_key(|(_, format)| !unnamed.remove(format.ecosystem().id()));
    let mut named: Vec<String> = roots
        .iter()
        .take(MAX_NAMED)
        .map(|(path, format)| match ids.len() {
            1 => format!("`{}`", quoted(path)),
            _ => format!("`{}` ({})", quoted(path), format.ecosystem().id()),
        })
        .collect();
    if let Some(rest) = roots.len().checked_sub(MAX_NAMED + 1) {
        named.push(format!("{} more", rest + 1));
    }
    let message = format!(
        "{} files in {} can be the root: {}",
        roots.len(),
        Escaped::path(&folder),
        named.join(", ")
    );
    let hint = if ids.len() == 1 {
        "name one of them".to_owned()
    } else {
        let options = ids.iter().map(|id| format!("`--ecosystem {id}`"));
        format!(
            "name one of them, or choose with {}",
            sentence_list(options, "or")
        )
    };
    Err(Diagnostic::error(Code::Usage, message).hint(hint))
}

/// The name of a file and the beginning of its content, by which formats recognize it.
struct Head {
    name: String,
    bytes: Vec<u8>,
}

impl Head {
    /// Reads the beginning of a file; `None` if it is not a plain file.
    fn read(path: &Path) -> Option<Self> {
        let bytes = read_head(path, HEAD_BYTES, Follow::Links).ok()?;
        Some(Self {
            bytes,
            ..Self::empty(path)
        })
    }

    /// The name alone.
    fn empty(path: &Path) -> Self {
        Self {
            name: path.to_string_lossy().into_owned(),
            bytes: Vec::new(),
        }
    }

    fn file(&self) -> FormatFile<'_> {
        FormatFile {
            path: &self.name,
            bytes: &self.bytes,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Opening a pipe would wait for somebody to write into it.
    #[test]
    fn pipes_are_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        assert!(Head::read(&path).is_none());
    }
}
