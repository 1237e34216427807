//! The two versions that are compared: package folders, archives, git revisions and releases of registries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_checks::Bump;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    Archive, IndexRecord, LOCK_FILE, MANIFEST_FILE, Package, PackageManifest, PackageName, Release,
    Version,
};
use pkgres_resolver::Supply;

use crate::bound_release::BoundRelease;
use crate::commands::info::root_of;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::git::{NoRevision, RevisionFiles, folder_in_git, is_revision};
use crate::lockfile::parse_lock;
use crate::output::Output;
use crate::project::Project;
use crate::read_manifest::folder_of;

/// The word for the newest version in a registry.
pub(super) const NEWEST: &str = "newest";

/// Where a version comes from.
pub(super) enum Source {
    /// A package folder, or its manifest.
    Folder(PathBuf),
    /// A package archive.
    Archive(PathBuf),
    /// The package at a revision: of the same folder as the other side, or of a folder of the repository.
    Revision {
        revision: String,
        folder: Option<String>,
    },
    /// A release of a registry: of the same package as the other side, or of a named one.
    Registry {
        name: Option<PackageName>,
        version: Option<Version>,
    },
}

impl Source {
    /// Reads an argument. An existing path comes before anything else.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let path = Path::new(text);
        if path.is_dir() || path.file_name().is_some_and(|name| name == MANIFEST_FILE) {
            return Ok(Self::Folder(path.to_owned()));
        }
        if path.is_file() {
            return Ok(Self::Archive(path.to_owned()));
        }
        let shown = Escaped::shortened(text).to_string();
        if let Some((name, version)) = text.split_once('@')
            && !text.contains("@{")
        {
            let invalid = |error: String| Failure::usage(format!("`{shown}`: {error}"));
            let name = match name {
                "" => None,
                _ => Some(PackageName::parse(name).map_err(|error| invalid(error.to_string()))?),
            };
            let version = match version {
                NEWEST => None,
                _ => Some(Version::parse(version).map_err(|error| invalid(error.to_string()))?),
            };
            return Ok(Self::Registry { name, version });
        }
        let (revision, folder) = match text.split_once(':') {
            Some((revision, folder)) => (revision, Some(folder.to_owned())),
            None => (text, None),
        };
        if is_revision(revision)? {
            let revision = revision.to_owned();
            return Ok(Self::Revision { revision, folder });
        }
        let message = format!("`{shown}` is neither a package nor a git revision");
        let hint = "a package folder, an archive, a revision such as `HEAD~1`, `@newest` or `@1.2.0` is expected";
        let finding = Diagnostic::error(Code::Usage, message);
        let finding = NoRevision::find()?.complete(finding, [hint; 2]);
        Err(finding.into())
    }

    /// The folder or archive, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) | Self::Archive(path) => Some(path),
            Self::Revision { .. } | Self::Registry { .. } => None,
        }
    }

    /// Whether it needs the other side to say which package it is.
    pub(super) fn needs_other(&self) -> bool {
        match self {
            Self::Folder(_) | Self::Archive(_) => false,
            Self::Revision { folder, .. } => folder.is_none(),
            Self::Registry { name, .. } => name.is_none(),
        }
    }

    /// Reads the package, and binds it to the releases that it requires. `other` is the other side, if it is known.
    pub(super) fn read(
        &self,
        other: Option<&Other<'_>>,
        context: &Context,
        output: &mut Output,
    ) -> Result<BoundRelease> {
        match self {
            Self::Folder(path) => {
                let project = Project::open(path, context)?;
                BoundRelease::of_project(&project, context, output)
            }
            Self::Archive(path) => {
                let options = &context.read_options;
                let shown = path.to_string_lossy();
                let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
                let archive = Archive::open(&shown, bytes, &options.limits)?;
                let (package, _) =
                    Package::from_archive(&shown, &archive, options).into_result()?;
                BoundRelease::of_package(Arc::new(package), path, None, context, output)
            }
            Self::Revision { revision, folder } => {
                of_revision(revision, folder.as_deref(), other, context, output)
            }
            Self::Registry { name, version } => {
                of_registry(name.as_ref(), version.as_ref(), other, context, output)
            }
        }
    }
}

/// The other side of a comparison.
pub(super) struct Other<'other> {
    pub(super) path: Option<&'other Path>,
    pub(super) release: &'other Release,
    /// Whether it is the newer version, so that the newest one below it is wanted.
    pub(super) is_new: bool,
}

impl Other<'_> {
    fn folder(&self) -> Option<PathBuf> {
        let path = self.path?;
        let is_archive = path.is_file() && !path.ends_with(MANIFEST_FILE);
        Some(if is_archive {
            path.to_owned()
        } else {
            folder_of(path)
        })
    }
}

