//! What is known of each variable, and how it came to be known.
//!
//! The domain of a variable is a set of words: one bit a value, and one, the last, that stands for
//! "absent". Every reduction of a domain is an entry of the trail. An entry has the level of the
//! last decision that it follows from, which can be lower than that of the decisions before it:
//! going back to a level keeps what does not depend on the decisions that are taken back.

use crate::encoding::Variable;
use crate::index::{NONE, to_u32, width};
use crate::room::Room as _;

use super::words;

/// The number of a variable, in the order in which the search came across them.
pub(super) type Var = u32;

/// Where a set stands among the sets of the search.
pub(super) type Set = u32;

/// A statement about a variable: its value is in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub(super) var: Var,
    pub(super) set: Set,
}

/// Why a domain was reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reason {
    /// It is what the search began with.
    Given,
    Decision,
    /// All but one term of a constraint of two terms hold.
    Binary(u32),
    /// All but one term of a clause hold.
    Clause(u32),
}

/// What is known of a variable.
#[derive(Debug)]
pub(super) struct VarState {
    pub(super) variable: Variable,
    /// How many values there are; the number itself stands for "absent".
    pub(super) values: u32,
    pub(super) width: u32,
    /// Where the domain stands, after it the values whose dependencies are known, those that are
    /// left without any decision and, if there are many values, those that were not seen to be gone
    /// and those that constraints wait for.
    words: u32,
    /// The latest entry of the trail.
    head: u32,
    /// The first constraint of two terms in which a value depends on another variable's. If there
    /// are many values, each has a list of its own; this is where these begin.
    pub(super) owned: u32,
    /// The first one in which others depend on it.
    pub(super) targeted: u32,
    /// Where the lists begin, one a value, of the constraints whose term is that value alone, or that
    /// it is absent; [`NONE`] as long as there are few, which stand among the others.
    pub(super) singles: u32,
    /// How many of these there are.
    pub(super) single_count: u32,
    pub(super) queued: bool,
    /// Whether the variable has its place in the order of decisions.
    pub(super) ordered: bool,
    /// How often the variable took part in conflicts.
    pub(super) conflicts: u32,
    /// The latest reduction that holds without any decision.
    pub(super) certain: u32,
}

/// A reduction of a domain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) var: Var,
    pub(super) reason: Reason,
    pub(super) level: u32,
    /// The highest level of this entry and those before it of the same variable.
    pub(super) level_so_far: u32,
    /// What was taken away; [`NONE`] for decisions.
    removed: Set,
    /// The entry before it of the same variable.
    previous: u32,
    /// Where the domain before it stands.
    before: u32,
}

/// A reduction that holds without any decision. Unlike entries of the trail these stay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Certainty {
    pub(super) var: Var,
    pub(super) reason: Reason,
    pub(super) removed: Set,
    /// The one before it of the same variable.
    pub(super) previous: u32,
}

/// What a level of decisions goes back to.
#[derive(Debug, Clone, Copy)]
struct Level {
    trail: u32,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) vars: Vec<VarState>,
    words: Vec<u64>,
    /// Sets that terms refer to. They stay as they are.
    sets: Vec<u64>,
    trail: Vec<Entry>,
    history: Vec<u64>,
    levels: Vec<Level>,
    pub(super) certain: Vec<Certainty>,
    queue: Vec<Var>,
    queue_head: usize,
    scratch: Vec<Entry>,
}

