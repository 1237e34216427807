//! Environment variables, and the folders that they determine.

use std::ffi::OsString;
use std::path::PathBuf;

/// The value of an environment variable, unless it is unset or empty.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder of cached data; `PKGRES_CACHE` names it.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    folder("PKGRES_CACHE", "XDG_CACHE_HOME", ".cache")
}

/// The folder of the last known state of each registry; `PKGRES_STATE` names it. It is not part of the cache:
/// deleting it gives up trust on first use.
pub(crate) fn state_folder() -> Option<PathBuf> {
    folder("PKGRES_STATE", "XDG_STATE_HOME", ".local/state")
}

/// The file with the tokens of registries; `PKGRES_CREDENTIALS` names its folder.
pub(crate) fn token_file() -> Option<PathBuf> {
    let folder = folder("PKGRES_CREDENTIALS", "XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("credentials.json"))
}

/// The default settings file of the user.
pub(crate) fn settings_file() -> Option<PathBuf> {
    Some(xdg_folder("XDG_CONFIG_HOME", ".config")?.join("config.toml"))
}

/// The folder that a variable names, or else the default one.
fn folder(variable_name: &str, xdg: &str, in_home: &str) -> Option<PathBuf> {
    match variable(variable_name) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => xdg_folder(xdg, in_home),
    }
}

/// `pkgres` in an XDG folder, or in the default of that in the home folder.
fn xdg_folder(xdg: &str, in_home: &str) -> Option<PathBuf> {
    // A relative folder would be a different one in each working directory.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let folder = absolute(xdg).or_else(|| Some(absolute("HOME")?.join(in_home)));
    folder.map(|folder| folder.join("pkgres"))
}
