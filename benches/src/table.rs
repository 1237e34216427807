//! Results as a table that can be pasted into a document.

use std::fmt;
use std::time::Duration;

use crate::process::Usage;

/// What was measured of one case.
#[derive(Debug, Clone)]
pub struct Row {
    /// The case.
    pub case: String,
    /// What came out.
    pub result: String,
    /// Our time.
    pub ours: Duration,
    /// The peer's time, or nothing if it did not end in time.
    pub peer: Option<Duration>,
}

/// A table of measurements.
#[derive(Debug, Clone)]
pub struct Table {
    /// What the peer is called.
    pub peer: &'static str,
    /// The measurements.
    pub rows: Vec<Row>,
}

impl Row {
    /// How many times the peer takes as long, if it ended.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.peer?.as_secs_f64() / self.ours.as_secs_f64())
    }
}

impl Table {
    /// The geometric mean of the ratios.
    pub fn mean_ratio(&self) -> f64 {
        let ratios: Vec<f64> = self.rows.iter().filter_map(Row::ratio).collect();
        let count = u32::try_from(ratios.len()).expect("few rows");
        (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / f64::from(count)).exp()
    }
}

/// Milliseconds with three significant digits or so.
fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1000.0;
    let digits = if milliseconds < 10.0 { 2 } else { 0 };
    format!("{milliseconds:.digits$} ms")
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = self.peer;
        writeln!(formatter, "| case | result | pkgres | {peer} | ratio |")?;
        writeln!(formatter, "|---|---|---:|---:|---:|")?;
        for row in &self.rows {
            writeln!(
                formatter,
                "| {} | {} | {} | {} | {} |",
                row.case,
                row.result,
                shown(row.ours),
                row.peer.map_or_else(|| "timeout".to_owned(), shown),
                row.ratio()
                    .map_or_else(String::new, |ratio| format!("{ratio:.1}x")),
            )?;
        }
        let mean = self.mean_ratio();
        writeln!(formatter, "| geometric mean | | | | {mean:.1}x |")
    }
}

/// What was measured of a program.
#[derive(Debug, Clone)]
pub struct ProcessRow {
    /// The case.
    pub case: String,
    /// What came out.
    pub result: String,
    /// What it took.
    pub usage: Usage,
    /// How many times as long as the peer it took, if it did work that the peer does as well.
    pub ratio: Option<f64>,
}

/// A table of measurements of programs.
#[derive(Debug, Clone)]
pub struct ProcessTable {
    /// What the peer is called.
    pub peer: &'static str,
    /// The measurements.
    pub rows: Vec<ProcessRow>,
}

impl fmt::Display for ProcessTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = self.peer;
        writeln!(
            formatter,
            "| case | result | computing | memory | to {peer} |"
        )?;
        writeln!(formatter, "|---|---|---:|---:|---:|")?;
        for row in &self.rows {
            writeln!(
                formatter,
                "| {} | {} | {} | {:.1} MiB | {} |",
                row.case,
                row.result,
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
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
