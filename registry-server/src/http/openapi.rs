//! The description of the API, which is made from the table of routes: the two cannot disagree.

use serde_json::{Map, Value, json};

use super::microversion::Microversion;
use super::pages;
use super::route::{Access, Handler, Route, Surface};
use crate::problem::ProblemCode;

/// The description of surfaces and pages, as `OpenAPI` 3.1.
pub(crate) fn document(surfaces: &[&Surface]) -> Value {
    let mut paths = Map::new();
    for surface in surfaces {
        for route in surface.routes {
            let mut methods = Map::new();
            for handler in route.handlers {
                // Of several handlers for one method, the newest is described.
                let operation = operation(route, handler, surface.has_microversions);
                methods.insert(method(handler), operation);
            }
            paths.insert(address(route), methods.into());
        }
    }
    for route in pages::ROUTES {
        let methods = paths.entry(address(route)).or_insert_with(|| json!({}));
        for handler in route.handlers {
            let operation = &mut methods[method(handler)];
            if operation.is_null() {
                *operation = page(route, handler);
            } else {
                // One path, with the page for clients that prefer HTML.
                operation["responses"]["2XX"]["content"][handler.media_type] = json!({});
            }
        }
    }
    let codes: Vec<&str> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "pkgres registry",
            "version": Microversion::NEWEST.to_string(),
            "description": "A registry of class packages. The header `OpenStack-API-Version: pkgres X.Y` requests a microversion. Paths with the tag `pages` are for people: pages may change at any time, and are not for programs.",
        },
        "tags": [{ "name": PAGES, "description": "Pages for people. They are not part of the API." }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
            },
            "schemas": {
                "Errors": {
                    "type": "object",
                    "required": ["errors"],
                    "properties": { "errors": { "type": "array", "items": {
                        "type": "object",
                        "required": ["status", "code", "title", "detail", "request_id"],
                        "properties": {
                            "status": { "type": "integer" },
                            "code": { "type": "string", "enum": codes },
                            "title": { "type": "string" },
                            "detail": { "type": "string" },
                            "request_id": { "type": "string" },
                        },
                    } } },
                },
            },
        },
    })
}

/// The tag of pages.
const PAGES: &str = "pages";

fn address(route: &Route) -> String {
    format!("/{}", route.path)
}

fn method(handler: &Handler) -> String {
    handler.method.as_str().to_lowercase()
}

/// The description of a page. For clients that prefer HTML, its errors are pages as well.
fn page(route: &Route, handler: &Handler) -> Value {
    let mut operation = operation(route, handler, false);
    operation["tags"] = json!([PAGES]);
    operation["responses"]["default"]["content"][pages::HTML] = json!({});
    operation
}

fn operation(route: &Route, handler: &Handler, has_microversions: bool) -> Value {
    let mut parameters: Vec<Value> = names(route.path)
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
        })
        .collect();
    parameters.extend(
        handler
            .query
            .iter()
            .map(|name| json!({ "name": name, "in": "query", "schema": { "type": "string" } })),
    );
    let mut operation = json!({
        "summary": handler.summary,
        "parameters": parameters,
        "responses": {
            "2XX": { "description": "done", "content": { handler.media_type: {} } },
            "default": {
                "description": "an error",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Errors" } } },
            },
        },
    });
    if let Some(kind) = handler.body.media_type() {
        operation["requestBody"] = json!({ "required": true, "content": { kind: {} } });
    }
    match handler.access {
        Access::Public => {}
        Access::Reader | Access::OptionalToken => {
            operation["security"] = json!([{}, { "token": [] }]);
        }
        Access::Token => operation["security"] = json!([{ "token": [] }]),
    }
    if has_microversions {
        operation["x-since"] = handler.since.to_string().into();
    }
    operation
}

/// The names of the parameters of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::dispatch::SURFACES;
    use super::super::route;
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
                assert!(
                    described(found).contains(handler.media_type),
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
                assert!(
                    described(found).contains(handler.media_type),
                    "{}",
                    route.path
                );
                if !is_both {
                    assert_eq!(found["summary"], handler.summary);
                    assert_eq!(found["tags"], json!([PAGES]));
                    let errors = &found["responses"]["default"]["content"];
                    assert!(errors[pages::HTML].is_object(), "{}", route.path);
                }
            }
        }
        // Nothing else is described.
        let described: BTreeSet<String> = paths.keys().cloned().collect();
        let seen: BTreeSet<String> = seen.into_iter().map(|path| format!("/{path}")).collect();
        assert_eq!(described, seen);
    }

    /// The media types of the responses of an operation.
    fn described(operation: &Value) -> BTreeSet<&str> {
        let content = operation["responses"]["2XX"]["content"].as_object();
        content
            .into_iter()
            .flatten()
            .map(|(kind, _)| kind.as_str())
            .collect()
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
