//! A class in the old and the new version, as the comparisons of its parts need it.

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassDefinition, ClassName, ClassUsage, PackageName};

use super::rules::ApiRule;
use super::witness::WitnessUse;
use super::{ApiDifference, ApiOf, FoundDifference};
use crate::bound_packages::ClassAt;
use crate::members::{Declared, EffectiveMembers};

/// A class in both versions.
pub(super) struct ClassPair<'packages> {
    pub(super) name: &'packages ClassName,
    /// The package whose classes the differences are reported for; `None` if each is reported for the class that
    /// declares what differs.
    pub(super) package: Option<&'packages PackageName>,
    /// The release that has or names the class, before and after.
    pub(super) old_api: ApiOf<'packages>,
    pub(super) new_api: ApiOf<'packages>,
    pub(super) old: EffectiveMembers<'packages>,
    pub(super) new: EffectiveMembers<'packages>,
    /// The usage of the class in the old version.
    pub(super) usage: ClassUsage,
    /// The place of the class in the new version.
    pub(super) new_place: &'packages Location,
}

/// The part of a class that differs.
pub(super) struct Subject {
    pub(super) class: ClassName,
    pub(super) member: Option<String>,
    pub(super) argument: Option<String>,
    pub(super) old: Option<Location>,
    pub(super) new: Option<Location>,
}

impl ClassPair<'_> {
    /// A difference of the class.
    pub(super) fn difference(
        &self,
        rule: ApiRule,
        subject: Subject,
        message: String,
        noticed: Option<WitnessUse>,
    ) -> FoundDifference {
        FoundDifference {
            difference: ApiDifference {
                rule,
                class: subject.class,
                member: subject.member,
                argument: subject.argument,
                message,
                old: subject.old,
                new: subject.new,
                inheritors: Vec::new(),
                noticed,
            },
            of: self.name.clone(),
        }
    }

    /// The class that a difference in a member is reported for: the one that declares it, unless it belongs to another
    /// package than the one that is compared.
    pub(super) fn owner<Member>(&self, declared: &Declared<'_, Member>) -> ClassName {
        match self.package {
            Some(package) if declared.class.release.name != *package => self.name.clone(),
            _ => declared.class.class.clone(),
        }
    }

    /// The class that a removed member is reported for, and the message. If the member is still declared where it was,
    /// a class lost the ancestor that declares it.
    pub(super) fn removal<Member>(
        &self,
        declared: &Declared<'_, Member>,
        (kind, name): (&str, &str),
        is_certain: bool,
        is_declared: impl Fn(&ClassDefinition) -> bool,
    ) -> (ClassName, String) {
        let owner = self.owner(declared);
        let shown = Escaped::shortened(name);
        if self.is_still_declared(declared, is_declared) {
            let ancestor = &declared.class.class;
            let loser = self.loser(ancestor);
            let verb = if is_certain {
                "no longer inherits"
            } else {
                "may no longer inherit"
            };
            let message = format!("`{loser}` {verb} the {kind} `{shown}` of `{ancestor}`");
            let class = if self.package.is_some() { loser } else { owner };
            return (class, message);
        }
        let verb = if is_certain { "has" } else { "declares" };
        let message = format!("`{owner}` no longer {verb} the {kind} `{shown}`");
        (owner, message)
    }

    /// Whether the class that declared a member still does.
    fn is_still_declared<Member>(
        &self,
        declared: &Declared<'_, Member>,
        is_declared: impl Fn(&ClassDefinition) -> bool,
    ) -> bool {
        let at = &declared.class;
        let ApiOf { packages, release } = self.new_api;
        let required = packages.releases.values().flat_map(|it| &it.requires);
        let mut releases = required
            .chain([release])
            .filter(|release| release.name == at.release.name);
        releases.any(|release| {
            let now = ClassAt {
                release: release.clone(),
                class: at.class.clone(),
            };
            packages.definition(&now).is_some_and(&is_declared)
        })
    }

    /// The class of the compared package through which this class lost an ancestor: of those that it still extends,
    /// the farthest that had the ancestor and has it no more.
    pub(super) fn loser(&self, lost: &ClassName) -> ClassName {
        if self.package.is_none() {
            return self.name.clone();
        }
        let (old, new) = (self.old_api, self.new_api);
        let still = new.ancestors(self.name);
        let mut candidates = old
            .packages
            .lineage(old.release, self.name)
            .into_iter()
            .rev();
        let loser = candidates.find(|(release, class)| {
            release == old.release
                && class != lost
                && still.contains(class)
                && old.ancestors(class).contains(lost)
                && !new.ancestors(class).contains(lost)
        });
        loser.map_or_else(|| self.name.clone(), |(_, class)| class)
    }
}
