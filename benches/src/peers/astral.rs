//! The crate `astral-pubgrub`, which `uv` stands on, with ranges of numbers.

use std::convert::identity;

super::provider::provider!(astral, u32, identity, identity, identity);
