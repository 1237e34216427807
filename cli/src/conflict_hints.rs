//! Completes conflicts with what the solver does not know: positions and hints that follow from the texts of manifests,
//! from settings, and from the registries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{
    ClassName, IndexRecord, Package, PackageName, ReadOptions, ReleaseSource, Spec, Version,
};
use pkgres_registry_client::{Answer, PackageFolder, RegistrySet, solve_with_evidence};
use pkgres_resolver::{Conflict, Hint, Locked, Reason, ReasonKind, Request, Root, Supply, Update};

use crate::context::Context;
use crate::missing_classes::unlisted_file_hint;
use crate::read_manifest::folder_of;
use crate::reference_positions::RootPlaces;
use crate::registries::{RegistryOptions, unconfigured_hint};
use crate::repair_commands::{add_commands, joint_repair_hint, repair_hint, require_missing};
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// The step limit of a search that only a hint needs. A hard conflict must not take twice as long for it.
const MAX_STEPS_OF_HINT: u64 = 1_000_000;

/// What hints need of a request, which the search consumes.
pub(crate) struct OriginalRequest {
    has_one_root: bool,
    /// The roots and provided releases, if their ecosystem has names of classes for people.
    labelled: Option<Vec<IndexRecord>>,
    /// The version of the core library that the host provides, if it does.
    provided_core: Option<Version>,
    /// The update, and the locked releases that it starts from.
    update: Option<(Update, Locked)>,
    /// The same request without `single-version`, if that is an option.
    side_by_side: Option<Request>,
}

impl OriginalRequest {
    pub(crate) fn of(request: &Request, context: &Context) -> Self {
        let roots = request.roots.iter().filter_map(Root::record);
        let records = roots.chain(&request.host_releases);
        let mut records = records.cloned().peekable();
        let labelled = (records.peek()).is_some_and(|record| record.ecosystem.has_labels());
        let mut provided = request.host_releases.iter();
        let core = provided.find(|record| request.core.as_ref() == Some(&record.name));
        let update = request.update.clone();
        // A list of repairs has it.
        let side_by_side = side_by_side(request).filter(|_| !context.invocation.is("repair"));
        Self {
            has_one_root: request.roots.len() == 1,
            labelled: labelled.then(|| records.collect()),
            provided_core: core.map(|record| record.version.clone()),
            update: update.map(|update| (update, request.locked.clone())),
            side_by_side,
        }
    }
}

/// The request without the option that each package has one release, if that is an option.
fn side_by_side(request: &Request) -> Option<Request> {
    let mut records = request.roots.iter().filter_map(Root::record);
    let is_possible = records.all(|record| record.ecosystem.has_side_by_side());
    let is_optional = request.options.single_version && is_possible && request.update.is_none();
    let mut request = is_optional.then(|| request.clone())?;
    request.options.single_version = false;
    Some(request)
}

/// The files that a request was made of.
#[derive(Default)]
pub(crate) struct RequestOrigin {
    /// The packages of the roots, for the positions of their classes in a conflict.
    pub(crate) packages: Vec<Arc<Package>>,
    /// The same for roots of other ecosystems.
    pub(crate) places: Vec<RootPlaces>,
    /// The manifest of the root, if that is a project, which commands can name.
    pub(crate) manifest: Option<PathBuf>,
}

/// Everything that completes a conflict.
pub(crate) struct ConflictHints<'a> {
    pub(crate) original: OriginalRequest,
    pub(crate) origin: &'a RequestOrigin,
    pub(crate) registries: &'a RegistrySet,
    /// Whether no registry is configured.
    pub(crate) is_unconfigured: bool,
    pub(crate) context: &'a Context,
}

