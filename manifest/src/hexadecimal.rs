//! Bytes as lower case hexadecimal digits.
//!
//! Every line of an index and every release in a lockfile has a digest: bytes are converted 32 at a time when
//! writing, and without a branch per digit when reading.

use std::fmt;

/// The digits.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of each character as a digit; 255 if it is not one.
const VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut digit = 0;
    while digit < 16 {
        values[DIGITS[digit as usize] as usize] = digit;
        digit += 1;
    }
    values
};

/// The number of bytes that are written at once: the length of a digest.
const PART_BYTES: usize = 32;

/// Bytes that are displayed as lower case hexadecimal digits, two for each byte.
///
/// ```
/// use pkgres_manifest::{Hexadecimal, from_hexadecimal};
///
/// let text = Hexadecimal(&[0x0b, 0xad]).to_string();
/// assert_eq!(text, "0bad");
/// let mut bytes = [0; 2];
/// assert!(from_hexadecimal(&text, &mut bytes));
/// assert_eq!(bytes, [0x0b, 0xad]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hexadecimal<'bytes>(pub &'bytes [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.chunks(PART_BYTES) {
            let mut text = [0; PART_BYTES * 2];
            let text = &mut text[..part.len() * 2];
            for (pair, byte) in text.chunks_exact_mut(2).zip(part) {
                let digit = |number: u8| DIGITS[usize::from(number)];
                pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
            formatter.write_str(std::str::from_utf8(text).expect("digits are text"))?;
        }
        Ok(())
    }
}

/// Fills `bytes` from lower case hexadecimal digits, two for each byte. Returns false if the text has a different
/// length or other characters; the content of `bytes` is then unspecified.
pub fn from_hexadecimal(text: &str, bytes: &mut [u8]) -> bool {
    if text.len() != bytes.len() * 2 {
        return false;
    }
    let mut all = 0;
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        all |= high | low;
        *byte = high << 4 | low;
    }
    all < 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_and_read() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = Hexadecimal(&bytes).to_string();
        assert!(text.starts_with("000102") && text.ends_with("fdfeff"));
        let mut read = vec![0; bytes.len()];
        assert!(from_hexadecimal(&text, &mut read));
        assert_eq!(read, bytes);
        for length in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1] {
            let shorter = Hexadecimal(&bytes[..length]).to_string();
            assert_eq!(shorter, text[..2 * length]);
        }
    }

    #[test]
    fn nothing_else_is_read() {
        for bad in ["", "0", "000", "0A", "0g", "+1", "é"] {
            assert!(!from_hexadecimal(bad, &mut [0]), "{bad}");
        }
    }
}
