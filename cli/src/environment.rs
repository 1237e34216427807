//! The environment: variables, the folders of the user, and the credentials of registries.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use pkgres_manifest::RegistryName;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::http::{CredentialSources, Secret, TokenExchange, why_not_proxy};

/// The prefix of the variable with the token of a registry.
const TOKEN_VARIABLE: &str = "PKGRES_TOKEN_";

/// The prefixes of the variables that say where the token of a registry is exchanged, and for which client.
const AUTH_URL_VARIABLE: &str = "PKGRES_AUTH_URL_";
const CLIENT_ID_VARIABLE: &str = "PKGRES_CLIENT_ID_";

/// The default client id for the exchange of a token: that of Red Hat's automation hub.
pub(crate) const DEFAULT_CLIENT_ID: &str = "cloud-services";

/// The variable with the credential helper: a program and its arguments, separated by spaces.
const HELPER_VARIABLE: &str = "PKGRES_CREDENTIAL_HELPER";

/// The value of an environment variable, unless it is unset or empty.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The variables with the addresses of proxies. Of two names, the first one that is set counts.
const PROXY_VARIABLES: [[&str; 2]; 3] = [
    ["HTTPS_PROXY", "https_proxy"],
    ["HTTP_PROXY", "http_proxy"],
    ["ALL_PROXY", "all_proxy"],
];

/// Fails if a variable with a proxy has something else: it would be ignored, and requests would go past the proxy.
pub(crate) fn require_proxies() -> Result<(), Diagnostic> {
    for names in PROXY_VARIABLES {
        let mut set = names
            .into_iter()
            .filter(|name| std::env::var_os(name).is_some());
        let Some((name, value)) = set.next().and_then(|name| Some((name, variable(name)?))) else {
            continue;
        };
        let problem = match value.to_str() {
            Some(text) => why_not_proxy(text),
            None => Some("it is not UTF-8"),
        };
        // The value can have a password.
        if let Some(problem) = problem {
            let message = format!("{name} is not the address of a proxy: {problem}");
            return Err(Diagnostic::error(Code::Usage, message)
                .hint("an address such as `http://proxy.example.org:3128` is expected"));
        }
    }
    Ok(())
}

/// The folder of cached data; `PKGRES_CACHE` names it.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    folder("PKGRES_CACHE", "XDG_CACHE_HOME", ".cache")
}

/// The folder of the last known state of each registry; `PKGRES_STATE` names it. It is not part of the cache:
/// deleting it gives up trust on first use.
pub(crate) fn state_folder() -> Option<PathBuf> {
    folder("PKGRES_STATE", "XDG_STATE_HOME", ".local/state")
}

/// The file with the tokens of registries; `PKGRES_CREDENTIALS` names its folder.
pub(crate) fn token_file() -> Option<PathBuf> {
    let folder = folder("PKGRES_CREDENTIALS", "XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("credentials.json"))
}

/// The default settings file of the user.
pub(crate) fn settings_file() -> Option<PathBuf> {
    Some(xdg_folder("XDG_CONFIG_HOME", ".config")?.join("config.toml"))
}

/// The folder that a variable names, or else the default one.
fn folder(variable_name: &str, xdg: &str, in_home: &str) -> Option<PathBuf> {
    match variable(variable_name) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => xdg_folder(xdg, in_home),
    }
}

/// `pkgres` in an XDG folder, or in the default of that in the home folder.
fn xdg_folder(xdg: &str, in_home: &str) -> Option<PathBuf> {
    // A relative folder would be a different one in each working directory.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let folder = absolute(xdg).or_else(|| Some(absolute("HOME")?.join(in_home)));
    folder.map(|folder| folder.join("pkgres"))
}

/// The variable with the token of a registry.
fn token_variable(name: &RegistryName) -> String {
    variable_of(TOKEN_VARIABLE, name)
}

/// The variable of a registry: a prefix and the name in upper case, with `_` for `.` and `-`.
fn variable_of(prefix: &str, name: &RegistryName) -> String {
    let name = name.as_str().to_ascii_uppercase();
    let name = name.replace(['.', '-'], "_");
    format!("{prefix}{name}")
}

/// Fails if a variable that is set is that of several registries: what is in it is for one of them, and would be sent to
/// the others. `names` are those of registries on the network.
pub(crate) fn reject_shared_variables<'names>(
    names: impl Iterator<Item = &'names RegistryName>,
) -> Result<(), Diagnostic> {
    let mut owners: BTreeMap<String, &RegistryName> = BTreeMap::new();
    for name in names {
        for prefix in [TOKEN_VARIABLE, AUTH_URL_VARIABLE, CLIENT_ID_VARIABLE] {
            let shared = variable_of(prefix, name);
            if variable(&shared).is_none() {
                continue;
            }
            if let Some(other) = owners.insert(shared.clone(), name)
                && other != name
            {
                let message = format!(
                    "{shared} is the variable of two registries, `{other}` and `{name}`, and would be used for both"
                );
                return Err(Diagnostic::error(Code::Usage, message).hint(
                    "rename one of them: `.`, `-` and `_` in their names are all `_` in the variable",
                ));
            }
        }
    }
    Ok(())
}

/// The hint for a rejected or missing token, instead of the `hint` of the registry client, which says how to log in. If
/// the token came from a variable, that would not help. `message` names the registry first, unless it has no name of its own.
pub(crate) fn token_hint(message: &str, hint: &str) -> Option<String> {
    let rest = message.strip_prefix("the registry ")?;
    // A registry without a name of its own is `default`.
    let named = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let name = named.map_or("default", |(name, _)| name);
    let name = token_variable(&RegistryName::parse(name).ok()?);
    let is_insufficient = !hint.starts_with("`pkgres login ");
    Some(match variable(&name) {
        None if is_insufficient => return None,
        Some(_) if is_insufficient => format!(
            "a token that permits this is necessary in {name}, which overrides the one that `pkgres login` stores"
        ),
        Some(_) => format!(
            "the rejected token is the one in {name}, which overrides the one that `pkgres login` stores"
        ),
        None => format!("{hint}; scripts set {name}"),
    })
}

/// The sources of the credentials of a registry.
pub(crate) fn credential_sources(name: &RegistryName) -> Result<CredentialSources, Diagnostic> {
    let text = |name: &str| {
        let invalid = |_| Diagnostic::error(Code::Usage, format!("{name} is not UTF-8"));
        let text = |value: OsString| value.into_string().map_err(invalid);
        variable(name).map(text).transpose()
    };
    let helper = text(HELPER_VARIABLE)?;
    let mut sources = CredentialSources::default();
    sources.token = text(&token_variable(name))?.map(Secret::new);
    if let Some(url) = text(&variable_of(AUTH_URL_VARIABLE, name))? {
        let client_id = text(&variable_of(CLIENT_ID_VARIABLE, name))?;
        sources.exchange = Some(TokenExchange {
            url,
            client_id: client_id.unwrap_or_else(|| DEFAULT_CLIENT_ID.to_owned()),
        });
    }
    sources.token_file = token_file();
    sources.helper = helper.map(|line| line.split_whitespace().map(str::to_owned).collect());
    sources.netrc = variable("NETRC").map(PathBuf::from).or_else(|| {
        let home = variable("HOME").map(PathBuf::from)?;
        Some(home.join(".netrc"))
    });
    Ok(sources)
}