impl ConflictHints<'_> {
    /// Adds positions and hints to a conflict.
    ///
    /// Hints follow those of the solver, from what explains the conflict to what might repair it; the command that
    /// lists all repairs is last. A registry that fails here does not change the conflict.
    pub(crate) fn complete(self, conflict: &mut Conflict) {
        let Self {
            original,
            origin,
            registries,
            context,
            ..
        } = self;
        locate(conflict, origin, original.has_one_root, context);
        let _ = registries.add_hints(conflict, context.core());
        missing_classes(conflict, origin, registries, context);
        let mut hints = empty_specs(conflict);
        hints.extend(bound_names(conflict, registries));
        hints.extend(workspace_members(conflict, registries));
        hints.extend(folder_overrides(conflict, &context.registries));
        for root in &origin.packages {
            hints.extend(interfaces_of_missing(conflict, root));
        }
        if let Some(core) = context.core() {
            let packages = origin.packages.iter();
            let templates = packages.filter(|package| package.manifest.format.is_heat_hot());
            let templates: Vec<&PackageName> = templates.map(|package| package.name()).collect();
            for template in &templates {
                without_requirements_of(conflict, template);
            }
            hints.extend(core_hint(conflict, core, templates.first().copied()));
            hints.extend(core_without_class(
                conflict,
                core,
                original.provided_core.as_ref(),
            ));
        }
        if let Some(request) = original.side_by_side {
            hints.extend(single_version_hint(
                request,
                registries,
                &context.read_options,
            ));
        }
        if self.is_unconfigured && conflict.code == Code::UnknownPackage {
            hints.push(Hint::option(unconfigured_hint(&context.invocation)));
        }
        conflict.hints.extend(hints);
        if let Some(manifest) = origin.manifest.as_ref().filter(|_| original.has_one_root) {
            let update = original.update.as_ref();
            let hint = repair_hint(conflict, update, manifest, &context.invocation);
            conflict.hints.extend(hint);
        }
        if !original.has_one_root && original.update.is_none() {
            let first = origin.packages.first();
            let hint = first.and_then(|first| joint_repair_hint(first.name(), context));
            conflict.hints.extend(hint);
        }
        if let Some(labelled) = &original.labelled {
            let _ = registries.label_classes(conflict, labelled);
        }
    }
}

/// Adds the positions in the files of the root, and the commands that change its requirements.
fn locate(conflict: &mut Conflict, origin: &RequestOrigin, has_one_root: bool, context: &Context) {
    for root in &origin.packages {
        conflict.locate_classes(root);
        if has_one_root {
            add_commands(conflict, root.name(), context);
        }
    }
    for places in &origin.places {
        places.locate(conflict, &context.read_options);
    }
}

/// Says where classes are that a root extends, but does not get: in a file that its manifest does not list, or in a
/// package that it does not require.
fn missing_classes(
    conflict: &mut Conflict,
    origin: &RequestOrigin,
    registries: &RegistrySet,
    context: &Context,
) {
    if conflict.code != Code::ClassUnavailable {
        return;
    }
    for root in &origin.packages {
        let missing = conflict
            .reasons
            .iter()
            .filter_map(|reason| match &reason.kind {
                ReasonKind::Extends { class } if reason.owner.as_ref() == Some(root.name()) => {
                    Some(class)
                }
                _ => None,
            });
        let folder = folder_of(Path::new(root.manifest.source().name()));
        let folder = PackageFolder::open(&folder, &context.read_options).ok();
        let unlisted = missing.filter_map(|class| {
            let file = (folder.as_ref()?).unlisted_class_file(root, class, &context.read_options);
            Some(Hint::packages(unlisted_file_hint(class, &file?)))
        });
        let unlisted: Vec<Hint> = unlisted.collect();
        conflict.hints.splice(0..0, unlisted);
        // Without one manifest, it is unclear which one the command is for.
        let Some(manifest) = &origin.manifest else {
            continue;
        };
        let missing: BTreeSet<ClassName> = (conflict.reasons.iter())
            .filter_map(|reason| match &reason.kind {
                ReasonKind::Extends { class } => Some(class.clone()),
                _ => None,
            })
            .collect();
        require_missing(conflict, root.name(), manifest, context, |package| {
            let supplies = registries.supply(std::slice::from_ref(package));
            let records = supplies.unwrap_or_default().into_iter();
            newest_stable(records.flat_map(Supply::into_records))
                .is_some_and(|newest| missing.iter().any(|class| newest.exports(class)))
        });
    }
}

/// The newest release of a package that is neither a prerelease nor yanked.
fn newest_stable(records: impl Iterator<Item = IndexRecord>) -> Option<IndexRecord> {
    let usable = records.filter(|record| !record.yanked && !record.version.is_prerelease());
    usable.max_by(|one, two| one.version.cmp(&two.version))
}

