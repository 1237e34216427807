//! Columns of plain numbers and texts, in memory or in a mapped file.

use std::fmt;
use std::ops::{Deref, Range};

use bytes::Bytes;

/// An item that a file can store as its bytes.
pub(crate) trait ColumnItem: bytemuck::Pod {}

impl ColumnItem for u8 {}
impl ColumnItem for u32 {}
impl ColumnItem for u64 {}
impl ColumnItem for [u32; 3] {}

/// How much unused memory is worth being freed.
const MIN_SHRINK_BYTES: usize = 1 << 12;

/// A column: built in memory, or a part of a mapped file.
pub(crate) enum Column<T> {
    Built(Vec<T>),
    Mapped(Bytes),
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self::Built(Vec::new())
    }
}

impl<T: ColumnItem> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Built(numbers) => numbers,
            Self::Mapped(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Column")
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(mut numbers: Vec<T>) -> Self {
        let unused = (numbers.capacity() - numbers.len()) * size_of::<T>();
        if unused > MIN_SHRINK_BYTES {
            numbers.shrink_to_fit();
        }
        Self::Built(numbers)
    }
}

/// Runs of items by number.
#[derive(Debug, Default)]
pub(crate) struct Lists<T> {
    /// Where each run begins; one more than there are runs.
    pub(crate) starts: Column<u32>,
    pub(crate) items: Column<T>,
}

impl<T> Lists<T> {
    /// No runs, without allocating.
    pub(crate) const EMPTY: Self = Self {
        starts: Column::Built(Vec::new()),
        items: Column::Built(Vec::new()),
    };
}

impl<T: ColumnItem> Lists<T> {
    /// So many runs without items.
    pub(crate) fn empty_runs(runs: usize) -> Self {
        Self {
            starts: vec![0; runs + 1].into(),
            items: Column::default(),
        }
    }

    /// The items of a run.
    #[inline]
    pub(crate) fn run(&self, number: u32) -> &[T] {
        &self.items[self.range(number)]
    }

    /// The range of the items of a run.
    #[inline]
    pub(crate) fn range(&self, number: u32) -> Range<usize> {
        let starts = &self.starts[number as usize..number as usize + 2];
        starts[0] as usize..starts[1] as usize
    }

    /// The number of runs.
    pub(crate) fn len(&self) -> u32 {
        to_u32(self.starts.len().saturating_sub(1))
    }
}

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Texts(pub(crate) Lists<u8>);

impl Texts {
    /// The texts in this order.
    pub(crate) fn of(all: &[&str]) -> Self {
        let mut texts = ListsBuilder::with_capacity(all.len());
        texts.items = Vec::with_capacity(all.iter().map(|text| text.len()).sum());
        for text in all {
            texts.text(text);
        }
        Self(texts.finish())
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        std::str::from_utf8(self.0.run(number)).expect("texts were checked when they came in")
    }

    /// How many texts come before a text, if they are sorted.
    pub(crate) fn count_before(&self, text: &str) -> u32 {
        let (mut low, mut high) = (0, self.0.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.0.run(middle) < text.as_bytes() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The number of a text, if the texts are sorted.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        // Compares bytes, and dereferences the columns once, because this runs for each root.
        let (starts, texts): (&[u32], &[u8]) = (&self.0.starts, &self.0.items);
        let (mut low, mut high) = (0, self.0.len());
        while low < high {
            let middle = low.midpoint(high);
            let bounds = &starts[middle as usize..][..2];
            match texts[bounds[0] as usize..bounds[1] as usize].cmp(text.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// A builder of [`Lists`].
#[derive(Debug)]
pub(crate) struct ListsBuilder<T> {
    /// Empty while there are no runs: indexes of one record have many lists without any.
    starts: Vec<u32>,
    pub(crate) items: Vec<T>,
}

impl<T: ColumnItem> ListsBuilder<T> {
    pub(crate) fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A builder with capacity for so many runs.
    pub(crate) fn with_capacity(runs: usize) -> Self {
        let starts = match runs {
            0 => Vec::new(),
            runs => Vec::with_capacity(runs + 1),
        };
        let items = Vec::new();
        Self { starts, items }
    }

    /// Ends a run.
    pub(crate) fn end(&mut self) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(to_u32(self.items.len()));
    }

    pub(crate) fn finish(self) -> Lists<T> {
        if self.starts.is_empty() {
            return Lists::empty_runs(0);
        }
        let (starts, items) = (self.starts.into(), self.items.into());
        Lists { starts, items }
    }
}

impl ListsBuilder<u8> {
    pub(crate) fn text(&mut self, text: &str) {
        self.items.extend_from_slice(text.as_bytes());
        self.end();
    }
}

/// An index or number as `u32`. Indexes with 2^32 of anything do not exist.
pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32")
}
