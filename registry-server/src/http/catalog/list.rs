//! Listing releases.

use serde_json::{Value, json};

use super::{query, shape};
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::Filter;
use crate::store::catalog::{Order, Wanted};

/// What is understood; everything else is passed over.
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

pub(super) fn list(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let filter = filter(request)?;
    let found = service.registry.catalog(&filter)?;
    let packages: Vec<Value> = found.iter().map(shape::package).collect();
    let mut answer = json!({ "packages": packages });
    // Only a whole page can have another one behind it. Clients go on where there is the key.
    if let Some(last) = found.last().filter(|_| found.len() == filter.limit) {
        answer["next_marker"] = last.row.id.as_str().into();
    }
    Ok(Reply::json(&answer))
}

fn filter(request: &Request) -> Result<Filter, Problem> {
    let parameters = &request.query;
    let text = |name: &str| parameters.get(name).unwrap_or_default().to_owned();
    let actor = request.actor.as_ref();
    let owner = actor.map_or("", |actor| actor.owner.as_str());
    let is_owned = query::flag(parameters, "owned");
    if is_owned && actor.is_none() {
        let detail = "whose packages `owned` means is told by a token";
        return Err(Problem::new(ProblemCode::Unauthorized, detail));
    }
    // To deploy: one's own, and what is public. To edit: one's own, and for an administrator all.
    // Who is nobody has nothing of their own, and sees what is public.
    let is_to_deploy = query::flag(parameters, "catalog");
    // Who asks for one release of their own is about to exchange it, enabled or not: clients that
    // do so cannot ask for disabled ones.
    let is_one = is_owned
        && ["fqn", "version"]
            .iter()
            .all(|name| parameters.get(name).is_some());
    let wanted = Wanted {
        package: text("fqn"),
        class: text("class_name"),
        only_enabled: !is_one && !query::flag(parameters, "include_disabled"),
        sees_all: !is_to_deploy && actor.is_some_and(crate::access::Actor::is_admin),
        sees_public: is_to_deploy || actor.is_none(),
        sees_owner: owner.to_owned(),
        owned_by: if is_owned { owner } else { "" }.to_owned(),
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
    Ok(Filter {
        wanted,
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

/// `application` as `Application`.
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
