//! Names of registries in messages, and what users can do if one is missing.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::http::TokenFile;
use pkgres_registry_client::{HttpRegistry, Registry as _, RegistryLocation, titled_at};

use super::ConfiguredRegistry;
use crate::environment::token_file;
use crate::invocation::Invocation;

/// How a registry on the network is named.
const NETWORK_HINT: &str = "`--registry https://ADDRESS` names one for this run";

/// The command that configures the registry of a project, without the address.
pub(super) const CONFIGURE: &str = "config set --project registries";

/// How a registry is configured for good. `configure` is the command without the address.
pub(super) fn configure_hint(configure: &str) -> String {
    format!("`{configure} https://ADDRESS` sets the one of this project")
}

/// How a registry is started.
const SERVE_HINT: &str = "`pkgres serve --data registry` starts a registry on this machine; its address is `http://127.0.0.1:8642`";

/// A registry on the network as the target of a command: its address, with the name that somebody gave it.
pub(crate) fn shown_target(registry: &HttpRegistry) -> String {
    let (name, address) = (registry.name(), registry.address());
    if name.is_default() {
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

/// Whether there is only the registry that is used if none is configured.
pub(crate) fn is_unconfigured(registries: &[ConfiguredRegistry]) -> bool {
    registries.iter().all(|registry| registry.is_implied)
}

/// The hint for a package that is not found because no registry is configured.
pub(crate) fn unconfigured_hint(invocation: &Invocation) -> String {
    let configure = invocation.command_in_project(CONFIGURE);
    format!("no registry is configured: {}", configure_hint(&configure))
}

/// The error for a command that needs a registry on the network where none is `wanted`, or none has the wanted name.
pub(super) fn without_remote(wanted: Option<&str>, configure: &str) -> Diagnostic {
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
            format!("`{configure} {address}` makes it the one of this project"),
        ),
        None => (NETWORK_HINT.to_owned(), configure_hint(configure)),
    };
    let finding = Diagnostic::error(Code::Usage, "no registry on the network is configured");
    let finding = finding.hint(first).hint(second);
    match logged_in() {
        Some(_) => finding,
        None => finding.hint(SERVE_HINT),
    }
}

/// The address of the registry that the user has a token for, if there is only one.
fn logged_in() -> Option<String> {
    let tokens = TokenFile::read(&token_file()?).ok()?;
    let mut addresses = tokens.addresses();
    let only = addresses.next()?.to_owned();
    addresses.next().is_none().then_some(only)
}
