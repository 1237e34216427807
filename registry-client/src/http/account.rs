//! Accounts of a registry: the owner of a token, tokens, and the owners of packages.

use std::sync::Arc;

use pkgres_manifest::{PackageName, read_json};
use reqwest::Method;
use serde_json::json;

use crate::protocol::{CreatedToken, Identity, Owners, TokenDescription, TokenList};
use crate::registry_error::{RegistryError, RequestErrorKind};

use super::HttpRegistry;
use super::error::{AttemptError, ErrorKind};
use super::publish::unexpected_status;
use super::request::Request;
use super::response::Reply;

/// The most names of owners or tokens that are kept of a response.
const MAX_ENTRIES: usize = 10_000;

/// A token that is to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct TokenRequest {
    /// The scopes that it permits; at least one.
    pub scopes: Vec<String>,
    /// Its owner; `None` for that of the creating token, which needs the scope `admin` to name another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The names and namespaces that it is limited to; empty for those of the creating token.
    pub names: Vec<String>,
    /// A note that the list of tokens shows.
    pub note: String,
    /// When it expires, as RFC 3339; `None` for the default of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

impl HttpRegistry {
    /// The owner of the token, and what it permits.
    ///
    /// # Errors
    ///
    /// The registry rejects the token, or cannot be reached.
    pub fn whoami(&self) -> Result<Identity, RegistryError> {
        let config = self.config()?;
        let request = self.request(&config, Method::GET, "whoami", None)?;
        self.call(&request, |reply| read(&reply.body()?))
    }

    /// The tokens of the owner.
    ///
    /// # Errors
    ///
    /// The token has no right to list them, or the registry cannot be reached.
    pub fn tokens(&self) -> Result<Vec<TokenDescription>, RegistryError> {
        let config = self.config()?;
        let request = self.request(&config, Method::GET, "tokens", None)?;
        let mut tokens = self.call(&request, |reply| {
            let tokens: TokenList = read(&reply.body()?)?;
            Ok(tokens.tokens)
        })?;
        tokens.truncate(MAX_ENTRIES);
        Ok(tokens)
    }

    /// Creates a token; returns its description and its secret, which the registry never shows again.
    ///
    /// # Errors
    ///
    /// The token would permit more than the one of this client, or the registry cannot be reached.
    pub fn create_token(
        &self,
        new: &TokenRequest,
    ) -> Result<(TokenDescription, String), RegistryError> {
        let config = self.config()?;
        let request = Request {
            creates: true,
            ..self.request(
                &config,
                Method::POST,
                "tokens",
                Some(json_body(&json!(new))),
            )?
        };
        self.call(&request, |reply| {
            let created: CreatedToken = read(&reply.body()?)?;
            Ok((created.description, created.token))
        })
    }

    /// Revokes a token.
    ///
    /// # Errors
    ///
    /// There is no such token of the owner, or the registry cannot be reached.
    pub fn revoke_token(&self, id: &str) -> Result<(), RegistryError> {
        // An identifier becomes a part of a path.
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        if id.is_empty() || !id.chars().all(is_plain) {
            let rejected = self.rejected("an id of a token is letters, digits, `-` and `_`");
            return Err(rejected.into());
        }
        let config = self.config()?;
        let request = self.request(&config, Method::DELETE, &format!("tokens/{id}"), None)?;
        self.call(&request, |reply| match reply {
            Reply::Body { .. } => Ok(()),
            Reply::Unchanged | Reply::Absent => Err(unexpected_status()),
        })
    }

    /// The owners of a package, or `None` if the registry does not have the package.
    ///
    /// # Errors
    ///
    /// The registry cannot be reached.
    pub fn owners(&self, package: &PackageName) -> Result<Option<Owners>, RegistryError> {
        self.read_api(&format!("packages/{package}"), None)
    }

    /// Replaces the owners of a package, unless they changed since `generation`. Returns the new ones.
    ///
    /// # Errors
    ///
    /// The token does not permit it, the owners changed meanwhile, or the registry cannot be reached.
    pub fn set_owners(&self, package: &PackageName, new: &Owners) -> Result<Owners, RegistryError> {
        let config = self.config()?;
        let path = format!("packages/{package}/owners");
        let request = self.request(&config, Method::PUT, &path, Some(json_body(&json!(new))))?;
        let changed = self.call(&request, |reply| read(&reply.body()?));
        let rejected = match changed {
            Err(
                error @ RegistryError::Request {
                    kind: RequestErrorKind::Rejected,
                    ..
                },
            ) => error,
            other => return other,
        };
        // If the first answer was lost, the repeated request meets the change that the first one made.
        match self.owners(package) {
            Ok(Some(current)) if current.owners == new.owners => Ok(current),
            _ => Err(rejected),
        }
    }

    /// Reads a document of the API; `None` if there is no such resource. `version` is the microversion that it needs,
    /// if the oldest is not enough.
    pub(super) fn read_api<T: serde::de::DeserializeOwned + Send>(
        &self,
        path: &str,
        version: Option<&'static str>,
    ) -> Result<Option<T>, RegistryError> {
        let config = self.config()?;
        let request = Request {
            api_version: version,
            ..self.request(&config, Method::GET, path, None)?
        };
        self.call(&request, |reply| match reply {
            Reply::Absent => Ok(None),
            reply => read(&reply.body()?).map(Some),
        })
    }
}

/// Reads a response.
pub(super) fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, AttemptError> {
    read_json(body).map_err(|error| AttemptError::new(ErrorKind::Malformed, error.to_string()))
}

fn json_body(body: &serde_json::Value) -> (Arc<Vec<u8>>, &'static str) {
    (Arc::new(body.to_string().into_bytes()), "application/json")
}
