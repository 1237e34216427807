//! Locked versions that an update replaces by older ones.

use std::collections::BTreeSet;

use pkgres_manifest::{Lockfile, PackageName, Release};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::Supply;

use crate::update_effects::Replacement;
use crate::yank_reasons::YankReasons;

/// Why versions of a lockfile are replaced by older ones, as far as the registries that they were locked from say so: a
/// version was yanked, or is gone.
pub(super) fn why_older(
    replacements: &[Replacement],
    before: &Lockfile,
    registries: &RegistrySet,
) -> Vec<String> {
    let older = replacements.iter().filter(|it| it.to < it.from);
    let older: BTreeSet<Release> = older
        .map(|it| Release::new(it.package.clone(), it.from.clone()))
        .collect();
    let names: BTreeSet<&PackageName> = older.iter().map(|it| &it.name).collect();
    let names: Vec<PackageName> = names.into_iter().cloned().collect();
    let Ok(supplies) = registries.supply(&names) else {
        return Vec::new();
    };
    let releases = older.iter().map(|it| (&it.name, &it.version));
    let reasons = YankReasons::find(releases, registries);
    let lines = older.iter().filter_map(|release| {
        let at = names.binary_search(&release.name).ok()?;
        let Supply::Releases { source, records } = supplies.get(at)? else {
            return None;
        };
        // Another registry does not know what became of it.
        if before.packages.get(release)?.source != *source {
            return None;
        }
        let mut records = records.iter();
        match records.find(|record| record.version == release.version) {
            None => Some(format!("{release} is no longer in the registry")),
            Some(record) if record.yanked => {
                let reason = reasons.in_parentheses(&release.name, &release.version);
                Some(format!("{release} was yanked{reason}"))
            }
            Some(_) => None,
        }
    });
    lines.collect()
}
