//! Archives of small packages, to be published.

use pkgres_manifest::{Limits, PackagePath, write_archive};

/// The archive of a package with a class of its own name. `requires` are names and specs; the
/// class extends the root class of the core library.
///
/// # Panics
///
/// If that is not a package.
pub fn archive(name: &str, version: &str, requires: &[(&str, &str)]) -> Vec<u8> {
    archive_with(name, version, requires, "")
}

/// Likewise with a note in the manifest, by which the bytes differ.
///
/// # Panics
///
/// If that is not a package.
pub fn archive_with(name: &str, version: &str, requires: &[(&str, &str)], note: &str) -> Vec<u8> {
    let mut manifest = format!(
        "Format: 1.4\nType: Library\nFullName: {name}\nVersion: \"{version}\"\n\
         Name: The {name}\nDescription: \"{note}\"\nClasses: {{{name}: Main.yaml}}\n"
    );
    if !requires.is_empty() {
        manifest.push_str("Require:\n");
        for (package, spec) in requires {
            manifest.push_str(&format!("  {package}: \"{spec}\"\n"));
        }
    }
    files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", format!("Name: {name}\n").as_bytes()),
    ])
}

/// An archive of files.
///
/// # Panics
///
/// If there can be no archive of them.
pub fn files(files: &[(&str, &[u8])]) -> Vec<u8> {
    let files = files.iter().map(|(path, bytes)| {
        let path = PackagePath::parse(path).expect("the caller writes a valid path");
        (path, false, bytes.to_vec())
    });
    write_archive(files, &Limits::default()).expect("small files fit into an archive")
}
