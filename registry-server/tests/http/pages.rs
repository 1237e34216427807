//! Pages for people: their content, and that nothing in them is active.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{Principal, RegistryOptions};
use pkgres_tests::archives::{archive, archive_with, files};
use pkgres_tests::build;

use crate::support::{Answer, Served};

const BROWSER: &str = "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Requests a page as a browser does, and checks what all pages have.
pub(crate) fn page(served: &Served, path: &str, status: u16) -> String {
    let answer = served.ask("GET", path, &[BROWSER], b"");
    assert_eq!(answer.status, status, "{path}: {answer:?}");
    is_page(&answer, path)
}

#[test]
fn nobody_is_told_to_require_what_is_yanked() {
    let served = ordinary();
    let current = page(&served, "/packages/b.Db", 200);
    assert!(current.contains("pkgres add b.Db@"), "{current}");
    let yanked = page(&served, "/packages/b.Db/1.0.0", 200);
    assert!(!yanked.contains("pkgres add"), "{yanked}");
}

/// Databases reject patterns of some length.
#[test]
fn a_long_query_is_an_error() {
    let served = ordinary();
    for path in [
        "/packages?q=",
        "/v1/packages?q=",
        "/v1/catalog/packages?search=",
        "/v1/catalog/packages?name=",
        "/v1/catalog/categories?marker=",
    ] {
        for (letters, count) in [("x", 50_000), ("%25", 15_000), ("%C3%A9", 6_000)] {
            let asked = format!("{path}{}", letters.repeat(count));
            let answer = served.get(&asked);
            assert_eq!(answer.status, 400, "{path}{letters}: {answer:?}");
        }
    }
}

#[test]
fn pages_about_errors_have_relative_links_at_every_depth() {
    let served = Served::new();
    for path in ["/none", "/none/x", "/packages/a/b/c", "/packages/a/b/c/d/e"] {
        let page = page(&served, path, 404);
        assert!(page.contains("href=\""), "{page}");
        assert!(!page.contains("href=\"/"), "{path}: {page}");
    }
}

fn is_page(answer: &Answer, path: &str) -> String {
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    let policy = answer.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'self'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert!(answer.values("vary").contains(&"accept"), "{path}");
    let text = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
    assert!(
        text.starts_with("<!DOCTYPE html><html lang=\"en\">"),
        "{text}"
    );
    for needed in [
        "name=\"viewport\"",
        "<main",
        "<header",
        "<footer",
        "<h1>",
        "<title>",
    ] {
        assert!(text.contains(needed), "{path} has no {needed}");
    }
    for unwanted in [
        "<script",
        " style=",
        "javascript:",
        " onerror=",
        "http://",
        "https://",
    ] {
        let found = text.to_lowercase().contains(unwanted);
        assert!(!found, "{path} has {unwanted}: {text}");
    }
    text
}

pub(crate) fn publish(served: &Served, name: &str, version: &str, bytes: &[u8]) {
    let answer = served.publish(name, version, bytes);
    assert_eq!(answer.status, 201, "{answer:?}");
}

/// `b.Db` in two releases, the first of them yanked, and `a.Web`, which requires it and whose
/// class extends one of it.
fn ordinary() -> Served {
    let served = Served::new();
    publish(&served, "b.Db", "1.0.0", &archive("b.Db", "1.0.0", &[]));
    publish(&served, "b.Db", "1.1.0", &archive("b.Db", "1.1.0", &[]));
    let yank = served.ask(
        "PUT",
        "/v1/packages/b.Db/versions/1.0.0/yank",
        &[&served.authorization(), "content-type: application/json"],
        br#"{"reason":"it <loses> data"}"#,
    );
    assert_eq!(yank.status, 204, "{yank:?}");
    let manifest = "Format: 1.4\nType: Application\nFullName: a.Web\nVersion: 2.0.0\n\
                    Name: The web\nDescription: |\n  One.\n\n  Two.\n\
                    Classes: {a.Web: Main.yaml}\nRequire: {b.Db: '1'}\n";
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", b"Name: a.Web\nExtends: b.Db\n"),
    ]);
    publish(&served, "a.Web", "2.0.0", &bytes);
    served
}

