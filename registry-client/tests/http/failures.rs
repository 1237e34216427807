//! Failing requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pkgres_manifest::ArtifactDigest;
use pkgres_manifest::diagnostic::Code;
use pkgres_registry_client::http::{Secret, TokenRequest};

use crate::fake::{Fake, Received, Reply, World, name};
use crate::{assert_says, connect, options, rejection, some, versions};

fn world() -> World {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    world
}

/// Does something else with the first requests for a path.
fn first(
    times: usize,
    path: &'static str,
    mut fault: impl FnMut(Reply) -> Reply + Send + 'static,
) -> impl FnMut(&Received) -> Reply + Send + 'static {
    let (world, mut left) = (world(), times);
    move |request| {
        let reply = world.answer(request);
        if request.path.starts_with(path) && left > 0 {
            left -= 1;
            fault(reply)
        } else {
            reply
        }
    }
}

/// Half of an answer.
fn cut(mut reply: Reply) -> Reply {
    reply.cut = Some(reply.body.len() / 2);
    reply
}

/// An answer with another byte in its first document.
fn flipped(mut reply: Reply) -> Reply {
    let line = reply.body.iter().position(|byte| *byte == b'\n');
    reply.body[line.expect("a line") + 5] ^= 1;
    reply
}

/// Reads the package from a registry with a fault; gives the registry back to look at.
fn read_through(
    answer: impl FnMut(&Received) -> Reply + Send + 'static,
) -> Result<(), pkgres_manifest::diagnostic::Diagnostic> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(answer);
    let registry = connect(&fake, options(folder.path()));
    match versions(&registry, &["a.A"]) {
        Ok(found) => {
            assert_eq!(found, [some(&["1.0.0"])]);
            Ok(())
        }
        Err(error) => Err(error.to_diagnostic()),
    }
}

#[test]
fn transient_errors_are_retried() {
    for path in ["/index/config.json", "/index/v1/batch"] {
        assert_eq!(read_through(first(2, path, cut)), Ok(()));
        for status in [408, 429, 500, 502, 503, 504] {
            let busy = move |_| Reply::new(status, "busy");
            assert_eq!(read_through(first(2, path, busy)), Ok(()), "{status}");
        }
    }
    assert_eq!(read_through(first(2, "/index/v1/batch", flipped)), Ok(()));
}

#[test]
fn a_lasting_error_names_the_address_and_the_attempts() {
    let finding = read_through(first(9, "/index/v1/batch", cut)).expect_err("it is cut off");
    let parts = [
        "`acme`",
        "POST http://127.0.0.1:",
        "/index/v1/batch",
        "cut off",
        "(tried 3 times)",
    ];
    assert_says(&finding, Code::RegistryUnreachable, &parts);
    assert!(finding.hints[0].contains("--offline"));

    let finding = read_through(first(9, "/index/v1/batch", flipped)).expect_err("it is wrong");
    assert_says(
        &finding,
        Code::Digest,
        &["has the digest", "(tried 3 times)"],
    );

    // The log of the registry has the cause under the id.
    let failed = |_| {
        let error =
            r#"{"errors":[{"code":"pkgres.internal","detail":"it failed","request_id":"req-7"}]}"#;
        Reply::new(500, error)
    };
    let finding = read_through(first(9, "/index/v1/batch", failed)).expect_err("it failed");
    let parts = ["it failed (500, pkgres.internal, request req-7)"];
    assert_says(&finding, Code::RegistryUnreachable, &parts);

    let busy = |_| Reply::new(503, "<html>busy</html>");
    let finding = read_through(first(9, "/index/", busy)).expect_err("it is busy");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["503", "(tried 3 times)"],
    );
}

/// The end of an answer may be missing though the connection says that it is whole.
#[test]
fn an_answer_without_its_end_is_rejected() {
    let shortened = |mut reply: Reply| {
        let end = reply.body.len() - 1;
        let line = reply.body[..end]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .expect("two lines");
        reply.body.truncate(line + 1);
        reply
    };
    let finding = read_through(first(9, "/index/v1/batch", shortened)).expect_err("cut off");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["cut off after 1 frames"],
    );
}

