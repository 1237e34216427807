//! Hints about conflicts that follow from the texts of manifests.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{Package, PackageName, Spec};
use pkgres_resolver::{Conflict, Hint, Reason, ReasonKind};

/// Says which interfaces a project needs a package for that no registry has.
pub(crate) fn interfaces_of_missing(conflict: &Conflict, root: &Package) -> Vec<Hint> {
    if conflict.code != Code::UnknownPackage {
        return Vec::new();
    }
    let missing: BTreeSet<&PackageName> = (conflict.reasons.iter())
        .filter(|reason| reason.clashes)
        .filter_map(|reason| match &reason.kind {
            ReasonKind::Requires { package, .. } => Some(package),
            _ => None,
        })
        .collect();
    let implements = root.manifest.implements.iter();
    let interfaces = implements.flat_map(|entry| &entry.interfaces);
    let mut seen = BTreeSet::new();
    let mut hints = Vec::new();
    for interface in interfaces {
        let name = &interface.value;
        let package = name.enclosing_packages().find(|it| missing.contains(it));
        if let Some(package) = package.filter(|_| seen.insert(name)) {
            let place = &interface.location;
            hints.push(Hint::packages(format!(
                "`Implements` names the interface {name} of {package} ({place})"
            )));
        }
    }
    hints
}

/// Explains requirements without a spec, which mean `0`: nothing in the manifest says so.
pub(crate) fn empty_specs(conflict: &Conflict) -> Vec<Hint> {
    if conflict.code != Code::NoVersion {
        return Vec::new();
    }
    let empty = conflict.reasons.iter().filter(|reason| is_empty(reason));
    let packages: BTreeSet<_> = empty
        .filter_map(|reason| match &reason.kind {
            ReasonKind::Requires { package, .. } => Some((reason.owner_name(), package)),
            _ => None,
        })
        .collect();
    let texts = packages.into_iter().map(|(owner, package)| {
        Hint::packages(format!(
            "{owner} requires {package} without a spec, which means `0`, the versions before 1.0.0; `{package}: \"*\"` means any version"
        ))
    });
    texts.collect()
}

/// Whether a reason is a requirement whose spec is left out in the manifest.
fn is_empty(reason: &Reason) -> bool {
    let ReasonKind::Requires {
        spec,
        overridden_by: None,
        is_implied: false,
        ..
    } = &reason.kind
    else {
        return false;
    };
    let Some(location) = &reason.location else {
        return false;
    };
    let text = location.source().text();
    let rest = text.get(location.span().end..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let value = line
        .trim_start_matches(['"', '\''])
        .trim_start()
        .strip_prefix(':');
    let value = value.map(|value| value.split(" #").next().unwrap_or_default().trim());
    let is_left_out = matches!(value, Some("" | "~" | "null" | "\"\"" | "''"));
    is_left_out && *spec == Spec::unspecified().written()
}
