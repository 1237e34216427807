//! Batch requests.

use std::collections::BTreeMap;

use pkgres_manifest::{PackageName, read_json};

use super::{Digest, Malformed};

/// The limit of names in a batch request and of documents in its response, whatever a registry allows
/// ([`FrameLimits`](super::FrameLimits)).
pub const MAX_BATCH_NAMES: usize = 10_000;

/// A request for many index documents.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::protocol::BatchRequest;
///
/// let mut request = BatchRequest::default();
/// request.names.insert(PackageName::parse("org.acme.Web")?, None);
/// request.closure = true;
/// let text = request.to_json();
/// assert_eq!(text, r#"{"names":{"org.acme.Web":null},"closure":true}"#);
/// assert_eq!(BatchRequest::parse(text.as_bytes(), 10)?, request);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    /// The packages, each with the digest of its cached document, if there is one.
    pub names: BTreeMap<PackageName, Option<Digest>>,
    /// Whether the response includes the packages that its packages require.
    #[serde(default)]
    pub closure: bool,
}

impl BatchRequest {
    /// Reads a request for at most `limit` names.
    pub fn parse(bytes: &[u8], limit: u64) -> Result<Self, Malformed> {
        let request: Self =
            read_json(bytes).map_err(|error| Malformed::new("a batch request", &error))?;
        if request.names.len() as u64 > limit {
            let reason = format!("more than the limit of {limit} names");
            return Err(Malformed::new("a batch request", &reason));
        }
        Ok(request)
    }

    /// The request as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names and digests are valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_bounded_and_well_formed() {
        let two = br#"{"names":{"a":null,"b":null}}"#;
        assert!(!BatchRequest::parse(two, 2).expect("two names").closure);
        assert!(BatchRequest::parse(two, 1).is_err());
        for bad in [
            "",
            "{}",
            r#"{"names":["a"]}"#,
            r#"{"names":{"1":null}}"#,
            r#"{"names":{"a":"0"}}"#,
            r#"{"names":{},"closures":true}"#,
        ] {
            assert!(BatchRequest::parse(bad.as_bytes(), 9).is_err(), "{bad}");
        }
    }
}
