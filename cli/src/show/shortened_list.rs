//! Lists that are too long to be shown as a whole.

/// A list of which only the beginning and the end are shown, if it has more items than lines.
pub(super) struct Folded<'items, T> {
    first: &'items [T],
    hidden: usize,
    last: &'items [T],
}

/// A line of a folded list.
pub(super) enum FoldedLine<'items, T> {
    /// An item.
    Shown(&'items T),
    /// So many items, which are not shown.
    Hidden(usize),
}

impl<'items, T> Folded<'items, T> {
    /// Folds a list into so many lines, and at least two.
    pub(super) fn new(items: &'items [T], lines: usize) -> Self {
        let lines = lines.max(2);
        if items.len() <= lines {
            return Self {
                first: items,
                hidden: 0,
                last: &[],
            };
        }
        let shown = lines - 1;
        let (first, rest) = items.split_at(shown.div_ceil(2));
        let (between, last) = rest.split_at(rest.len() - shown / 2);
        Self {
            first,
            hidden: between.len(),
            last,
        }
    }

    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        self.iter().count()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FoldedLine<'items, T>> + use<'items, T> {
        let hidden = (self.hidden > 0).then_some(FoldedLine::Hidden(self.hidden));
        (self.first.iter().map(FoldedLine::Shown))
            .chain(hidden)
            .chain(self.last.iter().map(FoldedLine::Shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(count: u32, lines: usize) -> String {
        let items: Vec<u32> = (1..=count).collect();
        let lines: Vec<String> = Folded::new(&items, lines)
            .iter()
            .map(|line| match line {
                FoldedLine::Shown(item) => item.to_string(),
                FoldedLine::Hidden(count) => format!("({count})"),
            })
            .collect();
        lines.join(" ")
    }

    #[test]
    fn the_beginning_and_the_end_are_shown() {
        assert_eq!(folded(9, 5), "1 2 (5) 8 9");
        assert_eq!(folded(9, 4), "1 2 (6) 9");
        assert_eq!(folded(5, 5), "1 2 3 4 5");
        assert_eq!(folded(3, 0), "1 (2)");
        assert_eq!(folded(0, 5), "");
    }
}
