//! Warnings about versions and ranges that YAML reads as numbers, as in `version: 1.10`.
//!
//! ansible-galaxy takes the number: `1.10` becomes 1.1 in the `MANIFEST.json` that it builds. When it installs, it ends
//! with an error in either file, because it expects text. pkgres takes the text.

use pkgres_manifest::diagnostic::{Code, Escaped};
use pkgres_manifest::document::{Node, NodeReader, Scalar, Style};

/// The number that YAML reads in place of a scalar, if it is a number.
fn number_of(scalar: &Scalar) -> Option<String> {
    let text = scalar.text.as_str();
    let is_digits = text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if scalar.style != Style::Plain || !is_digits {
        return None;
    }
    match text.matches('.').count() {
        0 if text.len() > 1 && text.starts_with('0') => {
            // An octal number; with other digits, it is text.
            let number = u64::from_str_radix(text, 8).ok()?;
            Some(number.to_string())
        }
        0 => Some(text.to_owned()),
        1 => Some(format!("{:?}", text.parse::<f64>().ok()?)),
        _ => None,
    }
}

/// Warns about a number in `requirements.yml`.
pub(super) fn warn_of_requirement(nodes: &mut NodeReader, value: &Node) {
    let Some(scalar) = value
        .as_scalar()
        .filter(|scalar| number_of(scalar).is_some())
    else {
        return;
    };
    let text = Escaped::shortened(&scalar.text);
    let message = format!("without quotes, `{text}` is a number, and `ansible-galaxy` fails");
    nodes
        .warning_of(Code::Spec, message, value.span)
        .add_hint(format!("write `version: \"{text}\"`"));
}

/// Warns about a number among the dependencies of a collection.
pub(super) fn warn_of_dependency(nodes: &mut NodeReader, key: &str, value: &Node) {
    let Some(scalar) = value.as_scalar() else {
        return;
    };
    let Some(number) = number_of(scalar) else {
        return;
    };
    let text = Escaped::shortened(&scalar.text);
    let read = if number == scalar.text {
        "a number".to_owned()
    } else {
        format!("the number {number}")
    };
    let message = format!(
        "without quotes, `{text}` is {read}, and `ansible-galaxy` does not install the collection that it builds"
    );
    nodes
        .warning_of(Code::Spec, message, value.span)
        .add_hint(format!("write `{}: \"{text}\"`", Escaped::shortened(key)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_yaml_does() {
        let number = |text: &str, style| {
            let text = text.to_owned();
            number_of(&Scalar { text, style })
        };
        for (text, expected) in [
            ("1", Some("1")),
            ("1.2", Some("1.2")),
            ("1.10", Some("1.1")),
            ("1.0", Some("1.0")),
            ("010", Some("8")),
            ("09", None),
            ("1.2.3", None),
            ("*", None),
            (">=1", None),
        ] {
            assert_eq!(number(text, Style::Plain).as_deref(), expected, "{text}");
            assert_eq!(number(text, Style::Quoted), None);
        }
    }
}
