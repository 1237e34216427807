//! Where tokens come from: the environment, the file of tokens, programs that give them.

use std::ffi::OsString;
use std::path::PathBuf;

use pkgres_manifest::RegistryName;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::http::{CredentialSources, Secret};

use crate::environment::{folder, variable};

/// The variable that names the folder of the file of tokens.
const CREDENTIALS_VARIABLE: &str = "PKGRES_CREDENTIALS";

/// The file of tokens.
const TOKEN_FILE: &str = "credentials.json";

/// What the variable with the token of a registry begins with.
const TOKEN_VARIABLE: &str = "PKGRES_TOKEN_";

/// The variable with a program that gives tokens, and its arguments, with spaces in between.
const HELPER_VARIABLE: &str = "PKGRES_CREDENTIAL_HELPER";

/// Where tokens are kept.
pub(crate) fn token_file() -> Option<PathBuf> {
    let folder = folder(CREDENTIALS_VARIABLE, "XDG_CONFIG_HOME", ".config")?;
    Some(folder.join(TOKEN_FILE))
}

/// The variable with the token of a registry: its name in upper case, with `_` for what cannot be
/// part of a variable.
fn token_variable(name: &RegistryName) -> String {
    let name = name.as_str().to_ascii_uppercase();
    let name = name.replace(['.', '-'], "_");
    format!("{TOKEN_VARIABLE}{name}")
}

/// The variable with the token that a registry did not take, if that is where it came from: to keep another
/// one would change nothing. `hint` is what is hinted at otherwise.
pub(crate) fn token_hint(hint: &str) -> Option<String> {
    let rest = hint.strip_prefix("`pkgres login ")?;
    let (name, _) = rest.split_once('`')?;
    let name = token_variable(&RegistryName::parse(name).ok()?);
    variable(&name)?;
    Some(format!(
        "the token that was sent is the one in {name}, which goes before one that `pkgres login` keeps"
    ))
}

/// Where the token of a registry is looked for.
pub(crate) fn sources(name: &RegistryName) -> Result<CredentialSources, Diagnostic> {
    let text = |name: &str| {
        let wrong = |_| Diagnostic::error(Code::Usage, format!("{name} is not UTF-8"));
        let text = |value: OsString| value.into_string().map_err(wrong);
        variable(name).map(text).transpose()
    };
    let mut sources = CredentialSources::default();
    sources.token = text(&token_variable(name))?.map(Secret::new);
    sources.token_file = token_file();
    sources.helper = text(HELPER_VARIABLE)?.map(|line| words(&line));
    sources.netrc = variable("NETRC").map(PathBuf::from).or_else(|| {
        let home = variable("HOME").map(PathBuf::from)?;
        Some(home.join(".netrc"))
    });
    Ok(sources)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}
