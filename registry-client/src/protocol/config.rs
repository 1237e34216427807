//! `index/config.json`: the configuration of a registry.

use pkgres_manifest::{ClassName, PackageName, read_json};

use super::{Digest, MAX_BATCH_NAMES, Malformed, PublicKey, escape_name};

/// The version of the protocol in this module.
pub const PROTOCOL: u64 = 1;

/// The configuration of a registry. Addresses are relative to the base of the registry, or absolute.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::protocol::Config;
///
/// let mirror = Config::of_static();
/// assert_eq!(Config::parse(mirror.to_json().as_bytes())?, mirror);
/// let name = PackageName::parse("org.acme.Web")?;
/// assert_eq!(mirror.package_address(&name), "index/v1/packages/org.acme.!web.ndjson");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// The version of the protocol.
    pub protocol: u64,
    /// The address of index documents, with `{name}` for the escaped name.
    pub packages: String,
    /// The address of class documents, with `{class}` for the escaped name.
    pub classes: String,
    /// The address of the digests of all index documents.
    pub names: String,
    /// The address of artifacts, with `{sha256}` for the digest.
    pub blobs: String,
    /// The address of the signed state of the index; `None` if the registry does not sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The address of batch requests; `None` on a static mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The address of changes; `None` on a static mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// The address of the API that publishes releases; `None` on a static mirror.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// The keys that sign snapshots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<PublicKey>,
    /// Whether reading needs a token.
    #[serde(default)]
    pub auth_required: bool,
    /// The limits of the registry.
    #[serde(default)]
    pub limits: ConfigLimits,
}

/// The limits of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct ConfigLimits {
    /// The limit of an artifact, in bytes.
    pub archive_bytes: u64,
    /// The limit of names in a batch request and of documents in its response; at most [`MAX_BATCH_NAMES`] counts.
    pub batch_names: u64,
}

impl Default for ConfigLimits {
    fn default() -> Self {
        Self {
            archive_bytes: 32 << 20,
            batch_names: MAX_BATCH_NAMES as u64,
        }
    }
}

impl Config {
    /// The configuration of a static mirror without signatures.
    pub fn of_static() -> Self {
        Self {
            protocol: PROTOCOL,
            packages: "index/v1/packages/{name}.ndjson".to_owned(),
            classes: "index/v1/classes/{class}.json".to_owned(),
            names: "index/v1/names.ndjson".to_owned(),
            blobs: "blobs/sha256/{sha256}".to_owned(),
            snapshot: None,
            batch: None,
            changes: None,
            api: None,
            keys: Vec::new(),
            auth_required: false,
            limits: ConfigLimits::default(),
        }
    }

    /// The configuration of a server that signs with these keys.
    pub fn of_server(keys: Vec<PublicKey>) -> Self {
        Self {
            snapshot: Some("index/v1/snapshot.json".to_owned()),
            batch: Some("index/v1/batch".to_owned()),
            changes: Some("index/v1/changes".to_owned()),
            api: Some("v1/".to_owned()),
            keys,
            ..Self::of_static()
        }
    }

    /// Reads the document. An unknown version of the protocol is an error of its own.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        #[derive(serde::Deserialize)]
        struct OnlyProtocol {
            protocol: u64,
        }
        let malformed = |error: serde_json::Error| Malformed::new("a registry", &error);
        let OnlyProtocol { protocol } = read_json(bytes).map_err(malformed)?;
        if protocol != PROTOCOL {
            let reason = format!(
                "it speaks protocol {protocol}, and this version of pkgres speaks {PROTOCOL} only"
            );
            return Err(Malformed::new("a registry that can be read", &reason));
        }
        read_json(bytes).map_err(malformed)
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and numbers are valid JSON")
    }

    /// The address of the index document of a package.
    pub fn package_address(&self, name: &PackageName) -> String {
        self.packages.replace("{name}", &escape_name(name.as_str()))
    }

    /// The address of the class document of a class.
    pub fn class_address(&self, class: &ClassName) -> String {
        self.classes
            .replace("{class}", &escape_name(class.as_str()))
    }

    /// The address of the artifact with a digest.
    pub fn blob_address(&self, digest: &Digest) -> String {
        self.blobs.replace("{sha256}", &digest.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_ignored_but_not_an_unknown_protocol() {
        let text = Config::of_static().to_json();
        let text = text.replacen('{', "{\"more\": [1], ", 1);
        assert_eq!(Config::parse(text.as_bytes()), Ok(Config::of_static()));
        let newer = br#"{"protocol": 2, "everything": "else"}"#;
        let error = Config::parse(newer).expect_err("it is newer").to_string();
        assert!(error.contains("protocol 2"), "{error}");
        for bad in ["", "[]", "{}", r#"{"protocol":1}"#, r#"{"protocol":"1"}"#] {
            assert!(Config::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_server_offers_more_than_a_mirror() {
        let server = Config::of_server(Vec::new());
        assert_eq!(Config::parse(server.to_json().as_bytes()), Ok(server));
        assert!(!Config::of_static().to_json().contains("batch\""));
    }
}
