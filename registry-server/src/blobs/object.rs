//! Stores artifacts in a bucket of an object store.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{ClientOptions, Error, GetOptions, ObjectStore, ObjectStoreExt as _, PutMode};
use pkgres_registry_client::protocol::Digest;
use tokio::runtime::Handle;
use tokio::time::timeout;
use url::Url;

use super::content::{BlobError, Content, Pieces, is_older};
use super::incoming::Incoming;
use super::mark::MARK;

/// The read timeout of the store.
const READ_TIMEOUT: Duration = Duration::from_mins(2);

/// The key that requests to a bucket are signed with.
#[derive(Clone)]
#[non_exhaustive]
pub struct AccessKey {
    /// The id of the key.
    pub id: String,
    /// The secret of the key.
    pub secret: String,
    /// The token of a temporary session.
    pub session_token: Option<String>,
}

impl AccessKey {
    /// A key that is not for a temporary session.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            secret: secret.into(),
            session_token: None,
        }
    }

    /// This key with the token of a temporary session.
    #[must_use]
    pub fn with_session_token(mut self, token: Option<String>) -> Self {
        self.session_token = token;
        self
    }
}

/// Artifacts as objects `sha256/aabb…` of a bucket.
pub(crate) struct ObjectBlobs {
    store: Arc<dyn ObjectStore>,
    bucket: String,
    prefix: String,
    /// Where requests to the store run, while their callers block.
    runtime: Handle,
}

