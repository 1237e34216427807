//! The options for registries on the network: limits, certificates and credentials.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::HttpOptions;
use pkgres_registry_client::http::NetworkLimits;
use pkgres_settings::NetworkLimit;

use super::{ConfiguredRegistry, RegistryOptions};
use crate::environment::{credential_sources, require_proxies, state_folder};
use crate::failure::Result;
use crate::settings::Settings;

/// The largest file of CA certificates, in bytes.
const MAX_CERTIFICATE_BYTES: u64 = 4 << 20;

/// The most threads that read from registries; more do not make it faster.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

/// The options about registries on the network.
#[derive(Debug, Clone, Default)]
pub(super) struct NetworkOptions {
    pub(super) offline: bool,
    /// How to run without `offline`.
    pub(super) online_run: String,
    pub(super) allow_http: bool,
    /// The files of CA certificates that `--ca-file` names.
    pub(super) ca_files: Vec<PathBuf>,
    /// Whether `no-state` is set.
    pub(super) without_state: bool,
    pub(super) limits: NetworkLimits,
}

impl RegistryOptions {
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
        for (setting, limit) in &registry.limits {
            set_limit(&mut options.limits, *setting, *limit);
        }
        options.offline = self.network.offline;
        options.online_run.clone_from(&self.network.online_run);
        self.cache_hint().clone_into(&mut options.cache_hint);
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

/// The limits of what a registry may cost a run.
pub(super) fn network_limits(settings: &Settings) -> NetworkLimits {
    let mut limits = NetworkLimits::default();
    for setting in NetworkLimit::ALL {
        if let Some(limit) = settings.number(setting.key()) {
            set_limit(&mut limits, setting, limit);
        }
    }
    limits
}

/// Sets the limit of a setting. 0 is no limit, or any rate.
fn set_limit(limits: &mut NetworkLimits, setting: NetworkLimit, limit: u64) {
    let or_none = if limit == 0 { u64::MAX } else { limit };
    match setting {
        NetworkLimit::MaxDownload => limits.bytes = or_none,
        NetworkLimit::MaxPackages => {
            limits.packages = usize::try_from(or_none).unwrap_or(usize::MAX);
        }
        NetworkLimit::MinRate => limits.rate = limit,
        NetworkLimit::Timeout => limits.answer = Duration::from_secs(or_none),
    }
}

/// Rejects a file without certificates, such as a private key: it would be trusted for nothing.
fn require_certificate(path: &Path, bytes: &[u8]) -> Result<()> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";

    if bytes.windows(BEGIN.len()).any(|part| part == BEGIN) {
        return Ok(());
    }
    let message = format!("{} has no certificate", Escaped::path(&path));
    let hint = "the certificate of the authority is expected, in PEM format: `-----BEGIN CERTIFICATE-----`";
    Err(Diagnostic::error(Code::Usage, message).hint(hint).into())
}