#[test]
fn an_empty_registry_has_pages() {
    let served = Served::new();
    assert!(page(&served, "/", 200).contains("no packages yet"));
    assert!(page(&served, "/packages", 200).contains("no packages yet"));
    assert!(page(&served, "/packages?q=web", 200).contains("Nothing was found"));
    let missing = page(&served, "/packages/a.Web", 404);
    assert!(missing.contains("No such package") && !missing.contains("Did you mean"));
    assert!(page(&served, "/classes/a.Web", 404).contains("No such class"));
}

#[test]
fn pages_show_packages_and_classes() {
    let served = ordinary();
    let start = page(&served, "/", 200);
    assert!(start.contains("2 packages with 2 classes."), "{start}");
    assert!(start.contains("href=\"packages/a.Web\""), "{start}");
    let found = page(&served, "/packages?q=WEB", 200);
    assert!(
        found.contains("The web") && !found.contains("packages/b.Db"),
        "{found}"
    );

    let web = page(&served, "/packages/a.Web", 200);
    for part in [
        "<title>The web · pkgres</title>",
        "<p class=\"lead\">One.</p><p class=\"lead\">Two.</p>",
        "href=\"../packages/b.Db\"",
        "href=\"../classes/b.Db\"",
        "Require:\n  a.Web: &quot;^2.0.0&quot;",
        "<dd>admin</dd>",
        "href=\"../style.css\"",
    ] {
        assert!(web.contains(part), "no {part} in {web}");
    }
    let db = page(&served, "/packages/b.Db", 200);
    let (newest, oldest) = (db.find("id=\"v1.1.0\""), db.find("id=\"v1.0.0\""));
    assert!(newest.is_some() && newest < oldest, "{db}");
    for part in [
        "it &lt;loses&gt; data",
        "2027-01-15",
        "extended by ",
        "pkgres add b.Db@^1.1.0",
        "href=\"../packages/b.Db/1.0.0\"",
        "href=\"../packages/a.Web\"",
        &Digest::of(&archive("b.Db", "1.0.0", &[])).to_string(),
        "Required by",
        "<svg class=\"wide-picture\"",
        "<svg class=\"narrow-picture\"",
    ] {
        assert!(db.contains(part), "no {part} in {db}");
    }
    let class = page(&served, "/classes/b.Db", 200);
    assert!(class.contains("href=\"../classes/a.Web\""), "{class}");
    assert!(class.contains("href=\"../packages/b.Db\""), "{class}");
    // Similar names are suggested.
    let other = page(&served, "/classes/b.DB", 404);
    assert!(
        other.contains("Did you mean") && other.contains("../classes/b.Db"),
        "{other}"
    );
    let other = page(&served, "/packages/a.Wep", 404);
    assert!(other.contains("../packages/a.Web"), "{other}");
}

/// A library with an author, tags, a readme and a licence, whose class has properties and methods, in two releases of
/// which only the second has another class; and an application that extends the class.
pub(crate) fn described() -> Served {
    let served = Served::new();
    let library = |version: &str, classes: &str| {
        let manifest = format!(
            "Format: 1.4\nType: Library\nFullName: org.acme.Base\nVersion: {version}\nName: Base\n\
             Description: Classes for others.\nAuthor: Acme Inc\nTags: [storage, High-Availability]\n\
             Classes: {{org.acme.Base: Base.yaml{classes}}}\n"
        );
        let base = "Namespaces: {=: org.acme}\nName: Base\nProperties:\n  size:\n    Contract: $.int().notNull()\n\
                    \u{20}   Default: 3\n  peers:\n    Usage: Out\n    Contract: [$.class(Base)]\nMethods:\n\
                    \u{20} grow:\n    Usage: Action\n    Arguments:\n      - by:\n          Contract: $.int()\n";
        files(&[
            ("manifest.yaml", manifest.as_bytes()),
            ("Classes/Base.yaml", base.as_bytes()),
            (
                "Classes/Store.yaml",
                b"Namespaces: {=: org.acme}\nName: VolumeStore\n",
            ),
            (
                "README.md",
                b"# Base\n\nSee *below* and <script>alert(1)</script>.\n",
            ),
            ("LICENSE", b"Apache License\nVersion 2.0, January 2004\n"),
        ])
    };
    publish(&served, "org.acme.Base", "1.0.0", &library("1.0.0", ""));
    let classes = ", org.acme.VolumeStore: Store.yaml";
    publish(
        &served,
        "org.acme.Base",
        "1.1.0",
        &library("1.1.0", classes),
    );
    let manifest = "Format: 1.4\nType: Application\nFullName: org.acme.Web\nVersion: 2.0.0\n\
                    Classes: {org.acme.Web: Web.yaml}\nRequire: {org.acme.Base: '1'}\n";
    let web = "Namespaces: {=: org.acme}\nName: Web\nExtends: Base\nProperties:\n  name:\n\
               \u{20}   Contract: $.string()\n";
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Web.yaml", web.as_bytes()),
    ]);
    publish(&served, "org.acme.Web", "2.0.0", &bytes);
    served
}

