//! Where the credentials of registries come from: environment variables, the token file, credential helpers and
//! `.netrc`.

use std::ffi::OsString;
use std::path::PathBuf;

use pkgres_manifest::RegistryName;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::http::{CredentialSources, Secret};

use crate::environment::{token_file, variable};

/// The prefix of the variable with the token of a registry.
const TOKEN_VARIABLE: &str = "PKGRES_TOKEN_";

/// The variable with the credential helper: a program and its arguments, separated by spaces.
const HELPER_VARIABLE: &str = "PKGRES_CREDENTIAL_HELPER";

/// The variable with the token of a registry: its name in upper case, with `_` for `.` and `-`.
fn token_variable(name: &RegistryName) -> String {
    let name = name.as_str().to_ascii_uppercase();
    let name = name.replace(['.', '-'], "_");
    format!("{TOKEN_VARIABLE}{name}")
}

/// The hint for a rejected token that came from a variable: logging in again would not help. `hint` is the hint
/// of the registry client, which suggests `pkgres login`.
pub(crate) fn token_hint(hint: &str) -> Option<String> {
    let rest = hint.strip_prefix("`pkgres login ")?;
    let (name, _) = rest.split_once('`')?;
    let name = token_variable(&RegistryName::parse(name).ok()?);
    variable(&name)?;
    Some(format!(
        "the rejected token is the one in {name}, which overrides the one that `pkgres login` stores"
    ))
}

/// The sources of the credentials of a registry.
pub(crate) fn sources(name: &RegistryName) -> Result<CredentialSources, Diagnostic> {
    let text = |name: &str| {
        let invalid = |_| Diagnostic::error(Code::Usage, format!("{name} is not UTF-8"));
        let text = |value: OsString| value.into_string().map_err(invalid);
        variable(name).map(text).transpose()
    };
    let helper = text(HELPER_VARIABLE)?;
    Ok(CredentialSources {
        token: text(&token_variable(name))?.map(Secret::new),
        token_file: token_file(),
        helper: helper.map(|line| line.split_whitespace().map(str::to_owned).collect()),
        netrc: variable("NETRC").map(PathBuf::from).or_else(|| {
            let home = variable("HOME").map(PathBuf::from)?;
            Some(home.join(".netrc"))
        }),
    })
}
