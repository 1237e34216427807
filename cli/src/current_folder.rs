//! Paths from the current folder, as messages and documents show them.

use std::path::{Component, Path, PathBuf};

/// The path of what is `below` a folder: from the current folder, if that is in the folder or contains it, and as it is
/// otherwise. The folder is canonical, or empty.
pub(crate) fn from_current_folder(folder: &Path, below: &Path) -> PathBuf {
    match std::env::current_dir() {
        Ok(current) => path_between(&current, folder, below),
        Err(_) => folder.join(below),
    }
}

/// The path from one folder to what is `below` another one.
fn path_between(current: &Path, folder: &Path, below: &Path) -> PathBuf {
    if let Ok(rest) = folder.strip_prefix(current) {
        return rest.join(below);
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

#[cfg(test)]
mod tests {
    use super::*;

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
            ("/srv/shop", "/home/user", "packages", "/home/user/packages"),
            ("/srv/shop", "/", "packages", "/packages"),
            ("/srv/shop/apps", "/srv/shop", "/packages", "/packages"),
        ] {
            let path = path_between(Path::new(current), Path::new(folder), Path::new(below));
            assert_eq!(path, Path::new(expected), "{current} {folder} {below}");
        }
    }
}
