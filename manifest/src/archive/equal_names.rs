//! Names of files and folders that some file system treats as equal.

use crate::diagnostic::{Code, Diagnostic};
use crate::package_path::PackagePath;

/// A name in its folded form, which is the same for all names that some file system treats as equal.
struct Name<'path> {
    folded: String,
    path: &'path PackagePath,
    is_folder: bool,
}

/// Checks that no two names collide: as the same name, as a file and a folder, or as two spellings of a
/// folder. The `bool` is true for the name of a folder.
///
/// ```
/// use pkgres_manifest::{PackagePath, check_distinct};
///
/// let paths = ["README.md", "readme.md"].map(|path| PackagePath::parse(path).expect("a path"));
/// assert!(check_distinct(paths.iter().map(|path| (path, false))).is_err());
/// ```
pub fn check_distinct<'path>(
    names: impl Iterator<Item = (&'path PackagePath, bool)>,
) -> Result<(), Diagnostic> {
    let mut names: Vec<Name<'_>> = names
        .map(|(path, is_folder)| Name {
            folded: path.folded(),
            path,
            is_folder,
        })
        .collect();
    // Sorted by parts, the names below a folder directly follow it, so that a name that collides with any
    // name collides with its neighbour. The path itself makes the message the same in any order.
    names.sort_unstable_by(|one, two| {
        let parts = one.folded.split('/').cmp(two.folded.split('/'));
        parts.then_with(|| one.path.cmp(two.path))
    });
    names
        .windows(2)
        .try_for_each(|pair| check_pair(&pair[0], &pair[1]))
}

fn check_pair(one: &Name<'_>, two: &Name<'_>) -> Result<(), Diagnostic> {
    let (first, second) = (one.path, two.path);
    if first == second {
        return Err(Diagnostic::error(
            Code::Archive,
            format!("`{first}` appears twice"),
        ));
    }
    let bad = |message| Err(Diagnostic::error(Code::Path, message));
    let shared = one
        .folded
        .split('/')
        .zip(two.folded.split('/'))
        .take_while(|(one, two)| one == two)
        .count();
    if one.folded == two.folded {
        return bad(format!(
            "`{first}` and `{second}` are the same on some file systems"
        ));
    }
    // A folder sorts before what is in it.
    if one.folded.split('/').count() == shared && !one.is_folder {
        return bad(format!(
            "`{first}` is a file, but `{second}` needs it as a folder"
        ));
    }
    // Folding neither adds nor drops a slash, so the parts of both forms correspond.
    let parts = first.as_str().split('/').zip(second.as_str().split('/'));
    if parts.take(shared).any(|(one, two)| one != two) {
        return bad(format!(
            "the folders of `{first}` and `{second}` are the same on some file systems"
        ));
    }
    Ok(())
}
