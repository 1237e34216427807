//! `pkgres whoami`, `owner` and `token`: accounts of a registry on the network.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::http::TokenRequest;
use pkgres_registry_client::protocol::{Owners, TokenDescription};
use pkgres_registry_client::{HttpRegistry, Registry as _, titled_at};
use serde_json::{Value, json};

use crate::args::{
    OwnerArgs, OwnerCommand, OwnerEditArgs, TargetArgs, TokenArgs, TokenCommand, TokenCreateArgs,
    WhoamiArgs,
};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::named_packages::{ecosystem_near, last_part, package_name};
use crate::output::Output;
use crate::show::counted;
use crate::solve_options::time_after;

/// How many characters of a text of the registry are shown.
const SHOWN_CHARACTERS: usize = 200;

fn open(target: &TargetArgs, context: &Context) -> Result<HttpRegistry> {
    let remote = context.registries.remote(target.registry.as_deref())?;
    context.registries.open_remote(remote)
}

/// Opens the registry that has a package.
fn open_for(name: &PackageName, target: &TargetArgs, context: &Context) -> Result<HttpRegistry> {
    let wanted = target.registry.as_deref();
    let remote = context.registries.remote_for(name, wanted)?;
    context.registries.open_remote(remote)
}

/// Shows a spinner while a registry is asked.
pub(super) fn asking<T>(context: &Context, output: &mut Output, ask: impl FnOnce() -> T) -> T {
    output.during("Asking the registry", context.registries.activity(), ask)
}

/// A text of the registry as it can be shown.
fn shown(text: &str) -> String {
    Escaped::within(text, SHOWN_CHARACTERS).to_string()
}

fn all_shown<'text>(texts: impl IntoIterator<Item = &'text String>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| shown(text)).collect();
    texts.join(", ")
}

pub(super) fn whoami(args: &WhoamiArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let remote = context.registries.remote(args.registry.wanted())?;
    let registry = context.registries.open_remote(remote)?;
    let identity = asking(context, output, || registry.whoami())?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "address": registry.address().as_str(),
            "owner": identity.owner,
            "scopes": identity.scopes,
            "names": identity.names,
            "expires": identity.expires,
        }));
        return Ok(Exit::Done);
    }
    let owner = identity
        .owner
        .as_deref()
        .map_or("(unnamed)".to_owned(), shown);
    output.data(&format!("{owner}\n"));
    output.note(&format!("registry: {}", registry.address()));
    output.note(&format!("scopes: {}", all_shown(&identity.scopes)));
    output.note(&match identity.names.as_slice() {
        [] => "names: all".to_owned(),
        names => format!("names: {}", all_shown(names)),
    });
    if let Some(expires) = &identity.expires {
        output.note(&format!("expires: {}", shown(expires)));
    }
    Ok(Exit::Done)
}

pub(super) fn owner(args: &OwnerArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    match &args.command {
        OwnerCommand::List(args) => {
            let name = package_name(&args.name, ecosystem_near(Path::new("."), context))?;
            let registry = open_for(&name, &args.target, context)?;
            let owners = asking(context, output, || owners(&registry, &name))?;
            if output.is_json() {
                output.json(&owners_json("listed", &registry, &name, &owners.owners));
                return Ok(Exit::Done);
            }
            for owner in &owners.owners {
                output.data(&format!("{}\n", shown(owner)));
            }
            Ok(Exit::Done)
        }
        OwnerCommand::Add(args) => change_owners(args, true, context, output),
        OwnerCommand::Remove(args) => change_owners(args, false, context, output),
    }
}

fn owners(registry: &HttpRegistry, name: &PackageName) -> Result<Owners> {
    registry.owners(name)?.ok_or_else(|| {
        let title = titled_at(registry.name(), registry.address());
        let message = format!("{title} has no package `{name}`");
        let finding = Diagnostic::error(Code::UnknownPackage, message);
        Failure {
            findings: vec![finding.hint(format!(
                "`pkgres search --registry {} {}` looks for similar ones",
                registry.address(),
                last_part(name)
            ))],
            exit: Exit::Failed,
        }
    })
}

fn owners_json(
    status: &str,
    registry: &HttpRegistry,
    name: &PackageName,
    owners: &BTreeSet<String>,
) -> Value {
    json!({
        "schema_version": 1,
        "status": status,
        "registry": registry.name().as_str(),
        "name": name,
        "owners": owners,
    })
}

