//! The targets of a check at a path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_files::entry_path;
use pkgres_formats::Format;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{MANIFEST_FILE, ReadOptions};

use crate::invocation::quoted;
use crate::root_file::{
    format_of_artifact, nested_root, recognize, release_of_folder, roots_of_project,
};

/// A target of a check.
pub(super) enum Target {
    /// A folder with a manifest.
    Package(PathBuf),
    /// A package archive.
    Archive(PathBuf),
    /// A manifest or class file by itself.
    File(PathBuf),
    /// A root of another ecosystem.
    Foreign(PathBuf, &'static dyn Format),
}

/// The targets at a path: a package, a file, or everything below a folder that is not a package.
///
/// Below a folder, installed collections are targets only if there is nothing else: in a project, they are those of
/// others. `stated` is the ecosystem, if it is stated.
pub(super) fn targets(
    path: &Path,
    stated: Option<&'static dyn Format>,
    options: &ReadOptions,
) -> Result<Vec<Target>, Diagnostic> {
    if path.is_dir() {
        if let Ok(Some((root, format))) = recognize(path, stated)
            && release_of_folder(path).is_some()
        {
            return Ok(vec![Target::Foreign(root, format)]);
        }
        let (targets, links) = targets_below(path, stated, options)?;
        if targets.is_empty() {
            if let Some((root, format)) = recognize(path, stated)? {
                return Ok(vec![Target::Foreign(root, format)]);
            }
            let message = format!("{} holds no package or project", Escaped::path(path));
            if let Some(root) = nested_root(path) {
                let hint = format!("name the root of the project: `{}`", quoted(&root));
                return Err(Diagnostic::error(Code::PackageShape, message).hint(hint));
            }
            let finding = Diagnostic::error(Code::PackageShape, message).hint(format!(
                "a class package has a `{MANIFEST_FILE}` in its top folder; the path of another root, such as a requirements.yml, can be given"
            ));
            return Err(match links.first() {
                Some(link) => finding.hint(format!(
                    "{} is a link, and links are not followed",
                    Escaped::path(&link)
                )),
                None => finding,
            });
        }
        return Ok(targets);
    }
    // The file must exist; the checks report everything else.
    std::fs::metadata(path).map_err(|error| {
        let message = format!("cannot read {}: {error}", Escaped::path(path));
        Diagnostic::error(Code::File, message)
    })?;
    if let Some((root, format)) = recognize(path, stated)? {
        return Ok(vec![Target::Foreign(root, format)]);
    }
    if let Some(format) = format_of_artifact(path, options) {
        return Ok(vec![Target::Foreign(path.to_owned(), format)]);
    }
    Ok(vec![
        match path.file_name().and_then(|name| name.to_str()) {
            Some(MANIFEST_FILE) => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                Target::Package(folder.unwrap_or(Path::new(".")).to_owned())
            }
            _ if is_archive(path) => Target::Archive(path.to_owned()),
            _ => Target::File(path.to_owned()),
        },
    ])
}

/// The targets below a folder, and the links to what could be packages.
fn targets_below(
    top: &Path,
    stated: Option<&'static dyn Format>,
    options: &ReadOptions,
) -> Result<(Vec<Target>, Vec<PathBuf>), Diagnostic> {
    let (mut targets, mut installed, mut links) = (Vec::new(), Vec::new(), Vec::new());
    let is_stated =
        |format: &dyn Format| stated.is_none_or(|one| one.ecosystem() == format.ecosystem());
    let mut rest = vec![top.to_owned()];
    while let Some(folder) = rest.pop() {
        let at_top = (folder == top).then(|| recognize(top, stated));
        let roots = match at_top {
            Some(Ok(root)) => root.into_iter().collect(),
            // Several roots, none of which is the usual one, are an error only if there is nothing else.
            _ => roots_of_project(&folder, stated),
        };
        // Beside a manifest, there are other roots only if their ecosystem is stated.
        if roots.is_empty() && folder.join(MANIFEST_FILE).symlink_metadata().is_ok() {
            targets.push(Target::Package(folder));
            continue;
        }
        let own: BTreeSet<PathBuf> = roots.iter().map(|(root, _)| root.clone()).collect();
        let is_root = |path: &Path| own.contains(path);
        let foreign = roots.into_iter();
        targets.extend(foreign.map(|(root, format)| Target::Foreign(root, format)));
        if folder != top
            && let Some((root, format)) = release_of_folder(&folder)
        {
            if !is_root(&root) && is_stated(format) {
                installed.push(Target::Foreign(root, format));
            }
            continue;
        }
        let mut entries = std::fs::read_dir(&folder)
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .map_err(|error| {
                let message = format!("cannot read {}: {error}", Escaped::path(&folder));
                Diagnostic::error(Code::File, message)
            })?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let mut folders = Vec::new();
        for entry in entries {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let kind = entry.file_type().ok();
            let path = entry_path(&folder, entry.file_name());
            if is_hidden {
                continue;
            }
            if kind.is_some_and(|kind| kind.is_symlink()) {
                if path.is_dir() || is_archive(&path) {
                    links.push(path);
                }
            } else if kind.is_some_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if is_archive(&path) {
                targets.push(Target::Archive(path));
            } else if let Some(format) = format_of_artifact(&path, options)
                && is_stated(format)
                && !is_root(&path)
            {
                targets.push(Target::Foreign(path, format));
            }
        }
        rest.extend(folders.into_iter().rev());
    }
    if targets.is_empty() {
        targets = installed;
    }
    Ok((targets, links))
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zip")
}