/// Removes the suggestions to change a requirement of a Heat template: its manifest cannot state any.
fn without_requirements_of(conflict: &mut Conflict, template: &PackageName) {
    let Conflict {
        suggestions, hints, ..
    } = conflict;
    suggestions.retain(|suggestion| {
        let is_own = suggestion.owner == *template && !suggestion.is_override;
        if is_own {
            hints.retain(|hint| hint.text != suggestion.text);
        }
        !is_own
    });
}

/// Says that the core library lacks a class that its name says it has.
fn core_without_class(
    conflict: &Conflict,
    core: &PackageName,
    provided: Option<&Version>,
) -> Option<Hint> {
    if conflict.code != Code::ClassUnavailable {
        return None;
    }
    let is_lacked = |class: &ClassName| {
        // The versions that lack it are listed.
        conflict.reasons.iter().any(
            |reason| matches!(&reason.kind, ReasonKind::Lacks { class: lacked } if lacked == class),
        )
    };
    let class = conflict
        .reasons
        .iter()
        .find_map(|reason| match &reason.kind {
            ReasonKind::Extends { class }
                if class.enclosing_packages().any(|package| package == *core)
                    && !is_lacked(class) =>
            {
                Some(class)
            }
            _ => None,
        })?;
    Some(Hint::option(match provided {
        Some(version) => format!(
            "the host provides the core library `{core}` {version}, which does not define the class {class}"
        ),
        None => format!(
            "no version of the core library `{core}` that could be chosen defines the class {class}"
        ),
    }))
}

/// A hint for a conflict about the core library, which every package requires, whether its manifest says so or
/// not.
fn core_hint(
    conflict: &Conflict,
    core: &PackageName,
    template: Option<&PackageName>,
) -> Option<Hint> {
    let is_about = |reason: &&Reason| match &reason.kind {
        ReasonKind::Requires { package, .. } => reason.clashes && package == core,
        _ => false,
    };
    let mut about = conflict.reasons.iter().filter(is_about);
    if conflict.code == Code::UnknownPackage {
        return about.next().map(|_| Hint::option(format!(
            "`{core}` is the core library: choose another one with `--core-library` or `core-library` in pkgres.toml, or none with `--no-core-library`"
        )));
    }
    let is_implied = |reason: &&Reason| {
        matches!(
            reason.kind,
            ReasonKind::Requires {
                is_implied: true,
                ..
            }
        )
    };
    about.find(is_implied).map(|reason| {
        let how = if template.is_some() && reason.owner.as_ref() == template {
            "set another version with an override in pkgres.toml"
        } else {
            "set its versions in `Require` of the manifest"
        };
        Hint::option(format!(
            "{} requires the core library `{core}` implicitly: {how}, or resolve with `--no-core-library`",
            reason.owner_name()
        ))
    })
}

/// Says which interfaces a project needs a package for that no registry has.
fn interfaces_of_missing(conflict: &Conflict, root: &Package) -> Vec<Hint> {
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
fn bound_names(conflict: &Conflict, registries: &RegistrySet) -> Vec<Hint> {
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
fn workspace_members(conflict: &Conflict, registries: &RegistrySet) -> Vec<Hint> {
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

/// Says which packages of a conflict are taken from folders instead of registries. To remove such an override is no
/// change that the solver could try.
fn folder_overrides(conflict: &Conflict, registries: &RegistryOptions) -> Vec<Hint> {
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
fn empty_specs(conflict: &Conflict) -> Vec<Hint> {
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
    let is_left_out = matches!(
        value,
        Some("" | "~" | "null" | "Null" | "NULL" | "\"\"" | "''")
    );
    is_left_out && *spec == Spec::unspecified().written()
}

/// The hint that there is a resolution with several releases of a package side by side, if the request has one.
fn single_version_hint(
    request: Request,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Option<Hint> {
    let mut request = request;
    let max_steps = &mut request.options.max_steps;
    *max_steps = (*max_steps).min(MAX_STEPS_OF_HINT);
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
        "the conflict can be solved without `single-version`, which allows one release of each package: {} side by side",
        several.join(", ")
    )))
}
