//! The documents of the Galaxy API, version 3, as far as this client needs them. This module sends no requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_formats::ansible::{ECOSYSTEM, requires_ansible};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{IndexRecord, Limits, PackageName, read_json};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use url::Url;

use super::super::address::shown;
use super::super::error::{AttemptError, ErrorKind};
use crate::protocol::Digest;

/// The number of releases on a page, as requested. Servers may send fewer.
const PAGE_SIZE: &str = "100";

/// The most pages of a list.
const MAX_PAGES: usize = 1_000;

/// The most releases of a list.
const MAX_RELEASES: usize = 100_000;

/// The root of a server: where the versions of its API are.
#[derive(Debug, Deserialize)]
pub struct ServerDocument {
    available_versions: Option<BTreeMap<String, String>>,
}

/// A collection.
#[derive(Debug, Deserialize)]
pub(super) struct CollectionDocument {
    /// When it changed. It changes whenever a release is added or removed.
    pub(super) updated_at: Option<String>,
}

/// A page of the list of releases. Servers call the list `data` or `results`.
#[derive(Debug, Deserialize)]
pub struct VersionPage {
    data: Option<Vec<ListedVersion>>,
    results: Option<Vec<ListedVersion>>,
    links: Option<PageLinks>,
}

#[derive(Debug, Deserialize)]
struct PageLinks {
    next: Option<String>,
}

/// A release in the list.
#[derive(Debug, Deserialize)]
#[serde(from = "ListedValue")]
pub struct ListedVersion {
    /// The version, as the server writes it. If there is none, the whole entry, which is no version.
    pub version: String,
    requires_ansible: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// An entry of the list, which may be anything: a wrong one hides no other.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct ListedValue(serde_json::Value);

impl From<ListedValue> for ListedVersion {
    fn from(ListedValue(entry): ListedValue) -> Self {
        let text = |key: &str| entry.get(key)?.as_str().map(str::to_owned);
        Self {
            version: text("version").unwrap_or_else(|| entry.to_string()),
            requires_ansible: text("requires_ansible"),
            created_at: text("created_at"),
            updated_at: text("updated_at"),
        }
    }
}

/// What the server says of a release.
#[derive(Debug, Deserialize)]
struct VersionDocument {
    version: String,
    namespace: NamedPart,
    collection: NamedPart,
    artifact: ArtifactPart,
    download_url: String,
    metadata: Option<MetadataPart>,
    requires_ansible: Option<String>,
    created_at: Option<String>,
}

#[derive(Debug, Deserialize)]
struct NamedPart {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an artifact with `sha256`")]
struct ArtifactPart {
    sha256: String,
    size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct MetadataPart {
    #[serde(default)]
    dependencies: Dependencies,
}

/// Ranges by collection, in the order of the document: it is that of decisions.
#[derive(Debug, Default)]
struct Dependencies(Vec<(String, Option<String>)>);

impl<'de> Deserialize<'de> for Dependencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Dependencies;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of ranges")
            }

            fn visit_unit<E>(self) -> Result<Dependencies, E> {
                Ok(Dependencies::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Dependencies, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Dependencies(pairs))
            }
        }

        deserializer.deserialize_any(InOrder)
    }
}

/// The answer to the exchange of a token.
#[derive(Debug, Deserialize)]
pub(super) struct ExchangedToken {
    pub(super) access_token: String,
}

/// A release as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedRelease {
    /// Its record, without classes, which the server does not know.
    pub record: IndexRecord,
    /// The address of its artifact, absolute or relative to the server.
    pub download_url: String,
}

/// Reads a document.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, AttemptError> {
    read_json(bytes).map_err(|error| malformed(format!("{what}: {error}")))
}

/// The error of an answer that is not what the API describes.
pub(super) fn malformed(reason: impl Into<String>) -> AttemptError {
    AttemptError::new(ErrorKind::Malformed, reason)
}

impl ServerDocument {
    /// Reads a document.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        read_json(bytes).map_err(|error| error.to_string())
    }

    /// The address of version 3 of the API, which is on the same server; `None` if the document names no API. `found_at`
    /// is the address of the document.
    pub fn api(&self, found_at: &Url) -> Result<Option<Url>, String> {
        let Some(versions) = &self.available_versions else {
            return Ok(None);
        };
        let Some(relative) = versions.get("v3") else {
            let offered: Vec<&str> = versions.keys().map(String::as_str).collect();
            let offered = Escaped::shortened(&offered.join(", ")).to_string();
            return Err(format!(
                "it has no version 3 of the Galaxy API, only `{offered}`"
            ));
        };
        let mut api = linked(found_at, relative, "the address of its API")?;
        if !api.path().ends_with('/') {
            let path = format!("{}/", api.path());
            api.set_path(&path);
        }
        Ok(Some(api))
    }
}

/// An address that a server names: absolute, or relative to another one. It has to be on the same server, as no other one
/// was asked.
fn linked(base: &Url, relative: &str, what: &str) -> Result<Url, String> {
    let address = joined(base, relative)?;
    if base.origin() == address.origin() {
        Ok(address)
    } else {
        Err(format!("{what} is on another server: {}", shown(&address)))
    }
}

