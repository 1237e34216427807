//! What YAML 1.1 reads scalars as. The reference implementation reads files with YAML 1.1, which knows more words and
//! numbers than YAML 1.2: `yes`, `0x1f`, `1:30`, `2001-01-01`.

use super::{Scalar, Style};

impl Scalar {
    /// The value, if YAML 1.1 reads it as true or false.
    pub(crate) fn yaml_1_1_bool(&self) -> Option<bool> {
        if self.style != Style::Plain {
            return None;
        }
        match self.text.as_str() {
            "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
            "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
            _ => None,
        }
    }

    /// Whether YAML 1.1 reads it as a whole number.
    pub(crate) fn is_int(&self) -> bool {
        self.style == Style::Plain && is_int(&self.text)
    }

    /// The number, if YAML 1.1 reads it as one: a whole number in decimal digits, others without `_`.
    pub(crate) fn yaml_1_1_number(&self) -> Option<String> {
        if self.style != Style::Plain {
            return None;
        }
        if is_int(&self.text) {
            Some(decimal(&self.text))
        } else {
            is_float(&self.text).then(|| fraction(&self.text))
        }
    }

    /// Whether YAML 1.1 reads it as text: not as null, true, false, a number or a date.
    pub(crate) fn is_text(&self) -> bool {
        self.style != Style::Plain
            || !(self.is_null() || self.yaml_1_1_bool().is_some() || is_number_or_date(&self.text))
    }

    /// Whether YAML 1.1 reads it as the number zero.
    pub(crate) fn is_zero(&self) -> bool {
        let is_digit_but_zero =
            |it: u8| it.is_ascii_alphanumeric() && !matches!(it, b'0' | b'x' | b'b');
        self.style == Style::Plain
            && (is_int(&self.text) || is_float(&self.text))
            && self.text.contains('0')
            && !self
                .text
                .split(['e', 'E'])
                .next()
                .unwrap_or_default()
                .bytes()
                .any(is_digit_but_zero)
    }
}

/// Whether a plain scalar is a number, a time (a number with base 60) or a date.
fn is_number_or_date(text: &str) -> bool {
    is_int(text) || is_float(text) || is_date(text)
}

fn is_int(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = |digits: &str, is_digit: fn(&char) -> bool| {
        !digits.is_empty() && digits.chars().all(|it| it == '_' || is_digit(&it))
    };
    if let Some(binary) = digits.strip_prefix("0b") {
        return all(binary, |it| matches!(it, '0' | '1'));
    }
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        return all(hexadecimal, char::is_ascii_hexdigit);
    }
    if let Some(octal) = digits.strip_prefix('0') {
        return octal.is_empty() || all(octal, |it| matches!(it, '0'..='7'));
    }
    let mut parts = digits.split(':');
    parts.next().is_some_and(|first| {
        first.starts_with(|it: char| it.is_ascii_digit()) && all(first, char::is_ascii_digit)
    }) && parts.all(is_sixtieth)
}

/// A whole number of YAML 1.1 in decimal digits. One with another base that is too large for exact arithmetic is
/// approximate.
fn decimal(text: &str) -> String {
    let text = text.replace('_', "");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    let (base, digits) = if let Some(binary) = digits.strip_prefix("0b") {
        (2_u8, binary)
    } else if let Some(hexadecimal) = digits.strip_prefix("0x") {
        (16, hexadecimal)
    } else if is_octal {
        (8, digits)
    } else if digits.contains(':') {
        (60, digits)
    } else {
        return format!("{sign}{digits}");
    };
    let places: Vec<u32> = if base == 60 {
        let places = digits.split(':');
        places
            .map(|place| place.parse().unwrap_or(u32::MAX))
            .collect()
    } else {
        digits
            .chars()
            .filter_map(|digit| digit.to_digit(16))
            .collect()
    };
    let exact = places.iter().try_fold(0_u128, |value, place| {
        value
            .checked_mul(u128::from(base))?
            .checked_add(u128::from(*place))
    });
    if let Some(value) = exact {
        return format!("{sign}{value}");
    }
    let places = places.iter();
    let value = places.fold(0.0, |value, place| {
        value * f64::from(base) + f64::from(*place)
    });
    format!("{sign}{value:.0}")
}

/// A number of YAML 1.1 that is not whole, with base 10.
fn fraction(text: &str) -> String {
    let text = text.replace('_', "");
    if !text.contains(':') {
        return text;
    }
    let number = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let places = number.split(':').map(|place| place.parse().unwrap_or(0.0));
    let value = places.fold(0.0, |value, place: f64| value * 60.0 + place);
    let sign = if text.starts_with('-') { "-" } else { "" };
    format!("{sign}{value:?}")
}

