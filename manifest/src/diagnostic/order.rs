//! The order in which findings are told.

use std::collections::HashSet;

use super::Diagnostic;

/// All findings in the order of the input. Where the syntax of a value is wrong, what its content
/// would be wrong with is left out.
pub(crate) fn in_order(of_syntax: Vec<Diagnostic>, of_content: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let start = |diagnostic: &Diagnostic| {
        let label = diagnostic.labels.first();
        label.map(|label| label.location.span().start)
    };
    let starts: HashSet<Option<usize>> = of_syntax.iter().map(start).collect();
    let mut all = of_syntax;
    all.extend(
        of_content
            .into_iter()
            .filter(|diagnostic| !starts.contains(&start(diagnostic))),
    );
    all.sort_by_key(start);
    all
}
