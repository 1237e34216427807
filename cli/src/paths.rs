//! Paths that name one file or folder in several ways: canonical ones, and those relative to the current folder or
//! another one, as messages, documents and settings have them.

use std::path::{Component, Path, PathBuf};

/// The canonical path of a file or folder. One that does not exist has none, and keeps its path.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether two paths lead to one file or folder.
pub(crate) fn is_same_path(one: &Path, other: &Path) -> bool {
    canonical(one) == canonical(other)
}

/// The path of what is `below` a folder: from the current folder, if that is in the folder or contains it, and as it is
/// otherwise. The folder is canonical, or empty.
pub(crate) fn from_current_folder(folder: &Path, below: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(current) => path_between(&current, folder, below),
        Err(_) => folder.join(below),
    }
}

/// The path from a folder to what is `below` the current folder, which is canonical. It is absolute unless one of the
/// two folders contains the other.
pub(crate) fn from_other_folder(other: &Path, below: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(current) => path_between(other, &current, below),
        Err(_) => below.to_owned(),
    }
}

/// The path of the current folder from a folder around it; `None` if it is not in that folder.
pub(crate) fn inside_of(around: &Path) -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    let inside = current.strip_prefix(around.canonicalize().ok()?).ok()?;
    Some(inside.to_owned())
}

/// The path from one folder to what is `below` another one.
fn path_between(current: &Path, folder: &Path, below: &Path) -> PathBuf {
    if let Ok(rest) = folder.strip_prefix(current) {
        return without_detours(&rest.join(below));
    }
    let Some(inside) = current
        .strip_prefix(folder)
        .ok()
        // From the root of the file system, the path itself is shorter.
        .filter(|_| folder.parent().is_some() && below.is_relative())
    else {
        return folder.join(below);
    };
    let mut here = inside.components().peekable();
    let mut there = below
        .components()
        .filter(|part| *part != Component::CurDir)
        .peekable();
    while here.peek().is_some() && here.peek() == there.peek() {
        here.next();
        there.next();
    }
    let back = here.map(|_| Component::ParentDir);
    let path: PathBuf = back.chain(there).collect();
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}

/// A path in which no `..` follows a folder, and which has no `.`.
pub(crate) fn without_detours(path: &Path) -> PathBuf {
    let mut steps = PathBuf::new();
    for part in path.components() {
        let is_back = part == Component::ParentDir;
        if is_back && matches!(steps.components().next_back(), Some(Component::Normal(_))) {
            steps.pop();
        } else if part != Component::CurDir {
            steps.push(part);
        }
    }
    if steps.as_os_str().is_empty() {
        steps.push(".");
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_around_the_current_one_contain_it() {
        let current = std::env::current_dir().expect("there is one");
        let parent = current.parent().expect("it is not the root");
        let name = current.file_name().map(PathBuf::from);
        assert_eq!(inside_of(parent), name);
        assert_eq!(inside_of(&current), Some(PathBuf::new()));
        assert_eq!(inside_of(&current.join("src")), None);
    }

    #[test]
    fn paths_are_as_short_as_possible() {
        for (current, folder, below, expected) in [
            ("/srv/shop", "/srv/shop", "apps/web", "apps/web"),
            ("/srv", "/srv/shop", "apps/web", "shop/apps/web"),
            ("/srv/shop/apps", "/srv/shop", "apps/web", "web"),
            ("/srv/shop/apps/web", "/srv/shop", "apps/web", "."),
            ("/srv/shop/apps/web", "/srv/shop", "apps/api", "../api"),
            ("/srv/shop/apps/web", "/srv/shop", "./apps/api", "../api"),
            ("/srv/shop/apps/web", "/srv/shop", "", "../.."),
            ("/srv/shop/apps", "/srv/shop", "../other", "../../other"),
            ("/srv", "/srv/shop/apps", "../packages", "shop/packages"),
            ("/srv/shop", "/srv/shop/apps", "..", "."),
            ("/srv/shop", "/home/user", "packages", "/home/user/packages"),
            ("/srv/shop", "/", "packages", "/packages"),
            ("/srv/shop/apps", "/srv/shop", "/packages", "/packages"),
        ] {
            let path = path_between(Path::new(current), Path::new(folder), Path::new(below));
            assert_eq!(path, Path::new(expected), "{current} {folder} {below}");
        }
    }
}
