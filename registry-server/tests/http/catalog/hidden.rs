//! Releases that are not public.

use pkgres_tests::archives::archive;
use serde_json::Value;

use super::{CATEGORIES, FORM, PACKAGES, filled, form, id, message};
use crate::support::{Answer, Served};

#[test]
fn a_release_that_is_not_public_is_for_its_owners() {
    let served = filled();
    let id = id(&served.upload("{\"is_public\":false}", &archive("a.New", "1.0.0", &[])));
    let stranger = served.authorization_of("stranger", r#"["read","publish"]"#);
    for part in ["", "/download", "/ui", "/logo"] {
        let path = format!("{PACKAGES}/{id}{part}");
        let anonymous = served.ask("GET", &path, &[], b"");
        assert_eq!(anonymous.status, 401, "{path}");
        let other = served.ask("GET", &path, &[&stranger], b"");
        assert_eq!(other.status, 403, "{path}");
        assert!(!message(&other).is_empty());
    }
    let own = [&*served.authorization()];
    let own = served.ask("GET", &format!("{PACKAGES}/{id}/download"), &own, b"");
    assert_eq!(
        (own.status, own.body),
        (200, archive("a.New", "1.0.0", &[]).into())
    );
}

/// A token of the owner is not enough: it has to be for the package, and for reading or changing releases.
#[test]
fn a_release_that_is_not_public_needs_a_token_for_it() {
    let served = Served::new();
    let admin = served.authorization();
    let headers = [&*admin, "content-type: application/json"];
    let category = served.ask("POST", CATEGORIES, &headers, br#"{"name":"Secret"}"#);
    let category = category.json()["id"].as_str().expect("an id").to_owned();
    let token = |scopes: &str, names: &str| {
        let body = format!(r#"{{"scopes":{scopes},"names":{names},"owner":"ann"}}"#);
        let made = served.ask("POST", "/v1/tokens", &headers, body.as_bytes());
        let secret = made.json()["token"].as_str().expect("a token").to_owned();
        format!("authorization: Bearer {secret}")
    };
    let everywhere = token(r#"["publish"]"#, "[]");
    let upload = |name: &str| {
        let metadata = br#"{"is_public":false,"categories":["Secret"]}"#;
        let body = form(&[
            ("__metadata__", &metadata[..]),
            ("file", &archive(name, "1.0.0", &[])),
        ]);
        let kind = format!("content-type: {FORM}");
        served.ask("POST", PACKAGES, &[&everywhere, &kind], &body)
    };
    let hidden = id(&upload("a.Hidden"));
    upload("b.Other");
    let names = |answer: &Answer| -> Vec<String> {
        let answer = answer.json();
        let packages = answer["packages"].as_array().expect("a list").iter();
        let name = |package: &Value| package["fully_qualified_name"].as_str().map(str::to_owned);
        packages.filter_map(name).collect()
    };
    let both = ["a.Hidden", "b.Other"];
    let none: [&str; 0] = [];
    for (scopes, limits, status, expected) in [
        (r#"["publish"]"#, "[]", 200, &both[..]),
        (r#"["read"]"#, "[]", 200, &both),
        (r#"["delete"]"#, r#"["a.*"]"#, 200, &both[..1]),
        (r#"["publish"]"#, r#"["b.Other"]"#, 403, &both[1..]),
        (r#"["yank","owners","tokens"]"#, "[]", 403, &none),
    ] {
        let token = token(scopes, limits);
        let case = format!("{scopes} for {limits}");
        for part in ["", "/download"] {
            let path = format!("{PACKAGES}/{hidden}{part}");
            let answer = served.ask("GET", &path, &[&token], b"");
            assert_eq!(answer.status, status, "{case}: {part}: {answer:?}");
        }
        for part in ["/ui", "/logo", "/supplier_logo"] {
            let path = format!("{PACKAGES}/{hidden}{part}");
            let answer = served.ask("GET", &path, &[&token], b"");
            // The archive has no such file.
            let expected = if status == 200 { 404 } else { status };
            assert_eq!(answer.status, expected, "{case}: {part}: {answer:?}");
        }
        let category = format!("{CATEGORIES}/{category}");
        for path in [
            &*format!("{PACKAGES}?order_by=fqn"),
            &format!("{PACKAGES}?order_by=fqn&catalog=true&limit=2"),
            &format!("{PACKAGES}?order_by=fqn&owned=true"),
            &format!("{PACKAGES}?order_by=fqn&search=Other,Hidden&version=latest"),
            &category,
        ] {
            let mut found = names(&served.ask("GET", path, &[&token], b""));
            found.sort();
            assert_eq!(found, expected, "{case}: {path}");
        }
    }
    let anonymous = served.get(&format!("{CATEGORIES}/{category}"));
    assert_eq!(names(&anonymous), none);
    assert_eq!(anonymous.json()["package_count"], 0);
}
