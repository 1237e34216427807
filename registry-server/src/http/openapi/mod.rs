//! Generates the `OpenAPI` description from the table of routes, so that the two cannot disagree.

mod operation;

use serde_json::{Map, Value, json};

use super::microversion::Microversion;
use super::pages;
use super::route::{Handler, Route, Surface};
use crate::problem::ProblemCode;
use operation::{Owner, operation};

/// The description of surfaces and pages, as `OpenAPI` 3.1.
pub(crate) fn document(surfaces: &[&Surface]) -> Value {
    let mut paths = Map::new();
    for surface in surfaces {
        for route in surface.routes {
            let mut methods = Map::new();
            for handler in route.handlers {
                // Of several handlers for one method, the newest is described.
                let operation = operation(route, handler, Owner::Surface(surface));
                methods.insert(method(handler), operation);
            }
            paths.insert(address(route), methods.into());
        }
    }
    for route in pages::ROUTES {
        let methods = paths.entry(address(route)).or_insert_with(|| json!({}));
        for handler in route.handlers {
            let page = operation(route, handler, Owner::Pages);
            let operation = &mut methods[method(handler)];
            if operation.is_null() {
                *operation = page;
            } else {
                // One path, with the page for clients that prefer HTML.
                add_page(operation, &page);
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "pkgres registry",
            "version": Microversion::NEWEST.to_string(),
            "description": DESCRIPTION,
        },
        // Relative to this document, because no node knows the address that a proxy has for it.
        "servers": [{ "url": "..", "description": "The registry that this document comes from" }],
        "tags": [{ "name": PAGES, "description": "Pages for people. They are not part of the API." }],
        "paths": paths,
        "components": components(),
    })
}

/// What holds for all operations.
const DESCRIPTION: &str = "A registry of class packages and Ansible collections. The header `OpenStack-API-Version: pkgres X.Y` requests a \
    microversion. Every path with GET supports HEAD, and every path supports OPTIONS. Other methods \
    are answered with 405. Responses with `ETag` or `Last-Modified` can be revalidated, and every method heeds \
    preconditions. Paths with the tag `pages` are for people: pages may change at any time, and are not for programs.";

/// The tag of pages.
const PAGES: &str = "pages";

/// The schemas of bodies; the enumeration of codes comes from the program.
const SCHEMAS: &str = include_str!("schemas.json");

fn components() -> Value {
    let mut schemas: Value = serde_json::from_str(SCHEMAS).expect("the schemas are JSON");
    let codes: Vec<&str> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
    schemas["ErrorCode"] = json!({ "type": "string", "enum": codes });
    let text = json!({ "type": "string" });
    json!({
        "securitySchemes": {
            "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "`Token` instead of `Bearer` means the same, for clients of Galaxy",
            },
            "tokenHeader": { "type": "apiKey", "in": "header", "name": "X-Auth-Token" },
            "password": {
                "type": "http",
                "scheme": "basic",
                "description": "A token as the password, with any user name; for reading, and for collections",
            },
        },
        "headers": {
            "X-OpenStack-Request-Id": {
                "required": true,
                "description": "The id of the request, which the log of the server has, too",
                "schema": { "$ref": "#/components/schemas/RequestId" },
            },
            "Location": { "required": true, "description": "The path of what was created, relative to that of the request", "schema": text },
            "Content-Range": { "required": true, "description": "The range, and the length of the whole", "schema": text },
            "WWW-Authenticate": { "required": true, "description": "How to send a token", "schema": text },
            "Retry-After": { "required": true, "description": "How many seconds to wait", "schema": text },
        },
        "schemas": schemas,
    })
}

fn address(route: &Route) -> String {
    format!("/{}", route.path)
}

fn method(handler: &Handler) -> String {
    handler.method.as_str().to_lowercase()
}

