//! Malformed requests: each gets the right status and code in the form of errors, and changes nothing.

mod bodies;
mod heads;
mod paths;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use pkgres_registry_server::RegistryOptions;
use pkgres_tests::archives::{archive, archive_with, files};

use crate::support::{Answer, Served};
use crate::writes::{self, Filled};

const AUTH: &str = "AUTH";
const ZIP: &str = "content-type: application/zip";
const JSON: &str = "content-type: application/json";
const WEB: &str = "/v1/packages/a.Web/versions/1.0.0";
const DIGEST: &str = "aea12f800871966e7dafc98f43070ba3e1536a8153f48a17b1832d67706a79e7";

/// Method, path, headers and body of a request; status and code of the response.
type Row<'row> = (
    &'row str,
    &'row str,
    &'row [&'row str],
    &'row [u8],
    u16,
    &'row str,
);

#[test]
fn malformed_requests_are_errors_and_change_nothing() {
    let served = Served::with(RegistryOptions::default().with_batch_names(2));
    let old = archive("a.Old", "1.0.0", &[]);
    assert_eq!(served.publish("a.Old", "1.0.0", &old).status, 201);
    let everything = || {
        let registry = &served.registry;
        let name = pkgres_tests::build::package("a.Old");
        let admin = pkgres_registry_server::Principal::operator();
        let package = registry.package(&name).expect("a package");
        (
            registry.serial(),
            registry.names(),
            package,
            registry.tokens(&admin),
        )
    };
    let before = everything();
    let rows = [paths::ROWS, heads::ROWS, bodies::ROWS]
        .into_iter()
        .flatten();
    let authorization = served.authorization();
    for (method, path, headers, body, status, code) in rows {
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
            501 => assert_eq!(answer.header("connection"), "close", "{row}"),
            _ => {}
        }
        assert_eq!(everything(), before, "{row}");
    }
    assert_eq!(served.get(&format!("/blobs/sha256/{DIGEST}")).status, 404);
}

/// A list of the values of an object's keys is no object, at any depth and in any body.
#[test]
fn a_list_in_place_of_an_object_is_an_error() {
    let filled = Filled::new();
    let before = filled.everything();
    let check = |answer: &Answer, row: &str| {
        assert_eq!(answer.status, 400, "{row}: {answer:?}");
        let text = String::from_utf8_lossy(&answer.body);
        let expected = "expected an object, not a list at line 1 column";
        assert!(text.contains(expected), "{row}: {text}");
        assert_eq!(filled.everything(), before, "{row}");
    };
    let mut count = 0;
    for write in &filled.writes {
        let (method, _) = write.route.split_once(' ').expect("a method");
        let body = serde_json::from_slice(&write.body);
        let lists = match (&*write.kind, body) {
            (writes::JSON, Ok(serde_json::Value::Object(body))) => {
                vec![
                    "[]".to_owned(),
                    serde_json::to_string(&body.values().collect::<Vec<_>>()).expect("JSON"),
                ]
            }
            (writes::PATCH, Ok(_)) => vec![r#"[["replace","/name","Other"]]"#.to_owned()],
            (kind, _) => {
                assert!(
                    kind.is_empty() || kind == "application/zip" || kind.starts_with("multipart"),
                    "{kind}"
                );
                continue;
            }
        };
        for list in lists {
            let answer = filled.ask(method, &write.path, &write.kind, list.as_bytes());
            check(&answer, &format!("{} {list}", write.route));
        }
        count += 1;
    }
    assert_eq!(count, 6);
    let nested = br#"{"Packages":[["a.Web",null]]}"#;
    let answer = filled.ask("PUT", "/bundles/all.bundle", writes::JSON, nested);
    check(&answer, "a bundle");
    let answer = filled.ask(
        "POST",
        "/index/v1/batch",
        writes::JSON,
        br#"[{"a.Web":null},false]"#,
    );
    check(&answer, "a batch request");
    let form = b"--x\r\nContent-Disposition: form-data; name=\"__metadata__\"\r\n\r\n[\"Web\"]\r\n\
                 --x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nPK\r\n--x--\r\n";
    let kind = "multipart/form-data; boundary=x";
    let answer = filled.ask("POST", "/v1/catalog/packages", kind, form);
    check(&answer, "the metadata of an upload");
}

#[test]
fn invalid_releases_have_codes() {
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

/// Lists show the texts of many releases.
#[test]
fn texts_of_manifests_have_limits() {
    let served = Served::new();
    let publish = |rest: &str| {
        let manifest =
            format!("Format: 1.4\nType: Library\nFullName: a.Web\nVersion: 1.0.0\n{rest}\n");
        served.publish(
            "a.Web",
            "1.0.0",
            &files(&[("manifest.yaml", manifest.as_bytes())]),
        )
    };
    let tags = |count: usize| {
        let tags: Vec<String> = (0..count).map(|number| format!("t{number}")).collect();
        format!("Tags: [{}]", tags.join(", "))
    };
    for (rest, expected) in [
        (
            format!("Name: {}", "n".repeat(1025)),
            "`Name` has more than",
        ),
        (
            format!("Author: {}", "a".repeat(1025)),
            "`Author` has more than",
        ),
        (
            format!("Description: {}", "d".repeat(65_537)),
            "`Description` has more than the limit of 65536 bytes",
        ),
        (tags(101), "`Tags` has at most 100 items"),
        (
            format!("Tags: [{}]", "t".repeat(81)),
            "of at most 80 characters",
        ),
    ] {
        let answer = publish(&rest);
        assert_eq!(answer.code(), "pkgres.package_invalid", "{answer:?}");
        let text = String::from_utf8_lossy(&answer.body);
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let answer = publish(&tags(100));
    assert_eq!(answer.status, 201, "{answer:?}");
}

/// A body that stops after its first piece, or breaks off.
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
fn bodies_that_do_not_arrive_are_errors() {
    // A body that never arrives exceeds a timeout of zero. One that breaks off has all the time.
    let at_once = Served::with_body_timeout(RegistryOptions::default(), Duration::ZERO);
    let served = Served::new();
    for (served, breaks, status, code) in [
        (&served, true, 400, "body_incomplete"),
        (&at_once, false, 408, "body_too_slow"),
    ] {
        let first = Some(Bytes::from_static(b"PK"));
        let headers = [&*served.authorization(), ZIP];
        let answer = served.ask_with("PUT", WEB, &headers, Broken { first, breaks });
        assert_eq!(
            (answer.status, answer.code()),
            (status, format!("pkgres.{code}"))
        );
    }
    let options = RegistryOptions::default();
    let limit = usize::try_from(options.read.limits.archive_bytes).expect("a size");
    let first = Some(Bytes::from(vec![0; limit + 1]));
    // Without a length, the limit applies while the body arrives.
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
