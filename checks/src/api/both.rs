//! A class in the old and the new version, as the comparisons of its parts need it.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, ClassUsage, PackageName};

use super::rules::ApiRule;
use super::witness::WitnessUse;
use super::{ApiDifference, FoundDifference};
use crate::members::{Declared, EffectiveMembers};

/// A class in both versions.
pub(super) struct BothVersions<'packages> {
    pub(super) name: &'packages ClassName,
    /// The package whose classes the differences are reported for; `None` if each is reported for the class that
    /// declares what differs.
    pub(super) package: Option<&'packages PackageName>,
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

impl BothVersions<'_> {
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
            Some(package) if declared.class.release.0 != *package => self.name.clone(),
            _ => declared.class.class.clone(),
        }
    }
}