#[test]
fn a_version_has_a_page_with_what_its_archive_says() {
    let served = described();
    let newest = page(&served, "/packages/org.acme.Base", 200);
    for part in [
        "href=\"../packages?q=Acme+Inc\"",
        "href=\"../packages?q=High-Availability\"",
        "<a href=\"#licence\">Apache-2.0</a>",
        "<h3>Base</h3><p>See <em>below</em> and &lt;script&gt;",
        "<summary><code>LICENSE</code></summary>",
        "href=\"../packages/org.acme.Base/1.0.0\"",
    ] {
        assert!(newest.contains(part), "no {part} in {newest}");
    }
    // Versions come before the packages that require it.
    assert!(
        newest.find("id=\"versions\"") < newest.find("id=\"dependants\""),
        "{newest}"
    );
    let old = page(&served, "/packages/org.acme.Base/1.0.0", 200);
    for part in [
        "<title>Base 1.0.0 · pkgres</title>",
        "The preferred version is <a class=\"version\" href=\"../../packages/org.acme.Base/1.1.0\">",
        "Classes for others.",
        "pkgres add org.acme.Base@^1.0.0",
        "href=\"../../style.css\"",
        "href=\"../../classes/org.acme.Base\"",
        "Apache-2.0",
    ] {
        assert!(old.contains(part), "no {part} in {old}");
    }
    assert!(!old.contains("VolumeStore"), "{old}");
    let newest = page(&served, "/packages/org.acme.Base/1.1.0", 200);
    assert!(
        newest.contains("VolumeStore") && !newest.contains("The preferred version"),
        "{newest}"
    );
    let web = page(&served, "/packages/org.acme.Web/2.0.0", 200);
    assert!(
        web.contains("not stated") && !web.contains("id=\"readme\""),
        "{web}"
    );
    let missing = page(&served, "/packages/org.acme.Base/9", 404);
    assert!(missing.contains("href=\"../../style.css\""), "{missing}");
    assert!(missing.contains("pkgres.no_such_version"), "{missing}");
    page(&served, "/packages/org.acme.Base/x", 400);
}

#[test]
fn a_class_shows_its_members_and_those_it_inherits() {
    let served = described();
    let base = page(&served, "/classes/org.acme.Base", 200);
    for part in [
        "in <a class=\"version\" href=\"../packages/org.acme.Base/1.1.0\">1.1.0</a>, <a class=\"version\" href=\"../packages/org.acme.Base/1.0.0\">1.0.0</a>",
        "<code class=\"member\">size</code><span class=\"contract\">int, not null</span> <span class=\"tag\">default</span>",
        "<code class=\"member\">peers</code><span class=\"contract\">list [object of <a class=\"name\" href=\"../classes/org.acme.Base\">",
        "<span class=\"tag\">Out</span>",
        "<code class=\"member\">grow</code> <span class=\"tag\">Action</span>",
        "<code>by</code> <span class=\"contract\">int</span>",
    ] {
        assert!(base.contains(part), "no {part} in {base}");
    }
    let web = page(&served, "/classes/org.acme.Web", 200);
    for part in [
        "<h2 id=\"properties\">Properties <span class=\"number\">3</span>",
        "<code class=\"member\">name</code>",
        "Inherited from <a class=\"name\" href=\"../classes/org.acme.Base\">",
        "href=\"../packages/org.acme.Base/1.1.0\"",
        "<code class=\"member\">grow</code>",
        // The core library is not in this registry.
        "It also inherits from <a class=\"name\" href=\"../classes/io.murano.Object\">",
        "which is built in: the engine supplies the core library.",
    ] {
        assert!(web.contains(part), "no {part} in {web}");
    }
    let store = page(&served, "/classes/org.acme.VolumeStore", 200);
    assert!(
        store.contains("1.1.0</a>") && !store.contains("1.0.0</a>"),
        "{store}"
    );
    assert!(store.contains("The class declares none itself."), "{store}");
}

