//! Results as a table that can be pasted into a document.

use std::fmt;
use std::time::Duration;

use crate::process::Usage;

/// Milliseconds with three significant digits or so.
pub(crate) fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    let digits = if milliseconds < 10.0 { 2 } else { 0 };
    format!("{milliseconds:.digits$} ms")
}

/// The measurements of a program.
#[derive(Debug, Clone)]
pub struct ProcessRow {
    /// The case.
    pub case: String,
    /// The outcome.
    pub result: String,
    /// The cost.
    pub usage: Usage,
    /// Its time relative to that of the peer, if the peer does the same work.
    pub ratio: Option<f64>,
}

/// A table of measurements of programs.
#[derive(Debug, Clone)]
pub struct ProcessTable {
    /// The heading of the column of ratios.
    pub ratio: &'static str,
    /// The measurements.
    pub rows: Vec<ProcessRow>,
}

impl fmt::Display for ProcessTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "| case | result | time | CPU time | memory | {} |",
            self.ratio
        )?;
        writeln!(formatter, "|---|---|---:|---:|---:|---:|")?;
        for row in &self.rows {
            writeln!(
                formatter,
                "| {} | {} | {} | {} | {:.1} MiB | {} |",
                row.case,
                row.result,
                shown(row.usage.elapsed),
                shown(row.usage.computing),
                mebibytes(row.usage.memory),
                row.ratio
                    .map_or_else(String::new, |ratio| format!("{ratio:.2}x")),
            )?;
        }
        Ok(())
    }
}

/// Rounding does not matter for what is shown.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
