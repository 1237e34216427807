//! What holds for every input, whatever its format.

use pkgres_manifest::diagnostic::{Diagnostic, Location, Parsed};

/// Whether a character could move the cursor of a terminal, or hide or reorder the text around it.
///
/// This is written from Unicode's categories (Cc, Cf, Zl, Zp and fillers), not from the table of the code.
pub fn acts_on_terminals(character: char) -> bool {
    let code = u32::from(character);
    code < 0x20
        || (0x7f..0xa0).contains(&code)
        || matches!(code,
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180e | 0xfeff
            | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfff9..=0xfffb
            | 0xe0000..=0xe007f)
}

/// Asserts that a text of one line is safe on a terminal.
pub fn is_safe_line(text: &str) {
    let found = text.chars().find(|character| acts_on_terminals(*character));
    assert!(found.is_none(), "{found:?} in {text:?}");
}

/// Asserts that the text of an error is safe on a terminal.
pub fn is_safe(error: &impl std::fmt::Display) {
    is_safe_line(&error.to_string());
}

/// Asserts that the texts of the causes of an error are safe on a terminal.
pub fn are_safe_causes(error: &dyn std::error::Error) {
    let mut cause = error.source();
    while let Some(error) = cause {
        is_safe(&error);
        cause = error.source();
    }
}

/// Asserts that a place is inside of its input, and between characters.
fn is_inside(location: &Location) {
    let (text, span) = (location.source().text(), location.span());
    assert!(text.get(span.start..span.end).is_some(), "{span:?}");
    is_safe(location);
}

/// Asserts that findings can be shown, and that their places are inside of their inputs.
pub fn are_safe(findings: &[Diagnostic]) {
    for finding in findings {
        is_safe_line(&finding.message);
        for hint in &finding.hints {
            is_safe_line(hint);
        }
        for label in &finding.labels {
            is_inside(&label.location);
            is_safe_line(&label.message);
        }
    }
}

/// Asserts what holds for each result of a reader, and returns the value.
pub fn checked<T>(parsed: Parsed<T>) -> Option<T> {
    are_safe(parsed.diagnostics());
    assert!(
        parsed.diagnostics().len() < 1_000,
        "{} findings",
        parsed.diagnostics().len()
    );
    match parsed.into_result() {
        Ok((value, findings)) => {
            assert!(!findings.iter().any(Diagnostic::is_error));
            Some(value)
        }
        Err(findings) => {
            assert!(findings.iter().any(Diagnostic::is_error));
            None
        }
    }
}
