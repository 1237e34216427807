//! Releases of an ecosystem other than class packages, with what their classes declare: of files, folders and registries.

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, ReleaseExtent};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Parsed};
use pkgres_manifest::{Declarations, IndexRecord, ReadOptions, ReleaseSource};
use pkgres_registry_client::{Artifact, FolderTree, RegistrySet, WantedArtifact};
use pkgres_resolver::Supply;

use crate::context::Context;
use crate::failure::Result;
use crate::read_manifest::folder_of;
use crate::root::ForeignRoot;
use crate::root_file::format_of_artifact;

/// A release that was read.
pub(crate) struct ReadRelease {
    pub(crate) record: IndexRecord,
    pub(crate) declarations: Declarations,
    pub(crate) format: &'static dyn Format,
    /// Whether there is an artifact, so that the declarations are known.
    pub(crate) has_artifact: bool,
    /// What of the declarations cannot be read.
    pub(crate) findings: Vec<Diagnostic>,
}

impl ReadRelease {
    /// Adds the declarations of a file, or of the folder that it is in.
    fn new(
        record: IndexRecord,
        format: &'static dyn Format,
        file: &FormatFile<'_>,
        context: &Context,
    ) -> Result<Self> {
        let tree = FolderTree::new(&folder_of(Path::new(file.path)));
        let read = format.declarations(file, &tree, &context.read_options);
        Self::with(record, format, read)
    }

    fn with(
        record: IndexRecord,
        format: &'static dyn Format,
        read: Parsed<Declarations>,
    ) -> Result<Self> {
        let (declarations, mut findings) = read.into_result()?;
        // Others were reported when the release was published, or belong to `pkgres check`.
        findings.retain(|finding| !finding.is_error());
        Ok(Self {
            record,
            declarations,
            format,
            has_artifact: true,
            findings,
        })
    }

    /// The release that a file is by itself, such as an archive; `None` if it is none.
    pub(crate) fn of_file(
        format: &'static dyn Format,
        file: &FormatFile<'_>,
        options: &ReadOptions,
    ) -> Result<Option<Self>> {
        if format.release_extent(file) != Some(ReleaseExtent::File) {
            return Ok(None);
        }
        let (releases, _) = format.read_releases(file, &(), options).into_result()?;
        let Some(release) = releases.into_iter().next() else {
            return Ok(None);
        };
        let declarations = format.declarations(file, &(), options);
        Self::with(release.record, format, declarations).map(Some)
    }

    /// Reads the artifact of a release of a registry. If the registry has none, only the record is known.
    pub(crate) fn of_registry(
        record: &IndexRecord,
        source: &ReleaseSource,
        format: &'static dyn Format,
        registries: &RegistrySet,
        context: &Context,
    ) -> Result<Self> {
        let record = completed(record, source, registries)?;
        let read = match artifact(&record, source, registries)? {
            Some(Artifact::Folder(folder)) => read_path(folder.path(), context)?,
            Some(Artifact::Tree(folder)) => read_path(&folder, context)?,
            Some(Artifact::File(bytes)) => {
                let path = format.artifact_name(&record.name, &record.version);
                let file = FormatFile {
                    path: &path,
                    bytes: &bytes,
                };
                Self::of_file(format, &file, &context.read_options)?
            }
            _ => None,
        };
        Ok(read.unwrap_or_else(|| Self::without_declarations(record, format)))
    }

    /// A release of which only the index record is known.
    fn without_declarations(record: IndexRecord, format: &'static dyn Format) -> Self {
        let message = format!(
            "{} {} has no artifact in its registry: what its classes declare was not compared",
            record.name, record.version
        );
        Self {
            record,
            declarations: Declarations::default(),
            format,
            has_artifact: false,
            findings: vec![Diagnostic::warning(Code::ClassesNotRead, message)],
        }
    }
}

/// The whole record of a release: some registries list drafts.
fn completed(
    record: &IndexRecord,
    source: &ReleaseSource,
    registries: &RegistrySet,
) -> Result<IndexRecord> {
    let ReleaseSource::Registry(registry) = source else {
        return Ok(record.clone());
    };
    if !registries.complete(&[(registry, record.release())])? {
        return Ok(record.clone());
    }
    let supplies = registries.supply(std::slice::from_ref(&record.name))?;
    let records = supplies.into_iter().flat_map(Supply::into_records);
    let mut records = records.filter(|found| found.version == record.version);
    Ok(records.next().unwrap_or_else(|| record.clone()))
}

/// The artifact of a release, if its registry has it.
fn artifact(
    record: &IndexRecord,
    source: &ReleaseSource,
    registries: &RegistrySet,
) -> Result<Option<Artifact>> {
    let (Some(digest), ReleaseSource::Registry(registry)) = (record.digest, source) else {
        return Ok(None);
    };
    let wanted = WantedArtifact {
        package: &record.name,
        version: &record.version,
        digest,
    };
    let mut found = Ok(None);
    registries.artifacts(&[(registry, wanted)], &mut |_, received| {
        found = received;
        std::ops::ControlFlow::Continue(())
    });
    Ok(found?.map(|received| received.artifact))
}

/// The release that a file or a folder of another ecosystem is; `None` if it is none.
pub(crate) fn read_path(path: &Path, context: &Context) -> Result<Option<ReadRelease>> {
    if !path.exists() {
        return Ok(None);
    }
    let options = &context.read_options;
    if let Some(foreign) = ForeignRoot::find(path, context.ecosystem, options)? {
        let bytes = read_file(&foreign.path, options.limits.archive_bytes, Follow::Links)?;
        let name = foreign.path.to_string_lossy();
        let file = FormatFile {
            path: &name,
            bytes: &bytes,
        };
        let read = ReadRelease::new(foreign.root.record, foreign.format, &file, context)?;
        return Ok(Some(read));
    }
    let name = path.to_string_lossy();
    let Some(format) = format_of_artifact(path, options) else {
        return Ok(None);
    };
    let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
    let file = FormatFile {
        path: &name,
        bytes: &bytes,
    };
    ReadRelease::of_file(format, &file, options)
}
