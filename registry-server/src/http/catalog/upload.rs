//! Publishing a release: a form with what is said of it and its archive.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use http::header;
use multer::Multipart;

use super::shape::{self, check_name, wrong};
use crate::http::dispatch::Service;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::problem::Problem;
use crate::registry::Upload;

/// The part of the form that says something of the release.
const METADATA: &str = "__metadata__";

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
    let (metadata, archive) = parts(request.body.clone(), boundary)?;
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
    let entry = service.registry.upload(request.actor()?, archive, upload)?;
    Ok(Reply::json(&shape::package(&entry)))
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
fn parts(body: Bytes, boundary: String) -> Result<(Option<Bytes>, Bytes), Problem> {
    let body = stream::once(std::future::ready(Ok::<_, Infallible>(body)));
    let mut form = Multipart::new(body, boundary);
    // All of the body is here, so that nothing has to be waited for.
    let broken = || wrong("the form is not what it should be, or ends too early");
    let mut metadata = None;
    let mut archive = None;
    loop {
        let field = form.next_field().now_or_never().ok_or_else(broken)?;
        let Some(field) = field.map_err(|_| broken())? else {
            break;
        };
        let is_metadata = field.name() == Some(METADATA);
        let bytes = field.bytes().now_or_never().ok_or_else(broken)?;
        let bytes = bytes.map_err(|_| broken())?;
        let place = if is_metadata {
            &mut metadata
        } else {
            &mut archive
        };
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
