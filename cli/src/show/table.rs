//! Tables, which fit the terminal.

use super::columns::{columns as columns_of, padded};
use super::line_breaks::wrapped;

/// Rows below a heading, with columns of equal width. If that is wider than the `columns` of the terminal, each row has
/// lines of its own: the first cell, and below it the others, each behind its heading.
pub(crate) fn table(heading: &[String], rows: &[Vec<String>], columns: Option<usize>) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.chain(heading.get(column));
        cells.map(|cell| columns_of(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let needed = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    if let Some(columns) = columns.filter(|columns| *columns < needed) {
        return folded(heading, rows, columns);
    }
    let mut text = String::new();
    for row in std::iter::once(heading).chain(rows.iter().map(Vec::as_slice)) {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells.map(|(cell, width)| padded(cell, *width)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The rows of a table as lines that are not wider than the terminal.
fn folded(heading: &[String], rows: &[Vec<String>], columns: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let Some((first, others)) = row.split_first() else {
            continue;
        };
        text.push_str(first.trim_end());
        text.push('\n');
        let indent = first.len() - first.trim_start().len() + 2;
        let cells = heading.iter().skip(1).zip(others);
        let cells: Vec<String> = cells
            .filter(|(_, cell)| !cell.is_empty())
            .map(|(heading, cell)| format!("{heading}: {cell}"))
            .collect();
        if !cells.is_empty() {
            text.push_str(&format!("{:indent$}{}\n", "", cells.join(", ")));
        }
    }
    wrapped(&text, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn a_table_that_is_too_wide_has_lines_for_each_row() {
        let heading = texts(&["machine", "state", "in order", "not looked at"]);
        let rows = [
            texts(&["web1", "converged", "12", "0"]),
            texts(&["  a-long-name.example.org", "failed", "3", "9"]),
            texts(&["web3", "", "", ""]),
        ];
        let wide = "machine                    state      in order  not looked at\n\
                    web1                       converged  12        0\n\
                    \x20 a-long-name.example.org  failed     3         9\n\
                    web3\n";
        assert_eq!(table(&heading, &rows, None), wide);
        assert_eq!(table(&heading, &rows, Some(61)), wide);
        let narrow = "web1\n  state: converged, in order: 12, not looked at: 0\n\
                      \x20 a-long-name.example.org\n    state: failed, in order: 3, not looked at: 9\n\
                      web3\n";
        assert_eq!(table(&heading, &rows, Some(60)), narrow);
        let lines = table(&heading, &rows, Some(40));
        assert!(
            lines.lines().all(|line| line.chars().count() <= 40),
            "{lines}"
        );
    }
}
