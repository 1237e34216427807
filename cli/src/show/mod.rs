//! Renders results as text and JSON.

mod annotation;
mod changed_digests;
mod colors;
mod columns;
mod conflict;
mod conflict_json;
mod diagnostic;
mod drawable_graphs;
mod graph;
mod line_breaks;
mod lock_diff;
mod outdated;
mod picture;
mod repairs;
mod requirements_yml;
mod resolution;
mod resource_table;
mod shortened_list;
mod source_title;
mod staleness;
mod staleness_line;
mod table;
mod tree;
mod tree_printer;
mod update_effects;
mod update_report;

pub(crate) use annotation::Annotation;
pub(crate) use changed_digests::changed_digests;
pub(crate) use colors::{colored_changes, colored_file_differences, colored_tree};
pub(crate) use columns::{columns, padded};
pub(crate) use conflict::{ConflictLayout, conflict, proof};
pub(crate) use conflict_json::{conflict_document, conflict_json};
pub(crate) use diagnostic::{diagnostic, diagnostics_json};
pub(crate) use graph::Graph;
pub(crate) use line_breaks::{words, wrapped};
pub(crate) use lock_diff::{ChangeLine, changes, changes_json, changes_markdown};
pub(crate) use outdated::{
    downgrades_json, held_back_outdated, held_back_outdated_json, outdated, outdated_json,
};
pub(crate) use repairs::{
    Editable, how_to_apply, last_day, policy_name, repair_changes, repair_changes_json, repairs,
    repairs_json, unapplicable,
};
pub(crate) use requirements_yml::requirements_file;
pub(crate) use resolution::{
    KeptBy, built_in, excluded, excluded_because, newer_elsewhere, newly_built_in, notes,
    notes_on_agreed, resolution_json, side_by_side, side_by_side_json, unusual,
};
pub(crate) use resource_table::{LiveLine, cause_text, live_view};
pub(crate) use staleness::{locked_mode, staleness, staleness_annotations, staleness_json};
pub(crate) use table::table;
pub(crate) use tree::{
    duplicates, duplicates_json, inverted, paths, paths_json, requirers_json, tree,
};
pub(crate) use update_effects::{
    effects_json, not_compared, not_compared_json, place_json, update_effects,
};
pub(crate) use update_report::{held_back_json, moved_json, update_reasons};

pub(crate) use pkgres_manifest::diagnostic::counted;
