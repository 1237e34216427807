//! Reads `meta/runtime.yml`: the supported versions of ansible-core, and redirections, deprecations and removals of
//! plug-ins.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Severity};
use pkgres_manifest::document::{Mapping, Node, read_yaml};
use pkgres_manifest::{Limits, Spec, Version};

use super::core_version::requires_ansible;
use super::facts::{Route, split_collection};
use super::record::ECOSYSTEM;
use crate::format::first_error;

/// The path of the file in a collection.
pub(crate) const RUNTIME_FILE: &str = "meta/runtime.yml";

/// What `meta/runtime.yml` says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Runtime {
    /// The versions of ansible-core, if the file states them.
    pub(crate) requires_ansible: Option<Spec>,
    /// The routes.
    pub(crate) routes: Vec<Route>,
}

/// Reads the file. What cannot be read is a warning: ansible-core installs such a collection too.
pub(crate) fn read(name: &str, bytes: &[u8], limits: &Limits) -> (Runtime, Vec<Diagnostic>) {
    let mut runtime = Runtime::default();
    let read = read_yaml(name, bytes, "meta/runtime.yml", limits);
    let ((source, document), mut findings) = match read.into_result() {
        Ok(read) => read,
        Err(findings) => return (runtime, vec![unreadable(findings)]),
    };
    let mapping = document.as_ref().and_then(Node::as_mapping);
    let Some(mapping) = mapping else {
        return (runtime, findings);
    };
    let stated = mapping.get("requires_ansible");
    if let Some(stated) = stated.filter(|stated| !stated.is_null()) {
        let read = stated.as_scalar().map_or_else(
            || Err("it is not a text".to_owned()),
            |text| requires_ansible(&text.text).map_err(|error| error.to_string()),
        );
        match read {
            Ok(spec) => runtime.requires_ansible = Some(spec),
            Err(error) => {
                let message = format!("`requires_ansible` is ignored: {error}");
                let place = Location::new(&source, stated.span);
                findings.push(Diagnostic::warning(Code::BrokenPackage, message).at(place));
            }
        }
    }
    runtime.routes = routes(mapping).map(|entry| route(&entry)).collect();
    (runtime, findings)
}

/// An entry of `plugin_routing` or `import_redirection`.
struct RouteEntry<'file> {
    kind: &'file str,
    name: &'file str,
    value: &'file Mapping,
    redirects_imports: bool,
}

/// The entries of `plugin_routing` and `import_redirection`.
fn routes(mapping: &Mapping) -> impl Iterator<Item = RouteEntry<'_>> {
    let entries = |key: &str| {
        let mapping = mapping.get(key).and_then(Node::as_mapping);
        mapping.into_iter().flat_map(|mapping| &mapping.entries)
    };
    let plugins = entries("plugin_routing").flat_map(|kind| {
        let plugins = kind.value.as_mapping().into_iter();
        let plugins = plugins.flat_map(|plugins| &plugins.entries);
        plugins.filter_map(|plugin| {
            Some(RouteEntry {
                kind: &kind.key.text,
                name: &plugin.key.text,
                value: plugin.value.as_mapping()?,
                redirects_imports: false,
            })
        })
    });
    let imports = entries("import_redirection").filter_map(|import| {
        let (kind, name) = module_of(&import.key.text)?;
        Some(RouteEntry {
            kind,
            name,
            value: import.value.as_mapping()?,
            redirects_imports: true,
        })
    });
    plugins.chain(imports)
}

