//! Describes one operation for `OpenAPI`: its parameters, its body, and every response that it can have.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Map, Value, json};

use crate::http::microversion::{self, Microversion};
use crate::http::pages;
use crate::http::route::{Access, AnswerBody, BodyKind, Handler, Route, Surface};
use crate::problem::ProblemCode;

/// Whose operation is described: that of a surface, or a page.
#[derive(Clone, Copy)]
pub(super) enum Owner<'surface> {
    Surface(&'surface Surface),
    Pages,
}

/// The description of an operation.
pub(super) fn operation(route: &Route, handler: &Handler, owner: Owner<'_>) -> Value {
    let has_microversions = match owner {
        Owner::Surface(surface) => surface.has_microversions,
        Owner::Pages => false,
    };
    let mut operation = json!({
        "operationId": identifier(route, handler, owner),
        "summary": handler.summary,
        "parameters": parameters(route, handler, has_microversions),
        "responses": responses(route, handler, owner),
        "security": security(handler),
    });
    if let Some(kind) = handler.body.media_type() {
        let content = json!({ kind: body(handler.body) });
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    if has_microversions {
        operation["x-since"] = handler.since.to_string().into();
    }
    if matches!(owner, Owner::Pages) {
        operation["tags"] = json!([super::PAGES]);
    }
    operation
}

/// The content of a body of a request.
fn body(kind: BodyKind) -> Value {
    match kind {
        BodyKind::Json(schema) => json!({ "schema": reference(schema) }),
        BodyKind::Batch => json!({ "schema": reference("BatchRequest") }),
        BodyKind::CatalogPatch => json!({ "schema": reference("CatalogPatch") }),
        BodyKind::Archive => json!({ "schema": { "type": "string", "format": "binary" } }),
        BodyKind::Form => json!({
            "schema": reference("CatalogUpload"),
            "encoding": {
                "__metadata__": { "contentType": "application/json" },
                "package": { "contentType": "application/zip" },
            },
        }),
        BodyKind::CollectionForm => json!({ "schema": reference("CollectionUpload") }),
        BodyKind::None => json!({}),
    }
}

/// A reference to a schema.
fn reference(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}

/// The name of an operation for programs that are generated from the description.
fn identifier(route: &Route, handler: &Handler, owner: Owner<'_>) -> String {
    let mut words = vec![handler.method.as_str().to_lowercase()];
    if matches!(owner, Owner::Pages) {
        words.push("page".to_owned());
    }
    let is_separator = |character: char| !character.is_ascii_alphanumeric();
    let segments = route.path.split(is_separator);
    words.extend(
        segments
            .filter(|segment| !segment.is_empty())
            .map(str::to_owned),
    );
    if route.path.is_empty() {
        words.push("base".to_owned());
    } else if route.path.ends_with('/') {
        words.push("slash".to_owned());
    }
    words.join("_")
}

fn parameters(route: &Route, handler: &Handler, has_microversions: bool) -> Vec<Value> {
    let mut parameters: Vec<Value> = names(route.path)
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
        })
        .collect();
    let is_list = |name: &str| handler.has_open_query && LISTS.contains(&name);
    parameters.extend(handler.query.iter().map(|name| {
        let schema = if is_list(name) {
            json!({ "type": "array", "items": { "type": "string" } })
        } else {
            parameter(name)
        };
        json!({ "name": name, "in": "query", "schema": schema })
    }));
    if has_microversions {
        let name = microversion::HEADER;
        parameters.push(json!({
            "name": name,
            "in": "header",
            "description": "The microversion, as `pkgres X.Y`; the oldest one without it",
            "schema": { "type": "string" },
            "example": format!("pkgres {}", Microversion::NEWEST),
        }));
    }
    parameters
}

/// Parameters of the catalog that can be repeated.
const LISTS: &[&str] = &["id", "category", "tag", "version", "sort_keys"];

/// The schema of a parameter of a query.
fn parameter(name: &str) -> Value {
    match name {
        "limit" => json!({ "type": "integer", "minimum": 1 }),
        "offset" | "since" => json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX >> 1 }),
        "allow_unsatisfiable" | "owned" | "include_disabled" | "catalog" => {
            json!({ "type": "boolean" })
        }
        "sort_dir" => json!({ "type": "string", "enum": ["asc", "desc"] }),
        _ => json!({ "type": "string" }),
    }
}