#[test]
fn classes_that_the_engine_supplies_are_built_in() {
    let served = described();
    let object = page(&served, "/classes/io.murano.Object", 200);
    for part in [
        "It is built in: the engine supplies the core library",
        "Every class that extends no other extends it.",
    ] {
        assert!(object.contains(part), "no {part} in {object}");
    }
    let text = page(
        &served,
        "/classes/io.murano.resources.LinuxMuranoInstance",
        200,
    );
    assert!(
        text.contains("extends </span><a class=\"name\" href=\"../classes/io.murano."),
        "{text}"
    );
    page(&served, "/classes/io.murano.Nothing", 404);
    let manifest = b"Format: 1.4\nType: Application\nFullName: a.App\nVersion: 1.0.0\n\
                     Classes: {a.App: App.yaml}\nRequire: {io.murano: 0}\n";
    let class = b"Name: a.App\nExtends: io.murano.Application\n";
    let bytes = files(&[("manifest.yaml", manifest), ("Classes/App.yaml", class)]);
    publish(&served, "a.App", "1.0.0", &bytes);
    let app = page(&served, "/packages/a.App", 200);
    for part in [
        "href=\"../classes/io.murano.Application\"",
        "<span class=\"tag\">built in</span>",
        "<span class=\"tag\">supplied by the host</span>",
    ] {
        assert!(app.contains(part), "no {part} in {app}");
    }
    // With the core library in the registry, its classes are what it has.
    let manifest = b"Format: 1.4\nType: Library\nFullName: io.murano\nVersion: 0.1.0\n\
                     Classes: {io.murano.Object: Object.yaml}\n";
    let class = b"Name: io.murano.Object\n";
    let bytes = files(&[("manifest.yaml", manifest), ("Classes/Object.yaml", class)]);
    publish(&served, "io.murano", "0.1.0", &bytes);
    let object = page(&served, "/classes/io.murano.Object", 200);
    assert!(!object.contains("built in"), "{object}");
    page(
        &served,
        "/classes/io.murano.resources.LinuxMuranoInstance",
        404,
    );
}

#[test]
fn a_slash_too_many_leads_to_the_page() {
    let served = ordinary();
    for (path, to) in [
        ("/packages/", "../packages"),
        ("/packages/?q=a+b%26&other=1", "../packages?q=a+b%26"),
        ("/packages/b.Db/", "../b.Db"),
        ("/packages/b.Db/1.1.0/", "../1.1.0"),
        ("/classes/b.Db/", "../b.Db"),
        ("/interfaces/b.Db/", "../b.Db"),
        ("/classes/%2F%0D%0Ax/", "../%2F%0D%0Ax"),
    ] {
        let answer = served.ask("GET", path, &[BROWSER], b"");
        assert_eq!(answer.status, 308, "{path}: {answer:?}");
        assert_eq!(answer.header("location"), to, "{path}");
        assert!(answer.body.is_empty(), "{path}");
    }
    page(&served, "/packages//", 404);
    page(&served, "/packages/b.Db//", 404);
    // Parameters that others add to links are ignored; those of the page count.
    let text = page(&served, "/packages?utm_source=mail&q=web", 200);
    assert!(text.contains("a.Web") && !text.contains("b.Db"), "{text}");
    page(&served, "/packages/b.Db?fbclid=1", 200);
}

