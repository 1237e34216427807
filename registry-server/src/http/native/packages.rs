//! Packages.

use std::collections::BTreeSet;

use http::header;
use serde_json::{Value, json};

use crate::http::conditional::http_date;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::{PackageView, Search};

/// How many packages are in an answer unless another number is asked for, and at most.
const LIMIT: (u64, u64) = (20, 1000);

pub(super) fn search(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let text = |name: &str| request.query.get(name).unwrap_or_default().to_owned();
    let search = Search {
        text: text("q"),
        class: text("class"),
        owner: text("owner"),
        marker: text("marker"),
        limit: request.query.number("limit", LIMIT.0, 1..=LIMIT.1)?,
    };
    let found = service.registry.search(&search)?;
    // Only a whole page can have another one behind it.
    let next = found.last().filter(|_| found.len() as u64 == search.limit);
    let next = next.map(|package| package.name.clone());
    let packages: Vec<Value> = found
        .into_iter()
        .map(|package| {
            json!({
                "name": package.name,
                "title": package.title,
                "description": package.description,
                "updated": package.updated,
            })
        })
        .collect();
    Ok(Reply::json(
        &json!({ "packages": packages, "next_marker": next }),
    ))
}

pub(super) fn show(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let package = service.registry.package(&request.package(0)?)?;
    let reply = Reply::json(&described(&package));
    let updated = package.updated.parse().ok().and_then(http_date);
    Ok(match updated {
        Some(updated) => reply.header(header::LAST_MODIFIED, updated),
        None => reply,
    })
}

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

/// How many owners a package has, and how long their names are.
const OWNERS: (usize, usize) = (100, 200);

pub(super) fn set_owners(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let name = request.package(0)?;
    let asked: NewOwners = request.json()?;
    let is_name = |owner: &String| is_owner(owner);
    if asked.owners.is_empty() || asked.owners.len() > OWNERS.0 || !asked.owners.iter().all(is_name)
    {
        let detail = format!(
            "a package has 1 to {} owners, each of letters, digits and @ . _ - +",
            OWNERS.0
        );
        return Err(Problem::new(ProblemCode::BodyInvalid, detail));
    }
    let registry = &service.registry;
    registry.set_owners(request.actor()?, &name, asked.generation, &asked.owners)?;
    show(service, request)
}

/// Whether a text can be the name of an owner.
pub(super) fn is_owner(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= OWNERS.1
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"@._-+".contains(&byte))
}

pub(super) fn dependants(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let name = request.package(0)?;
    let packages = service.registry.dependants(&name)?;
    Ok(Reply::json(
        &json!({ "package": name, "dependants": packages }),
    ))
}
