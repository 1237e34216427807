use http::HeaderValue;

use super::super::dispatch::SURFACES;
use super::*;

fn found(path: &str, accept: &str) -> Option<(bool, bool)> {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_str(accept).expect("a header"),
    );
    let (surface, route) = find(SURFACES, path, &headers)?;
    Some((
        !std::ptr::eq(surface, &raw const FOR_PROGRAMS),
        route.is_some(),
    ))
}

#[test]
fn browsers_get_pages_and_programs_what_they_had() {
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (path, in_browser, in_program) in [
        ("", Some((true, true)), None),
        ("packages", Some((true, true)), Some((false, true))),
        ("packages/a.B", Some((true, true)), Some((false, true))),
        ("packages/a.B/c", Some((true, false)), Some((false, false))),
        ("classes/a.B", Some((true, true)), Some((false, true))),
        ("style.css", Some((true, true)), Some((false, true))),
        ("nothing/at/all/here", Some((true, false)), None),
        ("packages-of-others", Some((true, false)), None),
        ("v1/packages", None, None),
        ("v1/nothing", None, None),
        ("index/config.json", None, None),
        ("index/nothing", None, None),
        ("blobs/nothing", None, None),
        ("healthz", None, None),
    ] {
        assert_eq!(found(path, browser), in_browser, "{path}");
        assert_eq!(found(path, "*/*"), in_program, "{path}");
    }
}

#[test]
fn no_page_has_the_address_of_an_api() {
    for route in ROUTES.iter().filter(|route| !route.path.is_empty()) {
        let (_, other) = route::find(SURFACES, route.path);
        assert!(other.is_none(), "{}", route.path);
        for handler in route.handlers {
            assert!(!handler.summary.is_empty(), "{}", route.path);
        }
    }
}
