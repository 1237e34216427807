//! What is known of each variable, and how it came to be known.
//!
//! The domain of a variable is a set of words: one bit a value, and one, the last, that stands for
//! "absent". Every reduction of a domain is an entry of the [`trail`].

mod domains;
mod literals;
mod queue;
mod sets;
mod trail;
mod values;
mod var;
mod watch_list;

pub(super) use literals::Literal;
pub(super) use sets::{Set, Term};
pub(super) use trail::ClauseRef;
pub(super) use var::{Var, VarState};
#[cfg(test)]
pub(super) use watch_list::MANY_SINGLES;
pub(super) use watch_list::WatchList;

use crate::index::{to_u32, width};
use crate::problem::Variable;
use crate::set::bits;
use trail::{Certainty, Entry, Level};
use var::{ValueSet, VarDetails};

#[derive(Debug, Default)]
pub(super) struct Assignment {
    pub(super) vars: Vec<VarState>,
    details: Vec<VarDetails>,
    words: Vec<u64>,
    /// Sets that terms refer to, beside those of sides. They stay as they are.
    sets: Vec<u64>,
    /// Two a constraint of two terms; the number of the constraint is half that of the side.
    sides: Vec<Literal>,
    trail: Vec<Entry>,
    /// The domains of variables with many values before the entries of the trail.
    history: Vec<u64>,
    levels: Vec<Level>,
    pub(super) certain: Vec<Certainty>,
    queue: Vec<Var>,
    queue_head: usize,
    scratch: Vec<Entry>,
}

impl Assignment {
    /// A state without variables, with room for those of a small problem.
    pub(super) fn new() -> Self {
        Self {
            vars: Vec::with_capacity(64),
            details: Vec::with_capacity(64),
            sides: Vec::with_capacity(256),
            trail: Vec::with_capacity(256),
            queue: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    pub(super) fn add_var(&mut self, variable: Variable, values: u32) -> Var {
        let var = to_u32(self.vars.len());
        let width = width(values);
        let words = to_u32(self.words.len());
        if width > 1 {
            self.words
                .resize(self.words.len() + ValueSet::COUNT * width, 0);
        }
        self.vars.push(VarState::new(values, words));
        self.details.push(VarDetails::new(variable, values));
        if width > 1 {
            for set in [ValueSet::Domain, ValueSet::Certain, ValueSet::Unseen] {
                bits::fill(self.wide_mut(var, set), values);
            }
        }
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
    pub(super) fn details(&self, var: Var) -> &VarDetails {
        &self.details[var as usize]
    }

    #[inline]
    pub(super) fn details_mut(&mut self, var: Var) -> &mut VarDetails {
        &mut self.details[var as usize]
    }

    /// How many words a set of values of a variable takes.
    #[inline]
    pub(super) fn width(&self, var: Var) -> usize {
        self.vars[var as usize].width()
    }

    /// A set that is kept of a variable with many values.
    #[inline]
    fn wide(&self, var: Var, set: ValueSet) -> &[u64] {
        &self.words[self.vars[var as usize].range(set)]
    }

    #[inline]
    fn wide_mut(&mut self, var: Var, set: ValueSet) -> &mut [u64] {
        &mut self.words[self.vars[var as usize].range(set)]
    }
}
