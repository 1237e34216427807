//! Memory of solvers that have ended, for those that come next.
//!
//! A solver fills a few long lists and needs none of them once it has answered. Where many problems are
//! solved with one index, to ask for all that memory anew takes a good part of the time of small problems;
//! in large ones, lists are copied as they grow, and the system has to clear what it hands out. So what a
//! solver leaves is emptied and kept with the index.

use std::any::{Any, TypeId};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Mutex;

/// So many bytes are kept of a thing in any case.
const LITTLE: usize = 1 << 20;

/// Something in which there is room when it is emptied.
pub(crate) trait Leftover: Any + Send {
    /// Empties it, so that it makes no difference what was in it; says how many bytes there is room for then.
    fn empty(&mut self) -> usize;
}

impl<T: Any + Send> Leftover for Vec<T> {
    fn empty(&mut self) -> usize {
        self.clear();
        self.capacity() * size_of::<T>()
    }
}

impl<T: Any + Send> Leftover for VecDeque<T> {
    fn empty(&mut self) -> usize {
        self.clear();
        self.capacity() * size_of::<T>()
    }
}

impl<T: Any + Send> Leftover for BinaryHeap<T> {
    fn empty(&mut self) -> usize {
        self.clear();
        self.capacity() * size_of::<T>()
    }
}

impl<Key, Value, Hasher> Leftover for HashMap<Key, Value, Hasher>
where
    Self: Any + Send,
{
    fn empty(&mut self) -> usize {
        self.clear();
        self.capacity() * size_of::<(Key, Value)>()
    }
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

    /// How many things there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().expect("no thread panicked").len()
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

    /// Empties a thing and keeps it, unless there is one of its kind, or there is room in it for more than
    /// so many bytes: memory that one large problem needed is not to stay for many small ones.
    pub(crate) fn keep<T: Leftover>(&self, mut thing: Box<T>, most: usize) {
        if thing.empty() <= most.max(LITTLE) {
            self.keep_any(thing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pkgres_manifest::{IndexRecord, Limits, RegistryName, ReleaseSource};

    use super::*;
    use crate::index::CompiledIndex;
    use crate::request::Request;
    use crate::resolver::{Resolver, Step};

    #[derive(Debug, PartialEq, Eq)]
    struct Numbers(Vec<u32>);

    impl Leftover for Numbers {
        fn empty(&mut self) -> usize {
            self.0.empty()
        }
    }

    #[derive(Debug)]
    struct Others;

    impl Leftover for Others {
        fn empty(&mut self) -> usize {
            0
        }
    }

    /// A release that requires packages.
    fn record(name: &str, requires: &str) -> IndexRecord {
        let line = format!(r#"{{"name":"{name}","version":"1.0.0","require":[{requires}]}}"#);
        IndexRecord::parse_line(&line, &Limits::default()).expect("a record")
    }

    #[test]
    fn solvers_take_what_the_one_before_left() {
        let records = [
            record("A", r#"["C","1"]"#),
            record("B", ""),
            record("C", r#"["B","2"]"#),
        ];
        let index = Arc::new(CompiledIndex::compile(&records));
        let solve = |root: IndexRecord| {
            let mut request = Request::new(root);
            request.core = None;
            let mut resolver = Resolver::new(request);
            let source = ReleaseSource::Registry(RegistryName::parse("demo").expect("a name"));
            resolver.attach(source, Arc::clone(&index));
            resolver
        };
        // One that has nothing to search for has no search to leave.
        assert!(matches!(
            solve(record("Root", r#"["B","1"]"#)).step(),
            Step::Solved(_)
        ));
        assert_eq!(index.spare_count(), 2);
        for _ in 0..2 {
            let mut resolver = solve(record("Root", r#"["A","1"]"#));
            assert!(matches!(resolver.step(), Step::Impossible));
            drop(resolver);
            assert_eq!(index.spare_count(), 3);
        }
        // The lists of the universe are taken at once, the rest when it is needed.
        let mut resolver = solve(record("Root", r#"["B","1"]"#));
        assert_eq!(index.spare_count(), 2);
        assert!(matches!(resolver.step(), Step::Solved(_)));
        drop(resolver);
        assert_eq!(index.spare_count(), 3);
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
