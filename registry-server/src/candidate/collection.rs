//! Checks artifacts of Ansible collections before they are published.

use bytes::Bytes;
use pkgres_formats::ansible::{CollectionAbout, Collections, read_collection};
use pkgres_formats::{Format as _, unread_parts};
use pkgres_manifest::diagnostic::{Escaped, Severity};
use pkgres_manifest::{PackageName, ReadOptions};
use pkgres_registry_client::protocol::{Digest, ListedTexts};

use super::{Candidate, check_rules, invalid};
use crate::problem::{Problem, ProblemCode};
use crate::readme_and_licence::PackageText;
use crate::store::collections::CollectionTexts;

/// Checks an artifact with the reader that clients have, and reads its collection. If the artifact has a `file_name`,
/// it has to be the one that the collection gives it.
pub(crate) fn check_collection(
    file_name: Option<&str>,
    bytes: &Bytes,
    options: &ReadOptions,
) -> Result<(Candidate, CollectionTexts), Problem> {
    let (read, findings) = read_collection("the artifact", bytes, options)
        .into_result()
        .map_err(|errors| invalid(&errors))?;
    // The record of a release never changes, so nothing may be missing from it.
    let mut unread = unread_parts(findings);
    for finding in &mut unread {
        finding.severity = Severity::Error;
        finding.message = format!(
            "clients would not read the whole artifact: {}",
            finding.message
        );
    }
    if !unread.is_empty() {
        return Err(invalid(&unread));
    }
    let record = read.release.record;
    let text = |(file, bytes): (String, Vec<u8>)| PackageText::new(file, &bytes);
    let texts = CollectionTexts {
        about: read.about,
        readme: read.readme.map(text),
        licence: read.licence.map(text),
    };
    // The index and its mirrors have these names beside those of class packages.
    let required = record.requirements.iter();
    for name in std::iter::once(&record.name).chain(required.map(|required| &required.package)) {
        if let Err(error) = PackageName::parse(name.as_str()) {
            let detail = format!("the registry cannot have the name {name}: {error}");
            return Err(Problem::new(ProblemCode::PackageInvalid, detail));
        }
    }
    let expected = Collections.artifact_name(&record.name, &record.version);
    if let Some(file_name) = file_name
        && file_name != expected
    {
        let detail = format!(
            "the artifact is called {}, and has {} {}, whose artifact is called {expected}",
            Escaped::shortened(file_name),
            record.name,
            record.version
        );
        return Err(Problem::new(ProblemCode::ReleaseMismatch, detail));
    }
    check_rules(&record, &listed_texts(&texts.about), options)?;
    let digest = Digest::of_record(&record);
    let digest = digest.ok_or_else(|| Problem::internal("the record has no digest"))?;
    let candidate = Candidate {
        digest,
        title: record.name.to_string(),
        description: texts.about.description.clone().unwrap_or_default(),
        record,
    };
    Ok((candidate, texts))
}

/// The texts of a collection that lists and pages show.
fn listed_texts(about: &CollectionAbout) -> ListedTexts<'_> {
    let one = [
        ("repository", &about.repository),
        ("documentation", &about.documentation),
        ("homepage", &about.homepage),
        ("issues", &about.issues),
    ];
    let one = one.into_iter();
    let one = one.filter_map(|(key, text)| Some((key, text.as_deref()?)));
    let authors = about.authors.iter().map(|text| ("authors", text.as_str()));
    let licenses = about.license.iter().map(|text| ("license", text.as_str()));
    ListedTexts {
        short: one.chain(authors).chain(licenses).collect(),
        description: (
            "description",
            about.description.as_deref().unwrap_or_default(),
        ),
        tags: ("tags", &about.tags),
    }
}
