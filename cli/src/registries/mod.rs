//! The registries of a run: their configuration and network options, and opening them.
//!
//! `--registry` is validated once, when the context is built. Otherwise, registries are looked up for each package:
//! those that `PKGRES_REGISTRY` names or, if it is not set, the nearest `pkgres.toml`; if there are none, the package's
//! sibling folders are the registry.

mod configured;
mod messages;
mod network;
mod open;
mod probably_meant;

pub(crate) use configured::{
    ConfiguredRegistry, are_several, check_registries, is_override, is_reserved,
};
pub(crate) use messages::{is_unconfigured, shown_target, title_of, unconfigured_hint};
pub(crate) use open::named_host;

use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{Limits, PackageName};
use pkgres_registry_client::{Address, HttpRegistry, Namespace, NetworkActivity, RegistryLocation};
use pkgres_settings::{Overrides, SettingsFile};

use self::configured::{of_settings, parse, with_bindings};
use self::messages::{CONFIGURE, configure_hint, without_remote};
use self::network::{NetworkOptions, network_limits};
use crate::args::{NetworkArgs, RegistryArgs};
use crate::environment::{cache_folder, reject_shared_variables, variable};
use crate::failure::{Failure, Result};
use crate::invocation::Invocation;
use crate::settings::{Origin, Settings, nearest_settings};

/// The variable that names registries, separated by commas.
const REGISTRY_VARIABLE: &str = "PKGRES_REGISTRY";

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
#[derive(Debug, Clone, Default)]
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
    /// Whether `--no-cache` is set.
    without_cache: bool,
    network: NetworkOptions,
    /// The requests of this run that have no answer yet.
    activity: NetworkActivity,
    /// The command that configures the registry of the project, without the address.
    configure: String,
}

impl RegistryOptions {
    /// Validates the arguments of a command. Settings provide missing values.
    pub(crate) fn new(
        args: Option<&RegistryArgs>,
        network: Option<&NetworkArgs>,
        settings: &Settings,
        invocation: &Invocation,
    ) -> Result<Self> {
        let mut options = Self {
            configure: invocation.command_in_project(CONFIGURE),
            project_settings: settings.project.clone(),
            user_settings: settings.user.clone(),
            cache_folder: configured_cache_folder(settings),
            ..Self::default()
        };
        if let Some(args) = args {
            options.explicit = options.explicit_registries(&args.registries)?;
            options.provided_files = match args.provided.as_slice() {
                [] => settings.project.provided_files()?,
                files => files.to_vec(),
            };
            options.overrides = Overrides::of(&settings.project)?;
            options.without_cache = args.no_cache;
            options.cache_folder = options.cache_folder.filter(|_| !args.no_cache);
        }
        if let Some(args) = network.or(args.map(|args| &args.network)) {
            options.network = NetworkOptions {
                offline: args.offline,
                online_run: settings.run_without("offline"),
                allow_http: args.allow_http,
                ca_files: args.ca_files.clone(),
                without_state: settings.is_set("no-state"),
                limits: network_limits(settings),
            };
        }
        Ok(options)
    }

    /// The registries that `--registry` names: by a location, or by the name that the settings give to one.
    fn explicit_registries(&self, texts: &[String]) -> Result<Vec<ConfiguredRegistry>> {
        // A location has a colon.
        let configured = if texts.iter().all(|text| text.contains(':')) {
            None
        } else {
            self.configured(None)?
        };
        let named = |text: &str| {
            let mut known = configured.iter().flatten();
            known.find(|registry| registry.location.name.as_str() == text)
        };
        let locations: Vec<String> = texts
            .iter()
            .filter(|text| named(text).is_none())
            .cloned()
            .collect();
        let located = parse(&locations, Path::new(""), "--registry");
        let located = located.map_err(|mut failure| {
            let known = configured.iter().flatten();
            let mut known: Vec<&str> = known.map(|it| it.location.name.as_str()).collect();
            known.sort_unstable();
            if !known.is_empty() {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let hint = format!("the settings have {}", sentence_list(&known, "and"));
                failure.findings[0].hints.push(hint);
            }
            failure
        });
        let mut located = located?.into_iter();
        let mut registries: Vec<ConfiguredRegistry> = Vec::with_capacity(texts.len());
        for text in texts {
            let registry = named(text).cloned().or_else(|| located.next());
            let registry = registry.expect("each location is one registry");
            let name = &registry.location.name;
            if registries.iter().any(|other| other.location.name == *name) {
                return Err(Failure::usage(format!(
                    "--registry: two registries are called `{name}`"
                )));
            }
            registries.push(registry);
        }
        Ok(registries)
    }

