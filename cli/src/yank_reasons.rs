//! The reasons why releases were yanked, as their registries give them.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, Release, Version};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{PolicyExclusion, Resolution};

/// How many characters of a reason are shown.
const REASON_CHARACTERS: usize = 200;

/// The reasons of some yanked releases. Registries that give none, or cannot be asked, have no entries: the release was
/// yanked all the same.
#[derive(Debug, Default)]
pub(crate) struct YankReasons(BTreeMap<Release, String>);

impl YankReasons {
    /// Asks the registries for the reasons of yanked releases.
    pub(crate) fn find<'releases>(
        releases: impl Iterator<Item = (&'releases PackageName, &'releases Version)>,
        registries: &RegistrySet,
    ) -> Self {
        let mut versions: BTreeMap<&PackageName, Vec<&Version>> = BTreeMap::new();
        for (name, version) in releases {
            versions.entry(name).or_default().push(version);
        }
        let mut reasons = BTreeMap::new();
        for (name, versions) in versions {
            let Ok(Some(description)) = registries.description(name) else {
                continue;
            };
            for version in versions {
                if let Some(reason) = description.yank_reason(version) {
                    let release = Release::new(name.clone(), (*version).clone());
                    reasons.insert(release, shown_reason(reason));
                }
            }
        }
        Self(reasons)
    }

    /// The reasons for the yanked releases in a resolution.
    pub(crate) fn of_resolution(resolution: &Resolution, registries: &RegistrySet) -> Self {
        let excluded = resolution.excluded();
        let yanked = excluded
            .iter()
            .filter(|release| release.exclusion == PolicyExclusion::Yanked);
        Self::find(
            yanked.map(|release| (&release.name, &release.version)),
            registries,
        )
    }

    /// The reason for one release, ready to be shown.
    pub(crate) fn get(&self, name: &PackageName, version: &Version) -> Option<&str> {
        let release = Release::new(name.clone(), version.clone());
        self.0.get(&release).map(String::as_str)
    }

    /// The reason behind the words "was yanked": ` (REASON)`, or nothing.
    pub(crate) fn in_parentheses(&self, name: &PackageName, version: &Version) -> String {
        self.get(name, version)
            .map_or_else(String::new, |reason| format!(" ({reason})"))
    }
}

/// A reason as it can be shown: it comes from the registry.
pub(crate) fn shown_reason(reason: &str) -> String {
    Escaped::within(reason, REASON_CHARACTERS).to_string()
}
