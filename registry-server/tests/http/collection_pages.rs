//! The pages of Ansible collections, and of what they contain.

use pkgres_tests::collections::{ArtifactBuilder, file_name, form};
use serde_json::json;

use crate::pages::page;
use crate::support::Served;

/// Publishes an artifact.
fn publish(served: &Served, name: &str, version: &str, artifact: ArtifactBuilder) {
    let (kind, body) = form(&file_name(name, version), &artifact.finish());
    let headers = [&*served.authorization(), &format!("content-type: {kind}")];
    let answer = served.ask("POST", "/api/v3/artifacts/collections/", &headers, &body);
    assert_eq!(answer.status, 202, "{answer:?}");
}

/// `acme.net` in three releases, of which the last is a prerelease and the second one has another module and a role; and
/// `acme.web`, whose module imports from it.
fn collections() -> Served {
    let served = Served::new();
    for version in ["1.0.0", "1.1.0", "2.0.0-rc.1"] {
        let mut artifact = ArtifactBuilder::new("acme.net", version, &[]);
        artifact.set("authors", json!(["Zoë Müller", "Bob <bob@acme.example>"]));
        artifact.set("tags", json!(["network", "dns"]));
        artifact.file(
            "plugins/module_utils/client.py",
            b"def connect():\n    pass\n",
        );
        artifact.file("LICENSE", b"Apache License\nVersion 2.0, January 2004\n");
        if version == "1.1.0" {
            artifact.file("plugins/modules/dns_zone.py", b"def main():\n    pass\n");
            artifact.file("plugins/lookup/dig.py", b"class LookupModule:\n    pass\n");
            artifact.file(
                "roles/name_server/tasks/main.yml",
                b"- acme.net.dns_zone:\n",
            );
        }
        publish(&served, "acme.net", version, artifact);
    }
    let mut artifact = ArtifactBuilder::new("acme.web", "0.3.0", &[("acme.net", ">=1.0.0,<2")]);
    artifact.file(
        "plugins/modules/site.py",
        b"from ansible_collections.acme.net.plugins.module_utils.client import connect\n",
    );
    artifact.file("meta/runtime.yml", b"requires_ansible: '>=2.15'\n");
    publish(&served, "acme.web", "0.3.0", artifact);
    served
}

