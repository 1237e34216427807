//! The registries of a run: their configuration and network options, and opening them.
//!
//! `--registry` is validated once, when the context is built. Otherwise, registries are looked up for each package:
//! those that `PKGRES_REGISTRY` names or, if it is not set, the nearest `pkgres.toml`; if there are none, the package's
//! sibling folders are the registry.

mod open;

pub(crate) use open::{OVERRIDE_PREFIX, named_host};

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Limits, PackageName, did_you_mean, most_similar};
use pkgres_registry_client::http::{NetworkLimits, TokenFile};
use pkgres_registry_client::protocol::PublicKey;
use pkgres_registry_client::{
    Address, HttpOptions, HttpRegistry, LocationError, Namespace, NetworkActivity, Registry as _,
    RegistryLocation, titled_at,
};
use pkgres_settings::{Overrides, Registries, RegistryTable, SettingsFile};

use crate::args::{NetworkArgs, RegistryArgs};
use crate::current_folder::from_current_folder;
use crate::environment::{
    cache_folder, credential_sources, reject_shared_variables, require_proxies, state_folder,
    token_file, variable,
};
use crate::failure::{Failure, Result};
use crate::invocation::Invocation;
use crate::settings::{Origin, Settings, nearest_settings};
use crate::workspace;

/// The variable that names registries, separated by commas.
const REGISTRY_VARIABLE: &str = "PKGRES_REGISTRY";

/// The largest file of CA certificates, in bytes.
const MAX_CERTIFICATE_BYTES: u64 = 4 << 20;

/// The most threads that read from registries; more do not make it faster.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

/// A registry on the network as the target of a command: its address, with the name that somebody gave it.
pub(crate) fn shown_target(registry: &HttpRegistry) -> String {
    let (name, address) = (registry.name(), registry.address());
    if name.is_unnamed() {
        address.to_string()
    } else {
        format!("{name} ({address})")
    }
}

/// A registry in the middle of a message.
pub(crate) fn title_of(location: &RegistryLocation) -> String {
    match location.address() {
        Some(address) => titled_at(&location.name, address),
        None => format!("the registry `{}`", location.name),
    }
}

/// The address of the registry that the user has a token for, if there is only one.
fn logged_in() -> Option<String> {
    let tokens = TokenFile::read(&token_file()?).ok()?;
    let mut addresses = tokens.addresses();
    let only = addresses.next()?.to_owned();
    addresses.next().is_none().then_some(only)
}

/// The error for a command that needs a registry on the network where none is `wanted`, or none has the wanted name.
fn without_remote(wanted: Option<&str>) -> Diagnostic {
    if let Some(name) = wanted {
        let shown = Escaped::shortened(name);
        let message = format!("there is no registry `{shown}` on the network in the settings");
        let finding = Diagnostic::error(Code::Usage, message);
        // A host with a port.
        let is_address = name.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.trim_end_matches('/').parse::<u16>().is_ok()
        });
        return finding.hint(if is_address {
            format!("an address begins with its protocol: `http://{shown}` or `https://{shown}`")
        } else {
            "use its address, such as `https://ADDRESS`, or a name from PKGRES_REGISTRY or `registries` in pkgres.toml"
                .to_owned()
        });
    }
    let (first, second) = match logged_in() {
        Some(address) => (
            format!("`--registry {address}` names the one that you are logged in to"),
            format!(
                "`pkgres config set --project registries {address}` makes it the one of this project"
            ),
        ),
        None => (NETWORK_HINT.to_owned(), CONFIGURE_HINT.to_owned()),
    };
    let finding = Diagnostic::error(Code::Usage, "no registry on the network is configured");
    let finding = finding.hint(first).hint(second);
    match logged_in() {
        Some(_) => finding,
        None => finding.hint(SERVE_HINT),
    }
}

/// How a registry is started.
const SERVE_HINT: &str = "`pkgres serve --data registry` starts a registry on this machine; its address is `http://127.0.0.1:8642`";