impl State {
    /// A state without variables, with room for those of a small problem.
    pub(super) fn new() -> Self {
        Self {
            vars: Vec::with_capacity(64),
            words: Vec::with_capacity(256),
            sets: Vec::with_capacity(512),
            trail: Vec::with_capacity(256),
            history: Vec::with_capacity(256),
            queue: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    pub(super) fn add_var(&mut self, variable: Variable, values: u32) -> Var {
        let var = to_u32(self.vars.len());
        let width = width(values);
        let words = self.words.len();
        self.words.make_room(if width > 1 { 5 * width } else { 3 });
        self.words.resize(words + 2 * width, 0);
        words::fill(&mut self.words[words..words + width], values);
        self.words.extend_from_within(words..words + width);
        if width > 1 {
            self.words.extend_from_within(words..words + width);
            self.words.resize(words + 5 * width, 0);
        }
        self.vars.make_room(1);
        self.vars.push(VarState {
            variable,
            values,
            width: to_u32(width),
            words: to_u32(words),
            head: NONE,
            owned: NONE,
            targeted: NONE,
            singles: NONE,
            single_count: 0,
            queued: false,
            ordered: false,
            conflicts: 0,
            certain: NONE,
        });
        var
    }

    #[inline]
    pub(super) fn var(&self, var: Var) -> &VarState {
        &self.vars[var as usize]
    }

    #[inline]
    pub(super) fn var_mut(&mut self, var: Var) -> &mut VarState {
        &mut self.vars[var as usize]
    }

    #[inline]
    pub(super) fn width(&self, var: Var) -> usize {
        self.vars[var as usize].width as usize
    }

    #[inline]
    pub(super) fn domain(&self, var: Var) -> &[u64] {
        let state = &self.vars[var as usize];
        &self.words[state.words as usize..(state.words + state.width) as usize]
    }

    fn domain_mut(&mut self, var: Var) -> &mut [u64] {
        let state = &self.vars[var as usize];
        &mut self.words[state.words as usize..(state.words + state.width) as usize]
    }

    /// The value of a variable, if it is known to be there and only one is left.
    #[inline]
    pub(super) fn value(&self, var: Var) -> Option<u32> {
        let value = words::single(self.domain(var))?;
        (value != self.var(var).values).then_some(value)
    }

    /// Whether a variable cannot be absent.
    #[inline]
    pub(super) fn is_present(&self, var: Var) -> bool {
        !words::contains(self.domain(var), self.var(var).values)
    }

    /// Marks the dependencies of a value as known; says whether they were not.
    pub(super) fn expand(&mut self, var: Var, value: u32) -> bool {
        let expanded = self.expanded(var);
        let is_new = !words::contains(expanded, value);
        words::insert(expanded, value);
        is_new
    }

    pub(super) fn is_expanded(&self, var: Var, value: u32) -> bool {
        words::contains(self.known(var), value)
    }

    /// The values of a variable whose dependencies are known.
    pub(super) fn known(&self, var: Var) -> &[u64] {
        let state = self.var(var);
        let from = (state.words + state.width) as usize;
        &self.words[from..from + state.width as usize]
    }

    /// A value of a variable with many values that constraints wait for, and that is gone and was
    /// not [seen](Self::see) to be.
    pub(super) fn unseen(&self, var: Var) -> Option<u32> {
        let state = self.var(var);
        let (from, width) = (state.words as usize, state.width as usize);
        let words = &self.words[from..from + 5 * width];
        let (seen, awaited) = words[3 * width..].split_at(width);
        let looked_for = seen.iter().zip(awaited).zip(words);
        let gone = looked_for.map(|((seen, awaited), domain)| seen & awaited & !domain);
        words::first(gone)
    }

    /// Says that a value of a variable with many values was seen to be gone.
    pub(super) fn see(&mut self, var: Var, value: u32) {
        let state = self.var(var);
        let from = (state.words + 3 * state.width) as usize;
        words::remove(&mut self.words[from..], value);
    }

    /// Says that all values of a variable with many values that are gone were seen to be.
    pub(super) fn see_all(&mut self, var: Var) {
        let state = self.var(var);
        let (from, width) = (state.words as usize, state.width as usize);
        let (domain, seen) = self.words[from..from + 4 * width].split_at_mut(3 * width);
        for (seen, domain) in seen.iter_mut().zip(domain) {
            *seen &= *domain;
        }
    }

    /// Says whether constraints wait for a value of a variable with many values.
    pub(super) fn set_awaited(&mut self, var: Var, value: u32, is_awaited: bool) {
        let (from, width) = (self.var(var).words as usize, self.width(var));
        let awaited = &mut self.words[from + 4 * width..from + 5 * width];
        if is_awaited {
            words::insert(awaited, value);
        } else {
            words::remove(awaited, value);
        }
    }

    /// The domain before an entry of the trail.
    pub(super) fn before(&self, at: u32) -> &[u64] {
        let entry = self.entry(at);
        let from = entry.before as usize;
        &self.history[from..from + self.width(entry.var)]
    }

    fn expanded(&mut self, var: Var) -> &mut [u64] {
        let state = &self.vars[var as usize];
        let from = (state.words + state.width) as usize;
        &mut self.words[from..from + state.width as usize]
    }

    /// The words of the set of a term.
    #[inline]
    pub(super) fn set(&self, term: Term) -> &[u64] {
        &self.sets[term.set as usize..term.set as usize + self.width(term.var)]
    }

    /// Keeps a set.
    #[inline]
    pub(super) fn keep(&mut self, words: &[u64]) -> Set {
        let set = to_u32(self.sets.len());
        self.sets.make_room(words.len());
        match words {
            [word] => self.sets.push(*word),
            words => self.sets.extend_from_slice(words),
        }
        set
    }

    /// Keeps an empty set of values of a variable, into which some are to be put.
    #[inline]
    fn keep_empty(&mut self, var: Var) -> Set {
        let (set, width) = (self.sets.len(), self.width(var));
        self.sets.make_room(width);
        self.sets.resize(set + width, 0);
        to_u32(set)
    }

    /// Keeps the set of one value.
    pub(super) fn keep_single(&mut self, var: Var, value: u32) -> Set {
        let set = self.keep_empty(var);
        words::insert(&mut self.sets[set as usize..], value);
        set
    }

    /// Keeps the set of everything that is not in another one.
    pub(super) fn keep_complement(&mut self, var: Var, of: &[u64]) -> Set {
        let last = self.var(var).values;
        if let ([of], 1) = (of, self.width(var)) {
            let mut complement = [0];
            words::fill(&mut complement, last);
            complement[0] &= !of;
            return self.keep(&complement);
        }
        let set = self.keep_empty(var);
        let complement = &mut self.sets[set as usize..];
        words::fill(complement, last);
        for (word, of) in complement.iter_mut().zip(of) {
            *word &= !of;
        }
        set
    }

    /// Keeps the set of all values that are not in another one; "absent" is not among them.
    pub(super) fn keep_present_complement(&mut self, var: Var, of: &[u64]) -> Set {
        let set = self.keep_complement(var, of);
        let absent = self.var(var).values;
        self.sets[set as usize + absent as usize / 64] &= !(1 << (absent % 64));
        set
    }

    #[inline]
    pub(super) fn level(&self) -> u32 {
        to_u32(self.levels.len())
    }

    /// Whether a term holds.
    #[inline]
    pub(super) fn holds(&self, term: Term) -> bool {
        words::is_subset(self.domain(term.var), self.set(term))
    }

    /// Whether a term cannot hold any more.
    #[inline]
    pub(super) fn is_excluded(&self, term: Term) -> bool {
        words::is_disjoint(self.domain(term.var), self.set(term))
    }

    /// The values of a variable that are left without any decision.
    #[inline]
    pub(super) fn certain(&self, var: Var) -> &[u64] {
        let state = self.var(var);
        let from = (state.words + 2 * state.width) as usize;
        &self.words[from..from + state.width as usize]
    }

    /// Whether a term can never hold again, whatever is decided.
    #[inline]
    pub(super) fn is_certainly_excluded(&self, term: Term) -> bool {
        words::is_disjoint(self.certain(term.var), self.set(term))
    }

    /// The entry of the trail with which a term began to hold; nothing if it always did.
    pub(super) fn satisfier(&self, term: Term) -> Option<u32> {
        self.satisfier_of(term.var, self.set(term))
    }

    pub(super) fn satisfier_of(&self, var: Var, set: &[u64]) -> Option<u32> {
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

    #[inline]
    pub(super) fn entry(&self, at: u32) -> &Entry {
        &self.trail[at as usize]
    }

    /// What an entry took away.
    pub(super) fn removed(entry: &Entry) -> Term {
        Term {
            var: entry.var,
            set: entry.removed,
        }
    }

    /// The level on which a term began to hold.
    #[inline]
    pub(super) fn level_of(&self, term: Term) -> u32 {
        self.satisfier(term)
            .map_or(0, |at| self.trail[at as usize].level_so_far)
    }

    /// The highest level of the reductions of a variable.
    #[inline]
    pub(super) fn latest_level(&self, var: Var) -> u32 {
        let head = self.trail.get(self.var(var).head as usize);
        head.map_or(0, |entry| entry.level_so_far)
    }

    /// Decides on a value, on a level of its own.
    pub(super) fn decide(&mut self, var: Var, value: u32) {
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

    /// Whether a domain would be left without values if a term's were taken away; `None` if
    /// nothing would change.
    #[inline]
    pub(super) fn would_empty(&self, term: Term) -> Option<bool> {
        if self.is_excluded(term) {
            None
        } else {
            Some(self.holds(term))
        }
    }

    /// Takes the values of a term away.
    pub(super) fn remove(&mut self, term: Term, reason: Reason, level: u32) {
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

    pub(super) fn enqueue(&mut self, var: Var) {
        let state = &mut self.vars[var as usize];
        if !state.queued {
            state.queued = true;
            self.queue.make_room(1);
            self.queue.push(var);
        }
    }

    /// The next variable whose domain was reduced. It stays in the queue until it is
    /// [done](Self::dequeue).
    #[inline]
    pub(super) fn next_in_queue(&self) -> Option<Var> {
        self.queue.get(self.queue_head).copied()
    }

    pub(super) fn dequeue(&mut self) {
        let var = self.queue[self.queue_head];
        self.vars[var as usize].queued = false;
        self.queue_head += 1;
        if self.queue_head == self.queue.len() {
            self.queue.clear();
            self.queue_head = 0;
        }
    }

    fn clear_queue(&mut self) {
        for var in self.queue.drain(..) {
            self.vars[var as usize].queued = false;
        }
        self.queue_head = 0;
    }

    /// Takes back the decisions above a level and what follows from them. What does not stays.
    pub(super) fn back_to(&mut self, level: u32, mut undone: impl FnMut(Var)) {
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
