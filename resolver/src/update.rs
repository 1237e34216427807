//! Updates: what is named moves, and as little else as possible.
//!
//! All this is about the first tier, one release of each package. First it is found out which
//! versions the named packages can have at all, wherever the others go. Then everything else that
//! is locked has to stay. As long as that is impossible, what the proof holds on to is let go. In
//! the end each package that was let go is tried again: what can stay with all others that stay,
//! stays. So no package moves that could have stayed where it was while the same others stayed; and
//! since to let fewer packages go never makes more possible, no smaller part of what moved would
//! have been enough either.
//!
//! Where the first tier is impossible even with nothing staying, several releases of a package are
//! needed, and nothing is proved about moves: what is locked is preferred, and so are the versions
//! that were asked for.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, Version};
use rustc_hash::FxHashSet;

use crate::conflict::{self, Conflict, Explanation, Reason};
use crate::encoding::{Clause, Detour, Encoding, Fact, Limits, Missing, Wish};
use crate::engine::{Budget, Impossible, Outcome, Proof, Search, refute, search_from};
use crate::request::Locked;
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

/// Packages that are to move away from what is locked.
///
/// What is not named stays where it is if that is possible; with no package named, only what has to
/// move for the lock to be valid again does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Update {
    /// The packages, and where they are to go.
    pub packages: BTreeMap<PackageName, Target>,
}

/// Where a package is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To the best version for which there is a resolution. Of several packages the first by name
    /// has the first choice.
    Newest,
    /// To this version, which then is a candidate even if it was withdrawn or is a prerelease.
    Exactly(Version),
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateReport {
    /// What is different from what was locked, by name.
    pub moved: Vec<Moved>,
    /// Versions of the named packages that are better than those that they went to, by name, each
    /// with what stands in the way.
    pub held_back: Vec<HeldBack>,
    /// Whether it is proved that no smaller part of what moved could have moved. It is not where
    /// some package has several releases.
    pub is_minimal: bool,
}

/// A package that is not where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The package.
    pub package: PackageName,
    /// The version that was locked; `None` if the package came in.
    pub from: Option<Version>,
    /// The version now; `None` if nothing requires the package any more.
    pub to: Option<Version>,
    /// Why it could not stay: reasons of which none can be left out. There are none for what came
    /// in or is not required any more, and none where nothing was proved.
    pub because: Vec<Reason>,
}

/// A version that a named package could not go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The package.
    pub package: PackageName,
    /// The newest of the versions that the same stands in the way of.
    pub version: Version,
    /// The others, newest first, as far as they are newer than what the package went to.
    pub alike: Vec<Version>,
    /// What stands in the way of the version.
    pub because: Conflict,
}

impl Update {
    /// What is still locked: bindings of the named packages are only candidates, and what was asked
    /// for is preferred.
    pub(crate) fn let_go(&self, mut locked: Locked) -> Locked {
        let mut let_go = BTreeSet::new();
        for bindings in locked
            .roots
            .values_mut()
            .chain(locked.packages.values_mut())
        {
            bindings.retain(|name, version| {
                let is_named = self.packages.contains_key(name);
                if is_named {
                    let_go.insert((name.clone(), version.clone()));
                }
                !is_named
            });
        }
        (locked.preferred).retain(|(name, _)| !self.packages.contains_key(name));
        locked.kept.extend(let_go);
        for (name, target) in &self.packages {
            if let Target::Exactly(version) = target {
                locked.preferred.insert((name.clone(), version.clone()));
            }
        }
        locked
    }
}

/// What is said of an update in the end.
#[derive(Debug)]
pub(crate) struct Told {
    /// The versions that were locked, without those of roots.
    held: BTreeMap<PackageName, BTreeSet<Version>>,
    /// `None` where nothing was proved.
    pub(crate) findings: Option<Findings>,
}

/// What was found out on the way to a resolution.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    because: BTreeMap<PackageName, Vec<Reason>>,
    held_back: Vec<HeldBack>,
}

impl Told {
    pub(crate) fn new(locked: &Locked, is_root: impl Fn(&PackageName) -> bool) -> Self {
        let mut held: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        let bound = locked.roots.values().chain(locked.packages.values());
        for (name, version) in bound.flatten() {
            if !is_root(name) {
                held.entry(name.clone())
                    .or_default()
                    .insert(version.clone());
            }
        }
        Self {
            held,
            findings: None,
        }
    }

