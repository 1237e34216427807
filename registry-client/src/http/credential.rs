//! Credentials: tokens, or users with passwords.

use std::fmt;

use pkgres_manifest::diagnostic::without_credentials;

/// A string that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a string.
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
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TokenExchange {
    /// The address.
    pub url: String,
    /// The id of the client.
    pub client_id: String,
}

/// Shows the address without credentials.
impl fmt::Debug for TokenExchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TokenExchange")
            .field("url", &without_credentials(&self.url))
            .field("client_id", &self.client_id)
            .finish()
    }
}

/// A credential, which authenticates requests.
#[derive(Clone, PartialEq, Eq)]
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

/// Shows the kind alone: an address such as `https://TOKEN@example.org/` has a token in place of the user.
impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Token(_) => "Token(…)",
            Self::Exchanged { .. } => "Exchanged(…)",
            Self::Basic { .. } => "Basic(…)",
        })
    }
}
