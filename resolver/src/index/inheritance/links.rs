//! Where the classes that releases extend are found.

use rustc_hash::FxHashMap;

use super::super::{CompiledIndex, NONE, to_u32, width};
use super::{Inheritance, Link, SEVERAL};

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
                        self.set_sought(release);
                    }
                    let (edge, target, allowed) = link.unwrap_or((SEVERAL, NONE, NONE));
                    targets.push(target);
                    self.links.push(Link {
                        class: *class,
                        edge,
                        allowed,
                        owners: NONE,
                    });
                }
                self.link_starts.push(to_u32(self.links.len()));
            }
            self.find_owners(index, name, first, &targets);
        }
    }

    /// Finds out which releases of a package have links in common; `first` is the first link of
    /// the package, and `targets` are the packages that the links lead to.
    fn find_owners(&mut self, index: &CompiledIndex, name: u32, first: usize, targets: &[u32]) {
        let releases = index.releases(name);
        let width = width_of(index, name);
        let links_of = |inheritance: &Self, release: u32| {
            let bounds = &inheritance.link_starts[release as usize..release as usize + 2];
            bounds[0] as usize..bounds[1] as usize
        };
        // The releases that have each link, in its order.
        let mut alike: Vec<(u32, u32, u32)> = Vec::with_capacity(targets.len());
        for release in releases.clone() {
            for at in links_of(self, release) {
                if self.links[at].edge != SEVERAL {
                    alike.push((self.links[at].class, targets[at - first], release));
                }
            }
        }
        alike.sort_unstable();
        let mut known: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        for release in releases.clone() {
            for at in links_of(self, release) {
                let (class, edge) = (self.links[at].class, self.links[at].edge);
                if edge == SEVERAL {
                    continue;
                }
                let target = targets[at - first];
                let key = (class, target, self.required(release));
                if let Some(owners) = known.get(&key) {
                    self.links[at].owners = *owners;
                    continue;
                }
                let owners = self.new_set(width);
                let from = alike.partition_point(|link| *link < (class, target, 0));
                let same = |link: &&(u32, u32, u32)| (link.0, link.1) == (class, target);
                for (_, _, other) in alike[from..].iter().take_while(same) {
                    if self.requires_no_more(*other, release, None) {
                        self.insert(owners, other - releases.start);
                    }
                }
                known.insert(key, owners);
                self.links[at].owners = owners;
            }
        }
    }

    /// The requirement of a release on the only package that can define a class, that package,
    /// and where the set of its releases stands that do; nothing but [`NONE`] if no package can, and
    /// nothing at all if several can. And whether one of the requirements allows only such releases.
    fn find_link(
        &self,
        index: &CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> (Option<(u32, u32, u32)>, bool) {
        let own_width = width_of(index, name);
        let allows_only = |(edge, target, defining): (u32, u32, u32)| {
            let [_, _, sets] = index.requirement(edge as usize);
            let width = width_of(index, target);
            let allowed = index.words_at(sets as usize + own_width, width);
            let defining = self.words_at(defining as usize, width);
            let mut pairs = allowed.iter().zip(defining);
            pairs.all(|(allowed, defining)| allowed & !defining == 0)
        };
        let mut link = None;
        let mut is_required = false;
        let mut count = 0;
        for found in self.definers_for(index, name, release, class) {
            link = Some(found);
            is_required = is_required || allows_only(found);
            count += 1;
        }
        match count {
            0 => (Some((NONE, NONE, NONE)), false),
            1 => (link, is_required),
            _ => (None, is_required),
        }
    }

    fn definers_for(
        &self,
        index: &CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> impl Iterator<Item = (u32, u32, u32)> {
        index.edges(release).filter_map(move |edge| {
            let target = index.edge_target(edge);
            let defining = self.definers_of(target, class)?;
            (target != name).then_some((to_u32(edge), target, defining))
        })
    }
}

/// How many words a set of releases of a package takes.
fn width_of(index: &CompiledIndex, name: u32) -> usize {
    let releases = index.releases(name);
    width(releases.end - releases.start)
}