#[test]
fn every_link_on_a_page_leads_somewhere() {
    let served = described();
    let manifest = b"Format: 1.4\nType: Library\nFullName: org.acme.App\nVersion: 1.0.0\n\
                     Classes: {org.acme.App: App.yaml}\nRequire: {org.nowhere: 1, io.murano: 0}\n";
    let class = b"Name: org.acme.App\nExtends: org.nowhere.Base\n";
    let bytes = files(&[("manifest.yaml", manifest), ("Classes/App.yaml", class)]);
    let allowed = "/v1/packages/org.acme.App/versions/1.0.0?allow_unsatisfiable=true";
    let headers = [&*served.authorization(), "content-type: application/zip"];
    let answer = served.ask("PUT", allowed, &headers, &bytes);
    assert_eq!(answer.status, 201, "{answer:?}");
    let mut seen = std::collections::BTreeSet::from(["/packages".to_owned()]);
    let mut rest = vec!["/packages".to_owned()];
    while let Some(path) = rest.pop() {
        let text = page(&served, &path, 200);
        let base = url::Url::parse("http://host").expect("an address");
        let base = base.join(&path).expect("a path");
        for link in text.split("href=\"").skip(1) {
            let link = link.split('"').next().unwrap_or_default();
            let found = base.join(link).expect("a link").path().to_owned();
            let is_page = ["/packages", "/classes/"]
                .iter()
                .any(|start| found.starts_with(start));
            if is_page && seen.insert(found.clone()) {
                rest.push(found);
            }
        }
    }
    assert!(seen.contains("/classes/org.acme.App"), "{seen:?}");
}

#[test]
fn a_search_finds_letters_of_all_languages_in_both_cases() {
    let served = Served::new();
    let manifest =
        "Format: 1.4\nType: Library\nFullName: org.acme.Fruit\nVersion: 1.0.0\nName: Grüne Äpfel\n";
    let bytes = files(&[("manifest.yaml", manifest.as_bytes())]);
    let headers = [&*served.authorization(), "content-type: application/zip"];
    let address = "/v1/packages/org.acme.Fruit/versions/1.0.0";
    let answer = served.ask("PUT", address, &headers, &bytes);
    assert_eq!(answer.status, 201, "{answer:?}");
    for word in ["Äpfel", "äpfel", "GRÜNE", "fruit", "FEL"] {
        let word: String = url::form_urlencoded::byte_serialize(word.as_bytes()).collect();
        let text = page(&served, &format!("/packages?q={word}"), 200);
        assert!(text.contains("href=\"packages/org.acme.Fruit\""), "{word}");
    }
}

#[test]
fn a_search_finds_words_tags_authors_and_parts_of_classes() {
    let served = described();
    let found = |query: &str| {
        let text = page(&served, &format!("/packages?q={query}"), 200);
        ["Base", "Web"].map(|name| text.contains(&format!("href=\"packages/org.acme.{name}\"")))
    };
    for (query, expected) in [
        ("", [true, true]),
        ("acme", [true, true]),
        ("storage", [true, false]),
        ("AVAILABILITY", [true, false]),
        ("acme+inc", [true, false]),
        ("inc+acme", [true, false]),
        ("volumest", [true, false]),
        ("%5D", [false, false]),
        ("web+2", [false, false]),
        ("web+acme", [false, true]),
        ("others+volumestore+storage", [true, false]),
        ("storage%25", [false, false]),
        ("acme+acme+acme+acme+acme+acme+nothing", [true, true]),
    ] {
        assert_eq!(found(query), expected, "{query}");
    }
    let results = page(&served, "/packages?q=volumest", 200);
    for part in [
        "href=\"packages/org.acme.Base/1.1.0\"",
        "2 versions · by Acme Inc · changed ",
        "Defines <a class=\"name\" href=\"classes/org.acme.VolumeStore\">",
        "href=\"packages?q=storage\"",
    ] {
        assert!(results.contains(part), "no {part} in {results}");
    }
    let ask = |query: &str| served.get(&format!("/v1/packages?q={query}"));
    for query in ["volumest", "others+classes", "classes+for"] {
        let document = ask(query).json();
        let packages = document["packages"].as_array().expect("a list");
        assert_eq!(packages.len(), 1, "{query}");
    }
    let many = ask("a+b+c+d+e+f+g");
    assert_eq!((many.status, &*many.code()), (400, "pkgres.query_invalid"));
}

