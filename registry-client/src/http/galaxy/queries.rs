//! Questions to a server: the address of its API, the releases of a collection, and their requirements.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::Escaped;
use reqwest::Method;
use url::Url;

use super::super::credential::{Credential, TokenExchange};
use super::super::credential_sources::checked;
use super::super::error::{AttemptError, RequestError};
use super::super::request::Request;
use super::super::response::Reply;
use super::GalaxyRegistry;
use super::cache::{KnownCollection, KnownRelease};
use super::documents::{
    CollectionDocument, ExchangedToken, ListedVersion, ServerDocument, VersionList, VersionPage,
    described_release, joined, malformed, parse,
};

/// The largest document about a server or a collection, in bytes.
const MAX_SMALL_BYTES: u64 = 4 << 20;

/// The largest page of a list, and the largest description of a release, in bytes. Servers describe every module.
const MAX_BYTES: u64 = 32 << 20;

/// The number of collections that are read at once, each with several requests.
const COLLECTIONS_AT_ONCE: usize = 4;

impl GalaxyRegistry {
    /// Reads collections from the server; `None` for those that it does not have.
    pub(super) async fn fetch_collections(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<KnownCollection>>, RequestError> {
        let api = self.api().await?;
        let api = &api;
        stream::iter(names.to_vec())
            .map(|name| self.fetch_collection(api, name))
            .buffered(COLLECTIONS_AT_ONCE)
            .try_collect()
            .await
    }

    /// The address of version 3 of the API, which the root of the server names, or else `api/` below it.
    async fn api(&self) -> Result<Url, RequestError> {
        if let Some(api) = self.api.get() {
            return Ok(api.clone());
        }
        self.exchange_token().await?;
        let root = self.transport.address.url().clone();
        let below = self.join(&root, "api/")?;
        let mut api = None;
        for (address, is_last) in [(root, false), (below, true)] {
            let request = Request::get(address.clone(), MAX_SMALL_BYTES);
            let read = |reply: Reply| match reply {
                Reply::Body { body, .. } => match ServerDocument::parse(&body) {
                    Ok(document) => Ok(Some(document)),
                    // The root may be a page for people.
                    Err(_) if !is_last => Ok(None),
                    Err(error) => Err(malformed(format!("the versions of its API: {error}"))),
                },
                _ => Ok(None),
            };
            let found = self.transport.send(&request, read).await?;
            let named = found.map(|document| document.api(&address)).transpose();
            api = named
                .map_err(|reason| self.failed(malformed(reason)))?
                .flatten();
            if api.is_some() {
                break;
            }
        }
        let Some(api) = api else {
            let reason = "neither it nor `api/` below it names the versions of a Galaxy API; \
                          is this the address of a Galaxy server?";
            return Err(self.failed(malformed(reason)));
        };
        Ok(self.api.get_or_init(|| api).clone())
    }

    /// Exchanges the token, if it does not authenticate requests itself.
    async fn exchange_token(&self) -> Result<(), RequestError> {
        let Some(Credential::Exchanged { token, exchange }) = self.transport.credential() else {
            return Ok(());
        };
        if self.transport.exchanged.get().is_some() {
            return Ok(());
        }
        let TokenExchange { url, client_id } = exchange;
        let url = Url::parse(url).map_err(|error| {
            let shown = Escaped::shortened(url);
            self.failed(malformed(format!("`{shown}` is no address: {error}")))
        })?;
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "refresh_token")
            .append_pair("client_id", client_id)
            .append_pair("refresh_token", token.reveal())
            .finish();
        let mut request = Request::get(url, MAX_SMALL_BYTES);
        request.method = Method::POST;
        let body = Arc::new(form.into_bytes());
        request.body = Some((body, "application/x-www-form-urlencoded"));
        let read = |reply: Reply| {
            let answer: ExchangedToken = parse(&reply.body()?, "the answer to a token")?;
            checked(&answer.access_token).map_err(|error| malformed(error.to_string()))
        };
        let token = self.transport.send(&request, read).await;
        let token = token.map_err(RequestError::of_token_exchange)?;
        let _ = self.transport.exchanged.set(token);
        Ok(())
    }

    /// Requests what every run begins with, which a token has to permit.
    pub(super) async fn fetch_api(&self) -> Result<(), RequestError> {
        self.api().await.map(|_| ())
    }

