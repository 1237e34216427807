//! The credentials that requests to servers with the Galaxy API carry.

use super::*;

#[test]
fn tokens_are_sent_as_galaxy_servers_expect_them() {
    let mut galaxy = world();
    galaxy.authorization = Some("Token secret".to_owned());
    let fake = Fake::start(galaxy.clone().answers());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut with_token = options(folder.path());
    with_token.credentials.token = Some(Secret::new("secret".to_owned()));
    let registry = connect(&fake, with_token.clone());
    assert!(
        versions(&registry, "acme.net")
            .expect("it is permitted")
            .is_some()
    );
    let without = connect(&fake, options(folder.path()));
    let finding = versions(&without, "acme.net").expect_err("it is denied");
    assert_eq!(finding.code, Code::Denied);
    let login = format!("`pkgres login galaxy:{}` stores a token", fake.address);
    assert_eq!(finding.hints, [login]);

    // A password is sent as such.
    galaxy.authorization = Some("Basic bWU6c2VjcmV0".to_owned());
    fake.answer(galaxy.answers());
    let address = fake.address.replace("http://", "http://me:secret@");
    let registry = GalaxyRegistry::new(
        RegistryName::parse("hub").expect("a name"),
        Address::parse(&address).expect("an address"),
        &ReadOptions::default(),
        options(folder.path()),
    );
    assert!(
        versions(&registry, "acme.net")
            .expect("it is permitted")
            .is_some()
    );
}

#[test]
fn a_token_is_exchanged_where_its_owner_says() {
    let mut galaxy = world();
    galaxy.authorization = Some("Bearer short-lived".to_owned());
    let fake = Fake::start(galaxy.answers());
    let keycloak = Fake::start(|_| Reply::new(200, r#"{"access_token":"short-lived"}"#));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut options = options(folder.path());
    options.credentials.token = Some(Secret::new("long lived+1".replace(' ', "-")));
    options.credentials.exchange = Some(TokenExchange {
        url: format!("{}token", keycloak.address),
        client_id: "cloud-services".to_owned(),
    });
    let registry = connect(&fake, options);
    assert!(
        versions(&registry, "acme.net")
            .expect("it is permitted")
            .is_some()
    );
    let requests = keycloak.take_requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (&*requests[0].method, &*requests[0].path),
        ("POST", "/token")
    );
    assert_eq!(
        String::from_utf8_lossy(&requests[0].body),
        "grant_type=refresh_token&client_id=cloud-services&refresh_token=long-lived%2B1"
    );
    // The token itself goes nowhere else.
    let sent = fake.take_requests();
    assert!(
        sent.iter()
            .all(|request| !format!("{request:?}").contains("long-lived"))
    );
}

/// The server says why, and another token would help.
#[test]
fn a_token_that_cannot_be_exchanged_is_denied() {
    let fake = Fake::start(world().answers());
    let answer = r#"{"error":"invalid_grant","error_description":"Token is not active"}"#;
    let keycloak = Fake::start(move |_| Reply::new(400, answer));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut options = options(folder.path());
    options.credentials.token = Some(Secret::new("expired".to_owned()));
    options.credentials.exchange = Some(TokenExchange {
        url: format!("{}token", keycloak.address),
        client_id: "cloud-services".to_owned(),
    });
    let finding = versions(&connect(&fake, options), "acme.net").expect_err("it is denied");
    assert_eq!(finding.code, Code::Denied);
    let message = &finding.message;
    assert!(message.contains("Token is not active (400)"), "{message}");
    let login = format!("`pkgres login galaxy:{}` stores a token", fake.address);
    assert_eq!(finding.hints, [login]);
}

#[test]
fn what_is_no_token_is_sent_nowhere() {
    let fake = Fake::start(world().answers());
    let keycloak = Fake::start(|_| Reply::new(200, r#"{"access_token":"two\r\nlines"}"#));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut options = options(folder.path());
    options.credentials.token = Some(Secret::new("long-lived".to_owned()));
    options.credentials.exchange = Some(TokenExchange {
        url: format!("{}token", keycloak.address),
        client_id: "cloud-services".to_owned(),
    });
    let registry = connect(&fake, options);
    let error = versions(&registry, "acme.net").expect_err("it is no token");
    let message = error.message;
    assert!(message.contains("a token is one line"), "{message}");
    assert!(!message.contains("tried"), "{message}");
    assert_eq!(fake.take_requests().len(), 0);
}

#[test]
fn credentials_do_not_follow_a_download_to_another_server() {
    let galaxy = world();
    let elsewhere = Fake::start(galaxy.clone().answers());
    let folder = tempfile::tempdir().expect("a temporary folder");
    for redirects in [false, true] {
        let mut galaxy = galaxy.clone();
        galaxy.authorization = Some("Token secret".to_owned());
        let target = elsewhere.address.trim_end_matches('/').to_owned();
        if !redirects {
            galaxy.downloads.clone_from(&target);
        }
        let fake = Fake::start(
            move |request| match request.path.strip_prefix("/download/") {
                Some(file) => {
                    Reply::new(302, "").with("location", &format!("{target}/download/{file}"))
                }
                None => galaxy.answer(request),
            },
        );
        let mut options = options(folder.path());
        options.cache_folder = None;
        options.credentials.token = Some(Secret::new("secret".to_owned()));
        let (packages, _) = solved(request(), connect(&fake, options));
        assert_eq!(packages.len(), 2);
        let requests = elsewhere.take_requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert_eq!(request.headers.get("authorization"), None);
        }
    }
}
