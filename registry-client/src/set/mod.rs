//! Several registries in order of preference.

#[cfg(feature = "index")]
mod artifacts;
mod class_labels;
mod conflict_hints;
mod newer_elsewhere;
mod search;
mod strict_uses;

pub use newer_elsewhere::NewerElsewhere;
pub use strict_uses::UnmetUse;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, Package, PackageName, ReadOptions, RegistryName,
    Release, ReleaseSource, Version, most_similar_name,
};
use pkgres_resolver::{CompiledIndex, LockedArtifacts, Resolver, Supply};
use strict_uses::StrictUses;

use crate::namespace::Namespace;
use crate::registry::{Registry, records_of};
use crate::registry_error::RegistryError;
use crate::whole_registry::defined_classes;

/// Several registries in order of preference.
///
/// A package comes from the first registry that has its name, with all of its releases: a public
/// registry cannot add a newer version to a private package.
///
/// Names can be bound to a registry: they are looked up in that registry only, so that a public registry
/// does not learn that they exist.
///
/// A set is shared by requests and threads, for example in an `Arc`: what a registry learned for one request is there
/// for the next. Calls block while a registry answers.
///
/// A set is one reading of its registries: all requests see the same releases, even if others are published meanwhile.
/// A program that runs for long replaces its set by [`reread`](Self::reread) every few minutes.
#[derive(Default)]
pub struct RegistrySet {
    registries: Vec<Arc<dyn Registry>>,
    bindings: Vec<(Namespace, RegistryName)>,
    /// The registries that bindings do not limit.
    unlimited: BTreeSet<RegistryName>,
    /// The releases for packages that no registry has.
    built_in: BTreeMap<PackageName, Vec<IndexRecord>>,
    /// If uses exclude versions, what that depends on.
    strict_uses: Option<StrictUses>,
    /// The classes that any registry defines, collected on first use: a whole index may have to be read
    /// for them.
    defined_classes: OnceLock<BTreeSet<ClassName>>,
}

/// The registry that a package comes from, and the records of the package in it.
type PackageOrigin<'set> = (&'set dyn Registry, Vec<IndexRecord>);

/// Those of some packages that a registry has. One of which it has a release twice is there, too: it hides those of
/// other registries.
fn which_are_there<'name>(
    registry: &dyn Registry,
    names: &'name [PackageName],
) -> Result<BTreeSet<&'name PackageName>, RegistryError> {
    match records_of(registry, names) {
        Ok(answers) => {
            let answers = names.iter().zip(answers);
            Ok(answers
                .filter_map(|(name, records)| records.map(|_| name))
                .collect())
        }
        Err(RegistryError::Invalid(finding)) if finding.code == Code::DuplicateRelease => {
            if names.len() == 1 {
                return Ok(names.iter().collect());
            }
            let mut there = BTreeSet::new();
            for name in names {
                there.extend(which_are_there(registry, std::slice::from_ref(name))?);
            }
            Ok(there)
        }
        Err(error) => Err(error),
    }
}

impl RegistrySet {
    /// A set of registries, the preferred one first.
    pub fn new(registries: Vec<Box<dyn Registry>>) -> Self {
        Self {
            registries: registries.into_iter().map(Arc::from).collect(),
            ..Self::default()
        }
    }

    /// The same registries for a new reading that begins at `now`: it has the releases that were published, yanked or
    /// removed since, and the limits of networks begin anew. Connections, caches and documents that did
    /// not change are shared. This set stays as it is, for requests that still use it.
    ///
    /// A registry on the network sends no request before the first call. Waits for calls in progress.
    ///
    /// # Errors
    ///
    /// A folder or index file cannot be read any more.
    pub fn reread(&self, now: SystemTime) -> Result<Self, RegistryError> {
        let again = |registry: &Arc<dyn Registry>| {
            let reread = registry.reread(now)?;
            Ok(reread.map_or_else(|| Arc::clone(registry), Arc::from))
        };
        let registries: Result<_, RegistryError> = self.registries.iter().map(again).collect();
        Ok(Self {
            registries: registries?,
            bindings: self.bindings.clone(),
            unlimited: self.unlimited.clone(),
            built_in: self.built_in.clone(),
            strict_uses: self.strict_uses.as_ref().map(StrictUses::for_new_reading),
            defined_classes: OnceLock::new(),
        })
    }

