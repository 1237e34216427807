//! The documents of the Galaxy API, version 3, as far as they matter here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_formats::ansible::{ECOSYSTEM, requires_ansible};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{IndexRecord, Limits, PackageName};
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::error::{AttemptError, ErrorKind};

/// The root of a server: where the versions of its API are.
#[derive(Debug, Deserialize)]
pub(super) struct ServerDocument {
    pub(super) available_versions: Option<BTreeMap<String, String>>,
}

/// A collection.
#[derive(Debug, Deserialize)]
pub(super) struct CollectionDocument {
    /// When it changed. It changes whenever a release is added or removed.
    pub(super) updated_at: Option<String>,
}

/// A page of the list of releases. Servers call the list `data` or `results`.
#[derive(Debug, Deserialize)]
pub(super) struct VersionPage {
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
pub(super) struct ListedVersion {
    pub(super) version: String,
    requires_ansible: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
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
pub(super) struct DescribedRelease {
    /// Its record, without classes, which the server does not know.
    pub(super) record: IndexRecord,
    /// The address of its artifact, absolute or relative to the server.
    pub(super) download_url: String,
}

/// Reads a document.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, AttemptError> {
    serde_json::from_slice(bytes).map_err(|error| malformed(format!("{what}: {error}")))
}

/// The error of an answer that is not what the API describes.
pub(super) fn malformed(reason: impl Into<String>) -> AttemptError {
    AttemptError::new(ErrorKind::Malformed, reason)
}

impl VersionPage {
    /// The releases of the page, and the address of the next one.
    pub(super) fn into_parts(self) -> Result<(Vec<ListedVersion>, Option<String>), AttemptError> {
        let next = self.links.and_then(|links| links.next);
        match self.data.or(self.results) {
            Some(listed) => Ok((listed, next.filter(|next| !next.is_empty()))),
            None => Err(malformed(
                "the list of versions has neither `data` nor `results`",
            )),
        }
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

/// Reads what the server says of a release that it lists. The error says what is wrong with it.
pub(super) fn described_release(
    package: &PackageName,
    listed: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Result<DescribedRelease, String> {
    let document: VersionDocument =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
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
    Ok(DescribedRelease {
        record,
        download_url: document.download_url,
    })
}

/// The releases of a list, without those that come twice: a release that is added while pages are read moves the others
/// to the next page.
pub(super) fn without_repeated(listed: Vec<ListedVersion>) -> Vec<ListedVersion> {
    let mut seen = BTreeSet::new();
    let mut listed = listed;
    listed.retain(|one| seen.insert(one.version.clone()));
    listed
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
    fn a_description_is_a_record() {
        let release = describe(&document()).expect("it is right");
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
        let release = describe(&document).expect("it is right");
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
            ("artifact", serde_json::json!(1), "artifact"),
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
        let page = |text: &str| -> Result<(usize, Option<String>), AttemptError> {
            let page: VersionPage = parse(text.as_bytes(), "a page")?;
            let (listed, next) = page.into_parts()?;
            Ok((listed.len(), next))
        };
        let (count, next) =
            page(r#"{"data":[{"version":"1.0.0"}],"links":{"next":"/api/v3/x?offset=1"}}"#)
                .expect("it is a page");
        assert_eq!((count, next.as_deref()), (1, Some("/api/v3/x?offset=1")));
        let (count, next) = page(r#"{"results":[],"links":{"next":null}}"#).expect("it is a page");
        assert_eq!((count, next), (0, None));
        for bad in ["{}", "[]", r#"{"data":[{"version":1}]}"#, r#"{"data":{}}"#] {
            assert!(page(bad).is_err(), "{bad}");
        }
    }
}
