//! Release candidates: the checks of an archive before anything is written.
//!
//! The checks are those of the validator that clients have, whether the requirements can be satisfied
//! from the registry, and, as a warning alone, whether the name is similar to that of another package.

mod collection;
mod confusable;
mod satisfiable;

use bytes::Bytes;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Archive, ArtifactDigest, IndexRecord, Package, PackageKind, PackageManifest, PackageName,
    ReadOptions, Version,
};

use pkgres_registry_client::protocol::escape_name;

pub(crate) use collection::check_collection;
pub(crate) use confusable::similar_names;
pub(crate) use satisfiable::check_satisfiable;

use crate::problem::{Problem, ProblemCode};
use crate::store::collections::CollectionTexts;

/// A release that can be published: its archive was checked.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The record with digest and size.
    pub(crate) record: IndexRecord,
    pub(crate) title: String,
    pub(crate) description: String,
}

/// What is stored of a release beside its record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Details<'candidate> {
    /// The row of the catalog of a class package.
    Listing(&'candidate Listing),
    /// The texts of a collection for people.
    Collection(&'candidate CollectionTexts),
}

/// The values of a release in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) author: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) is_public: bool,
    pub(crate) enabled: bool,
}

/// The limit of findings in a problem.
const MAX_FINDINGS: usize = 10;

/// The problem of an archive with errors.
fn invalid(errors: &[Diagnostic]) -> Problem {
    let errors: Vec<String> = errors
        .iter()
        .filter(|finding| finding.is_error())
        .take(MAX_FINDINGS)
        .map(ToString::to_string)
        .collect();
    Problem::new(ProblemCode::PackageInvalid, errors.join("\n"))
}

/// Checks the archive of a release with the validator that clients have, and reads its package. The
/// archive has to be the `expected` release, if there is one. Also returns the row of the catalog, with the values of
/// the manifest.
pub(crate) fn check_archive(
    expected: Option<(&PackageName, &Version)>,
    bytes: &Bytes,
    options: &ReadOptions,
) -> Result<(Candidate, Listing), Problem> {
    let shown = match expected {
        Some((name, version)) => format!("{name}-{version}.zip"),
        None => "package.zip".to_owned(),
    };
    let archive =
        Archive::open(&shown, bytes.clone(), &options.limits).map_err(|error| invalid(&[error]))?;
    let (package, _) = Package::from_archive(&shown, &archive, options)
        .into_result()
        .map_err(|errors| invalid(&errors))?;
    let findings = (package.manifest).check_files(|path| Ok(archive.read(path)));
    if findings.iter().any(Diagnostic::is_error) {
        return Err(invalid(&findings));
    }
    let mut record = package.index_record();
    if let Some((name, version)) = expected
        && (record.name != *name || record.version.to_string() != version.to_string())
    {
        let detail = format!(
            "the archive is {} {}, not {name} {version}",
            record.name, record.version
        );
        return Err(Problem::new(ProblemCode::ReleaseMismatch, detail));
    }
    record.digest = Some(ArtifactDigest::of_archive(bytes));
    record.size = Some(bytes.len() as u64);
    check_line(&record, options.limits.index_line_bytes)?;
    check_names(&record)?;
    let manifest = &package.manifest;
    check_texts(manifest)?;
    let description = manifest.description.clone().unwrap_or_default();
    let candidate = Candidate {
        record,
        title: manifest.display_name.clone(),
        description: description.clone(),
    };
    let listing = Listing {
        name: manifest.display_name.clone(),
        kind: match manifest.kind {
            PackageKind::Application => "Application",
            PackageKind::Library => "Library",
        },
        author: manifest.author.clone().unwrap_or_default(),
        description,
        tags: manifest.tags.clone(),
        categories: Vec::new(),
        is_public: true,
        enabled: true,
    };
    Ok((candidate, listing))
}

/// The most tags of a release, and the most categories.
pub(crate) const MAX_LABELS: usize = 100;

/// The most characters of a tag or category.
pub(crate) const MAX_LABEL: usize = 80;

/// The most bytes of a title and of an author.
const MAX_TITLE_BYTES: usize = 1 << 10;

/// The most bytes of a description.
pub(crate) const MAX_DESCRIPTION_BYTES: usize = 64 << 10;

/// Checks that the texts of a manifest are short enough for lists, which show them for many releases.
fn check_texts(manifest: &PackageManifest) -> Result<(), Problem> {
    let description = manifest.description.as_deref().unwrap_or_default();
    let author = manifest.author.as_deref().unwrap_or_default();
    for (key, text, limit) in [
        ("Name", &*manifest.display_name, MAX_TITLE_BYTES),
        ("Author", author, MAX_TITLE_BYTES),
        ("Description", description, MAX_DESCRIPTION_BYTES),
    ] {
        if text.len() > limit {
            let detail = format!("`{key}` has more than the limit of {limit} bytes");
            return Err(Problem::new(ProblemCode::PackageInvalid, detail));
        }
    }
    let is_short = |tag: &String| tag.chars().count() <= MAX_LABEL;
    if manifest.tags.len() > MAX_LABELS || !manifest.tags.iter().all(is_short) {
        let detail =
            format!("`Tags` has at most {MAX_LABELS} items of at most {MAX_LABEL} characters");
        return Err(Problem::new(ProblemCode::PackageInvalid, detail));
    }
    Ok(())
}

/// Checks that each name can be the name of a file: a mirror of static files has one for each package and class.
fn check_names(record: &IndexRecord) -> Result<(), Problem> {
    let classes = record.classes.iter().flatten();
    let classes = classes.filter(|class| !class.internal);
    let names =
        std::iter::once(record.name.as_str()).chain(classes.map(|class| class.name.as_str()));
    for name in names {
        if !is_file_name(name) {
            let detail = format!(
                "the name {name} is too long: with an escape for each capital letter, it may have {MAX_NAME_IN_FILE} bytes"
            );
            return Err(Problem::new(ProblemCode::PackageInvalid, detail));
        }
    }
    Ok(())
}

/// The longest name of a package or class as a part of a file name, in bytes. File systems allow 255; the rest is for
/// what mirrors add, and for temporary names.
const MAX_NAME_IN_FILE: usize = 200;

/// Whether the name of a package or class can be the name of a file.
pub(crate) fn is_file_name(name: &str) -> bool {
    escape_name(name).len() <= MAX_NAME_IN_FILE
}

/// An error if the line of the release in the index would be longer than clients read, now or once the
/// release is yanked.
fn check_line(record: &IndexRecord, limit: u64) -> Result<(), Problem> {
    let mut longest = record.clone();
    longest.yanked = true;
    // Every time that is written in whole seconds is as long.
    longest.published = Some(jiff::Timestamp::UNIX_EPOCH.to_string());
    let bytes = longest.to_line().len() as u64;
    if bytes <= limit {
        return Ok(());
    }
    let detail = format!(
        "the index record of {} {}, with its requirements and classes, has {bytes} bytes, and the \
         limit is {limit}",
        record.name, record.version
    );
    Err(Problem::new(ProblemCode::PackageInvalid, detail))
}
