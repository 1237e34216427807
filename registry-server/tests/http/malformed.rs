//! Requests that make no sense: each is refused with the right status and code, in the one shape
//! that errors have, and leaves nothing behind.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use pkgres_registry_server::Settings;
use pkgres_tests::archives::{archive, archive_with};

use crate::support::Served;

const AUTH: &str = "AUTH";
const ZIP: &str = "content-type: application/zip";
const JSON: &str = "content-type: application/json";
const WEB: &str = "/v1/packages/a.Web/versions/1.0.0";
const DIGEST: &str = "aea12f800871966e7dafc98f43070ba3e1536a8153f48a17b1832d67706a79e7";

type Row<'row> = (
    &'row str,
    &'row str,
    &'row [&'row str],
    &'row [u8],
    u16,
    &'row str,
);

const ROWS: &[Row<'static>] = &[
    // Addresses.
    ("GET", "/nothing", &[], b"", 404, "no_such_address"),
    ("GET", "/v1/", &[], b"", 404, "no_such_address"),
    ("GET", "/v1/packages/", &[], b"", 404, "no_such_address"),
    ("GET", "/v1//packages", &[], b"", 404, "no_such_address"),
    (
        "GET",
        "/index/v2/names.ndjson",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    (
        "GET",
        "/index/v1/packages/.ndjson",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    (
        "GET",
        "/index/v1/packages/a.b/c.ndjson",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    (
        "GET",
        "/index/v1/packages/../../registry.sqlite",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    (
        "GET",
        "/index/v1/packages/%2e%2e%2fregistry.ndjson",
        &[],
        b"",
        400,
        "name_invalid",
    ),
    (
        "GET",
        "/index/v1/packages/a%00b.ndjson",
        &[],
        b"",
        400,
        "name_invalid",
    ),
    (
        "GET",
        "/index/v1/packages/A.ndjson",
        &[],
        b"",
        400,
        "name_invalid",
    ),
    (
        "GET",
        "/index/v1/packages/a!.ndjson",
        &[],
        b"",
        400,
        "name_invalid",
    ),
    (
        "GET",
        "/index/v1/packages/%ff.ndjson",
        &[],
        b"",
        400,
        "address_invalid",
    ),
    (
        "GET",
        "/index/v1/packages/a.none.ndjson",
        &[],
        b"",
        404,
        "no_such_package",
    ),
    (
        "GET",
        "/index/v1/classes/a.none.json",
        &[],
        b"",
        404,
        "no_such_class",
    ),
    (
        "GET",
        "/index/v1/classes/A.json",
        &[],
        b"",
        400,
        "name_invalid",
    ),
    ("GET", "/blobs/sha256/00", &[], b"", 404, "no_such_blob"),
    (
        "GET",
        "/blobs/sha256/../registry.sqlite",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    ("GET", "/v1/packages/1bad", &[], b"", 400, "name_invalid"),
    (
        "GET",
        "/v1/packages/a.None",
        &[],
        b"",
        404,
        "no_such_package",
    ),
    (
        "GET",
        "/v1/packages/a.None/versions/1.0.0",
        &[],
        b"",
        404,
        "no_such_package",
    ),
    (
        "GET",
        "/v1/packages/a.Old/versions/9.0.0",
        &[],
        b"",
        404,
        "no_such_version",
    ),
    (
        "GET",
        "/v1/packages/a.Old/versions/pony",
        &[],
        b"",
        400,
        "version_invalid",
    ),
    // Methods.
    (
        "POST",
        "/index/config.json",
        &[],
        b"",
        405,
        "method_not_allowed",
    ),
    ("DELETE", "/", &[], b"", 405, "method_not_allowed"),
    (
        "GET",
        "/index/v1/batch",
        &[],
        b"",
        405,
        "method_not_allowed",
    ),
    ("DELETE", WEB, &[AUTH], b"", 405, "method_not_allowed"),
    ("BREW", "/v1/packages", &[], b"", 405, "method_not_allowed"),
    // Microversions.
    (
        "GET",
        "/v1/packages",
        &["openstack-api-version: pkgres pony"],
        b"",
        400,
        "microversion_invalid",
    ),
    (
        "GET",
        "/v1/packages",
        &["openstack-api-version: pkgres 1.99"],
        b"",
        406,
        "microversion_unknown",
    ),
    (
        "GET",
        "/v1/packages/a.Old/dependants",
        &[],
        b"",
        404,
        "no_such_address",
    ),
    // Tokens.
    ("GET", "/v1/whoami", &[], b"", 401, "unauthorized"),
    (
        "GET",
        "/v1/whoami",
        &["authorization: Basic YTpi"],
        b"",
        401,
        "unauthorized",
    ),
    (
        "GET",
        "/v1/whoami",
        &["authorization: Bearer "],
        b"",
        401,
        "unauthorized",
    ),
    (
        "GET",
        "/v1/whoami",
        &["authorization: Bearer pkgres_00"],
        b"",
        401,
        "unauthorized",
    ),
    (
        "GET",
        "/v1/whoami",
        &["x-auth-token: pkgres_00"],
        b"",
        401,
        "unauthorized",
    ),
    ("PUT", WEB, &[ZIP], b"PK", 401, "unauthorized"),
    (
        "DELETE",
        "/v1/tokens/none",
        &[AUTH],
        b"",
        404,
        "no_such_token",
    ),
    // Media types.
    (
        "GET",
        "/v1/packages",
        &["accept: text/html"],
        b"",
        406,
        "not_acceptable",
    ),
    (
        "GET",
        "/index/config.json",
        &["accept: image/*"],
        b"",
        406,
        "not_acceptable",
    ),
    ("PUT", WEB, &[AUTH], b"PK", 415, "media_type_unsupported"),
    (
        "PUT",
        WEB,
        &[AUTH, JSON],
        b"{}",
        415,
        "media_type_unsupported",
    ),
    (
        "POST",
        "/index/v1/batch",
        &["content-type: text/plain"],
        b"{}",
        415,
        "media_type_unsupported",
    ),
    // Queries.
    ("GET", "/v1/packages?page=2", &[], b"", 400, "query_invalid"),
    (
        "GET",
        "/v1/packages?limit=0",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/v1/packages?limit=1001",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/v1/packages?limit=1&limit=2",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/index/config.json?x",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/index/v1/changes?since=-1",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/index/v1/changes?since=1e3",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "GET",
        "/index/v1/changes?limit=10001",
        &[],
        b"",
        400,
        "query_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Web/versions/1.0.0?allow_unsatisfiable=yes",
        &[AUTH, ZIP],
        b"PK",
        400,
        "query_invalid",
    ),
    // Bodies.
    ("POST", "/index/v1/batch", &[JSON], b"", 400, "body_invalid"),
    (
        "POST",
        "/index/v1/batch",
        &[JSON],
        b"{}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/index/v1/batch",
        &[JSON],
        b"{\"names\":{\"1\":null}}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/index/v1/batch",
        &[JSON],
        b"{\"names\":{},\"deep\":true}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/index/v1/batch",
        &[JSON],
        b"{\"names\":{\"a\":null,\"b\":null,\"c\":null}}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/index/v1/batch",
        &[JSON, "content-length: 99999999"],
        b"{}",
        413,
        "body_too_large",
    ),
    (
        "POST",
        "/index/v1/batch",
        &[JSON, "content-length: many"],
        b"{}",
        400,
        "header_invalid",
    ),
    ("PUT", WEB, &[AUTH, ZIP], b"", 400, "package_invalid"),
    (
        "PUT",
        WEB,
        &[AUTH, ZIP],
        b"PK\x05\x06",
        400,
        "package_invalid",
    ),
    (
        "PUT",
        WEB,
        &[AUTH, ZIP, "content-length: 99999999999"],
        b"PK",
        413,
        "body_too_large",
    ),
    (
        "PUT",
        "/v1/packages/1bad/versions/1.0.0",
        &[AUTH, ZIP],
        b"PK",
        400,
        "name_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Web/versions/x",
        &[AUTH, ZIP],
        b"PK",
        400,
        "version_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/owners",
        &[AUTH, JSON],
        b"[]",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/owners",
        &[AUTH, JSON],
        b"{\"generation\":0,\"owners\":[]}",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/owners",
        &[AUTH, JSON],
        b"{\"generation\":0,\"owners\":[\"a b\"]}",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/owners",
        &[AUTH, JSON],
        b"{\"generation\":9,\"owners\":[\"a\"]}",
        409,
        "concurrent_update",
    ),
    (
        "PUT",
        "/v1/packages/a.None/owners",
        &[AUTH, JSON],
        b"{\"generation\":0,\"owners\":[\"a\"]}",
        404,
        "no_such_package",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/versions/1.0.0/yank",
        &[AUTH, JSON],
        b"{}",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/versions/1.0.0/yank",
        &[AUTH, JSON],
        b"{\"reason\":\" \"}",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/versions/1.0.0/yank",
        &[AUTH, JSON],
        b"{\"reason\":\"x\",\"force\":1}",
        400,
        "body_invalid",
    ),
    (
        "PUT",
        "/v1/packages/a.Old/versions/2.0.0/yank",
        &[AUTH, JSON],
        b"{\"reason\":\"x\"}",
        404,
        "no_such_version",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[]}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[\"root\"]}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[\"read\"],\"names\":[\"*\"]}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[\"read\"],\"owner\":\"a b\"}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[\"read\"],\"expires\":\"2020-01-01T00:00:00Z\"}",
        400,
        "body_invalid",
    ),
    (
        "POST",
        "/v1/tokens",
        &[AUTH, JSON],
        b"{\"scopes\":[\"read\"],\"expires\":\"2999-01-01T00:00:00Z\"}",
        400,
        "body_invalid",
    ),
];

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let served = Served::with(Settings {
        batch_names: 2,
        ..Settings::default()
    });
    let old = archive("a.Old", "1.0.0", &[]);
    assert_eq!(served.publish("a.Old", "1.0.0", &old).status, 201);
    let everything = || {
        let registry = &served.registry;
        let name = pkgres_tests::build::package("a.Old");
        let admin = pkgres_registry_server::Actor::operator();
        let package = registry.package(&name).expect("a package");
        (
            registry.serial(),
            registry.names(),
            package,
            registry.tokens(&admin),
        )
    };
    let before = everything();
    let authorization = served.authorization();
    for (method, path, headers, body, status, code) in ROWS {
        let headers: Vec<&str> = headers
            .iter()
            .map(|header| {
                if *header == AUTH {
                    &*authorization
                } else {
                    header
                }
            })
            .collect();
        let answer = served.ask(method, path, &headers, body);
        let row = format!(
            "{method} {path} {headers:?} {:?}",
            String::from_utf8_lossy(body)
        );
        assert_eq!(answer.status, *status, "{row}: {answer:?}");
        assert_eq!(answer.code(), format!("pkgres.{code}"), "{row}");
        match answer.status {
            401 => assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"pkgres\""),
            405 => assert!(answer.header("allow").ends_with("OPTIONS"), "{row}"),
            _ => {}
        }
        assert_eq!(everything(), before, "{row}");
    }
    assert_eq!(served.get(&format!("/blobs/sha256/{DIGEST}")).status, 404);
}

#[test]
fn what_cannot_be_published_says_why() {
    let served = Served::new();
    let bytes = archive("a.Web", "1.0.0", &[]);
    assert_eq!(served.publish("a.Web", "1.0.0", &bytes).status, 201);
    assert_eq!(served.publish("a.Web", "1.0.0", &bytes).status, 200);
    for (name, version, bytes, status, code) in [
        (
            "a.Web",
            "1.0.0",
            archive_with("a.Web", "1.0.0", &[], "x"),
            409,
            "version_exists",
        ),
        (
            "a.web",
            "1.0.0",
            archive("a.web", "1.0.0", &[]),
            409,
            "name_taken",
        ),
        (
            "a.Web",
            "1.1.0",
            archive("a.Web", "1.2.0", &[]),
            400,
            "release_mismatch",
        ),
        (
            "a.Web",
            "1.1.0",
            archive("a.Web", "1.1.0", &[("a.Db", "1")]),
            409,
            "unsatisfiable",
        ),
    ] {
        let answer = served.publish(name, version, &bytes);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(answer.code(), format!("pkgres.{code}"));
    }
    assert_eq!(served.registry.serial(), 1);
}

/// A body that begins and never goes on, or breaks off.
struct Broken {
    first: Option<Bytes>,
    breaks: bool,
}

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None if self.breaks => Poll::Ready(Some(Err(std::io::Error::other("reset")))),
            None => Poll::Pending,
        }
    }
}

#[test]
fn bodies_that_do_not_arrive_are_not_waited_for() {
    let served = Served::new();
    for (breaks, status, code) in [
        (true, 400, "body_incomplete"),
        (false, 408, "body_too_slow"),
    ] {
        let first = Some(Bytes::from_static(b"PK"));
        let headers = [&*served.authorization(), ZIP];
        let answer = served.ask_with("PUT", WEB, &headers, Broken { first, breaks });
        assert_eq!(
            (answer.status, answer.code()),
            (status, format!("pkgres.{code}"))
        );
    }
    let settings = Settings::default();
    let limit = usize::try_from(settings.read.limits.archive_bytes).expect("a size");
    let first = Some(Bytes::from(vec![0; limit + 1]));
    // Without a length there is nothing to refuse beforehand.
    let answer = served.ask_with(
        "PUT",
        WEB,
        &[&*served.authorization(), ZIP],
        Broken {
            first,
            breaks: true,
        },
    );
    assert_eq!(
        (answer.status, &*answer.code()),
        (413, "pkgres.body_too_large")
    );
}
