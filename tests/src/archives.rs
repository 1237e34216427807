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

/// The archive of a package with so many bytes, and a few more, that cannot be compressed.
///
/// # Panics
///
/// If that is not a package, or larger than the limits allow.
pub fn large_archive(name: &str, version: &str, bytes: usize, limits: &Limits) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .take(bytes.div_ceil(8))
    .flatten()
    .collect();
    let manifest = format!(
        "Format: 1.4\nType: Library\nFullName: {name}\nVersion: \"{version}\"\n\
         Name: Large\nClasses: {{{name}: Main.yaml}}\n"
    );
    let class = format!("Name: {name}\n");
    let files = [
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", class.as_bytes()),
        ("Resources/noise", &noise),
    ];
    let archive = files_within(&files, limits);
    assert!(archive.len() >= bytes);
    archive
}

/// An archive of files.
///
/// # Panics
///
/// If there can be no archive of them.
pub fn files(files: &[(&str, &[u8])]) -> Vec<u8> {
    files_within(files, &Limits::default())
}

fn files_within(files: &[(&str, &[u8])], limits: &Limits) -> Vec<u8> {
    let files = files.iter().map(|(path, bytes)| {
        let path = PackagePath::parse(path).expect("the caller writes a valid path");
        (path, false, bytes.to_vec())
    });
    write_archive(files, limits).expect("the files fit into an archive")
}
