//! Memory of solvers that have ended, for those that come next.
//!
//! A solver fills a few long lists and needs none of them once it has answered. Where many problems are
//! solved with one index, to ask for all that memory anew takes a good part of the time of small problems;
//! in large ones, lists are copied as they grow, and the system has to clear what it hands out. So what a
//! solver leaves is emptied and kept with the index.

use std::any::{Any, TypeId};
use std::sync::Mutex;

/// So many bytes are kept of a thing in any case.
const LITTLE: usize = 1 << 20;

/// Something empty in which there is room.
pub(crate) trait Leftover: Any + Send {
    /// How many bytes there is room for.
    fn room(&self) -> usize;
}

/// What solvers left behind: at most one thing of a kind. It makes no difference but in time whether there
/// is one, so whoever comes while another thread looks goes without.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Vec<Box<dyn Any + Send>>>);

impl Spare {
    /// A thing of a kind, if one was left.
    pub(crate) fn take<T: Leftover>(&self) -> Option<Box<T>> {
        self.take_kind(TypeId::of::<T>())?.downcast().ok()
    }

    // These two are there once for all kinds, so that the processor reads them once.

    fn take_kind(&self, kind: TypeId) -> Option<Box<dyn Any + Send>> {
        let mut kept = self.0.try_lock().ok()?;
        let at = kept.iter().position(|thing| (**thing).type_id() == kind)?;
        Some(kept.swap_remove(at))
    }

    fn keep_any(&self, thing: Box<dyn Any + Send>) {
        if let Ok(mut kept) = self.0.try_lock()
            && !kept
                .iter()
                .any(|other| (**other).type_id() == (*thing).type_id())
        {
            kept.push(thing);
        }
    }

    /// Keeps a thing that was emptied, unless there is one of its kind, or there is room in it for more than
    /// so many bytes: memory that one large problem needed is not to stay for many small ones.
    pub(crate) fn keep<T: Leftover>(&self, thing: Box<T>, most: usize) {
        if thing.room() <= most.max(LITTLE) {
            self.keep_any(thing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Numbers(Vec<u32>);

    impl Leftover for Numbers {
        fn room(&self) -> usize {
            self.0.capacity() * size_of::<u32>()
        }
    }

    #[derive(Debug)]
    struct Others;

    impl Leftover for Others {
        fn room(&self) -> usize {
            0
        }
    }

    fn numbers(count: usize) -> Numbers {
        Numbers(Vec::with_capacity(count))
    }

    #[test]
    fn one_thing_of_a_kind_is_kept_and_taken_once() {
        let spare = Spare::default();
        assert!(spare.take::<Numbers>().is_none());
        spare.keep(Box::new(numbers(10)), 0);
        spare.keep(Box::new(numbers(1000)), 0);
        spare.keep(Box::new(Others), 0);
        assert!(
            spare
                .take::<Numbers>()
                .is_some_and(|kept| kept.0.capacity() < 1000)
        );
        assert!(spare.take::<Numbers>().is_none());
        assert!(spare.take::<Others>().is_some());
    }

    #[test]
    fn no_more_is_kept_than_it_may_be() {
        let spare = Spare::default();
        spare.keep(Box::new(numbers(LITTLE)), 2 * LITTLE);
        assert!(spare.take::<Numbers>().is_none());
        spare.keep(Box::new(numbers(LITTLE)), 4 * LITTLE);
        assert!(spare.take::<Numbers>().is_some());
        spare.keep(Box::new(numbers(LITTLE / 4)), 0);
        assert!(spare.take::<Numbers>().is_some());
    }

    #[test]
    fn who_comes_while_another_one_looks_goes_without() {
        let spare = Spare::default();
        spare.keep(Box::new(numbers(1)), 0);
        let looking = spare.0.lock().expect("no thread panicked");
        assert!(spare.take::<Numbers>().is_none());
        spare.keep(Box::new(Others), 0);
        drop(looking);
        assert!(spare.take::<Others>().is_none());
        assert!(spare.take::<Numbers>().is_some());
    }
}