/// How a registry is configured for good.
pub(crate) const CONFIGURE_HINT: &str =
    "`pkgres config set --project registries https://ADDRESS` sets the one of this project";

/// Whether there is only the registry that is used if none is configured.
pub(crate) fn is_unconfigured(registries: &[ConfiguredRegistry]) -> bool {
    registries.iter().all(|registry| registry.is_implied)
}

/// The hint for a package that is not found because no registry is configured.
pub(crate) fn unconfigured_hint(invocation: &Invocation) -> String {
    let command = "config set --project registries https://ADDRESS";
    let command = invocation.command_for_none(command);
    format!("no registry is configured: `{command}` sets the one of this project")
}

/// How a registry on the network is named.
const NETWORK_HINT: &str = "`--registry https://ADDRESS` names one for this run";

/// A registry with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredRegistry {
    pub(crate) location: RegistryLocation,
    /// Namespaces whose packages come from this registry only.
    namespaces: Vec<Namespace>,
    /// The public key that signs the state of the registry.
    key: Option<PublicKey>,
    /// A file of CA certificates that are trusted for this registry.
    ca: Option<PathBuf>,
    /// The limits for this registry only, by the names of their settings.
    limits: Vec<(&'static str, u64)>,
    /// Whether no registry is configured, so that this one is used.
    is_implied: bool,
}

impl From<RegistryLocation> for ConfiguredRegistry {
    fn from(location: RegistryLocation) -> Self {
        Self {
            location,
            namespaces: Vec::new(),
            key: None,
            ca: None,
            limits: Vec::new(),
            is_implied: false,
        }
    }
}

/// A registry on the network, and its address.
pub(crate) struct RemoteRegistry {
    pub(crate) registry: ConfiguredRegistry,
    pub(crate) address: Address,
}

impl RemoteRegistry {
    /// `None` if the registry is not on the network.
    fn new(registry: ConfiguredRegistry) -> Option<Self> {
        let address = registry.location.address()?.clone();
        Some(Self { registry, address })
    }
}

/// The options about registries, validated.
#[derive(Debug, Default)]
pub(crate) struct RegistryOptions {
    /// The registries that `--registry` names; if there are none, other sources count.
    explicit: Vec<ConfiguredRegistry>,
    /// The settings file of the project, which can name registries.
    project_settings: SettingsFile,
    /// The settings file of the user, which can as well.
    user_settings: SettingsFile,
    /// The files of releases that the host provides.
    provided_files: Vec<PathBuf>,
    /// The overrides of the project.
    overrides: Overrides,
    /// The folder of cached data, unless `--no-cache` is set.
    cache_folder: Option<PathBuf>,
    network: NetworkOptions,
    /// The requests of this run that have no answer yet.
    activity: NetworkActivity,
}

/// The options about registries on the network.
#[derive(Debug, Default)]
struct NetworkOptions {
    offline: bool,
    allow_http: bool,
    /// The files of CA certificates that `--ca-file` names.
    ca_files: Vec<PathBuf>,
    /// Whether `no-state` is set.
    without_state: bool,
    limits: NetworkLimits,
}

impl RegistryOptions {
    /// Validates the arguments of a command. Settings provide missing values.
    pub(crate) fn new(
        args: Option<&RegistryArgs>,
        network: Option<&NetworkArgs>,
        settings: &Settings,
    ) -> Result<Self> {
        let mut options = Self {
            project_settings: settings.project.clone(),
            user_settings: settings.user.clone(),
            cache_folder: configured_cache_folder(settings),
            ..Self::default()
        };
        if let Some(args) = args {
            options.explicit = parse(&args.registries, Path::new(""), "--registry")?;
            options.provided_files = match args.provided.as_slice() {
                [] => settings.project.provided_files()?,
                files => files.to_vec(),
            };
            options.overrides = Overrides::of(&settings.project)?;
            options.cache_folder = options.cache_folder.filter(|_| !args.no_cache);
        }
        if let Some(args) = network.or(args.map(|args| &args.network)) {
            options.network = NetworkOptions {
                offline: args.offline,
                allow_http: args.allow_http,
                ca_files: args.ca_files.clone(),
                without_state: settings.is_set("no-state"),
                limits: network_limits(settings),
            };
        }
        Ok(options)
    }

