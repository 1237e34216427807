//! Principals and their rights: who runs an operation, and whether the token permits it.
//!
//! Each operation runs for a [`Principal`]: the operator on the machine of the server, or the owner of a
//! token. Tokens can create tokens, but none with a scope, a name or a validity beyond their own.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use pkgres_manifest::PackageName;
use pkgres_registry_client::Namespace;

use crate::problem::{Problem, ProblemCode};

/// A permission of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Publish releases.
    Publish,
    /// Yank releases, and undo that.
    Yank,
    /// Delete releases, which removes them from the index for good.
    Delete,
    /// Change the owners of a package.
    Owners,
    /// Read a private registry.
    Read,
    /// Create, list and remove tokens of the same owner.
    Tokens,
    /// Everything, for all packages and tokens.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: &'static [Self] = &[
        Self::Publish,
        Self::Yank,
        Self::Delete,
        Self::Owners,
        Self::Read,
        Self::Tokens,
        Self::Admin,
    ];

    /// The name of the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Yank => "yank",
            Self::Delete => "delete",
            Self::Owners => "owners",
            Self::Read => "read",
            Self::Tokens => "tokens",
            Self::Admin => "admin",
        }
    }

    /// Whether a token for some names can have the scope. Some scopes are for the whole registry, and so only for
    /// tokens without names, which are for all.
    pub(crate) fn is_possible_for<T>(self, names: &[T]) -> bool {
        names.is_empty() || !matches!(self, Self::Read | Self::Admin)
    }

    /// The scope with a name.
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|scope| scope.as_str() == text)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The limit of the name of an owner, in bytes.
const MAX_OWNER: usize = 200;

/// Whether a text is valid as the name of an owner.
pub(crate) fn is_owner(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_OWNER
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"@._-+".contains(&byte))
}

/// The credential of a principal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// Access to the machine of the server.
    Operator,
    /// A token, by its id, which is not secret.
    Token(String),
}

impl Credential {
    /// The id of the token, if the credential is one.
    pub fn token(&self) -> Option<&str> {
        match self {
            Self::Operator => None,
            Self::Token(id) => Some(id),
        }
    }
}

/// The operator, or the owner of a token, with their rights.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The credential that authenticated the principal.
    pub credential: Credential,
    /// The owner of the token, and of the packages that are published with it.
    pub owner: String,
    /// The scopes of the token.
    pub scopes: BTreeSet<Scope>,
    /// The packages that the token is for; empty for all.
    pub names: Vec<Namespace>,
    /// When the token expires.
    pub expires: Option<Timestamp>,
}

impl Principal {
    /// A principal with some scopes, for all packages, which does not expire.
    pub fn new(
        credential: Credential,
        owner: impl Into<String>,
        scopes: impl IntoIterator<Item = Scope>,
    ) -> Self {
        Self {
            credential,
            owner: owner.into(),
            scopes: scopes.into_iter().collect(),
            names: Vec::new(),
            expires: None,
        }
    }

    /// The operator, who may do everything.
    pub fn operator() -> Self {
        Self::new(Credential::Operator, "admin", [Scope::Admin])
    }

