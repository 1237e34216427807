//! The rules of all paths, and of some.

// A test moves the archives away.
#![allow(clippy::disallowed_methods)]

use pkgres_registry_client::protocol::{Changes, Config, Digest, SignedSnapshot};
use pkgres_registry_server::RegistryOptions;
use pkgres_tests::archives::archive;

use crate::support::{Answer, Served};
use crate::writes::Filled;

fn with_a_package() -> Served {
    let served = Served::new();
    let answer = served.publish("a.Web", "1.0.0", &archive("a.Web", "1.0.0", &[]));
    assert_eq!(answer.status, 201, "{answer:?}");
    served
}

#[test]
fn documents_have_their_digest_as_etag_and_are_revalidated() {
    let served = with_a_package();
    let bytes = archive("a.Web", "1.0.0", &[]);
    let blob = format!("/blobs/sha256/{}", Digest::of(&bytes));
    for path in [
        "/index/config.json",
        "/index/v1/packages/a.!web.ndjson",
        "/index/v1/packages/a.%21web.ndjson",
        "/index/v1/classes/a.!web.json",
        "/index/v1/names.ndjson",
        "/index/v1/snapshot.json",
        "/v1/packages",
        "/v1/packages/a.Web",
        "/v1/packages/a.Web/versions/1.0.0",
        &blob,
    ] {
        let whole = served.get(path);
        assert_eq!(whole.status, 200, "{path}");
        let etag = whole.header("etag").to_owned();
        assert_eq!(
            Digest::from_etag(&etag),
            Some(Digest::of(&whole.body)),
            "{path}"
        );
        let known = served.ask("GET", path, &[&format!("if-none-match: {etag}")], b"");
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        assert_eq!(known.header("etag"), etag);
        assert_eq!(known.header("cache-control"), whole.header("cache-control"));
        let head = served.ask("HEAD", path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(
            head.header("content-length"),
            whole.body.len().to_string(),
            "{path}"
        );
        assert_eq!(head.header("etag"), etag);
        let options = served.ask("OPTIONS", path, &[], b"");
        assert_eq!(options.status, 204);
        assert!(options.header("allow").starts_with("GET, HEAD"), "{path}");
    }
}

/// Headers that describe the body must be understood; otherwise the body would be misread.
#[test]
fn a_body_that_is_encoded_or_a_part_is_rejected() {
    let filled = Filled::new();
    let before = filled.everything();
    let writes = || filled.writes.iter().filter(|write| !write.body.is_empty());
    assert!(writes().count() > 5);
    for write in writes() {
        for coding in ["gzip", "identity, br", "x-unknown"] {
            let answer = filled.write(write, &format!("content-encoding: {coding}"));
            assert_eq!(answer.status, 415, "{}: {answer:?}", write.route);
            assert_eq!(answer.header("accept-encoding"), "identity");
        }
        let answer = filled.write(write, "content-range: bytes 0-9/100");
        assert_eq!(answer.status, 400, "{}: {answer:?}", write.route);
        assert_eq!(filled.everything(), before, "{}", write.route);
    }
    let write = writes().next().expect("a write");
    let answer = filled.write(write, "content-encoding: identity");
    assert!(answer.status < 300, "{answer:?}");
    // A media type that is wrong says nothing about codings.
    let answer = filled.ask("POST", "/v1/tokens", "text/plain", b"{}");
    assert_eq!((answer.status, answer.header("accept-encoding")), (415, ""));
}

#[test]
fn documents_have_the_forms_of_the_protocol() {
    let served = with_a_package();
    let config = Config::parse(&served.get("/index/config.json").body).expect("a document");
    assert_eq!(config, served.registry.config());
    let snapshot = SignedSnapshot::parse(&served.get("/index/v1/snapshot.json").body);
    let snapshot = snapshot
        .expect("a document")
        .verify(&config.keys[0])
        .expect("a signature");
    assert_eq!((snapshot.serial, snapshot.names), (1, 1));
    let changes = Changes::parse(&served.get("/index/v1/changes?since=0").body);
    assert_eq!(changes.expect("a document").changes.len(), 1);
    assert!(served.get("/metrics").body.starts_with(b"# HELP"));
    assert_eq!(served.get("/healthz").body, "ok\n");
    // A probe that sends a header must not take the node out.
    for (path, accept) in [
        ("/metrics", "accept: text/plain;version=0.0.4"),
        ("/healthz", "accept: application/json"),
    ] {
        assert_eq!(
            served.ask("GET", path, &[accept], b"").status,
            200,
            "{path}"
        );
    }
    let described = served.get("/v1/openapi.json").json();
    assert!(described["paths"]["/index/v1/batch"]["post"].is_object());
    // Everything that is described exists, including the pages.
    for (path, methods) in described["paths"].as_object().expect("an object") {
        let path = path.replace(['{', '}'], "");
        let allow = served.ask(
            "OPTIONS",
            &path,
            &["openstack-api-version: pkgres latest"],
            b"",
        );
        let allow = allow.header("allow").to_ascii_lowercase();
        for method in methods.as_object().expect("an object").keys() {
            assert!(allow.contains(method), "{method} {path}: {allow}");
        }
    }
    assert_eq!(
        described["paths"]["/packages/{name}"]["get"]["tags"],
        serde_json::json!(["pages"])
    );
}

/// A folder of archives that is not mounted, or was emptied.
#[test]
fn probes_and_metrics_say_that_archives_are_missing() {
    let served = with_a_package();
    let digest = Digest::of(&archive("a.Web", "1.0.0", &[]));
    let (blob, other) = (
        format!("/blobs/sha256/{digest}"),
        format!("/blobs/sha256/{}", Digest::of(b"other")),
    );
    let failed = || {
        let metrics = served.get("/metrics");
        let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
        let value = metrics
            .lines()
            .find_map(|line| line.strip_prefix("pkgres_failed_archive_reads_total "));
        value.expect("a metric").to_owned()
    };
    let wait = |seconds: i64| {
        served
            .seconds
            .fetch_add(seconds, std::sync::atomic::Ordering::Relaxed)
    };
    assert_eq!(served.get("/healthz").status, 200);
    assert_eq!(served.get(&other).status, 404);
    assert_eq!(failed(), "0");

    let folder = served.artifacts_folder();
    let aside = folder.with_extension("aside");
    std::fs::rename(&folder, &aside).expect("a folder");
    // The store is not asked for every probe.
    wait(4);
    assert_eq!(served.get("/healthz").status, 200);
    wait(1);
    let answer = served.get("/healthz");
    assert_eq!(
        (answer.status, &*answer.code()),
        (503, "pkgres.unavailable")
    );
    let shown = String::from_utf8_lossy(&answer.body);
    assert!(!shown.contains("blobs"), "{shown}");
    assert_eq!(served.get(&blob).status, 404);
    assert_eq!(failed(), "1");
    let part = served.ask("GET", &blob, &["range: bytes=0-9"], b"");
    assert_eq!((part.status, &*failed()), (404, "2"));
    // The index needs no archives.
    assert_eq!(served.get("/index/v1/packages/a.!web.ndjson").status, 200);

    std::fs::rename(&aside, &folder).expect("a folder");
    // A clock that is set back keeps no old outcome.
    wait(-3600);
    assert_eq!(served.get("/healthz").status, 200);
    assert_eq!(served.get(&blob).status, 200);
    assert_eq!(failed(), "2");
}

#[test]
fn artifacts_support_ranges() {
    let served = with_a_package();
    let bytes = archive("a.Web", "1.0.0", &[]);
    let path = format!("/blobs/sha256/{}", Digest::of(&bytes));
    let whole = served.get(&path);
    assert_eq!(whole.body, bytes);
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(
        whole.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let length = bytes.len();
    let part = served.ask("GET", &path, &["range: bytes=10-19"], b"");
    assert_eq!((part.status, &part.body[..]), (206, &bytes[10..20]));
    assert_eq!(
        part.header("content-range"),
        format!("bytes 10-19/{length}")
    );
    let rest = served.ask("GET", &path, &["range: bytes=-5"], b"");
    assert_eq!((rest.status, &rest.body[..]), (206, &bytes[length - 5..]));
    let outside = served.ask("GET", &path, &[&format!("range: bytes={length}-")], b"");
    assert_eq!(
        (outside.status, &*outside.code()),
        (416, "pkgres.range_not_satisfiable")
    );
    assert_eq!(outside.header("content-range"), format!("bytes */{length}"));
    // If the file has changed, the whole is sent.
    let headers = ["range: bytes=10-19", "if-range: \"other\""];
    assert_eq!(served.ask("GET", &path, &headers, b"").status, 200);
    let same = format!("if-range: {}", whole.header("etag"));
    assert_eq!(
        served
            .ask("GET", &path, &["range: bytes=10-19", &same], b"")
            .status,
        206
    );
}

#[test]
fn every_response_of_the_api_names_its_version() {
    let served = with_a_package();
    let ask = |path: &str, version: &str| {
        served.ask(
            "GET",
            path,
            &[&format!("openstack-api-version: {version}")],
            b"",
        )
    };
    let check = |answer: &Answer, status: u16, version: &str| {
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(
            answer.header("openstack-api-version"),
            format!("pkgres {version}")
        );
        let varies = answer.values("vary");
        assert!(varies.contains(&"openstack-api-version"), "{varies:?}");
        assert!(answer.header("x-openstack-request-id").starts_with("req-"));
    };
    check(&served.get("/"), 200, "1.0");
    check(&served.get("/v1/packages/a.Web"), 200, "1.0");
    check(&ask("/v1/packages/a.Web", "pkgres latest"), 200, "1.1");
    check(&ask("/v1/packages/a.Web", "pkgres 1.1"), 200, "1.1");
    check(&ask("/v1/packages/a.None", "pkgres 1.1"), 404, "1.1");
    check(&ask("/nothing", "pkgres 1.1"), 404, "1.1");
    check(&ask("/v1/whoami", "pkgres 1.1"), 401, "1.1");
    check(&ask("/v1/packages", "pkgres 1.1, pkgres pony"), 400, "1.0");
    let unknown = ask("/v1/packages", "pkgres 9.9");
    check(&unknown, 406, "1.0");
    let entry = &unknown.json()["errors"][0];
    assert_eq!(
        (&entry["min_version"], &entry["max_version"]),
        (&"1.0".into(), &"1.1".into())
    );
    // New paths do not exist in older versions.
    let path = "/v1/packages/a.Web/dependants";
    check(&ask(path, "pkgres 1.0"), 404, "1.0");
    check(&ask(path, "pkgres 1.1"), 200, "1.1");
    // The index has no microversions.
    let answer = ask("/index/config.json", "pkgres 9.9");
    assert_eq!(
        (answer.status, answer.header("openstack-api-version")),
        (200, "")
    );
}

#[test]
fn request_ids_are_made_by_the_server() {
    let served = Served::new();
    let ask = || served.ask("GET", "/", &["x-openstack-request-id: req-theirs"], b"");
    let (one, two) = (ask(), ask());
    let id = one.header("x-openstack-request-id");
    assert_eq!(id.len(), "req-".len() + 36, "{id}");
    assert_ne!(id, two.header("x-openstack-request-id"));
    assert!(!id.contains("theirs"));
}

#[test]
fn reading_a_private_registry_needs_a_token() {
    let served = Served::with(RegistryOptions::default().with_private(true));
    let bytes = archive("a.Web", "1.0.0", &[]);
    assert_eq!(served.publish("a.Web", "1.0.0", &bytes).status, 201);
    let blob = format!("/blobs/sha256/{}", Digest::of(&bytes));
    for path in [
        "/index/v1/packages/a.!web.ndjson",
        "/v1/packages",
        "/index/v1/names.ndjson",
        &blob,
    ] {
        assert_eq!(served.get(path).code(), "pkgres.unauthorized", "{path}");
        let read = served.ask("GET", path, &[&served.authorization()], b"");
        assert_eq!(read.status, 200, "{path}");
        assert!(
            read.header("cache-control").starts_with("private"),
            "{path}"
        );
        assert!(
            read.headers
                .get_all("vary")
                .iter()
                .any(|value| value == "authorization")
        );
    }
    // A client without a token learns that it needs one.
    let config = Config::parse(&served.get("/index/config.json").body).expect("a document");
    assert!(config.auth_required);
    assert_eq!(served.get("/").status, 200);
}

#[test]
fn owners_are_replaced_by_generation() {
    let served = with_a_package();
    let headers = [&*served.authorization(), "content-type: application/json"];
    let body = br#"{"generation":0,"owners":["ann","bob"]}"#;
    let answer = served.ask("PUT", "/v1/packages/a.Web/owners", &headers, body);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["generation"], 1);
    assert_eq!(answer.json()["owners"], serde_json::json!(["ann", "bob"]));
    let again = served.ask("PUT", "/v1/packages/a.Web/owners", &headers, body);
    assert_eq!(
        (again.status, &*again.code()),
        (409, "pkgres.concurrent_update")
    );
}

#[test]
fn a_similar_name_gives_a_warning() {
    let served = with_a_package();
    let team = served.authorization_of("team", r#"["publish"]"#);
    let stranger = served.authorization_of("stranger", r#"["publish"]"#);
    let publish = |token: &str, name: &str, version: &str| {
        let path = format!("/v1/packages/{name}/versions/{version}");
        let headers = [token, "content-type: application/zip"];
        let answer = served.ask("PUT", &path, &headers, &archive(name, version, &[]));
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
        answer.json()
    };
    let none = serde_json::json!([]);
    // The first package, a similar name of the same owner, and a name that is not similar.
    assert_eq!(publish(&team, "org.acme.Web", "1.0.0")["warnings"], none);
    assert_eq!(publish(&team, "org.acme.Webb", "1.0.0")["warnings"], none);
    assert_eq!(
        publish(&stranger, "org.acme.Shop", "1.0.0")["warnings"],
        none
    );
    let warning = serde_json::json!([{
        "code": "pkgres.similar_name",
        "detail": "org.acme.Wbe is easily taken for org.acme.Web, which belongs to others; if this \
                   is not intended, publish under another name",
    }]);
    assert_eq!(
        publish(&stranger, "org.acme.Wbe", "1.0.0")["warnings"],
        warning
    );
    // A client that repeats the request gets the warning again.
    assert_eq!(
        publish(&stranger, "org.acme.Wbe", "1.0.0")["warnings"],
        warning
    );
    // A second release has no warning.
    assert_eq!(
        publish(&stranger, "org.acme.Wbe", "1.0.1")["warnings"],
        none
    );
    assert_eq!(served.get("/v1/packages/org.acme.Wbe").status, 200);
}

#[test]
fn a_token_that_may_not_read_learns_no_names() {
    let served = Served::with(RegistryOptions::default().with_private(true));
    let team = served.authorization_of("team", r#"["publish"]"#);
    let reader = served.authorization_of("reader", r#"["publish","read"]"#);
    let stranger = served.authorization_of("stranger", r#"["publish"]"#);
    let publish = |token: &str, name: &str, requires: &[(&str, &str)]| {
        let path = format!("/v1/packages/{name}/versions/1.0.0");
        let headers = [
            token,
            "content-type: application/zip",
            "openstack-api-version: pkgres latest",
        ];
        served.ask("PUT", &path, &headers, &archive(name, "1.0.0", requires))
    };
    let detail = |answer: &Answer| answer.json()["errors"][0]["detail"].to_string();
    for (name, requires) in [
        ("org.acme.Secret", &[][..]),
        ("org.acme.Hidden", &[("org.acme.Secret", "1")]),
    ] {
        let answer = publish(&team, name, requires);
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    // A name that differs in case: only its owner and readers learn it.
    for (token, is_told) in [(&team, true), (&reader, true), (&stranger, false)] {
        let answer = publish(token, "org.acme.SECRET", &[]);
        assert_eq!((answer.status, &*answer.code()), (409, "pkgres.name_taken"));
        assert_eq!(
            detail(&answer).contains("org.acme.Secret"),
            is_told,
            "{answer:?}"
        );
    }
    // A similar name.
    for (token, name, is_told) in [
        (&reader, "org.acme.Secre", true),
        (&stranger, "org.acme.Secrett", false),
    ] {
        let answer = publish(token, name, &[]);
        assert_eq!(answer.status, 201, "{answer:?}");
        let warnings = answer.json()["warnings"].clone();
        assert!(warnings[0]["detail"].is_string(), "{warnings}");
        let told = warnings.to_string();
        assert_eq!(told.contains("org.acme.Secret,"), is_told, "{told}");
    }
    // Requirements that contradict those of another package.
    for (token, name, is_told) in [(&reader, "a.One", true), (&stranger, "a.Two", false)] {
        let requires = [("org.acme.Hidden", "1"), ("org.acme.Secret", "2")];
        let answer = publish(token, name, &requires);
        assert_eq!(
            (answer.status, &*answer.code()),
            (409, "pkgres.unsatisfiable")
        );
        assert_eq!(
            detail(&answer).contains("org.acme.Secret"),
            is_told,
            "{answer:?}"
        );
    }
}
