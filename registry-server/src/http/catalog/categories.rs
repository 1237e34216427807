//! Lists, shows, adds and removes the categories of the catalog.

use http::StatusCode;
use pkgres_manifest::diagnostic::Escaped;
use serde_json::{Value, json};

use super::query::invalid_query;
use super::representation::{check_name, invalid_body, time};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::Problem;
use crate::registry::{CategoryView, MAX_NAME};

/// A category as JSON.
fn described(view: &CategoryView) -> Value {
    json!({
        "id": view.row.id,
        "name": view.row.name,
        "created": time(&view.row.created),
        "updated": time(&view.row.updated),
        "package_count": view.releases.len(),
    })
}

/// The parameters of a list of categories. Others are an error here, unlike elsewhere in the catalog.
pub(super) const PARAMETERS: &[&str] = &["sort_keys", "sort_dir", "limit", "marker"];

/// Lists categories.
pub(super) fn list(service: &Service, request: &Request) -> Result<Response, Problem> {
    let query = &request.query;
    query.require_known(PARAMETERS)?;
    let keys = query.all("sort_keys").flat_map(|keys| keys.split(','));
    let mut keys: Vec<&str> = keys.filter(|key| !key.is_empty()).collect();
    if keys.is_empty() {
        keys.push("name");
    }
    let mut views = service.registry.categories(request.principal.as_ref())?;
    // The id decides between equal values, so that pages neither overlap nor have gaps.
    views.sort_by(|one, two| one.row.id.cmp(&two.row.id));
    for key in keys.iter().rev() {
        match *key {
            "id" => views.sort_by(|one, two| one.row.id.cmp(&two.row.id)),
            "name" => views.sort_by(|one, two| one.row.name.cmp(&two.row.name)),
            "created" => views.sort_by(|one, two| one.row.created.cmp(&two.row.created)),
            "updated" => views.sort_by(|one, two| one.row.updated.cmp(&two.row.updated)),
            "package_count" => views.sort_by_key(|view| view.releases.len()),
            other => {
                let other = Escaped::shortened(other);
                return Err(invalid_query(format!(
                    "categories are not sorted by `{other}`"
                )));
            }
        }
    }
    match query.get("sort_dir") {
        None | Some("asc") => {}
        Some("desc") => views.reverse(),
        Some(_) => return Err(invalid_query("`sort_dir` is asc or desc")),
    }
    if let Some(marker) = query.get("marker") {
        let at = views.iter().position(|view| view.row.id == marker);
        let at = at.ok_or_else(|| invalid_query("there is no category with the id of `marker`"))?;
        views.drain(..=at);
    }
    let mut next_marker = None;
    if query.get("limit").is_some() {
        let limit = super::query::limit(query)?;
        // Only a full page can have another one behind it.
        if views.len() >= limit {
            views.truncate(limit);
            next_marker = views.last().map(|view| view.row.id.clone());
        }
    }
    let categories: Vec<Value> = views.iter().map(described).collect();
    let mut answer = json!({ "categories": categories });
    if let Some(marker) = next_marker {
        answer["next_marker"] = marker.into();
    }
    Ok(Response::json(&answer))
}

/// Shows a category with its releases.
pub(super) fn show(service: &Service, request: &Request) -> Result<Response, Problem> {
    let principal = request.principal.as_ref();
    let view = service.registry.category(principal, request.part(0))?;
    let mut answer = described(&view);
    let packages = view.releases.iter().map(|release| {
        json!({
            "id": release.id,
            "name": release.name,
            "fully_qualified_name": release.package,
        })
    });
    answer["packages"] = packages.collect();
    Ok(Response::json(&answer))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCategory {
    name: String,
}

/// Adds a category.
pub(super) fn create(service: &Service, request: &Request) -> Result<Response, Problem> {
    let NewCategory { name } = request.json()?;
    if name.chars().count() > MAX_NAME {
        // The words of Murano, which its clients look for.
        let detail = format!("Category name should be {MAX_NAME} characters maximum");
        return Err(invalid_body(detail));
    }
    check_name(&name)?;
    if name.trim() != name {
        return Err(invalid_body("a name neither begins nor ends with a blank"));
    }
    let view = service.registry.add_category(request.principal()?, &name)?;
    Ok(Response::json(&described(&view)))
}

/// Removes a category.
pub(super) fn remove(service: &Service, request: &Request) -> Result<Response, Problem> {
    service
        .registry
        .remove_category(request.principal()?, request.part(0))?;
    Ok(Response::empty(StatusCode::OK))
}
