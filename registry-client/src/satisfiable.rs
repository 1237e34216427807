//! Checks whether registries can satisfy the requirements of a release before it is published.
//!
//! The solver runs with a bound on its steps. Only a proof that there is no solution is an error. Registries and their
//! clients both use this, so that a client knows the answer before it sends an archive.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, PackageName, ReadOptions, Spec, Version,
};
use pkgres_resolver::{Conflict, HintKind, Request, Resolver, Supply};

use crate::drive::{Answer, drive};
use crate::registry_error::RegistryError;
use crate::set::RegistrySet;

/// The bound on steps of the solver. A release that takes more is published: giving up proves nothing.
const MAX_STEPS: u64 = 200_000;

/// The proof that the requirements of a release cannot be satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsatisfiable {
    /// The conflict in one sentence.
    pub reason: String,
    /// The requirement of the release that is part of the conflict, if it has a position.
    pub location: Option<Location>,
    /// The packages that the conflict is about, sorted.
    pub packages: Vec<PackageName>,
    /// What the publisher can do.
    pub hints: Vec<String>,
}

impl From<Conflict> for Unsatisfiable {
    fn from(conflict: Conflict) -> Self {
        let mut locations = conflict.reasons.into_iter().map(|reason| reason.location);
        // An option for a command line would be about other registries than the one that has to satisfy the requirements.
        let hints = conflict.hints.iter();
        let hints = hints.filter(|hint| hint.kind != HintKind::Option);
        Self {
            reason: conflict.summary,
            location: locations.find_map(|location| location),
            packages: conflict.packages,
            hints: hints.map(ToString::to_string).collect(),
        }
    }
}

