//! Lists and searches the releases of the catalog.

use serde_json::{Value, json};

use super::{query, representation};
use crate::http::request::Request;
use crate::http::response::Response;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::CatalogFilter;
use crate::store::catalog::{Order, RowFilter, VisibleRows};

/// The known parameters; others are ignored.
pub(super) const PARAMETERS: &[&str] = &[
    "id",
    "category",
    "tag",
    "class_name",
    "fqn",
    "name",
    "type",
    "version",
    "owned",
    "search",
    "include_disabled",
    "order_by",
    "sort_dir",
    "limit",
    "marker",
    "catalog",
];

/// Lists releases.
pub(super) fn list(service: &Service, request: &Request) -> Result<Response, Problem> {
    let filter = filter(request)?;
    // `id=in:` lists what has one of no ids.
    let parameters = &request.query;
    let is_of_nothing = [
        ("id", &filter.ids),
        ("category", &filter.categories),
        ("tag", &filter.tags),
    ]
    .iter()
    .any(|(name, values)| parameters.get(name).is_some() && values.is_empty());
    let found = if is_of_nothing {
        Vec::new()
    } else {
        service.registry.catalog(&filter)?
    };
    let packages: Vec<Value> = found.iter().map(representation::package).collect();
    let mut answer = json!({ "packages": packages });
    // Only a full page can have another one behind it. Clients continue if the key is present.
    if let Some(last) = found.last().filter(|_| found.len() == filter.limit) {
        answer["next_marker"] = last.row.id.as_str().into();
    }
    Ok(Response::json(&answer))
}

/// The search that a request is for.
fn filter(request: &Request) -> Result<CatalogFilter, Problem> {
    let parameters = &request.query;
    let text = |name: &str| {
        let text = parameters.get(name).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let principal = request.principal.as_ref();
    let is_owned = query::flag(parameters, "owned");
    if is_owned && principal.is_none() {
        let detail = "`owned` needs a token, which says whose packages are meant";
        return Err(Problem::new(ProblemCode::Unauthorized, detail));
    }
    // To deploy: public packages and packages of the principal. To edit: packages of the principal, or all
    // for an administrator. Without a token: public packages.
    let is_to_deploy = query::flag(parameters, "catalog");
    // A client that requests one release of its own is about to replace it, enabled or not, but cannot
    // request disabled releases.
    let is_one = is_owned
        && ["fqn", "version"]
            .iter()
            .all(|name| parameters.get(name).is_some());
    let rows = RowFilter {
        package: text("fqn"),
        class: text("class_name"),
        only_enabled: !is_one && !query::flag(parameters, "include_disabled"),
        visible: match principal {
            None => VisibleRows::Public,
            Some(principal) if is_to_deploy => {
                VisibleRows::PublicAndOfOwner(principal.owner.clone())
            }
            Some(principal) if principal.is_admin() => VisibleRows::All,
            Some(principal) => VisibleRows::OfOwner(principal.owner.clone()),
        },
        owned_by: principal
            .filter(|_| is_owned)
            .map(|principal| principal.owner.clone()),
    };
    let order = match parameters.get("order_by") {
        Some("fqn") => Order::Package,
        Some("created") => Order::Created,
        _ => Order::Name,
    };
    let words = parameters.get("search").unwrap_or_default();
    let words = words
        .split([';', ','])
        .map(|word| word.trim().to_lowercase())
        .filter(|word| !word.is_empty());
    Ok(CatalogFilter {
        rows,
        principal: request.principal.clone(),
        ids: query::list(parameters, "id"),
        categories: query::list(parameters, "category"),
        tags: query::list(parameters, "tag"),
        name: parameters.get("name").map(str::to_owned),
        kind: parameters.get("type").map(title_case),
        versions: query::versions(parameters)?,
        words: words.collect(),
        order,
        is_descending: parameters.get("sort_dir") == Some("desc"),
        limit: query::limit(parameters)?,
        marker: parameters.get("marker").map(str::to_owned),
    })
}

/// A text with a capital: `application` as `Application`.
fn title_case(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first
            .to_uppercase()
            .chain(characters.as_str().to_lowercase().chars())
            .collect(),
        None => String::new(),
    }
}
