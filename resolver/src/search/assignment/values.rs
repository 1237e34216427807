//! Which values of a variable were looked at.

use crate::set::bits;

use super::{Assignment, ValueSet, Var};

impl Assignment {
    /// Marks the dependencies of a value as known; says whether they were not.
    pub(crate) fn expand(&mut self, var: Var, value: u32) -> bool {
        bits::add(self.expanded(var), value)
    }

    pub(crate) fn is_expanded(&self, var: Var, value: u32) -> bool {
        bits::contains(self.known(var), value)
    }

    /// The values of a variable whose dependencies are known.
    pub(crate) fn known(&self, var: Var) -> &[u64] {
        if self.var(var).is_narrow() {
            std::slice::from_ref(&self.var(var).known)
        } else {
            self.wide(var, ValueSet::Known)
        }
    }

    fn expanded(&mut self, var: Var) -> &mut [u64] {
        if self.var(var).is_narrow() {
            std::slice::from_mut(&mut self.var_mut(var).known)
        } else {
            self.wide_mut(var, ValueSet::Known)
        }
    }

    /// A value of a variable with many values that constraints wait for, and that is gone and was
    /// not [seen](Self::see) to be.
    pub(crate) fn unseen(&self, var: Var) -> Option<u32> {
        let sets = [ValueSet::Unseen, ValueSet::Awaited, ValueSet::Domain];
        let [unseen, awaited, domain] = sets.map(|set| self.wide(var, set));
        let looked_for = unseen.iter().zip(awaited).zip(domain);
        let gone = looked_for.map(|((unseen, awaited), domain)| unseen & awaited & !domain);
        bits::first(gone)
    }

    /// Says that a value of a variable with many values was seen to be gone.
    pub(crate) fn see(&mut self, var: Var, value: u32) {
        bits::remove(self.wide_mut(var, ValueSet::Unseen), value);
    }

    /// Says that all values of a variable with many values that are gone were seen to be.
    pub(crate) fn see_all(&mut self, var: Var) {
        self.change_unseen(var, |unseen, domain| unseen & domain);
    }

    /// Says that values of a variable with many values which came back can go again.
    pub(super) fn forget_seen(&mut self, var: Var) {
        self.change_unseen(var, |unseen, domain| unseen | domain);
    }

    /// Makes the values that were not seen to be gone something that depends on them and on the domain.
    fn change_unseen(&mut self, var: Var, change: impl Fn(u64, u64) -> u64) {
        let state = self.var(var);
        let (domain, unseen) = (state.range(ValueSet::Domain), state.range(ValueSet::Unseen));
        for (domain, unseen) in domain.zip(unseen) {
            self.words[unseen] = change(self.words[unseen], self.words[domain]);
        }
    }

    /// Says whether constraints wait for a value of a variable with many values.
    pub(crate) fn set_awaited(&mut self, var: Var, value: u32, is_awaited: bool) {
        let awaited = self.wide_mut(var, ValueSet::Awaited);
        if is_awaited {
            bits::insert(awaited, value);
        } else {
            bits::remove(awaited, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::Variable;
    use crate::universe::PackageId;

    use super::super::{ClauseRef, Term};
    use super::*;

    #[test]
    fn what_goes_is_unseen_until_it_was_seen_and_again_when_it_came_back() {
        let mut state = Assignment::new();
        let var = state.add_var(Variable::Package(PackageId::FIRST), 70);
        state.set_awaited(var, 3, true);
        state.set_awaited(var, 66, true);
        assert_eq!(state.unseen(var), None);
        let set = state.keep_single(var, 66);
        state.remove(Term { var, set }, ClauseRef::Given, 0);
        assert_eq!(state.unseen(var), Some(66));
        state.see(var, 66);
        assert_eq!(state.unseen(var), None);
        for _ in 0..2 {
            state.decide(var, 5);
            assert_eq!(state.unseen(var), Some(3));
            state.see_all(var);
            assert_eq!(state.unseen(var), None);
            state.back_to(0, |_| ());
            assert_eq!(state.unseen(var), None);
        }
    }
}
