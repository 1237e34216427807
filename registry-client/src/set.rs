//! Several registries in order of preference.

mod advice;
mod shadowed;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ArtifactDigest, ClassName, Package, PackageName, ReadOptions, RegistryName, ReleaseSource,
    Version, most_similar_name,
};
use pkgres_resolver::{CompiledIndex, Resolver, Supply};

use crate::index_cache::{Digest, digest_of};
use crate::namespace::Namespace;
use crate::registry::{Artifact, Registry, RegistryError};

/// Several registries in order of preference.
///
/// A package comes from the first registry that has its name, with all of its releases: a public
/// registry cannot slip a newer version of a private package in.
///
/// Names can be bound to a registry: then they are asked of it alone, and a registry that is public
/// does not even learn that they exist.
#[derive(Default)]
pub struct RegistrySet {
    registries: Vec<Box<dyn Registry>>,
    bindings: Vec<(Namespace, RegistryName)>,
    /// The classes that any of the registries knows, found out when they are first needed: an index may
    /// have to be read as a whole for it.
    defined_classes: OnceCell<BTreeSet<ClassName>>,
}

impl RegistrySet {
    /// A set of registries, the preferred one first.
    pub fn new(registries: Vec<Box<dyn Registry>>) -> Self {
        Self {
            registries,
            ..Self::default()
        }
    }

    /// Binds names to a registry. Where several bindings match a name, the narrowest counts.
    pub fn bind(&mut self, namespace: Namespace, registry: RegistryName) {
        self.bindings.push((namespace, registry));
    }

    /// Whether a registry may be asked for a package.
    fn may_have(&self, registry: &dyn Registry, name: &PackageName) -> bool {
        let matching = self
            .bindings
            .iter()
            .filter(|(namespace, _)| namespace.contains(name));
        matching
            .max_by_key(|(namespace, _)| namespace.depth())
            .is_none_or(|(_, bound)| bound == registry.name())
    }

    /// Adds a registry that is preferred to all others.
    pub fn prefer(&mut self, registry: Box<dyn Registry>) {
        self.registries.insert(0, registry);
        self.defined_classes.take();
    }

    /// For each name what the first registry has that has the package.
    pub fn supply(&self, names: &[PackageName]) -> Result<Vec<Supply>, RegistryError> {
        let mut supplies = vec![Supply::Unknown; names.len()];
        let mut open: Vec<usize> = (0..names.len()).collect();
        for registry in &self.registries {
            if open.is_empty() {
                break;
            }
            let may_have = |at: &usize| self.may_have(registry.as_ref(), &names[*at]);
            let asked: Vec<PackageName> = open
                .iter()
                .filter(|at| may_have(at))
                .map(|at| names[*at].clone())
                .collect();
            if asked.is_empty() {
                continue;
            }
            let mut answers = registry.records(&asked)?.into_iter();
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
        }
        Ok(supplies)
    }

    /// Gives a solver the indexes that need not be asked name by name: those of the registries
    /// that have theirs at hand, up to the first that does not.
    ///
    /// Where names are bound to registries, every package is asked for.
    pub fn attach_to(&self, resolver: &mut Resolver) -> Result<(), RegistryError> {
        if resolver.needs_dates() {
            return Ok(());
        }
        for (source, index) in self.compiled()? {
            resolver.attach(source, index);
        }
        Ok(())
    }

    /// What a solver that needs packages can be given at once: the index that the registry behind
    /// those of [`attach_to`](Self::attach_to) has of them, and whatever else is in it.
    pub(crate) fn prepared(
        &self,
        resolver: &Resolver,
        needed: &[PackageName],
    ) -> Result<Option<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError> {
        if !self.bindings.is_empty() || resolver.needs_dates() {
            return Ok(None);
        }
        for registry in &self.registries {
            if registry.compiled()?.is_some() {
                continue;
            }
            let index = registry.prepared(needed)?;
            // What a solver has it does not need.
            let is_new = |index: &Arc<CompiledIndex>| needed.iter().any(|name| index.has(name));
            let source = || ReleaseSource::Registry(registry.name().clone());
            return Ok(index.filter(is_new).map(|index| (source(), index)));
        }
        Ok(None)
    }