    /// The same options, with the releases that the host provides to the project of a package folder or archive.
    pub(crate) fn with_host_of(&self, package: &Path) -> Result<Self> {
        let mut options = self.clone();
        options.provided_files = settings_near(package)?.provided_files()?;
        Ok(options)
    }

    /// Whether registries on the network are not asked.
    pub(crate) fn is_offline(&self) -> bool {
        self.network.offline
    }

    /// The same options, without the packages that overrides take from folders: for what was released.
    pub(crate) fn without_overrides(&self) -> Self {
        let mut options = self.clone();
        options.overrides = Overrides::default();
        options
    }

    /// The same options, of a run that only uses what the cache has of registries on the network.
    pub(crate) fn offline(&self) -> Self {
        let mut options = self.clone();
        options.network.offline = true;
        options
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
            None if !self.explicit.is_empty() => Some(self.explicit_with_bindings(None)?),
            None => self.configured(None)?,
        };
        registries.ok_or_else(|| {
            Diagnostic::error(Code::Usage, "no registry is configured")
                .hint("`--registry https://ADDRESS` or `--registry dir:FOLDER` names one for this run")
                .hint(configure_hint(&self.configure))
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
            return Ok(Some(self.explicit_with_bindings(Some(root))?));
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

    /// The registries that `--registry` names, with the bindings of the settings.
    fn explicit_with_bindings(&self, root: Option<&Path>) -> Result<Vec<ConfiguredRegistry>> {
        let of_settings = self.in_settings(root)?.unwrap_or_default();
        with_bindings(self.explicit.clone(), &of_settings)
    }

    /// The registries that the environment or a settings file names, if any.
    fn configured(&self, root: Option<&Path>) -> Result<Option<Vec<ConfiguredRegistry>>> {
        if let Some(value) = variable(REGISTRY_VARIABLE) {
            let value = value
                .into_string()
                .map_err(|_| Failure::usage(format!("{REGISTRY_VARIABLE} is not UTF-8")))?;
            let texts: Vec<String> = value
                .split(',')
                .map(|text| text.trim().to_owned())
                .collect();
            let registries = parse(&texts, Path::new(""), REGISTRY_VARIABLE)?;
            let of_settings = self.in_settings(root)?.unwrap_or_default();
            return Ok(Some(with_bindings(registries, &of_settings)?));
        }
        self.in_settings(root)
    }

    /// The registries that a settings file names, if any: that of the folder of `root`, or else that of the project of
    /// the run.
    fn in_settings(&self, root: Option<&Path>) -> Result<Option<Vec<ConfiguredRegistry>>> {
        let of_project = match root {
            Some(root) => of_settings(&settings_near(root)?),
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
        (remotes.next()).ok_or_else(|| without_remote(wanted, &self.configure).into())
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
        let configured = self.configured(None)?.unwrap_or_default();
        // If the environment leaves the bound registry out, the caller reports the one that it has instead.
        let bound = (self.bound(package)?).filter(|bound| configured.contains(bound));
        let Some(bound) = bound else {
            return self.remote(None);
        };
        reject_shared(&configured)?;
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
        let mut registries = self.configured(None)?.unwrap_or_default();
        let left_out = registries.first().map(|one| one.bound_elsewhere.clone());
        let is_left_out = |registry: &ConfiguredRegistry| {
            let mut left_out = left_out.iter().flatten();
            left_out.any(|(_, name)| *name == registry.location.name)
        };
        let of_settings = self.in_settings(None)?.unwrap_or_default();
        registries.extend(of_settings.into_iter().filter(is_left_out));
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

    /// How a run gets a cache, if there is none: a hint.
    pub(crate) fn cache_hint(&self) -> &'static str {
        if self.without_cache {
            "set only one of `offline` and `no-cache`"
        } else {
            "set PKGRES_CACHE or HOME to a folder for the cache"
        }
    }

    /// The requests of this run that have no answer yet.
    pub(crate) fn activity(&self) -> &NetworkActivity {
        &self.activity
    }
}

/// The settings of the project of a package folder or archive.
fn settings_near(package: &Path) -> Result<SettingsFile> {
    // An archive lies where a package folder would.
    let folder = match package.parent() {
        Some(parent) if package.is_file() => parent,
        _ => package,
    };
    nearest_settings(folder)
}

/// Fails if registries on the network share a variable with a credential.
fn reject_shared(registries: &[ConfiguredRegistry]) -> Result<()> {
    let locations = registries.iter().map(|registry| &registry.location);
    let remote = locations.filter(|location| location.address().is_some());
    Ok(reject_shared_variables(
        remote.map(|location| &location.name),
    )?)
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
