//! Locked versions that an update replaces by older ones.

use std::slice;

use pkgres_registry_client::RegistrySet;
use pkgres_resolver::Supply;

use crate::update_effects::Replacement;
use crate::yank_reasons::YankReasons;

/// Why locked versions are replaced by older ones, as far as the registries say so: a version was yanked, or is gone.
pub(super) fn why_older(replacements: &[Replacement], registries: &RegistrySet) -> Vec<String> {
    let older = replacements.iter().filter(|it| it.to < it.from);
    let older: Vec<_> = older.map(|it| (&it.package, &it.from)).collect();
    let reasons = YankReasons::find(older.iter().copied(), registries);
    let lines = older.into_iter().filter_map(|(name, version)| {
        let mut supplies = registries.supply(slice::from_ref(name)).ok()?;
        let Supply::Releases { records, .. } = supplies.pop()? else {
            return None;
        };
        match records.iter().find(|record| record.version == *version) {
            None => Some(format!("{name} {version} is no longer in any registry")),
            Some(record) if record.yanked => Some(format!(
                "{name} {version} was yanked{}",
                reasons.in_parentheses(name, version)
            )),
            Some(_) => None,
        }
    });
    lines.collect()
}
