//! Accounts: the holder of a token, tokens, and the owners of packages.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The holder of a token, and what the token permits. A client escapes all texts before it shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The id of the token; `None` if the request was authenticated by something else.
    #[serde(default)]
    pub token: Option<String>,
    /// The owner, if the registry reports it.
    #[serde(default)]
    pub owner: Option<String>,
    /// The scopes of the token.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The names and namespaces that it is limited to; empty for all.
    #[serde(default)]
    pub names: Vec<String>,
    /// When it expires, as RFC 3339; `None` if it does not.
    #[serde(default)]
    pub expires: Option<String>,
}

/// A token, without its secret. A client escapes all texts before it shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenDescription {
    /// The identifier, which revokes it.
    pub id: String,
    /// The owner.
    pub owner: String,
    /// The scopes.
    pub scopes: Vec<String>,
    /// The names and namespaces that it is limited to; empty for all.
    #[serde(default)]
    pub names: Vec<String>,
    /// The note of its creator.
    #[serde(default)]
    pub note: String,
    /// When it was created, as RFC 3339, if the registry reports it.
    #[serde(default)]
    pub created: Option<String>,
    /// When it expires, as RFC 3339; `None` if it does not.
    #[serde(default)]
    pub expires: Option<String>,
}

/// The response to a list of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenList {
    /// The tokens, the oldest first.
    pub tokens: Vec<TokenDescription>,
}

/// The response to the creation of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedToken {
    /// The token.
    #[serde(flatten)]
    pub description: TokenDescription,
    /// Its secret, which no other response has.
    pub token: String,
}

/// The owners of a package, as a response has them among other things, and as a change sends them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owners {
    /// A number that grows with each change: a change names the one that it was made for.
    pub generation: u64,
    /// The owners.
    pub owners: BTreeSet<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_are_ignored_and_absent_values_are_null() {
        let written = json!({"id": "1", "owner": "ann", "scopes": ["read"], "later": true});
        let token: TokenDescription = serde_json::from_value(written).expect("a token");
        let read = json!({"id": "1", "owner": "ann", "scopes": ["read"], "names": [], "note": "",
                          "created": null, "expires": null});
        assert_eq!(json!(token), read);
        let created = json!(CreatedToken {
            description: token,
            token: "secret".to_owned(),
        });
        assert_eq!(created["token"], "secret");
        assert_eq!(created["owner"], "ann");
    }
}