#[test]
fn permanent_errors_are_not_retried() {
    for (status, code, parts) in [
        (
            400,
            Code::RegistryUnreachable,
            ["400", "/index/config.json"],
        ),
        (401, Code::Denied, ["401", "denies access"]),
        (403, Code::Denied, ["403", "denies access"]),
        (
            407,
            Code::RegistryUnreachable,
            ["407", "cannot be reached through the proxy"],
        ),
        (
            404,
            Code::RegistryUnreachable,
            ["not the address of a registry", "/index/config.json"],
        ),
    ] {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let answer = move |_: &Received| {
            counted.fetch_add(1, Ordering::Relaxed);
            Reply::new(status, "no")
        };
        let finding = read_through(answer).expect_err("it does not work");
        assert_says(&finding, code, &parts);
        assert_eq!(count.load(Ordering::Relaxed), 1, "{status}");
    }
}

#[test]
fn a_registry_that_cannot_be_reached_is_not_one_without_packages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let registry = pkgres_registry_client::HttpRegistry::new(
        pkgres_manifest::RegistryName::parse("acme").expect("a name"),
        pkgres_registry_client::Address::parse(&address).expect("an address"),
        &pkgres_manifest::Limits::default(),
        options(folder.path()),
    );
    let finding = rejection(&registry, "a.A");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["refused", "(tried 3 times)", &address],
    );
}

#[test]
fn retry_after_is_respected() {
    let begin = Instant::now();
    let busy = |_| Reply::new(503, "").with("Retry-After", "1");
    assert_eq!(read_through(first(1, "/index/v1/batch", busy)), Ok(()));
    assert!(begin.elapsed() >= Duration::from_secs(1));

    let begin = Instant::now();
    let busy = |_| Reply::new(429, "").with("Retry-After", "3600");
    let finding = read_through(first(1, "/index/v1/batch", busy)).expect_err("that is too long");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["429", "retry in 3600 s"],
    );
    // A loaded machine takes seconds; to wait would take an hour.
    assert!(begin.elapsed() < Duration::from_mins(10));
}

#[test]
fn errors_of_the_registry_are_escaped() {
    let error = r#"{"errors":[{"status":401,"code":"pkgres.no_token","title":"Unauthorized",
        "detail":"a token is \u001b[31mneeded","request_id":"req-1"}]}"#;
    let finding = read_through(move |_| Reply::new(401, error)).expect_err("it denies access");
    assert_says(
        &finding,
        Code::Denied,
        &["a token is \\u{1b}[31mneeded", "pkgres.no_token"],
    );
    assert!(finding.hints[0].starts_with("`pkgres login http"));
}

/// Follows redirects with a token, to an address; returns the requests to the other registry.
fn redirected(status: u16, is_same: bool) -> (Result<(), String>, Vec<Received>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (home, away) = (world(), Fake::of(&world()));
    let target = away.address.clone();
    let fake = Fake::start(move |request| {
        if let Some(path) = request.path.strip_prefix("/moved") {
            let mut request = request.clone();
            path.clone_into(&mut request.path);
            return home.answer(&request);
        }
        let to = if is_same {
            format!("/moved{}", request.path)
        } else {
            format!("{}{}", target.trim_end_matches('/'), request.path)
        };
        Reply::new(status, "").with("Location", &to)
    });
    let mut options = options(folder.path());
    options.credentials.token = Some(Secret::new("sesame-123".to_owned()));
    let registry = connect(&fake, options);
    let read = versions(&registry, &["a.A"]).map(|_| ());
    let sent = fake.take_requests();
    assert!(sent.iter().all(|request| {
        request.headers.get("authorization").map(String::as_str) == Some("Bearer sesame-123")
    }));
    (
        read.map_err(|error| error.to_diagnostic().message),
        away.take_requests(),
    )
}

#[test]
fn credentials_are_not_sent_elsewhere() {
    let (read, _) = redirected(307, true);
    assert_eq!(read, Ok(()));
    for status in [301, 302, 303, 307, 308] {
        let (read, sent_away) = redirected(status, false);
        assert!(!sent_away.is_empty(), "the first request may be redirected");
        for request in sent_away {
            assert!(!format!("{request:?}").contains("sesame"), "{request:?}");
        }
        // A request with a body is not redirected elsewhere.
        let message = read.expect_err("it redirects elsewhere");
        assert!(message.contains("other than GET"), "{message}");
        assert!(!message.contains("sesame"));
    }
}

