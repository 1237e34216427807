//! The API of Galaxy: publishing and reading collections.

mod forms;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::RegistryOptions;
use pkgres_tests::archives::archive;
use pkgres_tests::collections::{ArtifactBuilder, artifact, file_name, form as form_of};
use serde_json::json;

use crate::support::{Answer, Served};

const PUBLISH: &str = "/api/v3/artifacts/collections/";

/// Publishes an artifact with a header that authenticates.
fn publish_with(served: &Served, authorization: &[&str], name: &str, bytes: &[u8]) -> Answer {
    let (kind, body) = form_of(name, bytes);
    let kind = format!("content-type: {kind}");
    served.ask("POST", PUBLISH, &[authorization, &[&kind]].concat(), &body)
}

fn publish(served: &Served, name: &str, version: &str, requires: &[(&str, &str)]) -> Vec<u8> {
    let bytes = artifact(name, version, requires);
    let file = file_name(name, version);
    let answer = publish_with(served, &[&served.authorization()], &file, &bytes);
    assert_eq!(answer.status, 202, "{answer:?}");
    bytes
}

#[test]
fn clients_find_the_api_at_the_base_and_below_it() {
    let served = Served::new();
    for (path, expected) in [("/", "api/v3/"), ("/api/", "v3/"), ("/api", "v3/")] {
        let answer = served.get(path);
        assert_eq!(
            answer.json()["available_versions"]["v3"],
            expected,
            "{path}"
        );
    }
    // A program that has tokens sends them everywhere.
    let answer = served.ask("GET", "/api/", &["authorization: Token nothing"], b"");
    assert_eq!(answer.status, 200);
}

