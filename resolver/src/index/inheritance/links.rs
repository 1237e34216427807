//! Links: where external classes are found.
//!
//! Each external class of a release is looked up in the packages that the release requires. If one
//! of them can define the class, the link has the set of its defining releases. Releases of a
//! package that extend a class from the same package, and require no more, share the set of owners,
//! so that the search needs one clause for all of them. A set that is [not worth its
//! memory](is_worth_a_set) is not stored.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{CompiledIndex, NONE, is_large, is_worth_a_set, to_u32, width};
use super::definers::{ClassDefiners, insert, new_set};
use super::{Inheritance, Link, SEVERAL};

/// How many distinct lists of requirements the releases of a package may have to share links. All
/// lists are compared with each other, and each class and list has a set of releases: without a
/// limit, both are quadratic in the size of an index. Releases of real packages have a handful of
/// lists.
const MAX_SHARED_LISTS: usize = 64;

/// Whether releases have few enough distinct lists of requirements to share links.
pub(super) fn may_share_links(lists: &[u32]) -> bool {
    let mut distinct: FxHashSet<u32> = FxHashSet::default();
    lists.len() <= MAX_SHARED_LISTS
        || lists.iter().all(|list| {
            distinct.insert(*list);
            distinct.len() <= MAX_SHARED_LISTS
        })
}

/// Which releases of a package require a subset of what others require.
struct RequirementLists {
    /// For each release the number of its list of requirements.
    lists: Vec<u8>,
    /// For each list the lists that are subsets of it, as bits.
    subsets: Vec<u64>,
}

impl RequirementLists {
    fn of(inheritance: &Inheritance, releases: Range<u32>) -> Self {
        let mut numbers: FxHashMap<u32, u8> = FxHashMap::default();
        // A release for each list.
        let mut having: Vec<u32> = Vec::new();
        let lists = releases.map(|release| {
            *numbers
                .entry(inheritance.required(release))
                .or_insert_with(|| {
                    having.push(release);
                    u8::try_from(having.len() - 1).expect("there are few lists")
                })
        });
        let lists = lists.collect();
        let subsets = having.iter().map(|many| {
            let is_in = |few: &u32| inheritance.requires_subset(*few, *many, None);
            let bits = having.iter().enumerate();
            let bits = bits.filter(|(_, few)| is_in(few)).map(|(at, _)| 1 << at);
            bits.fold(0, |all: u64, bit: u64| all | bit)
        });
        let subsets = subsets.collect();
        Self { lists, subsets }
    }

    fn list(&self, release: u32) -> usize {
        usize::from(self.lists[release as usize])
    }

    fn requires_subset(&self, release: u32, list: usize) -> bool {
        self.subsets[list] >> self.list(release) & 1 == 1
    }
}

impl Inheritance {
    pub(super) fn find_links(&mut self, index: &CompiledIndex) {
        if index.externals.items.is_empty() {
            return;
        }
        self.link_starts.push(0);
        for name in 0..index.name_count() {
            let first = self.links.len();
            // The package that each link leads to.
            let mut targets = Vec::new();
            for release in index.releases(name) {
                let table = index.table(release);
                let externals = table.map_or(&[][..], |table| index.externals(table));
                for class in externals {
                    let (link, is_required) = self.find_link(index, name, release, *class);
                    if !is_required {
                        self.extends[release as usize].unresolved = true;
                    }
                    let (requirement, target, allowed) = link.unwrap_or((SEVERAL, NONE, NONE));
                    targets.push(target);
                    self.links.push(Link {
                        class: *class,
                        requirement,
                        allowed,
                        owners: NONE,
                    });
                }
                self.link_starts.push(to_u32(self.links.len()));
            }
            self.find_owners(index, name, first, &targets);
        }
    }

    /// Finds the owners of the links of a package; `first` is the first of these links, and
    /// `targets` has the package that each leads to.
    fn find_owners(&mut self, index: &CompiledIndex, name: u32, first: usize, targets: &[u32]) {
        if targets.is_empty() || !self.may_share_links(name) {
            return;
        }
        let releases = index.releases(name);
        let requiring = RequirementLists::of(self, releases.clone());
        // The links of all releases, sorted so that those to share owners are adjacent.
        let mut alike: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(targets.len());
        for release in releases.clone() {
            for at in self.link_range(release) {
                // What no requirement leads to is shared by nobody.
                if self.links[at].requirement < SEVERAL {
                    let (class, target) = (self.links[at].class, targets[at - first]);
                    alike.push((class, target, release - releases.start, at));
                }
            }
        }
        alike.sort_unstable();
        let width = width_of(index, name);
        for alike in alike.chunk_by(|one, two| (one.0, one.1) == (two.0, two.1)) {
            // The index of the owners for each list of requirements.
            let mut owners_of: [Option<u32>; MAX_SHARED_LISTS] = [None; MAX_SHARED_LISTS];
            for (_, _, release, at) in alike {
                let list = requiring.list(*release);
                self.links[*at].owners = *owners_of[list].get_or_insert_with(|| {
                    let others = alike.iter().map(|(_, _, other, _)| *other);
                    let others = others.filter(|other| requiring.requires_subset(*other, list));
                    if !is_worth_a_set(width, others.clone().count()) {
                        return NONE;
                    }
                    let owners = new_set(&mut self.words, width);
                    for other in others {
                        insert(&mut self.words, owners, other);
                    }
                    owners
                });
            }
        }
    }

    /// The requirement on the only package that can define a class, that package, and the index of
    /// the set of its defining releases; all [`NONE`] if no package can, and `None` if several can
    /// or there is no such set.
    /// Also, whether one of the requirements allows defining releases only.
    fn find_link(
        &self,
        index: &CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> (Option<(u32, u32, u32)>, bool) {
        let own_width = width_of(index, name);
        let allows_only = |requirement: u32, target: u32, definers: &ClassDefiners<'_>| {
            let sets = index.requirement(requirement as usize).sets;
            let width = width_of(index, target);
            // The search finds out where the index does not say what is allowed.
            if sets == NONE || is_large(width) {
                return false;
            }
            let allowed = index.words_at(sets as usize + own_width, width);
            definers.contain_all(allowed)
        };
        let mut link = None;
        let mut is_required = false;
        let mut count = 0;
        for (requirement, target, definers) in self.definers_for(index, name, release, class) {
            link = match definers {
                ClassDefiners::Set { at, .. } => Some((requirement, target, at)),
                // Links have sets. Without one, the search looks the definers up.
                ClassDefiners::Few { .. } => None,
            };
            is_required = is_required || allows_only(requirement, target, &definers);
            count += 1;
        }
        match count {
            0 => (Some((NONE, NONE, NONE)), false),
            1 => (link, is_required),
            _ => (None, is_required),
        }
    }

    /// The requirements on packages that can define a class, with their targets and definers.
    fn definers_for<'own>(
        &'own self,
        index: &'own CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> impl Iterator<Item = (u32, u32, ClassDefiners<'own>)> {
        index
            .requirement_range(release)
            .filter_map(move |requirement| {
                let target = index.requirement(requirement).target;
                let definers = self.definers_of(index, target, class)?;
                (target != name).then_some((to_u32(requirement), target, definers))
            })
    }
}

/// How many words a set of releases of a package has.
fn width_of(index: &CompiledIndex, name: u32) -> usize {
    let releases = index.releases(name);
    width(releases.end - releases.start)
}
