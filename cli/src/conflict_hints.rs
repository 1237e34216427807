//! Hints about conflicts that the solver does not know: they follow from the texts of manifests, or from settings.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{Package, PackageName, ReadOptions, ReleaseSource, Spec};
use pkgres_registry_client::{Answer, RegistrySet, solve_with_evidence};
use pkgres_resolver::{Conflict, Hint, Reason, ReasonKind, Request, Supply};

use crate::registries::RegistryOptions;
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// Says which interfaces a project needs a package for that no registry has.
pub(crate) fn interfaces_of_missing(conflict: &Conflict, root: &Package) -> Vec<Hint> {
    if conflict.code != Code::UnknownPackage {
        return Vec::new();
    }
    let missing = clashing_packages(conflict);
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

/// The packages of the requirements that clash.
fn clashing_packages(conflict: &Conflict) -> BTreeSet<&PackageName> {
    let clashing = conflict.reasons.iter().filter(|reason| reason.clashes);
    let required = clashing.filter_map(|reason| match &reason.kind {
        ReasonKind::Requires { package, .. } => Some(package),
        _ => None,
    });
    required.collect()
}

/// Says which unknown packages are looked up in one registry only, because their names are bound to it.
pub(crate) fn bound_names(conflict: &Conflict, registries: &RegistrySet) -> Vec<Hint> {
    if conflict.code != Code::UnknownPackage {
        return Vec::new();
    }
    let bound = clashing_packages(conflict).into_iter().filter_map(|package| {
        let (namespace, registry) = registries.binding(package)?;
        Some(Hint::option(format!(
            "`{package}` is looked up in the registry `{registry}` only: `namespaces` of `registries.{registry}` in \
             pkgres.toml has `{namespace}`"
        )))
    });
    bound.collect()
}

/// Says which packages that clash are members of the workspace, so that their manifests have the only version of them.
pub(crate) fn workspace_members(conflict: &Conflict, registries: &RegistrySet) -> Vec<Hint> {
    if conflict.code != Code::NoVersion {
        return Vec::new();
    }
    let packages: Vec<PackageName> = clashing_packages(conflict).into_iter().cloned().collect();
    let supplies = registries.supply(&packages).unwrap_or_default();
    let members = packages
        .iter()
        .zip(supplies)
        .filter_map(|(package, supply)| {
            let Supply::Releases { source, records } = supply else {
                return None;
            };
            let is_member =
                matches!(source, ReleaseSource::Registry(name) if name.as_str() == WORKSPACE);
            let member = records.first().filter(|_| is_member)?;
            Some(Hint::option(format!(
                "`{package}` is a member of this workspace, and its manifest says version {}",
                member.version
            )))
        });
    members.collect()
}

/// Says which packages of a conflict are taken from folders instead of registries. To remove such an override is no change
/// that the solver could try.
pub(crate) fn folders_in_place(conflict: &Conflict, registries: &RegistryOptions) -> Vec<Hint> {
    let folders = registries.overriding_folders();
    let involved = folders.filter(|package| conflict.packages.contains(package));
    let hints = involved.map(|package| {
        Hint::option(format!(
            "`overrides` in pkgres.toml takes `{package}` from a folder; without that, it comes from the registries"
        ))
    });
    hints.collect()
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

/// The hint that there is a resolution with several releases of a package side by side, if the request has one.
pub(crate) fn single_version_hint(
    request: Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Option<Hint> {
    let (answer, _) = solve_with_evidence(request, registries, options).ok()?;
    let Answer::Solved(resolution) = answer else {
        return None;
    };
    let several = resolution.side_by_side().iter().map(|package| {
        let versions: Vec<String> = package.versions.iter().map(ToString::to_string).collect();
        format!("{} {}", package.name, versions.join(" and "))
    });
    let several: Vec<String> = several.collect();
    Some(Hint::option(format!(
        "it can be solved without `single-version`, which allows one release of each package: {} side by side",
        several.join(", ")
    )))
}
