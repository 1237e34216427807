//! Tokens: what they permit, who lists and removes them, and how they expire.

use pkgres_registry_server::RegistryOptions;
use pkgres_tests::archives::archive;

use crate::support::{Answer, Served};

#[test]
fn tokens_are_shown_once_and_permit_their_scopes() {
    let served = Served::new();
    let json = "content-type: application/json";
    let admin = served.authorization();
    let body = br#"{"scopes":["publish"],"owner":"ann","names":["org.acme.*"],"note":"for CI"}"#;
    let made = served.ask("POST", "/v1/tokens", &[&admin, json], body);
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let secret = made["token"].as_str().expect("a secret");
    let ann = format!("x-auth-token: {secret}");
    let who = served.ask("GET", "/v1/whoami", &[&ann], b"").json();
    assert_eq!(
        (&who["owner"], &who["scopes"][0]),
        (&"ann".into(), &"publish".into())
    );
    let listed = served.ask("GET", "/v1/tokens", &[&admin], b"");
    assert!(String::from_utf8_lossy(&listed.body).contains("for CI"));
    assert!(!String::from_utf8_lossy(&listed.body).contains(secret));
    let publish = |name: &str| {
        let path = format!("/v1/packages/{name}/versions/1.1.0");
        let headers = [&*ann, "content-type: application/zip"];
        served.ask("PUT", &path, &headers, &archive(name, "1.1.0", &[]))
    };
    assert_eq!(publish("org.acme.Web").status, 201);
    assert_eq!(publish("org.acmeevil.Web").code(), "pkgres.forbidden");
    assert_eq!(publish("a.Web").code(), "pkgres.forbidden");
    let path = format!("/v1/tokens/{}", made["id"].as_str().expect("a number"));
    assert_eq!(served.ask("DELETE", &path, &[&ann], b"").status, 204);
    assert_eq!(served.ask("GET", "/v1/whoami", &[&ann], b"").status, 401);
}

/// A token that leaks from a job neither shows nor removes nor creates other tokens.
#[test]
fn managing_tokens_needs_their_scope() {
    let served = Served::new();
    let json = "content-type: application/json";
    let make =
        |by: &str, body: &str| served.ask("POST", "/v1/tokens", &[by, json], body.as_bytes());
    let token = |answer: &Answer| {
        assert_eq!(answer.status, 201, "{answer:?}");
        let created = answer.json();
        let secret = created["token"].as_str().expect("a secret");
        format!("authorization: Bearer {secret}")
    };
    let admin = served.authorization();
    let lead = token(&make(
        &admin,
        r#"{"scopes":["publish","tokens"],"owner":"ann","names":["org.acme.*"],
            "expires":"2027-02-01T00:00:00Z"}"#,
    ));
    // By default it expires with the token that created it.
    let answer = make(&lead, r#"{"scopes":["publish"],"note":"for CI"}"#);
    let created = answer.json();
    assert_eq!(
        (&created["owner"], &created["names"][0], &created["expires"]),
        (
            &"ann".into(),
            &"org.acme.*".into(),
            &"2027-02-01T00:00:00Z".into()
        )
    );
    let job = token(&answer);
    for more in [
        r#"{"scopes":["admin"]}"#,
        r#"{"scopes":["publish","yank"]}"#,
        r#"{"scopes":["publish"],"owner":"bob"}"#,
        r#"{"scopes":["publish"],"names":["org.*"]}"#,
        r#"{"scopes":["publish"],"expires":"2027-02-01T00:00:01Z"}"#,
    ] {
        assert_eq!(make(&lead, more).code(), "pkgres.forbidden", "{more}");
    }
    let same = r#"{"scopes":["publish"],"expires":"2027-01-31T00:00:00Z"}"#;
    assert_eq!(make(&job, same).code(), "pkgres.forbidden");
    let listed = served.ask("GET", "/v1/tokens", &[&job], b"");
    assert_eq!(listed.code(), "pkgres.forbidden");
    let listed = served.ask("GET", "/v1/tokens", &[&lead], b"").json();
    let listed = listed["tokens"].as_array().expect("a list");
    let path_of = |note: &str| {
        let found = listed.iter().find(|entry| entry["note"] == note);
        let id = found.and_then(|entry| entry["id"].as_str());
        format!("/v1/tokens/{}", id.expect("it is listed"))
    };
    assert_eq!(listed.len(), 2, "{listed:?}");
    let remove = |note: &str| served.ask("DELETE", &path_of(note), &[&job], b"").status;
    assert_eq!(remove(""), 403);
    assert_eq!(remove("for CI"), 204);
    assert_eq!(served.ask("GET", "/v1/whoami", &[&job], b"").status, 401);
    assert_eq!(served.ask("GET", "/v1/whoami", &[&lead], b"").status, 200);
}

