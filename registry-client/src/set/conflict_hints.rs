//! Hints for a conflict that only registries can give.
//!
//! A solver knows only the packages that it looked up. Registries know packages with similar names, packages that
//! define a missing class or interface, and releases in a registry that is shadowed by a preferred one.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Spec, Version};
use pkgres_resolver::{Conflict, Hint, HintKind, ReasonKind, Supply};

use super::RegistrySet;
use crate::registry::{Registry, records_of};
use crate::registry_error::RegistryError;

impl RegistrySet {
    /// Adds hints in front of the hints of a conflict: packages that cannot be read, packages with similar names,
    /// packages that define a missing class, and releases in a registry that is shadowed by a preferred one. `core` is
    /// the core library of the request, which every package requires.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn add_hints(
        &self,
        conflict: &mut Conflict,
        core: Option<&PackageName>,
    ) -> Result<(), RegistryError> {
        let advice = match conflict.code {
            Code::UnknownPackage => {
                let mut advice = self.similar_packages(conflict);
                advice.extend(self.shadowed_release(conflict)?);
                advice
            }
            Code::ClassUnavailable => {
                let mut advice = self.defining_packages(conflict, core)?;
                advice.extend(self.interface_packages(conflict)?);
                advice
            }
            Code::NoVersion => self.shadowed_release(conflict)?.into_iter().collect(),
            _ => Vec::new(),
        };
        conflict.hints.splice(0..0, advice);
        Ok(())
    }

    /// Packages with similar names, which the solver may not know. They replace its own less similar ones.
    fn similar_packages(&self, conflict: &mut Conflict) -> Vec<Hint> {
        let required = conflict
            .reasons
            .iter()
            .filter_map(|reason| match &reason.kind {
                ReasonKind::Requires { package, .. } if reason.clashes => Some(package.clone()),
                _ => None,
            });
        let required: BTreeSet<PackageName> = required.collect();
        let mut advice = Vec::new();
        for package in required.into_iter().filter(|package| !self.has(package)) {
            advice.extend(self.unreadable(&package).into_iter().map(Hint::packages));
            let mut hints = conflict.hints.iter().enumerate();
            let known = hints.find_map(|(at, hint)| match &hint.kind {
                HintKind::Similar { unknown, similar } if *unknown == package => {
                    Some((at, similar.clone()))
                }
                _ => None,
            });
            let preferred = known.map(|(at, meant)| {
                conflict.hints.remove(at);
                meant
            });
            // The packages of the conflict exist, and are not meant.
            let others = &conflict.packages;
            let known = self.similar_package(&package, preferred.as_ref(), others);
            if let Some(meant) = known.or_else(|| self.similar_found(&package, others)) {
                advice.push(Hint::similar(package, meant));
            }
        }
        for hint in &mut conflict.hints {
            if let HintKind::AlsoUnknown { package } = &hint.kind
                && let Some(meant) = self.similar_package(package, None, &conflict.packages)
            {
                *hint = Hint::also_unknown(package.clone(), Some(&meant));
            }
        }
        advice
    }

    /// Whether there are releases of a package that can be read.
    fn has(&self, package: &PackageName) -> bool {
        let supply = self.supply(std::slice::from_ref(package));
        let is_known = |supply: &Supply| !supply.records().is_empty();
        supply.is_ok_and(|supplies| supplies.iter().any(is_known))
    }

    fn defining_packages(
        &self,
        conflict: &Conflict,
        core: Option<&PackageName>,
    ) -> Result<Vec<Hint>, RegistryError> {
        let mut advice = Vec::new();
        let lacked = |class: &ClassName| {
            let mut reasons = conflict.reasons.iter();
            reasons.any(|reason| matches!(&reason.kind, ReasonKind::Lacks { class: lacked } if lacked == class))
        };
        for reason in &conflict.reasons {
            let ReasonKind::Extends { class } = &reason.kind else {
                continue;
            };
            // A required package has the class in other versions, which the reasons show.
            if lacked(class) {
                continue;
            }
            let owner = reason.owner.as_ref();
            let defining = self.defining(class)?;
            if let Some(package) = defining.iter().find(|package| Some(*package) != owner) {
                // The host has other releases of a package than the registries.
                if Some(package) == core {
                    continue;
                }
                // Other releases of it can be chosen, which do not define the class.
                if reason.searched.contains(package) {
                    continue;
                }
                advice.push(match owner {
                    Some(owner) => Hint::not_required(owner.clone(), package.clone(), class),
                    None => Hint::packages(format!(
                        "{package} defines the class {class}, and {} does not require it",
                        reason.owner_name()
                    )),
                });
            } else if let Some((similar, package)) = self.similar_class(class)? {
                advice.push(Hint::packages(format!(
                    "{package} defines a class of a similar name: {similar}"
                )));
            }
        }
        Ok(advice)
    }

    /// Packages that define a missing interface, among those that its name says it is in. If no registry has one, how
    /// to get it.
    fn interface_packages(&self, conflict: &Conflict) -> Result<Vec<Hint>, RegistryError> {
        let mut advice = Vec::new();
        for reason in &conflict.reasons {
            let ReasonKind::Implements { interface } = &reason.kind else {
                continue;
            };
            let is_lacked = conflict.reasons.iter().any(|reason| {
                matches!(&reason.kind, ReasonKind::LacksInterface { interface: lacked } if lacked == interface)
            });
            if is_lacked {
                continue;
            }
            let owner = reason.owner_name();
            let names: Vec<PackageName> = interface.enclosing_packages().collect();
            let defines = |supply: &Supply| {
                let mut records = supply.records().iter();
                records.any(|record| record.interfaces.contains(interface))
            };
            let supplies = self.supply(&names)?;
            let defining = names.iter().zip(&supplies).find(|(_, it)| defines(it));
            advice.push(Hint::packages(match defining {
                Some((package, _)) => format!(
                    "{package} defines the interface {interface}, and {owner} does not require it"
                ),
                None => format!(
                    "`Implements` of {owner} names {interface}: the package that defines it has to be under `Require`, and `--registry` adds a registry that has the package"
                ),
            }));
        }
        Ok(advice)
    }
}

