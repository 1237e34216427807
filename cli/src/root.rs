//! Roots of ecosystems other than class packages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, Root};
use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText};
use pkgres_manifest::{LOCK_FILE, MANIFEST_FILE, ReadOptions, Requirement};
use pkgres_registry_client::FolderTree;
use pkgres_settings::SETTINGS_FILE;

use crate::failure::{Failure, Result as CommandResult};
use crate::read_manifest::{edited_name, folder_of};
use crate::root_file::{absent_roots, recognize};

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
    pub(crate) fn find(
        path: &Path,
        stated: Option<&'static dyn Format>,
        options: &ReadOptions,
    ) -> CommandResult<Option<Self>> {
        let Some((path, format)) = recognize(path, stated)? else {
            return Ok(None);
        };
        let limit = options.limits.archive_bytes;
        let bytes =
            read_file(&path, limit, Follow::Links).map_err(|error| error.to_diagnostic())?;
        Self::parse(path, format, bytes, options).map(Some)
    }

    /// The root that a path names, or that would be in the folder that it names, if there is none yet and it can begin
    /// empty.
    pub(crate) fn absent(
        path: &Path,
        stated: Option<&'static dyn Format>,
        options: &ReadOptions,
    ) -> Option<Self> {
        let mut roots = absent_roots(path, stated).into_iter();
        roots.find_map(|(path, format)| Self::parse(path, format, Vec::new(), options).ok())
    }

    /// Reads the root from the content of its file, which need not be on the disk.
    pub(crate) fn parse(
        path: PathBuf,
        format: &'static dyn Format,
        bytes: Vec<u8>,
        options: &ReadOptions,
    ) -> CommandResult<Self> {
        let name = path.to_string_lossy();
        let file = FormatFile {
            path: &name,
            bytes: &bytes,
        };
        let tree = FolderTree::new(&folder_of(&path));
        let read = format.read_root(&file, &tree, options);
        let (root, warnings) = read.into_result().map_err(Failure::from)?;
        Ok(Self {
            path,
            format,
            root,
            bytes,
            warnings,
        })
    }

    /// Marks the places of requirements as those of a text that is not what the file holds.
    pub(crate) fn mark_edited(&mut self) {
        let mut edited: Option<Arc<SourceText>> = None;
        let mut mark = |requirement: &mut Requirement| {
            if let Some(location) = &mut requirement.location {
                let source = location.source();
                let edited = edited.get_or_insert_with(|| edited_source(source));
                *location = Location::new(edited, location.span());
            }
        };
        self.root.record.requirements.change(|requirements| {
            for requirement in requirements {
                mark(requirement);
            }
        });
        for entry in &mut self.root.entries {
            mark(entry);
        }
    }
}

/// The text of a file as it would be written.
fn edited_source(source: &SourceText) -> Arc<SourceText> {
    SourceText::new(edited_name(source.name()), source.text())
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
            formats.any(|format| format.names().usual_roots.iter().any(|name| has(name)))
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
