//! Creates request ids, by which requests are found in the log.

use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use pkgres_manifest::Hexadecimal;

/// The form of a request id: a UUID of version four. The first digits are those of the process, the
/// others count requests.
const FORM: &[u8; 40] = b"req-00000000-0000-4000-8000-000000000000";

/// The places of the digits that count: three before a dash, and twelve after it.
const COUNTED: [std::ops::Range<usize>; 2] = [24..27, 28..40];

/// The source of request ids.
pub(super) struct RequestIds {
    first: [u8; FORM.len()],
    requests: AtomicU64,
}

/// The id of a request.
pub(super) struct RequestId([u8; FORM.len()]);

impl RequestIds {
    /// Ids that begin with the digits of a process, which have to be random.
    pub(super) fn new(seed: [u8; 8]) -> Self {
        let mut first = *FORM;
        let digits = Hexadecimal(&seed).to_string();
        for (place, from) in [(4..12, 0..8), (13..17, 8..12), (19..22, 12..15)] {
            first[place].copy_from_slice(&digits.as_bytes()[from]);
        }
        Self {
            first,
            requests: AtomicU64::new(0),
        }
    }

    /// The next id.
    pub(super) fn next(&self) -> RequestId {
        let mut number = self.requests.fetch_add(1, Ordering::Relaxed);
        let mut id = self.first;
        for place in COUNTED.into_iter().rev() {
            for digit in id[place].iter_mut().rev() {
                *digit = b"0123456789abcdef"[(number & 15) as usize];
                number >>= 4;
            }
        }
        RequestId(id)
    }
}

impl RequestId {
    /// The id as text.
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits and dashes are ASCII")
    }

    /// The id as the value of a header.
    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::from_bytes(&self.0).expect("digits and dashes are valid in a header")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_uuids_and_count() {
        let ids = RequestIds::new([0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89]);
        let first = ids.next();
        assert_eq!(first.as_str(), "req-abcdef01-2345-4678-8000-000000000000");
        assert_eq!(first.header(), first.as_str());
        ids.requests.store(0x0123_4567_89ab_cdef, Ordering::Relaxed);
        let later = ids.next();
        assert_eq!(later.as_str(), "req-abcdef01-2345-4678-8123-456789abcdef");
        assert_eq!(
            ids.next().as_str(),
            "req-abcdef01-2345-4678-8123-456789abcdf0"
        );
    }
}
