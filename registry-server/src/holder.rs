//! What lets somebody in.

/// What lets somebody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Being on the machine of the server.
    Operator,
    /// A token, with its number, which is no secret.
    Token(String),
}

impl Holder {
    /// The number of the token, if it is one.
    pub fn token(&self) -> Option<&str> {
        match self {
            Self::Operator => None,
            Self::Token(id) => Some(id),
        }
    }
}
