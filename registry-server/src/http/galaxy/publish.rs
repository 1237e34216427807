//! Publishes a collection from a form with its artifact.

use bytes::Bytes;
use http::StatusCode;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_registry_client::protocol::Digest;
use serde_json::{Value, json};

use super::document_addresses::{Addresses, halves};
use crate::http::form::{self, Part};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};

/// What a form says.
#[derive(Debug, Default)]
struct UploadForm {
    artifact: Option<(Option<String>, Bytes)>,
    sha256: Option<Bytes>,
}

/// Publishes a collection. The response is a task, which is over already.
pub(super) fn publish(service: &Service, request: &Request) -> Result<Response, Problem> {
    let registry = &service.registry;
    let mut upload = UploadForm::default();
    for part in form::read(request, &registry.incoming)? {
        take(&mut upload, part)?;
    }
    let (file_name, artifact) = upload
        .artifact
        .filter(|(_, artifact)| !artifact.is_empty())
        .ok_or_else(|| form::invalid("the form has no artifact in `file`"))?;
    let digest = Digest::of(&artifact);
    if let Some(expected) = &upload.sha256
        && !expected
            .trim_ascii()
            .eq_ignore_ascii_case(digest.to_string().as_bytes())
    {
        let expected = String::from_utf8_lossy(expected);
        let detail = format!(
            "the artifact did not arrive as it was sent: its SHA-256 is {digest}, and the form says {}",
            Escaped::shortened(expected.trim())
        );
        return Err(form::invalid(detail));
    }
    registry.publish_collection(request.principal()?, file_name.as_deref(), &artifact)?;
    let task = Addresses::of(request).task(&digest.to_string());
    Ok(Response::json_with(
        StatusCode::ACCEPTED,
        &json!({ "task": task }),
    ))
}

/// Takes a part of the form. Fields that other servers know are passed over.
fn take(upload: &mut UploadForm, part: Part) -> Result<(), Problem> {
    let is_new = match &*part.name {
        "file" => upload
            .artifact
            .replace((part.file_name, part.bytes))
            .is_none(),
        "sha256" => upload.sha256.replace(part.bytes).is_none(),
        _ => true,
    };
    if is_new {
        return Ok(());
    }
    Err(form::invalid(format!(
        "the form has the field `{}` twice",
        part.name
    )))
}

/// Shows the task of a publish. Tasks that fail never get an address.
pub(super) fn task(service: &Service, request: &Request) -> Result<Response, Problem> {
    let missing = || {
        let detail = "no collection was published with this digest";
        Problem::new(ProblemCode::NoSuchAddress, detail)
    };
    let digest = Digest::parse(request.part(0)).map_err(|_| missing())?;
    let found = service.registry.collection_of_artifact(&digest)?;
    let (full, listed) = found.ok_or_else(missing)?;
    let (namespace, name) = halves(&full);
    let warnings = service.publish_warnings(request.principal()?, &full);
    let messages: Vec<Value> = warnings
        .iter()
        .map(|warning| {
            json!({
                "level": "WARNING",
                "message": warning["detail"],
                "time": listed.published,
            })
        })
        .collect();
    Ok(Response::json(&json!({
        "id": digest,
        "job": "import_collection",
        "state": "completed",
        "namespace": namespace,
        "name": name,
        "version": listed.version,
        "created_at": listed.published,
        "started_at": listed.published,
        "updated_at": listed.published,
        "finished_at": listed.published,
        "messages": messages,
        "error": null,
    })))
}
