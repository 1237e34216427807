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
    Archive, ArtifactDigest, IndexRecord, Package, PackageKind, PackageName, ReadOptions, Version,
};

use pkgres_registry_client::protocol::{Digest, ListedTexts, broken_rule};

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
    /// The digest of the archive.
    pub(crate) digest: Digest,
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
    let digest = Digest::of(bytes);
    record.digest = Some(ArtifactDigest::Archive(digest.0));
    record.size = Some(bytes.len() as u64);
    let manifest = &package.manifest;
    check_rules(&record, &ListedTexts::of_manifest(manifest), options)?;
    let description = manifest.description.clone().unwrap_or_default();
    let candidate = Candidate {
        record,
        digest,
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

/// Checks the rules for the record and the texts of a release that publishers know, too.
pub(crate) fn check_rules(
    record: &IndexRecord,
    texts: &ListedTexts<'_>,
    options: &ReadOptions,
) -> Result<(), Problem> {
    match broken_rule(record, texts, options.limits.index_line_bytes) {
        Some(detail) => Err(Problem::new(ProblemCode::PackageInvalid, detail)),
        None => Ok(()),
    }
}
