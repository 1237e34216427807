//! The files of a folder, as formats read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use pkgres_files::{FileError, Follow, read_file};
use pkgres_formats::{FileTree, PathKind, linked_paths};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use crate::ignore_rules::IgnoreRules;

/// The most files and folders of a tree.
const MAX_ENTRIES: usize = 100_000;
/// The most nested folders of a tree.
const MAX_DEPTH: usize = 64;

/// What is in a folder.
#[derive(Debug, Clone, Default)]
struct Walked {
    files: BTreeSet<String>,
    /// The links to folders, with the paths of these.
    folders: BTreeMap<String, String>,
    /// The links that lead elsewhere.
    elsewhere: BTreeSet<String>,
}

/// The files in and below a folder, without the lockfile and the settings at its top and without what version control
/// and editors leave: none of that is part of a release. Links are followed if they lead to files or folders of the tree.
///
/// The folder is walked once: a tree is for reading a folder that does not change meanwhile.
#[derive(Debug, Clone)]
pub struct FolderTree {
    root: PathBuf,
    /// The root without links, if there is such a folder.
    canonical_root: OnceLock<Option<PathBuf>>,
    walked: OnceLock<Walked>,
}

impl FolderTree {
    /// Returns the files of a folder. They are read when they are needed.
    pub fn new(root: &Path) -> Self {
        let root = if root == Path::new("") {
            Path::new(".")
        } else {
            root
        };
        Self {
            root: root.to_owned(),
            canonical_root: OnceLock::new(),
            walked: OnceLock::new(),
        }
    }

    fn canonical_root(&self) -> Option<&Path> {
        let root = || fs::canonicalize(&self.root).ok();
        self.canonical_root.get_or_init(root).as_deref()
    }

    /// The path of a file of the tree that a link leads to; `None` if it leads elsewhere.
    fn target(&self, link: &Path) -> Option<PathBuf> {
        let root = self.canonical_root()?;
        let target = fs::canonicalize(link).ok()?;
        (target.starts_with(root) && target.is_file()).then_some(target)
    }

    /// The path in the tree of a folder that a link leads to; `None` if it leads elsewhere, or to the whole tree.
    fn target_folder(&self, link: &Path) -> Option<String> {
        let root = self.canonical_root()?;
        let target = fs::canonicalize(link).ok().filter(|path| path.is_dir())?;
        let parts = target.strip_prefix(root).ok()?.components();
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        parts
            .map(|parts| parts.join("/"))
            .filter(|path| !path.is_empty())
    }

    /// Whether a link leads to the whole tree.
    fn is_root(&self, link: &Path) -> bool {
        let root = self.canonical_root();
        root.is_some_and(|root| fs::canonicalize(link).is_ok_and(|target| target == root))
    }

    /// The files and the links, which are looked for once.
    fn walked(&self) -> Result<&Walked, Diagnostic> {
        if let Some(walked) = self.walked.get() {
            return Ok(walked);
        }
        let walked = self.walk()?;
        Ok(self.walked.get_or_init(|| walked))
    }

    fn walk(&self) -> Result<Walked, Diagnostic> {
        let mut found = Walked::default();
        let mut seen = 0_usize;
        // An ignore file could hide what somebody added to an installation.
        let rules = IgnoreRules::without_file();
        let mut rest = vec![(self.root.clone(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = rest.pop() {
            if depth > MAX_DEPTH {
                let reason = format!("more than the limit of {MAX_DEPTH} nested folders");
                return Err(Self::failed(&folder, reason));
            }
            let failed = |error: std::io::Error| Self::failed(&folder, error);
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                seen += 1;
                if seen > MAX_ENTRIES {
                    let reason = format!("more than the limit of {MAX_ENTRIES} files and folders");
                    return Err(Self::failed(&self.root, reason));
                }
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    return Err(Self::failed(&entry.path(), "the name is not UTF-8"));
                };
                let path = format!("{prefix}{name}");
                let kind = entry.file_type().map_err(failed)?;
                if rules.leave_out(&path, kind.is_dir()).is_some() {
                    continue;
                }
                if kind.is_dir() {
                    rest.push((entry.path(), format!("{path}/"), depth + 1));
                } else if kind.is_file()
                    || kind.is_symlink() && self.target(&entry.path()).is_some()
                {
                    found.files.insert(path);
                } else if let Some(target) = self.target_folder(&entry.path()) {
                    found.folders.insert(path, target);
                } else if kind.is_symlink() && !self.is_root(&entry.path()) {
                    found.elsewhere.insert(path);
                }
            }
        }
        Ok(found)
    }

    fn failed(path: &Path, reason: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(
            Code::File,
            format!("cannot read {}: {reason}", Escaped::path(&path)),
        )
    }
}

impl FileTree for FolderTree {
    fn around(&self, name: &str) -> Option<Box<dyn FileTree>> {
        let folder = self.canonical_root()?;
        let is_it = folder.file_name() == Some(name.as_ref());
        let around = folder.parent().filter(|_| is_it)?;
        Some(Box::new(Self::new(around)))
    }

    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        let Walked { files, folders, .. } = self.walked()?;
        let mut paths = files.clone();
        paths.extend(linked_paths(files, folders)?);
        Ok(paths.into_iter().collect())
    }

