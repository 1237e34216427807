//! Publishes a release from a form with its archive and its metadata for the catalog.

use bytes::Bytes;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::read_json;
use pkgres_registry_client::protocol::{MAX_DESCRIPTION_BYTES, MAX_LABEL_CHARACTERS, MAX_LABELS};

use super::representation::{self, check_name, invalid_body};
use crate::blobs::Incoming;
use crate::http::checked_text::{check_line, check_lines};
use crate::http::form;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::Problem;
use crate::registry::Upload;

/// The name in messages of the part of the form that sets values in the catalog.
const METADATA: &str = "__metadata__";

/// The limit of that part, in bytes.
const MAX_METADATA_BYTES: usize = 1 << 20;

#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: Option<String>,
    description: Option<String>,
    tags: Option<Vec<String>>,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    is_public: bool,
    enabled: Option<bool>,
}

/// Publishes a release.
pub(super) fn upload(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (metadata, archive) = parts(request, &service.registry.incoming)?;
    let metadata: Metadata = match metadata {
        None => Metadata::default(),
        Some(text) => read_json(&text).map_err(|error| {
            let error = error.to_string();
            invalid_body(format!("`{METADATA}` is invalid: {}", Escaped::new(&error)))
        })?,
    };
    if let Some(name) = &metadata.name {
        check_name(name)?;
    }
    if let Some(description) = &metadata.description {
        check_description(description)?;
    }
    check_labels(metadata.tags.as_deref().unwrap_or_default())?;
    let mut categories = metadata.categories;
    check_labels(&categories)?;
    categories.sort();
    categories.dedup();
    let upload = Upload {
        name: metadata.name,
        description: metadata.description,
        tags: metadata.tags,
        categories,
        is_public: metadata.is_public,
        enabled: metadata.enabled.unwrap_or(true),
    };
    let principal = request.principal()?;
    let entry = service.registry.upload(principal, &archive, upload)?;
    let mut package = representation::package(&entry);
    // The API has no place for warnings, but its clients ignore members that they do not know.
    let warnings = service.publish_warnings(principal, &entry.record.name);
    if !warnings.is_empty() {
        package["warnings"] = warnings.into();
    }
    Ok(Response::json(&package))
}

/// An error if a text is not valid as a description.
pub(super) fn check_description(text: &str) -> Result<(), Problem> {
    if text.len() > MAX_DESCRIPTION_BYTES {
        let detail = format!("a description has at most {MAX_DESCRIPTION_BYTES} bytes");
        return Err(invalid_body(detail));
    }
    check_lines("the description", text)
}

/// An error if texts are not valid as tags or categories.
pub(super) fn check_labels(labels: &[String]) -> Result<(), Problem> {
    let is_label =
        |label: &String| !label.is_empty() && label.chars().count() <= MAX_LABEL_CHARACTERS;
    if !labels.iter().all(is_label) {
        let detail = format!("a tag or category has 1 to {MAX_LABEL_CHARACTERS} characters");
        return Err(invalid_body(detail));
    }
    for label in labels {
        check_line("a tag or category", label)?;
    }
    check_label_count(labels)
}

/// An error if there are too many tags or categories.
pub(super) fn check_label_count(labels: &[String]) -> Result<(), Problem> {
    if labels.len() <= MAX_LABELS {
        return Ok(());
    }
    let detail = format!("there are at most {MAX_LABELS} tags and {MAX_LABELS} categories");
    Err(invalid_body(detail))
}

/// The metadata and the archive of a form.
fn parts(request: &Request, incoming: &Incoming) -> Result<(Option<Bytes>, Bytes), Problem> {
    let mut metadata = None;
    let mut archive = None;
    for part in form::read(request, incoming)? {
        let bytes = part.bytes;
        // As in Murano, every part that is no file is the metadata: clients call it differently. An archive may
        // come without a file name.
        let is_metadata =
            part.name == METADATA || part.file_name.is_none() && !bytes.starts_with(b"PK");
        let place = if is_metadata {
            &mut metadata
        } else {
            &mut archive
        };
        if is_metadata && bytes.len() > MAX_METADATA_BYTES {
            return Err(invalid_body(format!(
                "`{METADATA}` has more than {MAX_METADATA_BYTES} bytes"
            )));
        }
        if place.replace(bytes).is_some() {
            let detail = format!("the form has `{METADATA}` and one archive, and nothing else");
            return Err(invalid_body(detail));
        }
    }
    match archive {
        Some(archive) if !archive.is_empty() => Ok((metadata, archive)),
        Some(_) => Err(invalid_body("the archive is empty")),
        None => Err(invalid_body("the form has no archive")),
    }
}
