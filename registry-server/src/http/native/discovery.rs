//! The versions of the API.

use http::header::{self, HeaderValue};
use serde_json::json;

use crate::http::Microversion;
use crate::http::reply::Reply;

/// What the base itself says, to everyone: where which versions are. The address is relative, so
/// that nobody has to know what proxies call the server.
pub(super) fn versions() -> Reply {
    Reply::json(&json!({
        "versions": [{
            "id": "v1.0",
            "status": "CURRENT",
            "min_version": Microversion::OLDEST.to_string(),
            "max_version": Microversion::NEWEST.to_string(),
            "links": [{ "rel": "self", "href": "v1/" }, { "rel": "index", "href": "index/config.json" }],
        }],
    }))
    // Who prefers HTML gets a page instead.
    .header(header::VARY, HeaderValue::from_static("accept"))
}
