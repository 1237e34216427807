//! `pkgres login` and `pkgres logout`

use std::io::{IsTerminal as _, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use console::Term;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Limits, ReadOptions};
use pkgres_registry_client::http::{CredentialError, Secret, TokenExchange, TokenFile};
use pkgres_registry_client::{
    Address, GalaxyRegistry, HttpOptions, HttpRegistry, RegistryError, RegistryLocation,
};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use crate::args::LoginArgs;
use crate::commands::account::asking;
use crate::context::Context;
use crate::environment::{DEFAULT_CLIENT_ID, token_file};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::registries::RemoteRegistry;
use crate::signals::on_interrupt;

/// The longest input with a token, in bytes.
const MAX_INPUT_BYTES: u64 = 64 << 10;

pub(super) fn login(args: &LoginArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.remove {
        return logout(args.registry.wanted(), context, output);
    }
    let RemoteRegistry { registry, address } = context.registries.remote(args.registry.wanted())?;
    let path = stored_tokens()?;
    // Nobody should type a token that cannot be stored.
    let mut tokens = TokenFile::read(&path).map_err(|error| failed(&error))?;
    let token = read_token(args, &address, output)?;
    tokens
        .set(&address, &token)
        .map_err(|error| failed(&error))?;
    let exchange = args.auth_url.as_ref().map(|url| TokenExchange {
        url: url.clone(),
        client_id: args
            .client_id
            .clone()
            .unwrap_or_else(|| DEFAULT_CLIENT_ID.to_owned()),
    });
    // A token that the registry rejects is not stored.
    let mut options = context.registries.http(&registry)?;
    options.cache_folder = None;
    options.credentials.token = Some(Secret::new(token.clone()));
    options.credentials.exchange.clone_from(&exchange);
    let owner = asking(context, output, || {
        owner_of(&registry.location, &address, options)
    });
    let owner = owner.map_err(|error| {
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
    TokenFile::change(&path, |tokens| {
        tokens.set_exchange(&address, exchange);
        tokens.set(&address, &token)
    })
    .map_err(|error| failed(&error))?;
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

/// Asks a registry whose token it is, as far as it says so. It has to accept the token.
fn owner_of(
    location: &RegistryLocation,
    address: &Address,
    options: HttpOptions,
) -> std::result::Result<Option<String>, RegistryError> {
    let name = location.name.clone();
    if location.is_galaxy() {
        let registry = GalaxyRegistry::new(name, address.clone(), &ReadOptions::default(), options);
        // The API does not say whose token it is.
        return registry.probe().map(|()| None);
    }
    if options.credentials.exchange.is_some() {
        let message = format!("`--auth-url` is for Galaxy servers: `galaxy:{address}`");
        return Err(Diagnostic::error(Code::Usage, message).into());
    }
    let registry = HttpRegistry::new(name, address.clone(), &Limits::default(), options);
    registry.whoami().map(|identity| identity.owner)
}

/// Removes the stored token of a registry.
pub(super) fn logout(
    registry: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let RemoteRegistry { address, .. } = context.registries.remote(registry)?;
    let path = stored_tokens()?;
    let tokens = TokenFile::read(&path).map_err(|error| failed(&error))?;
    let was_there = tokens.token(&address).is_some()
        && TokenFile::change(&path, |tokens| Ok(tokens.remove(&address)))
            .map_err(|error| failed(&error))?;
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
    Ok(Exit::Done)
}

fn stored_tokens() -> Result<PathBuf> {
    token_file().ok_or_else(|| {
        Failure::usage("there is no folder for tokens: set PKGRES_CREDENTIALS or HOME")
    })
}

/// The token: from a file, from a person at a terminal, or from stdin.
fn read_token(args: &LoginArgs, address: &Address, output: &mut Output) -> Result<String> {
    let bytes = if let Some(path) = args.token_file.as_ref().filter(|path| !is_stdin(path)) {
        read_token_file(path)?
    } else if std::io::stdin().is_terminal() {
        return ask(address, output);
    } else {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
        bytes
    };
    let text = String::from_utf8(bytes).map_err(|_| failed(&CredentialError::NotAToken))?;
    let is_stdin = args.token_file.as_deref().is_none_or(is_stdin);
    if text.trim().is_empty() && is_stdin {
        let message = match args.token_file {
            Some(_) => "there is no token on stdin",
            None => "there is no token on stdin, and no terminal to ask for one",
        };
        return Err(Diagnostic::error(Code::Denied, message)
            .hint("name a file with the token: `--token-file FILE`")
            .into());
    }
    // Editors on Windows begin files with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.trim().to_owned())
}

/// Whether the path of a file is the usual word for stdin.
fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The bytes of a file with a token. Shells pass the output of a program as a pipe (`<(pass show pkgres)`).
fn read_token_file(path: &Path) -> Result<Vec<u8>> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo());
    if !is_pipe {
        return Ok(read_file(path, MAX_INPUT_BYTES, Follow::Links)?);
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|pipe| pipe.take(MAX_INPUT_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| {
        let shown = Escaped::path(path);
        Failure::usage(format!("cannot read {shown}: {error}"))
    })?;
    Ok(bytes)
}

/// Asks for the token, and does not show what is typed. Enter ends it.
fn ask(address: &Address, output: &mut Output) -> Result<String> {
    output.flush();
    let failed_to_read =
        |error: std::io::Error| Failure::usage(format!("cannot read from the terminal: {error}"));
    let terminal = Term::stderr();
    // Whoever interrupts the run would not see any more what is typed.
    let shown = tcgetattr(std::io::stdin()).ok();
    let (interrupts, typed) = channel();
    let read = interrupts.clone();
    on_interrupt(move || {
        // Nobody listens any more if the token was typed.
        let _ = interrupts.send(None);
    });
    terminal
        .write_str(&format!("Token for {address} (not shown): "))
        .map_err(failed_to_read)?;
    // Without a terminal on stderr, nothing would be read: the prompt is lost, the input is not.
    let typed_in = if terminal.is_term() {
        terminal.clone()
    } else {
        Term::stdout()
    };
    std::thread::spawn(move || read.send(Some(typed_in.read_secure_line())));
    let Ok(Some(line)) = typed.recv() else {
        if let Some(shown) = shown {
            // There is no way to report that it fails.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &shown);
        }
        let _ = terminal.write_line("");
        return Err(Failure::reported(Exit::Interrupted));
    };
    let line = line.map_err(failed_to_read)?;
    match line.trim() {
        "" => Err(Failure::usage("no token was typed; nothing was stored")),
        token => Ok(token.to_owned()),
    }
}

fn failed(error: &CredentialError) -> Failure {
    let finding = error.to_diagnostic();
    let is_of_token_file = matches!(
        error,
        CredentialError::Readable(_) | CredentialError::Damaged(_)
    );
    if is_of_token_file {
        // Other commands that need the file end with the code of a registry, too.
        return RegistryError::from(finding).into();
    }
    finding.into()
}
