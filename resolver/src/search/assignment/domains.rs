//! Which values of a variable are left.

use crate::set::bits;

use super::{Assignment, Term, ValueSet, Var};

impl Assignment {
    #[inline]
    pub(crate) fn domain(&self, var: Var) -> &[u64] {
        let state = self.var(var);
        if state.is_narrow() {
            std::slice::from_ref(&state.domain)
        } else {
            self.wide(var, ValueSet::Domain)
        }
    }

    #[inline]
    pub(super) fn domain_mut(&mut self, var: Var) -> &mut [u64] {
        if self.var(var).is_narrow() {
            std::slice::from_mut(&mut self.var_mut(var).domain)
        } else {
            self.wide_mut(var, ValueSet::Domain)
        }
    }

    /// The value of a variable, if it is known to be there and only one is left.
    #[inline]
    pub(crate) fn value(&self, var: Var) -> Option<u32> {
        let value = bits::single(self.domain(var))?;
        (value != self.var(var).values).then_some(value)
    }

    /// Whether a variable cannot be absent.
    #[inline]
    pub(crate) fn is_present(&self, var: Var) -> bool {
        !bits::contains(self.domain(var), self.var(var).values)
    }

    /// The values of a variable that are left without any decision.
    #[inline]
    fn certain(&self, var: Var) -> &[u64] {
        if self.var(var).is_narrow() {
            std::slice::from_ref(&self.details(var).certain)
        } else {
            self.wide(var, ValueSet::Certain)
        }
    }

    /// Whether no values but some of these are left, whatever is decided. "Absent" must not be among
    /// these: they are not all that there are.
    #[inline]
    pub(crate) fn is_certainly_among(&self, var: Var, values: &[u64]) -> bool {
        debug_assert!(!bits::contains(values, self.var(var).values));
        self.var(var).is_reduced_for_good && bits::is_subset(self.certain(var), values)
    }

    /// Whether a term holds.
    #[inline]
    pub(crate) fn holds(&self, term: Term) -> bool {
        bits::is_subset(self.domain(term.var), self.set(term))
    }

    /// Whether a term cannot hold any more.
    #[inline]
    pub(crate) fn is_excluded(&self, term: Term) -> bool {
        bits::is_disjoint(self.domain(term.var), self.set(term))
    }

    /// Whether a term can never hold again, whatever is decided.
    #[inline]
    pub(crate) fn is_certainly_excluded(&self, term: Term) -> bool {
        bits::is_disjoint(self.certain(term.var), self.set(term))
    }

    /// Whether a domain would be left without values if a term's were taken away; `None` if
    /// nothing would change.
    #[inline]
    pub(crate) fn would_empty(&self, term: Term) -> Option<bool> {
        if self.is_excluded(term) {
            None
        } else {
            Some(self.holds(term))
        }
    }
}
