//! Short ways to send requests to a service.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pkgres_registry_client::protocol::{Digest, ErrorDocument};
use pkgres_registry_server::{RegistryBackend, RegistryOptions, Service, Storage};
use pkgres_tests::described::{Description, Exchange};
use tempfile::TempDir;

use crate::shared::{environment, first_token};

/// More time than anything takes, however busy the machine is.
const AMPLE: Duration = Duration::from_hours(1);

/// A service on a registry of its own.
pub(crate) struct Served {
    pub(crate) service: Arc<Service>,
    pub(crate) registry: Arc<RegistryBackend>,
    /// The token with the scope `admin`.
    pub(crate) token: String,
    /// The clock of the registry, in seconds.
    pub(crate) seconds: Arc<AtomicI64>,
    runtime: tokio::runtime::Runtime,
    folder: TempDir,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// A header, or an empty text.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("text"))
    }

    /// All values of a header.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        let values = self.headers.get_all(name).iter();
        values.map(|value| value.to_str().expect("text")).collect()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The code of an error, whose form is checked.
    pub(crate) fn code(&self) -> String {
        let document = ErrorDocument::parse(&self.body);
        let document = document.unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let [entry] = document.errors.as_slice() else {
            panic!("{document:?}");
        };
        assert_eq!(entry.status, self.status);
        assert_eq!(entry.request_id, self.header("x-openstack-request-id"));
        assert_eq!(self.header("content-type"), "application/json");
        assert!(
            !entry.title.is_empty() && !entry.detail.is_empty(),
            "{entry:?}"
        );
        entry.code.clone()
    }
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(RegistryOptions::default())
    }

    pub(crate) fn with(options: RegistryOptions) -> Self {
        Self::with_body_timeout(options, AMPLE)
    }

    /// With a timeout of the bodies of requests.
    pub(crate) fn with_body_timeout(options: RegistryOptions, timeout: Duration) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::new(folder.path().join("data"));
        let seconds = Arc::new(AtomicI64::new(1_800_000_000));
        let clock = Arc::clone(&seconds);
        let environment = environment(move || {
            jiff::Timestamp::from_second(clock.load(Ordering::Relaxed)).expect("a time")
        });
        let registry = RegistryBackend::open(&storage, options, environment).expect("a registry");
        let registry = Arc::new(registry);
        let token = first_token(&registry);
        let service = Service::new(Arc::clone(&registry)).with_body_timeout(timeout);
        Self {
            service: Arc::new(service),
            registry,
            token,
            seconds,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime"),
            folder,
        }
    }

    /// The file of the artifact with a digest.
    pub(crate) fn artifact(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        let folder = self.folder.path().join("data/blobs/sha256");
        folder.join(&name[..2]).join(name)
    }

    /// The folder with the artifacts and their mark.
    pub(crate) fn artifacts_folder(&self) -> PathBuf {
        self.folder.path().join("data/blobs")
    }

    /// The names of the artifacts that are stored.
    pub(crate) fn artifacts(&self) -> Vec<String> {
        let folders = std::fs::read_dir(self.folder.path().join("data/blobs/sha256"));
        let folders = folders.into_iter().flatten().filter_map(Result::ok);
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok());
        let files = files.flatten().filter_map(Result::ok);
        files
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Sends a request; headers are `name: value`.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        self.ask_with(
            method,
            path,
            headers,
            Full::new(Bytes::copy_from_slice(body)),
        )
    }

    pub(crate) fn ask_with<B>(&self, method: &str, path: &str, headers: &[&str], body: B) -> Answer
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request = request(method, path, headers, body);
        let answer = self.answered(request);
        let headers = answer.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.to_string(), value.into_owned())
        });
        self.description().check(&Exchange {
            method,
            path,
            status: answer.status,
            headers: headers.collect(),
            body: &answer.body,
        });
        answer
    }

    /// The statuses of the responses to requests that are sent at once.
    pub(crate) fn statuses(&self, requests: Vec<http::Request<Full<Bytes>>>) -> Vec<u16> {
        let answers = requests.into_iter().map(|request| {
            let service = Arc::clone(&self.service);
            async move { service.answer(request).await.status().as_u16() }
        });
        self.runtime
            .block_on(futures_util::future::join_all(answers))
    }

    fn answered<B>(&self, request: http::Request<B>) -> Answer
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.runtime.block_on(async {
            let (parts, body) = self.service.answer(request).await.into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            Answer {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
            }
        })
    }

    /// The description that the service gives of itself, which every response is compared with.
    fn description(&self) -> &'static Description {
        static DESCRIPTION: OnceLock<Description> = OnceLock::new();
        DESCRIPTION.get_or_init(|| {
            let request = http::Request::get("/v1/openapi.json").header("host", "localhost");
            let request = request.body(Full::<Bytes>::default()).expect("a request");
            Description::parse(&self.answered(request).body)
        })
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    /// The header with the token with the scope `admin`.
    pub(crate) fn authorization(&self) -> String {
        format!("authorization: Bearer {}", self.token)
    }

    /// Creates a token with scopes, a list in JSON. Returns the header with it.
    pub(crate) fn authorization_of(&self, owner: &str, scopes: &str) -> String {
        let body = format!(r#"{{"scopes":{scopes},"owner":"{owner}"}}"#);
        let headers = [&*self.authorization(), "content-type: application/json"];
        let made = self.ask("POST", "/v1/tokens", &headers, body.as_bytes());
        assert_eq!(made.status, 201, "{made:?}");
        let made = made.json();
        let secret = made["token"].as_str().expect("a token");
        format!("authorization: Bearer {secret}")
    }

    /// Publishes over HTTP.
    pub(crate) fn publish(&self, name: &str, version: &str, archive: &[u8]) -> Answer {
        let path = format!("/v1/packages/{name}/versions/{version}");
        let headers = [&*self.authorization(), "content-type: application/zip"];
        self.ask("PUT", &path, &headers, archive)
    }
}

/// A request; headers are `name: value`.
pub(crate) fn request<B>(method: &str, path: &str, headers: &[&str], body: B) -> http::Request<B> {
    let mut request = http::Request::builder().method(method).uri(path);
    request = request.header("host", "registry.example.org");
    for header in headers {
        let (name, value) = header.split_once(':').expect("a header");
        request = request.header(name, value.trim());
    }
    request.body(body).expect("a request")
}
