//! What the classes of releases extend, as far as it can be said in one number.

use super::super::CompiledIndex;
use super::Inheritance;

/// A class is extended by its name.
const NAMED: u8 = 1;

/// A class does not say what it extends.
const IMPLICIT: u8 = 2;

/// That the classes which are named are found, and in no cycle, does not follow from what is
/// required.
const SOUGHT: u8 = 4;

/// What the classes of a release extend; nothing if they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Extends(u8);

impl Extends {
    /// Whether no class extends another one. `has_root_class` says whether there is a class that
    /// classes extend which do not say it.
    #[inline]
    pub(crate) fn nothing(self, has_root_class: bool) -> bool {
        self.0 & NAMED == 0 && !(has_root_class && self.is_implicit())
    }

    /// Whether whatever meets the requirements that are written has all classes that are named.
    #[inline]
    pub(crate) fn names_what_is_required(self) -> bool {
        self.0 & SOUGHT == 0
    }

    /// Whether a class does not say what it extends.
    #[inline]
    pub(crate) fn is_implicit(self) -> bool {
        self.0 & IMPLICIT != 0
    }
}

impl Inheritance {
    /// Finds out what releases extend, whether that can be found or not.
    pub(super) fn find_extends(&mut self, index: &CompiledIndex) {
        if index.table_classes.items.is_empty() {
            return;
        }
        let extends = |table: u32| {
            let named = if index.extends_nothing(table) {
                0
            } else {
                NAMED
            };
            let implicit = self.implicit_at(table).map_or(0, |_| IMPLICIT);
            let sought = if self.has_cycle(table) { SOUGHT } else { 0 };
            Extends(named | implicit | sought)
        };
        let tables = index.tables.iter().map(|table| table.checked_sub(1));
        let extends = tables.map(|table| table.map(extends).unwrap_or_default());
        self.extends = extends.collect();
    }

    /// Says that a class which a release names is not found wherever its requirements lead.
    pub(super) fn set_sought(&mut self, release: u32) {
        self.extends[release as usize].0 |= SOUGHT;
    }
}