/// A list of a thousand packages has to be shorter than what clients read.
#[test]
fn lists_have_the_beginning_of_descriptions() {
    let served = Served::new();
    let note = "storage ".repeat(8_000);
    publish(
        &served,
        "a.Web",
        "1.0.0",
        &archive_with("a.Web", "1.0.0", &[], &note),
    );
    let list = served.get("/v1/packages?q=storage").json();
    let listed = list["packages"][0]["description"].as_str().expect("a text");
    assert!(
        listed.len() < 310 && listed.ends_with("storage…"),
        "{listed}"
    );
    let package = served.get("/v1/packages/a.Web").json();
    assert_eq!(package["description"].as_str(), Some(&*note));
}

#[test]
fn many_dependants_are_cut_off_below_the_versions() {
    let served = Served::new();
    publish(&served, "b.Db", "1.0.0", &archive("b.Db", "1.0.0", &[]));
    for at in 0..33 {
        let name = format!("a.User{at:02}");
        publish(
            &served,
            &name,
            "1.0.0",
            &archive(&name, "1.0.0", &[("b.Db", "1")]),
        );
    }
    let text = page(&served, "/packages/b.Db", 200);
    let list = text.split("id=\"dependants\"").nth(1).expect("a section");
    assert_eq!(
        list.matches("href=\"../packages/a.User").count(),
        30,
        "{list}"
    );
    assert!(list.contains("And 3 more"), "{list}");
}

#[test]
fn markup_in_texts_is_shown_as_text() {
    let served = Served::new();
    let hostile = "</p><script>alert(1)</script><img src=x onerror=alert(1)>&amp;";
    let manifest = format!(
        "Format: 1.4\nType: Library\nFullName: a.Web\nVersion: 1.0.0\nName: {0}\nDescription: {0}\n\
         Classes: {{a.Web: Main.yaml}}\n",
        serde_json::Value::from(hostile)
    );
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", b"Name: a.Web\n"),
    ]);
    publish(&served, "a.Web", "1.0.0", &bytes);
    let note = archive_with("a.Other", "1.0.0", &[("a.Web", ">=1, <2")], "<b>bold</b>");
    publish(&served, "a.Other", "1.0.0", &note);
    // Characters that reorder text are errors now, but older versions stored reasons with them.
    let (name, version) = (build::package("a.Web"), build::version("1.0.0"));
    let reason = Some("<script>\u{202e}</script>");
    let yanked = (served.registry).set_yanked(&Principal::operator(), &name, &version, reason);
    assert_eq!(yanked, Ok(true));
    for path in [
        "/",
        "/packages",
        "/packages/a.Web",
        "/packages/a.Other",
        "/packages/a.Web/1.0.0",
        "/classes/a.Web",
        "/packages?q=%3Cscript%3Ealert(1)%3C/script%3E%22%20onfocus%3D%22x",
        "/packages?marker=%22%3E%3Cscript%3E",
        "/packages?%3Cscript%3E=1",
    ] {
        let text = page_of_hostile(&served, path, 200);
        assert!(!text.contains('\u{202e}'), "{path}");
        assert!(!text.contains("<img") && !text.contains("<b>"), "{path}");
    }
    let text = page_of_hostile(&served, "/packages/a.Web", 200);
    assert!(
        text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{text}"
    );
    assert!(
        text.contains("&lt;script&gt;\\u{202e}&lt;/script&gt;"),
        "{text}"
    );
    for path in ["/packages/%3Cscript%3E", "/classes/%22%3E%3Cscript%3E"] {
        page_of_hostile(&served, path, 400);
    }
    page_of_hostile(&served, "/%3Cscript%3E/%22onerror=", 404);
}

/// As [`page`], but ` onerror=` may be in text, where it is harmless without `<`.
fn page_of_hostile(served: &Served, path: &str, status: u16) -> String {
    let answer = served.ask("GET", path, &[BROWSER], b"");
    assert_eq!(answer.status, status, "{path}: {answer:?}");
    let text = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
    assert!(!text.to_lowercase().contains("<script"), "{path}: {text}");
    // Angle brackets of texts are entities.
    let tags = text.matches('<').count();
    assert_eq!(tags, text.matches('>').count(), "{path}: {text}");
    text
}

