//! The catalog API of Murano.

mod hidden;
mod texts;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_registry_client::protocol::Digest;
use pkgres_tests::archives::{archive, files};
use serde_json::{Value, json};

use crate::support::{Answer, Served};

const PACKAGES: &str = "/v1/catalog/packages";
const CATEGORIES: &str = "/v1/catalog/categories";

impl Served {
    /// Sends a request with the token with the scope `admin`, as the client does.
    fn catalog(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let token = format!("x-auth-token: {}", self.token);
        let kind = format!("content-type: {kind}");
        self.ask(method, path, &[&token, &kind], body)
    }

    fn upload(&self, metadata: &str, archive: &[u8]) -> Answer {
        let body = form(&[("__metadata__", metadata.as_bytes()), ("file", archive)]);
        self.catalog("POST", PACKAGES, FORM, &body)
    }

    /// The releases of a list, as name and version.
    fn found(&self, query: &str) -> Vec<String> {
        let answer = self.catalog(
            "GET",
            &format!("{PACKAGES}?{query}"),
            "application/json",
            b"",
        );
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
        let answer = answer.json();
        let packages = answer["packages"].as_array().expect("a list");
        packages
            .iter()
            .map(|package| {
                let text = |key: &str| package[key].as_str().expect("a text").to_owned();
                format!("{} {}", text("fully_qualified_name"), text("version"))
            })
            .collect()
    }
}

const FORM: &str = "multipart/form-data; boundary=x";

fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, bytes) in parts {
        let head = format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--x--\r\n");
    body
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").to_owned()
}

/// The message of an error. Every value at the top is an object, or the client fails to read it.
fn message(answer: &Answer) -> String {
    let document = answer.json();
    let top = document.as_object().expect("an object");
    assert_eq!(top.len(), 1, "{document}");
    let error = &top["error"];
    assert_eq!(error["code"], answer.status);
    assert_eq!(answer.header("content-type"), "application/json");
    error["message"].as_str().expect("a message").to_owned()
}

