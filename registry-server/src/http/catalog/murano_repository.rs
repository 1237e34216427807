//! The repository that clients of Murano import from: archives by name and spec, and bundles.
//!
//! These clients have no solver. They append the spec of a `Require` to the name, and download what the
//! address `apps/<name>.<spec>.zip` gives.

use http::StatusCode;
use pkgres_manifest::{PackageName, Spec, read_json};
use serde_json::Value;

use super::representation::{check_name, invalid_body};
use super::show;
use crate::http::checked_text::check_line;
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::digest_of;

/// The archive of the newest release for a name and a spec.
pub(super) fn app(service: &Service, request: &Request) -> Result<Response, Problem> {
    let (name, spec) = split(request.part(0));
    let name = PackageName::parse(name)
        .map_err(|error| Problem::new(ProblemCode::NameInvalid, error.to_string()))?;
    let spec = spec.map(Spec::parse).transpose();
    let spec =
        spec.map_err(|error| Problem::new(ProblemCode::VersionInvalid, error.to_string()))?;
    let record = service.registry.release_for_spec(&name, spec.as_ref())?;
    show::archive(service, request, &digest_of(&record)?, "application/zip")
}

/// Splits a name from the spec behind it: no part of a name begins like a spec.
fn split(text: &str) -> (&str, Option<&str>) {
    let begins_spec = |at: usize| {
        let next = text[at + 1..].chars().next();
        next.is_none_or(|next| !next.is_alphabetic() && next != '_')
    };
    let dots = text.match_indices('.').map(|(at, _)| at);
    match dots.into_iter().find(|at| begins_spec(*at)) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// The document of a bundle: packages that are imported together.
#[derive(serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct Bundle {
    #[serde(rename = "Packages")]
    packages: Vec<BundleEntry>,
    /// The version of the form of the document.
    #[serde(rename = "Version", default, skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
}

#[derive(serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct BundleEntry {
    #[serde(rename = "Name")]
    name: String,
    /// A spec, which clients append to the name.
    #[serde(rename = "Version", default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Where the package comes from. Clients import it from here all the same.
    #[serde(rename = "Url", default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// The longest address in a bundle, in bytes.
const MAX_URL: usize = 2048;

/// Shows a bundle.
pub(super) fn bundle(service: &Service, request: &Request) -> Result<Response, Problem> {
    let body = service.registry.bundle(request.part(0))?;
    let value: Value = read_json(body.as_bytes()).map_err(Problem::internal)?;
    Ok(Response::json(&value))
}

/// Adds or replaces a bundle.
pub(super) fn put_bundle(service: &Service, request: &Request) -> Result<Response, Problem> {
    let bundle: Bundle = request.json()?;
    if bundle.version.is_some_and(|version| version != 1) {
        return Err(invalid_body("bundles have the version 1"));
    }
    check_name(request.part(0))?;
    for listed in &bundle.packages {
        PackageName::parse(&listed.name).map_err(|error| invalid_body(error.to_string()))?;
        if let Some(version) = &listed.version {
            Spec::parse(version).map_err(|error| invalid_body(error.to_string()))?;
        }
        if let Some(url) = &listed.url {
            if url.len() > MAX_URL {
                let detail = format!("a `Url` has at most {MAX_URL} bytes");
                return Err(invalid_body(detail));
            }
            check_line("a `Url`", url)?;
        }
    }
    let body = serde_json::to_string(&bundle).map_err(Problem::internal)?;
    let is_new = service
        .registry
        .set_bundle(request.principal()?, request.part(0), &body)?;
    Ok(Response::empty(if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::NO_CONTENT
    }))
}

/// Removes a bundle.
pub(super) fn remove_bundle(service: &Service, request: &Request) -> Result<Response, Problem> {
    service
        .registry
        .remove_bundle(request.principal()?, request.part(0))?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_specs_begin() {
        for (text, name, spec) in [
            ("org.acme.Web", "org.acme.Web", None),
            ("org.acme.Web.1.2", "org.acme.Web", Some("1.2")),
            ("org.acme.Web.>=1.0 <2", "org.acme.Web", Some(">=1.0 <2")),
            ("org.acme.Web.*", "org.acme.Web", Some("*")),
            (
                "org.acme.Web.1.0.0-rc.1",
                "org.acme.Web",
                Some("1.0.0-rc.1"),
            ),
            ("org.acme._X.^1", "org.acme._X", Some("^1")),
            ("Web.", "Web", Some("")),
        ] {
            assert_eq!(split(text), (name, spec), "{text}");
        }
    }
}
