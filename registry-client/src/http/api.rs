//! Publishing and withdrawing releases.

use std::rc::Rc;

use pkgres_manifest::{PackageName, Version};
use reqwest::Method;

use crate::protocol::Config;
use crate::registry::RegistryError;

use super::HttpRegistry;
use super::answer::Reply;
use super::ask::Ask;
use super::fault::{Fault, FaultKind};

/// The largest answer that is taken, in bytes.
const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// What became of a release that was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// The registry has it now.
    New,
    /// The registry had the same bytes before.
    Same,
}

/// What a registry says to a release that was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// What became of it.
    pub published: Published,
    /// What may be amiss though it was published, such as a name that is easily taken for another
    /// one: at most ten texts as the registry sent them, to be escaped when they are shown.
    pub warnings: Vec<String>,
}

/// How many warnings are taken over from the answer to a publish.
const MAX_WARNINGS: usize = 10;

impl Publication {
    /// Reads an answer. Registries that know nothing of warnings have none.
    fn read(published: Published, body: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Answer {
            #[serde(default)]
            warnings: Vec<Warning>,
        }
        #[derive(serde::Deserialize)]
        struct Warning {
            detail: String,
        }
        // That it is published is said by the status: whatever else is in the answer cannot undo it.
        let answer = serde_json::from_slice(body).unwrap_or(Answer {
            warnings: Vec::new(),
        });
        let details = answer.warnings.into_iter().map(|warning| warning.detail);
        Self {
            published,
            warnings: details.take(MAX_WARNINGS).collect(),
        }
    }
}

impl HttpRegistry {
    /// Publishes an archive. With `allow_unsatisfiable` also if its requirements cannot be met.
    pub fn publish(
        &self,
        name: &PackageName,
        version: &Version,
        archive: Vec<u8>,
        allow_unsatisfiable: bool,
    ) -> Result<Publication, RegistryError> {
        let config = self.config()?;
        if archive.len() as u64 > config.limits.archive_bytes {
            let limit = config.limits.archive_bytes;
            return Err(self.refused(&format!(
                "it takes archives of at most {limit} bytes; this one has {}",
                archive.len()
            )));
        }
        let query = if allow_unsatisfiable {
            "?allow_unsatisfiable=true"
        } else {
            ""
        };
        let path = format!("packages/{name}/versions/{}{query}", encoded(version));
        let body = Some((Rc::new(archive), "application/zip"));
        let ask = Ask {
            newest: true,
            ..self.ask(&config, Method::PUT, &path, body)?
        };
        self.call(&ask, |reply| match reply {
            Reply::Found { is_new: true, body } => Ok(Publication::read(Published::New, &body)),
            Reply::Found {
                is_new: false,
                body,
            } => Ok(Publication::read(Published::Same, &body)),
            Reply::Unchanged | Reply::Absent => Err(no_answer()),
        })
    }

    /// Withdraws a release: it stays readable, and is not chosen anew.
    pub fn yank(
        &self,
        name: &PackageName,
        version: &Version,
        reason: &str,
    ) -> Result<(), RegistryError> {
        let body = serde_json::json!({ "reason": reason }).to_string();
        let body = Some((Rc::new(body.into_bytes()), "application/json"));
        self.set_yanked(Method::PUT, name, version, body)
    }

    /// Takes back that a release was withdrawn.
    pub fn unyank(&self, name: &PackageName, version: &Version) -> Result<(), RegistryError> {
        self.set_yanked(Method::DELETE, name, version, None)
    }

    fn set_yanked(
        &self,
        method: Method,
        name: &PackageName,
        version: &Version,
        body: Option<(Rc<Vec<u8>>, &'static str)>,
    ) -> Result<(), RegistryError> {
        let config = self.config()?;
        let path = format!("packages/{name}/versions/{}/yank", encoded(version));
        let ask = self.ask(&config, method, &path, body)?;
        self.call(&ask, |reply| match reply {
            Reply::Found { .. } => Ok(()),
            Reply::Unchanged | Reply::Absent => Err(no_answer()),
        })
    }

    /// Who the registry takes the token for: the owner, if it says.
    pub fn whoami(&self) -> Result<Option<String>, RegistryError> {
        #[derive(serde::Deserialize)]
        struct Answer {
            owner: Option<String>,
        }
        let config = self.config()?;
        let ask = self.ask(&config, Method::GET, "whoami", None)?;
        self.call(&ask, |reply| {
            let answer: Answer = serde_json::from_slice(&reply.body()?)
                .map_err(|error| Fault::new(FaultKind::Malformed, error.to_string()))?;
            Ok(answer.owner)
        })
    }

    /// A request to the API, if there is one.
    fn ask(
        &self,
        config: &Config,
        method: Method,
        path: &str,
        body: Option<(Rc<Vec<u8>>, &'static str)>,
    ) -> Result<Ask, RegistryError> {
        let Some(api) = &config.api else {
            return Err(self.refused("it is a mirror, and takes no releases"));
        };
        Ok(Ask {
            method,
            url: self.url(&format!("{api}{path}"))?,
            at_hand: None,
            body,
            limit: MAX_ANSWER_BYTES,
            newest: false,
        })
    }

    fn call<T>(
        &self,
        ask: &Ask,
        check: impl Fn(Reply) -> Result<T, Fault>,
    ) -> Result<T, RegistryError> {
        let sent = self.transport.wait(self.transport.send(ask, check));
        sent.map_err(super::without_hints)
    }
}

fn no_answer() -> Fault {
    Fault::new(FaultKind::Malformed, "the answer makes no sense here")
}

/// A version as a part of a path: the `+` of build metadata stands for a space in some servers.
fn encoded(version: &Version) -> String {
    version.to_string().replace('+', "%2B")
}
