//! The `Format` of Murano's class packages. Their readers are in `pkgres-manifest`.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Parsed};
use pkgres_manifest::{
    Archive, ArtifactDigest, CLASS_PACKAGES, Ecosystem, MANIFEST_FILE, Package, PackageManifest,
    PackageName, PackagePath, ReadOptions, RequirementEdit, Spec, sha256,
};

use crate::format::{
    DigestedRecord, Format, FormatFile, FormatNames, NotEditable, ReleaseExtent, Root, RootEditor,
    first_error,
};
use crate::lookup::{FileTree, ReleaseLookup};
use crate::rules::Rules;

/// The format of class packages: a folder with a `manifest.yaml`, or a zip archive of it.
#[derive(Debug, Clone, Copy)]
pub struct ClassPackages;

impl Format for ClassPackages {
    fn ecosystem(&self) -> &'static dyn Ecosystem {
        CLASS_PACKAGES
    }

    fn rules(&self) -> Rules {
        Rules::CLASS_PACKAGES
    }

    fn names(&self) -> FormatNames {
        FormatNames {
            usual_roots: &[MANIFEST_FILE],
            artifact_ending: ".zip",
            ..FormatNames::default()
        }
    }

    fn is_root(&self, file: &FormatFile<'_>) -> bool {
        file.name() == MANIFEST_FILE
    }

    fn read_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Root> {
        let (package, findings) = match read_folder(file, tree, options).into_result() {
            Ok(read) => read,
            Err(errors) => return Parsed::new(None, errors),
        };
        let root = Root {
            record: package.index_record(),
            extent: Some(ReleaseExtent::Folder),
            entries: Vec::new(),
        };
        Parsed::new(Some(root), findings)
    }

    /// Reports only what reading the root finds: class packages have checks of their own for everything else.
    fn check_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        _: &dyn ReleaseLookup,
        options: &ReadOptions,
    ) -> Vec<Diagnostic> {
        self.read_root(file, tree, options).diagnostics().to_vec()
    }

    fn editor(&self, file: &FormatFile<'_>) -> Result<&dyn RootEditor, NotEditable> {
        let read = PackageManifest::read(file.path, file.bytes, &ReadOptions::default());
        match read.into_result() {
            Ok((manifest, _)) if manifest.format.is_heat_hot() => Err(NotEditable::because(
                "`Require` has no meaning in a package of format Heat.HOT",
            )),
            _ => Ok(self),
        }
    }

    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Vec<DigestedRecord>> {
        let (read, digest) = if self.is_root(file) {
            let read = read_folder(file, tree, options);
            (read, digest_of_tree(tree, options))
        } else {
            let archive = match Archive::open(file.path, file.bytes, &options.limits) {
                Ok(archive) => archive,
                Err(error) => return Parsed::failed(error),
            };
            let read = Package::from_archive(file.path, &archive, options);
            (read, Ok(archive.digest()))
        };
        match (read.into_result(), digest) {
            (Ok((package, findings)), Ok(digest)) => {
                let record = package.index_record();
                Parsed::new(Some(vec![DigestedRecord { record, digest }]), findings)
            }
            (Err(errors), _) => Parsed::new(None, errors),
            (_, Err(error)) => Parsed::failed(error),
        }
    }
}

impl RootEditor for ClassPackages {
    fn with_ranges(
        &self,
        file: &FormatFile<'_>,
        ranges: &[(PackageName, Spec)],
        options: &ReadOptions,
    ) -> Result<String, Diagnostic> {
        let edits = ranges.iter().cloned();
        let edits = edits.map(|(package, spec)| RequirementEdit::Set(package, spec));
        with_requirements(file, &edits.collect::<Vec<_>>(), options)
    }

    fn with_requirement(
        &self,
        file: &FormatFile<'_>,
        edit: &RequirementEdit,
        options: &ReadOptions,
    ) -> Result<String, Diagnostic> {
        with_requirements(file, std::slice::from_ref(edit), options)
    }
}

fn with_requirements(
    file: &FormatFile<'_>,
    edits: &[RequirementEdit],
    options: &ReadOptions,
) -> Result<String, Diagnostic> {
    let read = PackageManifest::read(file.path, file.bytes, options);
    let (manifest, _) = read.into_result().map_err(first_error)?;
    manifest.with_requirements(edits, options)
}

/// Reads the package of a folder with a manifest.
fn read_folder(
    manifest: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Parsed<Package> {
    let read = PackageManifest::read(manifest.path, manifest.bytes, options);
    let (manifest, mut findings) = match read.into_result() {
        Ok(read) => read,
        Err(errors) => return Parsed::new(None, errors),
    };
    let limit = options.limits.class_file_bytes;
    let package = Package::assemble_from(manifest, options, |path| tree.read(path.as_str(), limit));
    match package.into_result() {
        Ok((package, more)) => {
            findings.extend(more);
            Parsed::new(Some(package), findings)
        }
        Err(errors) => {
            findings.extend(errors);
            Parsed::new(None, findings)
        }
    }
}

/// The digest of all files of a package folder.
fn digest_of_tree(
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<ArtifactDigest, Diagnostic> {
    let mut digests = Vec::new();
    for path in tree.paths()? {
        let bytes = tree.read(&path, options.limits.unpacked_bytes)?;
        let path = PackagePath::parse(&path)
            .map_err(|error| Diagnostic::error(Code::BrokenPackage, error.to_string()))?;
        digests.push((path, sha256(&bytes.unwrap_or_default())));
    }
    Ok(ArtifactDigest::of_tree(
        digests.iter().map(|(path, digest)| (path, *digest)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &[u8] = b"FullName: org.acme.Web\nVersion: 1.2\nType: Library\n\
        Require: {org.acme.Db: 2}\nClasses: {org.acme.Web: Web.yaml}\n";

    /// The files of a package besides its manifest.
    struct Files;

    impl FileTree for Files {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(["Classes/Web.yaml", MANIFEST_FILE]
                .map(str::to_owned)
                .into())
        }

        fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(match path {
                "Classes/Web.yaml" => Some(b"Name: org.acme.Web\n".to_vec()),
                MANIFEST_FILE => Some(MANIFEST.to_vec()),
                _ => None,
            })
        }
    }

    #[test]
    fn a_folder_is_a_root_and_a_release() {
        let file = FormatFile {
            path: "web/manifest.yaml",
            bytes: MANIFEST,
        };
        let format = &ClassPackages;
        assert!(format.is_root(&file) && format.is_release_name(file.name()));
        assert_eq!(format.release_extent(&file), Some(ReleaseExtent::Folder));
        let options = ReadOptions::default();
        let (root, _) = format
            .read_root(&file, &Files, &options)
            .into_result()
            .expect("it is a package");
        assert_eq!(root.record.version.to_string(), "1.2.0");
        assert_eq!(root.record.requirements.len(), 1);
        let (releases, _) = format
            .read_releases(&file, &Files, &options)
            .into_result()
            .expect("it is a package");
        assert_eq!(releases.len(), 1);
        assert_eq!(releases[0].record, root.record);
        assert!(releases[0].digest.to_string().starts_with("tree:"));
    }
}
