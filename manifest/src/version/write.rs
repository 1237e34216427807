//! Writing versions.

use std::fmt;

/// Writes a version as the crate does that knows all of the format.
#[inline]
pub(super) fn write(version: &semver::Version, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_padded = formatter.width().is_some() || formatter.precision().is_some();
    if is_padded || !version.pre.is_empty() || !version.build.is_empty() {
        return fmt::Display::fmt(version, formatter);
    }
    // Lockfiles and indexes consist of these.
    let mut text = [0; THREE_NUMBERS_BYTES];
    let mut end = text.len();
    for number in [version.patch, version.minor, version.major] {
        if end < text.len() {
            end -= 1;
            text[end] = b'.';
        }
        end = write_before(&mut text, end, number);
    }
    formatter.write_str(std::str::from_utf8(&text[end..]).expect("digits and points"))
}

/// The most that three numbers of 64 bits take, with two points between them.
const THREE_NUMBERS_BYTES: usize = 3 * 20 + 2;

/// Writes the digits of a number so that they end before `end`; says where they begin.
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

    /// What is written at a glance is written as by the crate that knows all of the format.
    #[test]
    fn versions_are_written_alike() {
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
            assert_eq!(format!("{version:>70}|"), format!("{expected:>70}|"));
            assert_eq!(format!("{version:*<7}|"), format!("{expected:*<7}|"));
        }
    }
}
