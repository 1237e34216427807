//! Searches: the packages that match words, the packages that require another one, and the description of a package.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, RegistryName, most_similar_name};

use super::RegistrySet;
use crate::registry::{PackageDescription, Registry};
use crate::registry_error::RegistryError;
use crate::whole_registry::{Found, matches};

/// The most packages of a search that are compared with a name that no registry has.
const MAX_COMPARED: usize = 100;

impl RegistrySet {
    /// The packages that match all words, sorted by name: at most `limit`. Registries look in names of
    /// packages and classes; those on the network also in titles, descriptions, authors and tags. A package counts only
    /// in the registry that it comes from.
    ///
    /// Registries that [cannot be searched](Self::not_searched) are left out.
    ///
    /// # Errors
    ///
    /// A registry cannot be read, or none of them can be searched.
    pub fn search(&self, words: &[String], limit: usize) -> Result<Vec<Found>, RegistryError> {
        let mut found: BTreeMap<PackageName, Found> = BTreeMap::new();
        let can_search = self.can_search();
        let registries = self.registries().enumerate();
        for (at, registry) in registries.filter(|(_, one)| one.can_search() || !can_search) {
            let packages = registry.search(words, limit)?;
            let names = packages.iter().map(|package| package.name.clone());
            let names: BTreeSet<PackageName> =
                self.coming_from(at, names.collect())?.into_iter().collect();
            let packages = packages.into_iter();
            let packages = packages.filter(|package| names.contains(&package.name));
            found.extend(packages.map(|package| (package.name.clone(), package)));
        }
        let matching = self
            .built_in_packages()
            .filter(|name| matches(words, std::iter::once(name.as_str())));
        let matching: Vec<&PackageName> = matching.collect();
        // Other ecosystems have no core library.
        if !matching.is_empty() && self.may_have_class_packages() {
            for name in matching {
                found.entry(name.clone()).or_insert_with(|| Found {
                    name: name.clone(),
                    title: None,
                });
            }
        }
        Ok(found.into_values().take(limit).collect())
    }

    /// The package with the most similar name that searches for the last two parts of a name find, except for `others`,
    /// which are sorted. Only the registries that may have the name, and do not know all their packages, are searched;
    /// the known ones were compared. Registries that cannot be searched now are left out: this is for suggestions.
    pub(super) fn similar_found(
        &self,
        name: &PackageName,
        others: &[PackageName],
    ) -> Option<PackageName> {
        let mut names = Vec::new();
        let registries = self.registries();
        let is_searched = |one: &&dyn Registry| {
            one.can_search() && self.may_have(*one, name) && one.known_packages().is_empty()
        };
        for registry in registries.filter(is_searched) {
            for part in name.as_str().rsplit('.').take(2) {
                let found = registry.search(&[part.to_owned()], MAX_COMPARED);
                let found = found.into_iter().flatten().map(|found| found.name);
                names.extend(found.filter(|found| {
                    self.may_have(registry, found) && others.binary_search(found).is_err()
                }));
            }
        }
        let similar = most_similar_name(name.as_str(), names.iter().map(PackageName::as_str));
        let similar = similar.map(str::to_owned)?;
        names.into_iter().find(|found| found.as_str() == similar)
    }

    /// Whether a registry can be searched, or there is no registry.
    pub fn can_search(&self) -> bool {
        let mut registries = self.registries();
        let is_empty = self.registries().next().is_none();
        is_empty || registries.any(Registry::can_search)
    }

    /// The registries that cannot be searched.
    pub fn not_searched(&self) -> Vec<&RegistryName> {
        let registries = self.registries();
        let registries = registries.filter(|registry| !registry.can_search());
        registries.map(Registry::name).collect()
    }

    /// Whether a registry may have class packages, or there is no registry.
    pub fn may_have_class_packages(&self) -> bool {
        let mut registries = self.registries();
        let is_empty = self.registries().next().is_none();
        is_empty || registries.any(Registry::may_have_class_packages)
    }

    /// The packages with a release that states a requirement on a package, sorted; `None` if a registry cannot tell. A
    /// package counts only in the registry that it comes from.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn requiring(
        &self,
        package: &PackageName,
    ) -> Result<Option<Vec<PackageName>>, RegistryError> {
        let mut found = BTreeSet::new();
        for (at, registry) in self.registries().enumerate() {
            let Some(names) = registry.requiring(package)? else {
                return Ok(None);
            };
            found.extend(self.coming_from(at, names)?);
        }
        Ok(Some(found.into_iter().collect()))
    }

    /// The description of a package in the registry that it comes from; `None` if that registry has no description.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn description(
        &self,
        package: &PackageName,
    ) -> Result<Option<PackageDescription>, RegistryError> {
        match self.origin(package)? {
            Some((registry, _)) => registry.description(package),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits};

    use super::*;
    use crate::memory::MemoryRegistry;
    use crate::registry::Registry;

    fn set() -> RegistrySet {
        let registry = |name: &str, lines: &[&str]| -> Box<dyn Registry> {
            let mut registry = MemoryRegistry::new(RegistryName::parse(name).expect("a name"));
            for line in lines {
                let record = IndexRecord::parse_line(line, &Limits::default());
                registry.add_record(record.expect("a record"));
            }
            Box::new(registry)
        };
        RegistrySet::new(vec![
            registry(
                "one",
                &[
                    r#"{"name":"a.Web","version":"1.0.0","require":{"a.Db":"1"},"classes":{"a.Server":{}}}"#,
                    r#"{"name":"a.Db","version":"1.0.0"}"#,
                ],
            ),
            registry(
                "two",
                &[r#"{"name":"b.Web","version":"1.0.0","require":{"a.Db":"1"}}"#],
            ),
        ])
    }

    #[test]
    fn every_word_has_to_match_a_name_or_a_class() {
        let found = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let found = set().search(&words, 10).expect("memory can be read");
            found.iter().map(|found| found.name.to_string()).collect()
        };
        assert_eq!(found(&["web"]), ["a.Web", "b.Web"]);
        assert_eq!(found(&["web", "SERVER"]), ["a.Web"]);
        assert_eq!(found(&["web", "nothing"]), [""; 0]);
        assert_eq!(
            set().search(&["a".to_owned()], 1).map(|found| found.len()),
            Ok(1)
        );
    }

    #[test]
    fn packages_of_all_registries_require_a_package() {
        let package = PackageName::parse("a.Db").expect("a name");
        let requiring = set().requiring(&package).expect("memory can be read");
        let requiring = requiring.expect("all packages are known");
        let names: Vec<&str> = requiring.iter().map(PackageName::as_str).collect();
        assert_eq!(names, ["a.Web", "b.Web"]);
    }
}
