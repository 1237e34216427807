//! An artifact that the store has lost, such as after a restore of an older backup.

// The test loses files.
#![allow(clippy::disallowed_methods)]

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{Problem, Published, Service};
use pkgres_tests::archives::archive;

use crate::support::{Place, publish};

#[test]
fn a_lost_artifact_is_stored_again_by_a_publish_of_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = Arc::new(Place::files(folder.path()).open());
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    publish(&registry, "org.acme.Web", "1.0.0", bytes.clone()).expect("a release");
    std::fs::remove_dir_all(folder.path().join("data/blobs/sha256")).expect("there are artifacts");
    assert_eq!(registry.artifact(&digest), Ok(None));

    // What does not need the archive still works, and what does says which one is lost.
    let page = page(&registry, "packages/org.acme.Web");
    assert!(page.contains("has lost the archive"), "{page}");
    let error = registry.export(|_, _| Ok::<_, Problem>(()));
    let error = error.expect_err("an artifact is missing").to_string();
    assert!(error.contains("org.acme.Web 1.0.0"), "{error}");

    let again = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
    assert!(matches!(again, Ok(Published::Unchanged(_))), "{again:?}");
    assert_eq!(registry.artifact(&digest), Ok(Some(bytes.into())));
    assert_eq!(registry.serial(), 1);
}

/// A page that a browser asks for.
fn page(registry: &Arc<pkgres_registry_server::RegistryBackend>, path: &str) -> String {
    let service = Arc::new(Service::new(Arc::clone(registry)));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let request = http::Request::get(format!("/{path}"))
        .header("host", "registry.example.org")
        .header("accept", "text/html")
        .body(Full::new(Bytes::new()))
        .expect("a request");
    runtime.expect("a runtime").block_on(async {
        let answer = service.answer(request).await;
        assert_eq!(answer.status(), 200);
        let body = answer.into_body().collect().await.expect("a body");
        String::from_utf8_lossy(&body.to_bytes()).into_owned()
    })
}
