//! Splits the text of a search into words and phrases.

/// The words of a text. What is between double quotes is one word, with its spaces; a quote without a second one
/// reaches to the end.
pub(super) fn search_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in text.split('"').enumerate() {
        if at % 2 == 0 {
            words.extend(part.split_whitespace().map(str::to_owned));
        } else {
            let phrase: Vec<&str> = part.split_whitespace().collect();
            words.extend((!phrase.is_empty()).then(|| phrase.join(" ")));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::search_words;

    #[test]
    fn phrases_are_words() {
        for (text, words) in [
            ("", &[][..]),
            (" web  server ", &["web", "server"]),
            ("\"web  server\" acme", &["web server", "acme"]),
            ("a\"b c\"d", &["a", "b c", "d"]),
            ("\"\" \" \" a \"b c", &["a", "b c"]),
        ] {
            assert_eq!(search_words(text), words, "{text}");
        }
    }
}
