//! Access to the files of locked packages, for resources whose content comes from there.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackagePath, Properties, PropertyError, Release};

/// The files of packages, such as those in archives of registries.
pub trait PackageFiles: Send + Sync {
    /// Returns the bytes of a file of a release; `None` if it has no such file. An error says why that is not known.
    fn read(&self, release: &Release, path: &PackagePath) -> Result<Option<Vec<u8>>, String>;
}

/// The files of the package that describes a resource.
#[derive(Clone, Copy)]
pub struct FilesOfPackage<'files>(Option<(&'files dyn PackageFiles, &'files Release)>);

impl<'files> FilesOfPackage<'files> {
    /// The files of a release.
    pub fn new(files: &'files dyn PackageFiles, release: &'files Release) -> Self {
        Self(Some((files, release)))
    }

    /// No files: the resource belongs to no package.
    pub fn none() -> Self {
        Self(None)
    }

    /// Reads the file that a property names by its path in the package.
    ///
    /// # Errors
    ///
    /// The path cannot be one in a package, the package has no such file, or it cannot be read.
    pub fn read(
        &self,
        properties: &Properties,
        key: &str,
        path: &str,
    ) -> Result<Vec<u8>, PropertyError> {
        let invalid = |reason: String| properties.invalid(key, reason);
        let parsed = PackagePath::parse(path).map_err(|error| invalid(error.to_string()))?;
        let shown = Escaped::shortened(path);
        let Some((files, release)) = self.0 else {
            return Err(invalid(format!(
                "there is no package with a file `{shown}`"
            )));
        };
        let Release { name, version } = release;
        let found = files.read(release, &parsed).map_err(invalid)?;
        found.ok_or_else(|| {
            let error = properties.invalid(key, format!("{name} {version} has no file `{shown}`"));
            error.hint(format!(
                "`{key}` is the path of a file in the package, relative to the folder of its manifest"
            ))
        })
    }
}

impl std::fmt::Debug for FilesOfPackage<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let release = self.0.map(|(_, release)| release);
        formatter
            .debug_tuple("FilesOfPackage")
            .field(&release)
            .finish()
    }
}
