//! Reads versions, and suggests one for a string that is not a version.

use super::{MAX_VERSION_BYTES, Version, VersionError};

/// Reads a version; see [`Version::parse`].
#[inline]
pub(super) fn read(text: &str) -> Result<semver::Version, VersionError> {
    let problem = |reason: String| VersionError {
        text: text.to_owned(),
        reason,
        nearest: nearest_version(text),
    };
    if let Some([major, minor, patch]) = three_numbers(text) {
        return Ok(semver::Version::new(major, minor, patch));
    }
    if text.is_empty() {
        return Err(problem("it is empty".to_owned()));
    }
    if text.len() > MAX_VERSION_BYTES {
        return Err(VersionError {
            text: text.to_owned(),
            reason: format!(
                "a version has at most {MAX_VERSION_BYTES} bytes, this one has {}",
                text.len()
            ),
            nearest: None,
        });
    }
    semver::Version::parse(text)
        .or_else(|error| match pad(text) {
            Some(padded) => semver::Version::parse(&padded),
            None => Err(error),
        })
        .map_err(|error| problem(error.to_string().replace(" while parsing ", " in the ")))
}

/// `1` and `1.2` with zeros appended; `None` for any other text.
fn pad(text: &str) -> Option<String> {
    let mut parts = 0;
    for part in text.split('.') {
        parts += 1;
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    match parts {
        1 => Some(format!("{text}.0.0")),
        2 => Some(format!("{text}.0")),
        _ => None,
    }
}

/// The components of a version of three numbers, none of which can overflow. Most versions are that.
#[inline]
fn three_numbers(text: &str) -> Option<[u64; 3]> {
    /// The most digits of a component. Any number of so many digits fits in 64 bits.
    const DIGITS: usize = 18;
    let mut rest = text.as_bytes();
    let mut numbers = [0; 3];
    for (position, number) in numbers.iter_mut().enumerate() {
        if position > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (written, after) = rest.split_at(digits);
        let has_leading_zero = digits > 1 && written[0] == b'0';
        if digits == 0 || digits > DIGITS || has_leading_zero {
            return None;
        }
        for digit in written {
            *number = *number * 10 + u64::from(digit - b'0');
        }
        rest = after;
    }
    rest.is_empty().then_some(numbers)
}

/// The version that the reference implementation makes of a string (`Version.coerce` of `semantic_version`),
/// after a leading `v` is dropped. It is only a suggestion.
fn nearest_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if text.len() > MAX_VERSION_BYTES {
        return None;
    }
    let mut components = Vec::new();
    let mut rest = text;
    while components.len() < 3 {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        components.push(rest[..digits].parse::<u64>().ok()?);
        rest = &rest[digits..];
        let next_is_number = rest
            .strip_prefix('.')
            .is_some_and(|after| after.starts_with(|next: char| next.is_ascii_digit()));
        if components.len() < 3 && next_is_number {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    if components.is_empty() {
        return None;
    }
    components.resize(3, 0);
    let rest: String = rest
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() || matches!(character, '+' | '.' | '-') {
                character
            } else {
                '-'
            }
        })
        .collect();
    let suffix = match rest.chars().next() {
        None => String::new(),
        Some('+' | '-') => rest,
        Some('.') => format!("+{}", &rest[1..]),
        Some(_) => format!("-{rest}"),
    };
    let candidate = format!(
        "{}.{}.{}{suffix}",
        components[0], components[1], components[2]
    );
    // Zeros and signs that were added can make it too long to be read.
    let is_short = candidate.len() <= MAX_VERSION_BYTES;
    let parsed = semver::Version::parse(&candidate).ok();
    parsed.filter(|_| is_short).map(Version::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_read_as_the_semver_crate_does() {
        let parts = [
            "0",
            "7",
            "10",
            "00",
            "07",
            "",
            "123456789012345678",
            "1234567890123456789",
            "18446744073709551615",
            "18446744073709551616",
            "x",
            "1-a",
            "1+b",
            " 1",
            "-1",
        ];
        for one in parts {
            for two in parts {
                for three in parts {
                    let text = format!("{one}.{two}.{three}");
                    let Some([major, minor, patch]) = three_numbers(&text) else {
                        continue;
                    };
                    let expected = semver::Version::parse(&text).expect("a version");
                    assert_eq!(semver::Version::new(major, minor, patch), expected);
                }
                assert_eq!(three_numbers(&format!("{one}.{two}")), None);
            }
        }
        assert_eq!(three_numbers("1.2.3.4"), None);
        assert_eq!(
            three_numbers("0.10.123456789012345678"),
            Some([0, 10, 123_456_789_012_345_678])
        );
    }

    #[test]
    fn the_nearest_version_is_not_too_long_to_be_read() {
        let nearest = |letters: usize| {
            let text = format!("1!{}", "a".repeat(letters));
            let error = Version::parse(&text).expect_err("it has an epoch");
            error.nearest.map(|nearest| nearest.to_string())
        };
        let longest = nearest(MAX_VERSION_BYTES - 6).expect("1.0.0- and letters");
        assert_eq!(longest.len(), MAX_VERSION_BYTES);
        assert!(Version::parse(&longest).is_ok());
        assert_eq!(nearest(MAX_VERSION_BYTES - 5), None);
    }

    #[test]
    fn any_other_text_is_an_error_with_the_nearest_version() {
        for (text, nearest) in [
            ("", None),
            ("latest", None),
            ("v1.2.3", Some("1.2.3")),
            ("01.2.3", Some("1.2.3")),
            ("1.2.3.4", Some("1.2.3+4")),
            ("1.2rc1", Some("1.2.0-rc1")),
            ("1.2.*", Some("1.2.0+-")),
            (" 1.2.3", Some("1.2.3")),
            ("1.2.3 ", Some("1.2.3")),
            ("1e3", Some("1.0.0-e3")),
            ("18446744073709551616.0.0", None),
        ] {
            let error = Version::parse(text).expect_err(text);
            assert_eq!(
                error.nearest.map(|nearest| nearest.to_string()).as_deref(),
                nearest,
                "{text:?}"
            );
        }
    }
}