/// The package in a folder of a revision, with the lockfile beside it.
fn of_revision(
    revision: &str,
    folder: Option<&str>,
    other: Option<&Other<'_>>,
    context: &Context,
    output: &mut Output,
) -> Result<BoundRelease> {
    let beside = other.and_then(Other::folder);
    let in_git = match folder {
        Some(folder) => folder.trim_end_matches('/').to_owned(),
        None => folder_in_git(beside.as_deref(), "package")?,
    };
    let in_git = if in_git.is_empty() { "." } else { &in_git };
    let mut files = RevisionFiles::below(format!("{revision}:{in_git}"))?;
    let options = &context.read_options;
    let shown = files.shown(MANIFEST_FILE);
    let Some(manifest) = files.read(MANIFEST_FILE, options.limits.manifest_bytes)? else {
        let message = format!("there is no package at `{}`", Escaped::shortened(&shown));
        let hint = "write `REVISION:FOLDER` for the package in a folder of the repository";
        return Err(Diagnostic::error(Code::PackageShape, message)
            .hint(hint)
            .into());
    };
    let (manifest, _) = PackageManifest::read(&shown, &manifest, options).into_result()?;
    let mut failure = None;
    let package = Package::assemble(manifest, options, |path| {
        let read = files.read(path.as_str(), options.limits.class_file_bytes);
        read.unwrap_or_else(|error| {
            failure = Some(error);
            None
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let (package, _) = package.into_result()?;
    let lock = match files.read(LOCK_FILE, options.limits.lock_bytes)? {
        Some(bytes) => Some(parse_lock(
            Path::new(&files.shown(LOCK_FILE)),
            &bytes,
            context,
        )?),
        None => None,
    };
    let beside = beside.unwrap_or_else(|| PathBuf::from(in_git));
    BoundRelease::of_package(Arc::new(package), &beside, lock, context, output)
}

/// A release of a registry. Without a version, it is the newest one, or the newest below the other side.
fn of_registry(
    name: Option<&PackageName>,
    version: Option<&Version>,
    other: Option<&Other<'_>>,
    context: &Context,
    output: &mut Output,
) -> Result<BoundRelease> {
    let Some(name) = name.or(other.map(|other| &other.release.name)) else {
        return Err(Failure::usage("name the package: `NAME@VERSION`"));
    };
    let beside = other.and_then(Other::folder);
    let root = beside.as_deref();
    let root = root.or_else(|| root_of(Path::new(MANIFEST_FILE)));
    let released = context.registries.without_overrides();
    let configured = released.for_root(root)?;
    let registries = released.open(&configured, &context.read_options)?;
    let below = other.filter(|other| other.is_new && other.release.name == *name);
    let below = below.map(|other| &other.release.version);
    let supplies = registries.supply(std::slice::from_ref(name))?;
    let records = supplies
        .into_iter()
        .flat_map(Supply::into_records)
        .collect();
    let found = newest_release(records, version, below);
    let Some(found) = found else {
        let what = match (version, below) {
            (Some(version), _) => format!("no version {version} of `{name}`"),
            (None, Some(other)) => format!("no version of `{name}` below {other}"),
            (None, None) => format!("no version of `{name}`"),
        };
        let message = format!("the registries have {what}");
        return Err(Diagnostic::error(Code::UnknownPackage, message).into());
    };
    let package = registries.package(name, &found.version, &context.read_options)?;
    output.registry_findings(&registries.take_findings());
    let Some(package) = package else {
        let message = format!(
            "{name} {} has no artifact, so its classes are unknown",
            found.version
        );
        return Err(Diagnostic::error(Code::UnknownPackage, message).into());
    };
    let beside = beside.unwrap_or_else(|| PathBuf::from("."));
    BoundRelease::of_package(package, &beside, None, context, output)
}

/// The newest of some releases: of exactly a version, or else one that is not yanked, and stable if there is such a
/// one. `below` is a version that it has to be below.
pub(in crate::commands) fn newest_release(
    records: Vec<IndexRecord>,
    version: Option<&Version>,
    below: Option<&Version>,
) -> Option<IndexRecord> {
    let is_below =
        |version: &Version| below.is_none_or(|below| Bump::between(version, below) != Bump::None);
    let is_wanted = |record: &IndexRecord| match version {
        Some(wanted) => record.version.without_build() == wanted.without_build(),
        None => !record.yanked && is_below(&record.version),
    };
    let wanted = records.into_iter().filter(is_wanted);
    wanted.max_by_key(|record| (!record.version.is_prerelease(), record.version.clone()))
}
