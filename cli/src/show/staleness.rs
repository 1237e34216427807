//! Stale lockfiles: how they differ from their project and registries.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};
use pkgres_manifest::{ArtifactDigest, ClassName, PackageName, ReleaseSource, Spec, Version};
use pkgres_resolver::Staleness;
use serde_json::{Value, json};

use super::annotation::{Annotation, Subject};
use super::changed_digests::digest_hints;
use super::source_title::{distinct_title, registry_title};
use crate::context::Context;
use crate::registries::OVERRIDE_PREFIX;
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// The differences as errors, with a line for each; empty if there are none. Releases whose content is not what was
/// locked are a separate error: updating the lockfile must not hide them. `mode` is the end of the other message.
pub(crate) fn staleness(stale: &[Staleness], mode: &str, context: &Context) -> Vec<Diagnostic> {
    let (changed, outdated): (Vec<&Staleness>, Vec<&Staleness>) =
        stale.iter().partition(|entry| entry.is_violation());
    let finding = |code, message: &str, entries: &[&Staleness], hints: &[String]| {
        let mut text = message.to_owned();
        for entry in entries {
            let line = Line::of(entry);
            text.push_str(&format!("\n  {} {}", line.mark, line.text));
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
pub(crate) fn staleness_annotations(stale: &[Staleness], file: &str) -> Vec<Annotation> {
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
            Annotation::error(subject, code, &Line::of(entry).text)
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
    if let Some(package) = outdated.iter().find_map(|entry| provided_package(entry)) {
        let mut hosts = pkgres_formats::ALL
            .iter()
            .filter_map(|format| format.rules().host);
        hints.push(if hosts.any(|host| host == package.as_str()) {
            format!("name its version with `--provide {package}=VERSION`, or with `provide` in pkgres.toml")
        } else {
            "name the file of the releases that the host provides with `--provide`, or with `provide` in pkgres.toml"
                .to_owned()
        });
    }
    let is_unknown = |entry: &Staleness| {
        let Staleness::Gone { locked, found, .. } = entry else {
            return false;
        };
        // What is built in is used because no registry has the package any more.
        let is_lost = matches!(found, None | Some(ReleaseSource::BuiltIn));
        is_lost && provided_package(entry).is_none() && *locked != ReleaseSource::BuiltIn
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
        matches!(entry, Staleness::Gone { found: None, .. }) && provided_package(entry).is_some()
    };
    if outdated.iter().any(|entry| is_lost(entry)) {
        // Nothing could be locked instead.
        return hints;
    }
    let is_split = |entry: &Staleness| matches!(entry, Staleness::SeveralReleases { .. });
    hints.push(if outdated.iter().any(|entry| is_split(entry)) {
        let command = context.invocation.command("lock --single-version");
        format!("run `{command}` to update it")
    } else {
        let command = context.invocation.command("lock");
        format!("run `{command}` to update it")
    });
    hints
}

/// Whether the registry of this name is a folder of the project: nobody looks for one that is called so.
fn is_made_of_folder(registry: &str) -> bool {
    registry == WORKSPACE || registry.starts_with(OVERRIDE_PREFIX)
}

/// The package that the host provided when the lockfile was written, and does not provide any more.
fn provided_package(entry: &Staleness) -> Option<&PackageName> {
    match entry {
        Staleness::Gone {
            package,
            locked,
            found,
            newest,
            ..
        } => {
            let host_has = *found == Some(ReleaseSource::Host) && newest.is_some();
            (*locked == ReleaseSource::Host && !host_has).then_some(package)
        }
        Staleness::SourceDiffers {
            package, locked, ..
        } => (*locked == ReleaseSource::Host).then_some(package),
        _ => None,
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
    let line = Line::of(entry);
    json!({"kind": line.kind, "package": line.package, "text": line.text})
}

/// A difference as a line of a report.
struct Line<'s> {
    /// The kind of difference in JSON.
    kind: &'static str,
    /// `+` for what is new, `-` for what is gone, `~` for what changed.
    mark: char,
    /// The package that it is about, if it is about one.
    package: Option<&'s PackageName>,
    text: String,
}

impl<'s> Line<'s> {
    fn new(
        kind: &'static str,
        mark: char,
        package: impl Into<Option<&'s PackageName>>,
        text: String,
    ) -> Self {
        Self {
            kind,
            mark,
            package: package.into(),
            text,
        }
    }

    fn of(entry: &'s Staleness) -> Self {
        match entry {
            Staleness::RootNotLocked(root) => {
                let text = format!("{root} is not in the lockfile");
                Self::new("root_not_locked", '+', root, text)
            }
            Staleness::ModelNotLocked => {
                let text = "the object model is not in the lockfile".to_owned();
                Self::new("model_not_locked", '+', None, text)
            }
            Staleness::NotARoot(root) => {
                let text = format!("{root} is in the lockfile, but is not a root");
                Self::new("not_a_root", '-', root, text)
            }
            Staleness::RequirementAdded {
                root,
                package,
                spec,
                location,
            } => {
                let place = at(location.as_ref());
                let text = format!(
                    "{package} {spec} is required by {root}{place}, but not in the lockfile"
                );
                Self::new("requirement_added", '+', package, text)
            }
            Staleness::RequirementRemoved { root, package } => {
                let text = format!("{package} is no longer required by {root}");
                Self::new("requirement_removed", '-', package, text)
            }
            Staleness::RequirementChanged {
                root,
                package,
                locked,
                spec,
                location,
            } => {
                let place = at(location.as_ref());
                let text = format!("{root} requires {package} {spec}{place}, locked with {locked}");
                Self::new("requirement_changed", '~', package, text)
            }
            Staleness::OverrideChanged {
                package,
                locked,
                spec,
            } => {
                let (mark, text) = override_change(package, locked.as_ref(), spec.as_ref());
                Self::new("override_changed", mark, package, text)
            }
            Staleness::Gone { package, .. } => {
                let (mark, text) = gone(entry);
                Self::new("gone", mark, package, text)
            }
            Staleness::SourceDiffers {
                package,
                version,
                locked,
                found,
            } => {
                let was = was_from(locked);
                let now = match found {
                    ReleaseSource::BuiltIn => "is now the one that is built in".to_owned(),
                    found => format!("now comes from {}", distinct_title(found)),
                };
                let text = format!("{package} {version} {was} and {now}");
                Self::new("source_differs", '~', package, text)
            }
            Staleness::DigestDiffers {
                package,
                version,
                locked,
                found,
            } => {
                let (found, locked) = (digest(found.as_ref()), digest(locked.as_ref()));
                let text = format!("{package} {version} has the digest {found}, not {locked}");
                Self::new("digest_differs", '~', package, text)
            }
            Staleness::NotBound {
                owner,
                owner_version,
                package,
            } => {
                let text = format!(
                    "{package} is required by {owner} {owner_version}, but not in the lockfile"
                );
                Self::new("not_bound", '+', package, text)
            }
            Staleness::NotAllowed {
                owner,
                owner_version,
                package,
                spec,
                is_override,
                version,
                location,
            } => {
                let place = at(location.as_ref());
                let requires = if *is_override {
                    "whose requirement is overridden with"
                } else {
                    "which requires"
                };
                let spec = spec.in_words();
                let text = format!(
                    "{package} {version} is not allowed by {owner} {owner_version}, {requires} {spec}{place}"
                );
                Self::new("not_allowed", '~', package, text)
            }
            Staleness::NotRequired {
                owner,
                owner_version,
                package,
            } => {
                let text = format!("{package} is not required by {owner} {owner_version}");
                Self::new("not_required", '-', package, text)
            }
            Staleness::ClassNotFound {
                owner,
                owner_version,
                class,
            } => {
                let (subject, verb) = match class.interface_name() {
                    Some(interface) => (format!("the interface {interface}"), "implements"),
                    None => (format!("the class {class}"), "extends"),
                };
                let text = format!(
                    "{subject}, which a class of {owner} {owner_version} {verb}, is not found"
                );
                Self::new("class_not_found", '~', owner, text)
            }
            Staleness::InheritsTwice { class, inherited } => {
                let text = match inherited.interface_name() {
                    Some(interface) => format!("the class {class} implements {interface} twice"),
                    None => format!("the class {class} inherits {inherited} twice"),
                };
                Self::new("inherits_twice", '~', None, text)
            }
            Staleness::ClassCycle(classes) => {
                let names: Vec<&str> = classes.iter().map(ClassName::as_str).collect();
                let text = format!("classes extend each other: {}", names.join(", "));
                Self::new("class_cycle", '~', None, text)
            }
            Staleness::SeveralReleases { package, versions } => {
                let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
                let versions = versions.join(", ");
                let text = format!(
                    "{package} has the releases {versions}, but `--single-version` allows one"
                );
                Self::new("several_releases", '~', package, text)
            }
            Staleness::NotReached { package, version } => {
                let text = format!("{package} {version} is no longer needed");
                Self::new("not_reached", '-', package, text)
            }
        }
    }
}

/// The mark and the text of a change of an override.
fn override_change(
    package: &PackageName,
    locked: Option<&Spec>,
    spec: Option<&Spec>,
) -> (char, String) {
    match (locked, spec) {
        (None, Some(spec)) => {
            let spec = spec.in_words();
            ('+', format!("{package} is overridden with {spec}"))
        }
        (_, None) => ('-', format!("{package} is no longer overridden")),
        (Some(locked), Some(spec)) => (
            '~',
            format!(
                "{package} is overridden with {}, locked with {}",
                spec.in_words(),
                locked.in_words()
            ),
        ),
    }
}

/// The mark and the text of a release that is [gone](Staleness::Gone).
fn gone(entry: &Staleness) -> (char, String) {
    let Staleness::Gone {
        package,
        version,
        locked,
        found,
        newest,
    } = entry
    else {
        unreachable!("only called for what is gone");
    };
    let release = format!("{package} {version}");
    let changed = |place: &str, newest: &Version| format!("{release}: {place} now has {newest}");
    match (found, newest) {
        (Some(ReleaseSource::Host), Some(newest)) => {
            return ('~', format!("{release}: the host now provides {newest}"));
        }
        (Some(ReleaseSource::Registry(name)), Some(newest)) if name.as_str() == WORKSPACE => {
            return ('~', changed("the workspace", newest));
        }
        (Some(ReleaseSource::Registry(name)), Some(newest)) if is_made_of_folder(name.as_str()) => {
            return ('~', changed(&format!("the override of {package}"), newest));
        }
        _ => {}
    }
    let instead = newest.as_ref().map_or_else(String::new, |newest| {
        format!("; the newest there is {newest}")
    });
    let text = match (locked, found) {
        (ReleaseSource::Host, None) => {
            format!("{release} was provided by the host, and nothing has it now")
        }
        (_, None) => format!("{release} is no longer in any registry"),
        (ReleaseSource::BuiltIn, Some(ReleaseSource::BuiltIn)) => {
            format!("{release} is no longer built in{instead}")
        }
        (_, Some(ReleaseSource::BuiltIn)) => {
            let newest = newest
                .as_ref()
                .map_or_else(String::new, |newest| format!(" {newest}"));
            let was = was_from(locked);
            format!(
                "{release} {was}, and nothing has it now; pkgres has {package}{newest} built in"
            )
        }
        (ReleaseSource::BuiltIn, Some(found)) => {
            let now = registry_title(found);
            format!("{release} was built in; {package} now comes from {now}{instead}")
        }
        (ReleaseSource::Host, Some(found)) => format!(
            "{release} was provided by the host; {package} now comes from {}, which does not have it",
            registry_title(found)
        ),
        (locked, Some(found)) if found == locked => {
            format!(
                "{release} is no longer in {}{instead}",
                registry_title(found)
            )
        }
        (locked, Some(found)) => format!(
            "{release} was locked from {}; {package} now comes from {}, which does not have it",
            distinct_title(locked),
            distinct_title(found)
        ),
    };
    ('-', text)
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
