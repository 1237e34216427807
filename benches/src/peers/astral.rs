//! The crate `astral-pubgrub`, which `uv` uses, with ranges of numbers.

use std::convert::identity;

use astral as library;

super::provider::provider!(u32, identity, identity, identity);
