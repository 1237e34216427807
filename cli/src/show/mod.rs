//! Rendering results as text and JSON.

mod annotation;
mod changes;
mod conflict;
mod diagnostic;
mod drawing;
mod graph;
mod resolution;
mod staleness;
mod tree;

pub(crate) use annotation::{annotation_of_file, annotations};
pub(crate) use changes::{ChangeLine, changes, changes_json, changes_markdown};
pub(crate) use conflict::{
    conflict, conflict_document, conflict_json, core_hint, proof, reason_line,
};
pub(crate) use diagnostic::{diagnostic, diagnostics_json};
pub(crate) use graph::Graph;
pub(crate) use resolution::{notes, resolution_json, side_by_side, side_by_side_json};
pub(crate) use staleness::{
    digest_hints, locked_mode, staleness, staleness_annotations, staleness_failure, staleness_json,
};
pub(crate) use tree::{duplicates, inverted, tree};

/// `1 package`, `2 packages`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}
