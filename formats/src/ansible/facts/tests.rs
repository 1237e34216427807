//! The classes that follow from facts.

use super::*;
use crate::ansible::python::ImportKind;

fn import(target: &str, names: &[&str], kind: ImportKind) -> Import {
    Import {
        module: "plugins.modules.page".to_owned(),
        path: "plugins/modules/page.py".to_owned(),
        target: target.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        kind,
        at: 0,
    }
}

fn module(names: &[&str], stars: &[&str]) -> Module {
    Module {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        stars: stars.iter().map(|name| (*name).to_owned()).collect(),
        is_open: false,
    }
}

fn route(kind: &str, name: &str, redirect: &str) -> Route {
    Route {
        kind: kind.to_owned(),
        name: name.to_owned(),
        redirect: Some(redirect.to_owned()),
        ..Route::default()
    }
}

fn facts() -> Facts {
    Facts {
        collection: "acme.web".to_owned(),
        modules: [
            ("plugins.modules.page".to_owned(), Module::default()),
            (
                "plugins.module_utils.html.tags".to_owned(),
                module(&["a", "b"], &[]),
            ),
        ]
        .into(),
        ..Facts::default()
    }
}

fn lines(facts: &Facts) -> Vec<String> {
    let classes = facts.classes(&|name| name == "acme.net");
    classes
        .iter()
        .map(|class| format!("{} {:?} {:?}", class.name, class.extends, class.uses))
        .filter(|line| !line.ends_with("[] []") || line.contains("module_utils"))
        .map(|line| {
            line.replace("acme.web.plugins.", "")
                .replace("acme.net.plugins.", "net:")
        })
        .collect()
}

#[test]
fn folders_modules_and_names_are_classes() {
    assert_eq!(
        lines(&facts()),
        [
            "module_utils [] []",
            "module_utils.html [] []",
            "module_utils.html.tags [] []",
            "module_utils.html.tags.a [] []",
            "module_utils.html.tags.b [] []",
        ]
    );
}

#[test]
fn only_what_runs_at_load_time_extends_and_only_into_dependencies() {
    let mut facts = facts();
    facts.modules.remove("plugins.module_utils.html.tags");
    facts.imports = vec![
        import(
            "acme.net.plugins.module_utils.tcp",
            &["a", "b"],
            ImportKind::Hard,
        ),
        import(
            "acme.net.plugins.module_utils.udp",
            &[],
            ImportKind::Guarded,
        ),
        import(
            "acme.net.plugins.module_utils.ip",
            &[],
            ImportKind::Alternative,
        ),
        import("acme.net.plugins.module_utils.lazy", &[], ImportKind::Lazy),
        import("acme.other.plugins.module_utils.x", &[], ImportKind::Hard),
        import("acme.web.plugins.module_utils.y", &[], ImportKind::Hard),
        import("ansible.builtin.plugins.z", &[], ImportKind::Hard),
        import("acme.net.tests.unit.helper", &["help"], ImportKind::Hard),
        import("acme.net.scripts.tool", &[], ImportKind::Hard),
    ];
    let page = "plugins.modules.page".to_owned();
    facts.fragments = vec![
        (page.clone(), "acme.net.tcp.more".to_owned()),
        ("plugins.lookup.page".to_owned(), "acme.net.tcp".to_owned()),
        (page, "files".to_owned()),
    ];
    assert_eq!(
        lines(&facts),
        [
            "lookup.page [net:doc_fragments.tcp] []",
            "modules.page [net:module_utils.tcp.a, net:module_utils.tcp.b, net:module_utils.udp] \
             [net:doc_fragments.tcp, net:module_utils.ip, net:module_utils.lazy, \
             acme.other.plugins.module_utils.x]",
        ]
    );
}