/// A digit of a number with base 60.
fn is_sixtieth(part: &str) -> bool {
    let ([digit] | [b'0'..=b'5', digit]) = part.as_bytes() else {
        return false;
    };
    digit.is_ascii_digit()
}

fn is_float(text: &str) -> bool {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(number, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, fraction)) = number.split_once('.') else {
        return false;
    };
    let is_digits = |digits: &str| digits.bytes().all(|it| it.is_ascii_digit() || it == b'_');
    let starts_with_digit = whole.starts_with(|it: char| it.is_ascii_digit());
    if let Some((hours, minutes)) = whole.split_once(':') {
        return starts_with_digit
            && is_digits(hours)
            && minutes.split(':').all(is_sixtieth)
            && is_digits(fraction);
    }
    let (fraction, exponent) = match fraction.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (fraction, None),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        exponent.strip_prefix(['+', '-']).is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
        })
    });
    let is_whole = if whole.is_empty() {
        number == text && fraction.starts_with(|it: char| it.is_ascii_digit())
    } else {
        starts_with_digit && is_digits(whole)
    };
    is_whole && is_digits(fraction) && is_exponent
}

/// Whether a text begins like a date, with nothing but a time after it.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|it| it.is_ascii_digit()).count()
    };
    if digits(0) != 4 || bytes.get(4) != Some(&b'-') {
        return false;
    }
    let month = digits(5);
    let day = digits(6 + month);
    if !matches!(month, 1 | 2) || !matches!(day, 1 | 2) || bytes.get(5 + month) != Some(&b'-') {
        return false;
    }
    let time = &text[6 + month + day..];
    if time.is_empty() {
        return month == 2 && day == 2;
    }
    let Some(time) = time.strip_prefix(['T', 't', ' ', '\t']) else {
        return false;
    };
    let is_part_of_time =
        |it: char| it.is_ascii_digit() || matches!(it, ':' | '.' | '+' | '-' | 'Z' | ' ' | '\t');
    time.contains(':') && time.chars().all(is_part_of_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar {
            text: text.to_owned(),
            style: Style::Plain,
        }
    }

    #[test]
    fn numbers_are_read_as_yaml_1_1_reads_them() {
        for (text, number) in [
            ("0", "0"),
            ("-7", "-7"),
            ("+5", "5"),
            ("1_000", "1000"),
            ("017", "15"),
            ("-017", "-15"),
            ("0x1F90", "8080"),
            ("-0x_f", "-15"),
            ("0b1_1", "3"),
            ("1:30", "90"),
            ("1:59:07", "7147"),
            (
                "340282366920938463463374607431768211456",
                "340282366920938463463374607431768211456",
            ),
            ("1.", "1."),
            ("1_0.5", "10.5"),
            ("1.5e+7", "1.5e+7"),
            ("-1:30.5", "-90.5"),
            (".inf", ".inf"),
        ] {
            assert_eq!(
                plain(text).yaml_1_1_number().as_deref(),
                Some(number),
                "{text}"
            );
        }
        for text in [
            "",
            "08",
            "0o17",
            "1e3",
            "1.5e7",
            "1:60",
            "0x",
            "yes",
            "2001-01-01",
            "a",
        ] {
            assert_eq!(plain(text).yaml_1_1_number(), None, "{text}");
        }
        let far = format!("0x{}", "f".repeat(40));
        let number = plain(&far).yaml_1_1_number().expect("it is a number");
        assert_eq!(number.len(), 49, "{number}");
        let quoted = Scalar {
            style: Style::Quoted,
            ..plain("5")
        };
        assert_eq!(quoted.yaml_1_1_number(), None);
    }

    #[test]
    fn plain_scalars_have_the_types_of_yaml_1_1() {
        for number in [
            "0",
            "-7",
            "+7",
            "1_000",
            "0x1f",
            "0b1_0",
            "017",
            "1:30",
            "1:59:07",
            "1.",
            "1.5",
            ".5",
            "-1.5",
            "1.5e+7",
            "1:30.5",
            ".inf",
            "-.INF",
            ".nan",
            "2001-01-01",
            "2001-1-1T12:30:00Z",
        ] {
            assert!(!plain(number).is_text(), "{number}");
        }
        for text in [
            "", "08", "1:60", "1e5", "1.5e7", "-.5", "-.nan", "+", "_1", "0x", "2001-1-1",
            "2001-01", "1-2", "a", "1.2.3", "y", "oN",
        ] {
            let is_text = plain(text).is_text();
            assert_eq!(is_text, !text.is_empty(), "{text}");
        }
        assert!(
            ["0", "-0", "0.0", "0x0", "00", "0.0e+5"]
                .map(plain)
                .iter()
                .all(Scalar::is_zero)
        );
        assert!(
            !["1", "0x1", "0.1", "x0", "", "0f"]
                .map(plain)
                .iter()
                .any(Scalar::is_zero)
        );
    }
}
