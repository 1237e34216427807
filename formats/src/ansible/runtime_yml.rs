//! Reads `meta/runtime.yml`: the supported versions of ansible-core, and redirections, deprecations and removals of
//! plug-ins.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Severity};
use pkgres_manifest::document::{Mapping, Node, read_yaml};
use pkgres_manifest::{Limits, Spec, Version};

use super::core_version::requires_ansible;
use super::facts::{Route, split_collection};
use super::record::ECOSYSTEM;

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
        Err(mut findings) => {
            for finding in &mut findings {
                finding.severity = Severity::Warning;
            }
            return (runtime, findings);
        }
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
    fn what_cannot_be_read_is_a_warning() {
        for text in [
            &b"requires_ansible: 2.9"[..],
            b"a: &x 1\n",
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
