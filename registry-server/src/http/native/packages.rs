//! The routes of the native API about packages and their owners.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::http::beginning::{MAX_LISTED_CHARACTERS, beginning};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::search_words;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::PackageView;
use crate::store::packages::{MAX_WORDS, Search};

/// The default and the greatest number of packages in a response.
const LIMIT: (u64, u64) = (20, 1000);

/// Searches packages for words and phrases.
pub(super) fn search(service: &Service, request: &Request) -> Result<Response, Problem> {
    let text = |name: &str| request.query.get(name).unwrap_or_default().to_owned();
    let search = Search {
        words: search_words::search_words(&text("q")),
        class: text("class"),
        owner: text("owner"),
        marker: text("marker"),
        limit: request.query.number("limit", LIMIT.0, 1..=LIMIT.1)?,
    };
    if search.words.len() > MAX_WORDS {
        let detail = format!("`q` may have {MAX_WORDS} words");
        return Err(Problem::new(ProblemCode::QueryInvalid, detail));
    }
    let found = service.registry.search(&search)?;
    // Only a full page can have another one behind it.
    let next = found.last().filter(|_| found.len() as u64 == search.limit);
    let next = next.map(|package| package.name.clone());
    let packages: Vec<Value> = found
        .into_iter()
        .map(|package| {
            json!({
                "name": package.name,
                "title": package.title,
                "description": beginning(&package.description, MAX_LISTED_CHARACTERS),
                "updated": package.updated,
            })
        })
        .collect();
    Ok(Response::json(
        &json!({ "packages": packages, "next_marker": next }),
    ))
}

/// Shows a package.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let package = service.registry.package(&request.package(0)?)?;
    let response = Response::json(&described(&package));
    Ok(response.modified(&package.updated))
}

/// A package as JSON.
fn described(package: &PackageView) -> Value {
    let versions: Vec<Value> = package
        .versions
        .iter()
        .map(|version| {
            json!({
                "version": version.record.version,
                "sha256": version.record.digest,
                "size": version.record.size,
                "published": version.record.published,
                "yanked": version.record.yanked,
                "yank_reason": version.yank_reason,
            })
        })
        .collect();
    json!({
        "name": package.name,
        "title": package.title,
        "description": package.description,
        "generation": package.generation,
        "owners": package.owners,
        "updated": package.updated,
        "versions": versions,
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NewOwners {
    generation: u64,
    owners: BTreeSet<String>,
}

/// Replaces the owners of a package.
pub(super) fn set_owners(service: &Service, request: &Request) -> Result<Response, Problem> {
    let name = request.package(0)?;
    let new: NewOwners = request.json()?;
    let registry = &service.registry;
    registry.set_owners(request.principal()?, &name, new.generation, &new.owners)?;
    show(service, request)
}

/// Lists the packages with a release that requires a package.
pub(super) fn dependants(service: &Service, request: &Request) -> Result<Response, Problem> {
    let name = request.package(0)?;
    let packages = service.registry.dependants(&name)?;
    Ok(Response::json(
        &json!({ "package": name, "dependants": packages }),
    ))
}
