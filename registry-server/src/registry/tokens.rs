//! Making, finding and removing tokens.

use std::collections::BTreeSet;

use pkgres_manifest::Hexadecimal;
use pkgres_registry_client::Namespace;
use pkgres_registry_client::protocol::Digest;

use super::RegistryBackend;
use crate::access::{Actor, NewToken, Scope};
use crate::problem::{Problem, ProblemCode};
use crate::store::tokens::{self, TokenRow};

/// What every secret begins with, so that one that leaks can be found.
const SECRET_PREFIX: &str = "pkgres_";

/// A token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenView {
    /// Its number, which is no secret.
    pub id: String,
    /// Whom it belongs to.
    pub owner: String,
    /// What it is good for.
    pub scopes: Vec<String>,
    /// The packages that it is good for; none for all.
    pub names: Vec<String>,
    /// What its owner calls it.
    pub note: String,
    /// When it was made, as RFC 3339.
    pub created: String,
    /// When it stops being good.
    pub expires: Option<String>,
}

impl From<TokenRow> for TokenView {
    fn from(row: TokenRow) -> Self {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        Self {
            scopes: words(&row.scopes),
            names: words(&row.names),
            id: row.id,
            owner: row.owner,
            note: row.note,
            created: row.created,
            expires: row.expires,
        }
    }
}

impl RegistryBackend {
    /// Makes a token; gives it with its secret, which is kept nowhere. Whoever makes it gives away
    /// nothing that they have not: neither scopes nor names nor time.
    pub fn create_token(
        &self,
        actor: &Actor,
        new: &NewToken,
    ) -> Result<(TokenView, String), Problem> {
        actor.require_to_make(new)?;
        let (row, secret) = self.new_token(new);
        let digest = Digest::of(secret.as_bytes()).to_string();
        self.database.write(|transaction| {
            // A node believes in a token for a moment after another one removed it: what is made in
            // that moment would stay.
            if let Some(id) = actor.holder.token()
                && tokens::by_id(transaction, id)?.is_none()
            {
                let detail = "there is no such token";
                return Err(Problem::new(ProblemCode::Unauthorized, detail));
            }
            Ok::<_, Problem>(tokens::add(transaction, &row, &digest)?)
        })?;
        Ok((row.into(), secret))
    }

    fn new_token(&self, new: &NewToken) -> (TokenRow, String) {
        let secret = format!(
            "{SECRET_PREFIX}{}",
            Hexadecimal(&self.environment.random::<32>())
        );
        let scopes: Vec<&str> = new.scopes.iter().map(|scope| scope.as_str()).collect();
        let names: Vec<String> = new.names.iter().map(Namespace::to_string).collect();
        let row = TokenRow {
            id: self.environment.uuid(),
            owner: new.owner.clone(),
            scopes: scopes.join(" "),
            names: names.join(" "),
            note: new.note.clone(),
            created: self.environment.now().to_string(),
            expires: new.expires.map(|time| time.to_string()),
        };
        (row, secret)
    }

    /// Makes the first token of a registry that has none, for everything. `keep` puts the secret
    /// where the operator finds it, and is called before the token is good for anything: a start
    /// that is interrupted between the two is made good by the next one. Says whether there was
    /// none.
    pub fn create_first_token<E: From<Problem>>(
        &self,
        keep: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<bool, E> {
        let is_empty = self
            .database
            .read(|transaction| tokens::is_empty(transaction))
            .map_err(Problem::from)?;
        if !is_empty {
            return Ok(false);
        }
        let (row, secret) = self.new_token(&NewToken {
            owner: "admin".to_owned(),
            scopes: BTreeSet::from([Scope::Admin]),
            names: Vec::new(),
            note: "made when the registry was".to_owned(),
            expires: None,
        });
        keep(&secret)?;
        let digest = Digest::of(secret.as_bytes()).to_string();
        self.database
            .write(|transaction| {
                // Another node may have been quicker.
                if tokens::is_empty(transaction)? {
                    tokens::add(transaction, &row, &digest)?;
                    return Ok(true);
                }
                Ok(false)
            })
            .map_err(|error: crate::database::DatabaseError| Problem::from(error).into())
    }

    /// Who asks with a token whose secret has the digest. Whether it has expired is for the caller to say.
    pub(crate) fn actor(&self, digest: &Digest) -> Result<Option<Actor>, Problem> {
        let digest = digest.to_string();
        let row = self
            .database
            .read(|transaction| tokens::by_digest(transaction, &digest))?;
        row.map(Actor::from_row).transpose()
    }

    /// The tokens that somebody may see, the oldest first: all, or those of their owner that are for
    /// no other packages than their own token.
    pub fn tokens(&self, actor: &Actor) -> Result<Vec<TokenView>, Problem> {
        actor.require(Scope::Tokens)?;
        let owner = (!actor.is_admin()).then_some(actor.owner.as_str());
        let mut rows = self
            .database
            .read(|transaction| tokens::list(transaction, owner))?;
        rows.retain(|row| may_handle(actor, row));
        Ok(rows.into_iter().map(TokenView::from).collect())
    }

    /// Removes a token, which from then on is good for nothing. Any token may remove itself; others
    /// are for whoever sees them. Tokens that it made stay: who made one is not kept.
    pub fn remove_token(&self, actor: &Actor, id: &str) -> Result<(), Problem> {
        if actor.holder.token() != Some(id) {
            actor.require(Scope::Tokens)?;
        }
        let is_removed =
            self.database
                .write(|transaction| match tokens::by_id(transaction, id)? {
                    Some(row) if may_handle(actor, &row) => tokens::remove(transaction, id),
                    _ => Ok(false),
                })?;
        if is_removed {
            return Ok(());
        }
        Err(Problem::new(
            ProblemCode::NoSuchToken,
            "there is no such token",
        ))
    }
}

/// Whether somebody may see and remove a token. One that cannot be read is for operators.
fn may_handle(actor: &Actor, row: &TokenRow) -> bool {
    actor.is_admin() || Actor::from_row(row.clone()).is_ok_and(|other| actor.governs(&other))
}