    /// Adds releases that the program has built in. They are used for a package only if no registry has its name, and
    /// have the source [`BuiltIn`](ReleaseSource::BuiltIn), so that an answer shows them.
    #[must_use]
    pub fn with_built_in(mut self, records: Vec<IndexRecord>) -> Self {
        for record in records {
            let releases = self.built_in.entry(record.name.clone()).or_default();
            releases.push(record);
        }
        self.defined_classes.take();
        self
    }

    /// Binds names of packages and classes to a registry. If several bindings match a name, the narrowest one applies.
    /// If the set has no registry of this name, looking such a package up is an error, unless it belongs to the project
    /// ([`push_front`](Self::push_front)).
    pub fn bind(&mut self, namespace: Namespace, registry: RegistryName) {
        self.bindings.push((namespace, registry));
    }

    /// The narrowest namespace that binds a name, and the only registry in which it is looked up.
    pub fn binding(&self, name: &PackageName) -> Option<(&Namespace, &RegistryName)> {
        Namespace::narrowest(self.bindings(), name)
    }

    fn bindings(&self) -> impl Iterator<Item = (&Namespace, &RegistryName)> {
        let bindings = self.bindings.iter();
        bindings.map(|(namespace, registry)| (namespace, registry))
    }

    /// Whether packages that define a class are looked up in a registry. A class in a namespace is bound as a package is:
    /// otherwise, anybody could take the place of an internal class.
    fn may_define(&self, registry: &dyn Registry, class: &ClassName) -> bool {
        Namespace::narrowest_for_class(self.bindings(), class)
            .is_none_or(|(_, bound)| self.is_allowed(registry, bound))
    }

    /// Whether a package may be looked up in a registry.
    fn may_have(&self, registry: &dyn Registry, name: &PackageName) -> bool {
        self.binding(name)
            .is_none_or(|(_, bound)| self.is_allowed(registry, bound))
    }

    /// Whether names that are bound to the registry `bound` are looked up in a registry.
    fn is_allowed(&self, registry: &dyn Registry, bound: &RegistryName) -> bool {
        registry.name() == bound || self.unlimited.contains(registry.name())
    }

    /// Whether a package may be looked up in one of some registries.
    fn any_may_have(&self, registries: &[Arc<dyn Registry>], name: &PackageName) -> bool {
        let mut registries = registries.iter();
        registries.any(|registry| self.may_have(registry.as_ref(), name))
    }

    /// The registries, in order of preference.
    fn registries(&self) -> impl Iterator<Item = &dyn Registry> {
        self.registries.iter().map(AsRef::as_ref)
    }

    /// The packages that are built in.
    fn built_in_packages(&self) -> impl Iterator<Item = &PackageName> {
        self.built_in.keys()
    }

    /// Adds a registry in front of all others, for releases that belong to the project itself, such as members of its
    /// workspace. Names that are bound to another registry are looked up in it, too.
    pub fn push_front(&mut self, registry: Box<dyn Registry>) {
        self.unlimited.insert(registry.name().clone());
        self.registries.insert(0, Arc::from(registry));
        self.defined_classes.take();
        if let Some(strict) = &mut self.strict_uses {
            strict.forget();
        }
    }

    /// The releases of each package in the first registry that has it, or else those that are built in.
    ///
    /// # Errors
    ///
    /// A registry that is needed cannot be read.
    pub fn supply(&self, names: &[PackageName]) -> Result<Vec<Supply>, RegistryError> {
        self.supply_locked(names, &LockedArtifacts::new())
    }

