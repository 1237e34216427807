//! Releases whose content is not what was locked.

use pkgres_manifest::ArtifactDigest;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_resolver::ArtifactChange;

use super::source_title::from_source;
use crate::context::Context;

/// Errors for releases whose content is not what was locked.
pub(crate) fn changed_digests(changes: &[ArtifactChange], context: &Context) -> Vec<Diagnostic> {
    let is_folder =
        |digest: &Option<ArtifactDigest>| matches!(digest, Some(ArtifactDigest::Tree(_)));
    let is_folder_for_archive = changes.iter().all(|change| is_folder(&change.digest));
    let findings = changes.iter().map(|change| {
        let locked: Vec<String> = change
            .locked
            .digests
            .iter()
            .map(ToString::to_string)
            .collect();
        let has = match &change.digest {
            Some(digest) => format!("has the digest {digest}"),
            None => "has no digest".to_owned(),
        };
        let message = format!(
            "{} {} {} {has}; the locked digest is {}",
            change.name,
            change.version,
            from_source(&change.source),
            locked.join(" or "),
        );
        Diagnostic::error(Code::Digest, message)
    });
    let mut findings: Vec<Diagnostic> = findings.collect();
    if let Some(last) = findings.pop() {
        let hints = digest_hints(is_folder_for_archive, context);
        findings.push(hints.into_iter().fold(last, Diagnostic::hint));
    }
    findings
}

/// Hints for releases whose content is not what was locked. Where archives are locked and all that is found are folders
/// with sources, the registries are probably not those of the lockfile.
pub(super) fn digest_hints(is_folder_for_archive: bool, context: &Context) -> [String; 2] {
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
