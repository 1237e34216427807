//! Stale lockfiles: how they differ from their project and registries.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};
use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource};
use pkgres_resolver::Staleness;
use serde_json::{Value, json};

use super::annotation::{Subject, annotation};
use crate::context::Context;
use crate::registries::OVERRIDE_PREFIX;
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// Hints for releases whose content is not what was locked. Where archives are locked and all that is found are folders
/// with sources, the registries are probably not those of the lockfile.
pub(crate) fn digest_hints(is_folder_for_archive: bool, context: &Context) -> [String; 2] {
    let first = if is_folder_for_archive {
        "an archive was locked, and a folder with sources was found: name the registry that the lockfile was written with, with `--registry` or with `registries` in pkgres.toml"
    } else {
        "a release should never change: find out who changed it, and why"
    };
    let command = context.invocation.command("lock --accept-changed");
    [
        first.to_owned(),
        format!("if the change is intended, `{command}` accepts it"),
    ]
}

/// The differences as errors, with a line for each; empty if there are none. Releases whose content is not what was
/// locked are a separate error: updating the lockfile must not hide them. `mode` is the end of the other message.
pub(crate) fn staleness(stale: &[Staleness], mode: &str, context: &Context) -> Vec<Diagnostic> {
    let (changed, outdated): (Vec<&Staleness>, Vec<&Staleness>) =
        stale.iter().partition(|entry| entry.is_violation());
    let finding = |code, message: &str, entries: &[&Staleness], hints: &[String]| {
        let mut text = message.to_owned();
        for entry in entries {
            let (mark, line) = line(entry);
            text.push_str(&format!("\n  {mark} {line}"));
        }
        let finding = Diagnostic::error(code, text);
        hints.iter().fold(finding, Diagnostic::hint)
    };
    let mut findings = Vec::new();
    if !changed.is_empty() {
        let message = "locked releases have different digests now";
        let is_folder = |entry: &&Staleness| {
            let Staleness::DigestDiffers { found, .. } = entry else {
                return false;
            };
            matches!(found, Some(ArtifactDigest::Tree(_)))
        };
        let hints = digest_hints(changed.iter().all(is_folder), context);
        findings.push(finding(Code::Digest, message, &changed, &hints));
    }
    if !outdated.is_empty() {
        let message = format!("the lockfile is out of date{mode}");
        let hints = hints(&outdated, context);
        findings.push(finding(Code::LockStale, &message, &outdated, &hints));
    }
    findings
}

/// The end of a message about `--locked`: `, and --locked is set (from PKGRES_LOCKED)`.
pub(crate) fn locked_mode(context: &Context) -> String {
    let from = context.settings.from("locked");
    format!(", and `--locked` is set{from}")
}

/// The differences as annotations of GitHub workflows.
pub(crate) fn staleness_annotations(stale: &[Staleness], file: &str) -> String {
    stale
        .iter()
        .map(|entry| {
            let code = if entry.is_violation() {
                Code::Digest
            } else {
                Code::LockStale
            };
            let subject = location(entry)
                .map_or_else(|| Subject::file(file), |location| Subject::at(&location));
            annotation("error", &subject, code, &line(entry).1)
        })
        .collect()
}

/// The position of the requirement that makes the lockfile stale.
fn location(entry: &Staleness) -> Option<Location> {
    match entry {
        Staleness::RequirementAdded { location, .. }
        | Staleness::RequirementChanged { location, .. }
        | Staleness::NotAllowed { location, .. } => location.clone(),
        _ => None,
    }
}