    /// The same, for a request with a lock: if the registry of a package has several contents of a locked release, or the
    /// same content in several forms, the release is the one with the locked digest.
    ///
    /// # Errors
    ///
    /// A registry that is needed cannot be read.
    pub fn supply_locked(
        &self,
        names: &[PackageName],
        locked: &LockedArtifacts,
    ) -> Result<Vec<Supply>, RegistryError> {
        let mut supplies = self.supply_as_recorded(names)?;
        if !locked.is_empty() {
            let positions: BTreeMap<&PackageName, usize> = names.iter().zip(0..).collect();
            for (Release { name, version }, artifact) in locked {
                if let Some(at) = positions.get(name) {
                    self.use_locked(&mut supplies[*at], name, version, &artifact.digests)?;
                }
            }
        }
        for supply in &mut supplies {
            if let Supply::Releases { records, .. } = supply {
                self.apply_strict_uses(records);
            }
        }
        Ok(supplies)
    }

    /// The releases of packages with the uses that their records have.
    pub(crate) fn supply_as_recorded(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Supply>, RegistryError> {
        let mut supplies = vec![Supply::Unknown; names.len()];
        let mut open: Vec<usize> = (0..names.len()).collect();
        for (position, registry) in self.registries.iter().enumerate() {
            if open.is_empty() {
                break;
            }
            let may_have = |at: &usize| self.may_have(registry.as_ref(), &names[*at]);
            let after = &self.registries[position + 1..];
            let may_be_after = |at: &usize| self.any_may_have(after, &names[*at]);
            let names: Vec<PackageName> = open
                .iter()
                .filter(|at| may_have(at))
                .map(|at| names[*at].clone())
                .collect();
            if names.is_empty() {
                continue;
            }
            let mut answers = records_of(registry.as_ref(), &names)?.into_iter();
            open.retain(
                |at| match may_have(at).then(|| answers.next().flatten()).flatten() {
                    Some(records) => {
                        let source = ReleaseSource::Registry(registry.name().clone());
                        supplies[*at] = Supply::Releases { source, records };
                        false
                    }
                    None => true,
                },
            );
            if let Some(error) = registry.unread_part()
                && open.iter().any(|at| may_have(at) && may_be_after(at))
            {
                return Err(error);
            }
        }
        for at in open {
            if let Some((namespace, bound)) = self.binding(&names[at])
                && !self.registries().any(|registry| registry.name() == bound)
            {
                return Err(RegistryError::LeftOut {
                    package: names[at].clone(),
                    namespace: namespace.clone(),
                    registry: bound.clone(),
                });
            }
            if let Some(records) = self.built_in.get(&names[at]) {
                let (source, records) = (ReleaseSource::BuiltIn, records.clone());
                supplies[at] = Supply::Releases { source, records };
            }
        }
        Ok(supplies)
    }

    /// Makes a release the one with a locked digest, if its registry has that.
    fn use_locked(
        &self,
        supply: &mut Supply,
        name: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Result<(), RegistryError> {
        let Supply::Releases {
            source: ReleaseSource::Registry(source),
            records,
        } = supply
        else {
            return Ok(());
        };
        let found = records.iter().position(|record| record.version == *version);
        let digest = found.and_then(|at| records[at].digest);
        if digests.is_empty() || digest.is_some_and(|digest| digests.contains(&digest)) {
            return Ok(());
        }
        let Some(registry) = self.registries().find(|one| one.name() == source) else {
            return Ok(());
        };
        let Some(record) = registry.locked_record(name, version, digests)? else {
            return Ok(());
        };
        if let Some(at) = found {
            records[at] = record;
        } else {
            let at = records.partition_point(|one| one.version < record.version);
            records.insert(at, record);
        }
        Ok(())
    }

    /// Attaches the loaded indexes to a solver, which then does not look their packages up by name: the indexes of the
    /// registries in order, up to the first that has none.
    ///
    /// Does nothing if names are bound to registries, if uses exclude versions, or if the solver needs dates, which
    /// indexes do not have.
    pub fn attach_to(&self, resolver: &mut Resolver) -> Result<(), RegistryError> {
        if resolver.needs_dates() {
            return Ok(());
        }
        for (source, index) in self.compiled()? {
            resolver.attach(source, index)?;
        }
        Ok(())
    }

    /// Whether a registry returns [drafts](Registry::has_drafts).
    pub fn has_drafts(&self) -> bool {
        self.registries().any(Registry::has_drafts)
    }

    /// Completes the drafts of releases, each in the registry that it comes from; returns whether there were any.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn complete(&self, releases: &[(&RegistryName, Release)]) -> Result<bool, RegistryError> {
        let mut had_drafts = false;
        for registry in self.registries().filter(|registry| registry.has_drafts()) {
            let here: Vec<Release> = releases
                .iter()
                .filter(|(source, _)| *source == registry.name())
                .map(|(_, release)| release.clone())
                .collect();
            had_drafts |= registry.complete(&here)?;
        }
        Ok(had_drafts)
    }

    /// Whether a solver can read indexes of the registries. An index is used as a whole: it cannot leave out
    /// packages that are bound to a different registry, nor versions that uses exclude.
    fn uses_indexes(&self) -> bool {
        self.bindings.is_empty() && self.strict_uses.is_none()
    }

    /// An index with packages that a solver needs, from the first registry that has none to
    /// [attach](Self::attach_to) from the start.
    pub(crate) fn prepared(
        &self,
        needed: &[PackageName],
    ) -> Result<Option<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError> {
        if !self.uses_indexes() {
            return Ok(None);
        }
        for registry in &self.registries {
            if registry.compiled()?.is_some() {
                continue;
            }
            let index = registry.prepared(needed)?;
            // An index without any of them would bring the solver no further.
            let is_new = |index: &Arc<CompiledIndex>| needed.iter().any(|name| index.has(name));
            let source = || ReleaseSource::Registry(registry.name().clone());
            return Ok(index.filter(is_new).map(|index| (source(), index)));
        }
        Ok(None)
    }

    /// A digest of everything that the registries hold, if it is known without reading them.
    #[cfg(feature = "index")]
    pub(crate) fn contents(&self) -> Option<crate::index_cache::Sha256Digest> {
        let how = format!("{:?} {}", self.bindings, self.strict_uses.is_some());
        let mut parts: Vec<Vec<u8>> = vec![how.into_bytes()];
        for registry in &self.registries {
            parts.push(registry.name().as_str().as_bytes().to_vec());
            parts.push(registry.content()?.to_vec());
        }
        let built_in = self.built_in.values().flatten();
        parts.extend(built_in.map(|record| record.to_line().into_bytes()));
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        Some(crate::index_cache::digest_of(&parts))
    }

    /// The loaded indexes of the registries in order, up to the first that has none.
    ///
    /// There are none if the set [cannot use indexes](Self::uses_indexes).
    pub(crate) fn compiled(
        &self,
    ) -> Result<Vec<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError> {
        let mut found = Vec::new();
        if !self.uses_indexes() {
            return Ok(found);
        }
        for registry in &self.registries {
            let Some(index) = registry.compiled()? else {
                break;
            };
            found.push((ReleaseSource::Registry(registry.name().clone()), index));
        }
        Ok(found)
    }

    /// The packages that define a class, sorted. A package counts only in the registry that it comes from, and a class in
    /// a [bound](Self::bind) namespace is looked up in that registry only.
    pub fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let mut found = BTreeSet::new();
        for (at, registry) in self.registries.iter().enumerate() {
            if self.may_define(registry.as_ref(), class) {
                found.extend(self.coming_from(at, registry.defining(class)?)?);
            }
        }
        let built_in = self.built_in.iter();
        let built_in = built_in
            .filter(|(_, records)| records.iter().any(|record| record.exports(class)))
            .map(|(name, _)| name.clone());
        found.extend(self.not_in_first(self.registries.len(), built_in.collect())?);
        Ok(found.into_iter().collect())
    }