    /// Those of some registries that are not asked, because they are on the network and `--offline` is set.
    pub(crate) fn skipped_offline(&self, registries: &[ConfiguredRegistry]) -> Vec<String> {
        let locations = registries.iter().map(|registry| &registry.location);
        locations
            .filter(|location| self.network.offline && location.address().is_some())
            .map(title_of)
            .collect()
    }

    /// The registries for a package folder or archive, in order of preference.
    pub(crate) fn for_root(&self, root: Option<&Path>) -> Result<Vec<ConfiguredRegistry>> {
        let registries = match root {
            Some(folder) => self.for_folder(folder, Some(RegistryLocation::beside(folder)))?,
            None if !self.explicit.is_empty() => Some(self.explicit.clone()),
            None => self.configured(None)?,
        };
        registries.ok_or_else(|| {
            Diagnostic::error(Code::Usage, "no registry is configured")
                .hint("`--registry https://ADDRESS` or `--registry dir:FOLDER` names one for this run")
                .hint(CONFIGURE_HINT)
                .into()
        })
    }

    /// The registries for a root at a path, in order of preference; the default one, if any, if no others are configured.
    pub(crate) fn for_folder(
        &self,
        root: &Path,
        default: Option<RegistryLocation>,
    ) -> Result<Option<Vec<ConfiguredRegistry>>> {
        if !self.explicit.is_empty() {
            return Ok(Some(self.explicit.clone()));
        }
        let configured = self.configured(Some(root))?;
        Ok(configured.or_else(|| {
            let implied = ConfiguredRegistry {
                is_implied: true,
                ..default?.into()
            };
            Some(vec![implied])
        }))
    }

    /// The registries that the environment or a settings file names, if any: that of the folder of `root`, or else that of
    /// the project of the run.
    fn configured(&self, root: Option<&Path>) -> Result<Option<Vec<ConfiguredRegistry>>> {
        if let Some(value) = variable(REGISTRY_VARIABLE) {
            let value = value
                .into_string()
                .map_err(|_| Failure::usage(format!("{REGISTRY_VARIABLE} is not UTF-8")))?;
            let texts: Vec<String> = value
                .split(',')
                .map(|text| text.trim().to_owned())
                .collect();
            return parse(&texts, Path::new(""), REGISTRY_VARIABLE).map(Some);
        }
        let of_project = match root {
            // An archive lies where a package folder would.
            Some(archive) if archive.is_file() => of_settings(&nearest_settings(
                archive.parent().unwrap_or(Path::new("")),
            )?),
            Some(folder) => of_settings(&nearest_settings(folder)?),
            None => of_settings(&self.project_settings),
        };
        match of_project? {
            None => of_settings(&self.user_settings),
            registries => Ok(registries),
        }
    }

    /// The registry on the network with a name or an address; by default the first one.
    pub(crate) fn remote(&self, wanted: Option<&str>) -> Result<RemoteRegistry> {
        if let Some(text) = wanted.filter(|text| text.contains("://")) {
            let mut registries = parse(&[text.to_owned()], Path::new(""), "the registry")?;
            let shown = Escaped::shortened(text);
            return RemoteRegistry::new(registries.remove(0)).ok_or_else(|| {
                Failure::usage(format!(
                    "`{shown}` is not a registry on the network: `https://ADDRESS` is expected"
                ))
            });
        }
        let registries = self.configured(None)?.unwrap_or_default();
        reject_shared(&registries)?;
        let is_wanted = |registry: &ConfiguredRegistry| {
            wanted.is_none_or(|name| registry.location.name.as_str() == name)
        };
        let mut remotes = (registries.into_iter())
            .filter(is_wanted)
            .filter_map(RemoteRegistry::new);
        remotes.next().ok_or_else(|| without_remote(wanted).into())
    }