/// Hints for a lockfile that is out of date.
fn hints(outdated: &[&Staleness], context: &Context) -> Vec<String> {
    let mut hints = Vec::new();
    if outdated.iter().any(|entry| was_provided(entry)) {
        hints.push(
            "name the file of the releases that the host provides with `--provide`, or with `provide` in pkgres.toml"
                .to_owned(),
        );
    }
    let is_unknown = |entry: &Staleness| {
        let Staleness::Gone { locked, found, .. } = entry else {
            return false;
        };
        // What is built in is used because no registry has the package any more.
        let is_lost = matches!(found, None | Some(ReleaseSource::BuiltIn));
        is_lost && !was_provided(entry) && *locked != ReleaseSource::BuiltIn
    };
    if outdated.iter().any(|entry| is_unknown(entry)) {
        hints.push(
            "add the registry that the missing release was locked from with `--registry`"
                .to_owned(),
        );
    }
    let is_shadowed = |entry: &Staleness| match entry {
        Staleness::Gone {
            locked,
            found: Some(found),
            ..
        } => {
            let is_registry = matches!(found, ReleaseSource::Registry(_));
            let was_registry = matches!(locked, ReleaseSource::Registry(_));
            locked != found && is_registry && was_registry
        }
        _ => false,
    };
    if outdated.iter().any(|entry| is_shadowed(entry)) {
        hints.push(
            "all releases of a package come from the first registry that has it: put the registry that it was locked from first"
                .to_owned(),
        );
    }
    let is_lost = |entry: &Staleness| {
        matches!(entry, Staleness::Gone { found: None, .. }) && was_provided(entry)
    };
    if outdated.iter().any(|entry| is_lost(entry)) {
        // Nothing could be locked instead.
        return hints;
    }
    let is_split = |entry: &Staleness| matches!(entry, Staleness::SeveralReleases { .. });
    hints.push(if outdated.iter().any(|entry| is_split(entry)) {
        let command = context.invocation.command("lock --single-version");
        format!("`{command}` brings it up to date, or explains why it cannot")
    } else {
        let command = context.invocation.command("lock");
        format!("`{command}` brings it up to date, or explains why it cannot")
    });
    hints
}

/// Whether the registry of this name is a folder of the project: nobody looks for one that is called so.
fn is_made_of_folder(registry: &str) -> bool {
    registry == WORKSPACE || registry.starts_with(OVERRIDE_PREFIX)
}

/// Whether the host provided the package, and no longer does.
fn was_provided(entry: &Staleness) -> bool {
    match entry {
        Staleness::Gone {
            locked,
            found,
            newest,
            ..
        } => {
            let host_has = *found == Some(ReleaseSource::Host) && newest.is_some();
            *locked == ReleaseSource::Host && !host_has
        }
        Staleness::SourceDiffers { locked, .. } => *locked == ReleaseSource::Host,
        _ => false,
    }
}

/// A source as messages name it; one that nobody gave a name is "the registry".
fn registry_title(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if name.is_unnamed() => "the registry".to_owned(),
        ReleaseSource::Registry(name) => format!("the registry `{name}`"),
        source => format!("`{source}`"),
    }
}

/// A source beside another one, so that "the registry" would not say which one.
fn distinct_title(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if name.is_unnamed() => {
            "a registry without a name".to_owned()
        }
        source => registry_title(source),
    }
}

/// Where a locked release came from, as a verb.
fn was_from(locked: &ReleaseSource) -> String {
    match locked {
        ReleaseSource::Host => "was provided by the host".to_owned(),
        ReleaseSource::BuiltIn => "was built in".to_owned(),
        source @ ReleaseSource::Registry(_) => {
            format!("was locked from {}", distinct_title(source))
        }
    }
}

/// One difference as JSON.
pub(crate) fn staleness_json(entry: &Staleness) -> Value {
    let (kind, package) = kind(entry);
    json!({"kind": kind, "package": package, "text": line(entry).1})
}

