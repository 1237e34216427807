//! Creates, finds and removes tokens.
//!
//! A secret is random, is shown once, and is stored as its digest alone.

use jiff::Timestamp;
use pkgres_manifest::Hexadecimal;
use pkgres_manifest::diagnostic::Escaped;
use pkgres_registry_client::Namespace;
use pkgres_registry_client::protocol::{Digest, TokenDescription};

use super::backend::RegistryBackend;
use super::publish::Rollback;
use crate::access::{Credential, NewToken, Principal, Scope};
use crate::database::DatabaseError;
use crate::problem::{Problem, ProblemCode};
use crate::store::tokens::{self, TokenRow};

/// The prefix of every secret, by which scanners find secrets that leak.
const SECRET_PREFIX: &str = "pkgres_";

/// A token without its secret, and without scopes that are impossible for it.
fn described(row: TokenRow) -> TokenDescription {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let names: Vec<String> = words(&row.names);
    let mut scopes: Vec<String> = words(&row.scopes);
    scopes.retain(|text| Scope::parse(text).is_none_or(|scope| scope.is_possible_for(&names)));
    TokenDescription {
        scopes,
        names,
        id: row.id,
        owner: row.owner,
        note: row.note,
        created: Some(row.created),
        expires: row.expires,
    }
}

impl RegistryBackend {
    /// Creates a token. Returns it with its secret, which is stored nowhere. The token cannot have scopes or names
    /// that the principal lacks, and cannot expire later.
    pub fn create_token(
        &self,
        principal: &Principal,
        new: &NewToken,
    ) -> Result<(TokenDescription, String), Problem> {
        principal.require_to_create(new)?;
        let (row, secret) = self.new_token(new);
        let digest = Digest::of(secret.as_bytes()).to_string();
        self.database.write(|transaction| {
            // A node trusts a token for a moment after another node removed it. A token that was
            // created in that moment would stay.
            if let Some(id) = principal.credential.token()
                && tokens::by_id(transaction, id)?.is_none()
            {
                let detail = "there is no such token";
                return Err(Problem::new(ProblemCode::Unauthorized, detail));
            }
            Ok::<_, Problem>(tokens::add(transaction, &row, &digest)?)
        })?;
        tracing::info!(
            id = &*row.id,
            for_owner = %Escaped::shortened(&row.owner),
            scopes = &*row.scopes,
            names = %Escaped::shortened(&row.names),
            expires = row.expires.as_deref(),
            owner = &*principal.owner,
            token = principal.credential.token(),
            "created a token"
        );
        Ok((described(row), secret))
    }

    /// The row of a new token, and its secret.
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

    /// Creates a token for everything, for an operator who has none any more. `keep` stores the secret where the operator
    /// finds it, before the token is valid.
    pub fn create_admin_token<E: From<Problem>>(
        &self,
        keep: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let new = NewToken::new("admin", [Scope::Admin]).with_note("created by the operator");
        let (row, secret) = self.new_token(&new);
        keep(&secret)?;
        let digest = Digest::of(secret.as_bytes()).to_string();
        self.database
            .write(|transaction| tokens::add(transaction, &row, &digest))
            .map_err(|error: DatabaseError| Problem::from(error).into())
    }

