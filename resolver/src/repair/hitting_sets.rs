//! Cores: a core is a set of restrictions of which every repair of the conflict changes at least one.

use std::collections::BTreeSet;

use pkgres_manifest::CLASS_PACKAGES;

use super::ecosystem_of;
use super::restriction::Restriction;
use crate::explain::{Conflict, ReasonKind};
use crate::request::{PrereleasePolicy, Request};

/// The maximum number of hitting sets that are looked at in one go.
const MAX_SETS: usize = 20_000;

/// The restrictions of which at least one has to be given up.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) restrictions: BTreeSet<Restriction>,
    /// The conflict in one sentence.
    summary: String,
}

/// The core of a conflict that is left although some restrictions are given up.
pub(super) fn core_of(
    request: &Request,
    conflict: &Conflict,
    given_up: &BTreeSet<Restriction>,
) -> Core {
    let mut restrictions = BTreeSet::new();
    for reason in &conflict.reasons {
        let (ReasonKind::Requires { package, .. }, Some(owner)) = (&reason.kind, &reason.owner)
        else {
            // Classes and contracts cannot be given up, nor can the pins of a model.
            continue;
        };
        let (owner, package) = (owner.clone(), package.clone());
        let of_owner = if reason.source.is_none() {
            Restriction::Requirement {
                root: owner,
                package: package.clone(),
            }
        } else {
            Restriction::Release {
                owner,
                package: package.clone(),
            }
        };
        let overriding = request.overrides.contains_key(&package);
        let by_override = Restriction::Override { package };
        if given_up.contains(&of_owner) || given_up.contains(&by_override) {
            continue;
        }
        restrictions.insert(by_override);
        // An override replaces the requirement, so that no other spec would change anything.
        if !overriding {
            restrictions.insert(of_owner);
        }
    }
    if request.options.exclude_newer.is_some() {
        restrictions.insert(Restriction::CutOff);
    }
    if matches!(
        request.options.prerelease,
        PrereleasePolicy::Never | PrereleasePolicy::IfNamed
    ) {
        restrictions.insert(Restriction::Prereleases);
    }
    if request.options.single_version && ecosystem_of(request) == CLASS_PACKAGES {
        restrictions.insert(Restriction::SingleVersion);
    }
    restrictions.retain(|restriction| !given_up.contains(restriction));
    Core {
        restrictions,
        summary: conflict.summary.clone(),
    }
}

/// The known cores.
#[derive(Debug, Default)]
pub(super) struct Cores(Vec<Core>);

impl Cores {
    pub(super) fn add(&mut self, core: Core) {
        self.0.push(core);
    }

    /// Whether a core has no restriction that may be given up: nothing repairs the conflict.
    pub(super) fn rule_out_all(&self, may_change: &impl Fn(&Restriction) -> bool) -> bool {
        let has_none = |core: &Core| !core.restrictions.iter().any(may_change);
        self.0.iter().any(has_none)
    }

    /// All restrictions of all cores that may be given up.
    pub(super) fn union(
        &self,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> BTreeSet<Restriction> {
        let all = self.0.iter().flat_map(|core| &core.restrictions);
        all.filter(|one| may_change(one)).cloned().collect()
    }

    /// The sets of so many restrictions that have one of each core; `None` if there are too many.
    pub(super) fn hitting_sets(
        &self,
        size: usize,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> Option<BTreeSet<BTreeSet<Restriction>>> {
        let mut complete = BTreeSet::new();
        let mut partial: BTreeSet<BTreeSet<Restriction>> = BTreeSet::from([BTreeSet::new()]);
        for core in &self.0 {
            let mut extended = BTreeSet::new();
            for set in partial {
                if !set.is_disjoint(&core.restrictions) {
                    extended.insert(set);
                    continue;
                }
                if set.len() == size {
                    continue;
                }
                for restriction in core.restrictions.iter().filter(|one| may_change(one)) {
                    let mut larger = set.clone();
                    larger.insert(restriction.clone());
                    extended.insert(larger);
                }
            }
            if extended.len() > MAX_SETS {
                return None;
            }
            partial = extended;
        }
        complete.extend(partial.into_iter().filter(|set| set.len() == size));
        Some(complete)
    }

    /// The conflict that remains if only this restriction is given up, in one sentence.
    pub(super) fn without(&self, restriction: &Restriction) -> Option<&str> {
        let mut others = self.0.iter();
        let core = others.find(|core| !core.restrictions.contains(restriction))?;
        Some(&core.summary)
    }
}
