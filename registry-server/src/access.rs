//! Who asks, and what they may do.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use pkgres_manifest::PackageName;
use pkgres_registry_client::Namespace;

use crate::holder::Holder;
use crate::problem::{Problem, ProblemCode};
use crate::store::tokens::TokenRow;

/// Something that a token may be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Publish releases.
    Publish,
    /// Yank releases, and take that back.
    Yank,
    /// Delete releases, which takes them out of the index for good.
    Delete,
    /// Change who owns a package.
    Owners,
    /// Read a private registry.
    Read,
    /// Make, list and remove tokens of one's owner.
    Tokens,
    /// Everything, for all packages and tokens.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 7] = [
        Self::Publish,
        Self::Yank,
        Self::Delete,
        Self::Owners,
        Self::Read,
        Self::Tokens,
        Self::Admin,
    ];

    /// The scope as it is written.
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

    /// Reads a scope.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Who asks: the operator or the holder of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// What lets them in.
    pub holder: Holder,
    /// Whom the token belongs to, and what is published with it.
    pub owner: String,
    /// What it is good for.
    pub scopes: BTreeSet<Scope>,
    /// The packages that it is good for; none for all.
    pub names: Vec<Namespace>,
    /// When it stops being good.
    pub expires: Option<Timestamp>,
}

impl Actor {
    /// The operator, on the machine of the server.
    pub fn operator() -> Self {
        Self {
            holder: Holder::Operator,
            owner: "admin".to_owned(),
            scopes: BTreeSet::from([Scope::Admin]),
            names: Vec::new(),
            expires: None,
        }
    }

    /// The holder of a token that is kept. What cannot be read is an error: without one of its names
    /// or its end the token would be good for more than it is for.
    pub(crate) fn from_row(row: TokenRow) -> Result<Self, Problem> {
        let damaged = || Problem::internal(format!("the token {} cannot be read", row.id));
        let names = row.names.split_whitespace().map(Namespace::parse);
        let names = names.collect::<Result<_, _>>().map_err(|_| damaged())?;
        let expires = row.expires.as_deref().map(str::parse).transpose();
        let expires = expires.map_err(|_| damaged())?;
        Ok(Self {
            // A scope that this version does not know is one that nobody asks for.
            scopes: row.scopes.split(' ').filter_map(Scope::parse).collect(),
            holder: Holder::Token(row.id),
            owner: row.owner,
            names,
            expires,
        })
    }

    /// Whether the token may do everything.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    /// Whether the token is good for a scope.
    pub fn has(&self, scope: Scope) -> bool {
        self.is_admin() || self.scopes.contains(&scope)
    }

    /// Refuses unless the token is good for a scope.
    pub(crate) fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.has(scope) {
            return Ok(());
        }
        let detail = format!("the token lacks the scope `{scope}`");
        Err(Problem::new(ProblemCode::Forbidden, detail))
    }

    /// Refuses unless the token is good for a scope and a package.
    pub(crate) fn require_for(&self, scope: Scope, name: &PackageName) -> Result<(), Problem> {
        self.require(scope)?;
        if self.is_admin()
            || self.names.is_empty()
            || self.names.iter().any(|one| one.contains(name))
        {
            return Ok(());
        }
        let detail = format!("the token is not for {name}");
        Err(Problem::new(ProblemCode::Forbidden, detail))
    }

    /// Whether the token is good for all packages that some patterns fit; none fit all.
    fn reaches(&self, names: &[Namespace]) -> bool {
        let is_within = |name: &Namespace| self.names.iter().any(|own| own.covers(name));
        self.is_admin() || self.names.is_empty() || !names.is_empty() && names.iter().all(is_within)
    }

    /// Whether the token may list and remove another one: with the scope `tokens`, those of its owner
    /// that are for no other packages, but none for everything; and any token may remove itself.
    pub(crate) fn governs(&self, other: &Self) -> bool {
        if self.is_admin() || self.holder == other.holder {
            return true;
        }
        let is_ours = self.owner == other.owner && !other.is_admin();
        self.has(Scope::Tokens) && is_ours && self.reaches(&other.names)
    }

    /// Refuses unless the token may make another one, which is good for nothing that the token itself
    /// is not good for, and for no longer.
    pub(crate) fn require_to_make(&self, new: &NewToken) -> Result<(), Problem> {
        self.require(Scope::Tokens)?;
        for scope in &new.scopes {
            self.require(*scope)?;
        }
        if new.owner != self.owner {
            self.require(Scope::Admin)?;
        }
        let forbidden = |detail: String| Err(Problem::new(ProblemCode::Forbidden, detail));
        if !self.reaches(&new.names) {
            return forbidden(
                "the new token would be for names that this one is not for".to_owned(),
            );
        }
        match self.expires {
            Some(end) if new.expires.is_none_or(|expires| expires > end) => forbidden(format!(
                "the token is good until {end}, and makes none that is for longer"
            )),
            _ => Ok(()),
        }
    }
}

/// A token that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// Whom it belongs to.
    pub owner: String,
    /// What it is good for.
    pub scopes: BTreeSet<Scope>,
    /// The packages that it is good for; none for all.
    pub names: Vec<Namespace>,
    /// What its owner calls it.
    pub note: String,
    /// When it stops being good; nothing for never.
    pub expires: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_is_lacking_is_named() {
        let actor = Actor {
            scopes: BTreeSet::from([Scope::Yank]),
            ..Actor::operator()
        };
        let refused = actor.require(Scope::Publish).err();
        let refused = refused.map(|problem| problem.detail);
        let expected = "the token lacks the scope `publish`".to_owned();
        assert_eq!(refused, Some(expected));
    }

    #[test]
    fn what_is_damaged_is_not_good_for_more() {
        let row = |names: &str, expires: Option<&str>| TokenRow {
            id: "1".to_owned(),
            owner: "team".to_owned(),
            scopes: "publish fly".to_owned(),
            names: names.to_owned(),
            note: String::new(),
            created: "2026-01-01T00:00:00Z".to_owned(),
            expires: expires.map(str::to_owned),
        };
        let whole = Actor::from_row(row("a.* b.C", Some("2027-01-01T00:00:00Z")));
        let whole = whole.expect("it can be read");
        assert_eq!((whole.names.len(), whole.scopes.len()), (2, 1));
        assert!(whole.expires.is_some());
        assert_eq!(
            Actor::from_row(row("", None))
                .expect("it can be read")
                .names,
            []
        );
        assert!(Actor::from_row(row("a.* ?", None)).is_err());
        assert!(Actor::from_row(row("a.*", Some("soon"))).is_err());
    }
}
