//! The routes of the native API about tokens.

use std::collections::BTreeSet;

use http::StatusCode;
use http::header::{self, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use pkgres_registry_client::Namespace;
use pkgres_registry_client::protocol::{CreatedToken, Identity, TokenList};
use serde_json::json;

use crate::access::{NewToken, Scope, is_owner};
use crate::http::checked_text::check_lines;
use crate::http::request::Request;
use crate::http::response::{NO_STORE, Response};
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRequest {
    scopes: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    expires: Option<Timestamp>,
}

/// The default and the greatest number of days for which a token is valid.
const DAYS: (i64, i64) = (90, 366);

/// The limit of names of a token.
const MAX_NAMES: usize = 100;

/// The limit of the note of a token, in bytes.
const MAX_NOTE: usize = 1000;

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BodyInvalid, detail)
}

/// Creates a token.
pub(super) fn create(service: &Service, request: &Request) -> Result<Response, Problem> {
    let principal = request.principal()?;
    principal.require(Scope::Tokens)?;
    let token: TokenRequest = request.json()?;
    let mut scopes = BTreeSet::new();
    for text in &token.scopes {
        let scope = Scope::parse(text).ok_or_else(|| {
            let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
            invalid(format!("scopes are {}", known.join(", ")))
        })?;
        scopes.insert(scope);
    }
    if scopes.is_empty() {
        return Err(invalid("a token without scopes permits nothing"));
    }
    let owner = token.owner.unwrap_or_else(|| principal.owner.clone());
    if !is_owner(&owner) {
        return Err(invalid("an owner is letters, digits and @ . _ - +"));
    }
    if token.names.len() > MAX_NAMES || token.note.len() > MAX_NOTE {
        return Err(invalid(format!(
            "a token has at most {MAX_NAMES} names, and a note of {MAX_NOTE} bytes"
        )));
    }
    check_lines("`note`", &token.note)?;
    let mut names = Vec::new();
    for text in &token.names {
        let namespace = Namespace::parse(text);
        let name = namespace.map_err(|_| invalid("names are like org.acme.Web or org.acme.*"))?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.clone_from(&principal.names);
    }
    let now = service.registry.environment.now();
    let latest = now + SignedDuration::from_hours(24 * DAYS.1);
    let expires = token.expires.unwrap_or_else(|| {
        let default = now + SignedDuration::from_hours(24 * DAYS.0);
        principal.expires.map_or(default, |end| end.min(default))
    });
    if expires <= now || expires > latest {
        return Err(invalid(format!(
            "`expires` has to be in the future, at most {} days",
            DAYS.1
        )));
    }
    let new = NewToken::new(owner, scopes)
        .with_names(names)
        .with_note(token.note)
        .with_expiry(Some(expires));
    let (created, secret) = service.registry.create_token(principal, &new)?;
    // Relative, because no node knows the address that a proxy has for it.
    let location = HeaderValue::from_str(&format!("tokens/{}", created.id));
    let location = location.map_err(Problem::internal)?;
    // The secret is shown only here.
    let value = json!(CreatedToken {
        description: created,
        token: secret,
    });
    Ok(Response::json_with(StatusCode::CREATED, &value)
        .header(header::LOCATION, location)
        .header(header::CACHE_CONTROL, NO_STORE))
}

/// Lists tokens.
pub(super) fn list(service: &Service, request: &Request) -> Result<Response, Problem> {
    let tokens = service.registry.tokens(request.principal()?)?;
    Ok(Response::json(&json!(TokenList { tokens })))
}

/// Removes a token.
pub(super) fn remove(service: &Service, request: &Request) -> Result<Response, Problem> {
    service
        .registry
        .remove_token(request.principal()?, request.part(0))?;
    service.forget_tokens();
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Shows the owner and the rights of the token.
pub(super) fn whoami(_: &Service, request: &Request) -> Result<Response, Problem> {
    let principal = request.principal()?;
    let scopes = principal.scopes.iter();
    let identity = Identity {
        token: principal.credential.token().map(str::to_owned),
        owner: Some(principal.owner.clone()),
        scopes: scopes.map(|scope| scope.as_str().to_owned()).collect(),
        names: principal.names.iter().map(Namespace::to_string).collect(),
        expires: principal.expires.map(|time| time.to_string()),
    };
    Ok(Response::json(&json!(identity)))
}
