//! The length of explanations, compared with the reports of the `pubgrub` crate.

use std::fmt;
use std::time::Duration;

use pkgres_resolver::ReasonKind;

use crate::cases::Case;
use crate::engine::Pkgres;
use crate::peers::pubgrub_u32::Solver;
use crate::table::shown;
use crate::universe::Plain;

/// The explanations of the roots of a case that have no answer.
#[derive(Debug)]
pub struct ExplainedRow {
    case: String,
    roots: usize,
    reasons: usize,
    are_minimal: bool,
    lines: usize,
    searching: Duration,
    explaining: Duration,
    /// The facts and the lines of reports of the peer, unless it ran out of time.
    peer: Option<(usize, usize)>,
}

impl ExplainedRow {
    /// Explains all roots of a case that have no answer: the largest numbers of lines and reasons, and the sums of times.
    /// `limit` is the time that the peer has for each root. `None` if the file of the case is missing.
    pub fn of(case: &Case, limit: Duration) -> Option<Self> {
        let universe = case.universe()?;
        let (engine, mut peer) = (
            Pkgres::new(&universe, false),
            Solver::new(&Plain::of(&universe)),
        );
        let mut row = Self {
            case: case.name.clone(),
            roots: 0,
            reasons: 0,
            are_minimal: true,
            lines: 0,
            searching: Duration::ZERO,
            explaining: Duration::ZERO,
            peer: Some((0, 0)),
        };
        for root in 0..universe.roots.len() {
            let Some((conflict, [searching, explaining])) = engine.explain(root) else {
                continue;
            };
            let lines = conflict.reasons.iter().map(|reason| match &reason.kind {
                ReasonKind::Inherits { paths } => paths.len(),
                _ => 1,
            });
            // The first one says what it is about.
            let lines = 1 + lines.sum::<usize>() + conflict.hints.len();
            row.roots += 1;
            row.reasons = row.reasons.max(conflict.reasons.len());
            row.are_minimal &= conflict.is_minimal;
            row.lines = row.lines.max(lines);
            row.searching += searching;
            row.explaining += explaining;
            let most = row.peer.zip(peer.report(root, limit).ok());
            row.peer = most.map(|(one, other)| (one.0.max(other.0), one.1.max(other.1)));
        }
        Some(row)
    }
}

/// A table of explanations.
#[derive(Debug, Default)]
pub struct ExplainedTable {
    /// By case.
    pub rows: Vec<ExplainedRow>,
}

impl fmt::Display for ExplainedTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "| case | roots without an answer | reasons | lines | facts of pubgrub-u32 | lines of pubgrub-u32 | searching | explaining |"
        )?;
        writeln!(formatter, "|---|---:|---:|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            let of_peer = |number: Option<usize>| {
                number.map_or_else(|| "?".to_owned(), |number| number.to_string())
            };
            writeln!(
                formatter,
                "| {} | {} | {}{} | {} | {} | {} | {} | {} |",
                row.case,
                row.roots,
                row.reasons,
                if row.are_minimal {
                    ""
                } else {
                    " (not all may be needed)"
                },
                row.lines,
                of_peer(row.peer.map(|(facts, _)| facts)),
                of_peer(row.peer.map(|(_, lines)| lines)),
                shown(row.searching),
                shown(row.explaining),
            )?;
        }
        Ok(())
    }
}
