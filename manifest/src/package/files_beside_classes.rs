//! The files of a package that resolution does not need: pictures, the form, and the template of a Heat package.
//!
//! The rules are those of the reference implementation, which cannot load a package that breaks the rules about
//! pictures, or a Heat package without its template. Resolution does not need these files, so they are read only when a
//! package is checked or published.

use super::PackageManifest;
use crate::diagnostic::{Code, Diagnostic, Located, Location, Span};
use crate::package_path::PackagePath;

/// The most bytes of a picture.
const MAX_PICTURE_BYTES: usize = 500 << 10;

/// The most bytes of the name of a file.
const MAX_FILE_NAME: usize = 255;

/// The file that a Heat package consists of.
const TEMPLATE_FILE: &str = "template.yaml";

/// The folder of the form.
const UI_FOLDER: &str = "UI";

/// How files of pictures begin: PNG, JPEG, GIF.
const PICTURES: [&[u8]; 4] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a"];

/// Returns the bytes of a file of a package; `None` if there is none.
type ReadFile<'a> = dyn FnMut(&PackagePath) -> Result<Option<Vec<u8>>, Diagnostic> + 'a;

impl PackageManifest {
    /// Checks the pictures, the form and the template of the package, and whether its archive can have a name; returns
    /// what is wrong with them.
    ///
    /// `file` returns the bytes of a file of the package, or `None` if there is none. Its errors are among the
    /// findings.
    ///
    /// ```
    /// use pkgres_manifest::{PackageManifest, ReadOptions, diagnostic::SourceText};
    ///
    /// let text = "{FullName: org.acme.Web, Type: Application, Logo: web.png}";
    /// let source = SourceText::new("manifest.yaml", text);
    /// let manifest = PackageManifest::parse(&source, &ReadOptions::default());
    /// let (manifest, _) = manifest.into_result().unwrap();
    /// let findings = manifest.check_files(|_| Ok(Some(b"<svg/>".to_vec())));
    /// assert_eq!(findings[0].message, "`web.png` is not a picture in PNG, JPEG or GIF");
    /// ```
    pub fn check_files(
        &self,
        mut file: impl FnMut(&PackagePath) -> Result<Option<Vec<u8>>, Diagnostic>,
    ) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let pictures = [
            ("Logo", &self.logo, "logo.png"),
            ("Supplier.Logo", &self.supplier_logo, "supplier_logo.png"),
        ];
        for (key, named, usual) in pictures {
            let finding = self.check_picture(key, named.as_ref(), usual, &mut file);
            findings.extend(finding.err());
        }
        findings.extend(self.check_form(&mut file).err());
        findings.extend(self.check_template(&mut file).err());
        findings.extend(self.check_archive_name().err());
        findings
    }

    /// Checks that a Heat package has its template.
    fn check_template(&self, file: &mut ReadFile<'_>) -> Result<(), Diagnostic> {
        if !self.format.is_heat_hot() || file(&usual_path(TEMPLATE_FILE))?.is_some() {
            return Ok(());
        }
        let message =
            format!("the package has no file `{TEMPLATE_FILE}`, which its format requires");
        Err(Diagnostic::error(Code::PackageShape, message).at(self.name.location.clone()))
    }

    /// Checks that the name of the archive can be the name of a file.
    fn check_archive_name(&self) -> Result<(), Diagnostic> {
        let length = format!("{}-{}.zip", self.name.value, self.version).len();
        if length <= MAX_FILE_NAME {
            return Ok(());
        }
        let message = format!(
            "the name and the version are too long: the archive of the package would have a name of {length} bytes, more \
             than {MAX_FILE_NAME}"
        );
        let error = Diagnostic::error(Code::PackageShape, message).at(self.name.location.clone());
        Err(error.hint("shorten the prerelease or the build metadata of the version, or the name"))
    }

    /// Checks a picture: the one that the manifest names, or the one with the usual name if there is one.
    fn check_picture(
        &self,
        key: &str,
        named: Option<&Located<PackagePath>>,
        usual: &str,
        file: &mut ReadFile<'_>,
    ) -> Result<(), Diagnostic> {
        let path = named.map_or_else(|| usual_path(usual), |named| named.value.clone());
        let invalid = |message: String| {
            Diagnostic::error(Code::PackageShape, message).at(self.location_of(named))
        };
        let Some(bytes) = file(&path)? else {
            let missing = || {
                invalid(format!(
                    "the package has no file `{path}`, which `{key}` names"
                ))
            };
            return named.map_or(Ok(()), |_| Err(missing()));
        };
        if !PICTURES.iter().any(|start| bytes.starts_with(start)) {
            return Err(invalid(format!(
                "`{path}` is not a picture in PNG, JPEG or GIF"
            )));
        }
        if bytes.len() > MAX_PICTURE_BYTES {
            return Err(invalid(format!(
                "the picture `{path}` has {} bytes, more than {MAX_PICTURE_BYTES}",
                bytes.len()
            )));
        }
        Ok(())
    }

    /// Checks the form. One that is missing is no error: the package is then deployed without a form.
    fn check_form(&self, file: &mut ReadFile<'_>) -> Result<(), Diagnostic> {
        let named = self.ui.as_ref();
        let path = named.map_or_else(|| usual_path("ui.yaml"), |named| named.value.clone());
        let location = self.location_of(named);
        let path = path.below(UI_FOLDER).map_err(|error| {
            Diagnostic::error(Code::Path, error.to_string()).at(location.clone())
        })?;
        match file(&path)? {
            None if named.is_some() => {
                let message = format!("the package has no file `{path}`, which `UI` names");
                Err(Diagnostic::warning(Code::PackageShape, message).at(location))
            }
            Some(bytes) if std::str::from_utf8(&bytes).is_err() => {
                let message = format!("the text of `{path}` is not UTF-8");
                Err(Diagnostic::error(Code::Encoding, message).at(location))
            }
            _ => Ok(()),
        }
    }

    /// The location of a path in the manifest, or the beginning of the manifest.
    fn location_of(&self, path: Option<&Located<PackagePath>>) -> Location {
        path.map_or_else(
            || Location::new(self.source(), Span::default()),
            |path| path.location.clone(),
        )
    }
}