#[test]
fn routes_count_as_what_they_are() {
    let mut facts = facts();
    facts
        .modules
        .insert("plugins.module_utils.gone".to_owned(), module(&["x"], &[]));
    facts.routes = vec![
        route("module_utils", "old", "acme.web.html.tags"),
        route("module_utils", "older", "acme.web.old"),
        route("module_utils", "loop", "acme.web.loop"),
        route("module_utils", "lost", "acme.web.nothing"),
        route(
            "module_utils",
            "moved",
            "ansible_collections.acme.other.plugins.module_utils.x",
        ),
        route("module_utils", "net", "acme.net.tcp"),
        route("modules", "net", "acme.net.tcp"),
        Route {
            tombstone: true,
            ..route("module_utils", "gone", "acme.web.html.tags")
        },
    ];
    // A class that has moved is an internal one.
    let classes = facts.classes(&|name| name == "acme.net");
    let internal = classes.iter().filter(|class| class.internal);
    let internal: Vec<&str> = internal.map(|class| class.name.as_str()).collect();
    assert_eq!(internal, ["acme.web.plugins.module_utils.moved"]);
    assert_eq!(
        lines(&facts),
        [
            "module_utils [] []",
            "module_utils.html [] []",
            "module_utils.html.tags [] []",
            "module_utils.html.tags.a [] []",
            "module_utils.html.tags.b [] []",
            "module_utils.moved [] [acme.other.plugins.module_utils.x]",
            "module_utils.net [net:module_utils.tcp] []",
            "module_utils.net.* [] []",
            "module_utils.old [] []",
            "module_utils.old.a [] []",
            "module_utils.old.b [] []",
            "module_utils.older [] []",
            "module_utils.older.a [] []",
            "module_utils.older.b [] []",
            "modules.net [] [net:modules.tcp]",
        ]
    );
}

#[test]
fn star_imports_within_the_collection_are_followed() {
    let mut facts = facts();
    let own = "acme.web.plugins.module_utils.";
    facts.modules.insert(
        "plugins.module_utils.all".to_owned(),
        module(&["c"], &[&format!("{own}html.tags"), &format!("{own}all")]),
    );
    facts.modules.insert(
        "plugins.module_utils.any".to_owned(),
        module(&[], &["acme.net.plugins.module_utils.tcp"]),
    );
    let lines = lines(&facts);
    for expected in ["all.a", "all.b", "all.c", "any.*"] {
        assert!(
            lines.contains(&format!("module_utils.{expected} [] []")),
            "{expected}"
        );
    }
    assert!(!lines.contains(&"module_utils.all.* [] []".to_owned()));
}

#[test]
fn a_redirected_package_has_what_is_below_its_target() {
    let mut facts = facts();
    facts.modules.remove("plugins.modules.page");
    let mut all = module(&["c"], &[]);
    all.is_open = true;
    facts
        .modules
        .insert("plugins.module_utils.html.more.all".to_owned(), all);
    facts.routes = vec![
        Route {
            redirects_imports: true,
            ..route("module_utils", "old", "acme.web.html")
        },
        route("module_utils", "plugin", "acme.web.html"),
    ];
    let names = |prefix: &str| {
        let classes = facts.classes(&|_| false).into_iter();
        let below = classes.filter_map(|class| {
            let name = class
                .name
                .as_str()
                .strip_prefix("acme.web.plugins.module_utils.")?;
            Some(name.strip_prefix(prefix)?.to_owned())
        });
        below.collect::<Vec<_>>()
    };
    assert_eq!(names("html").len(), 8);
    assert_eq!(names("old"), names("html"));
    assert_eq!(names("plugin"), [""]);
}

#[test]
fn action_plugins_are_modules_in_any_folder() {
    let names = ["page", "net", "net.push", "net.deep.pull"];
    let actions = names.map(|name| (format!("plugins.action.{name}"), module(&["run"], &[])));
    let facts = Facts {
        collection: "acme.web".to_owned(),
        modules: actions.into(),
        ..Facts::default()
    };
    let classes = facts.classes(&|_| false);
    let names = classes.iter().map(|class| class.name.as_str());
    let modules = names.filter_map(|name| name.strip_prefix("acme.web.plugins.modules."));
    // `net` is a package.
    assert_eq!(
        modules.collect::<Vec<_>>(),
        ["net.deep.pull", "net.push", "page"]
    );
}