    /// Creates the first token of a registry that has none, for everything. Returns whether there was
    /// none.
    ///
    /// `keep` stores the secret where the operator finds it. It is called before the token is valid, so if the start
    /// is interrupted in between, the next one creates the token again.
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
        let new = NewToken::new("admin", [Scope::Admin]).with_note("created with the registry");
        let (row, secret) = self.new_token(&new);
        let digest = Digest::of(secret.as_bytes()).to_string();
        let created = self.database.write(|transaction| {
            // Another node may have been faster: its operator has the secret.
            if !tokens::is_empty(transaction)? {
                return Ok(false);
            }
            keep(&secret).map_err(Rollback::Skipped)?;
            tokens::add(transaction, &row, &digest)?;
            Ok(true)
        });
        created.map_err(|rollback| match rollback {
            Rollback::Skipped(error) => error,
            Rollback::Failed(problem) => problem.into(),
        })
    }

    /// The principal of the token whose secret has the digest. The caller checks whether it has
    /// expired.
    pub(crate) fn principal(&self, digest: &Digest) -> Result<Option<Principal>, Problem> {
        let digest = digest.to_string();
        let row = self
            .database
            .read(|transaction| tokens::by_digest(transaction, &digest))?;
        row.map(principal_of).transpose()
    }

    /// The tokens that a principal may see, the oldest first: all, or those of the same owner whose packages the
    /// principal has as well.
    pub fn tokens(&self, principal: &Principal) -> Result<Vec<TokenDescription>, Problem> {
        principal.require(Scope::Tokens)?;
        let owner = (!principal.is_admin()).then_some(principal.owner.as_str());
        let mut rows = self
            .database
            .read(|transaction| tokens::list(transaction, owner))?;
        rows.retain(|row| may_handle(principal, row));
        Ok(rows.into_iter().map(described).collect())
    }

    /// Removes a token, which is invalid from then on. Any token may remove itself, and a principal
    /// those that it may see. Tokens that it created stay: which token created another one is not
    /// stored. The last token for everything stays: without it, nobody could create another one.
    pub fn remove_token(&self, principal: &Principal, id: &str) -> Result<(), Problem> {
        if principal.credential.token() != Some(id) {
            principal.require(Scope::Tokens)?;
        }
        let now = self.environment.now();
        let is_removed = self.database.write(|transaction| {
            let Some(row) = tokens::by_id(transaction, id)? else {
                return Ok(false);
            };
            if !may_handle(principal, &row) {
                return Ok(false);
            }
            if is_for_everything(&row, now) {
                let all = tokens::list(transaction, None)?;
                let mut others = all.iter().filter(|other| other.id != id);
                if !others.any(|other| is_for_everything(other, now)) {
                    let detail = "this is the last valid token with the scope `admin`: create another one first";
                    return Err(Problem::new(ProblemCode::NotChangeable, detail));
                }
            }
            Ok(tokens::remove(transaction, id)?)
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

/// Whether a principal may see and remove a token. One that cannot be read is for administrators.
fn may_handle(principal: &Principal, row: &TokenRow) -> bool {
    principal.is_admin() || principal_of(row.clone()).is_ok_and(|other| principal.governs(&other))
}

/// Whether a token permits everything at a time.
fn is_for_everything(row: &TokenRow, now: Timestamp) -> bool {
    let principal = principal_of(row.clone());
    principal.is_ok_and(|principal| {
        principal.is_admin() && principal.expires.is_none_or(|end| end > now)
    })
}

/// The principal of a token. A row that cannot be read is an error: a token without one of its names,
/// or without its end, would permit more than it should.
fn principal_of(row: TokenRow) -> Result<Principal, Problem> {
    let damaged = || Problem::internal(format!("the token {} cannot be read", row.id));
    let names = row.names.split_whitespace().map(Namespace::parse);
    let names: Vec<Namespace> = names.collect::<Result<_, _>>().map_err(|_| damaged())?;
    let expires = row.expires.as_deref().map(str::parse).transpose();
    let expires = expires.map_err(|_| damaged())?;
    // A scope that this version does not know permits nothing here, and neither does one for the whole registry in a
    // token for some names: older versions created such tokens.
    let scopes = row.scopes.split_whitespace().filter_map(Scope::parse);
    let scopes = scopes.filter(|scope| scope.is_possible_for(&names));
    let principal = Principal::new(Credential::Token(row.id), row.owner, scopes);
    Ok(principal.with_names(names).with_expiry(expires))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_tokens_permit_nothing() {
        let row = |names: &str, expires: Option<&str>| TokenRow {
            id: "1".to_owned(),
            owner: "team".to_owned(),
            scopes: "publish fly".to_owned(),
            names: names.to_owned(),
            note: String::new(),
            created: "2026-01-01T00:00:00Z".to_owned(),
            expires: expires.map(str::to_owned),
        };
        let whole = principal_of(row("a.* b.C", Some("2027-01-01T00:00:00Z")));
        let whole = whole.expect("it can be read");
        assert_eq!((whole.names.len(), whole.scopes.len()), (2, 1));
        assert!(whole.expires.is_some());
        let everywhere = principal_of(row("", None)).expect("it can be read");
        assert_eq!(everywhere.names, []);
        assert!(principal_of(row("a.* ?", None)).is_err());
        assert!(principal_of(row("a.*", Some("soon"))).is_err());
    }
}
