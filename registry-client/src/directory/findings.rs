//! Findings about packages of a folder that cannot be used.

use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Severity, SourceText, Span, quoted};
use pkgres_manifest::{PackageManifest, PackageName};

use crate::registry_error::RegistryError;

/// The error about a release whose content is no longer that of its record.
pub(super) fn changed(path: &Path) -> RegistryError {
    let message = format!("{} has changed while it was in use", shown(path));
    Diagnostic::error(Code::Digest, message).into()
}

pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The name in the manifest that errors are about, as it is written.
pub fn written_name(errors: &[Diagnostic]) -> Option<String> {
    let mut labels = errors.iter().filter_map(|error| error.labels.first());
    labels.find_map(|label| {
        let name = PackageManifest::written_name(label.location.source().text())?;
        Some(name.to_owned())
    })
}

/// The warning about a package that cannot be read, with its first error. The rest of the registry can be used.
pub(super) fn broken(path: &Path, errors: &[Diagnostic]) -> Diagnostic {
    let first = errors.iter().find(|error| error.is_error());
    let message = match first {
        Some(error) => format!("a package cannot be read: {}", error.message),
        None => "a package cannot be read".to_owned(),
    };
    let mut warning = Diagnostic::warning(Code::BrokenPackage, message);
    if let Some(label) = first.and_then(|error| error.labels.first()) {
        warning.labels.push(label.clone());
    } else {
        let source = SourceText::new(shown(path), "");
        warning = warning.at(Location::new(&source, Span::default()));
    }
    warning.hint(format!(
        "`pkgres check {}` lists all that is wrong with it",
        quoted(path)
    ))
}

/// The warning about a package that a lookup leaves out because of an error.
pub(super) fn left_out(package: &PackageName, mut error: Diagnostic) -> Diagnostic {
    error.severity = Severity::Warning;
    error.message = format!("`{package}` is skipped: {}", error.message);
    error
}
