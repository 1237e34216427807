//! Reads `meta/runtime.yml`: the supported versions of ansible-core, and redirections, deprecations and removals of
//! plug-ins.

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
    if let Some(stated) = mapping.get("requires_ansible")
        && let Some(text) = stated.as_scalar().filter(|scalar| !scalar.is_null())
    {
        match requires_ansible(&text.text) {
            Ok(spec) => runtime.requires_ansible = Some(spec),
            Err(error) => {
                let message = format!("`requires_ansible` is ignored: {error}");
                let place = Location::new(&source, stated.span);
                findings.push(Diagnostic::warning(Code::Spec, message).at(place));
            }
        }
    }
    let routing = mapping.get("plugin_routing").and_then(Node::as_mapping);
    for kind in routing.into_iter().flat_map(|routing| &routing.entries) {
        let plugins = kind.value.as_mapping();
        for plugin in plugins.into_iter().flat_map(|plugins| &plugins.entries) {
            if let Some(entry) = plugin.value.as_mapping() {
                runtime
                    .routes
                    .push(route(&kind.key.text, &plugin.key.text, entry));
            }
        }
    }
    let imports = mapping.get("import_redirection").and_then(Node::as_mapping);
    for import in imports.into_iter().flat_map(|imports| &imports.entries) {
        let module = module_of(&import.key.text);
        if let (Some((kind, name)), Some(entry)) = (module, import.value.as_mapping()) {
            runtime.routes.push(route(kind, name, entry));
        }
    }
    (runtime, findings)
}

/// The place of the target of a redirect. `path` is that of the plug-in in its collection.
pub(super) fn place_of_redirect(
    name: &str,
    bytes: &[u8],
    path: &str,
    limits: &Limits,
) -> Option<Location> {
    let read = read_yaml(name, bytes, "meta/runtime.yml", limits);
    let ((source, document), _) = read.into_result().ok()?;
    let mapping = document.as_ref()?.as_mapping()?;
    let routing = mapping.get("plugin_routing").and_then(Node::as_mapping);
    let kinds = routing.into_iter().flat_map(|routing| &routing.entries);
    let plugins = kinds.flat_map(|kind| {
        let plugins = kind.value.as_mapping().into_iter();
        let plugins = plugins.flat_map(|plugins| &plugins.entries);
        plugins.map(|plugin| {
            (
                kind.key.text.as_str(),
                plugin.key.text.as_str(),
                &plugin.value,
            )
        })
    });
    let imports = mapping.get("import_redirection").and_then(Node::as_mapping);
    let imports = imports.into_iter().flat_map(|imports| &imports.entries);
    let imports = imports.filter_map(|import| {
        let (kind, name) = module_of(&import.key.text)?;
        Some((kind, name, &import.value))
    });
    let mut routes = plugins.chain(imports);
    let (_, _, route) = routes.find(|(kind, name, _)| {
        let rest = path.strip_prefix("plugins.");
        let rest = rest.and_then(|rest| rest.strip_prefix(*kind)?.strip_prefix('.'));
        rest == Some(*name)
    })?;
    let target = route.as_mapping()?.get("redirect")?;
    Some(Location::new(&source, target.span))
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

fn route(kind: &str, name: &str, entry: &Mapping) -> Route {
    let present = |key: &str| entry.get(key).filter(|node| !node.is_null());
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
        kind: kind.to_owned(),
        name: name.to_owned(),
        redirect: present("redirect")
            .and_then(Node::as_scalar)
            .map(|redirect| redirect.text.clone()),
        tombstone: tombstone.is_some(),
        removal_version,
        deprecated: deprecation.is_some(),
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
            b"a: !vault 1\n",
            b"a: *x\n",
            b"a: [",
            b"\xff",
        ] {
            let (_, findings) = read("meta/runtime.yml", text, &Limits::default());
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(!findings[0].is_error());
        }
        assert_eq!(
            read("meta/runtime.yml", b"", &Limits::default()).0,
            Runtime::default()
        );
    }
}
