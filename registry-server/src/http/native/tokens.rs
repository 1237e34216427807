//! Tokens.

use std::collections::BTreeSet;

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use pkgres_registry_client::Namespace;
use serde_json::{Value, json};

use super::packages::is_owner;
use crate::access::NewToken;
use crate::access::Scope;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::service::Service;
use crate::problem::{Problem, ProblemCode};
use crate::registry::TokenView;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
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

/// For how long a token is good unless it is said, and at most.
const DAYS: (i64, i64) = (90, 366);

/// How many patterns of names a token has.
const NAMES: usize = 100;

fn wrong(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BodyInvalid, detail)
}

pub(super) fn create(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let actor = request.actor()?;
    actor.require(Scope::Tokens)?;
    let asked: Asked = request.json()?;
    let mut scopes = BTreeSet::new();
    for text in &asked.scopes {
        let known = Scope::ALL.map(Scope::as_str).join(", ");
        let scope = Scope::parse(text).ok_or_else(|| wrong(format!("scopes are {known}")))?;
        scopes.insert(scope);
    }
    if scopes.is_empty() {
        return Err(wrong("a token without scopes is good for nothing"));
    }
    let owner = asked.owner.unwrap_or_else(|| actor.owner.clone());
    if !is_owner(&owner) {
        return Err(wrong("an owner is letters, digits and @ . _ - +"));
    }
    if asked.names.len() > NAMES || asked.note.len() > 1000 {
        return Err(wrong(format!(
            "a token has at most {NAMES} names, and a note of 1000 bytes"
        )));
    }
    let mut names = Vec::new();
    for text in &asked.names {
        let namespace = Namespace::parse(text);
        names.push(namespace.map_err(|_| wrong("names are like org.acme.Web or org.acme.*"))?);
    }
    if names.is_empty() {
        names.clone_from(&actor.names);
    }
    let now = service.registry.environment.now();
    let latest = now + SignedDuration::from_hours(24 * DAYS.1);
    let expires = asked.expires.unwrap_or_else(|| {
        let usual = now + SignedDuration::from_hours(24 * DAYS.0);
        actor.expires.map_or(usual, |end| end.min(usual))
    });
    if expires <= now || expires > latest {
        return Err(wrong(format!(
            "`expires` lies ahead, at most {} days",
            DAYS.1
        )));
    }
    let new = NewToken {
        owner,
        scopes,
        names,
        note: asked.note,
        expires: Some(expires),
    };
    let (token, secret) = service.registry.create_token(actor, &new)?;
    let mut value = described(&token);
    // It is shown this once.
    value["token"] = secret.into();
    Ok(Reply::json_with(StatusCode::CREATED, &value))
}

fn described(token: &TokenView) -> Value {
    json!({
        "id": token.id,
        "owner": token.owner,
        "scopes": token.scopes,
        "names": token.names,
        "note": token.note,
        "created": token.created,
        "expires": token.expires,
    })
}

pub(super) fn list(service: &Service, request: &Request) -> Result<Reply, Problem> {
    let tokens = service.registry.tokens(request.actor()?)?;
    let tokens: Vec<Value> = tokens.iter().map(described).collect();
    Ok(Reply::json(&json!({ "tokens": tokens })))
}

pub(super) fn remove(service: &Service, request: &Request) -> Result<Reply, Problem> {
    service
        .registry
        .remove_token(request.actor()?, request.part(0))?;
    service.forget_tokens();
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

pub(super) fn whoami(_: &Service, request: &Request) -> Result<Reply, Problem> {
    let actor = request.actor()?;
    let scopes: Vec<&str> = actor.scopes.iter().map(|scope| scope.as_str()).collect();
    let names: Vec<String> = actor.names.iter().map(Namespace::to_string).collect();
    Ok(Reply::json(&json!({
        "token": actor.holder.token(),
        "owner": actor.owner,
        "scopes": scopes,
        "names": names,
        "expires": actor.expires.map(|time| time.to_string()),
    })))
}
