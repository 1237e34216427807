//! A root that is read from its record.
//!
//! Many problems are often solved with one index, each of which brings a root of its own. To prepare it as the
//! releases of an index are would take longer than to solve most of these problems. What that would be needed
//! for seldom is: to look at the classes of the root, and to tell people of it. So it is done when somebody
//! asks.

use std::sync::{Arc, OnceLock};

use pkgres_manifest::{IndexRecord, PackageName, Spec};
use smallvec::SmallVec;

use crate::index::{CompiledIndex, to_u32};

use super::edges::{PackageRequirement, Requirer, SetId};
use super::shards::{Content, Shard};
use super::{Delivered, PackageId, Universe};

/// So many names are sorted without asking for memory.
const FEW: usize = 16;

/// The only release of a package.
#[derive(Debug)]
pub(super) struct Lone {
    record: Box<IndexRecord>,
    /// By requirement.
    edges: Vec<LoneEdge>,
    /// Whether an index that was attached has the name.
    has_namesake: bool,
    prepared: OnceLock<Arc<CompiledIndex>>,
}

/// What is known of a requirement.
#[derive(Debug, Clone, Copy)]
struct LoneEdge {
    /// The number that the prepared release knows the target by.
    name: u32,
    /// What it allows, once that was worked out.
    allowed: Option<SetId>,
}

/// The number of a name among sorted ones.
fn number_of(names: &[&PackageName], name: &PackageName) -> u32 {
    let found = names.binary_search(&name);
    to_u32(found.expect("it is one of them"))
}

impl Lone {
    /// The release as an index has it.
    pub(super) fn index(&self) -> &Arc<CompiledIndex> {
        let prepare = || Arc::new(CompiledIndex::compile([&*self.record]));
        self.prepared.get_or_init(prepare)
    }

    /// A spec, as it was read: its text need not tell all of it.
    pub(super) fn spec(&self, number: u32) -> Spec {
        let index = self.index();
        let mut requirements = index.edges(0).zip(&self.record.requirements);
        let found = requirements.find(|(edge, _)| index.edge_spec(*edge) == number);
        let (_, requirement) = found.expect("every spec is one of a requirement");
        requirement.spec.clone()
    }

    /// Whether the release has no classes, and that is known.
    pub(super) fn has_no_classes(&self) -> bool {
        let classes = self.record.classes.as_ref();
        classes.is_some_and(|classes| classes.is_empty())
    }

    /// Whether a requirement names a prerelease.
    pub(super) fn names_prerelease(&self) -> bool {
        let mut requirements = self.record.requirements.iter();
        requirements.any(|requirement| requirement.spec.names_prerelease())
    }
}

impl Universe {
    /// Takes the only release of a package, which is a root.
    pub(super) fn deliver_lone(&mut self, package: PackageId, record: Box<IndexRecord>) {
        let requirements = record.requirements.iter();
        let mut names: SmallVec<[&PackageName; FEW]> =
            requirements.map(|one| &one.package).collect();
        names.push(&record.name);
        names.sort_unstable();
        names.dedup();
        let own = number_of(&names, &record.name);
        let requirements = record.requirements.iter();
        let edges = requirements.map(|one| LoneEdge {
            name: number_of(&names, &one.package),
            allowed: None,
        });
        let edges = edges.collect();
        let name_count = names.len();
        drop(names);
        let mut attached = self.attached.iter();
        let has_namesake = attached.any(|shard| {
            let index = self.shards[*shard as usize].index();
            index.find(record.name.as_str()).is_some()
        });
        let lone = Lone {
            record,
            edges,
            has_namesake,
            prepared: OnceLock::new(),
        };
        let shard = self.add_shard(Shard::of_lone(lone, name_count));
        self.packages[package.position()].delivered = Some(Delivered {
            shard,
            name: own,
            first: 0,
            count: 1,
            is_plain: true,
        });
        self.know(shard, own, package);
    }

    fn lone(&self, shard: u32) -> Option<&Lone> {
        match &self.shards[shard as usize].content {
            Content::Lone(lone) => Some(lone),
            Content::Index(_) => None,
        }
    }

    /// Says that an index that was attached has the name of a package.
    pub(super) fn note_namesake(&mut self, package: PackageId) {
        let delivered = self.packages[package.position()].delivered;
        let shard = delivered.and_then(|delivered| self.shards.get_mut(delivered.shard as usize));
        if let Some(Content::Lone(lone)) = shard.map(|shard| &mut shard.content) {
            lone.has_namesake = true;
        }
    }

    /// Whether an index that was attached has the name of a root that is read from its record.
    pub(super) fn has_namesake(&self, package: PackageId) -> Option<bool> {
        let lone = self.lone(self.delivered(package).shard)?;
        Some(lone.has_namesake)
    }

    /// Puts what a root requires into `demands`, if it is read from its record; says whether it is. What every
    /// release requires of the core library is there already.
    #[inline]
    pub(super) fn demands_of_lone(
        &mut self,
        requirer: Requirer,
        demands: &mut Vec<PackageRequirement>,
    ) -> bool {
        let shard = requirer.shard;
        let Some(lone) = self.lone(shard) else {
            return false;
        };
        let requirements = lone.record.requirements.clone();
        for (at, requirement) in requirements.iter().enumerate() {
            let target = self.target_of_lone(shard, at, &requirement.package);
            if target == requirer.release.package {
                continue;
            }
            let allowed = self.allowed_by_lone(shard, at, target, &requirement.spec);
            let demand = self.demand_apart(target, allowed, || requirement.spec.names_prerelease());
            requirer.require(demand, demands);
        }
        true
    }

    fn edge_of_lone(&mut self, shard: u32, at: usize) -> &mut LoneEdge {
        match &mut self.shards[shard as usize].content {
            Content::Lone(lone) => &mut lone.edges[at],
            Content::Index(_) => unreachable!("it is the shard of a lone release"),
        }
    }

    fn target_of_lone(&mut self, shard: u32, at: usize, name: &PackageName) -> PackageId {
        let number = self.edge_of_lone(shard, at).name;
        let seen = self.shards[shard as usize].seen.packages[number as usize];
        seen.package().unwrap_or_else(|| {
            let package = self.package_id(name);
            self.know(shard, number, package);
            package
        })
    }

    fn allowed_by_lone(&mut self, shard: u32, at: usize, target: PackageId, spec: &Spec) -> SetId {
        if let Some(known) = self.edge_of_lone(shard, at).allowed {
            return known;
        }
        let allowed = match self.set_whatever_is_said(target) {
            Some(allowed) => allowed,
            None => SetId::worked_out(self.keep_matching(target, spec)),
        };
        self.edge_of_lone(shard, at).allowed = allowed.known();
        allowed
    }
}
