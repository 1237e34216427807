//! Opening registries, and asking them in few words.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pkgres_registry_client::Namespace;
use pkgres_registry_server::{
    Actor, Bucket, Environment, Holder, OpenError, Problem, ProblemCode, Published,
    RegistryBackend, Scope, Settings, Storage,
};
use pkgres_tests::archives::archive;
use pkgres_tests::build;

use crate::shared::environment;

/// Where a registry keeps its data, and the time that it sees.
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
        let blobs = bucket.map(|address| Bucket {
            address,
            credentials: Some(("key".to_owned(), "secret".to_owned(), None)),
            runtime: runtime.handle().clone(),
        });
        Self {
            storage: Storage {
                data: folder.join("data"),
                database,
                blobs,
            },
            seconds: Arc::new(AtomicI64::new(1_800_000_000)),
            _runtime: Some(runtime),
        }
    }

    pub(crate) fn open(&self) -> RegistryBackend {
        self.open_with(Settings::default())
    }

    pub(crate) fn open_with(&self, settings: Settings) -> RegistryBackend {
        RegistryBackend::open(&self.storage, settings, self.environment())
            .expect("the registry opens")
    }

    pub(crate) fn try_open(&self) -> Result<RegistryBackend, OpenError> {
        RegistryBackend::open(&self.storage, Settings::default(), self.environment())
    }

    /// With a clock that stands still unless a case moves it.
    fn environment(&self) -> Environment {
        let seconds = Arc::clone(&self.seconds);
        environment(move || {
            jiff::Timestamp::from_second(seconds.load(Ordering::Relaxed)).expect("a time")
        })
    }
}

/// A holder of a token for some scopes and names.
pub(crate) fn actor(owner: &str, scopes: &[Scope], names: &[&str]) -> Actor {
    let namespace = |text: &&str| Namespace::parse(text).expect("a namespace");
    Actor {
        holder: Holder::Token(format!("token-of-{owner}")),
        owner: owner.to_owned(),
        scopes: scopes.iter().copied().collect::<BTreeSet<_>>(),
        names: names.iter().map(namespace).collect(),
        expires: None,
    }
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
    publish_as(registry, &Actor::operator(), name, version, archive)
}

pub(crate) fn publish_as(
    registry: &RegistryBackend,
    actor: &Actor,
    name: &str,
    version: &str,
    archive: Vec<u8>,
) -> Result<Published, ProblemCode> {
    let (name, version) = (build::package(name), build::version(version));
    registry
        .publish(actor, &name, &version, &archive.into(), false)
        .map_err(code)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn code(problem: Problem) -> ProblemCode {
    problem.code
}
