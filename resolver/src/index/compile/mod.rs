//! Preparing releases for solving.

mod alone;
mod classes;
mod releases;
mod together;

use pkgres_manifest::IndexRecord;

use super::CompiledIndex;
use alone::{can_be_alone, compile_alone};
use together::compile_together;

pub(super) use releases::{DIGEST_BYTES, digest_from, is_plain};

/// Prepares releases, whose outcome does not depend on which way it is done.
pub(super) fn compile(records: Vec<&IndexRecord>) -> CompiledIndex {
    match records[..] {
        [record] if can_be_alone(record) => compile_alone(record),
        _ => compile_together(records),
    }
}
