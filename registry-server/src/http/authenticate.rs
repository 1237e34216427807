//! Finds the principal of a request from its token.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::{HeaderMap, header};
use pkgres_registry_client::protocol::Digest;

use crate::access::Principal;
use crate::problem::{Problem, ProblemCode};
use crate::registry::RegistryBackend;

/// How long a token is trusted without reading it again. On other nodes, a removed token is valid for
/// as much longer.
const TRUST_PERIOD: Duration = Duration::from_secs(2);

/// The limit of tokens in the cache.
const MAX_CACHED: usize = 10_000;

/// Authenticates requests, with a cache of principals by the digests of their secrets.
#[derive(Default)]
pub(super) struct Authenticator {
    cache: Mutex<PrincipalCache>,
}

#[derive(Default)]
struct PrincipalCache {
    principals: HashMap<Digest, (Principal, Instant)>,
    /// How often the cache was cleared because a token was removed.
    removals: u64,
}

impl PrincipalCache {
    /// Keeps a principal that was read from the database after `removals`. If a token was removed since then, it may be
    /// this one, so it is not kept.
    fn keep(&mut self, secret: Digest, principal: Principal, removals: u64) {
        if self.removals != removals {
            return;
        }
        if self.principals.len() >= MAX_CACHED {
            self.principals.clear();
        }
        self.principals.insert(secret, (principal, Instant::now()));
    }

    fn forget(&mut self) {
        self.principals.clear();
        self.removals += 1;
    }
}

impl Authenticator {
    fn cache(&self) -> MutexGuard<'_, PrincipalCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request has a credential, valid or not.
    pub(super) fn has_credential(headers: &HeaderMap) -> bool {
        headers.contains_key(header::AUTHORIZATION) || headers.contains_key("x-auth-token")
    }

    /// Whether a browser sent a request, for a page of any site. Browsers say so with every request that is not for
    /// reading.
    pub(super) fn is_from_page(headers: &HeaderMap) -> bool {
        let signs = [
            header::ORIGIN.as_str(),
            header::REFERER.as_str(),
            "sec-fetch-site",
        ];
        signs.iter().any(|name| headers.contains_key(*name))
    }

    /// The digest of the secret of a request. It comes as `Bearer`, or as `Token` from clients of Galaxy.
    ///
    /// Browsers can send a token only as a password. From then on they send it with every request, even
    /// with those that a page of another site makes, so that a password is not valid for everything.
    pub(super) fn secret(is_password_valid: bool, headers: &HeaderMap) -> Result<Digest, Problem> {
        // A proxy and this server could each use a different one.
        for name in [header::AUTHORIZATION.as_str(), "x-auth-token"] {
            if headers.get_all(name).iter().nth(1).is_some() {
                let detail = format!("a request has at most one `{name}`");
                return Err(Problem::new(ProblemCode::HeaderInvalid, detail));
            }
        }
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| {
            let (kind, secret) = value.to_str().ok()?.split_once(' ')?;
            Some((kind, secret.trim()))
        });
        let password;
        let secret = match authorization {
            Some((kind, secret))
                if kind.eq_ignore_ascii_case("bearer") || kind.eq_ignore_ascii_case("token") =>
            {
                Some(secret)
            }
            Some((kind, secret)) if is_password_valid && kind.eq_ignore_ascii_case("basic") => {
                password = password_of(secret);
                password.as_deref()
            }
            _ => None,
        };
        let secret = secret.or_else(|| headers.get("x-auth-token")?.to_str().ok());
        match secret {
            Some(secret) if !secret.is_empty() => Ok(Digest::of(secret.as_bytes())),
            _ => Err(unauthorized(
                "a token is needed: `Authorization: Bearer …` or `Token …`",
            )),
        }
    }

    /// The principal of a secret, if it is in the cache. Does not block.
    pub(super) fn cached(
        &self,
        registry: &RegistryBackend,
        secret: &Digest,
    ) -> Result<Option<Principal>, Problem> {
        match self.cache().principals.get(secret) {
            Some((principal, since)) if since.elapsed() < TRUST_PERIOD => {
                unexpired(registry, principal.clone()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The principal of a secret, from the database.
    pub(super) fn look_up(
        &self,
        registry: &RegistryBackend,
        secret: &Digest,
    ) -> Result<Principal, Problem> {
        let removals = self.cache().removals;
        let Some(principal) = registry.principal(secret)? else {
            return Err(unauthorized("there is no such token"));
        };
        self.cache().keep(*secret, principal.clone(), removals);
        unexpired(registry, principal)
    }

    /// Clears the cache, because a token was removed.
    pub(super) fn forget(&self) {
        self.cache().forget();
    }
}

/// The password of `Basic` credentials.
fn password_of(encoded: &str) -> Option<String> {
    let decoded = BASE64_STANDARD.decode(encoded).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (_, password) = text.split_once(':')?;
    Some(password.to_owned())
}

/// A principal, or an error if its token has expired.
fn unexpired(registry: &RegistryBackend, principal: Principal) -> Result<Principal, Problem> {
    let now = registry.environment.now();
    if principal.expires.is_some_and(|expires| expires <= now) {
        return Err(unauthorized("the token has expired"));
    }
    Ok(principal)
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(ProblemCode::Unauthorized, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_removed_while_it_is_looked_up_is_not_kept() {
        let mut cache = PrincipalCache::default();
        let secret = Digest::of(b"secret");
        cache.keep(secret, Principal::operator(), cache.removals);
        assert!(cache.principals.contains_key(&secret));
        let removals = cache.removals;
        cache.forget();
        cache.keep(secret, Principal::operator(), removals);
        assert!(cache.principals.is_empty());
    }
}
