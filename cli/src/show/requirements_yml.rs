//! A resolution of Ansible collections as a `requirements.yml`.

use pkgres_formats::ansible::ANSIBLE_CORE;
use pkgres_resolver::Resolution;

/// The text of a requirements file with the exact version of every collection, for
/// `ansible-galaxy collection install --no-deps -r FILE`.
pub(crate) fn requirements_file(resolution: &Resolution) -> String {
    let mut text = "---\ncollections:".to_owned();
    let packages = resolution.packages().iter();
    let mut count = 0;
    // ansible-core compares versions here as texts, with their build metadata.
    for package in packages.filter(|package| package.name.as_str() != ANSIBLE_CORE) {
        count += 1;
        // Names and versions have no character that needs an escape in quotes.
        text.push_str(&format!(
            "\n  - name: {}\n    version: \"{}\"",
            package.name, package.version
        ));
    }
    if count == 0 {
        text.push_str(" []");
    }
    text.push('\n');
    text
}
