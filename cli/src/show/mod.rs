//! Turning results into text and JSON.

mod conflict;
mod diagnostic;
mod resolution;
mod staleness;
mod tree;

pub(crate) use conflict::{conflict, conflict_json};
pub(crate) use diagnostic::{diagnostic, diagnostics_json};
pub(crate) use resolution::{notes, resolution_json};
pub(crate) use staleness::{ACCEPT_CHANGED, FIND_OUT_WHY, staleness, staleness_json};
pub(crate) use tree::tree;

/// `1 package`, `2 packages`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