fn change_owners(
    args: &OwnerEditArgs,
    is_added: bool,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let name = package_name(&args.name, ecosystem_near(Path::new("."), context))?;
    let registry = open_for(&name, &args.target, context)?;
    let mut new = asking(context, output, || owners(&registry, &name))?;
    let before = new.owners.clone();
    for owner in &args.owners {
        if is_added {
            new.owners.insert(owner.clone());
        } else if !new.owners.remove(owner) {
            let message = format!("`{}` is not an owner of {name}", Escaped::shortened(owner));
            return Err(Diagnostic::error(Code::Usage, message)
                .hint(format!("its owners are {}", all_shown(&before)))
                .into());
        }
    }
    if new.owners.is_empty() {
        return Err(Failure::usage(format!(
            "{name} would have no owner: add another one first"
        )));
    }
    if new.owners != before {
        new = asking(context, output, || registry.set_owners(&name, &new))?;
    }
    if output.is_json() {
        let status = if new.owners == before {
            "same"
        } else {
            "changed"
        };
        output.json(&owners_json(status, &registry, &name, &new.owners));
    }
    output.note(&format!(
        "The owners of {name} are {}",
        all_shown(&new.owners)
    ));
    Ok(Exit::Done)
}

pub(super) fn token(args: &TokenArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    match &args.command {
        TokenCommand::Create(args) => create_token(args, context, output),
        TokenCommand::List(args) => {
            let registry = open(&args.target, context)?;
            let mut tokens = asking(context, output, || registry.tokens())?;
            tokens.sort_by(|one, other| (&one.created, &one.id).cmp(&(&other.created, &other.id)));
            if output.is_json() {
                output.json(&json!({"schema_version": 1, "tokens": tokens}));
                return Ok(Exit::Done);
            }
            let now = Timestamp::now();
            for token in &tokens {
                output.prose(&format!("{}\n", token_line(token, now)));
            }
            output.note(&counted(tokens.len(), "token"));
            Ok(Exit::Done)
        }
        TokenCommand::Revoke(args) => {
            let registry = open(&args.target, context)?;
            asking(context, output, || registry.revoke_token(&args.id))?;
            let id = Escaped::shortened(&args.id);
            if output.is_json() {
                output.json(&json!({"schema_version": 1, "status": "revoked", "id": args.id}));
            }
            output.note(&format!(
                "Revoked the token {id}; tokens that it created are valid until they are revoked themselves"
            ));
            Ok(Exit::Done)
        }
    }
}

fn create_token(args: &TokenCreateArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let expires = (args.expires.as_deref())
        .map(|text| time_after(text, Timestamp::now()))
        .transpose()
        .map_err(|reason| Failure::usage(format!("--expires: {reason}")))?;
    let request = TokenRequest {
        scopes: args.scopes.clone(),
        owner: args.owner.clone(),
        names: args.names.clone(),
        note: args.note.clone(),
        expires: expires.map(|time| {
            let second = Timestamp::from_second(time.as_second());
            second.unwrap_or(time).to_string()
        }),
    };
    let registry = open(&args.target, context)?;
    let (token, secret) = asking(context, output, || registry.create_token(&request))?;
    if output.is_json() {
        let mut document = json!(token);
        document["schema_version"] = json!(1);
        document["token"] = json!(secret);
        output.json(&document);
    } else {
        output.data(&format!("{}\n", shown(&secret)));
    }
    output.note(&format!(
        "Created the token {}; the registry does not show it again",
        shown(&token.id)
    ));
    Ok(Exit::Done)
}

/// A token on a line: its id, owner, scopes and names, when it expires, and its note.
fn token_line(token: &TokenDescription, now: Timestamp) -> String {
    let mut line = format!(
        "{}  {}  {}",
        shown(&token.id),
        shown(&token.owner),
        all_shown(&token.scopes)
    );
    if !token.names.is_empty() {
        line.push_str(&format!("  for {}", all_shown(&token.names)));
    }
    if let Some(expires) = &token.expires {
        let has_expired = expires.parse().is_ok_and(|end: Timestamp| end <= now);
        let word = if has_expired { "expired" } else { "until" };
        line.push_str(&format!("  {word} {}", shown(expires)));
    }
    if !token.note.is_empty() {
        line.push_str(&format!("  ({})", shown(&token.note)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_which_tokens_have_expired() {
        let token = json!({"id": "1", "owner": "ann", "scopes": ["read"], "expires": "2027-01-01T00:00:00Z"});
        let token: TokenDescription = serde_json::from_value(token).expect("a token");
        let line = |now: &str| token_line(&token, now.parse().expect("a time"));
        let before = line("2026-12-31T00:00:00Z");
        assert_eq!(before, "1  ann  read  until 2027-01-01T00:00:00Z");
        let after = line("2027-01-01T00:00:00Z");
        assert_eq!(after, "1  ann  read  expired 2027-01-01T00:00:00Z");
    }
}
