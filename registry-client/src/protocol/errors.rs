//! Error responses of registries.

use pkgres_manifest::read_json;

use super::Malformed;

/// The body of an error response.
///
/// ```
/// use pkgres_registry_client::protocol::{ErrorDocument, ErrorEntry};
///
/// let entry = ErrorEntry {
///     status: 409,
///     code: "pkgres.version_exists".to_owned(),
///     title: "Conflict".to_owned(),
///     detail: "org.acme.Web 2.1.0 was published with other bytes".to_owned(),
///     request_id: "req-1".to_owned(),
///     ..ErrorEntry::default()
/// };
/// let document = ErrorDocument { errors: vec![entry] };
/// assert_eq!(ErrorDocument::parse(document.to_json().as_bytes())?, document);
/// # Ok::<(), pkgres_registry_client::protocol::Malformed>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ErrorDocument {
    /// The errors.
    pub errors: Vec<ErrorEntry>,
}

/// One error.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ErrorEntry {
    /// The HTTP status.
    pub status: u16,
    /// The stable code, such as `pkgres.version_exists`. Codes are never renamed or reused.
    pub code: String,
    /// The name of the status.
    pub title: String,
    /// The error in a sentence.
    pub detail: String,
    /// What the client can do about it, each in a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The request, as the logs of the registry name it.
    pub request_id: String,
    /// The oldest microversion that the registry supports, if it does not support the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_version: Option<String>,
    /// The newest microversion that the registry supports, if it does not support the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_version: Option<String>,
}

impl ErrorDocument {
    /// Reads the document. The error pages of other servers and proxies are not such documents.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        read_json(bytes).map_err(|error| Malformed::new("an error document", &error))
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_keys_are_empty_and_unknown_keys_ignored() {
        let text = br#"{"errors":[{"detail":"no","more":1}],"more":[]}"#;
        let document = ErrorDocument::parse(text).expect("an error document");
        assert_eq!(document.errors[0].detail, "no");
        assert!(ErrorDocument::parse(b"<html>").is_err());
    }
}