/// A document of the registry, such as its configuration, can name addresses with credentials.
#[test]
fn credentials_that_a_registry_names_are_not_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (home, away) = (world(), Fake::of(&world()));
    let elsewhere = away.address.replace("http://", "http://me:sesame@");
    let fake = Fake::start(move |request| {
        let mut reply = home.answer(request);
        if request.path == "/index/config.json" {
            let mut config: serde_json::Value = serde_json::from_slice(&reply.body).expect("JSON");
            config["batch"] = format!("{elsewhere}index/v1/batch").into();
            reply.body = config.to_string().into_bytes();
        }
        reply
    });
    let registry = connect(&fake, options(folder.path()));
    let found = versions(&registry, &["a.A"]).expect("it can be read");
    assert_eq!(found, [some(&["1.0.0"])]);
    let requests = away.take_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].headers.get("authorization"), None);
}

/// No content, or a part of it, is not a document, even if it can be read like one.
#[test]
fn an_answer_without_the_whole_content_is_an_error() {
    for status in [202, 204, 206] {
        let mut world = world();
        (world.is_mirror, world.key) = (true, None);
        let answer = move |request: &Received| {
            if request.path == "/index/v1/names.ndjson" {
                Reply::new(status, "")
            } else {
                world.answer(request)
            }
        };
        let finding = read_through(answer).expect_err("it is not whole");
        let part = format!("it answers {status}");
        assert_says(&finding, Code::RegistryUnreachable, &[&part]);
    }
}

#[test]
fn redirects_end() {
    let finding = read_through(|request| Reply::new(302, "").with("Location", &request.path))
        .expect_err("it redirects in a loop");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["redirects more than 3 times"],
    );
}

/// Networks and proxies that require a login answer everything with a page.
#[test]
fn a_web_page_in_place_of_an_answer_has_its_own_message() {
    let page = |status| {
        let page = "<!DOCTYPE html>\n<html><title>Log in</title></html>";
        Reply::new(status, page).with("Content-Type", "text/html; charset=utf-8")
    };
    let check = |finding: pkgres_manifest::diagnostic::Diagnostic, part: &str| {
        assert_says(
            &finding,
            Code::RegistryUnreachable,
            &["cannot be read", part],
        );
        let hints = finding.hints.join("\n");
        let browser = "in a browser: the network or a proxy may require a login";
        assert!(hints.contains(browser), "{hints}");
    };
    for path in ["/index/config.json", "/index/v1/batch"] {
        let answer = first(9, path, move |_| page(200));
        let finding = read_through(answer).expect_err("it is a page");
        check(finding, "the answer is a web page");
    }
    let finding = read_through(move |_| page(511)).expect_err("it is a page");
    check(finding, "511 Network Authentication Required");
    let portal = Fake::start(move |_| page(200));
    let login = format!("{}login", portal.address);
    let target = format!("{login}?from=secret");
    let finding = read_through(move |_| Reply::new(302, "").with("Location", &target));
    let finding = finding.expect_err("it redirects to a page");
    let expected = format!("it redirects to {login}?…, which is a web page");
    check(finding, &expected);
    // Nothing is posted to another server.
    let target = login.clone();
    let answer = first(9, "/index/v1/batch", move |_| {
        Reply::new(302, "").with("Location", &target)
    });
    let finding = read_through(answer).expect_err("it redirects to a page");
    check(finding, &format!("other than GET to {login}"));
}

/// The status of a page says nothing about the request.
#[test]
fn a_web_page_confirms_no_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let world = world();
    let fake = Fake::start(move |request| match request.method.as_str() {
        "GET" => world.answer(request),
        _ => Reply::new(200, "<html>Log in</html>"),
    });
    let registry = connect(&fake, options(folder.path()));
    let version = pkgres_manifest::Version::parse("1.0.0").expect("a version");
    let published = registry.publish(&name("a.A"), &version, Vec::new(), false);
    let yanked = registry.yank(&name("a.A"), &version, "broken");
    for error in [published.map(|_| ()), yanked] {
        let finding = error.expect_err("a page is no answer").to_diagnostic();
        let parts = ["did not carry out the request", "the answer is a web page"];
        assert_says(&finding, Code::RegistryUnreachable, &parts);
    }
}

