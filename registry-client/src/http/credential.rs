//! Credentials: tokens, or users with passwords.

use std::fmt;

/// A text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, to send or store it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// The server that exchanges a token for one that authenticates requests (the refresh token grant of OAuth 2).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TokenExchange {
    /// The address.
    pub url: String,
    /// The id of the client.
    pub client_id: String,
}

/// A credential, which authenticates requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A token.
    Token(Secret),
    /// A token that is exchanged for another one, which is valid for a short time.
    Exchanged {
        /// The token.
        token: Secret,
        /// Where it is exchanged.
        exchange: TokenExchange,
    },
    /// A user and a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
}
