//! The `pubgrub` crate with ranges of numbers: what the others are compared with.

use std::convert::identity;

use pubgrub as library;

super::provider::provider!(u32, identity, identity, |(low, high)| (
    low.as_ref(),
    high.as_ref()
));