/// Whether the solver proves that registries cannot satisfy the requirements of a release; `None` if not.
///
/// The core library is usually not in a registry, because the host supplies it. Then every version that is required
/// counts as present, with all classes that are named below its name.
///
/// # Errors
///
/// A registry cannot be read.
pub fn unsatisfiable(
    record: &IndexRecord,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Option<Unsatisfiable>, RegistryError> {
    let mut request = Request::new(record.clone());
    request.core.clone_from(&options.core);
    request.options.max_steps = MAX_STEPS;
    if let Some(core) = &options.core
        && record.name != *core
        && releases_of(core, registries)?.is_empty()
    {
        request.host_releases = core_releases(registries, core, record)?;
    }
    let mut resolver = Resolver::new(request);
    Ok(match drive(&mut resolver, registries, options)? {
        Answer::Conflict(conflict) => Some(Unsatisfiable::from(*conflict)),
        // Only a proof that there is no resolution excludes a release.
        _ => None,
    })
}

/// The most names of classes and interfaces that all assumed releases of the core library have together.
const MAX_NAMES: usize = 100_000;

/// A release of the core library for the first version of each spec for it, in the release and in everything that it
/// requires, with the classes and interfaces of the core library that these name.
fn core_releases(
    registries: &RegistrySet,
    core: &PackageName,
    record: &IndexRecord,
) -> Result<Vec<IndexRecord>, RegistryError> {
    let mut versions = BTreeSet::new();
    let mut named = Names::default();
    let mut defined = Names::default();
    let mut seen = BTreeSet::from([record.name.clone()]);
    let mut open = vec![vec![record.clone()]];
    while let Some(records) = open.pop() {
        for record in records {
            let mut names_core = false;
            for requirement in &record.requirements {
                if requirement.package == *core {
                    names_core = true;
                    versions.extend(first_versions(&requirement.spec));
                } else if seen.insert(requirement.package.clone()) {
                    open.push(releases_of(&requirement.package, registries)?);
                }
            }
            if !names_core {
                versions.extend(first_versions(&Spec::unspecified()));
            }
            let is_of_core =
                |name: &&ClassName| name.enclosing_packages().any(|package| package == *core);
            for class in record.classes.iter().flatten() {
                let classes = class.extends.iter().chain(&class.uses);
                named.classes.extend(classes.filter(is_of_core).cloned());
                let interfaces = class.implements.iter().filter(is_of_core);
                named.interfaces.extend(interfaces.cloned());
                // Only its own release has an internal class.
                if !class.internal {
                    defined.classes.insert(class.name.clone());
                }
            }
            defined.interfaces.extend(record.interfaces.iter().cloned());
        }
    }
    named.classes.insert(core.root_class());
    // Other packages may have names below that of the core library, such as its optional parts.
    let classes = named.classes.difference(&defined.classes);
    let classes: Vec<IndexedClass> = classes.cloned().map(IndexedClass::new).collect();
    let interfaces = named.interfaces.difference(&defined.interfaces);
    let interfaces: Vec<ClassName> = interfaces.cloned().collect();
    let mut release = IndexRecord::new(core.clone(), Version::new(0, 0, 0));
    // The solver reads the names of each version. Without them, a release may define any.
    let read = versions.len() * (classes.len() + interfaces.len());
    if read <= MAX_NAMES {
        release = release.with_classes(classes).with_interfaces(interfaces);
    }
    let releases = versions.into_iter().map(|version| IndexRecord {
        version,
        ..release.clone()
    });
    Ok(releases.collect())
}

/// The classes and interfaces of releases.
#[derive(Default)]
struct Names {
    classes: BTreeSet<ClassName>,
    interfaces: BTreeSet<ClassName>,
}

/// All releases of a package; empty if it is unknown.
fn releases_of(
    package: &PackageName,
    registries: &RegistrySet,
) -> Result<Vec<IndexRecord>, RegistryError> {
    let supplies = registries.supply(std::slice::from_ref(package))?;
    Ok(supplies
        .into_iter()
        .flat_map(Supply::into_records)
        .collect())
}

/// The first version of each interval of a spec.
fn first_versions(spec: &Spec) -> Vec<Version> {
    let intervals = spec.set().intervals().iter();
    intervals.map(|interval| interval.from.clone()).collect()
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::RegistryName;

    use super::*;
    use crate::memory::MemoryRegistry;

    #[test]
    fn only_a_proof_excludes_a_release_and_the_core_library_counts_as_present() {
        let name = |text: &str| PackageName::parse(text).expect("a name");
        let spec = |text: &str| Spec::parse(text).expect("a spec");
        let mut registry = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
        let base = IndexRecord::new(name("org.example.Base"), Version::new(2, 0, 0))
            .with_requirement(name("io.murano"), spec("5"));
        registry.add_record(base);
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        let check = |base: &str| {
            let record = IndexRecord::new(name("org.example.App"), Version::new(1, 0, 0))
                .with_requirement(name("io.murano"), spec(">=3"))
                .with_requirement(name("org.example.Base"), spec(base));
            unsatisfiable(&record, &registries, &ReadOptions::default()).expect("it can be read")
        };
        assert_eq!(check("2"), None);
        let found = check("7").expect("there is no version 7");
        assert!(found.reason.contains("org.example.Base"), "{found:?}");
        assert!(found.hints[0].contains("2.0.0"), "{found:?}");
    }

    #[test]
    fn the_core_library_has_no_classes_of_other_packages() {
        let name = |text: &str| PackageName::parse(text).expect("a name");
        let spec = |text: &str| Spec::parse(text).expect("a spec");
        let class = |text: &str| ClassName::parse(text).expect("a class");
        let record = |package: &str, version, requires: &[(&str, &str)], extends: &[&str]| {
            let own = IndexedClass::new(class(&format!("{package}.C")));
            let own = (extends.iter()).fold(own, |own, parent| own.extending(class(parent)));
            let record = IndexRecord::new(name(package), version).with_classes([own]);
            requires.iter().fold(record, |record, (package, text)| {
                record.with_requirement(name(package), spec(text))
            })
        };
        let mut registry = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
        let base = |patch| record("a.Base", Version::new(1, 0, patch), &[], &[]);
        let (one, two) = (base(0), base(1));
        let without = IndexRecord::new(name("a.Base"), Version::new(2, 0, 0)).with_classes([]);
        let side = |package, spec| {
            let requires = [("a.Base", spec)];
            record(package, Version::new(1, 0, 0), &requires, &["a.Base.C"])
        };
        let sides = [side("a.Left", "=1.0.0"), side("a.Right", "=1.0.1")];
        // Nobody else sees a class that is internal, so it is not one that the core library could lack.
        let mut own = IndexedClass::new(class("io.murano.system.Agent"));
        own.internal = true;
        let private = IndexRecord::new(name("a.Private"), Version::new(1, 0, 0));
        let private = private.with_classes([own]);
        let releases = [one, two, without, private].into_iter();
        for release in releases.chain(sides) {
            registry.add_record(release);
        }
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        let is_refused = |requires: &[(&str, &str)], extends: &[&str]| {
            let record = record("a.App", Version::new(1, 0, 0), requires, extends);
            let found = unsatisfiable(&record, &registries, &ReadOptions::default());
            found.expect("it can be read").is_some()
        };
        // The class is gone, nobody has it, and it would be inherited twice.
        assert!(is_refused(&[("a.Base", "2")], &["a.Base.C"]));
        assert!(is_refused(&[], &["a.Nowhere.C"]));
        let sides = [("a.Left", "1"), ("a.Right", "1")];
        assert!(is_refused(&sides, &["a.Left.C", "a.Right.C"]));
        for (requires, extends) in [
            (&[("a.Base", "1")][..], &["a.Base.C"][..]),
            (&sides, &["a.Left.C", "io.murano.Application"]),
            (&[("io.murano", "7")], &["io.murano.system.Agent"]),
            (&[("a.Private", "1")], &["io.murano.system.Agent"]),
        ] {
            assert!(!is_refused(requires, extends), "{requires:?} {extends:?}");
        }
    }
}
