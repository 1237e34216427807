//! Versions that would mend a conflict, in registries that are not looked at for their package.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, PackageName, Spec, Version};
use pkgres_resolver::{Conflict, Hint, ReasonKind};

use super::RegistrySet;
use crate::registry::RegistryError;

impl RegistrySet {
    /// The first package of which another registry has a version that would do, and which.
    pub(super) fn what_is_shadowed(&self, conflict: &Conflict) -> Result<Vec<Hint>, RegistryError> {
        for (package, asked) in asked(conflict) {
            if let Some(hint) = self.shadowed(package, &asked)? {
                return Ok(vec![hint]);
            }
        }
        Ok(Vec::new())
    }

    fn shadowed(
        &self,
        package: &PackageName,
        asked: &Asked<'_>,
    ) -> Result<Option<Hint>, RegistryError> {
        let would_do = |record: &&IndexRecord| {
            !record.yanked
                && asked
                    .values()
                    .all(|by_one| by_one.iter().any(|one| one.matches(&record.version)))
        };
        let mut first = None;
        for registry in &self.registries {
            if !self.may_have(registry.as_ref(), package) {
                continue;
            }
            let mut answers = registry.records(std::slice::from_ref(package))?;
            let Some(records) = answers.pop().flatten() else {
                continue;
            };
            let Some(first) = first else {
                first = Some(registry.name());
                continue;
            };
            let newest = records
                .iter()
                .filter(would_do)
                .max_by_key(|record| &record.version);
            if let Some(newest) = newest {
                return Ok(Some(Hint::packages(format!(
                    "the registry {} has {package} {}, which is not looked at: {first} has the package, too, and goes first",
                    registry.name(),
                    newest.version,
                ))));
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
            ReasonKind::Wanted => {
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
