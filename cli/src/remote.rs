//! Which registry on the network a command is about.

use std::path::Path;

use pkgres_manifest::Limits;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::{Address, HttpRegistry};

use crate::args::TargetArgs;
use crate::failure::{Failure, Result};
use crate::network::options;
use crate::place::Place;
use crate::registries;

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
