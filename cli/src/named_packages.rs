//! Packages and releases that the command line names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_formats::Format;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{
    CLASS_PACKAGES, Ecosystem, PackageManifest, PackageName, ReadOptions, Spec, Version,
    VersionError, did_you_mean, most_similar_name,
};
use pkgres_resolver::Resolution;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::invocation::{quoted, quoted_word};
use crate::output::Output;
use crate::read_manifest::ManifestFile;
use crate::root_file::recognize;
use crate::show;

/// The ecosystem of the project that a command is about; `None` if there is no project, or several.
pub(super) type ProjectEcosystem = Option<&'static dyn Ecosystem>;

/// The ecosystem of names on the command line: the stated one, or that of the project that `manifest` names. `None` for
/// class packages, beside which there can be registries of other ecosystems.
pub(super) fn ecosystem_near(manifest: &Path, context: &Context) -> ProjectEcosystem {
    // The command reports what is wrong with the project, if it needs one.
    let found = || recognize(manifest, None).ok().flatten();
    let format = context.ecosystem.or_else(|| Some(found()?.1));
    format.map(Format::ecosystem)
}

/// Parses the name of a package. Without a project, a name with parts that are no words, such as a path or a URI, is
/// one of any ecosystem.
pub(super) fn package_name(text: &str, project: ProjectEcosystem) -> Result<PackageName> {
    let mut error = match PackageName::parse(text) {
        Ok(name) => return Ok(name),
        Err(error) => error,
    };
    let hint = with_at_sign(text);
    if hint.is_none() {
        let read = |ecosystem: &'static dyn Ecosystem| ecosystem.package_name(text);
        match project {
            Some(ecosystem) => match read(ecosystem) {
                Ok(name) => return Ok(name),
                Err(other) => error = other,
            },
            None if !text.contains([':', '/']) => {}
            None => {
                if let Some(name) = of_other_ecosystem(|ecosystem| read(ecosystem).ok()) {
                    return Ok(name);
                }
            }
        }
    }
    let message = format!("`{}`: {error}", Escaped::shortened(text));
    let finding = Diagnostic::error(Code::Usage, message);
    let hint = hint.or_else(|| instead_of_path(text));
    Err(finding.maybe_hint(hint).into())
}

/// A hint for a path in place of a name.
fn instead_of_path(text: &str) -> Option<String> {
    let path = Path::new(text);
    if !text.contains('/') && !path.exists() {
        return None;
    }
    let options = ReadOptions::default();
    let read = ManifestFile::read(path, &options).ok().and_then(|file| {
        let name = file.path.to_string_lossy();
        let manifest = PackageManifest::read(&name, &file.bytes, &options);
        let (manifest, _) = manifest.into_result().ok()?;
        Some((manifest.name.value, file.folder))
    });
    Some(match read {
        Some((name, folder)) => {
            let parent = match folder.parent() {
                _ if folder.file_name().is_none() => folder.join(".."),
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            };
            let registry = quoted_word(&format!("dir:{}", parent.to_string_lossy()));
            format!(
                "the package there is `{name}`: write its name; if no registry has it, add the registry `{registry}`"
            )
        }
        None => "write the name of the package, not where it is".to_owned(),
    })
}

/// The first result of an ecosystem other than that of class packages.
fn of_other_ecosystem<T>(read: impl FnMut(&'static dyn Ecosystem) -> Option<T>) -> Option<T> {
    let ecosystems = pkgres_formats::ALL.iter().map(|format| format.ecosystem());
    let mut others = ecosystems.filter(|ecosystem| *ecosystem != CLASS_PACKAGES);
    others.find_map(read)
}

/// A hint for a name that is followed by a spec without `@`, or for a spec in place of a name.
fn with_at_sign(text: &str) -> Option<String> {
    let is_spec = |text: &str| !text.is_empty() && Spec::parse(text).is_ok();
    if is_spec(text) {
        let whole = quoted(Path::new(&format!("NAME@{text}")));
        return Some(format!("a spec belongs to a package: write {whole}"));
    }
    let end = text.find([' ', '=', '<', '>', '~', '^', '!', ':'])?;
    let (name, spec) = (&text[..end], text[end..].trim_start_matches([':', ' ']));
    let spec = match Spec::parse(spec) {
        _ if spec.is_empty() || PackageName::parse(name).is_err() => return None,
        Ok(_) => spec.trim_start_matches("==").to_owned(),
        Err(error) => error.suggestion?,
    };
    let whole = quoted(Path::new(&format!("{name}@{spec}")));
    Some(format!("a spec follows after `@`: write {whole}"))
}

/// Parses `NAME`, or `NAME@VERSION` for one release.
pub(super) fn release_name(
    text: &str,
    project: ProjectEcosystem,
) -> Result<(PackageName, Option<Version>)> {
    let Some((name, version)) = text.split_once('@') else {
        return Ok((package_name(text, project)?, None));
    };
    let name = package_name(name, project)?;
    let version = version_of(&name, version, project).map_err(|error| {
        let text = Escaped::shortened(text);
        Failure::usage(format!("`{text}`: {error}"))
    })?;
    Ok((name, Some(version)))
}

/// Parses a version of a package. Without a project, one of another ecosystem is recognized by its name.
pub(super) fn version_of(
    name: &PackageName,
    text: &str,
    project: ProjectEcosystem,
) -> std::result::Result<Version, VersionError> {
    if let Some(ecosystem) = project {
        return ecosystem.version(text);
    }
    if PackageName::is_name(name.as_str()) {
        return Version::parse(text);
    }
    let read = |ecosystem: &'static dyn Ecosystem| {
        let is_name = ecosystem.package_name(name.as_str()).is_ok();
        is_name.then(|| ecosystem.version(text))
    };
    of_other_ecosystem(read).unwrap_or_else(|| Version::parse(text))
}