fn filled() -> Served {
    let served = Served::new();
    let web = served.catalog(
        "POST",
        "/v1/catalog/categories",
        "application/json",
        b"{\"name\":\"Web\"}",
    );
    assert_eq!(web.status, 200, "{web:?}");
    for (name, version, metadata) in [
        ("a.Db", "1.0.0", "{\"is_public\":true,\"name\":\"Store\"}"),
        (
            "a.Web",
            "1.0.0",
            "{\"categories\":[\"Web\"],\"tags\":[\"t\"]}",
        ),
        (
            "a.Web",
            "1.10.0",
            "{\"description\":\"keeps nothing in a store\"}",
        ),
        ("a.Web", "2.0.0-rc.1", "{\"enabled\":false}"),
    ] {
        let answer = served.upload(metadata, &archive(name, version, &[]));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    served
}

#[test]
fn lists_have_conditions() {
    let served = filled();
    let (db, one, ten, two) = (
        "a.Db 1.0.0",
        "a.Web 1.0.0",
        "a.Web 1.10.0",
        "a.Web 2.0.0-rc.1",
    );
    for (query, expected) in [
        ("fqn=a.Db&page_size=3&pony=1", &[db][..]),
        ("fqn=a.Web&version=1.10", &[ten]),
        ("fqn=a.Web&version=ge:1.0.0&version=lt:1.10.0", &[one]),
        ("version=latest&fqn=a.Web", &[ten]),
        ("version=latest&fqn=a.Web&include_disabled=True", &[two]),
        ("version=in:1.10.0,2.0.0-rc.1", &[ten]),
        ("category=Web", &[one]),
        ("category=Web&category=None", &[one]),
        ("tag=in:t,u", &[one]),
        ("id=in:", &[]),
        ("type=library&class_name=a.Db", &[db]),
        ("type=application", &[]),
        ("name=Store", &[db]),
        // The name comes before the description.
        ("search=store", &[db, ten]),
        ("search=nothing%3Bpony", &[ten]),
        ("owned=True&fqn=a.Db", &[db]),
        ("owned=True&fqn=a.Web&version=2.0.0-rc.1", &[two]),
    ] {
        assert_eq!(served.found(query), expected, "{query}");
    }
    assert_eq!(served.found("include_disabled=true").len(), 4);
    for bad in ["limit=0", "limit=-1", "limit=x", "version=ge:pony"] {
        let answer = served.get(&format!("{PACKAGES}?{bad}"));
        assert_eq!(answer.status, 400, "{bad}");
        assert!(!message(&answer).is_empty());
    }
    assert_eq!(served.get(&format!("{PACKAGES}?marker=none")).status, 404);
    // Without a token, public releases are visible. A token that is invalid is an error.
    let public = served.get(PACKAGES).json();
    assert_eq!(public["packages"].as_array().map(Vec::len), Some(1));
    let unknown = served.ask("GET", PACKAGES, &["x-auth-token: tok"], b"");
    assert_eq!(unknown.status, 401);
}

/// The engine of Murano chooses versions by conditions, and does not know that a release is yanked.
#[test]
fn conditions_choose_no_yanked_release() {
    let served = filled();
    let yank = "/v1/packages/a.Web/versions/1.10.0/yank";
    let answer = served.catalog(
        "PUT",
        yank,
        "application/json",
        b"{\"reason\":\"it is broken\"}",
    );
    assert_eq!(answer.status, 204, "{answer:?}");
    let (one, ten) = ("a.Web 1.0.0", "a.Web 1.10.0");
    for (query, expected) in [
        ("version=latest", &[one][..]),
        ("version=ge:1.0.0", &[one]),
        ("version=ge:1.1.0", &[]),
        ("version=ge:1.0.0&version=1.10.0", &[ten]),
        ("version=1.10.0", &[ten]),
        ("version=in:1.10.0", &[ten]),
        ("", &[one, ten]),
    ] {
        assert_eq!(
            served.found(&format!("fqn=a.Web&{query}")),
            expected,
            "{query}"
        );
    }
}

#[test]
fn pages_neither_overlap_nor_have_gaps() {
    let served = filled();
    for order in [
        "",
        "&order_by=fqn&sort_dir=desc",
        "&order_by=created",
        "&search=a",
    ] {
        let mut seen = Vec::new();
        let mut marker = String::new();
        for _ in 0..9 {
            let path = format!("{PACKAGES}?limit=1&include_disabled=true{order}{marker}");
            let page = served.catalog("GET", &path, "application/json", b"").json();
            for package in page["packages"].as_array().expect("a list") {
                seen.push(package["id"].to_string());
            }
            match page["next_marker"].as_str() {
                Some(next) => marker = format!("&marker={next}"),
                None => break,
            }
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((count, seen.len()), (4, 4), "{order}");
    }
}

#[test]
fn invalid_uploads_are_errors() {
    let served = filled();
    let serial = served.registry.serial();
    let web = archive("a.New", "1.0.0", &[]);
    let old = archive("a.Web", "1.0.0", &[]);
    let lost = archive("a.New", "1.0.0", &[("a.None", "1")]);
    let long = format!("{{\"description\":\"{}\"}}", "x".repeat(1 << 20));
    for (kind, body, status) in [
        ("application/json", form(&[("file", &web)]), 415),
        ("multipart/form-data", form(&[("file", &web)]), 400),
        (FORM, b"--x\r\n".to_vec(), 400),
        (FORM, form(&[]), 400),
        (FORM, form(&[("file", b"")]), 400),
        (FORM, form(&[("file", b"PK")]), 400),
        (FORM, form(&[("a", &web), ("b", &web)]), 400),
        (FORM, form(&[("__metadata__", b"{"), ("a", &web)]), 400),
        (
            FORM,
            form(&[("__metadata__", b"{\"x\":1}"), ("a", &web)]),
            400,
        ),
        (
            FORM,
            form(&[("__metadata__", b"{\"categories\":[\"No\"]}"), ("a", &web)]),
            400,
        ),
        (
            FORM,
            form(&[("__metadata__", long.as_bytes()), ("a", &web)]),
            400,
        ),
        // A release that exists is a conflict, even with the same bytes; requirements that cannot be
        // satisfied are not.
        (FORM, form(&[("file", &old)]), 409),
        (FORM, form(&[("file", &lost)]), 400),
    ] {
        let answer = served.catalog("POST", PACKAGES, kind, &body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(!message(&answer).is_empty());
    }
    let anonymous = served.ask(
        "POST",
        PACKAGES,
        &[&format!("content-type: {FORM}")],
        &form(&[("file", &web)]),
    );
    assert_eq!(anonymous.status, 401);
    assert_eq!(served.registry.serial(), serial);
}

#[test]
fn patches_have_few_operations() {
    let served = filled();
    let id = id(&served.upload("{}", &archive("a.New", "1.0.0", &[])));
    let entry = format!("{PACKAGES}/{id}");
    let serial = served.registry.serial();
    let patch = |body: &Value| {
        let kind = "application/murano-packages-json-patch";
        served.catalog("PATCH", &entry, kind, body.to_string().as_bytes())
    };
    let operation =
        |op: &str, path: &str, value: Value| json!({"op": op, "path": path, "value": value});
    let done = patch(&json!([
        operation("replace", "/name", json!("N")),
        operation("add", "/tags", json!(["x", "y"])),
        operation("remove", "/tags", json!(["x"])),
        operation("replace", "/is_public", json!(true)),
        operation("replace", "/categories", json!(["Web"])),
    ]));
    assert_eq!(done.status, 200, "{done:?}");
    let shown = done.json();
    assert_eq!(shown["name"], "N");
    assert_eq!(shown["tags"], json!(["y"]));
    assert_eq!(shown["categories"], json!(["Web"]));
    for (body, status) in [
        (json!({}), 400),
        (json!([{"op": "remove", "path": "/tags"}]), 400),
        (json!([operation("replace", "/tags/0", json!("x"))]), 400),
        (json!([operation("replace", "/name", json!(1))]), 400),
        (
            json!([operation("replace", "/categories", json!(["No"]))]),
            400,
        ),
        (json!([operation("remove", "/tags", json!(["none"]))]), 404),
        (json!([operation("replace", "/owner_id", json!("me"))]), 403),
        (json!([operation("remove", "/name", json!("N"))]), 403),
    ] {
        let answer = patch(&body);
        assert_eq!(answer.status, status, "{body}");
        assert!(!message(&answer).is_empty());
    }
    let kind = served.catalog("PATCH", &entry, "application/json", b"[]");
    assert_eq!(kind.status, 415);
    assert_eq!(served.get(&entry).json(), shown);
    assert_eq!(served.registry.serial(), serial);
}

#[test]
fn a_deleted_release_is_absent_everywhere() {
    let served = filled();
    let bytes = archive("a.New", "1.0.0", &[]);
    let id = id(&served.upload("{\"categories\":[\"Web\"]}", &bytes));
    let path = format!("{PACKAGES}/{id}");
    let download = served.catalog("GET", &format!("{path}/download"), "application/json", b"");
    assert_eq!(download.body, bytes);
    assert_eq!(served.get("/apps/a.New.%3E=1,%3C2.zip").body, bytes);
    assert_eq!(
        served.get("/apps/a.Web.zip").body,
        archive("a.Web", "1.10.0", &[])
    );
    let ui = served.catalog("GET", &format!("{path}/ui"), "application/json", b"");
    assert_eq!(ui.status, 404);
    let before = served.registry.serial();
    assert_eq!(served.ask("DELETE", &path, &[], b"").status, 401);
    let deleted = served.catalog("DELETE", &path, "application/json", b"");
    assert_eq!(deleted.status, 200, "{deleted:?}");
    assert!(deleted.body.is_empty(), "{deleted:?}");
    assert_eq!(served.registry.serial(), before + 1);
    for gone in [
        &*path,
        "/apps/a.New.zip",
        "/index/v1/packages/a.!new.ndjson",
        "/index/v1/classes/a.!new.json",
        "/v1/packages/a.New",
    ] {
        let answer = served.catalog("GET", gone, "application/json", b"");
        assert_eq!(answer.status, 404, "{gone}");
    }
    let changes = served.get("/index/v1/changes").json();
    let last = changes["changes"].as_array().and_then(|all| all.last());
    assert_eq!(last.expect("a change")["kind"], "delete");
    let names = String::from_utf8(served.registry.names().to_vec()).expect("text");
    assert_eq!(names.lines().count(), 2, "{names}");
    // It can be published again.
    assert_eq!(served.upload("{}", &bytes).status, 200);
    assert_eq!(served.get("/index/v1/classes/a.!new.json").status, 200);
}

#[test]
fn categories_and_bundles() {
    let served = filled();
    let base = CATEGORIES;
    let json = "application/json";
    // Its only release is not public.
    assert_eq!(served.get(base).json()["categories"][0]["package_count"], 0);
    let list = served.catalog("GET", base, json, b"").json();
    let category = &list["categories"][0];
    assert_eq!(category["package_count"], 1);
    let path = format!("{base}/{}", category["id"].as_str().expect("an id"));
    assert_eq!(
        served.catalog("GET", &path, json, b"").json()["packages"][0]["fully_qualified_name"],
        "a.Web"
    );
    assert_eq!(served.catalog("DELETE", &path, json, b"").status, 403);
    for (body, status) in [
        ("{\"name\":\"Web\"}".to_owned(), 409),
        (format!("{{\"name\":\"{}\"}}", "x".repeat(81)), 400),
        ("{\"name\":\"\"}".to_owned(), 400),
    ] {
        let answer = served.catalog("POST", base, json, body.as_bytes());
        assert_eq!(answer.status, status, "{body}");
    }
    let empty = id(&served.catalog("POST", base, json, b"{\"name\":\"Empty\"}"));
    let empty = format!("{base}/{empty}");
    assert_eq!(served.catalog("DELETE", &empty, json, b"").status, 200);
    assert_eq!(served.catalog("DELETE", &empty, json, b"").status, 404);
    assert_eq!(served.get(&format!("{base}?marker=none")).status, 400);

    let bundle = "/bundles/all.bundle";
    assert_eq!(served.get(bundle).status, 404);
    let body = br#"{"Packages":[{"Name":"a.Web","Version":"1"},{"Name":"a.Db"}]}"#;
    assert_eq!(
        served
            .ask("PUT", bundle, &["content-type: application/json"], body)
            .status,
        401
    );
    for status in [201, 204] {
        assert_eq!(served.catalog("PUT", bundle, json, body).status, status);
    }
    assert_eq!(served.get(bundle).body.as_ref(), body);
    let with_addresses =
        br#"{"Packages":[{"Name":"a.Web","Version":"1","Url":"http://example.org/a.zip"}],"Version":1}"#;
    assert_eq!(
        served.catalog("PUT", bundle, json, with_addresses).status,
        204
    );
    assert_eq!(served.get(bundle).body.as_ref(), with_addresses);
    assert_eq!(
        served
            .catalog("PUT", bundle, json, b"{\"Packages\":[{\"Name\":\"1\"}]}")
            .status,
        400
    );
    assert_eq!(served.catalog("DELETE", bundle, json, b"").status, 204);
    assert_eq!(served.get(bundle).status, 404);
}

#[test]
fn forms_and_lists_are_those_of_real_clients() {
    let served = filled();
    let manifest =
        b"Format: 1.4\nType: Library\nFullName: a.Tagged\nVersion: 1.0.0\nTags: [own, both]\n";
    let archive_of = |manifest: &[u8]| files(&[("manifest.yaml", manifest)]);
    // Whatever the part is called that is no file. Tags of the form are added to those of the manifest.
    let metadata = br#"{"tags":["form","both"],"name":"Named"}"#;
    let tagged = archive_of(manifest);
    let body = form(&[("JsonString", metadata), ("file", &tagged)]);
    let uploaded = served.catalog("POST", PACKAGES, FORM, &body);
    assert_eq!(uploaded.status, 200, "{uploaded:?}");
    let uploaded = uploaded.json();
    assert_eq!(uploaded["name"], "Named");
    assert_eq!(uploaded["tags"], json!(["own", "both", "form"]));
    // A name is as long as that of a form may be, wherever it is.
    let named = |length: usize| {
        let name = "x".repeat(length);
        let manifest =
            format!("Format: 1.4\nType: Library\nFullName: a.Long\nVersion: 1.0.0\nName: {name}\n");
        served.upload("{}", &archive_of(manifest.as_bytes())).status
    };
    assert_eq!((named(81), named(80)), (400, 200));

    for name in ["C", "A", "B"] {
        let body = json!({ "name": name }).to_string();
        let json = "application/json";
        let created = served.catalog("POST", CATEGORIES, json, body.as_bytes());
        assert_eq!(created.status, 200, "{created:?}");
    }
    let names_of = |page: &Value| -> Vec<String> {
        let categories = page["categories"].as_array().expect("a list").iter();
        let all = categories.map(|it| it["name"].as_str().expect("a name").to_owned());
        all.collect()
    };
    let sorted = served.get(&format!("{CATEGORIES}?sort_keys=name,created"));
    assert_eq!(names_of(&sorted.json()), ["A", "B", "C", "Web"]);
    let mut seen = Vec::new();
    let mut next = format!("{CATEGORIES}?sort_keys=created,name&limit=3");
    for _ in 0..2 {
        let page = served.get(&next).json();
        seen.extend(names_of(&page));
        let marker = page["next_marker"].as_str().unwrap_or_default();
        next = format!("{CATEGORIES}?sort_keys=created,name&limit=3&marker={marker}");
    }
    seen.sort();
    assert_eq!(seen, ["A", "B", "C", "Web"]);
    for wrong in ["pony=1", "sort_keys=pony", "sort_dir=up"] {
        let answer = served.get(&format!("{CATEGORIES}?{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

/// The cost of a file that anonymous users can request does not depend on the others: they are not read, so their
/// damage is not noticed.
#[test]
fn only_the_requested_file_is_unpacked() {
    let served = Served::new();
    let manifest = b"Format: 1.4\nType: Library\nFullName: a.Web\nVersion: 1.0.0\nLogo: icon.png\n";
    let bytes = files(&[
        ("manifest.yaml", manifest),
        ("icon.png", b"\x89PNG\r\n\x1a\n a small picture"),
        ("Resources/large.bin", &[7; 5000]),
    ]);
    let id = id(&served.upload("{\"is_public\":true}", &bytes));
    let logo = || served.get(&format!("{PACKAGES}/{id}/logo"));
    assert_eq!(logo().body.as_ref(), b"\x89PNG\r\n\x1a\n a small picture");
    let damage = |name: &str| {
        let path = served.artifact(&Digest::of(&bytes));
        let mut damaged = bytes.clone();
        let at = damaged
            .windows(name.len())
            .position(|window| window == name.as_bytes())
            .expect("the name is before the content");
        damaged[at + name.len()] ^= 0xff;
        write_file(&RealFileSystem, &path, &damaged).expect("it is damaged");
        logo().status
    };
    assert_eq!(damage("Resources/large.bin"), 200);
    assert_eq!(damage("icon.png"), 500);
}

#[test]
fn a_similar_name_gives_a_warning() {
    let served = Served::new();
    let stranger = served.authorization_of("stranger", r#"["publish"]"#);
    let upload = |who: &str, name: &str, version: &str| {
        let body = form(&[("file", &archive(name, version, &[]))]);
        let headers = [who, &format!("content-type: {FORM}")];
        let answer = served.ask("POST", PACKAGES, &headers, &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let first = upload(&served.authorization(), "org.acme.Web", "1.0.0");
    assert!(first.get("warnings").is_none(), "{first}");
    let other = upload(&stranger, "org.acme.Wbe", "1.0.0");
    assert_eq!(
        other["warnings"],
        json!([{
            "code": "pkgres.similar_name",
            "detail": "org.acme.Wbe is easily taken for org.acme.Web, which belongs to others; if \
                       this is not intended, publish under another name",
        }])
    );
    // The warning is only in the response to the upload.
    let path = format!("{PACKAGES}/{}", other["id"].as_str().expect("an id"));
    assert!(served.get(&path).json().get("warnings").is_none());
    // A second release has no warning.
    let next = upload(&stranger, "org.acme.Wbe", "1.0.1");
    assert!(next.get("warnings").is_none(), "{next}");
}
