//! Versions that would mend a conflict, in registries that are not looked at for their package.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, PackageName, RegistryName, Spec, Version};
use pkgres_resolver::{Conflict, Hint, ReasonKind};

use super::RegistrySet;
use crate::registry::RegistryError;

impl RegistrySet {
    /// A version that would do, in a registry that goes after the one which its package comes from: the first that
    /// there is. Each registry is asked once.
    pub(super) fn what_is_shadowed(
        &self,
        conflict: &Conflict,
    ) -> Result<Option<Hint>, RegistryError> {
        let asked = asked(conflict);
        let mut sources: BTreeMap<&PackageName, &RegistryName> = BTreeMap::new();
        for registry in &self.registries {
            let registry = registry.as_ref();
            let names = asked.keys().filter(|name| self.may_have(registry, name));
            let names: Vec<PackageName> = names.map(|name| (*name).clone()).collect();
            let answers = registry.records(&names)?;
            for ((package, asked), records) in (asked.iter())
                .filter(|(name, _)| self.may_have(registry, name))
                .zip(answers)
            {
                let Some(records) = records else {
                    continue;
                };
                let Some(first) = sources.get(package) else {
                    sources.insert(package, registry.name());
                    continue;
                };
                let would_do = |record: &&IndexRecord| {
                    let matches =
                        |ways: &Vec<Way<'_>>| ways.iter().any(|way| way.matches(&record.version));
                    !record.yanked && asked.values().all(matches)
                };
                let newest = records.iter().filter(would_do);
                if let Some(newest) = newest.max_by_key(|record| &record.version) {
                    return Ok(Some(Hint::packages(format!(
                        "the registry {} has {package} {}, which is not looked at: {first} has the package, too, and goes first",
                        registry.name(),
                        newest.version,
                    ))));
                }
            }
        }
        Ok(None)
    }
}

/// What is asked of a package, by who asks it: each in one of several ways.
type Asked<'conflict> = BTreeMap<&'conflict str, Vec<Way<'conflict>>>;

/// Which versions someone asks for.
enum Way<'conflict> {
    Matching(Spec),
    Exactly(&'conflict [Version]),
}

impl Way<'_> {
    fn matches(&self, version: &Version) -> bool {
        match self {
            Self::Matching(spec) => spec.matches(version),
            Self::Exactly(versions) => versions.contains(version),
        }
    }
}

/// What those reasons ask of packages that clash.
fn asked(conflict: &Conflict) -> BTreeMap<&PackageName, Asked<'_>> {
    let mut asked: BTreeMap<&PackageName, Asked<'_>> = BTreeMap::new();
    for reason in conflict.reasons.iter().filter(|reason| reason.clashes) {
        let (package, by, way) = match &reason.kind {
            ReasonKind::Requires {
                package,
                spec,
                overridden_by,
                ..
            } => {
                let Ok(spec) = Spec::parse(overridden_by.as_ref().unwrap_or(spec)) else {
                    continue;
                };
                (package, reason.owner_name(), Way::Matching(spec))
            }
            ReasonKind::Wanted { .. } => {
                let Some(package) = &reason.owner else {
                    continue;
                };
                (package, "", Way::Exactly(&reason.versions))
            }
            _ => continue,
        };
        let by_package = asked.entry(package).or_default();
        by_package.entry(by).or_default().push(way);
    }
    asked
}