/// The names of the parameters of a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// The ways to send a token. A browser can send it as a password, which permits little more than reading.
fn security(handler: &Handler) -> Value {
    let mut ways = vec![json!({ "token": [] }), json!({ "tokenHeader": [] })];
    if handler.method == Method::GET || handler.access == Access::TokenOrPassword {
        ways.push(json!({ "password": [] }));
    }
    match handler.access {
        Access::Public => return json!([]),
        Access::Reader | Access::OptionalToken => ways.insert(0, json!({})),
        Access::Token | Access::TokenOrPassword => {}
    }
    ways.into()
}

fn responses(route: &Route, handler: &Handler, owner: Owner<'_>) -> Value {
    let mut responses = Map::new();
    for (status, content) in handler.answers {
        responses.insert(status.to_string(), success(handler, *status, *content));
    }
    if handler.method == Method::GET {
        let response = json!({ "description": "The client has it", "headers": headers(&[]) });
        responses.insert("304".to_owned(), response);
    }
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in problems(route, handler, owner) {
        let codes = by_status.entry(code.status()).or_default();
        if !codes.contains(&code.as_str()) {
            codes.push(code.as_str());
        }
    }
    for (status, codes) in by_status {
        let mut content = Map::new();
        match owner {
            Owner::Surface(surface) => {
                let schema = json!({ "schema": reference(surface.error_schema) });
                content.insert("application/json".to_owned(), schema);
            }
            Owner::Pages => {
                let schema = json!({ "schema": reference("Errors") });
                content.insert("application/json".to_owned(), schema);
                content.insert(pages::HTML.to_owned(), text());
            }
        }
        let quoted: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
        let extra: &[&str] = match status {
            401 => &["WWW-Authenticate"],
            416 => &["Content-Range"],
            503 => &["Retry-After"],
            _ => &[],
        };
        let response = json!({
            "description": quoted.join(", "),
            "headers": headers(extra),
            "content": content,
            "x-codes": codes,
        });
        responses.insert(status.to_string(), response);
    }
    responses.into()
}

/// A response of success.
fn success(handler: &Handler, status: u16, content: AnswerBody) -> Value {
    let description = http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or_default();
    let extra: &[&str] = match status {
        201 if handler.method == Method::POST => &["Location"],
        206 => &["Content-Range"],
        308 => &["Location"],
        _ => &[],
    };
    let mut response = json!({ "description": description, "headers": headers(extra) });
    let described = match content {
        AnswerBody::Nothing => return response,
        AnswerBody::Json(schema) => json!({ "schema": reference(schema) }),
        AnswerBody::Raw if handler.media_type.starts_with("text/") => text(),
        AnswerBody::Raw => json!({ "schema": { "type": "string", "format": "binary" } }),
    };
    response["content"] = json!({ handler.media_type: described });
    response
}

/// A body that is text.
fn text() -> Value {
    json!({ "schema": { "type": "string" } })
}

/// The headers of a response: those of every response, and others.
fn headers(others: &[&str]) -> Value {
    let mut headers = Map::new();
    for name in ["X-OpenStack-Request-Id"].iter().chain(others) {
        let header = json!({ "$ref": format!("#/components/headers/{name}") });
        headers.insert((*name).to_owned(), header);
    }
    headers.into()
}

/// The problems that a request can have: those that the dispatcher finds by the table, and those of the handler.
fn problems(route: &Route, handler: &Handler, owner: Owner<'_>) -> Vec<ProblemCode> {
    use ProblemCode as Code;

    let mut codes = vec![
        Code::HeaderInvalid,
        Code::QueryInvalid,
        Code::NotAcceptable,
        Code::PreconditionFailed,
        Code::TransferCodingUnsupported,
        Code::Internal,
        Code::Unavailable,
    ];
    if route.path.contains('{') {
        codes.push(Code::AddressInvalid);
    }
    if let Owner::Surface(surface) = owner
        && surface.has_microversions
    {
        codes.extend([Code::MicroversionInvalid, Code::MicroversionUnknown]);
        let is_always_there = route
            .handlers
            .iter()
            .any(|other| other.method == handler.method && other.since == Microversion::OLDEST);
        if !is_always_there {
            codes.push(Code::NoSuchAddress);
        }
    }
    if handler.access != Access::Public {
        codes.extend([Code::Unauthorized, Code::Forbidden]);
    }
    if handler.body != BodyKind::None {
        codes.extend([
            Code::BodyInvalid,
            Code::BodyIncomplete,
            Code::BodyTooSlow,
            Code::BodyTooLarge,
            Code::MediaTypeUnsupported,
        ]);
    }
    codes.extend(handler.problems);
    codes
}
