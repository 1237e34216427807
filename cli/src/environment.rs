//! Variables of the environment, and folders of the user.

use std::ffi::OsString;
use std::path::PathBuf;

/// A variable of the environment that has a value.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder that a variable names; or the one of pkgres in a folder of the user, which another
/// variable names, or else lies in the home folder.
pub(crate) fn folder(own: &str, of_user: &str, in_home: &str) -> Option<PathBuf> {
    if let Some(folder) = variable(own) {
        return Some(PathBuf::from(folder));
    }
    // A relative folder would be another one wherever the command is run.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let folder = absolute(of_user).or_else(|| Some(absolute("HOME")?.join(in_home)));
    folder.map(|folder| folder.join("pkgres"))
}
