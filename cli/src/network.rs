//! How registries on the network are asked: what the environment and the user's files say.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Limits, RegistryName};
use pkgres_registry_client::http::{CredentialSources, Secret};
use pkgres_registry_client::{Address, HttpOptions, HttpRegistry};

use crate::args::{NetworkArgs, TargetArgs};
use crate::failure::{Failure, Result};
use crate::registries::{self, Place};

/// The variable that names the folder of what was seen of registries. It is not that of the cache:
/// what is in it must not be removed lightly.
const STATE_VARIABLE: &str = "PKGRES_STATE";

/// The variable that names the folder of the file of tokens.
const CREDENTIALS_VARIABLE: &str = "PKGRES_CREDENTIALS";

/// The file of tokens.
const TOKEN_FILE: &str = "credentials.json";

/// What the variable with the token of a registry begins with.
const TOKEN_VARIABLE: &str = "PKGRES_TOKEN_";

/// The variable with a program that gives tokens, and its arguments, with spaces in between.
const HELPER_VARIABLE: &str = "PKGRES_CREDENTIAL_HELPER";

/// The largest file of certificates, in bytes.
const MAX_CERTIFICATE_BYTES: u64 = 4 << 20;

/// How many threads read what registries have at most: more do not help.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

/// A variable of the environment that has a value.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder that a variable names; or the one of pkgres in a folder of the user, which another
/// variable names, or else lies in the home folder.
pub(crate) fn folder(own: &str, of_user: &str, in_home: &str) -> Option<PathBuf> {
    if let Some(folder) = variable(own) {
        return Some(PathBuf::from(folder));
    }
    // A relative folder would be another one wherever the command is run.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let folder = absolute(of_user).or_else(|| Some(absolute("HOME")?.join(in_home)));
    folder.map(|folder| folder.join("pkgres"))
}

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

/// How a registry is asked.
pub(crate) fn options(
    args: &NetworkArgs,
    place: &Place,
    cache_folder: Option<PathBuf>,
) -> Result<HttpOptions> {
    let mut options = HttpOptions::new(jiff::Timestamp::now());
    options.threads = std::thread::available_parallelism()
        .map_or(NonZeroUsize::MIN, |threads| threads.min(MAX_THREADS));
    // What only matters on the network is not looked at for other registries.
    if place.location.address().is_none() {
        return Ok(options);
    }
    options.cache_folder = cache_folder;
    options.state_folder = folder(STATE_VARIABLE, "XDG_STATE_HOME", ".local/state");
    options.offline = args.offline;
    options.allow_plain_http = args.allow_http;
    options.system_proxy = true;
    options.key = place.key;
    for path in args.ca_files.iter().chain(&place.ca) {
        let bytes = read_file(path, MAX_CERTIFICATE_BYTES, Follow::Links)?;
        options.authorities.push(bytes);
    }
    let text = |name: &str| {
        variable(name)
            .map(|value| {
                let wrong = |_| Failure::usage(format!("{name} is not UTF-8"));
                value.into_string().map_err(wrong)
            })
            .transpose()
    };
    options.credentials = CredentialSources {
        token: text(&token_variable(&place.location.name))?.map(Secret::new),
        token_file: token_file(),
        helper: text(HELPER_VARIABLE)?.map(|line| words(&line)),
        netrc: variable("NETRC").map(PathBuf::from).or_else(|| {
            let home = variable("HOME").map(PathBuf::from)?;
            Some(home.join(".netrc"))
        }),
    };
    Ok(options)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// A registry on the network, and its address.
pub(crate) struct Remote {
    pub(crate) place: Place,
    pub(crate) address: Address,
}

/// The registry that is meant, by its name or address, or the first on the network.
pub(crate) fn remote(registry: Option<&str>) -> Result<Remote> {
    let remote = |place: Place| {
        let address = place.location.address()?.clone();
        Some(Remote { place, address })
    };
    if let Some(text) = registry.filter(|text| text.contains("://")) {
        let mut places = registries::parse(&[text.to_owned()], Path::new(""), "the registry")?;
        let shown = Escaped::shortened(text);
        return remote(places.remove(0)).ok_or_else(|| {
            Failure::usage(format!(
                "`{shown}` is no registry on the network: `https://ADDRESS` is expected"
            ))
        });
    }
    let places = registries::configured(None)?.unwrap_or_default();
    let is_meant = |place: &Place| registry.is_none_or(|name| place.location.name.as_str() == name);
    let mut meant = places.into_iter().filter(is_meant).filter_map(remote);
    meant.next().ok_or_else(|| match registry {
        Some(name) => {
            let name = Escaped::shortened(name);
            let message = format!(
                "no registry on the network is called `{name}` in pkgres.toml or PKGRES_REGISTRY"
            );
            Diagnostic::error(Code::Usage, message)
                .hint("give its address, or a name that stands there")
                .into()
        }
        None => Failure::usage(
            "no registry on the network is given: `--registry https://ADDRESS` names one",
        ),
    })
}

/// Opens the registry that is meant.
pub(crate) fn target(args: &TargetArgs) -> Result<HttpRegistry> {
    let Remote { place, address } = remote(args.registry.as_deref())?;
    let options = options(&args.network, &place, registries::cache_folder(false))?;
    let name = place.location.name;
    Ok(HttpRegistry::new(
        name,
        address,
        &Limits::default(),
        options,
    ))
}