#[test]
fn programs_get_json() {
    let served = ordinary();
    for accept in ["accept: */*", "accept: application/json", "x-nothing: 1"] {
        let answer = served.ask("GET", "/", &[accept], b"");
        assert_eq!(
            answer.header("content-type"),
            "application/json",
            "{accept}"
        );
        assert_eq!(answer.json()["versions"][0]["id"], "v1.0");
        let nothing = served.ask("GET", "/nothing", &[accept], b"");
        assert_eq!(
            (nothing.status, &*nothing.code()),
            (404, "pkgres.no_such_address")
        );
    }
    let answer = served.ask("GET", "/packages", &["accept: application/json"], b"");
    assert_eq!(
        (answer.status, &*answer.code()),
        (406, "pkgres.not_acceptable")
    );
    // The API has no pages, even for browsers.
    let answer = served.ask("GET", "/v1/packages/a.None", &[BROWSER], b"");
    assert_eq!(
        (answer.status, &*answer.code()),
        (404, "pkgres.no_such_package")
    );
    let answer = served.ask("GET", "/", &["accept: text/html;q=0.1, */*"], b"");
    assert_eq!(answer.header("content-type"), "application/json");
}

#[test]
fn pages_follow_the_rules_of_all_paths() {
    let served = ordinary();
    for path in [
        "/",
        "/packages",
        "/packages/a.Web",
        "/classes/b.Db",
        "/style.css",
        "/icon.svg",
    ] {
        let whole = served.ask("GET", path, &[BROWSER], b"");
        assert_eq!(whole.status, 200, "{path}");
        let known = format!("if-none-match: {}", whole.header("etag"));
        let known = served.ask("GET", path, &[BROWSER, &known], b"");
        assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        assert_eq!(known.header("vary"), whole.header("vary"), "{path}");
        let head = served.ask("HEAD", path, &[BROWSER], b"");
        assert_eq!(head.header("content-length"), whole.body.len().to_string());
        let posted = served.ask("POST", path, &[BROWSER], b"");
        assert_eq!(posted.status, 405, "{path}");
        assert!(is_page(&posted, path).contains("Method Not Allowed"));
    }
    let deep = page(&served, "/nothing/here", 404);
    assert!(deep.contains("href=\"../style.css\""), "{deep}");
}

#[test]
fn a_private_registry_shows_nothing_without_a_token() {
    let served = Served::with(RegistryOptions::default().with_private(true));
    publish(&served, "a.Web", "1.0.0", &archive("a.Web", "1.0.0", &[]));
    for path in [
        "/",
        "/packages",
        "/packages/a.Web",
        "/packages/a.None",
        "/classes/a.Web",
    ] {
        let rejected = page(&served, path, 401);
        assert!(rejected.contains("This registry is private"), "{path}");
        let headers = [BROWSER, &served.authorization()];
        let answer = served.ask("GET", path, &headers, b"");
        assert_ne!(answer.status, 401, "{path}");
        assert_eq!(
            answer.header("cache-control"),
            "private, no-cache",
            "{path}"
        );
    }
    assert_eq!(served.get("/style.css").status, 200);
    // A browser sends the token as a password, which is valid for reading and never for writing.
    let rejected = served.ask("GET", "/packages/a.Web", &[BROWSER], b"");
    assert!(rejected.header("www-authenticate").starts_with("Basic "));
    let rejected = served.get("/index/v1/packages/a.!web.ndjson");
    assert!(rejected.header("www-authenticate").starts_with("Bearer "));
    let basic = |password: &str| {
        let encoded = BASE64_STANDARD.encode(format!("anyone:{password}"));
        format!("authorization: Basic {encoded}")
    };
    let (right, wrong) = (basic(&served.token), basic("pkgres_wrong"));
    let ask = |method: &str, path: &str, header: &str| {
        let body = archive("a.Web", "1.1.0", &[]);
        let headers = [BROWSER, header, "content-type: application/zip"];
        served.ask(method, path, &headers, &body).status
    };
    assert_eq!(ask("GET", "/packages/a.Web", &right), 200);
    assert_eq!(ask("GET", "/packages/a.Web", &wrong), 401);
    assert_eq!(
        ask("GET", "/packages/a.Web", "authorization: Basic ???"),
        401
    );
    let release = "/v1/packages/a.Web/versions/1.1.0";
    assert_eq!(ask("PUT", release, &right), 401);
    assert_eq!(ask("PUT", release, &served.authorization()), 201);
}
