//! Renders texts, names, sizes and times.
//!
//! `maud` escapes markup. Texts of packages also go through here, so that characters that hide or
//! reorder text are visible.

use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::Escaped;

use crate::http::beginning::beginning as raw_beginning;

/// A text of a package, in one line.
pub(super) fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    Escaped::new(&words.join(" ")).to_string()
}

/// A text of a package with its lines, and spaces instead of tabs.
pub(super) fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']).replace('\t', "    ");
        shown.push_str(&Escaped::new(&content).to_string());
        if line.ends_with('\n') {
            shown.push('\n');
        }
    }
    shown
}

/// The beginning of a text of a package, in one line.
pub(super) fn beginning(text: &str, characters: usize) -> String {
    Escaped::new(&raw_beginning(text, characters)).to_string()
}

/// The paragraphs of a text of a package, which empty lines separate.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(shown) {
        let last = paragraphs.len() - 1;
        if !line.is_empty() {
            if !paragraphs[last].is_empty() {
                paragraphs[last].push(' ');
            }
            paragraphs[last].push_str(&line);
        } else if !paragraphs[last].is_empty() {
            paragraphs.push(String::new());
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// The namespace of a name with its dot, which may be empty, and the last part of the name.
pub(super) fn halves(name: &str) -> (&str, &str) {
    name.rfind('.')
        .map_or(("", name), |dot| name.split_at(dot + 1))
}

/// The title of a package; without one, the last part of its name.
pub(super) fn title(title: &str, name: &PackageName) -> String {
    let title = beginning(title, 120);
    if title.is_empty() {
        return halves(name.as_str()).1.to_owned();
    }
    title
}

/// A number of bytes, in a readable unit.
pub(super) fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = "";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if !unit.is_empty() && tenths < 10_240 {
            break;
        }
        tenths = (tenths + 512) / 1024;
        unit = next;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// The day of a time in RFC 3339.
pub(super) fn day(time: &str) -> Option<String> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.strftime("%Y-%m-%d").to_string())
}

/// A number with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A text as the value of a parameter of a query.
pub(super) fn parameter(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_hide_or_reorder_are_visible() {
        assert_eq!(shown(" a\u{202e}b\n c "), "a\\u{202e}b c");
        assert_eq!(lines("\ta\r\n\u{202e}\n\nb"), "    a\n\\u{202e}\n\nb");
        assert_eq!(beginning("one two three", 9), "one two…");
        assert_eq!(beginning("oneword", 3), "one…");
        assert_eq!(paragraphs("\n\n a\nb\n\n\n c\n"), ["a b", "c"]);
        assert!(paragraphs(" \n").is_empty());
        assert_eq!(halves("a.b.C"), ("a.b.", "C"));
        assert_eq!(halves("C"), ("", "C"));
        assert_eq!(parameter("a b&c=\"<"), "a+b%26c%3D%22%3C");
        assert_eq!(day("2026-01-31T12:00:00Z").as_deref(), Some("2026-01-31"));
        assert_eq!(day("<b>"), None);
    }

    #[test]
    fn sizes_are_rounded() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1 << 20, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
