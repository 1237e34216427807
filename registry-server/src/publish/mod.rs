//! From the bytes of an archive to a release: what is checked before anything is written.

mod satisfiable;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Archive, ArtifactDigest, IndexRecord, Package, PackageName, ReadOptions, Version,
};

pub(crate) use satisfiable::check as check_satisfiable;

use crate::problem::{Problem, ProblemCode};

/// A release that could be published: its archive was checked.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The record with digest and size.
    pub(crate) record: IndexRecord,
    pub(crate) title: String,
    pub(crate) description: String,
}

/// How many findings an answer tells.
const TOLD: usize = 10;

/// Checks the archive of a release with the validator that clients have, and reads its package.
pub(crate) fn candidate(
    name: &PackageName,
    version: &Version,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Candidate, Problem> {
    let invalid = |errors: &[Diagnostic]| {
        let errors: Vec<String> = errors
            .iter()
            .filter(|finding| finding.is_error())
            .take(TOLD)
            .map(ToString::to_string)
            .collect();
        Problem::new(ProblemCode::PackageInvalid, errors.join("\n"))
    };
    let shown = format!("{name}-{version}.zip");
    let archive = Archive::open(&shown, bytes.to_vec(), &options.limits)
        .map_err(|error| invalid(&[error]))?;
    let (package, _) = Package::from_archive(&shown, &archive, options)
        .into_result()
        .map_err(|errors| invalid(&errors))?;
    let mut record = package.index_record();
    if record.name != *name || record.version.to_string() != version.to_string() {
        let detail = format!(
            "the archive is {} {}, not {name} {version}",
            record.name, record.version
        );
        return Err(Problem::new(ProblemCode::ReleaseMismatch, detail));
    }
    record.digest = Some(ArtifactDigest::of_archive(bytes));
    record.size = Some(bytes.len() as u64);
    let manifest = &package.manifest;
    Ok(Candidate {
        record,
        title: manifest.display_name.clone(),
        description: manifest.description.clone().unwrap_or_default(),
    })
}
