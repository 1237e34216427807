//! Inputs to start from: the fixtures of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folder with the fixtures.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Returns the files in `fixtures` whose path `is_wanted`, in the order of their paths.
pub(crate) fn files(is_wanted: fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    let mut folders = vec![fixtures()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the fixtures can be read") {
            let path = entry.expect("the fixtures can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().is_some_and(is_wanted) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = paths.into_iter().map(fs::read);
    let mut files = read
        .collect::<Result<Vec<_>, _>>()
        .expect("the fixtures can be read");
    files.dedup();
    files
}

/// Returns texts as bytes.
pub(crate) fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
