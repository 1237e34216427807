//! Checking a lockfile against registries.

use pkgres_resolver::{LockCheck, LockReport};

use crate::registry::RegistryError;
use crate::set::RegistrySet;

/// Lets a check run, giving it what it needs.
pub fn check_lock(
    mut check: LockCheck,
    registries: &RegistrySet,
) -> Result<LockReport, RegistryError> {
    for (source, index) in registries.compiled()? {
        check.attach(source, index);
    }
    let names = check.needs();
    let supplies = registries.supply(&names)?;
    for (name, supply) in names.iter().zip(supplies) {
        check.provide(name, supply);
    }
    Ok(check.report())
}
