//! The description of all addresses, made from the table that requests are answered by: the two
//! cannot disagree.

use serde_json::{Map, Value, json};

use super::Microversion;
use super::dispatch::{SURFACES, expected};
use super::route::{Access, Handler, Route};
use crate::problem::ProblemCode;

/// The description, as `OpenAPI` 3.1.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for surface in SURFACES {
        for route in surface.routes {
            let mut methods = Map::new();
            for handler in route.handlers {
                // Of several for one method, the newest is described.
                let method = handler.method.as_str().to_lowercase();
                methods.insert(method, operation(route, handler, surface.has_microversions));
            }
            paths.insert(format!("/{}", route.path), methods.into());
        }
    }
    let codes: Vec<&str> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "pkgres registry",
            "version": Microversion::NEWEST.to_string(),
            "description": "A registry of class packages. Microversions are asked for by the header `OpenStack-API-Version: pkgres X.Y`.",
        },
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
            "2XX": { "description": "done", "content": { handler.gives: {} } },
            "default": {
                "description": "an error",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Errors" } } },
            },
        },
    });
    if let Some(kind) = expected(handler.takes) {
        operation["requestBody"] = json!({ "required": true, "content": { kind: {} } });
    }
    match handler.access {
        Access::Everyone => {}
        Access::Readers | Access::Known => operation["security"] = json!([{}, { "token": [] }]),
        Access::Holders => operation["security"] = json!([{ "token": [] }]),
    }
    if has_microversions {
        operation["x-since"] = handler.since.to_string().into();
    }
    operation
}

/// The names in braces of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_address_is_described_once() {
        let document = document();
        let paths = document["paths"].as_object().expect("an object");
        let routes = SURFACES.iter().flat_map(|surface| surface.routes);
        let mut seen = BTreeSet::new();
        for route in routes {
            assert!(seen.insert(route.path), "{} is there twice", route.path);
            for handler in route.handlers {
                assert!(!handler.summary.is_empty(), "{}", route.path);
                let method = handler.method.as_str().to_lowercase();
                let path = format!("/{}", route.path);
                assert_eq!(paths[&path][&method]["summary"], handler.summary);
            }
        }
    }

    #[test]
    fn no_two_handlers_of_an_address_overlap() {
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
                let spoken = |version| {
                    Microversion::HISTORY
                        .iter()
                        .any(|(known, _)| *known == version)
                };
                assert!(handler.since <= handler.until, "{}", route.path);
                assert!(
                    spoken(handler.since) && spoken(handler.until),
                    "{}",
                    route.path
                );
            }
        }
    }

    #[test]
    fn surfaces_are_told_apart_by_their_prefixes() {
        for surface in SURFACES {
            for route in surface.routes {
                let (found, _) = super::super::route::find(SURFACES, route.path);
                assert!(std::ptr::eq(found, *surface), "{}", route.path);
            }
        }
    }
}