    /// The registry on the network that has, or would have, a package: the one with a name or an address; by default
    /// the one that the package is bound to, or else the first one.
    pub(crate) fn remote_for(
        &self,
        package: &PackageName,
        wanted: Option<&str>,
    ) -> Result<RemoteRegistry> {
        if wanted.is_some() {
            return self.remote(wanted);
        }
        let Some(bound) = self.bound(package)? else {
            return self.remote(None);
        };
        reject_shared(&self.configured(None)?.unwrap_or_default())?;
        let name = bound.location.name.clone();
        RemoteRegistry::new(bound).ok_or_else(|| {
            let message = format!(
                "`{package}` is bound to the registry `{name}`, which is not on the network"
            );
            Diagnostic::error(Code::Usage, message)
                .hint("`--registry NAME` or `--registry https://ADDRESS` names another one")
                .into()
        })
    }

    /// The registry that a package is bound to by the settings, because of its name.
    pub(crate) fn bound(&self, package: &PackageName) -> Result<Option<ConfiguredRegistry>> {
        let registries = self.configured(None)?.unwrap_or_default();
        let bindings = registries.iter().flat_map(|registry| {
            let namespaces = registry.namespaces.iter();
            namespaces.map(move |namespace| (namespace, registry))
        });
        let bound = Namespace::narrowest(bindings, package);
        Ok(bound.map(|(_, registry)| registry.clone()))
    }

    /// Opens a registry on the network.
    pub(crate) fn open_remote(&self, remote: RemoteRegistry) -> Result<HttpRegistry> {
        let RemoteRegistry { registry, address } = remote;
        if registry.location.is_galaxy() {
            let message = format!(
                "{} has the Galaxy API, which this command does not use",
                title_of(&registry.location)
            );
            return Err(Diagnostic::error(Code::Usage, message)
                .hint("name a registry `https://ADDRESS`; `ansible-galaxy collection publish` publishes to Galaxy servers")
                .into());
        }
        let options = self.http(&registry)?;
        let name = registry.location.name;
        let limits = Limits::default();
        Ok(HttpRegistry::new(name, address, &limits, options))
    }

    /// The folder of cached data, if there is one and it is used.
    pub(crate) fn cache_folder(&self) -> Option<&Path> {
        self.cache_folder.as_deref()
    }

    /// The requests of this run that have no answer yet.
    pub(crate) fn activity(&self) -> &NetworkActivity {
        &self.activity
    }

    /// The options for a registry on the network.
    pub(crate) fn http(&self, registry: &ConfiguredRegistry) -> Result<HttpOptions> {
        let mut options = HttpOptions::new(Timestamp::now());
        options.threads = std::thread::available_parallelism()
            .map_or(NonZeroUsize::MIN, |threads| threads.min(MAX_THREADS));
        // Certificates and credentials are not read for other registries.
        let Some(address) = registry.location.address() else {
            return Ok(options);
        };
        if !self.network.offline && !address.is_local() {
            require_proxies()?;
        }
        options.cache_folder.clone_from(&self.cache_folder);
        options.state_folder = state_folder().filter(|_| !self.network.without_state);
        options.limits = self.network.limits;
        for (key, limit) in &registry.limits {
            set_limit(&mut options.limits, key, *limit);
        }
        options.offline = self.network.offline;
        options.allow_plain_http = self.network.allow_http;
        options.system_proxy = true;
        options.activity = self.activity.clone();
        options.key = registry.key;
        for path in self.network.ca_files.iter().chain(&registry.ca) {
            let bytes = read_file(path, MAX_CERTIFICATE_BYTES, Follow::Links)?;
            require_certificate(path, &bytes)?;
            options.authorities.push(bytes);
        }
        options.credentials = credential_sources(&registry.location.name)?;
        Ok(options)
    }
}

