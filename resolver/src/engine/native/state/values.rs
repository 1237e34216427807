//! Which values of a variable were looked at.

use crate::words;

use super::{State, Var};

impl State {
    /// Marks the dependencies of a value as known; says whether they were not.
    pub(crate) fn expand(&mut self, var: Var, value: u32) -> bool {
        let expanded = self.expanded(var);
        let is_new = !words::contains(expanded, value);
        words::insert(expanded, value);
        is_new
    }

    pub(crate) fn is_expanded(&self, var: Var, value: u32) -> bool {
        words::contains(self.known(var), value)
    }

    /// The values of a variable whose dependencies are known.
    pub(crate) fn known(&self, var: Var) -> &[u64] {
        let state = self.var(var);
        let from = (state.words + state.width) as usize;
        &self.words[from..from + state.width as usize]
    }

    fn expanded(&mut self, var: Var) -> &mut [u64] {
        let state = &self.vars[var as usize];
        let from = (state.words + state.width) as usize;
        &mut self.words[from..from + state.width as usize]
    }

    /// A value of a variable with many values that constraints wait for, and that is gone and was
    /// not [seen](Self::see) to be.
    pub(crate) fn unseen(&self, var: Var) -> Option<u32> {
        let state = self.var(var);
        let (from, width) = (state.words as usize, state.width as usize);
        let words = &self.words[from..from + 5 * width];
        let (seen, awaited) = words[3 * width..].split_at(width);
        let looked_for = seen.iter().zip(awaited).zip(words);
        let gone = looked_for.map(|((seen, awaited), domain)| seen & awaited & !domain);
        words::first(gone)
    }

    /// Says that a value of a variable with many values was seen to be gone.
    pub(crate) fn see(&mut self, var: Var, value: u32) {
        let state = self.var(var);
        let from = (state.words + 3 * state.width) as usize;
        words::remove(&mut self.words[from..], value);
    }

    /// Says that all values of a variable with many values that are gone were seen to be.
    pub(crate) fn see_all(&mut self, var: Var) {
        let state = self.var(var);
        let (from, width) = (state.words as usize, state.width as usize);
        let (domain, seen) = self.words[from..from + 4 * width].split_at_mut(3 * width);
        for (seen, domain) in seen.iter_mut().zip(domain) {
            *seen &= *domain;
        }
    }

    /// Says whether constraints wait for a value of a variable with many values.
    pub(crate) fn set_awaited(&mut self, var: Var, value: u32, is_awaited: bool) {
        let (from, width) = (self.var(var).words as usize, self.width(var));
        let awaited = &mut self.words[from + 4 * width..from + 5 * width];
        if is_awaited {
            words::insert(awaited, value);
        } else {
            words::remove(awaited, value);
        }
    }
}
