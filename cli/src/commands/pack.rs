//! `pkgres pack`

use std::path::{Path, PathBuf};

use pkgres_files::{RealFileSystem, write_file};
use pkgres_formats::Distribution;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{ArtifactDigest, Package, PackageName, ReadOptions};
use pkgres_registry_client::{ExcludedFile, PackageFolder};
use serde_json::json;

use crate::args::PackArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::invocation::quoted;
use crate::output::Output;
use crate::project::require_manifest;
use crate::read_manifest::package_of;
use crate::root_file::{format_of_release, recognize};
use crate::show::counted;

pub(super) fn run(args: &PackArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let folder = package_of(&args.package);
    require_class_package(&folder, "pack", |distribution| distribution.pack)?;
    let options = ReadOptions::default();
    let Packed {
        package,
        warnings,
        folder: packed,
        bytes,
    } = build(&folder, &options, context)?;
    let (count, excluded) = (packed.files().len(), packed.excluded());
    output.findings(&warnings);
    report_excluded(excluded, output);
    let name = PackageFolder::archive_name(package.name(), &package.manifest.version);
    let path = match &args.output {
        // An archive in a folder has to be named.
        Some(path) if path.is_dir() => {
            let message = format!("{} is a folder", Escaped::path(path));
            let named = format!("--output {}", quoted(&path.join(name)));
            return Err(Diagnostic::error(Code::Usage, message)
                .hint(format!("name the archive: `{named}`"))
                .into());
        }
        Some(path) => path.clone(),
        // Below the folder of the package, the archive would become a part of it.
        None if is_below(Path::new("."), &folder) => folder.join(name),
        None => PathBuf::from(name),
    };
    reject_inside(&path, &folder, package.name())?;
    write_file(&RealFileSystem, &path, &bytes)?;
    let digest = ArtifactDigest::of_archive(&bytes);
    let shown = path.to_string_lossy();
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "file": shown,
            "name": package.name(),
            "version": package.manifest.version,
            "sha256": digest,
            "size": bytes.len(),
            "files": count,
            "left_out": excluded.iter().map(|file| &file.path).collect::<Vec<_>>(),
        }));
    } else {
        output.data(&format!("{digest}  {shown}\n"));
        output.note(&format!("Packed {}", counted(count, "file")));
    }
    Ok(Exit::Done)
}

/// Tells which files of a folder are not in the archive.
pub(super) fn report_excluded(excluded: &[ExcludedFile], output: &mut Output) {
    for excluded in excluded {
        let path = Escaped::new(&excluded.path).to_string();
        output.note(&format!("not packed: {path} ({})", excluded.reason.text()));
    }
}

/// Fails for what other programs pack and publish. `hint` chooses the hint for a command.
pub(super) fn require_class_package(
    path: &Path,
    command: &str,
    hint: impl Fn(&Distribution) -> Option<&'static str>,
) -> Result<()> {
    // A root can require packages without being one.
    let root = || recognize(path, None).ok().flatten();
    let (format, is_release) = match (format_of_release(path), root()) {
        (Some(format), _) => (format, true),
        (None, Some((_, format))) => (format, false),
        (None, None) => return Ok(()),
    };
    let distribution = format.names().distribution;
    let (shown, noun) = (Escaped::path(path), distribution.release);
    let is = if is_release { "is" } else { "is not" };
    let message = format!("{shown} {is} {noun}, and `pkgres {command}` is for class packages");
    let finding = Diagnostic::error(Code::Usage, message);
    Err(match hint(&distribution) {
        Some(hint) => finding.hint(hint).into(),
        None => finding.into(),
    })
}

/// A packed package.
pub(super) struct Packed {
    pub(super) package: Package,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) folder: PackageFolder,
    pub(super) bytes: Vec<u8>,
}

/// Packs a package folder, which must hold a valid package.
pub(super) fn build(folder: &Path, options: &ReadOptions, context: &Context) -> Result<Packed> {
    require_manifest(folder, context)?;
    let folder = PackageFolder::open(folder, options)?;
    let (package, mut warnings) = folder.package(options).into_result()?;
    warnings.extend(shown_files_of(&folder, &package, options)?);
    Ok(Packed {
        package,
        warnings,
        bytes: folder.archive(options)?,
        folder,
    })
}

/// Checks the pictures and the form of a package in a folder, and returns warnings.
fn shown_files_of(
    folder: &PackageFolder,
    package: &Package,
    options: &ReadOptions,
) -> Result<Vec<Diagnostic>> {
    let findings = check_files(folder, package, options);
    if findings.iter().any(Diagnostic::is_error) {
        return Err(findings.into());
    }
    Ok(findings)
}

/// Checks the pictures and the form of a package in a folder.
pub(super) fn check_files(
    folder: &PackageFolder,
    package: &Package,
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    package.manifest.check_files(|path| {
        let is_there = folder.files().iter().any(|file| file.path == *path);
        let limit = options.limits.unpacked_bytes;
        let read = is_there.then(|| folder.read(path, limit));
        read.transpose().map_err(|error| error.to_diagnostic())
    })
}

/// Whether a folder is below another one.
fn is_below(folder: &Path, other: &Path) -> bool {
    let [folder, other] = [folder, other].map(|path| path.canonicalize().ok());
    folder
        .zip(other)
        .is_some_and(|(folder, other)| folder != other && folder.starts_with(other))
}

/// Rejects an archive that would become part of the package in the next run.
fn reject_inside(archive: &Path, folder: &Path, package: &PackageName) -> Result<()> {
    let parent = archive
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok();
    // A missing folder is reported when the archive is written.
    let Some((parent, folder)) = parent.zip(folder.canonicalize().ok()) else {
        return Ok(());
    };
    let (Ok(inside), Some(name)) = (parent.strip_prefix(&folder), archive.file_name()) else {
        return Ok(());
    };
    if !PackageFolder::would_take(&folder, &inside.join(name), package)? {
        return Ok(());
    }
    let message = format!(
        "{}: the archive would become part of the package",
        Escaped::path(archive)
    );
    Err(Diagnostic::error(Code::Usage, message)
        .hint("write it to another folder, or omit `--output`")
        .into())
}
