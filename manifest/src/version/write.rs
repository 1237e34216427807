//! Writes versions, with a short way for plain numbers.

use std::fmt;

/// Writes a version, as the `semver` crate does.
#[inline]
pub(super) fn write(version: &semver::Version, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_padded = formatter.width().is_some() || formatter.precision().is_some();
    match three_numbers(version, &mut [0; THREE_NUMBERS_BYTES]) {
        Some(numbers) if !is_padded => formatter.write_str(numbers),
        _ => fmt::Display::fmt(version, formatter),
    }
}

/// Appends a version to a string.
#[inline]
pub(super) fn push(version: &semver::Version, text: &mut String) {
    match three_numbers(version, &mut [0; THREE_NUMBERS_BYTES]) {
        Some(numbers) => text.push_str(numbers),
        None => text.push_str(&version.to_string()),
    }
}

/// Writes a version of three numbers into a buffer; `None` if it has anything else. Lockfiles and indexes
/// mostly consist of these.
#[inline]
fn three_numbers<'text>(
    version: &semver::Version,
    text: &'text mut [u8; THREE_NUMBERS_BYTES],
) -> Option<&'text str> {
    if !version.pre.is_empty() || !version.build.is_empty() {
        return None;
    }
    let mut end = text.len();
    for number in [version.patch, version.minor, version.major] {
        if end < text.len() {
            end -= 1;
            text[end] = b'.';
        }
        end = write_before(text, end, number);
    }
    Some(std::str::from_utf8(&text[end..]).expect("digits and points"))
}

/// The size of the longest version of three 64-bit numbers, with two dots between them.
const THREE_NUMBERS_BYTES: usize = 3 * 20 + 2;

/// Writes the digits of a number so that they end before `end`, and returns where they begin.
fn write_before(text: &mut [u8], mut end: usize, mut number: u64) -> usize {
    loop {
        end -= 1;
        text[end] = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
        if number == 0 {
            return end;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::version::Version;

    #[test]
    fn versions_are_written_as_the_semver_crate_does() {
        for text in [
            "0.0.0",
            "1.20.300",
            "10.0.9",
            "18446744073709551615.18446744073709551615.18446744073709551615",
            "1.2.3-a.1",
            "1.2.3+b",
            "1.2.3-a+b",
        ] {
            let expected = semver::Version::parse(text).expect("a version");
            let version = Version::parse(text).expect("a version");
            assert_eq!(version.to_string(), text);
            let mut pushed = "=".to_owned();
            version.push_to(&mut pushed);
            assert_eq!(pushed, format!("={text}"));
            assert_eq!(format!("{version:>70}|"), format!("{expected:>70}|"));
            assert_eq!(format!("{version:*<7}|"), format!("{expected:*<7}|"));
        }
    }
}