fn kind(entry: &Staleness) -> (&'static str, Option<&PackageName>) {
    match entry {
        Staleness::RootNotLocked(root) => ("root_not_locked", Some(root)),
        Staleness::ModelNotLocked => ("model_not_locked", None),
        Staleness::NotARoot(root) => ("not_a_root", Some(root)),
        Staleness::RequirementAdded { package, .. } => ("requirement_added", Some(package)),
        Staleness::RequirementRemoved { package, .. } => ("requirement_removed", Some(package)),
        Staleness::RequirementChanged { package, .. } => ("requirement_changed", Some(package)),
        Staleness::OverrideChanged { package, .. } => ("override_changed", Some(package)),
        Staleness::Gone { package, .. } => ("gone", Some(package)),
        Staleness::SourceDiffers { package, .. } => ("source_differs", Some(package)),
        Staleness::DigestDiffers { package, .. } => ("digest_differs", Some(package)),
        Staleness::NotBound { package, .. } => ("not_bound", Some(package)),
        Staleness::NotAllowed { package, .. } => ("not_allowed", Some(package)),
        Staleness::NotRequired { package, .. } => ("not_required", Some(package)),
        Staleness::ClassNotFound { owner, .. } => ("class_not_found", Some(owner)),
        Staleness::InheritsTwice { .. } => ("inherits_twice", None),
        Staleness::ClassCycle(_) => ("class_cycle", None),
        Staleness::SeveralReleases { package, .. } => ("several_releases", Some(package)),
        Staleness::NotReached { package, .. } => ("not_reached", Some(package)),
    }
}

