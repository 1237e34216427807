//! The columns of a terminal that a text takes. Wide characters, such as those of Chinese, take two, and styles none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    without_styles(text).width()
}

/// A text without its styles.
pub(super) fn without_styles(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// A text that takes at least so many columns: spaces follow it.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}

/// A text without styles that takes at most so many columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut cut = beginning(text.chars(), width.saturating_sub(1));
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// A text without styles that takes at most so many columns. Its end is kept: names of files differ there.
pub(super) fn cut_inside(text: &str, width: usize) -> String {
    if columns(text) <= width || width == 0 {
        return cut(text, width);
    }
    let start = (width - 1) / 3;
    let first = beginning(text.chars(), start);
    let last = beginning(text.chars().rev(), width - 1 - start);
    let last: String = last.chars().rev().collect();
    format!("{first}…{last}")
}

/// The first characters that fit into so many columns.
fn beginning(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    let fits = |character: &char| {
        let rest = left.checked_sub(character.width().unwrap_or(0));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!(columns("\u{1b}[1mweb\u{1b}[0m"), 3);
        assert_eq!(columns("説明.txt"), 8);
        assert_eq!(padded("説明", 6), "説明  ");
        assert_eq!(padded("longer", 3), "longer");
    }

    #[test]
    fn texts_are_cut_where_they_are_too_wide() {
        assert_eq!(cut("/etc/nginx", 10), "/etc/nginx");
        assert_eq!(cut("/etc/nginx", 5), "/etc…");
        assert_eq!(cut("説明書", 5), "説明…");
        assert_eq!(cut("説明書", 4), "説…");
        assert_eq!(cut("a", 0), "");
        assert_eq!(cut_inside("/etc/nginx/nginx.conf", 10), "/et…x.conf");
        assert_eq!(cut_inside("/説明/書.txt", 9), "/…書.txt");
    }
}