impl ObjectBlobs {
    /// The artifacts of `s3://BUCKET/PREFIX?endpoint=…&region=…`.
    pub(crate) fn open(
        address: &str,
        access_key: Option<&AccessKey>,
        runtime: Handle,
    ) -> Result<Self, BlobError> {
        let wrong =
            |reason: &str| BlobError::Address(format!("`{address}` is no bucket: {reason}"));
        let url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "s3" {
            return Err(wrong("only `s3://` is known"));
        }
        let bucket = url.host_str().ok_or_else(|| wrong("the name is missing"))?;
        // TLS needs a provider for the process; an embedder may have installed one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region("us-east-1")
            .with_conditional_put(S3ConditionalPut::ETagMatch);
        // An artifact is read as quickly as the client reads, so a download has no timeout as a whole,
        // but a read timeout.
        let mut options = ClientOptions::new()
            .with_timeout_disabled()
            .with_read_timeout(READ_TIMEOUT);
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "endpoint" => {
                    let is_web = |url: Url| matches!(url.scheme(), "http" | "https");
                    if !Url::parse(&value).is_ok_and(is_web) {
                        return Err(wrong("`endpoint` is an address with `http` or `https`"));
                    }
                    options = options.with_allow_http(value.starts_with("http://"));
                    builder = builder.with_endpoint(value);
                }
                "region" => builder = builder.with_region(value),
                _ => return Err(wrong(&format!("there is no parameter `{key}`"))),
            }
        }
        builder = match access_key {
            Some(key) => {
                let builder = builder
                    .with_access_key_id(&key.id)
                    .with_secret_access_key(&key.secret);
                match &key.session_token {
                    Some(token) => builder.with_token(token),
                    None => builder,
                }
            }
            None => builder.with_skip_signature(true),
        };
        let store = builder
            .with_client_options(options)
            .build()
            .map_err(failed)?;
        let prefix = url.path().trim_matches('/');
        Ok(Self {
            store: Arc::new(store),
            bucket: bucket.to_owned(),
            prefix: if prefix.is_empty() {
                "sha256".to_owned()
            } else {
                format!("{prefix}/sha256")
            },
            runtime,
        })
    }

    fn path(&self, digest: &Digest) -> Path {
        Path::from(format!("{}/{digest}", self.prefix))
    }

    /// The object beside the artifacts that says to which registry they belong.
    fn mark_path(&self) -> Path {
        let folder = self.prefix.strip_suffix("sha256").unwrap_or_default();
        Path::from(format!("{folder}{MARK}"))
    }

    pub(super) fn mark_place(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.mark_path())
    }

    pub(super) fn owner(&self) -> Result<Option<String>, BlobError> {
        self.runtime.block_on(self.read_mark())
    }

    pub(super) fn owner_within(&self, limit: Duration) -> Result<Option<String>, BlobError> {
        let within = async { timeout(limit, self.read_mark()).await };
        match self.runtime.block_on(within) {
            Ok(owner) => owner,
            Err(elapsed) => Err(BlobError::failed(
                "the object store does not answer",
                elapsed,
            )),
        }
    }

    async fn read_mark(&self) -> Result<Option<String>, BlobError> {
        let path = self.mark_path();
        let read = async { self.store.get(&path).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// If another node marks the bucket at the same time, its mark stays.
    pub(super) fn mark(&self, registry: &str) -> Result<(), BlobError> {
        let path = self.mark_path();
        let text = Bytes::from(format!("{registry}\n"));
        let put = self
            .store
            .put_opts(&path, text.into(), PutMode::Create.into());
        match self.runtime.block_on(put) {
            Ok(_) | Err(Error::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn put(&self, digest: &Digest, bytes: Bytes) -> Result<(), BlobError> {
        let path = self.path(digest);
        let put = self
            .store
            .put_opts(&path, bytes.into(), PutMode::Create.into());
        match self.runtime.block_on(put) {
            Ok(_) | Err(Error::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Stores an artifact, unless there is one with these bytes. Returns whether there was none.
    pub(super) fn restore(&self, digest: &Digest, bytes: Bytes) -> Result<bool, BlobError> {
        if self.has_bytes(digest, &bytes)? {
            return Ok(false);
        }
        let path = self.path(digest);
        let put = self.store.put(&path, bytes.into());
        self.runtime.block_on(put).map_err(failed)?;
        Ok(true)
    }

    /// Whether the artifact with a digest has these bytes, which are compared piece by piece.
    fn has_bytes(&self, digest: &Digest, bytes: &[u8]) -> Result<bool, BlobError> {
        let Some((_, mut pieces)) = self.pieces(digest, None)? else {
            return Ok(false);
        };
        let mut rest = bytes;
        while let Some(piece) = self.runtime.block_on(pieces.next()) {
            let piece = piece.map_err(|error| {
                BlobError::failed(format!("{digest} could not be read as a whole"), error)
            })?;
            match rest.strip_prefix(&piece[..]) {
                Some(left) => rest = left,
                None => return Ok(false),
            }
        }
        Ok(rest.is_empty())
    }

    pub(super) fn get(
        &self,
        digest: &Digest,
        incoming: &Incoming,
    ) -> Result<Option<Bytes>, BlobError> {
        let Some((_, mut pieces)) = self.pieces(digest, None)? else {
            return Ok(None);
        };
        let action = || format!("{digest} could not be read as a whole");
        let mut receiving = incoming.receive();
        while let Some(piece) = self.runtime.block_on(pieces.next()) {
            let piece = piece.map_err(|error| BlobError::failed(action(), error))?;
            let added = receiving.add(&piece);
            added.map_err(|error| BlobError::failed(action(), error))?;
        }
        let bytes = receiving.finish();
        let bytes = bytes.map_err(|error| BlobError::failed(action(), error))?;
        Ok(Some(bytes))
    }

    pub(super) fn read(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, BlobError> {
        let found = self.pieces(digest, range)?;
        Ok(found.map(|(length, pieces)| Content::Pieces(length, pieces)))
    }

    /// The length of an artifact, or of a range of it, and its bytes.
    fn pieces(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<(u64, Pieces)>, BlobError> {
        let path = self.path(digest);
        let options = GetOptions {
            range: range.map(Into::into),
            ..GetOptions::default()
        };
        match self.runtime.block_on(self.store.get_opts(&path, options)) {
            Ok(found) => {
                let length = found.range.end - found.range.start;
                let pieces = found.into_stream().map_err(std::io::Error::other);
                Ok(Some((length, Box::pin(pieces))))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn length(&self, digest: &Digest) -> Result<Option<u64>, BlobError> {
        let path = self.path(digest);
        match self.runtime.block_on(self.store.head(&path)) {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn older_than(
        &self,
        seconds: u64,
        now: SystemTime,
    ) -> Result<Vec<Digest>, BlobError> {
        let list = async {
            let prefix = Path::from(self.prefix.as_str());
            self.store.list_with_delimiter(Some(&prefix)).await
        };
        let listed = self.runtime.block_on(list).map_err(failed)?;
        Ok(listed
            .objects
            .into_iter()
            .filter(|object| is_older(object.last_modified.into(), seconds, now))
            .filter_map(|object| Digest::parse(object.location.filename()?).ok())
            .collect())
    }

    pub(super) fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        let path = self.path(digest);
        match self.runtime.block_on(self.store.delete(&path)) {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }
}

fn failed(error: Error) -> BlobError {
    BlobError::failed("the object store failed", error)
}