    /// Keeps the packages that come from the registry at a position: it may have their names, and no earlier registry has
    /// them.
    fn coming_from(
        &self,
        position: usize,
        mut names: Vec<PackageName>,
    ) -> Result<Vec<PackageName>, RegistryError> {
        let registry = self.registries[position].as_ref();
        names.retain(|name| self.may_have(registry, name));
        self.not_in_first(position, names)
    }

    /// The packages that none of the first registries has.
    fn not_in_first(
        &self,
        count: usize,
        mut names: Vec<PackageName>,
    ) -> Result<Vec<PackageName>, RegistryError> {
        for registry in &self.registries[..count] {
            let asked = names.iter();
            let asked = asked.filter(|name| self.may_have(registry.as_ref(), name));
            let asked: Vec<PackageName> = asked.cloned().collect();
            if asked.is_empty() {
                continue;
            }
            let is_there = which_are_there(registry.as_ref(), &asked)?;
            names.retain(|name| !is_there.contains(name));
        }
        Ok(names)
    }

    /// The origin of a package: the first registry that has its name.
    fn origin(&self, name: &PackageName) -> Result<Option<PackageOrigin<'_>>, RegistryError> {
        for registry in self.registries() {
            if !self.may_have(registry, name) {
                continue;
            }
            let mut answers = records_of(registry, std::slice::from_ref(name))?;
            if let Some(records) = answers.pop().flatten() {
                return Ok(Some((registry, records)));
            }
        }
        Ok(None)
    }

    /// The defined class with the most similar name, and a package that defines it: a suggestion for a
    /// class that no package defines.
    pub fn similar_class(
        &self,
        class: &ClassName,
    ) -> Result<Option<(ClassName, PackageName)>, RegistryError> {
        let known = self.defined_classes.get_or_init(|| {
            let registries = self.registries.iter();
            let classes = registries.flat_map(|registry| registry.defined_classes());
            let built_in = self.built_in.values().flatten();
            classes.chain(defined_classes(built_in)).collect()
        });
        let others = known.iter().filter(|known| *known != class);
        let similar = most_similar_name(class.as_str(), others.map(ClassName::as_str));
        let Some(similar) = similar.and_then(|name| ClassName::parse(name).ok()) else {
            return Ok(None);
        };
        let package = self.defining(&similar)?.into_iter().next();
        Ok(package.map(|package| (similar, package)))
    }

    /// Sentences about releases of a package that registries have but cannot read.
    pub fn unreadable(&self, package: &PackageName) -> Vec<String> {
        let registries = self.registries.iter();
        let sentences = registries.flat_map(|registry| registry.unreadable(package));
        sentences.collect()
    }

    /// The package with the most similar name: a suggestion for a package that no registry has. It is a known package, or
    /// else one that a search finds.
    pub fn similar(&self, name: &PackageName) -> Option<PackageName> {
        self.similar_package(name, None, &[])
            .or_else(|| self.similar_found(name, &[]))
    }

    /// The known package with the most similar name, except for `others`, which are sorted: a suggestion
    /// for a package that no registry has. `preferred` wins among equally similar ones.
    fn similar_package(
        &self,
        name: &PackageName,
        preferred: Option<&PackageName>,
        others: &[PackageName],
    ) -> Option<PackageName> {
        let mut known: BTreeSet<PackageName> = BTreeSet::new();
        for registry in &self.registries {
            let packages = registry.known_packages().into_iter();
            known.extend(packages.filter(|package| {
                self.may_have(registry.as_ref(), package) && others.binary_search(package).is_err()
            }));
        }
        let built_in = self.built_in.keys();
        known.extend(
            built_in
                .filter(|package| others.binary_search(package).is_err())
                .cloned(),
        );
        known.remove(name);
        let known = || preferred.into_iter().chain(&known);
        let similar = most_similar_name(name.as_str(), known().map(PackageName::as_str))?;
        known().find(|known| known.as_str() == similar).cloned()
    }

    /// The package of a release with all its classes, if its registry has it.
    pub fn package(
        &self,
        name: &PackageName,
        version: &Version,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        let Some((registry, records)) = self.origin(name)? else {
            return Ok(None);
        };
        match records.iter().find(|record| record.version == *version) {
            Some(record) => registry.package(record, options),
            None => Ok(None),
        }
    }

    /// Findings about registries that can be used all the same. Each is returned once.
    pub fn take_findings(&self) -> Vec<Diagnostic> {
        self.registries
            .iter()
            .flat_map(|registry| registry.take_findings())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, IndexedClass};

    use super::*;
    use crate::memory::MemoryRegistry;

    fn package(text: &str) -> PackageName {
        PackageName::parse(text).expect("a name")
    }

    #[test]
    fn of_equally_similar_packages_the_preferred_one_is_suggested() {
        let mut registry = MemoryRegistry::new(RegistryName::parse("test").expect("a name"));
        for name in ["a.Da", "a.Db", "a.Other"] {
            let version = Version::parse("1.0.0").expect("a version");
            registry.add_record(IndexRecord::new(package(name), version));
        }
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        let unknown = package("a.Dc");
        let [one, two, far] = ["a.Da", "a.Db", "a.Dcef"].map(package);
        let similar = |preferred, others: &[PackageName]| {
            registries.similar_package(&unknown, preferred, others)
        };
        assert_eq!(similar(None, &[]).as_ref(), Some(&one));
        assert_eq!(similar(Some(&two), &[]).as_ref(), Some(&two));
        assert_eq!(similar(Some(&far), &[]).as_ref(), Some(&one));
        assert_eq!(
            similar(None, std::slice::from_ref(&one)).as_ref(),
            Some(&two)
        );
    }

    #[test]
    fn classes_are_bound_like_packages() {
        let class = |text: &str| ClassName::parse(text).expect("a name");
        let registry = |name: &str, releases: &[(&str, &[&str])]| -> Box<dyn Registry> {
            let name = RegistryName::parse(name).expect("a name");
            let mut registry = MemoryRegistry::new(name);
            for (name, classes) in releases {
                let classes = classes.iter().map(|name| IndexedClass::new(class(name)));
                let record = IndexRecord::new(package(name), Version::new(1, 0, 0));
                registry.add_record(record.with_classes(classes));
            }
            Box::new(registry)
        };
        let acme = registry(
            "acme",
            &[("org.acme.web", &["org.acme.web.Web", "com.pub.Tool"])],
        );
        let foreign = ["org.acme.web.Web", "org.acme.fresh.New", "com.pub.Tool"];
        let public = registry("public", &[("com.evil", &foreign)]);
        let mut registries = RegistrySet::new(vec![public, acme]);
        let defining = |registries: &RegistrySet, name: &str| {
            let names = registries
                .defining(&class(name))
                .expect("memory can be read");
            names.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let both = ["com.evil", "org.acme.web"];
        assert_eq!(defining(&registries, "org.acme.web.Web"), both);
        let namespace = Namespace::parse("org.acme.*").expect("a namespace");
        registries.bind(namespace, RegistryName::parse("acme").expect("a name"));
        assert_eq!(defining(&registries, "org.acme.web.Web"), ["org.acme.web"]);
        assert!(defining(&registries, "org.acme.fresh.New").is_empty());
        assert_eq!(defining(&registries, "com.pub.Tool"), both);
    }

    #[cfg(feature = "index")]
    #[test]
    fn what_is_built_in_is_used_only_if_no_registry_has_the_name() {
        let core = crate::built_in_core_library();
        let name = core.name.clone();
        let class = name.root_class();
        let source = |registries: &RegistrySet| {
            let supplies = registries.supply(std::slice::from_ref(&name));
            match supplies.expect("memory can be read").remove(0) {
                Supply::Unknown => None,
                Supply::Releases { source, .. } => Some(source.to_string()),
            }
        };
        assert_eq!(source(&RegistrySet::new(Vec::new())), None);
        let registries = RegistrySet::new(Vec::new()).with_built_in(vec![core.clone()]);
        assert_eq!(source(&registries).as_deref(), Some("built-in"));
        assert_eq!(
            registries.defining(&class).as_deref(),
            Ok(&[name.clone()][..])
        );
        assert_eq!(
            registries.package(&name, &core.version, &ReadOptions::default()),
            Ok(None)
        );

        // A registry with another version, which lacks the class, hides it.
        let mut registry = MemoryRegistry::new(RegistryName::parse("test").expect("a name"));
        let other = IndexRecord::new(name.clone(), Version::new(1, 0, 0)).with_classes(Vec::new());
        registry.add_record(other);
        let registries = RegistrySet::new(vec![Box::new(registry)]).with_built_in(vec![core]);
        assert_eq!(source(&registries).as_deref(), Some("test"));
        assert_eq!(registries.defining(&class).as_deref(), Ok(&[][..]));
    }
}