    async fn fetch_collection(
        &self,
        api: &Url,
        name: PackageName,
    ) -> Result<Option<KnownCollection>, RequestError> {
        let name = &name;
        let collection = self.collection_address(api, name)?;
        let request = Request::get(collection.clone(), MAX_SMALL_BYTES);
        let read = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => {
                let document: CollectionDocument = parse(&reply.body()?, "the collection")?;
                Ok(Some(document))
            }
        };
        let Some(document) = self.transport.send(&request, read).await? else {
            return Ok(None);
        };
        let known = self.cached_collection(name);
        if let Some(known) = &known
            && known.updated_at.is_some()
            && known.updated_at == document.updated_at
        {
            return Ok(Some(known.clone()));
        }
        let listed = self.fetch_list(&collection).await?;
        let mut before: BTreeMap<String, KnownRelease> = known
            .into_iter()
            .flat_map(|known| known.releases)
            .map(|release| (release.version.clone(), release))
            .collect();
        let releases = listed.into_iter().map(|listed| {
            let stamp = listed.stamp();
            // A release does not change, but a server may replace it.
            let unchanged = before
                .remove(&listed.version)
                .filter(|release| !stamp.is_empty() && release.stamp == stamp);
            async {
                match unchanged {
                    Some(release) => Ok(release),
                    None => self.fetch_release(&collection, name, listed).await,
                }
            }
        });
        let at_once = (self.transport.options.concurrency / COLLECTIONS_AT_ONCE).max(1);
        let releases = stream::iter(releases).buffered(at_once).try_collect();
        let collection = KnownCollection {
            updated_at: document.updated_at,
            releases: releases.await?,
        };
        if let Some(cache) = &self.cache {
            cache.store_collection(name, &collection);
        }
        Ok(Some(collection))
    }

    /// Reads all pages of the list of releases.
    async fn fetch_list(&self, collection: &Url) -> Result<Vec<ListedVersion>, RequestError> {
        let failed = |reason: String| self.failed(malformed(reason));
        let mut list = VersionList::of(collection).map_err(failed)?;
        while let Some(page) = list.next_page() {
            let request = Request::get(page.clone(), MAX_BYTES);
            let read = |reply: Reply| VersionPage::parse(&reply.body()?).map_err(malformed);
            let page = self.transport.send(&request, read).await?;
            list.add(page).map_err(failed)?;
        }
        Ok(list.into_releases())
    }

    /// Reads what the server says of a release.
    async fn fetch_release(
        &self,
        collection: &Url,
        name: &PackageName,
        listed: ListedVersion,
    ) -> Result<KnownRelease, RequestError> {
        let stamp = listed.stamp();
        let version = listed.version;
        // What is no version is not part of an address.
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || ".-+".contains(character);
        let description = if version.is_empty() || !version.chars().all(is_plain) {
            Err(format!(
                "`{}` is not a version",
                Escaped::shortened(&version)
            ))
        } else {
            let address = self.join(collection, &format!("versions/{version}/"))?;
            let request = Request::get(address, MAX_BYTES);
            let read = |reply: Reply| match reply {
                Reply::Absent => Ok(Err(
                    "it is listed, and the server does not have it".to_owned()
                )),
                reply => {
                    let bytes = reply.body()?;
                    let limits = &self.read_options.limits;
                    Ok(described_release(name, &version, &bytes, limits))
                }
            };
            self.transport.send(&request, read).await?
        };
        Ok(KnownRelease {
            version,
            stamp,
            description,
        })
    }

    /// Reads what the server says of one release; `None` if it does not have it.
    pub(super) async fn fetch_one_release(
        &self,
        name: &PackageName,
        version: &str,
    ) -> Result<Option<KnownRelease>, RequestError> {
        let api = self.api().await?;
        let collection = self.collection_address(&api, name)?;
        let address = self.join(&collection, &format!("versions/{version}/"))?;
        let request = Request::get(address, MAX_BYTES);
        let read = |reply: Reply| match reply {
            Reply::Absent => Ok(None),
            reply => {
                let bytes = reply.body()?;
                let limits = &self.read_options.limits;
                Ok(Some(described_release(name, version, &bytes, limits)))
            }
        };
        let found = self.transport.send(&request, read).await?;
        Ok(found.map(|description| KnownRelease {
            version: version.to_owned(),
            stamp: String::new(),
            description,
        }))
    }

    fn collection_address(&self, api: &Url, name: &PackageName) -> Result<Url, RequestError> {
        let path = name.as_str().replacen('.', "/", 1);
        self.join(api, &format!("collections/{path}/"))
    }

    /// An address that is absolute, or relative to another one.
    pub(super) fn join(&self, base: &Url, relative: &str) -> Result<Url, RequestError> {
        joined(base, relative).map_err(|reason| self.failed(malformed(reason)))
    }

    /// The error of a server as a whole.
    pub(super) fn failed(&self, error: AttemptError) -> RequestError {
        RequestError::unsent(error, format!("GET {}", self.transport.address))
    }
}
