//! Commands for the repairs of a conflict, for its hints.

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{PackageName, Spec, Version};
use pkgres_resolver::{
    Conflict, Hint, HintKind, Locked, Reason, ReasonKind, SuggestedChange, Update, UpdateTarget,
};

use crate::context::Context;
use crate::invocation::{Invocation, quoted};

/// Adds a command to each repair that changes a requirement in the manifest of the root, or of a member of the workspace.
pub(crate) fn add_commands(conflict: &mut Conflict, root: &PackageName, context: &Context) {
    let invocation = &context.invocation;
    // These commands solve with a manifest that was not written.
    if invocation.is("add") || invocation.is("remove") {
        return;
    }
    // A changed requirement is not enough for a release that has to be requested as well.
    let workspace = context.workspace().ok().flatten();
    let is_member = |owner: &PackageName| {
        workspace.is_some_and(|workspace| workspace.folder_of(owner).is_some())
    };
    let is_own = |repair: &&mut SuggestedChange| {
        let has_manifest = repair.owner == *root || is_member(&repair.owner);
        has_manifest && !repair.is_override && repair.exclusion.is_none()
    };
    for repair in conflict.suggestions.iter_mut().filter(is_own) {
        // An implied requirement has no location: there is nothing to change.
        let Some(location) = &repair.location else {
            continue;
        };
        let words = format!(
            "add {}@{}",
            repair.package,
            Spec::compatible_with(&repair.allow)
        );
        let manifest = Path::new(location.source().name());
        let text = if repair.owner == *root {
            let command = invocation.command_for_manifest(&words, manifest);
            format!("{}: `{command}`", repair.text)
        } else {
            // The manifest is here: nobody has to make a release.
            let command = invocation.command_for(&words, manifest);
            let SuggestedChange {
                owner,
                package,
                allow,
                ..
            } = &*repair;
            format!(
                "the conflict can be solved if {owner} allows {package} {allow} ({location}): `{command}`"
            )
        };
        let hints = conflict.hints.iter_mut();
        for hint in hints.filter(|hint| hint.text == repair.text) {
            hint.text.clone_from(&text);
        }
        repair.text = text;
    }
}

/// Adds the command to each hint about a package that the root, or a member of the workspace, does not require although
/// it extends a class of it. `manifest` is that of the root. `has_class` returns whether the version of a package that
/// the command would require defines the class.
pub(crate) fn require_missing(
    conflict: &mut Conflict,
    root: &PackageName,
    manifest: &Path,
    context: &Context,
    has_class: impl Fn(&PackageName) -> bool,
) {
    let invocation = &context.invocation;
    let workspace = context.workspace().ok().flatten();
    for hint in &mut conflict.hints {
        let HintKind::NotRequired { owner, package } = &hint.kind else {
            continue;
        };
        let words = format!("add {package}");
        let command = if owner == root {
            invocation.command_for_manifest(&words, manifest)
        } else if let Some(folder) = workspace.and_then(|workspace| workspace.folder_of(owner)) {
            invocation.command_for(&words, folder)
        } else {
            continue;
        };
        if has_class(package) {
            hint.text = format!("{}: `{command}`", hint.text);
        }
    }
}

/// A hint at `pkgres repair`, if it has something to offer, or if it may find more than a change of one requirement.
pub(crate) fn repair_hint(
    conflict: &Conflict,
    update: Option<&(Update, Locked)>,
    manifest: &Path,
    invocation: &Invocation,
) -> Option<Hint> {
    let is_of_update =
        |reason: &Reason| matches!(reason.kind, ReasonKind::Wanted { .. } | ReasonKind::Stays);
    if is_without_repairs(invocation) {
        return None;
    }
    let words = if conflict.reasons.iter().any(is_of_update) {
        let (update, locked) = update?;
        format!("repair {}", update_arguments(update, locked)?)
    } else {
        "repair".to_owned()
    };
    let command = invocation.command_for_manifest(&words, manifest);
    // Each of these is a repair.
    if !conflict.suggestions.is_empty() {
        return Some(Hint::option(format!(
            "`{command}` lists the cheapest ways to repair this"
        )));
    }
    (conflict.code == Code::NoVersion)
        .then(|| Hint::option(format!("`{command}` looks for changes that would help")))
}

/// A hint at `pkgres repair` for members of a workspace that are solved together, of which `member` is one.
pub(crate) fn joint_repair_hint(member: &PackageName, context: &Context) -> Option<Hint> {
    let invocation = &context.invocation;
    let workspace = context.workspace().ok().flatten()?;
    if !workspace.one_solve || is_without_repairs(invocation) {
        return None;
    }
    let command = invocation.command_for("repair", workspace.folder_of(member)?);
    Some(Hint::option(format!(
        "`{command}` looks for changes that would help"
    )))
}

/// Whether the command solves for something else than the manifests as they are.
fn is_without_repairs(invocation: &Invocation) -> bool {
    let mut others = ["add", "remove", "repair", "why-not"].iter();
    others.any(|command| invocation.is(command))
}

/// The arguments of `pkgres repair` for an update to an exact version; `None` for other updates.
pub(crate) fn update_arguments(update: &Update, locked: &Locked) -> Option<String> {
    let mut arguments = Vec::new();
    let mut target = None;
    for (name, moving) in &update.packages {
        let UpdateTarget::Exactly(version) = &moving.to else {
            return None;
        };
        target = Some(version);
        let releases = locked.bound().filter(|(locked, _)| *locked == name);
        let releases: BTreeSet<&Version> = releases.map(|(_, version)| version).collect();
        let mut named: Vec<String> = vec![name.to_string()];
        if releases.len() > 1 {
            let from = moving.from.iter();
            named = from.map(|version| format!("{name}@{version}")).collect();
        }
        arguments.extend(
            named
                .iter()
                .map(|named| format!("--update {}", quoted(Path::new(named)))),
        );
    }
    let version = target?.to_string();
    arguments.push(format!("--precise {}", quoted(Path::new(&version))));
    Some(arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{Spec, Version};

    #[test]
    fn compatible_specs_match_their_version() {
        let compatible_with = |text: &str| {
            let version = Version::parse(text).expect("a version");
            let spec = Spec::compatible_with(&version);
            assert!(spec.matches(&version), "{text}: {spec}");
            spec.to_string()
        };
        assert_eq!(compatible_with("1.2.3"), "^1.2.3");
        assert_eq!(compatible_with("0.3.0"), "^0.3.0");
        assert_eq!(compatible_with("1.2.3+build"), "^1.2.3");
        for prerelease in ["0.3.0-rc.1", "1.0.0-rc.1", "0.0.1-a"] {
            compatible_with(prerelease);
        }
    }
}
