//! Short ways to open and use registries.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pkgres_registry_client::Namespace;
use pkgres_registry_server::{
    AccessKey, Bucket, Credential, Environment, OpenError, Principal, Problem, ProblemCode,
    Published, RegistryBackend, RegistryOptions, RequirementCheck, Scope, Service, Storage,
};
use pkgres_tests::archives::archive;
use pkgres_tests::build;

use crate::shared::environment;

/// The storage and the clock of a registry, which can be opened several times.
pub(crate) struct Place {
    pub(crate) storage: Storage,
    pub(crate) seconds: Arc<AtomicI64>,
    _runtime: Option<tokio::runtime::Runtime>,
}

impl Place {
    pub(crate) fn files(folder: &Path) -> Self {
        Self::of(folder, None, None)
    }

    pub(crate) fn services(folder: &Path, database: String, bucket: Option<String>) -> Self {
        Self::of(folder, Some(database), bucket)
    }

    pub(crate) fn bucket(folder: &Path, bucket: String) -> Self {
        Self::of(folder, None, Some(bucket))
    }

    fn of(folder: &Path, database: Option<String>, bucket: Option<String>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let blobs = bucket.map(|address| {
            Bucket::new(address, runtime.handle().clone())
                .with_access_key(Some(AccessKey::new("key", "secret")))
        });
        Self {
            storage: Storage::new(folder.join("data"))
                .with_database(database)
                .with_blobs(blobs),
            seconds: Arc::new(AtomicI64::new(1_800_000_000)),
            _runtime: Some(runtime),
        }
    }

    pub(crate) fn open(&self) -> RegistryBackend {
        self.open_with(RegistryOptions::default())
    }

    pub(crate) fn open_with(&self, options: RegistryOptions) -> RegistryBackend {
        RegistryBackend::open(&self.storage, options, self.environment())
            .expect("the registry opens")
    }

    pub(crate) fn try_open(&self) -> Result<RegistryBackend, OpenError> {
        RegistryBackend::open(
            &self.storage,
            RegistryOptions::default(),
            self.environment(),
        )
    }

    /// Runs a statement on the database behind the back of the registry.
    pub(crate) fn execute(&self, statement: &str) {
        match &self.storage.database {
            Some(address) => {
                let mut client = postgres(address);
                client.batch_execute(statement).expect("it works");
            }
            None => self.sqlite().execute_batch(statement).expect("it works"),
        }
    }

    /// The texts that a query finds in the database.
    pub(crate) fn texts(&self, query: &str) -> Vec<String> {
        if let Some(address) = &self.storage.database {
            let rows = postgres(address).query(query, &[]).expect("rows");
            return rows.iter().map(|row| row.get(0)).collect();
        }
        let database = self.sqlite();
        let mut statement = database.prepare(query).expect("a query");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|text| text.expect("a text")).collect()
    }

    fn sqlite(&self) -> rusqlite::Connection {
        let path = self.storage.data.join("registry.sqlite");
        rusqlite::Connection::open(path).expect("a database")
    }

    /// With a clock that only the test moves.
    pub(crate) fn environment(&self) -> Environment {
        let seconds = Arc::clone(&self.seconds);
        environment(move || {
            jiff::Timestamp::from_second(seconds.load(Ordering::Relaxed)).expect("a time")
        })
    }
}

fn postgres(address: &str) -> postgres::Client {
    postgres::Client::connect(address, postgres::NoTls).expect("a connection")
}

/// A principal with a token for some scopes and names.
pub(crate) fn principal(owner: &str, scopes: &[Scope], names: &[&str]) -> Principal {
    let namespace = |text: &&str| Namespace::parse(text).expect("a namespace");
    let credential = Credential::Token(format!("token-of-{owner}"));
    Principal::new(credential, owner, scopes.iter().copied())
        .with_names(names.iter().map(namespace))
}

/// The status and the JSON of the response to a `GET`, with the secret of a token or without.
pub(crate) fn get(
    registry: &Arc<RegistryBackend>,
    path: &str,
    secret: Option<&str>,
) -> (u16, serde_json::Value) {
    let service = Arc::new(Service::new(Arc::clone(registry)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut request = http::Request::get(path).header("host", "registry.example.org");
    if let Some(secret) = secret {
        request = request.header("x-auth-token", secret);
    }
    let request = request.body(Full::new(Bytes::new())).expect("a request");
    let (status, body) = runtime.block_on(async {
        let answer = service.answer(request).await;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("a body");
        (status, body.to_bytes())
    });
    (status, serde_json::from_slice(&body).expect("JSON"))
}

/// Publishes a release that requires nothing as the operator, and expects that to work.
pub(crate) fn publish_plain(registry: &RegistryBackend, name: &str, version: &str) -> Published {
    let published = publish(registry, name, version, archive(name, version, &[]));
    published.expect("a release")
}

/// Publishes as the operator.
pub(crate) fn publish(
    registry: &RegistryBackend,
    name: &str,
    version: &str,
    archive: Vec<u8>,
) -> Result<Published, ProblemCode> {
    publish_as(registry, &Principal::operator(), name, version, archive)
}

pub(crate) fn publish_as(
    registry: &RegistryBackend,
    principal: &Principal,
    name: &str,
    version: &str,
    archive: Vec<u8>,
) -> Result<Published, ProblemCode> {
    let (name, version) = (build::package(name), build::version(version));
    registry
        .publish(
            principal,
            &name,
            &version,
            &archive.into(),
            RequirementCheck::Required,
        )
        .map_err(code)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn code(problem: Problem) -> ProblemCode {
    problem.code
}