/// The places of the targets of redirects, by the paths of the plug-ins in their collection.
pub(super) fn places_of_redirects(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> BTreeMap<String, Location> {
    let read = read_yaml(name, bytes, "meta/runtime.yml", limits);
    let Ok(((source, Some(document)), _)) = read.into_result() else {
        return BTreeMap::new();
    };
    let routes = document.as_mapping().into_iter().flat_map(routes);
    let places = routes.filter_map(|entry| {
        let target = entry.value.get("redirect")?;
        let path = format!("plugins.{}.{}", entry.kind, entry.name);
        Some((path, Location::new(&source, target.span)))
    });
    places.collect()
}

/// The warning about a file that cannot be read, wherever its release is used: what it says is missing then.
fn unreadable(errors: Vec<Diagnostic>) -> Diagnostic {
    let mut finding = first_error(errors);
    finding.severity = Severity::Warning;
    finding.code = Code::BrokenPackage;
    finding.message = format!(
        "meta/runtime.yml is ignored, with its `requires_ansible` and its routing: {}",
        finding.message
    );
    finding
}

/// The kind and the name of a module, from its full path in Python.
fn module_of(path: &str) -> Option<(&str, &str)> {
    let (_, path) = split_collection(path.strip_prefix("ansible_collections.")?)?;
    path.strip_prefix("plugins.")?.split_once('.')
}

fn route(entry: &RouteEntry<'_>) -> Route {
    let present = |key: &str| entry.value.get(key).filter(|node| !node.is_null());
    let (tombstone, deprecation) = (present("tombstone"), present("deprecation"));
    let removal_version = tombstone
        .or(deprecation)
        .and_then(Node::as_mapping)
        .and_then(|details| details.get("removal_version"))
        .and_then(Node::as_scalar)
        .and_then(|version| {
            ECOSYSTEM
                .version(&version.text)
                .or_else(|_| Version::parse(&version.text))
                .ok()
        });
    Route {
        kind: entry.kind.to_owned(),
        name: entry.name.to_owned(),
        redirect: present("redirect")
            .and_then(Node::as_scalar)
            .map(|redirect| redirect.text.clone()),
        tombstone: tombstone.is_some(),
        removal_version,
        deprecated: deprecation.is_some(),
        redirects_imports: entry.redirects_imports,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_and_versions_are_read() {
        let text = b"requires_ansible: '>=2.15.0'\nplugin_routing:\n  modules:\n    old: {redirect: acme.web.new}\n    \
            gone:\n      tombstone: {removal_version: 3.0.0}\n    soon:\n      deprecation:\n        removal_version: 5.0.0\n        \
            warning_text: later\n  action:\n    odd: 1\nother: [1]\nimport_redirection:\n  \
            ansible_collections.acme.web.plugins.module_utils.a.b:\n    redirect: ansible_collections.acme.web.plugins.module_utils.c\n  \
            other.module: {redirect: acme.web.x}\n";
        let (runtime, findings) = read("meta/runtime.yml", text, &Limits::default());
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(
            runtime.requires_ansible.expect("it is stated").written(),
            ">=2.15.0"
        );
        let routes: Vec<String> = runtime
            .routes
            .iter()
            .map(|route| {
                let version = route.removal_version.as_ref().map(ToString::to_string);
                format!(
                    "{} {:?} {} {} {version:?}",
                    route.name, route.redirect, route.tombstone, route.deprecated
                )
            })
            .collect();
        assert_eq!(
            routes,
            [
                "old Some(\"acme.web.new\") false false None",
                "gone None true false Some(\"3.0.0\")",
                "soon None false true Some(\"5.0.0\")",
                "a.b Some(\"ansible_collections.acme.web.plugins.module_utils.c\") false false None",
            ]
        );
    }

    #[test]
    fn the_places_of_redirects_are_those_of_their_targets() {
        let text = b"plugin_routing:\n  modules:\n    old: {redirect: acme.web.new}\n    gone: {tombstone: {}}\n    odd: 1\n\
            import_redirection:\n  ansible_collections.acme.web.plugins.module_utils.a.b:\n    redirect: acme.web.c\n";
        let places = places_of_redirects("runtime", text, &Limits::default());
        let places: Vec<String> = (places.iter())
            .map(|(path, place)| format!("{path} {place}"))
            .collect();
        assert_eq!(
            places,
            [
                "plugins.module_utils.a.b runtime:8:15",
                "plugins.modules.old runtime:3:21",
            ]
        );
        assert!(places_of_redirects("runtime", b"a: [", &Limits::default()).is_empty());
    }

    #[test]
    fn what_ansible_reads_is_read() {
        for text in [
            "x: &a 1\nrequires_ansible: '>=99'\n",
            "x: &a '>=99'\nrequires_ansible: *a\n",
            "requires_ansible: !!str '>=99'\n",
            "%YAML 1.1\n---\nrequires_ansible: '>=99'\n",
            "requires_ansible: '>=1'\nrequires_ansible: '>=99'\n",
            "x: &a {requires_ansible: '>=99'}\n<<: *a\n",
            "x: &a {requires_ansible: '>=1'}\n<<: [{requires_ansible: '>=99'}, *a]\n",
            "x: &a {requires_ansible: '>=1'}\n<<: *a\nrequires_ansible: '>=99'\n",
        ] {
            let text =
                format!("{text}plugin_routing: {{modules: {{old: {{redirect: acme.web.new}}}}}}\n");
            let (runtime, findings) = read("meta/runtime.yml", text.as_bytes(), &Limits::default());
            assert!(
                findings
                    .iter()
                    .all(|finding| finding.code == Code::DuplicateKey),
                "{text}: {findings:?}"
            );
            let spec = runtime.requires_ansible.expect("it is stated");
            assert_eq!(spec.written(), ">=99", "{text}");
            assert_eq!(runtime.routes.len(), 1, "{text}");
        }
    }

    #[test]
    fn aliases_do_not_exceed_the_limits() {
        let mut bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        let mut deep = "a0: &a0 [1]\n".to_owned();
        for level in 1..100 {
            let before = level - 1;
            let aliases = vec![format!("*a{before}"); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
            deep.push_str(&format!("a{level}: &a{level} [*a{before}]\n"));
        }
        for text in [&*bomb, &*deep, "a: &a [*a]\n"] {
            let (_, findings) = read("meta/runtime.yml", text.as_bytes(), &Limits::default());
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert_eq!(findings[0].code, Code::BrokenPackage);
        }
    }

    #[test]
    fn what_cannot_be_read_is_a_warning() {
        for text in [
            &b"requires_ansible: 2.9"[..],
            b"requires_ansible: ['>=2.15']",
            b"a: !vault 1\n",
            b"a: *x\n",
            b"a: [",
            b"\xff",
        ] {
            let (_, findings) = read("meta/runtime.yml", text, &Limits::default());
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(!findings[0].is_error());
            assert_eq!(findings[0].code, Code::BrokenPackage);
        }
        assert_eq!(
            read("meta/runtime.yml", b"", &Limits::default()).0,
            Runtime::default()
        );
    }
}
