//! What a server with the Galaxy API answers.

use std::collections::BTreeSet;

use pkgres_formats::ansible::ECOSYSTEM;
use pkgres_manifest::{ArtifactDigest, Limits, PackageName};
use pkgres_registry_client::http::galaxy::{
    ServerDocument, VersionList, VersionPage, described_release,
};
use url::Url;

use crate::property::is_safe_line;
use crate::seeds::texts;
use crate::target::Target;

/// The fuzz target of servers.
pub(crate) const TARGETS: &[Target] = &[Target {
    name: "galaxy_answers",
    run: galaxy_answers,
    seeds: || {
        let mut seeds = texts(&ANSWERS);
        seeds.push(ANSWERS.join("\n").into_bytes());
        seeds
    },
    words: &[
        "{\"available_versions\":{\"v3\":\"v3/\"}}",
        "{\"data\":[{\"version\":\"1.2.0\"}],\"links\":{\"next\":null}}",
        "\"results\":[",
        "\"links\":{\"next\":\"",
        "?offset=2",
        "//evil.example/",
        "https://",
        "http://[",
        "../",
        "%2e%2e/",
        "\"metadata\":{\"dependencies\":{",
        "\"acme.net\":\">=1.0.0,<2\"",
        "\"sha256\":\"",
        "\"requires_ansible\":\">=2.15\"",
        "\"created_at\":\"2026-01-31T12:00:00Z\"",
        "null",
        "\\u001b",
        "\n",
    ],
    quick: 8_000,
}];

/// A line each: the versions of the API, pages of a list, and the description of a release.
const ANSWERS: [&str; 4] = [
    r#"{"available_versions":{"v3":"plugin/ansible/content/published/v3"},"current_version":"v3"}"#,
    r#"{"data":[{"version":"1.1.0","requires_ansible":">=2.15","created_at":"2026-01-31T12:00:00Z","updated_at":"x"}],"links":{"next":"/api/v3/x/versions/?limit=100&offset=1"}}"#,
    r#"{"results":[{"version":"1.2.0"},{"version":"1.1.0"}],"links":{"first":"a","next":""}}"#,
    r#"{"version":"1.2.0","namespace":{"name":"acme"},"collection":{"name":"web"},"artifact":{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":12},"download_url":"/download/acme-web-1.2.0.tar.gz","metadata":{"dependencies":{"acme.net":">=1.0.0","acme.any":null}},"requires_ansible":">=2.15.0","created_at":"2026-01-31T12:00:00.5Z"}"#,
];

/// Reads each line of an input as every kind of answer. Addresses have to stay on the server, lists have to end and to
/// name each release once, and the record of a release has to read back as it was written.
fn galaxy_answers(input: &[u8]) {
    let server = Url::parse("https://galaxy.example/api/").expect("an address");
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let api = lines.iter().find_map(|line| {
        let api = ServerDocument::parse(line).and_then(|document| document.api(&server));
        match api {
            Ok(api) => api,
            Err(error) => {
                is_safe_line(&error);
                None
            }
        }
    });
    let api = api.unwrap_or_else(|| server.clone());
    assert_eq!(api.origin(), server.origin());
    assert!(api.path().ends_with('/'));
    let mut list = VersionList::of(&api).expect("a path is part of an address");
    let mut pages = BTreeSet::new();
    for line in &lines {
        let page = match VersionPage::parse(line) {
            Ok(page) => page,
            Err(error) => {
                is_safe_line(&error);
                continue;
            }
        };
        let Some(address) = list.next_page() else {
            break;
        };
        assert_eq!(address.origin(), server.origin());
        assert!(pages.insert(address.clone()), "{address} comes twice");
        if let Err(error) = list.add(page) {
            is_safe_line(&error);
        }
    }
    let listed = list.into_releases();
    let versions: BTreeSet<&str> = listed.iter().map(|one| &*one.version).collect();
    assert_eq!(versions.len(), listed.len());
    let package = PackageName::native("acme.web").expect("a name");
    for line in &lines {
        for version in versions.iter().copied().chain(["1.2.0"]).take(3) {
            match described_release(&package, version, line, &Limits::default()) {
                Ok(release) => {
                    assert_eq!(release.record.name, package);
                    assert!(matches!(
                        release.record.digest,
                        Some(ArtifactDigest::Archive(_))
                    ));
                    let line = release.record.to_line();
                    let again = ECOSYSTEM.read_record(&line, &Limits::default());
                    assert_eq!(again.map(|record| record.to_line()), Ok(line));
                }
                Err(error) => is_safe_line(&error),
            }
        }
    }
}
