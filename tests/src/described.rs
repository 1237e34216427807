//! Comparing responses with the description of the API that the server gives of itself.
//!
//! Every response has to be one that the description has: its status, its media type, its headers and its body. Bodies
//! may not even have members that their schemas do not name, which the description permits so that later versions can
//! add some.

use jsonschema::Validator;
use serde_json::{Value, json};

/// The description of an API, as `OpenAPI` 3.1.
pub struct Description(Value);

/// A response to a request, and what of the request decides what is expected.
pub struct Exchange<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// The path of the request, with its query.
    pub path: &'a str,
    /// The status of the response.
    pub status: u16,
    /// The headers of the response, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body of the response.
    pub body: &'a [u8],
}

impl Exchange<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }
}

impl Description {
    /// A description from the document that a server has at `v1/openapi.json`.
    ///
    /// # Panics
    ///
    /// If it is not JSON.
    pub fn parse(text: &[u8]) -> Self {
        let mut document: Value = serde_json::from_slice(text).expect("a description in JSON");
        close(&mut document["components"]["schemas"]);
        Self(document)
    }

    /// Checks a response.
    ///
    /// # Panics
    ///
    /// If the description has no such response.
    pub fn check(&self, exchange: &Exchange<'_>) {
        if let Err(reason) = self.compare(exchange) {
            let Exchange {
                method,
                path,
                status,
                headers,
                body,
            } = exchange;
            let body = String::from_utf8_lossy(&body[..body.len().min(1000)]);
            panic!(
                "{method} {path} is described otherwise: {reason}\n{status} {headers:?}\n{body}"
            );
        }
    }

