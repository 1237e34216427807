//! Finding out who sends a request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::{HeaderMap, Method, header};
use pkgres_registry_client::protocol::Digest;

use crate::access::Actor;
use crate::problem::{Problem, ProblemCode};
use crate::registry::RegistryBackend;

/// For how long a token is believed without looking again. A token that is removed is good for
/// that much longer on other nodes.
const BELIEVED: Duration = Duration::from_secs(2);

/// How many tokens are remembered.
const REMEMBERED: usize = 10_000;

/// Knows tokens by the digests of their secrets.
#[derive(Default)]
pub(crate) struct Identifier {
    known: Mutex<HashMap<Digest, (Actor, Instant)>>,
}

impl Identifier {
    /// Whether a request says who sends it, be it right or wrong.
    pub(crate) fn is_told(headers: &HeaderMap) -> bool {
        headers.contains_key(header::AUTHORIZATION) || headers.contains_key("x-auth-token")
    }

    /// The digest of the secret that a request has.
    ///
    /// Browsers can only send a token as a password. They send it by themselves from then on, also
    /// when a page from elsewhere makes them ask, so that it is good for reading alone.
    pub(crate) fn secret(method: &Method, headers: &HeaderMap) -> Result<Digest, Problem> {
        let is_reading = matches!(*method, Method::GET | Method::HEAD);
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| {
            let (kind, secret) = value.to_str().ok()?.split_once(' ')?;
            Some((kind, secret.trim()))
        });
        let password;
        let given = match authorization {
            Some((kind, secret)) if kind.eq_ignore_ascii_case("bearer") => Some(secret),
            Some((kind, secret)) if is_reading && kind.eq_ignore_ascii_case("basic") => {
                password = password_of(secret);
                password.as_deref()
            }
            _ => None,
        };
        let given = given.or_else(|| headers.get("x-auth-token")?.to_str().ok());
        match given {
            Some(secret) if !secret.is_empty() => Ok(Digest::of(secret.as_bytes())),
            _ => Err(refused("a token is needed: `Authorization: Bearer …`")),
        }
    }

    /// Whose token it is, if that was looked up a moment ago. Does not block.
    pub(crate) fn known(
        &self,
        registry: &RegistryBackend,
        secret: &Digest,
    ) -> Result<Option<Actor>, Problem> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(secret) {
            Some((actor, since)) if since.elapsed() < BELIEVED => {
                valid(registry, actor.clone()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Looks up whose token it is.
    pub(crate) fn find(
        &self,
        registry: &RegistryBackend,
        secret: &Digest,
    ) -> Result<Actor, Problem> {
        let Some(actor) = registry.actor(secret)? else {
            return Err(refused("there is no such token"));
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(*secret, (actor.clone(), Instant::now()));
        drop(known);
        valid(registry, actor)
    }

    /// Forgets what is known, as after a token was removed.
    pub(crate) fn forget(&self) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// The password of `Basic` credentials.
fn password_of(encoded: &str) -> Option<String> {
    let decoded = BASE64_STANDARD.decode(encoded).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (_, password) = text.split_once(':')?;
    Some(password.to_owned())
}

fn valid(registry: &RegistryBackend, actor: Actor) -> Result<Actor, Problem> {
    let now = registry.environment.now();
    if actor.expires.is_some_and(|expires| expires <= now) {
        return Err(refused("the token has expired"));
    }
    Ok(actor)
}

fn refused(detail: &str) -> Problem {
    Problem::new(ProblemCode::Unauthorized, detail)
}
