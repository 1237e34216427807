//! Archives of small packages for tests of registries.

use pkgres_manifest::{Limits, PackagePath, write_archive};

/// The archive of a package with one class, named like the package, which extends the root class of the
/// core library. `requires` lists names and specs.
///
/// # Panics
///
/// If the arguments do not form a valid package.
pub fn archive(name: &str, version: &str, requires: &[(&str, &str)]) -> Vec<u8> {
    archive_with(name, version, requires, "")
}

/// The same archive with a note in the manifest, so that its bytes differ.
///
/// # Panics
///
/// If the arguments do not form a valid package.
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

/// The archive of a package with at least this many bytes that cannot be compressed.
///
/// # Panics
///
/// If the arguments do not form a valid package, or it exceeds the limits.
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
/// If the files do not fit into an archive.
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
