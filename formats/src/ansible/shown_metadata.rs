//! Reads the metadata of a collection that pages and search results show.

use pkgres_manifest::diagnostic::without_credentials;
use pkgres_manifest::document::{Mapping, Node};
use serde::{Deserialize, Serialize};

/// The metadata of a collection that pages and searches show. Values of a wrong type are left out, and so are
/// credentials in addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CollectionAbout {
    /// The path of the readme.
    pub readme: Option<String>,
    /// The authors.
    pub authors: Vec<String>,
    /// The description of the collection.
    pub description: Option<String>,
    /// The identifiers of licences.
    pub license: Vec<String>,
    /// The file with the licence.
    pub license_file: Option<String>,
    /// Words to search for.
    pub tags: Vec<String>,
    /// The address of the source.
    pub repository: Option<String>,
    /// The address of the documentation.
    pub documentation: Option<String>,
    /// The address of the project.
    pub homepage: Option<String>,
    /// The address of the issue tracker.
    pub issues: Option<String>,
}

impl CollectionAbout {
    /// Reads the mapping with the metadata.
    pub(super) fn read(mapping: &Mapping) -> Self {
        let text = |key: &str| mapping.get(key).and_then(scalar);
        let texts = |key: &str| match mapping.get(key) {
            Some(node) => match node.as_sequence() {
                Some(items) => items.iter().filter_map(scalar).collect(),
                None => scalar(node).into_iter().collect(),
            },
            None => Vec::new(),
        };
        Self {
            readme: text("readme"),
            authors: texts("authors"),
            description: text("description"),
            license: texts("license"),
            license_file: text("license_file"),
            tags: texts("tags"),
            repository: text("repository"),
            documentation: text("documentation"),
            homepage: text("homepage"),
            issues: text("issues"),
        }
    }
}

fn scalar(node: &Node) -> Option<String> {
    let scalar = node.as_scalar().filter(|scalar| !scalar.is_null())?;
    Some(without_credentials(&scalar.text).into_owned())
}