    fn compare(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let Exchange { method, status, .. } = *exchange;
        let id = exchange
            .header("x-openstack-request-id")
            .unwrap_or_default();
        if !id.starts_with("req-") {
            return Err("it has no request id".to_owned());
        }
        if method == "OPTIONS" {
            let expected = [204, 400, 404, 406];
            return require(expected.contains(&status), "of OPTIONS");
        }
        let path = exchange.path.split(['?', '#']).next().unwrap_or_default();
        let Some(methods) = self.methods(path) else {
            // Errors of other paths have the form of the surface, and no description.
            let expected = [400, 404, 406];
            return require(
                expected.contains(&status),
                "of a path that is not described",
            );
        };
        // Methods are case-sensitive (RFC 9110, 9.1).
        let operation = match method {
            "HEAD" => &methods["get"],
            _ if method.bytes().any(|byte| byte.is_ascii_lowercase()) => &Value::Null,
            _ => &methods[method.to_lowercase()],
        };
        if operation.is_null() {
            let expected = [400, 404, 405, 406];
            return require(
                expected.contains(&status),
                "of a method that is not described",
            );
        }
        let response = &operation["responses"][status.to_string()];
        if response.is_null() {
            return Err("it has no such status".to_owned());
        }
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = self.resolved(header);
            let is_required = header["required"] == true;
            if is_required && exchange.header(name).is_none() {
                return Err(format!("it has no header {name}"));
            }
        }
        if method == "HEAD" {
            return require(exchange.body.is_empty(), "of HEAD");
        }
        self.compare_content(exchange, response)
    }

    /// Compares the media type and the body of a response.
    fn compare_content(&self, exchange: &Exchange<'_>, response: &Value) -> Result<(), String> {
        let kind = exchange.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let Some(contents) = response["content"].as_object() else {
            return require(
                kind.is_empty() && exchange.body.is_empty(),
                "without a body",
            );
        };
        let Some(content) = contents.get(kind) else {
            return Err(format!("it has no content of the type `{kind}`"));
        };
        if kind != "application/json" {
            return Ok(());
        }
        let body = serde_json::from_slice(exchange.body).map_err(|error| error.to_string())?;
        self.validator(&content["schema"])
            .validate(&body)
            .map_err(|error| format!("{error} at {}", error.instance_path()))?;
        // The code of an error, in either of its forms.
        let code = [&body["errors"][0]["code"], &body["error"]["type"]];
        let codes = response["x-codes"].as_array();
        match codes {
            Some(codes) if !code.iter().any(|code| codes.contains(code)) => {
                Err("it has no such code".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The operations of a path.
    fn methods(&self, path: &str) -> Option<&Value> {
        let paths = self.0["paths"].as_object()?;
        // A path without parameters comes first.
        let exact = paths.get(path);
        exact.or_else(|| {
            let mut paths = paths.iter();
            let (_, methods) = paths.find(|(pattern, _)| matches(pattern, path))?;
            Some(methods)
        })
    }

    /// What a reference leads to, or the value itself.
    fn resolved<'value>(&'value self, value: &'value Value) -> &'value Value {
        let reference = value["$ref"].as_str();
        let place = reference.and_then(|reference| reference.strip_prefix('#'));
        place
            .and_then(|place| self.0.pointer(place))
            .unwrap_or(value)
    }

    fn validator(&self, schema: &Value) -> Validator {
        let mut root = schema.clone();
        root["components"] = json!({ "schemas": self.0["components"]["schemas"] });
        jsonschema::validator_for(&root).expect("a schema")
    }
}

/// Forbids other members in each object whose members are named.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                members
                    .entry("additionalProperties")
                    .or_insert(Value::Bool(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn require(is_expected: bool, what: &str) -> Result<(), String> {
    is_expected
        .then_some(())
        .ok_or_else(|| format!("this is no response {what}"))
}

/// Whether a path has a pattern, as `/packages/{name}.json` has.
fn matches(pattern: &str, path: &str) -> bool {
    let (mut patterns, mut segments) = (pattern.split('/'), path.split('/'));
    loop {
        let is_match = match (patterns.next(), segments.next()) {
            (None, None) => return true,
            (Some(pattern), Some(segment)) => match pattern.strip_prefix('{') {
                None => pattern == segment,
                Some(rest) => {
                    let suffix = rest.split_once('}').map_or("", |(_, suffix)| suffix);
                    segment.len() > suffix.len() && segment.ends_with(suffix)
                }
            },
            _ => false,
        };
        if !is_match {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(path: &str, status: u16, kind: &str, body: &str) -> Result<(), String> {
        let text = br##"{
            "paths": { "/a/{name}.json": { "get": { "responses": {
                "200": { "headers": {}, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/A" } } } },
                "404": { "content": { "application/json": { "schema": { "type": "object" } } }, "x-codes": ["gone"] }
            } } } },
            "components": { "schemas": { "A": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } } } }
        }"##;
        let headers = [("x-openstack-request-id", "req-1"), ("content-type", kind)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Description::parse(text).compare(&Exchange {
            method: "GET",
            path,
            status,
            headers: headers.to_vec(),
            body: body.as_bytes(),
        })
    }

    #[test]
    fn responses_differ_by_status_type_body_and_code() {
        let json = "application/json";
        assert_eq!(compared("/a/b.json?c", 200, json, r#"{"n":1}"#), Ok(()));
        assert_eq!(compared("/b", 404, json, "{}"), Ok(()));
        let gone = r#"{"errors":[{"code":"gone"}]}"#;
        assert_eq!(compared("/a/b.json", 404, json, gone), Ok(()));
        for (path, status, kind, body) in [
            ("/a/b.json", 201, json, r#"{"n":1}"#),
            ("/a/b.json", 200, "text/html", r#"{"n":1}"#),
            ("/a/b.json", 200, json, r#"{"n":"1"}"#),
            ("/a/b.json", 200, json, "{}"),
            ("/a/b.json", 200, json, r#"{"n":1,"m":2}"#),
            ("/a/b.json", 404, json, r#"{"errors":[{"code":"other"}]}"#),
            ("/b", 200, json, "{}"),
        ] {
            assert!(
                compared(path, status, kind, body).is_err(),
                "{path} {status} {kind} {body}"
            );
        }
    }
}