impl RegistrySet {
    /// The first version that satisfies all requirements in a registry after the one that the package comes from. Each
    /// registry is read once.
    pub(super) fn shadowed_release(
        &self,
        conflict: &Conflict,
    ) -> Result<Option<Hint>, RegistryError> {
        let required = required(conflict);
        let mut sources: BTreeMap<&PackageName, &dyn Registry> = BTreeMap::new();
        for registry in &self.registries {
            let registry = registry.as_ref();
            let names = required.keys().filter(|name| self.may_have(registry, name));
            let names: Vec<PackageName> = names.map(|name| (*name).clone()).collect();
            let answers = records_of(registry, &names)?;
            for ((package, required), records) in (required.iter())
                .filter(|(name, _)| self.may_have(registry, name))
                .zip(answers)
            {
                let Some(records) = records else {
                    continue;
                };
                let Some(first) = sources.get(package) else {
                    sources.insert(package, registry);
                    continue;
                };
                let satisfies_all = |record: &&IndexRecord| {
                    let matches = |alternatives: &Vec<Allowed<'_>>| {
                        alternatives
                            .iter()
                            .any(|allowed| allowed.matches(&record.version))
                    };
                    !record.yanked && required.values().all(matches)
                };
                let newest = records.iter().filter(satisfies_all);
                if let Some(newest) = newest.max_by_key(|record| &record.version) {
                    let reason = if first.is_override() {
                        "its override replaces it".to_owned()
                    } else {
                        format!("{} is preferred and has the package, too", first.name())
                    };
                    return Ok(Some(Hint::packages(format!(
                        "the registry {} has {package} {}, which is not used: {reason}",
                        registry.name(),
                        newest.version,
                    ))));
                }
            }
        }
        Ok(None)
    }
}

/// The requirements of a package by their owner, each with its alternatives.
type RequiredBy<'conflict> = BTreeMap<&'conflict str, Vec<Allowed<'conflict>>>;

/// The versions that a requirement allows.
enum Allowed<'conflict> {
    Matching(Spec),
    Exactly(&'conflict [Version]),
}

impl Allowed<'_> {
    fn matches(&self, version: &Version) -> bool {
        match self {
            Self::Matching(spec) => spec.matches(version),
            Self::Exactly(versions) => versions.contains(version),
        }
    }
}

/// The requirements of the packages that clash.
fn required(conflict: &Conflict) -> BTreeMap<&PackageName, RequiredBy<'_>> {
    let mut required: BTreeMap<&PackageName, RequiredBy<'_>> = BTreeMap::new();
    for reason in conflict.reasons.iter().filter(|reason| reason.clashes) {
        let (package, by, allowed) = match &reason.kind {
            ReasonKind::Requires {
                package,
                spec,
                overridden_by,
                ..
            } => {
                let Ok(spec) = Spec::parse(overridden_by.as_ref().unwrap_or(spec)) else {
                    continue;
                };
                (package, reason.owner_name(), Allowed::Matching(spec))
            }
            ReasonKind::Wanted { .. } => {
                let Some(package) = &reason.owner else {
                    continue;
                };
                (package, "", Allowed::Exactly(&reason.versions))
            }
            _ => continue,
        };
        let by_package = required.entry(package).or_default();
        by_package.entry(by).or_default().push(allowed);
    }
    required
}
