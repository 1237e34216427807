//! Which releases define which classes for others.

use super::super::column::ListsBuilder;
use super::super::{CompiledIndex, INTERNAL, NONE, to_u32, width};
use super::Inheritance;

impl Inheritance {
    pub(super) fn find_definers(&mut self, index: &CompiledIndex) {
        let mut defined = ListsBuilder::new();
        let mut own: Vec<(u32, u32)> = Vec::new();
        for name in 0..index.name_count() {
            let releases = index.releases(name);
            let width = width(releases.end - releases.start);
            let tables = index.tables_of(name);
            let unknown = self.find_unknown(tables.clone(), width);
            self.unknown.push(unknown);
            own.clear();
            for (position, table) in (0_u32..).zip(tables) {
                let Some(table) = table else {
                    continue;
                };
                let range = index.table_classes.range(table);
                let flags = &index.class_flags[range.clone()];
                let classes = &index.table_classes.items[range];
                for (class, flags) in classes.iter().zip(flags) {
                    if flags & INTERNAL == 0 {
                        own.push((*class, position));
                    }
                }
            }
            own.sort_unstable();
            for same in own.chunk_by(|one, two| one.0 == two.0) {
                let class = same[0].0;
                defined.items.push(class);
                let set = self.new_set(width);
                self.defining.push(set);
                for (_, position) in same {
                    self.insert(set, *position);
                }
                if let Some(unknown) = self.unknown_of(name) {
                    for word in 0..width {
                        self.words[set as usize + word] |= self.words[unknown as usize + word];
                    }
                }
            }
            defined.end();
        }
        self.defined = defined.finish();
    }

    /// Keeps which releases of a package have classes that are unknown, if there are any; `tables` are those
    /// of its releases.
    fn find_unknown(&mut self, tables: impl Iterator<Item = Option<u32>>, width: usize) -> u32 {
        let mut unknown = (0..).zip(tables).filter(|(_, table)| table.is_none());
        let Some(first) = unknown.next() else {
            return NONE;
        };
        self.any_unknown = true;
        let set = self.new_set(width);
        for (position, _) in std::iter::once(first).chain(unknown) {
            self.insert(set, position);
        }
        set
    }

    pub(super) fn new_set(&mut self, width: usize) -> u32 {
        let set = to_u32(self.words.len());
        self.words.resize(self.words.len() + width, 0);
        set
    }

    pub(super) fn insert(&mut self, set: u32, number: u32) {
        self.words[set as usize + number as usize / 64] |= 1 << (number % 64);
    }
}
