//! Publishing a release: a form with what is said of it and its archive.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::header;
use multer::Multipart;

use super::shape::{self, check_name, wrong};
use crate::blobs::{Incoming, PIECE};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::http::warnings;
use crate::problem::Problem;
use crate::registry::Upload;

/// The part of the form that says something of the release.
const METADATA: &str = "__metadata__";

/// How long that part is at most, in bytes.
const METADATA_BYTES: usize = 1 << 20;

/// How many tags and categories a release has, and how long a tag is.
const LABELS: (usize, usize) = (100, 80);

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

pub(super) fn upload(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let kind = request
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let boundary = multer::parse_boundary(kind)
        .map_err(|_| wrong("the body is to be multipart/form-data, with a boundary"))?;
    let (metadata, archive) = parts(&request.body, boundary, &service.registry.incoming)?;
    let metadata: Metadata = match metadata {
        None => Metadata::default(),
        Some(text) => serde_json::from_slice(&text).map_err(|error| {
            let error = error.to_string();
            let error = pkgres_manifest::diagnostic::Escaped::new(&error);
            wrong(format!("`{METADATA}` is not what it should be: {error}"))
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
    let actor = request.actor()?;
    let entry = service.registry.upload(actor, &archive, upload)?;
    let mut package = shape::package(&entry);
    // The API has no place for warnings. Its clients pass over what they do not know, and nobody has
    // to look at it where there is nothing to say.
    let warnings = warnings::of_publish(service, actor, &entry.record.name);
    if !warnings.is_empty() {
        package["warnings"] = warnings.into();
    }
    Ok(Reply::json(&package))
}

/// Refuses what cannot be tags or categories.
pub(super) fn check_labels(labels: &[String]) -> Result<(), Problem> {
    let is_label = |label: &String| {
        !label.is_empty()
            && label.chars().count() <= LABELS.1
            && !label.chars().any(char::is_control)
    };
    if labels.len() <= LABELS.0 && labels.iter().all(is_label) {
        return Ok(());
    }
    Err(wrong(format!(
        "there are at most {} tags and categories, each of 1 to {} characters",
        LABELS.0, LABELS.1
    )))
}

/// What is said of the release, and its archive.
fn parts(
    body: &Bytes,
    boundary: String,
    incoming: &Incoming,
) -> Result<(Option<Bytes>, Bytes), Problem> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut form = Multipart::new(slowly(body, Arc::clone(&is_over)), boundary);
    let broken = || wrong("the form is not what it should be, or ends too early");
    let mut metadata = None;
    let mut archive = None;
    while let Some(mut field) = finish(form.next_field(), &is_over)
        .ok_or_else(broken)?
        .map_err(|_| broken())?
    {
        let is_metadata = field.name() == Some(METADATA);
        let place = if is_metadata {
            &mut metadata
        } else {
            &mut archive
        };
        let mut receiving = incoming.receive();
        while let Some(piece) = finish(field.chunk(), &is_over)
            .ok_or_else(broken)?
            .map_err(|_| broken())?
        {
            receiving.add(&piece).map_err(Problem::internal)?;
        }
        let bytes = receiving.finish().map_err(Problem::internal)?;
        if is_metadata && bytes.len() > METADATA_BYTES {
            return Err(wrong(format!(
                "`{METADATA}` has more than {METADATA_BYTES} bytes"
            )));
        }
        if place.replace(bytes).is_some() {
            let detail = format!("the form has `{METADATA}` and one archive, and nothing else");
            return Err(wrong(detail));
        }
    }
    match archive {
        Some(archive) if !archive.is_empty() => Ok((metadata, archive)),
        Some(_) => Err(wrong("the archive is empty")),
        None => Err(wrong("the form has no archive")),
    }
}

/// A body in pieces, with a pause after each: whoever reads forms takes all that is there into
/// memory.
fn slowly(
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

/// Goes through the pauses of [`slowly`]: there is nothing else to wait for, for all of the body is
/// here. Nothing if it still waits when the body is over.
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