/// Adds the media types of a page to the operation of the same path.
fn add_page(operation: &mut Value, page: &Value) {
    let responses = page["responses"].as_object().into_iter().flatten();
    for (status, response) in responses {
        let known = &mut operation["responses"][status];
        if known.is_null() {
            *known = response.clone();
            continue;
        }
        for (kind, content) in response["content"].as_object().into_iter().flatten() {
            known["content"][kind] = content.clone();
        }
    }
    operation["security"] = page["security"].clone();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::dispatch::SURFACES;
    use super::super::route::{self, AnswerBody};
    use super::*;

    #[test]
    fn every_route_is_described_once() {
        let document = document(SURFACES);
        let paths = document["paths"].as_object().expect("an object");
        let routes = SURFACES.iter().flat_map(|surface| surface.routes);
        let mut seen = BTreeSet::new();
        for route in routes {
            assert!(seen.insert(route.path), "{} is there twice", route.path);
            for handler in route.handlers {
                assert!(!handler.summary.is_empty(), "{}", route.path);
                let found = &paths[&address(route)][&method(handler)];
                // The newest version is described.
                let newest = route.handler(&handler.method, Microversion::NEWEST);
                assert_eq!(found["summary"], newest.unwrap_or(handler).summary);
                assert!(found["tags"].is_null(), "{}", route.path);
                assert_eq!(
                    described(found).contains(handler.media_type),
                    has_body(handler),
                    "{}",
                    route.path
                );
            }
        }
        for route in pages::ROUTES {
            let is_both = !seen.insert(route.path);
            assert_eq!(is_both, route.path.is_empty(), "{}", route.path);
            for handler in route.handlers {
                let found = &paths[&address(route)][&method(handler)];
                assert_eq!(
                    described(found).contains(handler.media_type),
                    has_body(handler),
                    "{}",
                    route.path
                );
                if !is_both {
                    assert_eq!(found["summary"], handler.summary);
                    assert_eq!(found["tags"], json!([PAGES]));
                    let errors = &found["responses"]["500"]["content"];
                    assert!(errors[pages::HTML].is_object(), "{}", route.path);
                }
            }
        }
        // Nothing else is described.
        let described: BTreeSet<String> = paths.keys().cloned().collect();
        let seen: BTreeSet<String> = seen.into_iter().map(|path| format!("/{path}")).collect();
        assert_eq!(described, seen);
    }

    fn has_body(handler: &Handler) -> bool {
        let mut contents = handler.answers.iter().map(|(_, content)| *content);
        contents.any(|content| content != AnswerBody::Nothing)
    }

    /// The media types of the responses of success of an operation.
    fn described(operation: &Value) -> BTreeSet<&str> {
        let responses = operation["responses"].as_object().into_iter().flatten();
        responses
            .filter(|(status, _)| status.starts_with('2'))
            .filter_map(|(_, response)| response["content"].as_object())
            .flatten()
            .map(|(kind, _)| kind.as_str())
            .collect()
    }

    #[test]
    fn operations_have_names_of_their_own_and_every_reference_leads_somewhere() {
        let document = document(SURFACES);
        let mut names = BTreeSet::new();
        for methods in document["paths"].as_object().expect("an object").values() {
            for operation in methods.as_object().expect("an object").values() {
                let name = operation["operationId"].as_str().expect("a name");
                assert!(names.insert(name), "{name} is there twice");
            }
        }
        let mut used = BTreeSet::new();
        references(&document, &mut used);
        for reference in &used {
            let place = reference.trim_start_matches('#');
            assert!(document.pointer(place).is_some(), "{reference}");
        }
        // No schema is left over.
        for name in document["components"]["schemas"]
            .as_object()
            .expect("an object")
            .keys()
        {
            let reference = format!("#/components/schemas/{name}");
            assert!(used.contains(&*reference), "{name} is not used");
        }
    }

    fn references<'document>(value: &'document Value, found: &mut BTreeSet<&'document str>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn no_two_handlers_of_a_route_overlap() {
        for route in SURFACES.iter().flat_map(|surface| surface.routes) {
            for (version, _) in Microversion::HISTORY {
                let mut methods = BTreeSet::new();
                for handler in route
                    .handlers
                    .iter()
                    .filter(|handler| handler.is_in(*version))
                {
                    let is_new = methods.insert(handler.method.as_str());
                    assert!(is_new, "{} {} in {version}", handler.method, route.path);
                }
            }
            for handler in route.handlers {
                let supported = |version| {
                    Microversion::HISTORY
                        .iter()
                        .any(|(known, _)| *known == version)
                };
                assert!(handler.since <= handler.until, "{}", route.path);
                assert!(
                    supported(handler.since) && supported(handler.until),
                    "{}",
                    route.path
                );
            }
        }
    }

    #[test]
    fn surfaces_differ_in_their_prefixes() {
        for surface in SURFACES {
            for route in surface.routes {
                let (found, _) = route::find(SURFACES, route.path);
                assert!(std::ptr::eq(found, *surface), "{}", route.path);
            }
        }
    }
}