/// A proxy can answer in place of the registry.
#[test]
fn only_the_record_of_a_release_confirms_that_it_is_published() {
    let version = pkgres_manifest::Version::parse("1.0.0").expect("a version");
    let archive = b"an archive".to_vec();
    let digest = ArtifactDigest::of_archive(&archive);
    let other = ArtifactDigest::of_archive(b"another one");
    for (status, body, expected) in [
        (201, format!(r#"{{"sha256":"{digest}"}}"#), None),
        (
            200,
            format!(r#"{{"sha256":"{digest}","warnings":[]}}"#),
            None,
        ),
        (204, String::new(), Some("is not the record of the release")),
        (
            200,
            "{}".to_owned(),
            Some("is not the record of the release"),
        ),
        (
            200,
            format!(r#"{{"sha256":"{other}"}}"#),
            Some("is the record of another archive"),
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let world = world();
        let answer = body.clone();
        let fake = Fake::start(move |request| match request.method.as_str() {
            "GET" => world.answer(request),
            _ => Reply::new(status, answer.clone()),
        });
        let registry = connect(&fake, options(folder.path()));
        let published = registry.publish(&name("a.A"), &version, archive.clone(), false);
        match (published, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => {
                let finding = error.to_diagnostic();
                assert_says(&finding, Code::RegistryUnreachable, &[expected]);
            }
            (published, _) => panic!("{status} {body}: {published:?}"),
        }
    }
}

/// Permitting plain HTTP, which the hint for `http://` suggests, would not help.
#[test]
fn redirects_lead_to_the_web() {
    for target in ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"] {
        let finding = read_through(|_| Reply::new(302, "").with("Location", target))
            .expect_err("it redirects elsewhere");
        let parts = [target, "neither https nor http"];
        assert_says(&finding, Code::RegistryUnreachable, &parts);
        let hints = finding.hints.join("\n");
        assert!(!hints.contains("--allow-http"), "{hints}");
    }
}

#[test]
fn plain_http_is_for_this_machine_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = pkgres_registry_client::HttpRegistry::new(
        pkgres_manifest::RegistryName::parse("acme").expect("a name"),
        pkgres_registry_client::Address::parse("http://me:sesame@192.0.2.1/").expect("an address"),
        &pkgres_manifest::Limits::default(),
        options(folder.path()),
    );
    let finding = rejection(&registry, "a.A");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["http://192.0.2.1/", "without encryption"],
    );
    assert!(!finding.message.contains("sesame"));
    assert!(finding.hints[0].contains("--allow-http"));
}

#[test]
fn an_answer_beyond_its_limit_is_not_read() {
    let long = |_: Reply| Reply::new(200, vec![b' '; 5 << 20]);
    let finding = read_through(first(9, "/index/config.json", long)).expect_err("it is too long");
    let parts = ["/index/config.json", "more than the limit of 4194304 bytes"];
    assert_says(&finding, Code::RegistryUnreachable, &parts);
}

#[test]
fn a_server_without_tls_is_asked_once() {
    use std::io::{Read as _, Write as _};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address");
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.read(&mut [0; 1024]);
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).expect("it is connected");
        // A second attempt could not connect.
    });
    let registry = pkgres_registry_client::HttpRegistry::new(
        pkgres_manifest::RegistryName::parse("acme").expect("a name"),
        pkgres_registry_client::Address::parse(&format!("https://{host}/")).expect("an address"),
        &pkgres_manifest::Limits::default(),
        options(folder.path()),
    );
    let finding = rejection(&registry, "a.A");
    answering.join().expect("it answers");
    let parts = ["the server does not answer with TLS"];
    assert_says(&finding, Code::RegistryUnreachable, &parts);
    let meant = format!("did you mean `http://{host}/`?");
    assert!(finding.hints[0].starts_with(&meant), "{finding:?}");
}