/// The last part of a name, which a search finds in similar names.
pub(super) fn last_part(name: &PackageName) -> &str {
    name.as_str().rsplit('.').next().unwrap_or_default()
}

/// Whether a version is the named one, or none is named.
pub(super) fn is_named(version: &Version, named: Option<&Version>) -> bool {
    named.is_none_or(|named| named.names_release(version))
}

/// The error for a package or release that is not part of the resolution, or only as the root.
pub(super) fn not_part_of(
    name: &PackageName,
    version: Option<&Version>,
    resolution: &Resolution,
    context: &Context,
) -> Failure {
    let packages = || resolution.packages().iter();
    let versions: BTreeSet<Version> = packages()
        .filter(|package| package.name == *name)
        .map(|package| package.version.clone())
        .collect();
    if let Some(version) = version.filter(|_| !versions.is_empty()) {
        let message = format!(
            "`{name}` is at {}, not at {version}",
            sentence_list(&versions, "and")
        );
        return Failure::usage(message);
    }
    let mut roots = resolution.roots().iter();
    if roots.any(|root| root.owner.name() == Some(name)) {
        let message = format!("`{name}` is the root, and nothing requires it");
        let command = context.invocation.command("tree");
        let hint = format!("`{command}` shows what it requires");
        return Diagnostic::error(Code::Usage, message).hint(hint).into();
    }
    let message = format!("`{name}` is not in the resolution");
    let known = packages().map(|package| package.name.as_str());
    unknown(name, message, known, context)
}

/// Reports a package or release that is not part of the resolution. As JSON, it is the answer `empty` with the error.
pub(super) fn report_missing(missing: &Failure, empty: Value, output: &mut Output) {
    if !output.is_json() {
        output.findings(&missing.findings);
        return;
    }
    let mut document = json!({"schema_version": 1, "status": "error"});
    if let (Value::Object(document), Value::Object(empty)) = (&mut document, empty) {
        document.extend(empty);
    }
    document["diagnostics"] = show::diagnostics_json(&output.with_folder(&missing.findings));
    output.json(&document);
}

/// The error for a package that is not among the `known` ones.
pub(super) fn unknown<'known>(
    name: &PackageName,
    message: String,
    known: impl Iterator<Item = &'known str>,
    context: &Context,
) -> Failure {
    let hint = match most_similar_name(name.as_str(), known) {
        Some(similar) => did_you_mean(similar),
        None => format!(
            "`{}` shows all packages",
            context.invocation.command("tree")
        ),
    };
    Diagnostic::error(Code::Usage, message).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_ecosystems_are_packages() {
        for name in [
            "org.acme.Web",
            "community.general",
            "http://a.example/UA/",
            "acme/pump",
        ] {
            let read = package_name(name, None).ok();
            assert_eq!(read.map(|name| name.to_string()).as_deref(), Some(name));
        }
        for wrong in [
            "",
            "org..Web",
            "org.acme.Web>=1",
            ">=1",
            "1.2",
            "a b",
            "a/b<",
            "org.acme.Web:1.0",
            "org.acme.Web ~>1.0",
        ] {
            assert!(package_name(wrong, None).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_ecosystem_of_the_project_reads_names_and_versions() {
        let collections = Some(pkgres_formats::ansible::ECOSYSTEM);
        let models = Some(pkgres_formats::opcua::ECOSYSTEM);
        let uri = "http://a.example/UA/";
        assert!(package_name(uri, models).is_ok());
        assert!(package_name(uri, collections).is_err());
        assert!(package_name(uri, Some(CLASS_PACKAGES)).is_err());
        let name = PackageName::native(uri).expect("it is a name");
        assert!(version_of(&name, "1.2.3", None).is_err());
        assert!(version_of(&name, "1.2.3", models).is_err());
        assert!(version_of(&name, "1.2.3", collections).is_ok());
        // A name alone does not say it.
        let name = package_name("pump", models).expect("it is a name");
        assert!(version_of(&name, "1.02@2019-05-01", models).is_ok());
        assert!(version_of(&name, "1.02@2019-05-01", None).is_err());
        assert!(release_name("acme.web@1.2", collections).is_err());
        assert!(release_name("acme.web@1.2", None).is_ok());
        assert!(package_name("acme._web", collections).is_ok());
    }
}
