//! Colors of trees and differences.

use clap::builder::styling::{AnsiColor, Style};

/// A list of differences with colored marks.
pub(crate) fn colored_changes(text: &str) -> String {
    styled_lines(text, |line| {
        let content = line.trim_start();
        let color = match content.get(..2)? {
            "+ " => AnsiColor::Green,
            "- " => AnsiColor::Red,
            "~ " => AnsiColor::Yellow,
            _ => return None,
        };
        Some((0, line.len(), color.on_default()))
    })
}

/// Differences of files in colors. Lines of their texts are indented by four columns.
pub(crate) fn colored_file_differences(text: &str) -> String {
    styled_lines(text, |line| {
        let content = line.strip_prefix("    ").unwrap_or(line);
        let color = match content.chars().next()? {
            '+' => AnsiColor::Green,
            '-' => AnsiColor::Red,
            '~' if content.len() == line.len() => AnsiColor::Yellow,
            '@' => AnsiColor::Cyan,
            _ => return None,
        };
        Some((0, line.len(), color.on_default()))
    })
}

/// A tree with a dimmed drawing, so that names stand out.
pub(crate) fn colored_tree(text: &str) -> String {
    styled_lines(text, |line| {
        let is_drawing =
            |character: char| "\u{2502}\u{251c}\u{2514}\u{2500} \u{a0}".contains(character);
        let end = line.len() - line.trim_start_matches(is_drawing).len();
        (end > 0).then_some((0, end, Style::new().dimmed()))
    })
}

/// Text in which a part of each line has a style.
fn styled_lines(text: &str, style: impl Fn(&str) -> Option<(usize, usize, Style)>) -> String {
    let mut styled = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        match style(content) {
            Some((start, end, style)) => {
                let (before, part) = (&content[..start], &content[start..end]);
                styled.push_str(&format!("{before}{style}{part}{style:#}{}", &line[end..]));
            }
            None => styled.push_str(line),
        }
    }
    styled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_drawings_have_styles() {
        let text = colored_changes("  + a 1.0.0\nLocked 1 package\n");
        assert_eq!(text, "\u{1b}[32m  + a 1.0.0\u{1b}[0m\nLocked 1 package\n");
        let text = colored_tree("a 1.0.0\n\u{2514}\u{2500}\u{2500} b 1.0.0\n");
        assert_eq!(
            text,
            "a 1.0.0\n\u{1b}[2m\u{2514}\u{2500}\u{2500} \u{1b}[0mb 1.0.0\n"
        );
    }
}
