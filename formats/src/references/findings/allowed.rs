//! Finds the releases that a requirement allows, and reads their classes only as far as a check needs them.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{IndexRecord, PackageName, Requirement, Version, did_you_mean};

use super::super::AllowedReleases;
use super::ReferenceCheck;
use crate::rules::Prereleases;

/// The most times that more classes of the releases of a package are asked for.
const MOST_PASSES: usize = 64;

/// How many of the releases that a requirement allows are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Newest,
    /// As many as are found out at once: of many, the oldest and the newest.
    Several,
    Every,
}

impl ReferenceCheck<'_> {
    /// The releases that a requirement allows, with their classes.
    pub(super) fn allowed(
        &self,
        requirement: &Requirement,
        amount: Amount,
    ) -> Result<AllowedReleases, Diagnostic> {
        let name = &requirement.package;
        let words = self.root.words();
        let not_checked = |reason: String| {
            let message = format!("{reason}, so {} were not checked", words.references);
            Err(Diagnostic::warning(Code::ClassesNotRead, message).at(self.place_in(requirement)))
        };
        let Some(all) = self.known.releases(name) else {
            let similar = self.known.similar(name);
            let hint = similar.map(|similar| did_you_mean(similar.as_str()));
            return not_checked(format!("no registry has `{name}`"))
                .map_err(|finding: Diagnostic| finding.maybe_hint(hint));
        };
        let takes_prereleases = match self.rules.prereleases {
            Prereleases::Ordered => true,
            Prereleases::IfNamed => {
                let is_stable = |one: &IndexRecord| !one.version.is_prerelease();
                requirement.spec.names_prerelease() || !all.iter().any(is_stable)
            }
        };
        let is_allowed = |record: &&IndexRecord| {
            let is_candidate = takes_prereleases || !record.version.is_prerelease();
            !record.yanked && is_candidate && requirement.spec.matches(&record.version)
        };
        let allowed = all.iter().filter(is_allowed);
        let mut versions: Vec<Version> = allowed.map(|one| one.version.clone()).collect();
        if amount == Amount::Newest {
            versions = versions.into_iter().max().into_iter().collect();
        }
        if versions.is_empty() {
            let range = Escaped::shortened(requirement.spec.written());
            return not_checked(format!(
                "no registry has a version of `{name}` in `{range}`"
            ));
        }
        let all = match amount {
            Amount::Newest | Amount::Several => self.known.complete(name, &versions).unwrap_or(all),
            Amount::Every => self.complete_all(name, &versions, all),
        };
        let is_wanted =
            |one: &IndexRecord| amount != Amount::Newest || versions.first() == Some(&one.version);
        // A release can be gone once it was read, such as one that is yanked.
        let wanted = all.iter().filter(|one| is_allowed(one) && is_wanted(one));
        let (known, unknown): (Vec<_>, Vec<_>) = wanted.partition(|one| one.classes.is_some());
        let sorted = |some: Vec<&IndexRecord>| {
            let mut some: Vec<IndexRecord> = some.into_iter().cloned().collect();
            some.sort_by(|one, two| one.version.cmp(&two.version));
            some
        };
        let (releases, unknown) = (sorted(known), sorted(unknown));
        if releases.is_empty() {
            return not_checked(format!(
                "no registry knows the {} of `{name}`",
                words.classes
            ));
        }
        Ok(AllowedReleases {
            name: name.clone(),
            unknown,
            releases,
            all,
        })
    }

    /// The releases of a package with the classes of all versions that can be read, some at a time.
    fn complete_all(
        &self,
        name: &PackageName,
        versions: &[Version],
        mut releases: Vec<IndexRecord>,
    ) -> Vec<IndexRecord> {
        for _ in 0..MOST_PASSES {
            let unread = unread_of(&releases, versions);
            if unread.is_empty() {
                break;
            }
            let more = self.known.complete(name, &unread);
            let is_progress =
                |more: &Vec<IndexRecord>| unread_of(more, versions).len() < unread.len();
            let Some(more) = more.filter(is_progress) else {
                break;
            };
            releases = more;
        }
        releases
    }
}

/// The versions whose classes are not known.
fn unread_of(releases: &[IndexRecord], versions: &[Version]) -> Vec<Version> {
    let wanted: BTreeSet<&Version> = versions.iter().collect();
    let unread = releases.iter().filter(|one| one.classes.is_none());
    let unread = unread.filter(|one| wanted.contains(&one.version));
    unread.map(|one| one.version.clone()).collect()
}
