//! Roots of other ecosystems than class packages: recognizes and reads them.

use std::fs;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, Root};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{LOCK_FILE, MANIFEST_FILE};
use pkgres_registry_client::FolderTree;
use pkgres_settings::SETTINGS_FILE;

use crate::context::Context;
use crate::failure::{Failure, Result as CommandResult};
use crate::invocation::quoted;
use crate::manifest_file::folder_of;

/// How many bytes of a file are needed to recognize it.
const HEAD_BYTES: usize = 4096;

/// The most roots that a message names.
const MAX_NAMED: usize = 5;

/// The most entries of a folder that are looked at for a root.
const MAX_ENTRIES: usize = 10_000;

/// A root that is no class package.
pub(crate) struct ForeignRoot {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static dyn Format,
    pub(crate) root: Root,
    /// The content of the file.
    pub(crate) bytes: Vec<u8>,
    /// Warnings of the reader.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl ForeignRoot {
    /// Reads the root that a path names, or the one in the folder that it names. `None` if that is a class package, or
    /// if nothing is there.
    pub(crate) fn find(path: &Path, context: &Context) -> CommandResult<Option<Self>> {
        let Some((path, format)) = recognize(path, context.ecosystem)? else {
            return Ok(None);
        };
        let options = &context.read_options;
        let limit = options.limits.archive_bytes;
        let bytes =
            read_file(&path, limit, Follow::Links).map_err(|error| error.to_diagnostic())?;
        Self::parse(path, format, bytes, context).map(Some)
    }

    /// Reads the root from the content of its file, which need not be on the disk.
    pub(crate) fn parse(
        path: PathBuf,
        format: &'static dyn Format,
        bytes: Vec<u8>,
        context: &Context,
    ) -> CommandResult<Self> {
        let name = path.to_string_lossy();
        let file = FormatFile {
            path: &name,
            bytes: &bytes,
        };
        let tree = FolderTree::new(&folder_of(&path));
        let read = format.read_root(&file, &tree, &context.read_options);
        let (root, warnings) = read.into_result().map_err(Failure::from)?;
        Ok(Self {
            path,
            format,
            root,
            bytes,
            warnings,
        })
    }
}

/// The nearest folder above this one that is a project: it has a manifest, a lockfile, or a root of another ecosystem.
/// `None` if this folder is one itself, or if there is none below the top of the repository or of the workspace.
pub(crate) fn project_above() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    let mut shown = PathBuf::new();
    for folder in current.ancestors() {
        let is_here = shown.as_os_str().is_empty();
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let has_root = || {
            let mut formats = pkgres_formats::ALL.iter();
            formats.any(|format| format.usual_root_names().iter().any(|name| has(name)))
                // Several roots are an error of this folder.
                || is_here && !matches!(recognize(Path::new("."), None), Ok(None))
        };
        if has(MANIFEST_FILE) || has(LOCK_FILE) || has_root() {
            return Some(shown).filter(|_| !is_here);
        }
        if has(SETTINGS_FILE) || has(".git") {
            return None;
        }
        shown.push("..");
    }
    None
}

/// A file that is a root, and its format.
type Recognized = (PathBuf, &'static dyn Format);

/// The file that is a root of another ecosystem, and its format. `path` names it, or its folder. A folder with several
/// roots, none of which has a usual name, is an error.
pub(crate) fn recognize(
    path: &Path,
    stated: Option<&'static dyn Format>,
) -> Result<Option<Recognized>, Diagnostic> {
    let class_packages = pkgres_manifest::CLASS_PACKAGES;
    let is_foreign = |format: &&'static dyn Format| format.ecosystem() != class_packages;
    if stated.is_some_and(|format| !is_foreign(&format)) {
        return Ok(None);
    }
    let format_of = |path: &Path| {
        let head = head(path)?;
        let name = path.to_string_lossy();
        let file = FormatFile {
            path: &name,
            bytes: &head,
        };
        let mut formats = pkgres_formats::ALL.iter().copied().filter(is_foreign);
        formats.find(|format| {
            stated.is_none_or(|one| one.ecosystem() == format.ecosystem()) && format.is_root(&file)
        })
    };
    let names_file = path.is_file();
    if names_file && (stated.is_some() || path.file_name() != Some(MANIFEST_FILE.as_ref())) {
        let format = stated.or_else(|| format_of(path)).or_else(|| by_name(path));
        return Ok(format.map(|format| (path.to_owned(), format)));
    }
    let folder = folder_of(path);
    let is_default = path.file_name() == Some(MANIFEST_FILE.as_ref());
    if names_file || folder.join(MANIFEST_FILE).exists() || !(path.is_dir() || is_default) {
        return Ok(None);
    }
    let Ok(entries) = fs::read_dir(&folder) else {
        return Ok(None);
    };
    let mut entries: Vec<PathBuf> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| !name.to_string_lossy().starts_with('.'))
        .map(|name| {
            if folder == Path::new(".") {
                name.into()
            } else {
                folder.join(name)
            }
        })
        .collect();
    entries.sort();
    let roots = entries
        .into_iter()
        .filter_map(|path| format_of(&path).map(|format| (path, format)));
    one_of(roots.collect(), &folder)
}

/// The format of a text that none recognizes, by the name of its file: it can say what is wrong with the text.
fn by_name(path: &Path) -> Option<&'static dyn Format> {
    let name = path.file_name()?.to_string_lossy();
    let head = head(path)?;
    let file = FormatFile {
        path: &name,
        bytes: &head,
    };
    let mut formats = pkgres_formats::ALL.iter().copied();
    let format = formats.find(|format| format.is_release_name(&name))?;
    let is_release = format.release_extent(&file).is_some();
    (!is_release && format.ecosystem() != pkgres_manifest::CLASS_PACKAGES).then_some(format)
}

/// The one of several roots in a folder that is meant: the only one, or the one with the most usual name.
fn one_of(mut roots: Vec<Recognized>, folder: &Path) -> Result<Option<Recognized>, Diagnostic> {
    if roots.len() <= 1 {
        return Ok(roots.pop());
    }
    let rank = |(path, format): &Recognized| {
        let mut usual = format.usual_root_names().iter();
        usual.position(|name| path.file_name() == Some(name.as_ref()))
    };
    let best = (0..roots.len())
        .filter_map(|at| Some((rank(&roots[at])?, at)))
        .min();
    if let Some((_, at)) = best {
        return Ok(Some(roots.swap_remove(at)));
    }
    let mut named: Vec<String> = roots
        .iter()
        .take(MAX_NAMED)
        .map(|(path, _)| format!("`{}`", quoted(path)))
        .collect();
    if let Some(rest) = roots.len().checked_sub(MAX_NAMED + 1) {
        named.push(format!("{} more", rest + 1));
    }
    let shown = folder.to_string_lossy();
    let message = format!(
        "{} files in {} can be the root: {}",
        roots.len(),
        Escaped::new(&shown),
        named.join(", ")
    );
    Err(Diagnostic::error(Code::Usage, message).hint("name one of them"))
}

/// The beginning of a file; `None` if it is none.
fn head(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;

    let file = fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    Some(head)
}
