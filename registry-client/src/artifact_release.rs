//! Whose artifact something is. A digest only says that the bytes are the locked ones: a lockfile in which somebody
//! exchanged digests would otherwise give one release the content of another.

use pkgres_formats::{Format, FormatFile};
use pkgres_manifest::diagnostic::{Code, Diagnostic, sentence_list};
use pkgres_manifest::{Package, ReadOptions, Release};

use crate::artifact::Artifact;
use crate::directory::releases_of_folder;
use crate::package_folder::PackageFolder;

/// The releases in an artifact, by what it says itself. `release` is the one that it should have, for messages.
///
/// # Errors
///
/// The artifact cannot be read.
pub fn stated_releases(
    artifact: &Artifact,
    release: &Release,
    format: &dyn Format,
    options: &ReadOptions,
) -> Result<Vec<Release>, Vec<Diagnostic>> {
    let shown = release.to_string();
    Ok(match artifact {
        Artifact::Archive(archive) => {
            let read = Package::manifest_of_archive(&shown, archive, options);
            let (manifest, _) = read.into_result()?;
            vec![Release::new(manifest.name.value, manifest.version)]
        }
        Artifact::Folder(folder) => {
            let manifest = PackageFolder::read_manifest(folder.path(), options)?;
            vec![Release::new(manifest.name.value, manifest.version)]
        }
        Artifact::File(bytes) => {
            let path = &format.artifact_name(&release.name, &release.version);
            format.releases_of_artifact(&FormatFile { path, bytes }, options)?
        }
        Artifact::Tree(folder) => releases_of_folder(folder, options)?,
    })
}

/// Checks that a release is among those that its artifact [states](stated_releases).
///
/// # Errors
///
/// The artifact is that of another release, or does not say which one.
pub fn check_artifact_release(
    stated: &[Release],
    release: &Release,
) -> Result<(), Vec<Diagnostic>> {
    if stated.contains(release) {
        return Ok(());
    }
    let stated: Vec<String> = stated.iter().map(ToString::to_string).collect();
    let message = match stated.as_slice() {
        [] => format!("the artifact of {release} does not say whose it is"),
        _ => format!(
            "the artifact of {release} is that of {}",
            sentence_list(&stated, "and")
        ),
    };
    Err(vec![Diagnostic::error(Code::Digest, message)])
}