    fn kind_of(&self, path: &str) -> Option<PathKind> {
        Some(match fs::metadata(self.root.join(path)) {
            Ok(metadata) if metadata.is_dir() => PathKind::Folder,
            // Elsewhere, nothing says whether a file is a program.
            Ok(_) if cfg!(not(unix)) => return None,
            Ok(metadata) if is_executable(&metadata) => PathKind::Program,
            Ok(_) => PathKind::Data,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => PathKind::Nothing,
            Err(_) => return None,
        })
    }

    fn linked_folders(&self) -> Result<BTreeMap<String, String>, Diagnostic> {
        Ok(self.walked()?.folders.clone())
    }

    fn links_to_elsewhere(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.walked()?.elsewhere.iter().cloned().collect())
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let relative = Path::new(path);
        let mut parts = relative.components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            return Err(Self::failed(relative, "the path leads out of the folder"));
        }
        let full = self.root.join(relative);
        let is_in_tree = fs::symlink_metadata(&full).is_ok_and(|metadata| !metadata.is_symlink())
            && fs::canonicalize(&full).is_ok_and(|found| {
                let root = self.canonical_root();
                root.is_some_and(|root| found.starts_with(root))
            });
        let full = if is_in_tree {
            full
        } else {
            match self.target(&full) {
                Some(target) => target,
                None => return Ok(None),
            }
        };
        match read_file(&full, limit, Follow::Nothing) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(FileError::to_diagnostic(&error)),
        }
    }
}

#[cfg(unix)]
pub(crate) fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn links_are_followed_within_the_tree() {
        use std::os::unix::fs::symlink;

        let outer = tempfile::tempdir().expect("a temporary folder");
        let root = outer.path().join("tree");
        for path in [
            "tree/shared/text.py",
            "tree/plugins/a.py",
            "other/secret.py",
        ] {
            let path = outer.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "X = 1\n").expect("a file");
        }
        for (target, link) in [
            ("../shared", "plugins/all"),
            ("..", "plugins/up"),
            ("../../other", "plugins/out"),
            ("../../other/secret.py", "plugins/out.py"),
            ("a.py", "plugins/b.py"),
            ("gone.py", "plugins/c.py"),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        let tree = FolderTree::new(&root);
        assert_eq!(
            tree.paths().expect("the folder can be read"),
            [
                "plugins/a.py",
                "plugins/all/text.py",
                "plugins/b.py",
                "shared/text.py"
            ]
        );
        assert_eq!(
            tree.links_to_elsewhere().expect("the folder can be read"),
            ["plugins/c.py", "plugins/out", "plugins/out.py"]
        );
        let text = tree
            .read("plugins/all/text.py", 100)
            .expect("the file can be read");
        assert_eq!(text.as_deref(), Some(b"X = 1\n".as_slice()));
        assert_eq!(tree.read("plugins/out/secret.py", 100).ok().flatten(), None);
    }

    #[test]
    // Tests write files as plainly as a user would.
    #[expect(clippy::disallowed_methods, reason = "files of a test")]
    fn what_is_no_part_of_a_release_is_left_out() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for path in [
            ".git/config",
            ".pkgresignore",
            "galaxy.yml",
            "pkgres.lock",
            "pkgres.toml",
            "plugins/modules/a.py",
            "plugins/modules/a.py~",
            "plugins/pkgres.lock",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "plugins\n").expect("a file");
        }
        let paths = FolderTree::new(folder.path()).paths();
        // The ignore file does not count: it could hide what somebody added.
        assert_eq!(
            paths.expect("the folder can be read"),
            ["galaxy.yml", "plugins/modules/a.py", "plugins/pkgres.lock"]
        );
    }
}
