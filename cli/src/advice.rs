//! Hints about conflicts that follow from the texts of manifests.

use std::collections::BTreeSet;

use pkgres_manifest::Spec;
use pkgres_manifest::diagnostic::Code;
use pkgres_resolver::{Conflict, Hint, Reason, ReasonKind};

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
