//! The `pubgrub` crate with ranges of numbers: what the others are compared with.

use std::convert::identity;

super::provider::provider!(pubgrub, u32, identity, identity, |(low, high)| (
    low.as_ref(),
    high.as_ref()
));
