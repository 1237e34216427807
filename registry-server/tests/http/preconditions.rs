//! Preconditions of every request that changes something.

use http_body_util::Full;
use serde_json::Value;

use crate::support::request;
use crate::writes::{Filled, JSON, PATCH};

/// Before everything, and long before the clock of the tests.
const OLD: &str = "if-unmodified-since: Mon, 01 Jan 2001 00:00:00 GMT";

/// No route is forgotten: the description lists them all.
#[test]
fn all_routes_that_change_something_are_known() {
    let filled = Filled::new();
    let described = filled.served.get("/v1/openapi.json").json();
    let paths = described["paths"].as_object().expect("an object");
    let methods = |item: &Value| {
        let methods = item.as_object().expect("an object").keys();
        methods.cloned().collect::<Vec<_>>()
    };
    let mut described: Vec<String> = paths
        .iter()
        .flat_map(|(path, item)| {
            let methods = methods(item).into_iter();
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        // A batch request reads.
        .filter(|route| !route.starts_with("GET ") && route != "POST /index/v1/batch")
        .collect();
    let mut known: Vec<&str> = filled.writes.iter().map(|write| write.route).collect();
    described.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, described);
}

#[test]
fn a_change_whose_precondition_does_not_hold_is_not_made() {
    let filled = Filled::new();
    let before = filled.everything();
    for write in &filled.writes {
        for condition in [OLD, "if-match: \"other\"", "if-none-match: *"] {
            if write.read.is_none() && !condition.starts_with("if-match") {
                continue;
            }
            let row = format!("{} with {condition}", write.route);
            let answer = filled.write(write, condition);
            assert_eq!(answer.status, 412, "{row}: {answer:?}");
            assert_eq!(filled.everything(), before, "{row}");
        }
    }
}

/// Documents of the index have no time of their own, and are sent with that of the request.
#[test]
fn a_document_that_was_changed_since_is_not_sent() {
    let filled = Filled::new();
    for path in ["/index/config.json", "/index/v1/names.ndjson"] {
        let sent = filled.served.get(path).header("last-modified").to_owned();
        let status = |condition: &str| {
            let request = request("GET", path, &[condition], Full::default());
            filled.served.statuses(vec![request])
        };
        assert_eq!(status(OLD), [412], "{path}");
        assert_eq!(
            status(&format!("if-unmodified-since: {sent}")),
            [200],
            "{path}"
        );
    }
}

/// Clients that have read the same do not replace each other's changes: each change has to be of what its client has
/// read.
#[test]
fn one_of_many_changes_of_the_same_state_is_made() {
    let filled = Filled::new();
    let listed = filled.served.get("/v1/catalog/packages").json();
    let id = listed["packages"][0]["id"].as_str().expect("an id");
    let path = format!("/v1/catalog/packages/{id}");
    let etag = filled
        .ask("GET", &path, JSON, b"")
        .header("etag")
        .to_owned();
    let requests = (0..8).map(|number| {
        let body = format!(r#"[{{"op":"replace","path":"/description","value":"{number}"}}]"#);
        let headers = [
            &*filled.served.authorization(),
            &format!("content-type: {PATCH}"),
            &format!("if-match: {etag}"),
        ];
        request("PATCH", &path, &headers, Full::from(body))
    });
    let mut statuses = filled.served.statuses(requests.collect());
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}

/// A client can change what it has just read.
#[test]
fn a_change_whose_precondition_holds_is_made() {
    for at in 0..Filled::new().writes.len() {
        for (name, header) in [
            ("if-match", "etag"),
            ("if-unmodified-since", "last-modified"),
        ] {
            // Some change what the next one reads.
            let filled = Filled::new();
            let write = &filled.writes[at];
            let Some(read) = &write.read else { continue };
            let known = filled.ask("GET", read, JSON, b"");
            let value = known.header(header);
            assert!(!value.is_empty(), "{}: {known:?}", write.route);
            let answer = filled.write(write, &format!("{name}: {value}"));
            assert_ne!(
                answer.status, 412,
                "{} with {name}: {answer:?}",
                write.route
            );
        }
    }
}
