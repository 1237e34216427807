//! Which values of a variable were looked at.

use crate::words;

use super::{Part, State, Var};

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
        if self.var(var).is_narrow() {
            std::slice::from_ref(&self.details(var).known)
        } else {
            self.wide(var, Part::Known)
        }
    }

    fn expanded(&mut self, var: Var) -> &mut [u64] {
        if self.var(var).is_narrow() {
            std::slice::from_mut(&mut self.details_mut(var).known)
        } else {
            self.wide_mut(var, Part::Known)
        }
    }

    /// A value of a variable with many values that constraints wait for, and that is gone and was
    /// not [seen](Self::see) to be.
    pub(crate) fn unseen(&self, var: Var) -> Option<u32> {
        let parts = [Part::Unseen, Part::Awaited, Part::Domain];
        let [unseen, awaited, domain] = parts.map(|part| self.wide(var, part));
        let looked_for = unseen.iter().zip(awaited).zip(domain);
        let gone = looked_for.map(|((unseen, awaited), domain)| unseen & awaited & !domain);
        words::first(gone)
    }

    /// Says that a value of a variable with many values was seen to be gone.
    pub(crate) fn see(&mut self, var: Var, value: u32) {
        words::remove(self.wide_mut(var, Part::Unseen), value);
    }

    /// Says that all values of a variable with many values that are gone were seen to be.
    pub(crate) fn see_all(&mut self, var: Var) {
        self.merge_domain(var, |unseen, domain| unseen & domain);
    }

    /// Says that values of a variable with many values which came back can go again.
    pub(super) fn forget_seen(&mut self, var: Var) {
        self.merge_domain(var, |unseen, domain| unseen | domain);
    }

    fn merge_domain(&mut self, var: Var, merge: impl Fn(u64, u64) -> u64) {
        let state = self.var(var);
        let (domain, unseen) = (state.range(Part::Domain), state.range(Part::Unseen));
        for (domain, unseen) in domain.zip(unseen) {
            self.words[unseen] = merge(self.words[unseen], self.words[domain]);
        }
    }

    /// Says whether constraints wait for a value of a variable with many values.
    pub(crate) fn set_awaited(&mut self, var: Var, value: u32, is_awaited: bool) {
        let awaited = self.wide_mut(var, Part::Awaited);
        if is_awaited {
            words::insert(awaited, value);
        } else {
            words::remove(awaited, value);
        }
    }
}