    /// This principal, limited to some packages; an empty list means all.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = Namespace>) -> Self {
        self.names = names.into_iter().collect();
        self
    }

    /// This principal, valid until a time.
    #[must_use]
    pub fn with_expiry(mut self, expires: Option<Timestamp>) -> Self {
        self.expires = expires;
        self
    }

    /// Whether the principal may do everything. A token for some names may not, whatever its scopes are.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin) && Scope::Admin.is_possible_for(&self.names)
    }

    /// Whether the principal has a scope. Some scopes are for the whole registry, so that a token for some names
    /// cannot have them.
    pub fn has(&self, scope: Scope) -> bool {
        self.is_admin() || self.scopes.contains(&scope) && scope.is_possible_for(&self.names)
    }

    /// An error unless the principal has a scope.
    pub(crate) fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.has(scope) {
            return Ok(());
        }
        let detail = format!("the token lacks the scope `{scope}`");
        Err(Problem::new(ProblemCode::Forbidden, detail))
    }

    /// An error unless the principal has a scope for a package.
    pub(crate) fn require_for(&self, scope: Scope, name: &PackageName) -> Result<(), Problem> {
        self.require(scope)?;
        if self.is_admin()
            || self.names.is_empty()
            || self.names.iter().any(|one| one.contains(name))
        {
            return Ok(());
        }
        Err(not_for(name))
    }

    /// An error unless the token permits seeing releases of a package of its owner that are not public: it may read
    /// the whole registry, or change or delete these releases.
    pub(crate) fn require_to_see(&self, name: &PackageName) -> Result<(), Problem> {
        let scopes = [Scope::Read, Scope::Publish, Scope::Delete];
        if scopes
            .iter()
            .any(|scope| self.require_for(*scope, name).is_ok())
        {
            return Ok(());
        }
        if !scopes.iter().any(|scope| self.has(*scope)) {
            let detail = "the token has none of the scopes `read`, `publish` and `delete`";
            return Err(Problem::new(ProblemCode::Forbidden, detail));
        }
        Err(not_for(name))
    }

    /// Whether the token is for all packages that some patterns match; no patterns match all packages.
    fn covers(&self, names: &[Namespace]) -> bool {
        let is_within = |name: &Namespace| self.names.iter().any(|own| own.covers(name));
        self.is_admin() || self.names.is_empty() || !names.is_empty() && names.iter().all(is_within)
    }

    /// Whether the principal may list and remove the token of another one. Any token may remove itself.
    /// The scope `tokens` is for tokens of the same owner that are for no further packages, except for
    /// those with the scope `admin`.
    pub(crate) fn governs(&self, other: &Self) -> bool {
        if self.is_admin() || self.credential == other.credential {
            return true;
        }
        let is_ours = self.owner == other.owner && !other.is_admin();
        self.has(Scope::Tokens) && is_ours && self.covers(&other.names)
    }

    /// An error unless the principal may create a token: it has no scope and no package that the
    /// principal has not, and expires no later.
    pub(crate) fn require_to_create(&self, new: &NewToken) -> Result<(), Problem> {
        self.require(Scope::Tokens)?;
        for scope in &new.scopes {
            self.require(*scope)?;
        }
        if new.owner != self.owner {
            self.require(Scope::Admin)?;
        }
        let forbidden = |detail: String| Err(Problem::new(ProblemCode::Forbidden, detail));
        if !self.covers(&new.names) {
            return forbidden(
                "the new token would be for names that this one is not for".to_owned(),
            );
        }
        if let Some(end) = self.expires
            && new.expires.is_none_or(|expires| expires > end)
        {
            return forbidden(format!(
                "the token expires at {end}, and creates none that expires later"
            ));
        }
        let mut scopes = new.scopes.iter();
        if let Some(scope) = scopes.find(|scope| !scope.is_possible_for(&new.names)) {
            let detail = format!(
                "a token for some names cannot have the scope `{scope}`, which is for the whole registry: create \
                 another token for that"
            );
            // Nobody can create it.
            return Err(Problem::new(ProblemCode::BodyInvalid, detail));
        }
        Ok(())
    }
}

/// The problem that a token is for other packages.
fn not_for(name: &PackageName) -> Problem {
    let detail = format!("the token is not for {name}");
    Problem::new(ProblemCode::Forbidden, detail)
}

/// A token that is to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewToken {
    /// The owner of the token.
    pub owner: String,
    /// The permissions of the token.
    pub scopes: BTreeSet<Scope>,
    /// The packages that the token is for; empty for all.
    pub names: Vec<Namespace>,
    /// A note of its owner.
    pub note: String,
    /// When the token expires; none for never.
    pub expires: Option<Timestamp>,
}

impl NewToken {
    /// A token for all packages, without a note, which never expires.
    pub fn new(owner: impl Into<String>, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self {
            owner: owner.into(),
            scopes: scopes.into_iter().collect(),
            names: Vec::new(),
            note: String::new(),
            expires: None,
        }
    }

    /// This token, limited to some packages; an empty list means all.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = Namespace>) -> Self {
        self.names = names.into_iter().collect();
        self
    }

    /// This token with a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// This token, valid until a time.
    #[must_use]
    pub fn with_expiry(mut self, expires: Option<Timestamp>) -> Self {
        self.expires = expires;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_for_some_names_is_no_administrator() {
        let names = || [Namespace::parse("a.*").expect("a namespace")];
        let limited = Principal::new(Credential::Operator, "team", [Scope::Admin]);
        let limited = limited.with_names(names());
        let package = |text: &str| PackageName::parse(text).expect("a name");
        assert!(!limited.is_admin());
        for scope in Scope::ALL {
            assert!(
                limited.require_for(*scope, &package("b.C")).is_err(),
                "{scope}"
            );
        }
        for scope in [Scope::Admin, Scope::Read] {
            let new = NewToken::new("admin", [scope]).with_names(names());
            let refused = Principal::operator().require_to_create(&new).err();
            let detail = refused.map(|problem| problem.detail).unwrap_or_default();
            assert!(detail.contains(scope.as_str()), "{detail}");
        }
    }

    #[test]
    fn a_missing_scope_is_named() {
        let principal = Principal::new(Credential::Operator, "admin", [Scope::Yank]);
        let problem = principal.require(Scope::Publish).err();
        let detail = problem.map(|problem| problem.detail);
        let expected = "the token lacks the scope `publish`".to_owned();
        assert_eq!(detail, Some(expected));
    }
}