/// The registry may have created a token, though its answer is lost. Nobody would know those of further attempts.
#[test]
fn a_token_is_not_created_twice() {
    let created = r#"{"token":"secret","id":"1","owner":"ann","scopes":["read"]}"#;
    let create = |fault: fn(Reply) -> Reply| {
        let world = world();
        let mut left = 1;
        let fake = Fake::start(move |request| {
            if request.path != "/v1/tokens" {
                return world.answer(request);
            }
            left -= 1;
            let reply = Reply::new(201, created);
            if left == 0 { fault(reply) } else { reply }
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = connect(&fake, options(folder.path()));
        let new = TokenRequest {
            scopes: vec!["read".to_owned()],
            ..Default::default()
        };
        let created = registry.create_token(&new);
        let requests = fake.take_requests();
        let count = requests
            .iter()
            .filter(|request| request.path == "/v1/tokens");
        (
            created.map_err(|error| error.to_diagnostic()),
            count.count(),
        )
    };
    for fault in [
        cut,
        |_| Reply::new(502, "lost"),
        |_| Reply::new(500, "lost"),
    ] {
        let (created, requests) = create(fault);
        assert_eq!(requests, 1);
        let finding = created.expect_err("nobody has the secret");
        assert_says(
            &finding,
            Code::RegistryUnreachable,
            &["did not confirm the request"],
        );
        assert_eq!(finding.hints.len(), 1, "{finding}");
        assert!(finding.hints[0].contains("pkgres token list"), "{finding}");
    }
    let (created, requests) = create(|_| Reply::new(503, "busy"));
    assert_eq!(
        (created.expect("a token").1, requests),
        ("secret".to_owned(), 2)
    );
}

/// The answer to the first request is lost, and the second meets the change of the first.
#[test]
fn owners_that_were_changed_by_a_lost_request_are_changed() {
    let world = world();
    let mut attempts = 0;
    let fake = Fake::start(move |request| {
        let owners = match attempts {
            0 => r#"{"generation":4,"owners":["ann"]}"#,
            _ => r#"{"generation":5,"owners":["ann","bob"]}"#,
        };
        match (&*request.method, &*request.path) {
            ("PUT", "/v1/packages/a.A/owners") if attempts == 0 => {
                attempts = 1;
                cut(Reply::new(200, owners))
            }
            ("PUT", _) => {
                let error =
                    r#"{"errors":[{"code":"pkgres.concurrent_update","detail":"read it again"}]}"#;
                Reply::new(409, error)
            }
            ("GET", "/v1/packages/a.A") => Reply::new(200, owners),
            _ => world.answer(request),
        }
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = connect(&fake, options(folder.path()));
    let package = name("a.A");
    let before = registry.owners(&package).expect("an answer");
    let mut new = before.expect("the package is there");
    new.owners.insert("bob".to_owned());
    let changed = registry.set_owners(&package, &new).expect("it is changed");
    assert_eq!(
        (changed.generation, changed.owners),
        (5, new.owners.clone())
    );
    new.owners.insert("eve".to_owned());
    let changed = registry.set_owners(&package, &new);
    let finding = changed.expect_err("it is another change").to_diagnostic();
    assert_says(&finding, Code::Rejected, &["read it again"]);
    assert!(
        finding.hints[0].contains("run the command again"),
        "{finding}"
    );
}

/// Neither the cache nor another registry helps whoever searches this one.
#[test]
fn a_search_in_a_busy_registry_can_be_repeated_later() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(first(9, "/v1/packages", |_| Reply::new(503, "busy")));
    let registry = connect(&fake, options(folder.path()));
    let found = pkgres_registry_client::Registry::search(&registry, &["web".to_owned()], 10);
    let finding = found.expect_err("it is busy").to_diagnostic();
    let hints = ["try again later, or ask the operator of the registry"];
    assert_eq!(finding.hints, hints);
}

#[test]
fn the_error_of_the_network_is_the_cause_of_a_failed_request() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Each connection is closed before the answer is complete.
    let fake = Fake::start(first(usize::MAX, "/", cut));
    let registry = connect(&fake, options(folder.path()));
    let error = versions(&registry, &["a.A"]).expect_err("no answer is complete");
    let mut cause = std::error::Error::source(&error);
    let mut is_of_library = false;
    while let Some(error) = cause {
        is_of_library |= error.is::<reqwest::Error>();
        cause = error.source();
    }
    assert!(is_of_library, "{error:?}");
}
