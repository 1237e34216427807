//! Publishes and yanks releases.

use std::sync::Arc;

use pkgres_manifest::{ArtifactDigest, PackageName, Version, read_json};
use reqwest::Method;

use crate::protocol::Config;
use crate::registry_error::RegistryError;

use super::HttpRegistry;
use super::error::{AttemptError, ErrorKind};
use super::request::Request;
use super::response::Reply;

/// The limit of a response, in bytes.
const MAX_RESPONSE_BYTES: u64 = 4 << 20;

/// Whether a published release is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The registry has it now.
    New,
    /// The registry had the same bytes before.
    Same,
}

/// The response of a registry to a published release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Publication {
    /// Whether the release is new.
    pub published: Published,
    /// Warnings, such as a name that is easily mistaken for another one: at most ten texts as the registry sent
    /// them, to be escaped when they are shown.
    pub warnings: Vec<String>,
}

/// The number of warnings that are kept.
const MAX_WARNINGS: usize = 10;

impl Publication {
    /// Reads a response, whose status alone confirms nothing: a proxy can answer in place of the registry. `digest` is
    /// that of the archive that was sent. Older registries send no warnings.
    fn read(
        published: Published,
        body: &[u8],
        digest: ArtifactDigest,
    ) -> Result<Self, AttemptError> {
        #[derive(serde::Deserialize)]
        struct PublishResponse {
            sha256: String,
            #[serde(default)]
            warnings: Vec<Warning>,
        }
        #[derive(serde::Deserialize)]
        struct Warning {
            detail: String,
        }
        let response: PublishResponse = read_json(body).map_err(|_| {
            let reason = "the answer is not the record of the release";
            AttemptError::new(ErrorKind::Malformed, reason)
        })?;
        if ArtifactDigest::parse(&response.sha256).ok() != Some(digest) {
            let reason = "the answer is the record of another archive";
            return Err(AttemptError::new(ErrorKind::Malformed, reason));
        }
        let details = response.warnings.into_iter().map(|warning| warning.detail);
        Ok(Self {
            published,
            warnings: details.take(MAX_WARNINGS).collect(),
        })
    }
}

impl HttpRegistry {
    /// Publishes an archive; with `allow_unsatisfiable` also if its requirements cannot be satisfied.
    ///
    /// # Errors
    ///
    /// The registry rejects the release, or cannot be reached.
    pub fn publish(
        &self,
        name: &PackageName,
        version: &Version,
        archive: Vec<u8>,
        allow_unsatisfiable: bool,
    ) -> Result<Publication, RegistryError> {
        let config = self.config_for_archive(archive.len())?;
        let query = if allow_unsatisfiable {
            "?allow_unsatisfiable=true"
        } else {
            ""
        };
        let path = format!("packages/{name}/versions/{}{query}", encoded(version));
        let digest = ArtifactDigest::of_archive(&archive);
        let body = Some((Arc::new(archive), "application/zip"));
        let request = self.request(&config, Method::PUT, &path, body)?;
        self.call(&request, |reply| match reply {
            Reply::Body { is_new, body } => {
                let published = if is_new {
                    Published::New
                } else {
                    Published::Same
                };
                Publication::read(published, &body, digest)
            }
            Reply::Unchanged | Reply::Absent => Err(unexpected_status()),
        })
    }

    /// Fails if the registry accepts no archives, or none of this many bytes. Nothing is sent.
    ///
    /// # Errors
    ///
    /// It is a mirror, the archive is too large, or it cannot be reached.
    pub fn check_accepts(&self, archive_bytes: usize) -> Result<(), RegistryError> {
        let config = self.config_for_archive(archive_bytes)?;
        self.api(&config)?;
        Ok(())
    }

    /// What the registry offers, if it accepts archives of a size.
    fn config_for_archive(&self, bytes: usize) -> Result<Config, RegistryError> {
        let config = self.config()?;
        let limit = config.limits.archive_bytes;
        if bytes as u64 <= limit {
            return Ok(config);
        }
        let reason = format!("it accepts archives of at most {limit} bytes; this one has {bytes}");
        Err(self.rejected(&reason).into())
    }

    /// Yanks a release: it stays readable, and is chosen only where it is locked, or requested exactly.
    pub fn yank(
        &self,
        name: &PackageName,
        version: &Version,
        reason: &str,
    ) -> Result<(), RegistryError> {
        let body = serde_json::json!({ "reason": reason }).to_string();
        let body = Some((Arc::new(body.into_bytes()), "application/json"));
        self.set_yanked(Method::PUT, name, version, body)
    }

    /// Undoes a yank.
    pub fn unyank(&self, name: &PackageName, version: &Version) -> Result<(), RegistryError> {
        self.set_yanked(Method::DELETE, name, version, None)
    }

    fn set_yanked(
        &self,
        method: Method,
        name: &PackageName,
        version: &Version,
        body: Option<(Arc<Vec<u8>>, &'static str)>,
    ) -> Result<(), RegistryError> {
        let config = self.config()?;
        let path = format!("packages/{name}/versions/{}/yank", encoded(version));
        let request = self.request(&config, method, &path, body)?;
        self.call(&request, |reply| match reply {
            Reply::Body { .. } => Ok(()),
            Reply::Unchanged | Reply::Absent => Err(unexpected_status()),
        })
    }

    /// The address of the API, if there is one.
    fn api<'config>(&self, config: &'config Config) -> Result<&'config str, RegistryError> {
        config.api.as_deref().ok_or_else(|| {
            self.rejected("it is a mirror, and has no API")
                .hint("use the address of the server that it was exported from")
                .into()
        })
    }

    /// A request to the API, if there is one.
    pub(super) fn request(
        &self,
        config: &Config,
        method: Method,
        path: &str,
        body: Option<(Arc<Vec<u8>>, &'static str)>,
    ) -> Result<Request, RegistryError> {
        let api = self.api(config)?;
        Ok(Request {
            method,
            body,
            ..Request::get(self.url(&format!("{api}{path}"))?, MAX_RESPONSE_BYTES)
        })
    }

    pub(super) fn call<T: Send>(
        &self,
        request: &Request,
        check: impl Fn(Reply) -> Result<T, AttemptError> + Send + Sync,
    ) -> Result<T, RegistryError> {
        let sent = self.transport.wait(self.transport.send(request, check));
        sent.map_err(RegistryError::without_cache)
    }
}

pub(super) fn unexpected_status() -> AttemptError {
    AttemptError::new(ErrorKind::Malformed, "the answer has an unexpected status")
}

/// A version as a part of a path: some servers read the `+` of build metadata as a space.
fn encoded(version: &Version) -> String {
    version.to_string().replace('+', "%2B")
}
