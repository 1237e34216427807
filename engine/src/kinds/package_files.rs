//! Access to the files of locked packages, for resources whose content comes from there.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, PackagePath, Version};

/// A release by name and version.
pub(crate) type Release = (PackageName, Version);

/// The files of packages, such as those in archives of registries.
pub trait PackageFiles: Send + Sync {
    /// Returns the bytes of a file of a release; `None` if it has no such file. An error says why that is not known.
    fn read(
        &self,
        release: &(PackageName, Version),
        path: &PackagePath,
    ) -> Result<Option<Vec<u8>>, String>;
}

/// The files of the package that describes a resource.
#[derive(Clone, Copy)]
pub struct FilesOfPackage<'files>(
    Option<(&'files dyn PackageFiles, &'files (PackageName, Version))>,
);

impl<'files> FilesOfPackage<'files> {
    /// The files of a release.
    pub fn new(files: &'files dyn PackageFiles, release: &'files (PackageName, Version)) -> Self {
        Self(Some((files, release)))
    }

    /// No files: the resource belongs to no package.
    pub fn none() -> Self {
        Self(None)
    }

    /// Reads the file at a path in the package, or says why it cannot be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let parsed = PackagePath::parse(path).map_err(|error| error.to_string())?;
        let shown = Escaped::shortened(path);
        let Some((files, release)) = self.0 else {
            return Err(format!("there is no package with a file `{shown}`"));
        };
        let (name, version) = release;
        let found = files.read(release, &parsed)?;
        found.ok_or_else(|| format!("{name} {version} has no file `{shown}`"))
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