    /// What a selection differs in from what was locked.
    pub(crate) fn report(self, universe: &Universe, selection: &Selection) -> UpdateReport {
        let is_minimal = self.findings.is_some();
        let mut findings = self.findings.unwrap_or_default();
        let mut there: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
        for release in selection.releases() {
            if !universe.is_root(release.package) {
                let name = universe.name(release.package).clone();
                let version = universe.version(*release).clone();
                there.entry(name).or_default().insert(version);
            }
        }
        let nothing = BTreeSet::new();
        let names: BTreeSet<&PackageName> = self.held.keys().chain(there.keys()).collect();
        let mut moved = Vec::new();
        for name in names {
            let before = self.held.get(name).unwrap_or(&nothing);
            let now = there.get(name).unwrap_or(&nothing);
            let (mut gone, mut new) = (before.difference(now), now.difference(before));
            loop {
                let (from, to) = (gone.next().cloned(), new.next().cloned());
                if from.is_none() && to.is_none() {
                    break;
                }
                let because = match (&from, &to) {
                    (Some(_), Some(_)) => findings.because.remove(name).unwrap_or_default(),
                    _ => Vec::new(),
                };
                moved.push(Moved {
                    package: name.clone(),
                    from,
                    to,
                    because,
                });
            }
        }
        UpdateReport {
            moved,
            held_back: findings.held_back,
            is_minimal,
        }
    }
}

/// How an update ended, or why it stopped.
pub(crate) enum Ended {
    /// With a resolution.
    Solved(Box<Selection>, Box<Findings>),
    /// What was asked for is impossible.
    Impossible(Box<Impossible>),
    /// The first tier is impossible, whatever is asked for.
    Otherwise(Box<Impossible>),
    /// Something is needed before it can go on.
    Missing(Missing),
    /// The budget is used up.
    GaveUp,
}