#[test]
fn a_search_finds_what_collections_contain_and_who_wrote_them() {
    let served = collections();
    for (query, is_found) in [
        ("dns_zone", true),
        ("acme.net.dns_zone", true),
        ("DIG", true),
        ("name_server", true),
        ("m%C3%BCller", true),
        ("dns", true),
        ("%22Zo%C3%AB+M%C3%BCller%22+network", true),
        ("dns_zones", false),
        ("dnsxzone", false),
        ("plugins", false),
        // Only the texts themselves are searched, each by itself.
        ("[", false),
        (",", false),
        ("network+dns", true),
        ("%22network+dns%22", false),
    ] {
        let text = page(&served, &format!("/packages?q={query}"), 200);
        let has = text.contains("href=\"packages/acme.net\"");
        assert_eq!(has, is_found, "{query}: {text}");
        assert!(!text.contains("href=\"packages/acme.web\""), "{query}");
        let answer = served.get(&format!("/v1/packages?q={query}"));
        let found = answer.json()["packages"].as_array().map(Vec::len);
        assert_eq!(found, Some(usize::from(is_found)), "{query}: {answer:?}");
    }
    let text = page(&served, "/packages?q=dns_zone", 200);
    for part in [
        "href=\"classes/acme.net.plugins.modules.dns_zone\"",
        "by Zoë Müller, Bob",
        "href=\"packages?q=network\"",
        "href=\"packages/acme.net/1.1.0\"",
        "3 versions",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    // Only what the words are about is listed.
    let text = page(&served, "/packages?q=acme", 200);
    assert!(!text.contains("href=\"classes/"), "{text}");
    let start = page(&served, "/", 200);
    assert!(start.contains("2 packages."), "{start}");
}

#[test]
fn what_a_deleted_release_contained_is_not_found() {
    let served = collections();
    let path = "/api/v3/collections/acme/net/versions/1.1.0/";
    let answer = served.ask("DELETE", path, &[&served.authorization()], b"");
    assert!(answer.status < 300, "{answer:?}");
    for (query, is_found) in [("dns_zone", false), ("client", true)] {
        let text = page(&served, &format!("/packages?q={query}"), 200);
        assert_eq!(
            text.contains("href=\"packages/acme.net\""),
            is_found,
            "{text}"
        );
    }
    page(&served, "/classes/acme.net.plugins.modules.dns_zone", 404);
}

#[test]
fn a_collection_shows_what_it_contains_and_how_to_require_it() {
    let served = collections();
    let net = page(&served, "/packages/acme.net", 200);
    for part in [
        "pkgres add 'acme.net@&gt;=1.1.0,&lt;2.0.0'",
        "ansible-galaxy collection install acme.net:1.1.0",
        "version: &quot;&gt;=1.1.0,&lt;2.0.0&quot;",
        "<h2 id=\"contents\">Contents <span class=\"number\">5</span>",
        "Modules <span class=\"number\">2</span>",
        "href=\"../classes/acme.net.plugins.modules.dns_zone\">dns_zone</a>",
        "Role <span class=\"number\">1</span>",
        "href=\"../classes/acme.net.roles.name_server\">name_server</a>",
        "Lookup plug-in <span",
        "Module utility <span",
        "href=\"../packages?q=Zo%C3%AB+M%C3%BCller\"",
        "href=\"../packages?q=dns\"",
        "<a href=\"#licence\">MIT</a>",
        "<em>small</em>",
        "href=\"../packages/acme.web\"",
        "pre-release",
    ] {
        assert!(net.contains(part), "no {part} in {net}");
    }
    let old = page(&served, "/packages/acme.net/1.0.0", 200);
    assert!(
        old.contains("The preferred version is") && !old.contains("dns_zone"),
        "{old}"
    );
    // A prerelease has to be named.
    let prerelease = page(&served, "/packages/acme.net/2.0.0-rc.1", 200);
    assert!(
        prerelease.contains("pkgres add 'acme.net@2.0.0-rc.1'"),
        "{prerelease}"
    );
    let web = page(&served, "/packages/acme.web", 200);
    for part in [
        "href=\"../packages/acme.net\"",
        "ansible-core",
        "supplied by the host",
        "&gt;=2.15",
    ] {
        assert!(web.contains(part), "no {part} in {web}");
    }
    assert!(!net.contains("core library"), "{net}");
    // There is no page of it.
    assert!(!web.contains("packages/ansible-core"), "{web}");
}

#[test]
fn a_long_list_of_modules_is_folded() {
    let served = Served::new();
    let mut artifact = ArtifactBuilder::new("acme.many", "1.0.0", &[]);
    for number in 0..45 {
        artifact.file(&format!("plugins/modules/m{number:02}.py"), b"");
    }
    publish(&served, "acme.many", "1.0.0", artifact);
    let text = page(&served, "/packages/acme.many", 200);
    assert!(
        text.contains("Modules <span class=\"number\">46</span>"),
        "{text}"
    );
    let (shown, folded) = text
        .split_once("<summary>And 16 more</summary>")
        .expect("a fold");
    for (module, is_shown) in [
        ("m00", true),
        ("m29", true),
        ("m30", false),
        ("page", false),
    ] {
        let link = format!("classes/acme.many.plugins.modules.{module}\"");
        assert_eq!(shown.contains(&link), is_shown, "{module}");
        assert_eq!(folded.contains(&link), !is_shown, "{module}");
    }
}

#[test]
fn each_part_of_a_collection_has_a_page() {
    let served = collections();
    let zone = page(&served, "/classes/acme.net.plugins.modules.dns_zone", 200);
    for part in [
        "<title>module dns_zone · pkgres</title>",
        "Module of <a class=\"name\" href=\"../packages/acme.net\">",
        "In playbooks: <code>acme.net.dns_zone</code>",
        "href=\"../packages/acme.net/1.1.0\"",
        "The newest version of the collection does not have it.",
    ] {
        assert!(zone.contains(part), "no {part} in {zone}");
    }
    let site = page(&served, "/classes/acme.web.plugins.modules.site", 200);
    let target = "href=\"../classes/acme.net.plugins.module_utils.client.connect\"";
    assert!(
        site.contains("Imports <span") && site.contains(target),
        "{site}"
    );
    let connect = page(
        &served,
        "/classes/acme.net.plugins.module_utils.client.connect",
        200,
    );
    for part in [
        "Imported by <span class=\"number\">1</span>",
        "href=\"../classes/acme.web.plugins.modules.site\"",
        "href=\"../packages/acme.net/2.0.0-rc.1\"",
    ] {
        assert!(connect.contains(part), "no {part} in {connect}");
    }
    let role = page(&served, "/classes/acme.net.roles.name_server", 200);
    assert!(role.contains("Role of"), "{role}");
    assert!(role.contains("acme.net.name_server"), "{role}");
    // As users write it, and misspelt.
    for path in [
        "/classes/acme.net.dns_zone",
        "/classes/acme.net.plugins.modules.dns_zoen",
    ] {
        let text = page(&served, path, 404);
        let link =
            "Did you mean <a class=\"name\" href=\"../classes/acme.net.plugins.modules.dns_zone\">";
        assert!(text.contains(link), "{text}");
    }
    page(&served, "/classes/acme.net.x-y", 404);
    page(&served, "/classes/acme.other.plugins.modules.x", 404);
    page(&served, "/classes/x-y", 400);
}
