//! Stale lockfiles: how they differ from their project and registries.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};
use pkgres_manifest::{ArtifactDigest, PackageName, ReleaseSource};
use pkgres_resolver::Staleness;
use serde_json::{Value, json};

use super::annotation::{Annotation, Subject};
use super::changed_digests::digest_hints;
use super::staleness_line::Line;
use crate::context::Context;
use crate::registries::{is_reserved, title_of};

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

/// Whether a source can be named with `--registry`: it is neither the host nor a folder of the project.
fn is_registry(source: &ReleaseSource) -> bool {
    match source {
        ReleaseSource::Registry(name) => !is_reserved(name.as_str()),
        ReleaseSource::Host | ReleaseSource::BuiltIn => false,
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
        is_lost && provided_package(entry).is_none() && is_registry(locked)
    };
    if outdated.iter().any(|entry| is_unknown(entry)) {
        hints.push(
            "add the registry that the missing release was locked from with `--registry`"
                .to_owned(),
        );
    }
    if let Some(package) = outdated.iter().find_map(|entry| shadowed_package(entry)) {
        let bound = context.registries.bound(package).ok().flatten();
        hints.push(match bound {
            Some(registry) => format!(
                "`namespaces` binds {package} to {}, so it comes from no other registry",
                title_of(&registry.location)
            ),
            None => "all releases of a package come from the first registry that has it: put the registry that it was locked from first"
                .to_owned(),
        });
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

/// The package whose locked release is gone because another registry has the package now.
fn shadowed_package(entry: &Staleness) -> Option<&PackageName> {
    let Staleness::Gone {
        package,
        locked,
        found: Some(found),
        ..
    } = entry
    else {
        return None;
    };
    let is_shadowed = locked != found && is_registry(found) && is_registry(locked);
    is_shadowed.then_some(package)
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

/// One difference as JSON.
pub(crate) fn staleness_json(entry: &Staleness) -> Value {
    let line = Line::of(entry);
    json!({"kind": line.kind, "package": line.package, "text": line.text})
}
