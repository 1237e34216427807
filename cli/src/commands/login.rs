//! `pkgres login`

use std::io::Read as _;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::HttpRegistry;
use pkgres_registry_client::http::{CredentialError, Secret, TokenFile};
use serde_json::json;

use crate::args::LoginArgs;
use crate::context::Context;
use crate::environment::token_file;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::registries::RemoteRegistry;

/// The longest input with a token, in bytes.
const MAX_INPUT_BYTES: u64 = 64 << 10;

pub(super) fn run(args: &LoginArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let RemoteRegistry { registry, address } =
        context.registries.remote(args.registry.as_deref())?;
    let path = token_file().ok_or_else(|| {
        Failure::usage("there is no folder for tokens: set PKGRES_CREDENTIALS or HOME")
    })?;
    let mut tokens = TokenFile::read(&path).map_err(|error| failed(&error))?;
    if args.remove {
        let was_there = tokens.remove(&address);
        tokens.write(&path).map_err(|error| failed(&error))?;
        if output.is_json() {
            output.json(&json!({
                "schema_version": 1,
                "status": if was_there { "logged_out" } else { "unknown" },
                "address": address.as_str(),
            }));
        }
        output.note(&if was_there {
            format!("Removed the token for {address}")
        } else {
            format!("There is no token for {address}")
        });
        return Ok(Exit::Done);
    }
    let token = read_token(args)?;
    tokens
        .set(&address, &token)
        .map_err(|error| failed(&error))?;
    // A token that the registry rejects is not stored.
    let mut options = context.registries.http(&registry)?;
    options.cache_folder = None;
    options.credentials.token = Some(Secret::new(token));
    let name = registry.location.name;
    let registry = HttpRegistry::new(name, address.clone(), &Limits::default(), options);
    let owner = registry.whoami().map_err(|error| {
        let mut failure = Failure::from(error);
        // The usual hint suggests to log in, which this was.
        for finding in &mut failure.findings {
            if finding.code == Code::Denied {
                finding.hints = vec![
                    "ask the operator of the registry for a token; nothing was stored".to_owned(),
                ];
            }
        }
        failure
    })?;
    tokens.write(&path).map_err(|error| failed(&error))?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "logged_in",
            "address": address.as_str(),
            "owner": owner,
        }));
    }
    let owner = owner.map_or_else(String::new, |owner| {
        format!(" as {}", Escaped::shortened(&owner))
    });
    output.note(&format!("Logged in to {address}{owner}"));
    Ok(Exit::Done)
}

fn read_token(args: &LoginArgs) -> Result<String> {
    let bytes = if let Some(path) = &args.token_file {
        read_file(path, MAX_INPUT_BYTES, Follow::Links)?
    } else {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
        bytes
    };
    let text = String::from_utf8(bytes).map_err(|_| failed(&CredentialError::NotAToken))?;
    Ok(text.trim().to_owned())
}

fn failed(error: &CredentialError) -> Failure {
    Diagnostic::error(Code::Denied, error.to_string()).into()
}
