//! Words the findings about references, such as a package that is not declared or a range that is too wide.

mod allowed;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{IndexRecord, PackageName, Requirement, Version, did_you_mean};

use self::allowed::Amount;
use super::{AllowedReleases, ClassReference, References, somewhere_in};
use crate::lookup::ReleaseLookup;
use crate::rules::Rules;

/// The most versions that are listed in a message.
const SHOWN_VERSIONS: usize = 3;

/// A root whose references are checked, with what is known about other packages.
pub(crate) struct ReferenceCheck<'check> {
    pub(crate) record: &'check IndexRecord,
    pub(crate) root: &'check dyn References,
    pub(crate) rules: Rules,
    pub(crate) known: &'check dyn ReleaseLookup,
    /// The path of the file that states the requirements.
    pub(crate) path: &'check str,
}

impl ReferenceCheck<'_> {
    /// The findings about all references.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let mut by_package: BTreeMap<PackageName, Vec<ClassReference>> = BTreeMap::new();
        for reference in self.root.references() {
            let references = by_package.entry(reference.package.clone());
            references.or_default().push(reference);
        }
        let mut findings = Vec::new();
        for (package, references) in by_package {
            let mut requirements = self.record.requirements.iter();
            match requirements.find(|one| one.package == package) {
                Some(requirement) => findings.extend(self.declared(requirement, &references)),
                None => findings.extend(self.undeclared(&package, &references)),
            }
        }
        findings
    }

    /// The warning about a package that is not among the requirements.
    fn undeclared(
        &self,
        package: &PackageName,
        references: &[ClassReference],
    ) -> Option<Diagnostic> {
        let is_certain = |one: &&ClassReference| one.is_needed && one.is_unguarded;
        let first = references
            .iter()
            .find(is_certain)
            .or_else(|| references.first())?;
        let when = if is_certain(&first) {
            ""
        } else {
            "; it works only where that happens to be installed"
        };
        let more = match references.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let message = format!(
            "`{}` {} `{}`{more}, but `{package}` is not a dependency{when}",
            Escaped::shortened(&first.from),
            self.root.verb(first),
            Escaped::shortened(first.to.as_str()),
        );
        let finding = Diagnostic::warning(Code::NotRequired, message);
        let finding = finding.at(self.root.place_of(first));
        let least = self.least_with(package, references);
        Some(match self.root.declaration(package, least.as_ref()) {
            Some(hint) => finding.hint(hint),
            None => finding,
        })
    }

    /// The lowest version of a package that has every class needed from it; `None` if no class is needed, or no version
    /// has all of them.
    fn least_with(&self, package: &PackageName, references: &[ClassReference]) -> Option<Version> {
        let releases = self.known.releases(package).unwrap_or_default();
        let needed = classes_of(references, |one| one.is_needed);
        let has_all = |record: &&IndexRecord| {
            let stable = !record.yanked && !record.version.is_prerelease();
            stable && needed.iter().all(|one| record.defines(&one.to))
        };
        let fitting = releases.iter().filter(has_all).map(|one| &one.version);
        fitting.min().filter(|_| !needed.is_empty()).cloned()
    }

    /// The findings about references to a package that is required.
    fn declared(
        &self,
        requirement: &Requirement,
        references: &[ClassReference],
    ) -> Vec<Diagnostic> {
        // To know more releases can be dear, and what the newest one has is in some release.
        let is_enough = |newest: &AllowedReleases| {
            let mut references = references.iter();
            references.all(|one| {
                let mut releases = newest.releases.iter();
                !one.is_needed && releases.any(|release| self.has(release, one))
            })
        };
        let newest = self.allowed(requirement, Amount::Newest);
        let allowed = match newest.ok().filter(is_enough) {
            Some(newest) => newest,
            None => match self.allowed(requirement, Amount::Several) {
                Ok(allowed) => allowed,
                Err(finding) => return vec![finding],
            },
        };
        // That no release has something is certain only if all are known.
        let is_everywhere_missing = |reference: &ClassReference| {
            let mut releases = allowed.releases.iter();
            !releases.any(|one| self.has(one, reference))
        };
        let is_open = !allowed.are_all_known() && references.iter().any(is_everywhere_missing);
        let allowed = match is_open.then(|| self.allowed(requirement, Amount::Every)) {
            Some(Ok(every)) => every,
            Some(Err(_)) | None => allowed,
        };
        let mut findings = Vec::new();
        let mut lacked: Vec<&ClassReference> = Vec::new();
        let mut missing: Vec<&ClassReference> = Vec::new();
        let having = |reference: &ClassReference| {
            let releases = allowed.releases.iter();
            releases.filter(|one| self.has(one, reference)).count()
        };
        for reference in classes_of(references, |one| one.is_needed) {
            match having(reference) {
                0 => missing.push(reference),
                count if count < allowed.releases.len() => lacked.push(reference),
                _ => {}
            }
        }
        // Which versions have what is only used does not narrow the choice of the solver, so that the newest one is
        // chosen without it. Of older versions nothing is said: often they are not known.
        let is_in_newest = |reference: &ClassReference| {
            let newest = allowed.newest();
            newest.is_some_and(|newest| self.has(newest, reference))
        };
        let mut lacked_uses: Vec<&ClassReference> = Vec::new();
        for reference in classes_of(references, |one| !one.is_needed) {
            if having(reference) == 0 {
                missing.push(reference);
            } else if !is_in_newest(reference) {
                lacked_uses.push(reference);
            }
        }
        if allowed.are_all_known() {
            let missing = missing.iter();
            findings.extend(missing.map(|one| self.missing(one, requirement, &allowed)));
        } else {
            findings.extend(self.perhaps_missing(&missing, requirement, &allowed));
        }
        let exclude_each_other = self.exclusive(&lacked, &[], &allowed);
        // What is only used adds nothing to a conflict of what is needed.
        let needed = if exclude_each_other.is_empty() {
            &lacked[..]
        } else {
            &[]
        };
        if exclude_each_other.is_empty() {
            findings.extend(self.too_wide(&lacked, requirement, &allowed));
        } else {
            findings.push(self.not_together(&exclude_each_other, requirement, &allowed));
        }
        let uses_exclude = self.exclusive(&lacked_uses, needed, &allowed);
        if uses_exclude.is_empty() {
            findings.extend(self.too_wide(&lacked_uses, requirement, &allowed));
        } else {
            findings.push(self.not_together(&uses_exclude, requirement, &allowed));
        }
        let others = self.root.other_findings(references, requirement, &allowed);
        findings.extend(others);
        findings
    }

    /// The finding about something that no allowed version has.
    fn missing(
        &self,
        reference: &ClassReference,
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Diagnostic {
        let message = format!(
            "`{}` {} `{}`, which no version of `{}` in `{}` has",
            Escaped::shortened(&reference.from),
            self.root.verb(reference),
            reference.to,
            allowed.name,
            Escaped::shortened(requirement.spec.written()),
        );
        let mut finding = if reference.is_needed {
            Diagnostic::error(Code::ClassUnavailable, message)
        } else {
            Diagnostic::warning(Code::UndefinedUse, message)
        };
        finding = finding.at(self.root.place_of(reference));
        if let Some(hint) = self.root.hints().explain_missing(reference, allowed) {
            finding = finding.hint(hint);
        }
        let all = allowed.all.iter();
        let elsewhere = all.filter(|one| one.defines(&reference.to));
        if let Some(other) = elsewhere.map(|one| &one.version).max() {
            return finding.hint(format!("{other} is the newest version that has it"));
        }
        let similar = allowed.similar(&reference.to, |class| self.root.hints().kind_of(class));
        let similar = similar.filter(|_| finding.hints.is_empty());
        finding.maybe_hint(similar.map(did_you_mean))
    }

    /// The warning about references that lead to no known class, while the classes of some allowed versions are unknown.
    fn perhaps_missing(
        &self,
        references: &[&ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Option<Diagnostic> {
        let (first, others) = references.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let classes = self.root.words().classes;
        let message = format!(
            "`{}` {} `{}`{more}, which is in no version of `{}` in `{}` whose {classes} are known; the {classes} of {} are unknown",
            Escaped::shortened(&first.from),
            self.root.verb(first),
            first.to,
            allowed.name,
            Escaped::shortened(requirement.spec.written()),
            shown_versions(allowed.unknown.iter()),
        );
        let finding = Diagnostic::warning(Code::ClassesNotRead, message);
        Some(finding.at(self.root.place_of(first)))
    }

    /// Whether a release has a class for a reference. Something that is only used may have moved to another package that
    /// is required, too: the native tool finds it there.
    fn has(&self, release: &IndexRecord, reference: &ClassReference) -> bool {
        if release.defines(&reference.to) {
            return true;
        }
        if reference.is_needed {
            return false;
        }
        let Some((package, class)) = self.root.hints().moved_to(release, &reference.to) else {
            return false;
        };
        if package == self.record.name {
            return self.record.defines(&class);
        }
        let mut requirements = self.record.requirements.iter();
        requirements.any(|one| one.package == package)
            && (self.known.releases(&package).unwrap_or_default().iter())
                .any(|one| one.classes.is_none() || one.defines(&class))
    }

    /// Some of the references that no allowed release has together with all of `others`: none of them can be left out.
    /// Empty if a release has them all, or may have them.
    fn exclusive<'reference>(
        &self,
        references: &[&'reference ClassReference],
        others: &[&'reference ClassReference],
        allowed: &AllowedReleases,
    ) -> Vec<&'reference ClassReference> {
        let have_a_release = |references: &[&ClassReference]| {
            let mut releases = allowed.releases.iter();
            releases.any(|release| references.iter().all(|one| self.has(release, one)))
        };
        let mut all: Vec<&ClassReference> = references.iter().chain(others).copied().collect();
        if references.is_empty() || !allowed.are_all_known() || have_a_release(&all) {
            return Vec::new();
        }
        let mut at = 0;
        while at < all.len() {
            let left_out = all.remove(at);
            if have_a_release(&all) {
                all.insert(at, left_out);
                at += 1;
            }
        }
        all
    }

    /// The finding about references each of which some allowed version has, but no version has all.
    fn not_together(
        &self,
        references: &[&ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Diagnostic {
        let all = match references.len() {
            2 => "both",
            _ => "all of",
        };
        let described = references.iter().map(|one| {
            let from = Escaped::shortened(&one.from);
            format!("`{}`, which `{from}` {}", one.to, self.root.verb(one))
        });
        let message = format!(
            "no version of `{}` in `{}` has {all} {}",
            allowed.name,
            Escaped::shortened(requirement.spec.written()),
            described.collect::<Vec<_>>().join(", and "),
        );
        let finding = if references.iter().all(|one| one.is_needed) {
            Diagnostic::error(Code::ClassUnavailable, message)
        } else {
            Diagnostic::warning(Code::UndefinedUse, message)
        };
        references.iter().fold(finding, |finding, reference| {
            let releases = allowed.releases.iter();
            let with = shown_versions(releases.filter(|one| self.has(one, reference)));
            finding.label(self.root.place_of(reference), format!("it is in {with}"))
        })
    }

    /// The warning about a range that allows versions without something that is needed, or used.
    fn too_wide(
        &self,
        lacked: &[&ClassReference],
        requirement: &Requirement,
        allowed: &AllowedReleases,
    ) -> Option<Diagnostic> {
        let reference = lacked.first()?;
        let releases = allowed.releases.iter();
        let shown = shown_versions(releases.filter(|one| !self.has(one, reference)));
        let range = requirement.spec.written();
        let message = format!(
            "`{}` {} `{}`, and the range `{}` of `{}` allows versions without it: {shown}",
            Escaped::shortened(&reference.from),
            self.root.verb(reference),
            reference.to,
            Escaped::shortened(range),
            allowed.name,
        );
        let (place, stated) = (self.root.place_of(reference), self.place_in(requirement));
        let mut finding = Diagnostic::warning(Code::RangeTooWide, message).at(place.clone());
        if place != stated {
            finding = finding.label(stated, "the range is stated here");
        }
        let releases = allowed.releases.iter();
        let fits = releases.map(|release| {
            let mut lacked = lacked.iter();
            let fits = lacked.all(|one| self.has(release, one));
            (&release.version, fits)
        });
        let fits: Vec<(&Version, bool)> = fits.collect();
        let needed = if reference.is_needed {
            self.root.words().needed
        } else {
            self.root.words().used
        };
        let finding = match self.root.hints().explain_missing(reference, allowed) {
            Some(hint) => finding.hint(hint),
            None => finding,
        };
        Some(match self.root.hints().narrowed(range, &fits) {
            Some(range) => finding.hint(format!(
                "`{range}` allows only versions with everything that is {needed}"
            )),
            None => finding,
        })
    }

    /// The place of a requirement.
    fn place_in(&self, requirement: &Requirement) -> Location {
        let place = requirement.location.clone();
        place.unwrap_or_else(|| somewhere_in(self.path))
    }
}

/// The versions of some releases; of many, the first.
fn shown_versions<'release>(releases: impl Iterator<Item = &'release IndexRecord>) -> String {
    let versions: Vec<String> = releases.map(|one| one.version.to_string()).collect();
    let shown = versions[..versions.len().min(SHOWN_VERSIONS)].join(", ");
    match versions.len().saturating_sub(SHOWN_VERSIONS) {
        0 => shown,
        more => format!("{shown} and {more} others"),
    }
}

/// The first reference to each class, of those that are wanted.
fn classes_of(
    references: &[ClassReference],
    is_wanted: impl Fn(&ClassReference) -> bool,
) -> Vec<&ClassReference> {
    let mut seen = BTreeSet::new();
    references
        .iter()
        .filter(|one| is_wanted(one) && seen.insert(&one.to))
        .collect()
}
