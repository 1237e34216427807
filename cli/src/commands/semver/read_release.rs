//! Releases of another ecosystem than class packages that are at hand as files or folders.

use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, ReleaseExtent};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Parsed};
use pkgres_manifest::{CLASS_PACKAGES, Declarations, IndexRecord, ReadOptions};
use pkgres_registry_client::FolderTree;

use crate::context::Context;
use crate::failure::Result;
use crate::manifest_file::folder_of;
use crate::root::ForeignRoot;

/// A release that was read.
pub(super) struct ReadRelease {
    pub(super) record: IndexRecord,
    pub(super) declarations: Declarations,
    pub(super) format: &'static dyn Format,
    /// What of the declarations cannot be read.
    pub(super) findings: Vec<Diagnostic>,
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
            findings,
        })
    }

    /// The release that a file is by itself, such as an archive; `None` if it is none.
    pub(super) fn of_file(
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

    /// A release of which only the index record is known.
    pub(super) fn without_declarations(record: IndexRecord, format: &'static dyn Format) -> Self {
        let message = format!(
            "{} {} has no artifact in its registry: what its classes declare was not compared",
            record.name, record.version
        );
        Self {
            record,
            declarations: Declarations::default(),
            format,
            findings: vec![Diagnostic::warning(Code::ClassesNotRead, message)],
        }
    }
}

/// The release that a file or a folder of another ecosystem is; `None` if it is none.
pub(super) fn read_path(path: &Path, context: &Context) -> Result<Option<ReadRelease>> {
    if !path.exists() {
        return Ok(None);
    }
    let options = &context.read_options;
    if let Some(foreign) = ForeignRoot::find(path, context)? {
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
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let foreign = |format: &&'static dyn Format| {
        format.ecosystem() != CLASS_PACKAGES && format.is_release_name(&file_name)
    };
    let mut formats = pkgres_formats::ALL.iter().copied().filter(foreign);
    let Some(format) = formats.next().filter(|_| path.is_file()) else {
        return Ok(None);
    };
    let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
    let file = FormatFile {
        path: &name,
        bytes: &bytes,
    };
    ReadRelease::of_file(format, &file, options)
}
