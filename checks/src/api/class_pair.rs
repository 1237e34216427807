//! A class in the old and the new version, as the comparisons of its parts need it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassDefinition, ClassName, ClassUsage, PackageName, Release};

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
    /// The classes through which this class may have lost ancestors, the farthest first; computed on first use.
    pub(super) losses: OnceCell<Vec<AncestorLoss>>,
    /// The creation that shows that a new required property breaks callers, computed on first use; `None` if there is
    /// none.
    pub(super) creation: OnceCell<Option<WitnessUse>>,
}

/// A class that may have lost ancestors: one that the compared class still extends, or that class itself.
pub(super) struct AncestorLoss {
    class: ClassName,
    /// The ancestors that it has in the old version and not in the new one.
    lost: OnceCell<BTreeSet<ClassName>>,
}

/// The part of a class that differs.
pub(super) struct Subject {
    pub(super) class: ClassName,
    pub(super) member: Option<String>,
    pub(super) argument: Option<String>,
    pub(super) old: Option<Location>,
    pub(super) new: Option<Location>,
}

/// The classes of the old version that declared members of a class. Each is looked up once, for all removed members.
pub(super) struct Declarers<'packages> {
    /// The names of the members that a class declares.
    names: fn(&'packages ClassDefinition) -> HashSet<&'packages str>,
    known: BTreeMap<&'packages ClassAt, Declarer<'packages>>,
}

/// A class of the old version that declared members of a class.
struct Declarer<'packages> {
    /// The members that it declares in the new version.
    still: HashSet<&'packages str>,
    /// The class that lost it as an ancestor.
    lost_by: OnceCell<ClassName>,
}

impl<'packages> Declarers<'packages> {
    pub(super) fn new(names: fn(&'packages ClassDefinition) -> HashSet<&'packages str>) -> Self {
        Self {
            names,
            known: BTreeMap::new(),
        }
    }
}

impl<'packages> ClassPair<'packages> {
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
    /// a class lost the ancestor that declares it. `name` is the canonical one.
    pub(super) fn removal<'both, Member>(
        &self,
        declared: &'both Declared<'_, Member>,
        (kind, written, name): (&str, &str, &str),
        is_certain: bool,
        declarers: &mut Declarers<'both>,
    ) -> (ClassName, String)
    where
        'packages: 'both,
    {
        let owner = self.owner(declared);
        let shown = Escaped::shortened(written);
        let at = &declared.class;
        let names = declarers.names;
        let known = (declarers.known.entry(at)).or_insert_with(|| Declarer {
            still: self.definitions_now(at).flat_map(names).collect(),
            lost_by: OnceCell::new(),
        });
        if known.still.contains(name) {
            let ancestor = &at.class;
            let lost_by = known
                .lost_by
                .get_or_init(|| self.class_that_lost(ancestor))
                .clone();
            let verb = if is_certain {
                "no longer inherits"
            } else {
                "may no longer inherit"
            };
            let message = format!("`{lost_by}` {verb} the {kind} `{shown}` of `{ancestor}`");
            let class = if self.package.is_some() {
                lost_by
            } else {
                owner
            };
            return (class, message);
        }
        let verb = if is_certain { "has" } else { "declares" };
        let message = format!("`{owner}` no longer {verb} the {kind} `{shown}`");
        (owner, message)
    }

    /// The definitions of a class of the old version in the new one: in each release of its package.
    fn definitions_now(&self, at: &ClassAt) -> impl Iterator<Item = &'packages ClassDefinition> {
        let ApiOf { packages, release } = self.new_api;
        let required = packages.releases.values().flat_map(|it| &it.requires);
        let releases: BTreeSet<&Release> = (required.chain([release]))
            .filter(|release| release.name == at.release.name)
            .collect();
        releases.into_iter().filter_map(|release| {
            packages.definition(&ClassAt {
                release: release.clone(),
                class: at.class.clone(),
            })
        })
    }

    /// The class of the compared package through which this class lost an ancestor: of those that it still extends,
    /// the farthest that has the ancestor in the old version and not in the new one.
    pub(super) fn class_that_lost(&self, ancestor: &ClassName) -> ClassName {
        if self.package.is_none() {
            return self.name.clone();
        }
        let mut losses = self.losses.get_or_init(|| self.possible_losses()).iter();
        let loss = losses.find(|loss| {
            let lost = loss.lost.get_or_init(|| {
                let now = self.new_api.ancestors(&loss.class);
                let before = self.old_api.ancestors(&loss.class);
                before.difference(&now).cloned().collect()
            });
            loss.class != *ancestor && lost.contains(ancestor)
        });
        loss.map_or_else(|| self.name.clone(), |loss| loss.class.clone())
    }

    /// The classes of the compared package through which this class can have lost ancestors, the farthest first.
    fn possible_losses(&self) -> Vec<AncestorLoss> {
        let (old, new) = (self.old_api, self.new_api);
        let still = new.ancestors(self.name);
        let lineage = old.packages.lineage(old.release, self.name);
        let candidates = lineage.into_iter().rev();
        candidates
            .filter(|(release, class)| release == old.release && still.contains(class))
            .map(|(_, class)| AncestorLoss {
                class,
                lost: OnceCell::new(),
            })
            .collect()
    }
}
