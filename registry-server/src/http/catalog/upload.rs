//! Publishing a release by a form with its archive and its values in the catalog.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::header;
use multer::Multipart;
use pkgres_manifest::diagnostic::Escaped;

use super::representation::{self, check_name, invalid_body};
use crate::blobs::{Incoming, PIECE};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::Problem;
use crate::registry::Upload;

/// The name in messages of the part of the form that sets values in the catalog.
const METADATA: &str = "__metadata__";

/// The limit of that part, in bytes.
const MAX_METADATA_BYTES: usize = 1 << 20;

/// The limit of tags or of categories of a release.
const MAX_LABELS: usize = 100;

/// The limit of a tag or category, in characters.
const MAX_LABEL: usize = 80;

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
    let kind = request
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let boundary = multer::parse_boundary(kind)
        .map_err(|_| invalid_body("the body has to be multipart/form-data, with a boundary"))?;
    let (metadata, archive) = parts(&request.body, boundary, &service.registry.incoming)?;
    let metadata: Metadata = match metadata {
        None => Metadata::default(),
        Some(text) => serde_json::from_slice(&text).map_err(|error| {
            let error = error.to_string();
            invalid_body(format!("`{METADATA}` is invalid: {}", Escaped::new(&error)))
        })?,
    };
    if let Some(name) = &metadata.name {
        check_name(name)?;
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

/// An error if texts are not valid as tags or categories.
pub(super) fn check_labels(labels: &[String]) -> Result<(), Problem> {
    let is_label = |label: &String| {
        !label.is_empty()
            && label.chars().count() <= MAX_LABEL
            && !label.chars().any(char::is_control)
    };
    if labels.len() <= MAX_LABELS && labels.iter().all(is_label) {
        return Ok(());
    }
    Err(invalid_body(format!(
        "there are at most {MAX_LABELS} tags and categories, each of 1 to {MAX_LABEL} characters"
    )))
}

/// The metadata and the archive of a form.
fn parts(
    body: &Bytes,
    boundary: String,
    incoming: &Incoming,
) -> Result<(Option<Bytes>, Bytes), Problem> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut form = Multipart::new(with_pauses(body, Arc::clone(&is_over)), boundary);
    let broken = || invalid_body("the form is invalid, or ends too early");
    let mut metadata = None;
    let mut archive = None;
    while let Some(mut field) = finish(form.next_field(), &is_over)
        .ok_or_else(broken)?
        .map_err(|_| broken())?
    {
        let is_named = field.name() == Some(METADATA);
        let is_file = field.file_name().is_some();
        let mut receiving = incoming.receive();
        while let Some(piece) = finish(field.chunk(), &is_over)
            .ok_or_else(broken)?
            .map_err(|_| broken())?
        {
            receiving.add(&piece).map_err(Problem::internal)?;
        }
        let bytes = receiving.finish().map_err(Problem::internal)?;
        // As in Murano, every part that is no file is the metadata: clients call it differently. An archive may
        // come without a file name.
        let is_metadata = is_named || !is_file && !bytes.starts_with(b"PK");
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

/// A body in pieces, with a pause after each: the parser takes everything into memory that it gets
/// without a pause.
fn with_pauses(
    body: &Bytes,
    is_over: Arc<AtomicBool>,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let mut rest = body.clone();
    let mut is_pause = false;
    stream::poll_fn(move |_| {
        is_pause = !is_pause;
        if !is_pause {
            return Poll::Pending;
        }
        let piece = rest.split_to(rest.len().min(PIECE));
        is_over.store(piece.is_empty(), Ordering::Relaxed);
        Poll::Ready((!piece.is_empty()).then_some(Ok(piece)))
    })
}

/// Polls a future through the pauses of [`with_pauses`]: it waits for nothing else, because the whole
/// body is here. None if it still waits when the body is over.
fn finish<T>(future: impl Future<Output = T>, is_over: &AtomicBool) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return Some(value),
            Poll::Pending if was_over => return None,
            Poll::Pending => {}
        }
    }
}
