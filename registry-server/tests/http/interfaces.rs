//! Interfaces on pages: where they are defined, and how classes stand to them.

use pkgres_tests::archives::files;

use crate::pages::{described, page, publish};
use crate::support::Served;

#[test]
fn interfaces_are_on_pages_and_found_as_phrases_are() {
    let served = described();
    let manifest = "Format: 1.4\nType: Library\nFullName: org.acme.Contracts\nVersion: 1.0.0\n\
                    Interfaces: {org.acme.contract.Startable: Startable.yaml}\n";
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        (
            "Interfaces/Startable.yaml",
            b"Name: org.acme.contract.Startable\nFunctions: {start: {}}\n",
        ),
    ]);
    publish(&served, "org.acme.Contracts", "1.0.0", &bytes);
    let manifest = "Format: 1.4\nType: Application\nFullName: org.acme.App\nVersion: 1.0.0\n\
                    Classes: {org.acme.App: App.yaml}\nRequire: {org.acme.Contracts: '1'}\n\
                    Implements: {org.acme.App: [org.acme.contract.Startable]}\n";
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        (
            "Classes/App.yaml",
            b"Namespaces: {=: org.acme}\nName: App\nMethods: {start: {}}\n",
        ),
    ]);
    publish(&served, "org.acme.App", "1.0.0", &bytes);
    for path in ["org.acme.Contracts", "org.acme.Contracts/1.0.0"] {
        let shown = page(&served, &format!("/packages/{path}"), 200);
        assert!(shown.contains("id=\"interfaces\""), "{shown}");
        assert!(
            shown.contains("interfaces/org.acme.contract.Startable\""),
            "{shown}"
        );
    }
    let app = page(&served, "/packages/org.acme.App", 200);
    assert!(app.contains("implements </span><a class=\"name\""), "{app}");
    assert!(!app.contains("id=\"interfaces\""), "{app}");
    let results = page(&served, "/packages?q=startab", 200);
    assert!(
        results.contains("Defines the interface <a class=\"name\""),
        "{results}"
    );
    let found = |query: &str| {
        let answer = served.get(&format!("/v1/packages?q={query}"));
        let document = answer.json();
        let packages = document["packages"].as_array().expect("a list").iter();
        let names = packages.filter_map(|package| package["name"].as_str());
        names.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(found("startab"), ["org.acme.Contracts"]);
    // The words of a phrase are beside each other.
    assert_eq!(found("%22classes+for%22+acme"), ["org.acme.Base"]);
    assert_eq!(found("%22for+classes%22"), [""; 0]);
    assert_eq!(found("for+classes"), ["org.acme.Base"]);
    let phrase = page(&served, "/packages?q=%22for+classes%22", 200);
    assert!(phrase.contains("Nothing was found"), "{phrase}");
}

/// A package with an interface in two versions.
fn publish_interface(served: &Served) {
    for (version, more) in [
        ("1.0.0", ""),
        (
            "1.2.0",
            "  restart: {Deprecated: {since: 1.1, removed_in: 2.0, successor: start}}\n\
             \u{20} status: {Returns: {type: object, required: [running]}}\n",
        ),
    ] {
        let manifest = format!(
            "Format: 1.4\nType: Library\nFullName: org.acme.iface\nVersion: {version}\n\
             Interfaces: {{org.acme.iface.Service: Service.yaml}}\n"
        );
        let interface = format!(
            "Name: org.acme.iface.Service\nFunctions:\n  start:\n    Arguments:\n    - name: {{Contract: $.string()}}\n\
             \u{20} stop:\n    Arguments:\n    - name: {{Contract: $.string()}}\n\
             \u{20} reload: {{Supported: {{os_family: [Debian, RedHat]}}}}\n\
             \u{20} lock: {{NotApplicable: {{os: Windows}}}}\n{more}"
        );
        let bytes = files(&[
            ("manifest.yaml", manifest.as_bytes()),
            ("Interfaces/Service.yaml", interface.as_bytes()),
        ]);
        publish(served, "org.acme.iface", version, &bytes);
    }
}

/// A package that extends `org.acme.Base`, whose `grow` it does not have to define itself.
fn publish_service(served: &Served, name: &str, spec: &str, class: &str) {
    let manifest = format!(
        "Format: 1.4\nType: Application\nFullName: {name}\nVersion: 1.0.0\nClasses: {{{name}: Class.yaml}}\n\
         Require: {{org.acme.iface: '{spec}', org.acme.Base: '1'}}\n\
         Implements: {{{name}: org.acme.iface.Service}}\n"
    );
    let class = format!("Name: {name}\nExtends: org.acme.Base\n{class}");
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Class.yaml", class.as_bytes()),
    ]);
    publish(served, name, "1.0.0", &bytes);
}

/// Where the parts are in a text, each behind the one before it.
fn assert_in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = text[from..].find(part);
        let at = at.unwrap_or_else(|| panic!("no {part} in {}", &text[from..]));
        from += at + part.len();
    }
}