/// A mark (`+` for new, `-` for gone, `~` for changed) and a sentence.
fn line(entry: &Staleness) -> (char, String) {
    match entry {
        Staleness::RootNotLocked(root) => ('+', format!("{root} is not in the lockfile")),
        Staleness::ModelNotLocked => ('+', "the object model is not in the lockfile".to_owned()),
        Staleness::NotARoot(root) => ('-', format!("{root} is in the lockfile, but is not a root")),
        Staleness::RequirementAdded {
            root,
            package,
            spec,
            location,
        } => (
            '+',
            format!(
                "{package} {spec} is required by {root}{}, but not in the lockfile",
                at(location.as_ref())
            ),
        ),
        Staleness::RequirementRemoved { root, package } => {
            ('-', format!("{package} is no longer required by {root}"))
        }
        Staleness::RequirementChanged {
            root,
            package,
            locked,
            spec,
            location,
        } => (
            '~',
            format!(
                "{root} requires {package} {spec}{}; the lockfile was made for {locked}",
                at(location.as_ref())
            ),
        ),
        Staleness::OverrideChanged {
            package,
            locked,
            spec,
        } => match (locked, spec) {
            (None, Some(spec)) => ('+', format!("{package} is overridden with {spec}")),
            (_, None) => ('-', format!("{package} is no longer overridden")),
            (Some(locked), Some(spec)) => (
                '~',
                format!("{package} is overridden with {spec}; the lockfile was made for {locked}"),
            ),
        },
        Staleness::Gone {
            package,
            version,
            found: Some(ReleaseSource::Host),
            newest: Some(newest),
            ..
        } => (
            '~',
            format!("{package} {version}: the host now provides {newest}"),
        ),
        Staleness::Gone {
            package,
            version,
            found: Some(ReleaseSource::Registry(name)),
            newest: Some(newest),
            ..
        } if is_made_of_folder(name.as_str()) => {
            let place = if name.as_str() == WORKSPACE {
                "the workspace".to_owned()
            } else {
                format!("the override of {package}")
            };
            let line = format!("{package} {version}: {place} now has {newest}");
            ('~', line)
        }
        Staleness::Gone {
            package,
            version,
            locked,
            found,
            newest,
        } => {
            let newest = newest.as_ref();
            let instead = newest.map_or_else(String::new, |newest| {
                format!("; the newest there is {newest}")
            });
            let line = match found {
                None if *locked == ReleaseSource::Host => {
                    format!("{package} {version} was provided by the host, and nothing has it now")
                }
                Some(ReleaseSource::BuiltIn) if *locked == ReleaseSource::BuiltIn => {
                    format!("{package} {version} is no longer built in{instead}")
                }
                Some(ReleaseSource::BuiltIn) => format!(
                    "{package} {version} {}, and nothing has it now; pkgres has {package}{} built in",
                    was_from(locked),
                    newest.map_or_else(String::new, |newest| format!(" {newest}"))
                ),
                Some(found) if *locked == ReleaseSource::BuiltIn => format!(
                    "{package} {version} was built in; {package} now comes from {}{instead}",
                    registry_title(found)
                ),
                Some(found) if *locked == ReleaseSource::Host => format!(
                    "{package} {version} was provided by the host; {package} now comes from {}, which does not have it",
                    registry_title(found)
                ),
                None => format!("{package} {version} is no longer in any registry"),
                Some(found) if found == locked => {
                    format!(
                        "{package} {version} is no longer in {}{instead}",
                        registry_title(found)
                    )
                }
                Some(found) => format!(
                    "{package} {version} was locked from {}; {package} now comes from {}, which does not have it",
                    distinct_title(locked),
                    distinct_title(found)
                ),
            };
            ('-', line)
        }
        Staleness::SourceDiffers {
            package,
            version,
            locked,
            found,
        } => {
            let was = was_from(locked);
            let line = match found {
                ReleaseSource::BuiltIn => {
                    format!("{package} {version} {was} and is now the one that is built in")
                }
                found => format!(
                    "{package} {version} {was} and now comes from {}",
                    distinct_title(found)
                ),
            };
            ('~', line)
        }
        Staleness::DigestDiffers {
            package,
            version,
            locked,
            found,
        } => (
            '~',
            format!(
                "{package} {version} has the digest {}, not {}",
                digest(found.as_ref()),
                digest(locked.as_ref())
            ),
        ),
        Staleness::NotBound {
            owner,
            owner_version,
            package,
        } => (
            '+',
            format!("{package} is required by {owner} {owner_version}, but not in the lockfile"),
        ),
        Staleness::NotAllowed {
            owner,
            owner_version,
            package,
            spec,
            is_override,
            version,
            location,
        } => {
            let position = at(location.as_ref());
            let requires = if *is_override {
                "whose requirement is overridden with"
            } else {
                "which requires"
            };
            (
                '~',
                format!(
                    "{package} {version} is not allowed by {owner} {owner_version}, {requires} {spec}{position}"
                ),
            )
        }
        Staleness::NotRequired {
            owner,
            owner_version,
            package,
        } => (
            '-',
            format!("{package} is not required by {owner} {owner_version}"),
        ),
        Staleness::ClassNotFound {
            owner,
            owner_version,
            class,
        } => (
            '~',
            match class.interface_name() {
                Some(interface) => format!(
                    "the interface {interface}, which a class of {owner} {owner_version} implements, is not found"
                ),
                None => format!(
                    "the class {class}, which a class of {owner} {owner_version} extends, is not found"
                ),
            },
        ),
        Staleness::InheritsTwice { class, inherited } => {
            let line = match inherited.interface_name() {
                Some(interface) => format!("the class {class} implements {interface} twice"),
                None => format!("the class {class} inherits {inherited} twice"),
            };
            ('~', line)
        }
        Staleness::ClassCycle(classes) => {
            let names: Vec<&str> = classes
                .iter()
                .map(pkgres_manifest::ClassName::as_str)
                .collect();
            (
                '~',
                format!("classes extend each other: {}", names.join(", ")),
            )
        }
        Staleness::SeveralReleases { package, versions } => {
            let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
            let line = format!(
                "{package} has the releases {}, but `--single-version` allows one",
                versions.join(", ")
            );
            ('~', line)
        }
        Staleness::NotReached { package, version } => {
            ('-', format!("{package} {version} is no longer needed"))
        }
    }
}

/// A position in parentheses; empty if there is none.
fn at(location: Option<&Location>) -> String {
    location
        .map(|location| format!(" ({location})"))
        .unwrap_or_default()
}

fn digest(digest: Option<&ArtifactDigest>) -> String {
    digest.map_or_else(|| "none".to_owned(), ToString::to_string)
}
