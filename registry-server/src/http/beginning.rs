//! The beginning of a long text, for lists: a list of a thousand packages with their whole descriptions would be longer
//! than clients read.

/// The most characters of a description in a list.
pub(super) const MAX_LISTED_CHARACTERS: usize = 300;

/// The beginning of a text in one line, cut at the end of a word.
pub(super) fn beginning(text: &str, characters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= characters {
        return line;
    }
    let mut short: String = line.chars().take(characters).collect();
    if let Some((whole, _)) = short.rsplit_once(' ') {
        short.truncate(whole.len());
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_after_a_word() {
        assert_eq!(beginning("one\n  two", 7), "one two");
        assert_eq!(beginning("one two", 6), "one…");
        assert_eq!(beginning("onetwo", 3), "one…");
    }
}