/// The path of a file that a manifest does not name.
fn usual_path(name: &str) -> PackagePath {
    PackagePath::parse(name).expect("the name is a valid path")
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::SourceText;
    use crate::{PackageManifest, ReadOptions};

    /// The findings on a package with a manifest with `keys`, and files of which each has so many bytes
    /// behind its beginning.
    fn findings(keys: &str, files: &[(&str, &[u8], usize)]) -> Vec<String> {
        let text = format!("FullName: a.B\nType: Library\n{keys}");
        let source = SourceText::new("manifest.yaml", text);
        let manifest = PackageManifest::parse(&source, &ReadOptions::default());
        let (manifest, _) = manifest.into_result().expect("the manifest is valid");
        let findings = manifest.check_files(|path| {
            let mut files = files.iter();
            let file = files.find(|(name, _, _)| path.as_str() == *name);
            Ok(file.map(|(_, start, more)| [start, vec![0; *more].as_slice()].concat()))
        });
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_heat_package_has_a_template() {
        let format = "Format: Heat.HOT/1.0\n";
        assert_eq!(
            findings(format, &[]),
            [
                "manifest.yaml:1:11: error[PK0031]: the package has no file `template.yaml`, which its format requires"
            ]
        );
        assert!(findings(format, &[("template.yaml", b"", 0)]).is_empty());
        assert!(findings("Format: MuranoPL/1.0\n", &[]).is_empty());
    }

    #[test]
    fn the_name_of_an_archive_is_a_name_of_a_file() {
        // The name is `a.B-1.0.0-….zip`.
        let with = |length: usize| {
            let rest = "a".repeat(length - "a.B-1.0.0-.zip".len());
            findings(&format!("Version: 1.0.0-{rest}\n"), &[])
        };
        assert!(with(255).is_empty());
        assert!(with(256)[0].contains("a name of 256 bytes, more than 255"));
    }

    #[test]
    fn pictures_that_cannot_be_loaded_are_errors() {
        const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
        let none: [&str; 0] = [];
        assert_eq!(findings("", &[]), none);
        assert_eq!(findings("Logo: null\nSupplier: {Logo: null}\n", &[]), none);
        for (name, start) in [
            ("a.gif", b"GIF89a".as_slice()),
            ("a.png", b"\xff\xd8\xff\xe0"),
            ("a.jpg", PNG),
        ] {
            let largest = 500 * 1024 - start.len();
            let keys = format!("Logo: {name}\n");
            assert_eq!(findings(&keys, &[(name, start, largest)]), none);
            assert_eq!(findings(&keys, &[(name, start, largest + 1)]).len(), 1);
        }
        insta::assert_snapshot!(
            findings("Logo: a.png\nSupplier: {Name: S, Logo: b.png}\n", &[]).join("\n"),
            @r"
        manifest.yaml:3:7: error[PK0031]: the package has no file `a.png`, which `Logo` names
        manifest.yaml:4:27: error[PK0031]: the package has no file `b.png`, which `Supplier.Logo` names
        "
        );
        let both: [(&str, &[u8], usize); 2] = [
            ("logo.png", b"RIFF....WEBP", 0),
            ("supplier_logo.png", PNG, 600 << 10),
        ];
        insta::assert_snapshot!(
            findings("", &both).join("\n"),
            @r"
        manifest.yaml:1:1: error[PK0031]: `logo.png` is not a picture in PNG, JPEG or GIF
        manifest.yaml:1:1: error[PK0031]: the picture `supplier_logo.png` has 614408 bytes, more than 512000
        "
        );
    }

    #[test]
    fn a_form_is_text_below_its_folder() {
        let keys = "UI: form.yaml\n";
        let none: [&str; 0] = [];
        assert_eq!(findings(keys, &[("UI/form.yaml", b"Version: 2", 0)]), none);
        assert_eq!(findings("", &[("UI/ui.yaml", b"Version: 2", 0)]), none);
        let other: [(&str, &[u8], usize); 1] = [("form.yaml", b"Version: 2", 0)];
        insta::assert_snapshot!(findings(keys, &other).join("\n"), @"manifest.yaml:3:5: warning[PK0031]: the package has no file `UI/form.yaml`, which `UI` names");
        let bytes: [(&str, &[u8], usize); 1] = [("UI/ui.yaml", b"\xff\xfe", 0)];
        insta::assert_snapshot!(findings("", &bytes).join("\n"), @"manifest.yaml:1:1: error[PK0006]: the text of `UI/ui.yaml` is not UTF-8");
    }
}
