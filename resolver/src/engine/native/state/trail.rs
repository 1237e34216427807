//! The reductions of domains in their order, and why.
//!
//! An entry has the level of the last decision that it follows from, which can be lower than that
//! of the decisions before it: going back to a level keeps what does not depend on the decisions
//! that are taken back.

use crate::index::{NONE, to_u32};
use crate::room::Room as _;
use crate::words;

use super::{Set, State, Term, Var};

/// Why a domain was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// It is what the search began with.
    Given,
    Decision,
    /// All but one term of a constraint of two terms hold.
    Binary(u32),
    /// All but one term of a clause hold.
    Clause(u32),
}

/// A reduction of a domain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) var: Var,
    pub(crate) reason: Reason,
    pub(crate) level: u32,
    /// The highest level of this entry and those before it of the same variable.
    pub(crate) level_so_far: u32,
    /// What was taken away; [`NONE`] for decisions.
    removed: Set,
    /// The entry before it of the same variable.
    previous: u32,
    /// Where the domain before it stands.
    before: u32,
}

/// A reduction that holds without any decision. Unlike entries of the trail these stay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Certainty {
    pub(crate) var: Var,
    pub(crate) reason: Reason,
    pub(crate) removed: Set,
    /// The one before it of the same variable.
    pub(crate) previous: u32,
}

/// What a level of decisions goes back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    trail: u32,
}

impl State {
    #[inline]
    pub(crate) fn entry(&self, at: u32) -> &Entry {
        &self.trail[at as usize]
    }

    /// What an entry took away.
    pub(crate) fn removed(entry: &Entry) -> Term {
        Term {
            var: entry.var,
            set: entry.removed,
        }
    }

    /// The domain before an entry of the trail.
    pub(crate) fn before(&self, at: u32) -> &[u64] {
        let entry = self.entry(at);
        let from = entry.before as usize;
        &self.history[from..from + self.width(entry.var)]
    }

    /// The entry of the trail with which a term began to hold; nothing if it always did.
    pub(crate) fn satisfier(&self, term: Term) -> Option<u32> {
        self.satisfier_of(term.var, self.set(term))
    }

    pub(crate) fn satisfier_of(&self, var: Var, set: &[u64]) -> Option<u32> {
        let mut at = self.var(var).head;
        let width = self.width(var);
        while at != NONE {
            let entry = &self.trail[at as usize];
            let before = &self.history[entry.before as usize..entry.before as usize + width];
            if !words::is_subset(before, set) {
                return Some(at);
            }
            at = entry.previous;
        }
        None
    }

    /// The level on which a term began to hold.
    #[inline]
    pub(crate) fn level_of(&self, term: Term) -> u32 {
        self.satisfier(term)
            .map_or(0, |at| self.trail[at as usize].level_so_far)
    }

    /// The highest level of the reductions of a variable.
    #[inline]
    pub(crate) fn latest_level(&self, var: Var) -> u32 {
        let head = self.trail.get(self.var(var).head as usize);
        head.map_or(0, |entry| entry.level_so_far)
    }

    #[inline]
    pub(crate) fn level(&self) -> u32 {
        to_u32(self.levels.len())
    }

    /// Decides on a value, on a level of its own.
    pub(crate) fn decide(&mut self, var: Var, value: u32) {
        self.levels.make_room(1);
        self.levels.push(Level {
            trail: to_u32(self.trail.len()),
        });
        let level = self.level();
        self.record(var, Reason::Decision, level, NONE);
        let domain = self.domain_mut(var);
        domain.fill(0);
        words::insert(domain, value);
        self.enqueue(var);
    }

    /// Takes the values of a term away.
    pub(crate) fn remove(&mut self, term: Term, reason: Reason, level: u32) {
        if level == 0 {
            let at = to_u32(self.certain.len());
            let state = &mut self.vars[term.var as usize];
            let previous = std::mem::replace(&mut state.certain, at);
            self.certain.make_room(1);
            self.certain.push(Certainty {
                var: term.var,
                reason,
                removed: term.set,
                previous,
            });
            let width = state.width as usize;
            let from = state.words as usize + 2 * width;
            let removed = &self.sets[term.set as usize..term.set as usize + width];
            for (word, removed) in self.words[from..from + width].iter_mut().zip(removed) {
                *word &= !removed;
            }
        }
        self.remove_again(term, reason, level);
    }

    fn remove_again(&mut self, term: Term, reason: Reason, level: u32) {
        self.record(term.var, reason, level, term.set);
        let state = &self.vars[term.var as usize];
        let domain = state.words as usize..(state.words + state.width) as usize;
        let removed = term.set as usize..(term.set + state.width) as usize;
        for (word, removed) in self.words[domain].iter_mut().zip(&self.sets[removed]) {
            *word &= !removed;
        }
        self.enqueue(term.var);
    }

    /// Writes down that a domain is about to be reduced.
    fn record(&mut self, var: Var, reason: Reason, level: u32, removed: Set) {
        let state = &mut self.vars[var as usize];
        let domain = state.words as usize..(state.words + state.width) as usize;
        let before = to_u32(self.history.len());
        self.history.make_room(domain.len());
        match &self.words[domain] {
            [word] => self.history.push(*word),
            words => self.history.extend_from_slice(words),
        }
        let previous = state.head;
        state.head = to_u32(self.trail.len());
        let level_so_far = match self.trail.get(previous as usize) {
            Some(entry) => entry.level_so_far.max(level),
            None => level,
        };
        self.trail.make_room(1);
        self.trail.push(Entry {
            var,
            reason,
            level,
            level_so_far,
            removed,
            previous,
            before,
        });
    }

    /// Takes back the decisions above a level and what follows from them. What does not stays.
    pub(crate) fn back_to(&mut self, level: u32, mut undone: impl FnMut(Var)) {
        let Some(first) = self.levels.get(level as usize).copied() else {
            return;
        };
        self.clear_queue();
        self.levels.truncate(level as usize);
        let mut kept = std::mem::take(&mut self.scratch);
        while self.trail.len() > first.trail as usize {
            let entry = self.trail.pop().expect("the length was checked");
            let state = &mut self.vars[entry.var as usize];
            let width = state.width as usize;
            let (before, domain) = (entry.before as usize, state.words as usize);
            self.words[domain..domain + width]
                .copy_from_slice(&self.history[before..before + width]);
            if width > 1 {
                // What comes back can go again.
                let (domain, seen) = self.words[domain..].split_at_mut(3 * width);
                for (seen, domain) in seen.iter_mut().zip(&domain[..width]) {
                    *seen |= domain;
                }
            }
            self.history.truncate(before);
            state.head = entry.previous;
            if entry.level <= level {
                kept.push(entry);
            } else {
                undone(entry.var);
            }
        }
        for entry in kept.drain(..).rev() {
            let term = Self::removed(&entry);
            self.remove_again(term, entry.reason, entry.level);
        }
        self.scratch = kept;
    }
}