impl From<Missing> for Ended {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

/// An update in progress.
#[derive(Debug)]
pub(crate) struct Updating {
    /// The named packages, by name.
    targets: Vec<(PackageName, Target)>,
    /// What the lock holds, by name.
    held: Vec<(PackageName, Vec<Version>)>,
    /// The locked packages that are not named, by name, and their locked releases.
    locked: Vec<(PackageId, WordSet)>,
    /// What the named packages are to be at, by name.
    wishes: Vec<Wish>,
    /// The locked packages that are let go, by their place in `locked`.
    let_go: BTreeSet<usize>,
    stage: Stage,
    search: Option<Search>,
    /// What the search that is going on is limited to.
    limits: Option<Limits>,
    clauses: Vec<Clause>,
    findings: Findings,
}

#[derive(Debug)]
enum Stage {
    /// What is named and what is locked has to be known.
    Begin,
    /// Whether the exact versions are possible.
    Exact,
    /// They are not; whether anything is.
    Anything(Box<Impossible>),
    /// The best version of the named package at this position.
    Best(usize, Option<Best>),
    /// With everything staying that was not let go.
    Grow,
    /// What was let go and was not looked at yet, by name backwards; and a resolution.
    Shrink(Vec<usize>, Box<Selection>),
    /// Why a package has to move.
    Reason(Vec<usize>, Box<Selection>, usize, Box<Explanation>),
    /// With everything staying that can.
    Last,
}

/// The search for the best version of a package.
#[derive(Debug)]
struct Best {
    package: PackageId,
    /// The best ones first.
    candidates: Vec<u32>,
    next: usize,
    /// Why those before it are not possible.
    explanation: Option<Box<Explanation>>,
    held_back: Vec<(HeldBack, FxHashSet<Fact>)>,
    /// Ways in which the package would not be there. They are the same for every version.
    detours: Vec<Detour>,
}

impl Updating {
    pub(crate) fn new(update: Update, told: &Told) -> Self {
        let held = told.held.iter();
        Self {
            targets: update.packages.into_iter().collect(),
            held: held
                .map(|(name, versions)| (name.clone(), versions.iter().cloned().collect()))
                .collect(),
            locked: Vec::new(),
            wishes: Vec::new(),
            let_go: BTreeSet::new(),
            stage: Stage::Begin,
            search: None,
            limits: None,
            clauses: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Goes on until there is an answer or something is needed.
    pub(crate) fn advance(&mut self, universe: &mut Universe, budget: &mut Budget) -> Ended {
        loop {
            if let Err(ended) = self.go_on(universe, budget) {
                return ended;
            }
        }
    }

    fn go_on(&mut self, universe: &mut Universe, budget: &mut Budget) -> Result<(), Ended> {
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Begin => {
                self.begin(universe)?;
                self.stage = Stage::Exact;
            }
            Stage::Exact => {
                self.stage = Stage::Exact;
                match self.search(universe, budget, None)? {
                    Ok(_) => self.stage = Stage::Best(0, None),
                    Err(impossible) if self.wishes.is_empty() => {
                        return Err(Ended::Otherwise(impossible));
                    }
                    Err(impossible) => self.stage = Stage::Anything(impossible),
                }
            }
            Stage::Anything(impossible) => {
                let wishes = std::mem::take(&mut self.wishes);
                let found = self.search(universe, budget, None);
                self.wishes = wishes;
                match found {
                    Ok(Ok(_)) => return Err(Ended::Impossible(impossible)),
                    Ok(Err(impossible)) => return Err(Ended::Otherwise(impossible)),
                    Err(ended) => {
                        self.stage = Stage::Anything(impossible);
                        return Err(ended);
                    }
                }
            }
            Stage::Best(at, best) => self.find_best(universe, budget, at, best)?,
            Stage::Grow => {
                self.stage = Stage::Grow;
                match self.search(universe, budget, Some(&self.let_go.clone()))? {
                    Ok(witness) => {
                        let rest = self.let_go.iter().rev().copied().collect();
                        self.stage = Stage::Shrink(rest, Box::new(witness));
                    }
                    Err(impossible) => self.let_go_of(&impossible.proof),
                }
            }
            Stage::Shrink(rest, witness) => self.shrink(universe, budget, rest, witness)?,
            Stage::Reason(rest, witness, at, mut explanation) => {
                match explanation.finish(universe, budget) {
                    Ok(conflict) => {
                        let name = universe.name(self.locked[at].0).clone();
                        self.findings.because.insert(name, conflict.reasons);
                        self.stage = Stage::Shrink(rest, witness);
                    }
                    Err(missing) => {
                        self.stage = Stage::Reason(rest, witness, at, explanation);
                        return Err(Ended::Missing(missing));
                    }
                }
            }
            Stage::Last => {
                self.stage = Stage::Last;
                let found = self.search(universe, budget, Some(&self.let_go.clone()))?;
                let selection = found.expect("the last resolution that was found keeps to this");
                return Err(self.solved(universe, selection));
            }
        }
        Ok(())
    }

    /// Asks for everything that is named or locked, and looks up which releases these are.
    fn begin(&mut self, universe: &mut Universe) -> Result<(), Ended> {
        let targets = self.targets.iter().map(|(name, _)| name);
        let names: Vec<PackageName> = (self.held.iter().map(|(name, _)| name))
            .chain(targets)
            .cloned()
            .collect();
        let mut missing: Vec<PackageId> = (names.iter())
            .map(|name| universe.package_id(name))
            .collect();
        missing.retain(|package| !universe.is_delivered(*package));
        if !missing.is_empty() {
            return Err(Ended::Missing(Missing::Packages(missing)));
        }
        for (name, versions) in &self.held {
            let package = universe.package_id(name);
            if self.targets.iter().all(|(target, _)| target != name) {
                let releases = versions.iter();
                let releases = releases.filter_map(|version| universe.index_of(package, version));
                self.locked.push((package, releases.collect()));
            }
        }
        for (name, target) in &self.targets {
            if let Target::Exactly(version) = target {
                let package = universe.package_id(name);
                let index = universe.index_of(package, version);
                let allowed = index.map_or(WordSet::EMPTY, WordSet::single);
                self.wishes.push(Wish {
                    package,
                    is_needed: self.is_held(name) || allowed.is_empty(),
                    allowed,
                    versions: vec![version.clone()],
                    detours: Vec::new(),
                });
            }
        }
        Ok(())
    }

    fn is_held(&self, name: &PackageName) -> bool {
        let position = self.held.binary_search_by(|(held, _)| held.cmp(name));
        position.is_ok()
    }

    /// Searches with the wishes and, if it is said what is let go, with all other locked packages
    /// staying.
    fn search(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        let_go: Option<&BTreeSet<usize>>,
    ) -> Result<Result<Selection, Box<Impossible>>, Ended> {
        let limits = match self.limits.take() {
            Some(limits) => limits,
            None => self.limits(let_go),
        };
        let clauses = std::mem::take(&mut self.clauses);
        let mut encoding = Encoding::with_clauses(universe, BTreeSet::new(), clauses);
        encoding.limit(limits);
        let outcome = search_from(&mut self.search, &mut encoding, budget);
        let limits = encoding.take_limits();
        self.clauses = encoding.into_clauses();
        match outcome {
            Outcome::Solved(selection) => {
                self.keep_detours(limits);
                Ok(Ok(selection))
            }
            Outcome::Impossible(proof) => {
                self.keep_detours(limits.clone());
                Ok(Err(Box::new(Impossible {
                    proof,
                    split: BTreeSet::new(),
                    clauses: self.clauses.clone(),
                    limits,
                })))
            }
            Outcome::Missing(missing) => {
                self.limits = Some(limits);
                Err(Ended::Missing(missing))
            }
            Outcome::GaveUp => Err(Ended::GaveUp),
        }
    }

    fn limits(&self, let_go: Option<&BTreeSet<usize>>) -> Limits {
        let stays = let_go.map(|let_go| {
            let locked = self.locked.iter().enumerate();
            let stays = locked.filter(|(at, _)| !let_go.contains(at));
            stays
                .map(|(_, (package, allowed))| (*package, allowed.clone()))
                .collect()
        });
        Limits {
            wanted: self.wishes.clone(),
            stays: stays.unwrap_or_default(),
        }
    }

    /// What makes a package absent does so in other searches as well.
    fn keep_detours(&mut self, limits: Limits) {
        for wish in limits.wanted {
            let mut known = self.wishes.iter_mut();
            if let Some(known) = known.find(|known| known.package == wish.package) {
                known.detours = wish.detours;
            }
        }
    }

    /// Goes on to find the best version of the named package at a position.
    fn find_best(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        at: usize,
        best: Option<Best>,
    ) -> Result<(), Ended> {
        let Some((name, target)) = self.targets.get(at).cloned() else {
            self.stage = Stage::Grow;
            return Ok(());
        };
        if target != Target::Newest {
            self.stage = Stage::Best(at + 1, None);
            return Ok(());
        }
        let mut best = best.unwrap_or_else(|| {
            let package = universe.package_id(&name);
            Best {
                package,
                candidates: self.best_first(universe, package),
                next: 0,
                explanation: None,
                held_back: Vec::new(),
                detours: Vec::new(),
            }
        });
        let result = self.try_next(universe, budget, &name, &mut best);
        self.stage = match result {
            Ok(true) => Stage::Best(at + 1, None),
            Ok(false) | Err(_) => Stage::Best(at, Some(best)),
        };
        result.map(|_| ())
    }

    /// Tries the next best version; says whether that settles the package.
    fn try_next(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        name: &PackageName,
        best: &mut Best,
    ) -> Result<bool, Ended> {
        let Some(index) = best.candidates.get(best.next).copied() else {
            // The package is on its way out: no version of it stands for an update.
            return Ok(true);
        };
        let package = best.package;
        let version = universe.version(ReleaseId { package, index }).clone();
        if let Some(explanation) = &mut best.explanation {
            let because = explanation.finish(universe, budget)?;
            let facts = explanation.facts().cloned().collect();
            best.explanation = None;
            let held_back = HeldBack {
                package: name.clone(),
                version,
                alike: Vec::new(),
                because,
            };
            best.held_back.push((held_back, facts));
            best.next += 1;
            return Ok(false);
        }
        let wish = Wish {
            package,
            allowed: WordSet::single(index),
            versions: vec![version.clone()],
            is_needed: self.is_held(name),
            detours: best.detours.clone(),
        };
        if self.search.is_none() {
            // Often the same stands in the way of many versions.
            let taken = budget.taken();
            for (held_back, facts) in &mut best.held_back {
                let clauses = self.clauses.clone();
                let mut encoding = Encoding::with_clauses(universe, BTreeSet::new(), clauses);
                let mut limits = Limits {
                    wanted: self.wishes.clone(),
                    ..Limits::default()
                };
                limits.wanted.push(wish.clone());
                encoding.limit(limits);
                let refuted = refute(&mut encoding, facts.clone(), budget);
                if refuted.is_err() {
                    // All of them are tried again.
                    budget.rewind(taken);
                }
                if refuted?.is_some() {
                    held_back.alike.push(version);
                    best.next += 1;
                    return Ok(false);
                }
            }
        }
        self.wishes.push(wish);
        let found = self.search(universe, budget, None);
        let wish = self.wishes.pop().expect("it was added above");
        best.detours.clone_from(&wish.detours);
        match found? {
            Ok(_) => {
                for (mut held_back, _) in std::mem::take(&mut best.held_back) {
                    held_back.alike.push(held_back.version);
                    held_back.alike.retain(|other| *other > version);
                    held_back.alike.sort_by(|one, two| two.cmp(one));
                    if !held_back.alike.is_empty() {
                        held_back.version = held_back.alike.remove(0);
                        self.findings.held_back.push(held_back);
                    }
                }
                self.wishes.push(wish);
                let name = |wish: &Wish| universe.name(wish.package).clone();
                self.wishes.sort_by_cached_key(name);
                Ok(true)
            }
            Err(impossible) => {
                let explanation = Explanation::without_repairs(universe, *impossible);
                best.explanation = Some(Box::new(explanation));
                Ok(false)
            }
        }
    }

    /// The candidates of a package, the best first, without regard to what was locked.
    fn best_first(&self, universe: &mut Universe, package: PackageId) -> Vec<u32> {
        let is_named = self.names_prerelease(universe, package);
        let mut left = universe.candidates_of(package);
        let mut candidates = Vec::new();
        while let Some(best) = universe.best(package, &left, is_named) {
            candidates.push(best);
            left = left.intersection(&WordSet::single(best).complement());
        }
        candidates
    }

    /// Whether a root or what was locked names a prerelease of a package.
    fn names_prerelease(&self, universe: &mut Universe, package: PackageId) -> bool {
        let mut releases: Vec<ReleaseId> = universe.roots().to_vec();
        for (package, allowed) in &self.locked {
            let package = *package;
            releases.extend(allowed.iter().map(|index| ReleaseId { package, index }));
        }
        let mut demands = Vec::new();
        releases.into_iter().any(|release| {
            universe.demands(release, &mut demands);
            let mut demands = demands.iter();
            demands.any(|demand| demand.target == package && demand.names_prerelease)
        })
    }

    /// Lets go of all locked packages that a proof holds on to.
    fn let_go_of(&mut self, proof: &Proof) {
        let before = self.let_go.len();
        for (at, (package, _)) in self.locked.iter().enumerate() {
            if proof.facts.contains(&Fact::Stays { package: *package }) {
                self.let_go.insert(at);
            }
        }
        debug_assert!(
            before < self.let_go.len(),
            "with nothing staying it is possible"
        );
        if before == self.let_go.len() {
            self.let_go = (0..self.locked.len()).collect();
        }
    }

    /// Tries whether the next package that was let go can stay.
    fn shrink(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        mut rest: Vec<usize>,
        witness: Box<Selection>,
    ) -> Result<(), Ended> {
        let Some(at) = rest.pop() else {
            self.stage = Stage::Last;
            return Ok(());
        };
        let (package, allowed) = &self.locked[at];
        let is_there = witness.only(*package);
        if is_there.is_none_or(|release| allowed.contains(release.index)) {
            self.let_go.remove(&at);
            self.stage = Stage::Shrink(rest, witness);
            return Ok(());
        }
        let mut without = self.let_go.clone();
        without.remove(&at);
        match self.search(universe, budget, Some(&without)) {
            Ok(Ok(witness)) => {
                self.let_go.remove(&at);
                self.stage = Stage::Shrink(rest, Box::new(witness));
            }
            Ok(Err(impossible)) => {
                let explanation = Explanation::without_repairs(universe, *impossible);
                self.stage = Stage::Reason(rest, witness, at, Box::new(explanation));
            }
            Err(ended) => {
                rest.push(at);
                self.stage = Stage::Shrink(rest, witness);
                return Err(ended);
            }
        }
        Ok(())
    }

    /// The end: a resolution, and that the named packages moved because they were named.
    fn solved(&mut self, universe: &mut Universe, selection: Selection) -> Ended {
        let limits = self.limits(None);
        let wanted: Vec<PackageId> = limits.wanted.iter().map(|wish| wish.package).collect();
        let mut encoding = Encoding::new(universe, BTreeSet::new());
        encoding.limit(limits);
        for package in wanted {
            let reasons = conflict::wanted(&mut encoding, package);
            let name = encoding.universe.name(package).clone();
            self.findings.because.insert(name, reasons);
        }
        let findings = std::mem::take(&mut self.findings);
        Ended::Solved(Box::new(selection), Box::new(findings))
    }
}
