//! Locked versions that an update replaces by older ones.

use std::slice;

use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{Supply, UpdateReport};

use crate::yank_reasons::YankReasons;

/// Why locked versions are replaced by older ones, as far as the registries say so: a version was yanked, or is gone.
pub(super) fn why_older(report: &UpdateReport, registries: &RegistrySet) -> Vec<String> {
    let older = report.moved.iter().filter_map(|moved| {
        let from = moved.from.as_ref()?;
        let is_older = moved.to.as_ref().is_some_and(|to| to < from);
        is_older.then_some((&moved.package, from))
    });
    let older: Vec<_> = older.collect();
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
