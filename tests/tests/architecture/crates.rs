//! The crates of the workspace, and which may depend on which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates by folder, from the ground up, as drawn in `ARCHITECTURE.md`. A crate may depend on those of lower layers.
pub(crate) const LAYERS: [&[&str]; 5] = [
    &["manifest", "proof-checker"],
    &["resolver", "formats", "checks", "settings", "files"],
    &["registry-client", "certificate"],
    &["registry-server", "engine"],
    &["cli"],
];

/// The crates beside the layers: they may depend on any crate, and none of the layers depends on them except for
/// its own tests.
pub(crate) const TOOLS: [&str; 3] = ["tests", "fuzz", "benches"];

/// The libraries, which neither print nor know their surroundings.
pub(crate) fn libraries() -> impl Iterator<Item = &'static str> {
    layered().filter(|name| *name != "cli")
}

/// The crates of all layers.
pub(crate) fn layered() -> impl Iterator<Item = &'static str> {
    LAYERS.into_iter().flatten().copied()
}

/// All crates.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    layered().chain(TOOLS)
}

/// The folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder with the sources of a crate.
pub(crate) fn sources(name: &str) -> PathBuf {
    workspace().join(name).join("src")
}

/// The `Cargo.toml` in a folder.
pub(crate) fn manifest(folder: &Path) -> toml::Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("manifests can be read");
    text.parse().expect("cargo can read it")
}

/// The folders of the workspace's crates that a crate depends on, except for its tests.
pub(crate) fn dependencies(name: &str) -> Vec<String> {
    let folders: BTreeMap<String, &str> = all()
        .map(|folder| {
            let manifest = manifest(&workspace().join(folder));
            let package = manifest["package"]["name"].as_str();
            (package.expect("a name is text").to_owned(), folder)
        })
        .collect();
    let manifest = manifest(&workspace().join(name));
    let tables = ["dependencies", "build-dependencies"].map(|table| manifest.get(table));
    let tables = tables
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_table);
    let names = tables.flat_map(toml::Table::keys);
    names
        .filter_map(|name| folders.get(name).map(|folder| (*folder).to_owned()))
        .collect()
}

/// The sources in a folder and in the folders below it.
pub(crate) fn source_files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("folders of sources can be read") {
        let path = entry.expect("folders of sources can be read").path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.insert(path);
        }
    }
    files
}