/// An address that is absolute, or relative to another one.
pub(super) fn joined(base: &Url, relative: &str) -> Result<Url, String> {
    base.join(relative).map_err(|error| {
        let relative = Escaped::shortened(relative);
        format!("`{relative}` is no address: {error}")
    })
}

impl VersionPage {
    /// Reads a page.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let page: Self =
            read_json(bytes).map_err(|error| format!("the list of versions: {error}"))?;
        if page.data.is_none() && page.results.is_none() {
            return Err("the list of versions has neither `data` nor `results`".to_owned());
        }
        Ok(page)
    }
}

/// The list of the releases of a collection, as its pages arrive.
#[derive(Debug)]
pub struct VersionList {
    /// The address of the next page.
    next: Option<Url>,
    /// The addresses of all pages so far, and of the next one.
    pages: BTreeSet<Url>,
    listed: Vec<ListedVersion>,
    versions: BTreeSet<String>,
}

impl VersionList {
    /// The list of a collection, whose address ends with `/`. It has no page yet.
    pub fn of(collection: &Url) -> Result<Self, String> {
        let mut first = joined(collection, "versions/")?;
        first.query_pairs_mut().append_pair("limit", PAGE_SIZE);
        Ok(Self {
            pages: BTreeSet::from([first.clone()]),
            next: Some(first),
            listed: Vec::new(),
            versions: BTreeSet::new(),
        })
    }

    /// The address of the page that is missing; `None` if the list is complete.
    pub fn next_page(&self) -> Option<&Url> {
        self.next.as_ref()
    }

    /// Adds the page that was missing. The error says why the list will never be complete.
    ///
    /// A release that is added while pages are read moves the others to the next page, so that they may come twice.
    pub fn add(&mut self, page: VersionPage) -> Result<(), String> {
        let Some(address) = self.next.take() else {
            return Ok(());
        };
        for one in page.data.or(page.results).into_iter().flatten() {
            if self.versions.insert(one.version.clone()) {
                self.listed.push(one);
            }
        }
        if self.listed.len() > MAX_RELEASES {
            return Err(format!(
                "the list of versions has more than {MAX_RELEASES} releases"
            ));
        }
        let link = page.links.and_then(|links| links.next);
        let Some(link) = link.filter(|link| !link.is_empty()) else {
            return Ok(());
        };
        let next = linked(&address, &link, "the next page")?;
        if !self.pages.insert(next.clone()) {
            return Err(format!(
                "its pages form a cycle that leads back to {}",
                shown(&next)
            ));
        }
        if self.pages.len() > MAX_PAGES {
            return Err(format!(
                "the list of versions has more than {MAX_PAGES} pages"
            ));
        }
        self.next = Some(next);
        Ok(())
    }

    /// The releases of the pages, each once.
    pub fn into_releases(self) -> Vec<ListedVersion> {
        self.listed
    }
}

impl ListedVersion {
    /// What changes if the release does; empty if the server does not say.
    pub(super) fn stamp(&self) -> String {
        match (&self.created_at, &self.updated_at) {
            (None, None) => String::new(),
            (created, updated) => format!(
                "{} {} {}",
                created.as_deref().unwrap_or_default(),
                updated.as_deref().unwrap_or_default(),
                self.requires_ansible.as_deref().unwrap_or_default(),
            ),
        }
    }
}

