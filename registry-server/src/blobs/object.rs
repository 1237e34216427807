//! Artifacts in a bucket of an object store.

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
use url::Url;

use super::{BlobError, Content, Incoming, is_older};

/// For how long a store may say nothing.
const SILENCE: Duration = Duration::from_mins(2);

/// Artifacts as objects `sha256/aabb…` of a bucket.
pub(crate) struct ObjectBlobs {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    /// Where requests to the store are run. Callers block, on threads that may.
    runtime: Handle,
}

impl ObjectBlobs {
    /// The artifacts of `s3://BUCKET/PREFIX?endpoint=…&region=…`, with the credentials that are
    /// given as (key, secret, session token).
    pub(crate) fn open(
        address: &str,
        credentials: Option<&(String, String, Option<String>)>,
        runtime: Handle,
    ) -> Result<Self, BlobError> {
        let wrong =
            |reason: &str| BlobError::Address(format!("`{address}` is no bucket: {reason}"));
        let url = Url::parse(address).map_err(|error| wrong(&error.to_string()))?;
        if url.scheme() != "s3" {
            return Err(wrong("only `s3://` is known"));
        }
        let bucket = url.host_str().ok_or_else(|| wrong("the name is missing"))?;
        // TLS needs one, and whoever is first chooses it; that it is there already is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region("us-east-1")
            .with_conditional_put(S3ConditionalPut::ETagMatch);
        // An artifact is sent as quickly as whoever downloads reads: that has no end of its own, and
        // only silence of the store is one.
        let mut options = ClientOptions::new()
            .with_timeout_disabled()
            .with_read_timeout(SILENCE);
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
        builder = match credentials {
            Some((key, secret, session)) => {
                let builder = builder
                    .with_access_key_id(key)
                    .with_secret_access_key(secret);
                match session {
                    Some(session) => builder.with_token(session),
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

    pub(super) fn get(
        &self,
        digest: &Digest,
        incoming: &Incoming,
    ) -> Result<Option<Bytes>, BlobError> {
        let mut pieces = match self.read(digest, None)? {
            None => return Ok(None),
            Some(Content::Whole(bytes)) => return Ok(Some(bytes)),
            Some(Content::Pieces(_, pieces)) => pieces,
        };
        let broken = |error: &dyn std::fmt::Display| {
            BlobError::Failed(format!("{digest} could not be read as a whole: {error}"))
        };
        let mut receiving = incoming.receive();
        while let Some(piece) = self.runtime.block_on(pieces.next()) {
            let piece = piece.map_err(|error| broken(&error))?;
            receiving.add(&piece).map_err(|error| broken(&error))?;
        }
        let bytes = receiving.finish().map_err(|error| broken(&error))?;
        Ok(Some(bytes))
    }

    pub(super) fn read(
        &self,
        digest: &Digest,
        range: Option<Range<u64>>,
    ) -> Result<Option<Content>, BlobError> {
        let path = self.path(digest);
        let options = GetOptions {
            range: range.map(Into::into),
            ..GetOptions::default()
        };
        match self.runtime.block_on(self.store.get_opts(&path, options)) {
            Ok(found) => {
                let length = found.range.end - found.range.start;
                let pieces = found.into_stream().map_err(std::io::Error::other);
                Ok(Some(Content::Pieces(length, Box::pin(pieces))))
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

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failed(error: Error) -> BlobError {
    BlobError::Failed(format!("the object store failed: {error}"))
}