/// Fails if registries on the network share a variable with a credential.
fn reject_shared(registries: &[ConfiguredRegistry]) -> Result<()> {
    let locations = registries.iter().map(|registry| &registry.location);
    let remote = locations.filter(|location| location.address().is_some());
    Ok(reject_shared_variables(
        remote.map(|location| &location.name),
    )?)
}

/// Rejects a file without certificates, such as a private key: it would be trusted for nothing.
fn require_certificate(path: &Path, bytes: &[u8]) -> Result<()> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";

    if bytes.windows(BEGIN.len()).any(|part| part == BEGIN) {
        return Ok(());
    }
    let shown = path.to_string_lossy();
    let message = format!("{} has no certificate", Escaped::new(&shown));
    let hint = "the certificate of the authority is expected, in PEM format: `-----BEGIN CERTIFICATE-----`";
    Err(Diagnostic::error(Code::Usage, message).hint(hint).into())
}

/// The limits of what a registry may cost a run.
fn network_limits(settings: &Settings) -> NetworkLimits {
    let mut limits = NetworkLimits::default();
    for key in [
        "max-download",
        "max-packages",
        "network-min-rate",
        "network-timeout",
    ] {
        if let Some(limit) = settings.number(key) {
            set_limit(&mut limits, key, limit);
        }
    }
    limits
}

/// Sets the limit of a setting. 0 is no limit, or any rate.
fn set_limit(limits: &mut NetworkLimits, key: &str, limit: u64) {
    let or_none = if limit == 0 { u64::MAX } else { limit };
    match key {
        "max-download" => limits.bytes = or_none,
        "max-packages" => limits.packages = usize::try_from(or_none).unwrap_or(usize::MAX),
        "network-min-rate" => limits.rate = limit,
        "network-timeout" => limits.answer = Duration::from_secs(or_none),
        _ => {}
    }
}

/// The folder of cached data. The settings file of a project cannot name it: write access to the folder
/// decides what is resolved.
fn configured_cache_folder(settings: &Settings) -> Option<PathBuf> {
    match settings.get("cache") {
        Some(cache) if matches!(cache.origin, Origin::File(_)) => {
            Some(PathBuf::from(cache.value.to_string()))
        }
        _ => cache_folder(),
    }
}

/// Whether lockfiles give the name to sources that are no registries: members of workspaces and overrides.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == workspace::REGISTRY_NAME || name.starts_with(OVERRIDE_PREFIX)
}

/// Parses registries as `--registry` takes them. `origin` begins the error message.
fn parse(texts: &[String], base: &Path, origin: &str) -> Result<Vec<ConfiguredRegistry>> {
    let locations =
        RegistryLocation::parse_all(texts.iter().map(String::as_str), base).map_err(|error| {
            let mut finding = Diagnostic::error(Code::Usage, format!("{origin}: {error}"));
            if let LocationError::Kind(text) = &error
                && let Some(meant) = probably_meant(text, base).filter(|meant| meant != text)
            {
                let meant = Escaped::shortened(&meant);
                finding = finding.hint(did_you_mean(meant));
            }
            Failure::from(finding)
        })?;
    let mut names = locations.iter().map(|location| location.name.as_str());
    if let Some(name) = names.find(|name| is_reserved(name)) {
        return Err(Failure::usage(format!(
            "{origin}: no registry can be called `{name}`: lockfiles call members of workspaces and overrides so"
        )));
    }
    Ok(locations
        .into_iter()
        .map(ConfiguredRegistry::from)
        .collect())
}