    /// What stands for everything that all the registries say, if that is known without reading
    /// them.
    pub(crate) fn contents(&self) -> Option<Digest> {
        let mut parts: Vec<Vec<u8>> = vec![format!("{:?}", self.bindings).into_bytes()];
        for registry in &self.registries {
            parts.push(registry.name().as_str().as_bytes().to_vec());
            parts.push(registry.content()?.to_vec());
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        Some(digest_of(&parts))
    }

    /// The indexes of the registries that have theirs at hand, up to the first that does not.
    ///
    /// An index as a whole cannot be told which of its packages may be taken: none where names are
    /// bound to registries.
    pub(crate) fn compiled(
        &self,
    ) -> Result<Vec<(ReleaseSource, Arc<CompiledIndex>)>, RegistryError> {
        let mut found = Vec::new();
        if !self.bindings.is_empty() {
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

    /// The packages that define a class, sorted. Each is asked of the registry that it comes from.
    pub fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let mut found = BTreeSet::new();
        for (at, registry) in self.registries.iter().enumerate() {
            for name in registry.defining(class)? {
                if !self.may_have(registry.as_ref(), &name) {
                    continue;
                }
                let is_shadowed = self.registries[..at]
                    .iter()
                    .filter(|preferred| self.may_have(preferred.as_ref(), &name))
                    .map(|preferred| preferred.records(std::slice::from_ref(&name)))
                    .collect::<Result<Vec<_>, _>>()?
                    .into_iter()
                    .flatten()
                    .any(|records| records.is_some());
                if !is_shadowed {
                    found.insert(name);
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The class that somebody may have meant who names one that no package defines, and a package
    /// that defines it.
    pub fn similar_class(
        &self,
        class: &ClassName,
    ) -> Result<Option<(ClassName, PackageName)>, RegistryError> {
        let known = self.defined_classes.get_or_init(|| {
            let registries = self.registries.iter();
            registries
                .flat_map(|registry| registry.defined_classes())
                .collect()
        });
        let others = known.iter().filter(|known| *known != class);
        let similar = most_similar_name(class.as_str(), others.map(ClassName::as_str));
        let Some(similar) = similar.and_then(|name| ClassName::parse(name).ok()) else {
            return Ok(None);
        };
        let package = self.defining(&similar)?.into_iter().next();
        Ok(package.map(|package| (similar, package)))
    }

    /// The package that somebody may have meant who names one that no registry has, of those that
    /// registries have at hand but for `others`, which are sorted. Of equally similar ones it is
    /// `preferred`.
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
        known.remove(name);
        let known = preferred.into_iter().chain(&known);
        let similar = most_similar_name(name.as_str(), known.map(PackageName::as_str))?;
        PackageName::parse(similar).ok()
    }

    /// The package of a release with all its classes, if its registry can give it.
    pub fn package(
        &self,
        name: &PackageName,
        version: &Version,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        for registry in &self.registries {
            if !self.may_have(registry.as_ref(), name) {
                continue;
            }
            let mut answers = registry.records(std::slice::from_ref(name))?;
            let Some(records) = answers.pop().flatten() else {
                continue;
            };
            // The first registry that has the name is the one that the package comes from.
            return match records.iter().find(|record| record.version == *version) {
                Some(record) => registry.package(record, options),
                None => Ok(None),
            };
        }
        Ok(None)
    }

    /// The artifact with a digest, from the first registry that hands it out.
    pub fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        for registry in &self.registries {
            if let Some(artifact) = registry.artifact(digest)? {
                return Ok(Some(artifact));
            }
        }
        Ok(None)
    }

    /// The artifact with a digest from the registry of this name, or, if there is none of the name,
    /// from the first that hands it out.
    pub fn artifact_from(
        &self,
        source: &RegistryName,
        digest: &ArtifactDigest,
    ) -> Result<Option<Artifact>, RegistryError> {
        let named = self
            .registries
            .iter()
            .find(|registry| registry.name() == source);
        match named {
            Some(registry) => registry.artifact(digest),
            None => self.artifact(digest),
        }
    }

    /// Brings artifacts nearer that [`artifact_from`](Self::artifact_from) will be asked for.
    pub fn fetch_ahead(
        &self,
        wanted: &[(&RegistryName, ArtifactDigest)],
    ) -> Result<(), RegistryError> {
        for registry in &self.registries {
            let digests: Vec<ArtifactDigest> = wanted
                .iter()
                .filter(|(source, _)| *source == registry.name())
                .map(|(_, digest)| *digest)
                .collect();
            if !digests.is_empty() {
                registry.fetch_ahead(&digests)?;
            }
        }
        Ok(())
    }

    /// What is wrong with the registries though they can be used.
    pub fn take_findings(&self) -> Vec<Diagnostic> {
        self.registries
            .iter()
            .flat_map(|registry| registry.take_findings())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::IndexRecord;

    use super::*;
    use crate::memory::MemoryRegistry;

    fn package(text: &str) -> PackageName {
        PackageName::parse(text).expect("a name")
    }

    #[test]
    fn of_equally_similar_packages_the_preferred_one_was_meant() {
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
}
