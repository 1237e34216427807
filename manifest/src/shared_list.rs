//! Immutable lists that many owners share.
//!
//! The releases of a package mostly have the same requirements and the same classes. [`Shared::is_same`]
//! compares the addresses of two lists, so that users can notice in constant time that a release has the
//! list of the one before it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A list that is cheap to clone, and cheap to compare with its clones. A clone that is changed becomes a
/// list of its own.
///
/// ```
/// use pkgres_manifest::Shared;
///
/// let one = Shared::from(vec![1, 2]);
/// let mut other = one.clone();
/// assert!(one.is_same(&other));
/// other.change(|list| list.push(3));
/// assert_eq!((&one[..], &other[..]), (&[1, 2][..], &[1, 2, 3][..]));
/// ```
#[derive(Clone)]
pub struct Shared<T>(Option<Arc<[T]>>);

impl<T> Shared<T> {
    /// Returns a list without items. This allocates nothing.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether one list is a clone of the other, or both are empty. Other lists may still be equal.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl<T: Clone> Shared<T> {
    /// Changes the list, which may become longer or shorter. Its clones stay as they are.
    ///
    /// To change items only, use the mutable slice that the list dereferences to.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<T>)) {
        let mut items = self.to_vec();
        change(&mut items);
        *self = items.into();
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_ref().map_or(&[], |items| items)
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    /// The items as a mutable slice. They are copied first if the list has clones.
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_mut().map_or(&mut [], Arc::make_mut)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self[..] == other[..]
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self[..], formatter)
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T> FromIterator<T> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let items: Arc<[T]> = items.into_iter().collect();
        Self((!items.is_empty()).then_some(items))
    }
}

impl<'list, T> IntoIterator for &'list Shared<T> {
    type Item = &'list T;
    type IntoIter = std::slice::Iter<'list, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