/// Guesses which registry an invalid location was meant to name: it may lack the kind of a path or the scheme of a URL, or
/// misspell the kind.
fn probably_meant(text: &str, base: &Path) -> Option<String> {
    let (name, text) = match text.split_once('=') {
        Some((name, text)) => (format!("{name}="), text),
        None => (String::new(), text),
    };
    if let Some(kind) = kind_of_path(text, base) {
        return Some(format!("{name}{kind}:{text}"));
    }
    let is_web = |text: &str| text.starts_with("https://") || text.starts_with("http://");
    if let Some((_, address)) = text.split_once(':').filter(|(_, rest)| is_web(rest)) {
        return Some(format!("{name}{address}"));
    }
    let Some((kind, rest)) = text.split_once(':') else {
        let host = text.split('/').next().unwrap_or_default();
        let is_host = host.split('.').count() > 2 && !host.split('.').any(str::is_empty);
        return is_host.then(|| format!("{name}https://{text}"));
    };
    if kind == "file" {
        let path = rest.trim_start_matches("//");
        let kind = kind_of_path(path, base)?;
        return Some(format!("{name}{kind}:{path}"));
    }
    let host = text.split(['/', ':']).next().unwrap_or_default();
    let port = rest.split('/').next().unwrap_or_default();
    if !port.is_empty() && port.parse::<u16>().is_ok() {
        let is_here = matches!(host, "localhost" | "127.0.0.1");
        let scheme = if is_here { "http" } else { "https" };
        return Some(format!("{name}{scheme}://{text}"));
    }
    let kind = if rest.starts_with("//") {
        "https"
    } else {
        most_similar(kind, ["dir", "index", "galaxy"])?
    };
    Some(format!("{name}{kind}:{rest}"))
}

/// The kind of registry that is at a path, if it exists.
fn kind_of_path(text: &str, base: &Path) -> Option<&'static str> {
    let path = base.join(text);
    if text.is_empty() {
        None
    } else if path.is_dir() {
        Some("dir")
    } else if path.is_file() {
        Some("index")
    } else {
        None
    }
}

/// Checks the texts of registries before they are written into a settings file.
pub(crate) fn check_registries(texts: &[String]) -> Result<()> {
    parse(texts, Path::new(""), "registries")?;
    Ok(())
}

/// The registries that a settings file names, if any.
fn of_settings(settings: &SettingsFile) -> Result<Option<Vec<ConfiguredRegistry>>> {
    let Some(registries) = &settings.registries else {
        return Ok(None);
    };
    let origin = Origin::File(settings.path.clone()).to_string();
    let folder = from_current_folder(&settings.folder, Path::new(""));
    let registries = match registries {
        Registries::Locations(texts) => parse(texts, &folder, &origin)?,
        Registries::Tables(tables) => of_tables(tables, &folder, &origin)?,
    };
    Ok(Some(registries))
}

/// The registries that have a table each.
fn of_tables(
    tables: &[(String, RegistryTable)],
    folder: &Path,
    origin: &str,
) -> Result<Vec<ConfiguredRegistry>> {
    let texts: Vec<String> = tables
        .iter()
        .map(|(name, table)| format!("{name}={}", table.location))
        .collect();
    let mut registries = parse(&texts, folder, origin)?;
    let mut bound: BTreeMap<&str, &str> = BTreeMap::new();
    for (registry, (name, table)) in registries.iter_mut().zip(tables) {
        let invalid = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("{origin}: registries.{name}: {error}"))
        };
        for text in &table.namespaces {
            let namespace = Namespace::parse(text).map_err(|error| invalid(&error))?;
            if let Some(other) = bound.insert(text, name) {
                return Err(invalid(&format_args!(
                    "`{text}` is bound to `{other}` already: a name is looked up in one registry"
                )));
            }
            registry.namespaces.push(namespace);
        }
        if let Some(key) = &table.key {
            registry.key = Some(PublicKey::parse(key).map_err(|error| invalid(&error))?);
        }
        registry.ca = table.ca.as_ref().map(|path| folder.join(path));
        registry.limits = table.limits();
    }
    Ok(registries)
}