#[test]
fn a_collection_is_published_listed_and_downloaded() {
    let served = Served::new();
    publish(&served, "acme.net", "1.0.0", &[]);
    let bytes = publish(&served, "acme.web", "1.2.0", &[("acme.net", ">=1.0.0,<2")]);
    let digest = Digest::of(&bytes).to_string();

    // Clients of Murano cannot use it.
    assert_eq!(served.get("/apps/acme.web.zip").status, 404);
    let collection = served.get("/api/v3/collections/acme/web/").json();
    assert_eq!(collection["highest_version"]["version"], "1.2.0");
    assert_eq!(collection["created_at"], "2027-01-15T08:00:00Z");
    assert_eq!(collection["description"], "A collection of tests");
    let list = served
        .get("/api/v3/collections/acme/web/versions/?limit=100")
        .json();
    assert_eq!(list["meta"]["count"], 1);
    assert_eq!(list["data"][0]["version"], "1.2.0");
    assert_eq!(list["links"]["next"], json!(null));

    let version = served
        .get("/api/v3/collections/acme/web/versions/1.2.0/")
        .json();
    assert_eq!(version["namespace"]["name"], "acme");
    assert_eq!(version["collection"]["name"], "web");
    assert_eq!(version["artifact"]["sha256"], digest);
    assert_eq!(version["artifact"]["size"], bytes.len());
    assert_eq!(version["artifact"]["filename"], "acme-web-1.2.0.tar.gz");
    assert_eq!(
        version["metadata"]["dependencies"],
        json!({ "acme.net": ">=1.0.0,<2" })
    );
    assert_eq!(version["metadata"]["authors"], json!(["Ann"]));
    assert_eq!(version["signatures"], json!([]));

    let url = version["download_url"].as_str().expect("a path");
    assert!(url.ends_with("/acme-web-1.2.0.tar.gz"), "{url}");
    let whole = served.get(url);
    assert_eq!((whole.status, &whole.body[..]), (200, &bytes[..]));
    assert_eq!(whole.header("content-type"), "application/gzip");
    assert_eq!(
        whole.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let etag = format!("if-none-match: {}", whole.header("etag"));
    assert_eq!(served.ask("GET", url, &[&etag], b"").status, 304);
    let part = served.ask("GET", url, &["range: bytes=2-4"], b"");
    assert_eq!((part.status, &part.body[..]), (206, &bytes[2..5]));
    let head = served.ask("HEAD", url, &[], b"");
    assert_eq!(head.header("content-length"), bytes.len().to_string());
    let other = url.replace("acme-web", "acme-net");
    assert_eq!(served.get(&other).code(), "pkgres.no_such_blob");

    // The protocol of the registry has it as well.
    let line = served.get("/index/v1/packages/acme.web.ndjson");
    let record: serde_json::Value = serde_json::from_slice(&line.body).expect("one line");
    assert_eq!(record["ecosystem"], "ansible");
    assert!(record["classes"]["acme.web.plugins.modules.page"].is_object());
    assert_eq!(served.get(&format!("/blobs/sha256/{digest}")).body, bytes);
    let package = served.get("/v1/packages/acme.web").json();
    assert_eq!(package["versions"][0]["sha256"], digest);
    // Clients of Murano see class packages alone.
    assert_eq!(
        served.get("/v1/catalog/packages").json()["packages"],
        json!([])
    );
    let class = "/index/v1/classes/acme.web.plugins.modules.page.json";
    assert_eq!(served.get(class).status, 404);
}

#[test]
fn a_publish_is_over_when_it_is_answered() {
    let served = Served::new();
    let authorization = served.authorization();
    let bytes = artifact("acme.web", "1.0.0", &[]);
    let answer = publish_with(&served, &[&authorization], "acme-web-1.0.0.tar.gz", &bytes);
    assert_eq!(answer.status, 202);
    let answer = answer.json();
    let task = answer["task"].as_str().expect("a path");
    let import = served.ask("GET", task, &[&authorization], b"").json();
    assert_eq!(import["state"], "completed");
    assert_eq!(import["messages"], json!([]));
    assert!(import["finished_at"].is_string());
    let other = task.replace(&Digest::of(&bytes).to_string(), &"0".repeat(64));
    assert_eq!(
        served.ask("GET", &other, &[&authorization], b"").status,
        404
    );
    // A name that is easily taken for one of others is a warning of the import.
    let others = served.authorization_of("others", r#"["publish"]"#);
    let bytes = artifact("acme.wab", "1.0.0", &[]);
    let answer = publish_with(&served, &[&others], "acme-wab-1.0.0.tar.gz", &bytes).json();
    let task = answer["task"].as_str().expect("a path");
    let import = served.ask("GET", task, &[&others], b"").json();
    let message = import["messages"][0]["message"].as_str().expect("a text");
    assert!(message.contains("acme.web"), "{message}");
}

#[test]
fn versions_come_in_pages_in_their_order() {
    let served = Served::new();
    for version in ["1.9.0", "1.10.0", "2.0.0-rc.1", "1.2.0"] {
        publish(&served, "acme.web", version, &[]);
    }
    let base = "/api/v3/collections/acme/web/versions/";
    let mut path = format!("{base}?limit=3");
    let mut versions = Vec::new();
    loop {
        let list = served.get(&path).json();
        let data = list["data"].as_array().expect("a list");
        versions.extend(
            data.iter()
                .map(|one| one["version"].as_str().expect("a text").to_owned()),
        );
        match list["links"]["next"].as_str() {
            Some(next) => path = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(versions, ["2.0.0-rc.1", "1.10.0", "1.9.0", "1.2.0"]);
    let last = served.get(&format!("{base}?limit=3&offset=3")).json();
    assert_eq!(
        last["links"]["previous"],
        format!("{base}?limit=3&offset=0")
    );
    assert_eq!(last["links"]["last"], format!("{base}?limit=3&offset=3"));
    let beyond = served
        .get(&format!("{base}?limit=3&offset=9223372036854775807"))
        .json();
    assert_eq!(
        (&beyond["data"], &beyond["links"]["next"]),
        (&json!([]), &json!(null))
    );
    // From behind the end, a client finds back.
    assert_eq!(
        beyond["links"]["previous"],
        format!("{base}?limit=3&offset=3")
    );
    for bad in ["limit=0", "limit=1001", "limit=x", "offset=-1"] {
        let answer = served.get(&format!("{base}?{bad}"));
        assert_eq!(answer.code(), "pkgres.query_invalid", "{bad}");
    }
    let highest = served.get("/api/v3/collections/acme/web/").json();
    assert_eq!(highest["highest_version"]["version"], "1.10.0");
}

#[test]
fn collections_are_listed_in_pages() {
    let served = Served::new();
    let empty = served.get("/api/v3/collections/").json();
    assert_eq!(empty["meta"]["count"], 0);
    assert_eq!(empty["data"], json!([]));
    for (name, version) in [
        ("acme.web", "1.0.0"),
        ("acme.net", "1.0.0"),
        ("acme.net", "1.1.0"),
        ("other.web", "2.0.0-rc.1"),
        ("acme_2.web", "1.0.0"),
    ] {
        publish(&served, name, version, &[]);
    }
    let zip = archive("acme.classes", "1.0.0", &[]);
    assert_eq!(served.publish("acme.classes", "1.0.0", &zip).status, 201);
    let names = |query: &str| {
        let mut path = format!("/api/v3/collections/?{query}");
        let mut names = Vec::new();
        loop {
            let list = served.get(&path).json();
            for one in list["data"].as_array().expect("a list") {
                // An entry is the document of the collection.
                let href = one["href"].as_str().expect("a path");
                assert_eq!(served.get(href).json(), *one);
                let [namespace, name] = ["namespace", "name"].map(|key| one[key].as_str());
                names.push([namespace, name].map(Option::unwrap_or_default).join("."));
            }
            match list["links"]["next"].as_str() {
                Some(next) => path = next.to_owned(),
                None => return (names, list["meta"]["count"].clone()),
            }
        }
    };
    let all = ["acme.net", "acme.web", "acme_2.web", "other.web"].map(str::to_owned);
    for limit in 1..6 {
        assert_eq!(names(&format!("limit={limit}")), (all.to_vec(), json!(4)));
    }
    let (found, count) = names("namespace=acme&limit=1");
    assert_eq!((&found[..], count), (&all[..2], json!(2)));
    assert_eq!(names("namespace=acme&name=web").0, ["acme.web"]);
    assert_eq!(names("name=web&limit=2").1, 3);
    assert_eq!(names("namespace=a%26b"), (vec![], json!(0)));
    // A collection that appears between two pages moves no other one.
    let first = served.get("/api/v3/collections/?limit=2").json();
    publish(&served, "acme.base", "1.0.0", &[]);
    let next = first["links"]["next"].as_str().expect("a path");
    assert_eq!(served.get(next).json()["data"][0]["namespace"], "acme_2");
    let answer = served.get("/api/v3/collections/?marker=a%20b");
    assert_eq!(answer.code(), "pkgres.query_invalid");
}

#[test]
fn what_is_not_there_is_not_found() {
    let served = Served::new();
    publish(&served, "acme.web", "1.0.0", &[]);
    let zip = archive("acme.classes", "1.0.0", &[]);
    assert_eq!(served.publish("acme.classes", "1.0.0", &zip).status, 201);
    for (path, code) in [
        ("acme/nothing/", "pkgres.no_such_package"),
        ("acme/nothing/versions/", "pkgres.no_such_package"),
        ("acme/nothing/versions/1.0.0/", "pkgres.no_such_package"),
        ("acme/a-b/versions/", "pkgres.no_such_package"),
        ("acme/web/versions/2.0.0/", "pkgres.no_such_version"),
        ("acme/web/versions/latest/", "pkgres.no_such_version"),
        // A class package is no collection.
        ("acme/classes/", "pkgres.no_such_package"),
        ("acme/classes/versions/", "pkgres.no_such_package"),
        ("acme/classes/versions/1.0.0/", "pkgres.no_such_version"),
    ] {
        let answer = served.get(&format!("/api/v3/collections/{path}"));
        assert_eq!((answer.status, &*answer.code()), (404, code), "{path}");
    }
}

#[test]
fn a_version_has_one_content_and_a_name_one_ecosystem() {
    let served = Served::new();
    let authorization = served.authorization();
    let bytes = publish(&served, "acme.web", "1.0.0", &[]);
    let file = "acme-web-1.0.0.tar.gz";
    let again = publish_with(&served, &[&authorization], file, &bytes);
    assert_eq!(again.status, 202);
    let mut other = ArtifactBuilder::new("acme.web", "1.0.0", &[]);
    other.file("more.txt", b"more");
    let answer = publish_with(&served, &[&authorization], file, &other.finish());
    assert_eq!(
        (answer.status, &*answer.code()),
        (409, "pkgres.version_exists")
    );
    // Build metadata does not tell releases apart.
    let built = artifact("acme.web", "1.0.0+2", &[]);
    let answer = publish_with(
        &served,
        &[&authorization],
        "acme-web-1.0.0+2.tar.gz",
        &built,
    );
    assert_eq!(answer.code(), "pkgres.version_exists");

    let zip = archive("acme.web", "2.0.0", &[]);
    let answer = served.publish("acme.web", "2.0.0", &zip);
    assert_eq!(answer.code(), "pkgres.name_taken");
    let zip = archive("acme.classes", "1.0.0", &[]);
    assert_eq!(served.publish("acme.classes", "1.0.0", &zip).status, 201);
    let bytes = artifact("acme.classes", "2.0.0", &[]);
    let file = "acme-classes-2.0.0.tar.gz";
    let answer = publish_with(&served, &[&authorization], file, &bytes);
    assert_eq!(answer.code(), "pkgres.name_taken");
    let bytes = artifact("Acme.web", "2.0.0", &[]);
    let file = "Acme-web-2.0.0.tar.gz";
    let answer = publish_with(&served, &[&authorization], file, &bytes);
    assert_eq!(answer.code(), "pkgres.name_taken");
}

#[test]
fn tokens_come_in_three_ways_and_permit_what_they_permit() {
    let served = Served::new();
    let file = "acme-web-1.0.0.tar.gz";
    let bytes = artifact("acme.web", "1.0.0", &[]);
    let publish = |headers: &[&str]| publish_with(&served, headers, file, &bytes);
    let password = BASE64_STANDARD.encode(format!("anyone:{}", served.token));
    let basic = format!("authorization: Basic {password}");
    for (headers, status) in [
        (&[][..], 401),
        (&["authorization: Token nothing"], 401),
        (&["authorization: Basic bm9ib2R5Om5vdGhpbmc="], 401),
        // What a page of another site makes a browser send.
        (&[&*basic, "origin: https://example.org"], 401),
        (&[&*basic, "sec-fetch-site: cross-site"], 401),
        (&[&*basic, "referer: https://example.org/"], 401),
        (&[&*basic], 202),
        (&[&*format!("authorization: Token {}", served.token)], 202),
        (&[&*served.authorization()], 202),
    ] {
        let answer = publish(headers);
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    // A password is valid for the API of Galaxy alone.
    let path = "/v1/packages/acme.web/versions/1.0.0/yank";
    let json = "content-type: application/json";
    let answer = served.ask("PUT", path, &[&basic, json], br#"{"reason":"x"}"#);
    assert_eq!(answer.status, 401);

    let others = served.authorization_of("others", r#"["publish"]"#);
    let newer = artifact("acme.web", "1.1.0", &[]);
    let answer = publish_with(&served, &[&others], "acme-web-1.1.0.tar.gz", &newer);
    assert_eq!(answer.code(), "pkgres.not_owner");
    let reader = served.authorization_of("others", r#"["read"]"#);
    let answer = publish_with(&served, &[&reader], "acme-web-1.1.0.tar.gz", &newer);
    assert_eq!(answer.code(), "pkgres.forbidden");
    let body = br#"{"scopes":["publish"],"names":["acme.*"]}"#;
    let made = served.ask("POST", "/v1/tokens", &[&served.authorization(), json], body);
    let made = made.json();
    let limited = format!(
        "authorization: Token {}",
        made["token"].as_str().expect("a token")
    );
    let answer = publish_with(&served, &[&limited], "acme-web-1.1.0.tar.gz", &newer);
    assert_eq!(answer.status, 202);
    let other = artifact("other.web", "1.0.0", &[]);
    let answer = publish_with(&served, &[&limited], "other-web-1.0.0.tar.gz", &other);
    assert_eq!(answer.code(), "pkgres.forbidden");
}

#[test]
fn a_private_registry_shows_collections_to_readers() {
    let served = Served::with(RegistryOptions::default().with_private(true));
    let bytes = publish(&served, "acme.web", "1.0.0", &[]);
    let artifact = format!(
        "/api/v3/artifacts/collections/{}/acme-web-1.0.0.tar.gz",
        Digest::of(&bytes)
    );
    let password = BASE64_STANDARD.encode(format!("anyone:{}", served.token));
    for path in [
        "/api/v3/collections/",
        "/api/v3/collections/acme/web/",
        "/api/v3/collections/acme/web/versions/",
        "/api/v3/collections/acme/web/versions/1.0.0/",
        &artifact,
    ] {
        assert_eq!(served.get(path).status, 401, "{path}");
        for authorization in [
            format!("authorization: Token {}", served.token),
            format!("authorization: Basic {password}"),
        ] {
            let answer = served.ask("GET", path, &[&authorization], b"");
            assert_eq!(answer.status, 200, "{path}");
            assert!(
                answer.header("cache-control").starts_with("private"),
                "{path}"
            );
        }
    }
}

#[test]
fn a_yanked_version_is_not_offered_and_a_deleted_one_is_gone() {
    let served = Served::new();
    let authorization = served.authorization();
    publish(&served, "acme.web", "1.0.0", &[]);
    publish(&served, "acme.web", "1.1.0", &[]);
    let versions = || {
        let list = served.get("/api/v3/collections/acme/web/versions/").json();
        let data = list["data"].as_array().expect("a list").clone();
        let texts = data
            .iter()
            .map(|one| one["version"].as_str().expect("a text").to_owned());
        texts.collect::<Vec<_>>()
    };
    let updated = || served.get("/api/v3/collections/acme/web/").json()["updated_at"].clone();
    let published = updated();
    let newest = "/api/v3/collections/acme/web/versions/1.1.0/";
    let yank = "/v1/packages/acme.web/versions/1.1.0/yank";
    let json = "content-type: application/json";
    let answer = served.ask("PUT", yank, &[&authorization, json], br#"{"reason":"x"}"#);
    assert_eq!(answer.status, 204);
    assert_eq!(versions(), ["1.0.0"]);
    // Clients that keep answers see that something changed, even within a second.
    let yanked = updated();
    assert_ne!(yanked, published);
    // Who has locked it still gets it.
    assert_eq!(served.get(newest).status, 200);
    assert_eq!(
        served.ask("DELETE", yank, &[&authorization], b"").status,
        204
    );
    assert_eq!(versions(), ["1.1.0", "1.0.0"]);

    let others = served.authorization_of("others", r#"["delete"]"#);
    assert_eq!(
        served.ask("DELETE", newest, &[&others], b"").code(),
        "pkgres.not_owner"
    );
    assert_eq!(
        served.ask("DELETE", newest, &[&authorization], b"").status,
        204
    );
    assert_eq!(
        served.ask("DELETE", newest, &[&authorization], b"").status,
        404
    );
    assert_eq!(versions(), ["1.0.0"]);
    let oldest = "/api/v3/collections/acme/web/versions/1.0.0/";
    assert_eq!(
        served.ask("DELETE", oldest, &[&authorization], b"").status,
        204
    );
    assert_eq!(served.get("/api/v3/collections/acme/web/").status, 404);
    assert_eq!(served.get("/index/v1/packages/acme.web.ndjson").status, 404);
    // The name still has its owner.
    let bytes = artifact("acme.web", "2.0.0", &[]);
    let others = served.authorization_of("others", r#"["publish"]"#);
    let answer = publish_with(&served, &[&others], "acme-web-2.0.0.tar.gz", &bytes);
    assert_eq!(answer.code(), "pkgres.not_owner");
}

#[test]
fn links_begin_with_the_path_of_a_proxy() {
    let served = Served::new();
    publish(&served, "acme.web", "1.0.0", &[]);
    let version = "/api/v3/collections/acme/web/versions/1.0.0/";
    let url = |headers: &[&str]| {
        let answer = served.ask("GET", version, headers, b"");
        assert!(answer.values("vary").contains(&"x-forwarded-prefix"));
        answer.json()["download_url"]
            .as_str()
            .expect("a path")
            .to_owned()
    };
    let plain = url(&[]);
    let behind_proxy = url(&["x-forwarded-prefix: /packages/"]);
    assert_eq!(behind_proxy, format!("/packages{plain}"));
    assert_eq!(url(&["x-forwarded-prefix: //example.org"]), plain);
    let list = served.ask(
        "GET",
        "/api/v3/collections/acme/web/versions/?limit=1",
        &["x-forwarded-prefix: /packages"],
        b"",
    );
    let first = list.json()["links"]["first"].clone();
    assert_eq!(
        first,
        "/packages/api/v3/collections/acme/web/versions/?limit=1&offset=0"
    );
}

/// The documents that a client reads through a proxy have other addresses, and so other tags.
#[test]
fn preconditions_hold_behind_the_path_of_a_proxy() {
    let served = Served::new();
    publish(&served, "acme.web", "1.0.0", &[]);
    let version = "/api/v3/collections/acme/web/versions/1.0.0/";
    let authorization = served.authorization();
    let ask = |method: &str, condition: &str| {
        let headers = [
            "x-forwarded-prefix: /packages",
            authorization.as_str(),
            condition,
        ];
        served.ask(method, version, &headers, b"")
    };
    let read = ask("GET", "accept: */*");
    let etag = read.header("etag");
    assert!(!etag.is_empty(), "{read:?}");
    let unless_known = ask("DELETE", &format!("if-none-match: {etag}"));
    assert_eq!(unless_known.status, 412, "{unless_known:?}");
    let if_known = ask("DELETE", &format!("if-match: {etag}"));
    assert_eq!(if_known.status, 204, "{if_known:?}");
}

/// Whatever is yanked or published while a client reads the pages of a list.
#[test]
fn no_version_is_skipped_or_repeated_between_pages() {
    let served = Served::new();
    for minor in 0..7 {
        publish(&served, "acme.web", &format!("1.{minor}.0"), &[]);
    }
    let admin = served.authorization();
    let yank = |version: &str| {
        let path = format!("/v1/packages/acme.web/versions/{version}/yank");
        let headers = [&*admin, "content-type: application/json"];
        let answer = served.ask("PUT", &path, &headers, br#"{"reason":"broken"}"#);
        assert_eq!(answer.status, 204, "{answer:?}");
    };
    let mut next = Some("/api/v3/collections/acme/web/versions/?limit=2".to_owned());
    let mut seen = Vec::new();
    while let Some(path) = next {
        let page = served.get(&path).json();
        let versions = page["data"].as_array().expect("a list").iter();
        seen.extend(
            versions.map(|version| version["version"].as_str().expect("a version").to_owned()),
        );
        next = page["links"]["next"].as_str().map(str::to_owned);
        match seen.len() {
            // One of the first page, and the last of it.
            2 => {
                yank("1.6.0");
                yank("1.5.0");
            }
            4 => {
                publish(&served, "acme.web", "2.0.0", &[]);
            }
            _ => {}
        }
    }
    let expected = [
        "1.6.0", "1.5.0", "1.4.0", "1.3.0", "1.2.0", "1.1.0", "1.0.0",
    ];
    assert_eq!(seen, expected);
    // Clients that count for themselves get what is there now.
    let page = served
        .get("/api/v3/collections/acme/web/versions/?limit=2&offset=4")
        .json();
    assert_eq!(page["data"][0]["version"], "1.1.0");
    let path = "/api/v3/collections/acme/web/versions/?marker=x";
    assert_eq!(served.get(path).code(), "pkgres.query_invalid");
}

/// Lists and pages show the texts of many releases.
#[test]
fn texts_have_limits() {
    let served = Served::new();
    for (key, value, expected) in [
        (
            "description",
            json!("x".repeat(65_537)),
            "`description` has more than",
        ),
        (
            "description",
            json!("\u{202e}"),
            "`description` has the character",
        ),
        ("authors", json!(vec!["x"; 101]), "`authors` has more than"),
        ("tags", json!(["x".repeat(81)]), "`tags` has at most"),
        (
            "homepage",
            json!("\u{1b}[2J"),
            "`homepage` has the character",
        ),
    ] {
        let mut artifact = ArtifactBuilder::new("acme.web", "1.0.0", &[]);
        artifact.set(key, value);
        let file = file_name("acme.web", "1.0.0");
        let authorization = served.authorization();
        let answer = publish_with(&served, &[&authorization], &file, &artifact.finish());
        assert_eq!(answer.status, 400, "{key}: {answer:?}");
        let text = String::from_utf8_lossy(&answer.body);
        assert!(text.contains(expected), "{key}: {text}");
    }
    let mut artifact = ArtifactBuilder::new("acme.web", "1.0.0", &[]);
    artifact.set("description", json!("word ".repeat(10_000)));
    let file = file_name("acme.web", "1.0.0");
    let authorization = served.authorization();
    let answer = publish_with(&served, &[&authorization], &file, &artifact.finish());
    assert_eq!(answer.status, 202, "{answer:?}");
    let list = served.get("/api/v3/collections/").json();
    let listed = list["data"][0]["description"].as_str().expect("a text");
    assert!(listed.len() < 310 && listed.ends_with("word…"), "{listed}");
    let shown = served.get("/api/v3/collections/acme/web/").json();
    assert!(shown["description"].as_str().expect("a text").len() > 49_000);
}

#[test]
fn collections_have_pages() {
    let served = Served::new();
    publish(&served, "acme.net", "1.0.0", &[]);
    publish(&served, "acme.web", "1.2.0", &[("acme.net", ">=1.0.0,<2")]);
    let page = |path: &str| {
        let answer = served.ask("GET", path, &["accept: text/html"], b"");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        String::from_utf8(answer.body.to_vec()).expect("a page")
    };
    for path in ["/packages/acme.web", "/packages/acme.web/1.2.0"] {
        let text = page(path);
        for expected in [
            "ansible-galaxy collection install acme.web:1.2.0",
            "download=\"acme-web-1.2.0.tar.gz\"",
            "A collection of tests",
            "Ann",
            "MIT",
            "classes/acme.web.plugins.modules.page",
            "&gt;=1.0.0,&lt;2",
            "It is <em>small</em>.",
        ] {
            assert!(text.contains(expected), "{path}: {expected}: {text}");
        }
        let link = text
            .split("href=\"")
            .find(|rest| rest.contains("api/v3/artifacts/"));
        let link = link
            .and_then(|rest| rest.split('"').next())
            .expect("a link");
        let downloaded = served.get(&format!("/{}", link.trim_start_matches("../")));
        assert_eq!(
            downloaded.header("content-type"),
            "application/gzip",
            "{link}"
        );
        assert!(!text.contains("manifest.yaml"), "{path}");
    }
    assert!(page("/packages/acme.net").contains("acme.web"));
    let found = page("/packages?q=collection");
    assert!(
        found.contains("acme.net") && found.contains("acme.web"),
        "{found}"
    );
}