/// A token is valid until it expires, even if it is in the cache.
#[test]
fn tokens_expire() {
    let served = Served::new();
    let headers = [&*served.authorization(), "content-type: application/json"];
    let body = br#"{"scopes":["read"],"expires":"2027-01-15T09:00:00Z"}"#;
    let made = served.ask("POST", "/v1/tokens", &headers, body);
    let token = made.json()["token"].as_str().expect("a token").to_owned();
    let asked = || {
        let header = format!("authorization: Bearer {token}");
        served.ask("GET", "/v1/whoami", &[&header], b"").status
    };
    assert_eq!(asked(), 200);
    served
        .seconds
        .fetch_add(3599, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(asked(), 200);
    served
        .seconds
        .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(asked(), 401);
}

/// Whoever may not change something does not learn from preconditions whether it exists.
#[test]
fn scopes_come_before_preconditions() {
    let served = Served::with(RegistryOptions::default().with_private(true));
    let bytes = archive("a.Web", "1.0.0", &[]);
    assert_eq!(served.publish("a.Web", "1.0.0", &bytes).status, 201);
    let body = br#"{"scopes":["publish"],"owner":"ann","names":["b.*"]}"#;
    let json = "content-type: application/json";
    let made = served.ask("POST", "/v1/tokens", &[&served.authorization(), json], body);
    let secret = made.json()["token"].as_str().expect("a secret").to_owned();
    let limited = format!("x-auth-token: {secret}");
    let reader = served.authorization_of("ann", r#"["read"]"#);
    for token in [&limited, &reader] {
        for name in ["a.Web", "a.None"] {
            let zip = "content-type: application/zip";
            let package = format!("/v1/packages/{name}");
            let release = format!("{package}/versions/1.0.0");
            let (owners, yank) = (format!("{package}/owners"), format!("{release}/yank"));
            for (method, path, kind, body) in [
                ("PUT", &release, zip, &bytes[..]),
                (
                    "PUT",
                    &owners,
                    json,
                    br#"{"owners":["ann"],"generation":1}"#,
                ),
                ("PUT", &yank, json, br#"{"reason":"x"}"#),
                ("DELETE", &yank, json, b""),
            ] {
                for condition in ["if-match: *", "if-none-match: *"] {
                    let answer = served.ask(method, path, &[token, kind, condition], body);
                    assert_eq!(
                        answer.code(),
                        "pkgres.forbidden",
                        "{method} {path} {condition}"
                    );
                }
            }
        }
    }
}

/// That is a mistake in the request: no other token would help.
#[test]
fn nobody_creates_a_limited_token_with_a_scope_for_everything() {
    let served = Served::new();
    let headers = [&*served.authorization(), "content-type: application/json"];
    let body = br#"{"scopes":["read"],"names":["a.*"]}"#;
    let answer = served.ask("POST", "/v1/tokens", &headers, body);
    assert_eq!(answer.code(), "pkgres.body_invalid", "{answer:?}");
}