#[test]
fn the_page_of_a_class_has_the_status_of_each_function() {
    let served = described();
    publish_interface(&served);
    publish_service(
        &served,
        "org.acme.Nginx",
        "1",
        "Methods:\n  start: {Arguments: [name: {Contract: $.string()}]}\n\
         \u{20} stop: {Arguments: [service: {Contract: $.string()}]}\n",
    );
    let class = page(&served, "/classes/org.acme.Nginx", 200);
    assert_in_order(
        &class,
        &[
            "<h2 id=\"interfaces\">Interfaces <span class=\"number\">1</span>",
            "href=\"../interfaces/org.acme.iface.Service\"",
            "href=\"../packages/org.acme.iface/1.2.0\"",
            "Implements 1 of 5 functions on every platform.",
            ">start</code><span class=\"case\"><span class=\"tag good\">implemented</span></span>",
            ">stop</code><span class=\"case\"><span class=\"tag warning\">signature mismatch</span></span>",
            "argument 1 is `service`, not `name`",
            ">reload</code><span class=\"case\"><span class=\"tag warning\">not implemented</span> where \
             <code>os_family=debian,redhat</code></span><span class=\"case\">\
             <span class=\"tag plain\">not supported</span> elsewhere</span>",
            ">lock</code><span class=\"case\"><span class=\"tag plain\">not applicable</span> where \
             <code>os=windows</code></span><span class=\"case\">\
             <span class=\"tag warning\">not implemented</span> elsewhere</span>",
            ">restart</code>",
            "Deprecated since 1.1.0, removed in 2.0.0: use <code>start</code> instead",
            ">status</code><span class=\"case\"><span class=\"tag warning\">not implemented</span></span>",
            // Members of the class follow, inherited ones included.
            "<code class=\"member\">grow</code>",
        ],
    );
    let base = page(&served, "/classes/org.acme.Base", 200);
    assert!(!base.contains("id=\"interfaces\""), "{base}");
}

#[test]
fn a_class_inherits_what_its_ancestors_implement() {
    let served = described();
    publish_interface(&served);
    publish_service(&served, "org.acme.Nginx", "=1.0.0", "Methods: {lock: {}}\n");
    let manifest = "Format: 1.4\nType: Application\nFullName: org.acme.Proxy\nVersion: 1.0.0\n\
                    Classes: {org.acme.Proxy: Class.yaml}\nRequire: {org.acme.Nginx: '1'}\n";
    let bytes = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        (
            "Classes/Class.yaml",
            b"Name: org.acme.Proxy\nExtends: org.acme.Nginx\nMethods: {reload: {}}\n",
        ),
    ]);
    publish(&served, "org.acme.Proxy", "1.0.0", &bytes);
    let class = page(&served, "/classes/org.acme.Proxy", 200);
    assert_in_order(
        &class,
        &[
            // The version that the requirement of the ancestor's package permits.
            "href=\"../packages/org.acme.iface/1.0.0\"",
            ">reload</code><span class=\"case\"><span class=\"tag good\">implemented</span></span>",
            ">lock</code><span class=\"case\"><span class=\"tag warning\">conflict</span> where \
             <code>os=windows</code></span><span class=\"case\">\
             <span class=\"tag good\">implemented</span> elsewhere</span>",
        ],
    );
}

#[test]
fn the_page_of_an_interface_has_a_matrix_of_functions_and_classes() {
    let served = described();
    publish_interface(&served);
    let missing = page(&served, "/interfaces/org.acme.iface.Services", 404);
    assert!(missing.contains("No such interface"), "{missing}");
    let alone = page(&served, "/interfaces/org.acme.iface.Service", 200);
    assert!(alone.contains("No class implements it."), "{alone}");
    publish_service(
        &served,
        "org.acme.Apache",
        "=1.0.0",
        "Methods: {reload: {}}\n",
    );
    publish_service(
        &served,
        "org.acme.Nginx",
        "1",
        "Methods: {start: {Arguments: [name: {Contract: $.string()}]}}\n",
    );
    // A package that requires the interface without implementing it.
    let manifest = "Format: 1.4\nType: Library\nFullName: org.acme.Caller\nVersion: 1.0.0\n\
                    Require: {org.acme.iface: '1'}\n";
    let bytes = files(&[("manifest.yaml", manifest.as_bytes())]);
    publish(&served, "org.acme.Caller", "1.0.0", &bytes);
    let shown = page(&served, "/interfaces/org.acme.iface.Service", 200);
    assert_in_order(
        &shown,
        &[
            "<p class=\"kind\">Interface</p><h1>Service</h1>",
            "in <a class=\"version\" href=\"../packages/org.acme.iface/1.2.0\">",
            "Functions <span class=\"number\">6</span>",
            "<code class=\"member\">start</code>",
            "<code>name</code> <span class=\"contract\">string</span>",
            "Supported where </span><code>os_family=debian,redhat</code>",
            "Not applicable where </span><code>os=windows</code>",
            "Returns </span><code>{&quot;type&quot;:&quot;object&quot;",
            "Implemented by <span class=\"number\">2</span>",
            "<th scope=\"col\">Function</th>",
            "href=\"../classes/org.acme.Apache\"",
            "with the interface of <span class=\"version\">1.0.0</span>",
            "href=\"../classes/org.acme.Nginx\"",
            "with the interface of <span class=\"version\">1.2.0</span>",
            "<code>start</code></th><td><span class=\"case\"><span class=\"tag warning\">not implemented</span></span></td>\
             <td><span class=\"case\"><span class=\"tag good\">implemented</span></span></td>",
            "<code>reload</code></th><td><span class=\"case\"><span class=\"tag good\">implemented</span></span></td>",
            "<code>status</code></th><td><span class=\"quiet\">not in this version</span></td>",
        ],
    );
    assert!(!shown.contains("org.acme.Caller"), "{shown}");
}
