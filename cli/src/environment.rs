//! The environment: variables, the folders of the user, and the credentials of registries.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pkgres_manifest::RegistryName;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::most_similar;
use pkgres_registry_client::RequestErrorKind;
use pkgres_registry_client::http::{CredentialSources, Secret, TokenExchange, why_not_proxy};
use pkgres_settings::{DECLARED, VARIABLES};

use crate::paths::inside_of;

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

/// The prefix of the variables of pkgres.
const PREFIX: &str = "PKGRES_";

/// The prefixes of the variables that end with the name of a registry.
const REGISTRY_VARIABLES: [&str; 3] = [TOKEN_VARIABLE, AUTH_URL_VARIABLE, CLIENT_ID_VARIABLE];

/// Warnings about the variables that are set and look like misspelt ones of pkgres. Other programs, such as actions of CI
/// systems, use the prefix as well: a name that is similar to none is theirs.
pub(crate) fn misspelt_variables() -> Vec<Diagnostic> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort_unstable();
    let warning = |name: String| {
        let shown = Escaped::shortened(&name);
        let message = format!("{shown} is set, but pkgres has no such variable");
        let warning = Diagnostic::warning(Code::Usage, message);
        if let Some(key) = setting_without_variable(&name) {
            return Some(warning.hint(format!(
                "`{key}` can only be set in pkgres.toml or by flags"
            )));
        }
        let meant = meant_variable(&name)?;
        // The end of this one is no name, but the word for names.
        Some(if meant == format!("{name}_NAME") {
            warning.hint(format!(
                "the name of the registry follows: {shown}_ACME for `acme`, {shown}_DEFAULT if it has none"
            ))
        } else {
            warning.hint(format!("did you mean {}?", Escaped::new(&meant)))
        })
    };
    names.into_iter().filter_map(warning).collect()
}

/// The setting with the name of a variable, if it has no variable.
fn setting_without_variable(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix(PREFIX)?;
    let mut settings = DECLARED.iter().filter(|it| it.variable.is_none());
    let setting = settings.find(|it| it.key.replace('-', "_").eq_ignore_ascii_case(rest));
    setting.map(|setting| setting.key)
}

/// The variable that is probably meant by one that does not exist.
fn meant_variable(name: &str) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?;
    let settings = DECLARED.iter().filter_map(|setting| setting.variable);
    let others = VARIABLES.iter().flat_map(|(names, _)| names.split(", "));
    let is_of_registries = |name: &&str| {
        let prefix = name.strip_suffix("NAME");
        prefix.is_some_and(|prefix| REGISTRY_VARIABLES.contains(&prefix))
    };
    let known: Vec<&str> = settings
        .chain(others.filter(|name| !is_of_registries(name)))
        .filter_map(|known| known.strip_prefix(PREFIX))
        .collect();
    let is_of_registry = |prefix: &&str| name.len() > prefix.len() && name.starts_with(*prefix);
    if known.contains(&rest) || REGISTRY_VARIABLES.iter().any(is_of_registry) {
        return None;
    }
    if let Some(similar) = most_similar(rest, known.iter().copied()) {
        return Some(format!("{PREFIX}{similar}"));
    }
    REGISTRY_VARIABLES.iter().find_map(|prefix| {
        let prefix = prefix.trim_end_matches('_');
        if name == prefix {
            return Some(format!("{prefix}_NAME"));
        }
        // As many words as the prefix has, and the name of the registry.
        let words = prefix.matches('_').count();
        let (end, _) = name.match_indices('_').nth(words)?;
        let (start, registry) = name.split_at(end);
        let is_similar = most_similar(&start[PREFIX.len()..], [&prefix[PREFIX.len()..]]).is_some();
        is_similar.then(|| format!("{prefix}{registry}"))
    })
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
        for prefix in REGISTRY_VARIABLES {
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

/// The current folder from the top of the repository of a GitHub workflow, if this is one.
pub(crate) fn folder_in_repository() -> Option<PathBuf> {
    inside_of(Path::new(&variable("GITHUB_WORKSPACE")?))
}

/// The hint for a rejected or missing token, instead of the `hint` of the registry client, which says how to log in. If
/// the token came from a variable, that would not help.
pub(crate) fn token_hint(
    registry: &RegistryName,
    kind: RequestErrorKind,
    hint: &str,
) -> Option<String> {
    let name = token_variable(registry);
    let is_set = variable(&name).is_some();
    match kind {
        RequestErrorKind::Insufficient if is_set => Some(format!(
            "a token that permits this is necessary in {name}, which overrides the one that `pkgres login` stores"
        )),
        RequestErrorKind::Unauthorized if is_set => Some(format!(
            "the rejected token is the one in {name}, which overrides the one that `pkgres login` stores"
        )),
        RequestErrorKind::Unauthorized => Some(format!("{hint}; scripts set {name}")),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_variables_have_the_name_that_is_meant() {
        let check = |name: &str, meant: Option<&str>| {
            let found = meant_variable(&format!("{PREFIX}{name}"));
            let meant = meant.map(|meant| format!("{PREFIX}{meant}"));
            assert_eq!(found, meant, "{name}");
        };
        check("LOKED", Some("LOCKED"));
        check("REGISTRIES", Some("REGISTRY"));
        check("NOCACHE", Some("NO_CACHE"));
        check("locked", Some("LOCKED"));
        check("TOKN_MAIN", Some("TOKEN_MAIN"));
        check("AUTH_ULR_HUB_2", Some("AUTH_URL_HUB_2"));
        check("TOKEN", Some("TOKEN_NAME"));
        for known in ["LOCKED", "DATABASE", "TOKEN_MAIN"] {
            check(known, None);
        }
        // Those of other programs.
        for other in ["VERSION", "SHARED", "REQUIRE_SERVICES", ""] {
            check(other, None);
        }
        assert_eq!(meant_variable("LOCKED"), None);
        for (name, setting) in [
            ("PROVIDE", Some("provide")),
            ("REQUIRED_VERSION", Some("required-version")),
            ("LOCKED", None),
        ] {
            let variable = format!("{PREFIX}{name}");
            assert_eq!(setting_without_variable(&variable), setting, "{name}");
            assert_eq!(setting_without_variable(name), None, "{name}");
        }
    }
}