/// Reads the server's description of a release in its list. The error says what is wrong with the description.
pub fn described_release(
    package: &PackageName,
    listed: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Result<DescribedRelease, String> {
    let document: VersionDocument = read_json(bytes).map_err(|error| error.to_string())?;
    let name = format!("{}.{}", document.namespace.name, document.collection.name);
    if name != package.as_str() || document.version != listed {
        let (name, version) = (
            Escaped::shortened(&name),
            Escaped::shortened(&document.version),
        );
        return Err(format!(
            "the server describes {name} {version} in its place"
        ));
    }
    let mut line = serde_json::json!({
        "name": package.as_str(),
        "version": listed,
        "sha256": document.artifact.sha256,
        "size": document.artifact.size,
    });
    if let Some(metadata) = document.metadata {
        line["require"] = serde_json::json!(metadata.dependencies.0);
    }
    // ansible-core ignores a specifier that it cannot read.
    if let Some(specifier) = &document.requires_ansible
        && requires_ansible(specifier).is_ok()
    {
        line["requires_ansible"] = serde_json::json!(specifier);
    }
    if let Some(time) = &document.created_at
        && time.parse::<jiff::Timestamp>().is_ok()
    {
        line["published"] = serde_json::json!(time);
    }
    let record = ECOSYSTEM.read_record(&line.to_string(), limits)?;
    if Digest::of_record(&record).is_none() {
        return Err("its digest is not that of an artifact".to_owned());
    }
    Ok(DescribedRelease {
        record,
        download_url: document.download_url,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(document: &serde_json::Value) -> Result<DescribedRelease, String> {
        let package = PackageName::native("acme.web").expect("a name");
        let bytes = document.to_string();
        described_release(&package, "1.2.0", bytes.as_bytes(), &Limits::default())
    }

    fn document() -> serde_json::Value {
        serde_json::json!({
            "version": "1.2.0",
            "namespace": {"name": "acme"},
            "collection": {"name": "web"},
            "artifact": {"sha256": "ab".repeat(32), "size": 12, "filename": "acme-web-1.2.0.tar.gz"},
            "download_url": "https://example.org/acme-web-1.2.0.tar.gz",
            "metadata": {"dependencies": {"acme.any": null, "acme.net": ">=1.0.0"}, "tags": []},
            "requires_ansible": ">=2.15",
            "created_at": "2026-01-31T12:00:00.123456Z",
            "signatures": [],
        })
    }

    #[test]
    fn an_entry_without_a_version_hides_no_other() {
        let page = br#"{"data":[{},{"version":"2.0.0","created_at":5},{"version":5},"x"],"links":{"next":null}}"#;
        let page = VersionPage::parse(page).expect("a page");
        let entries = page.data.into_iter().flatten();
        let versions: Vec<String> = entries.map(|one| one.version).collect();
        assert_eq!(versions, ["{}", "2.0.0", "{\"version\":5}", "\"x\""]);
    }

    #[test]
    fn a_description_is_a_record() {
        let release = describe(&document()).expect("it is valid");
        let line = release.record.to_line();
        assert!(
            line.contains(r#""require":[["acme.any","*"],["acme.net",">=1.0.0"]]"#),
            "{line}"
        );
        assert!(line.contains(r#""requires_ansible":">=2.15""#), "{line}");
        assert!(line.contains("2026-01-31"), "{line}");
        assert_eq!(release.record.classes, None);
    }

    #[test]
    fn what_ansible_ignores_is_ignored() {
        let mut document = document();
        document["requires_ansible"] = serde_json::json!("2.x");
        document["created_at"] = serde_json::json!("yesterday");
        document["metadata"] = serde_json::json!(null);
        let release = describe(&document).expect("it is valid");
        assert!(release.record.requirements.is_empty());
        assert_eq!(release.record.published, None);
    }

    #[test]
    fn a_description_that_is_wrong_says_why() {
        for (key, value, expected) in [
            ("version", serde_json::json!("1.3.0"), "acme.web 1.3.0"),
            (
                "namespace",
                serde_json::json!({"name": "evil"}),
                "evil.web 1.2.0",
            ),
            ("artifact", serde_json::json!({"sha256": "12"}), "digest"),
            ("artifact", serde_json::json!(1), "expected an object"),
            (
                "artifact",
                serde_json::json!({"sha256": format!("tree:{}", "ab".repeat(32))}),
                "not that of an artifact",
            ),
            (
                "metadata",
                serde_json::json!({"dependencies": {"acme.net": "1.x"}}),
                "1.x",
            ),
            ("metadata", serde_json::json!({"dependencies": []}), "map"),
            ("download_url", serde_json::json!(null), "string"),
        ] {
            let mut document = document();
            document[key] = value;
            let error = describe(&document).expect_err("it is wrong");
            assert!(error.contains(expected), "{key}: {error}");
        }
    }

    #[test]
    fn a_page_without_a_list_is_an_error() {
        let collection = Url::parse("https://a.example/v3/x/").expect("an address");
        let page = |text: &str| -> Result<(usize, Option<String>), String> {
            let mut list = VersionList::of(&collection)?;
            list.add(VersionPage::parse(text.as_bytes())?)?;
            let next = list.next_page().map(ToString::to_string);
            Ok((list.into_releases().len(), next))
        };
        let (count, next) =
            page(r#"{"data":[{"version":"1.0.0"},{"version":"1.0.0"}],"links":{"next":"/api/v3/x?offset=1"}}"#)
                .expect("it is a page");
        let next = next.as_deref();
        assert_eq!(
            (count, next),
            (1, Some("https://a.example/api/v3/x?offset=1"))
        );
        let (count, next) = page(r#"{"results":[],"links":{"next":null}}"#).expect("it is a page");
        assert_eq!((count, next), (0, None));
        for bad in ["{}", "[]", r#"{"data":{}}"#] {
            assert!(page(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_ends() {
        let collection = Url::parse("https://a.example/v3/x/").expect("an address");
        let mut list = VersionList::of(&collection).expect("an address");
        let many: Vec<serde_json::Value> = (0..=MAX_RELEASES)
            .map(|number| serde_json::json!({"version": format!("1.0.{number}")}))
            .collect();
        let page = serde_json::json!({ "data": many }).to_string();
        let page = VersionPage::parse(page.as_bytes()).expect("it is a page");
        let error = list.add(page).expect_err("there are too many");
        assert!(error.contains("more than 100000 releases"), "{error}");
        assert_eq!(list.next_page(), None);
    }
}
