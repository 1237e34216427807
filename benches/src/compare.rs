//! The cost of several solvers for a case, and tables of it.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cases::Kind;
use crate::check::{Flaw, check};
use crate::measure::{median, thread_time};
use crate::memory;
use crate::peers::{Memory, Peer, Timeout};
use crate::table::{mebibytes, shown};
use crate::universe::Universe;

/// How often solvers take turns, for how long at least, and with how many runs: the first of a turn finds the
/// caches of the processor full of what others looked at, which is to be so for no more of long runs than of
/// short ones.
const TURNS: usize = 5;
const TURN: Duration = Duration::from_millis(100);
const RUNS: usize = 3;

/// A longer solve is not repeated.
const LONG: Duration = Duration::from_secs(2);

/// From which ratio on a peer counts as faster than pkgres.
const FASTER: f64 = 1.3;

/// The cost of a solver for a case.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The median of the computing times, unless the time was used up.
    pub time: Option<Duration>,
    /// What it allocated. If the time was used up, only what making ready kept is known.
    pub memory: Memory,
    /// Which roots have an answer, unless the time was used up.
    pub solvable: Option<Vec<bool>>,
}

/// A solver that solves a universe, several times. The first time its answers are checked, and memory is
/// counted.
pub struct Trial {
    measured: Measured,
    times: Vec<Duration>,
    peer: Box<dyn Peer>,
}

impl Trial {
    /// Makes a solver ready and has it solve a universe for the first time.
    pub fn begin(
        universe: &Universe,
        limit: Duration,
        make: impl FnOnce() -> Box<dyn Peer>,
    ) -> Result<Self, Flaw> {
        memory::start();
        let mut peer = make();
        let mut memory = Memory {
            index: memory::stop().0,
            peak: 0,
        };
        memory::start();
        let first = first_run(universe, limit, peer.as_mut());
        let peak = memory::stop().1;
        let (solvable, time) = first?.unzip();
        memory.peak = peak;
        memory = peer.memory().unwrap_or(memory);
        if time.is_none() {
            // It did not get to the end.
            memory.peak = 0;
        }
        Ok(Self {
            measured: Measured {
                time,
                memory,
                solvable,
            },
            times: Vec::new(),
            peer,
        })
    }

    /// Solves the universe again, as often as a turn has time for. A long solve is not repeated.
    fn take_turn(&mut self, universe: &Universe, limit: Duration) {
        let Some(first) = self.measured.time else {
            return;
        };
        let mut spent: Duration = self.times.iter().sum();
        if first.max(spent) > LONG {
            return;
        }
        let (begin, until) = (thread_time(), spent + TURN);
        let enough = self.times.len() + RUNS;
        while spent < until || self.times.len() < enough {
            let start = self.peer.time();
            for root in 0..universe.roots.len() {
                if let Err(Timeout) = self.peer.solve(root, limit) {
                    self.measured.time = None;
                    return;
                }
            }
            let time = self.peer.time().saturating_sub(start);
            self.times.push(time);
            spent += time;
            // A child's time is not all that it takes to ask it.
            if thread_time().saturating_sub(begin) > LONG {
                return;
            }
        }
    }

    /// The measurements.
    pub fn end(mut self) -> Measured {
        if self.measured.time.is_some() && !self.times.is_empty() {
            self.measured.time = Some(median(self.times));
        }
        self.measured
    }
}

/// Lets solvers solve a universe each several times, in turns: how fast the machine is changes from one second
/// to the next where others use it, too.
pub fn take_turns(limit: Duration, trials: &mut [(&Universe, &mut Trial)]) {
    for _ in 0..TURNS {
        for (universe, trial) in &mut *trials {
            trial.take_turn(universe, limit);
        }
    }
}

/// Which roots have an answer and how long all of them took, unless that was too long.
fn first_run(
    universe: &Universe,
    limit: Duration,
    peer: &mut dyn Peer,
) -> Result<Option<(Vec<bool>, Duration)>, Flaw> {
    let mut solvable = Vec::with_capacity(universe.roots.len());
    let mut spent = Duration::ZERO;
    for root in 0..universe.roots.len() {
        let start = peer.time();
        let solved = memory::watch(|| peer.solve(root, limit.saturating_sub(spent)));
        spent += peer.time().saturating_sub(start);
        let Ok(is_solved) = solved else {
            return Ok(None);
        };
        if spent > limit {
            return Ok(None);
        }
        let answer = peer.take_answer();
        if is_solved {
            check(universe, root, &answer)?;
        }
        solvable.push(is_solved);
    }
    Ok(Some((solvable, spent)))
}

/// The measurements of one case.
#[derive(Debug, Clone)]
pub struct Row {
    /// The case.
    pub case: String,
    /// Its difficulty.
    pub kind: Kind,
    /// The cost of each solver, in the order of the table's columns; nothing if it is left out.
    pub solvers: Vec<Option<Measured>>,
}

/// Measurements, the first column of which is pkgres and the second the peer that all are compared
/// with.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The names of the solvers.
    pub columns: Vec<&'static str>,
    /// The cases.
    pub rows: Vec<Row>,
    /// The time that counts for a solver that used up the limit.
    pub limit: Duration,
}

impl Row {
    /// Whether each root has an answer, and if solvers differ, the columns of two that do.
    pub fn solvable(&self) -> Result<Option<&[bool]>, (usize, usize)> {
        let mut first: Option<(usize, &Vec<bool>)> = None;
        for (column, measured) in self.solvers.iter().enumerate() {
            let solvable = measured
                .as_ref()
                .and_then(|measured| measured.solvable.as_ref());
            match (first, solvable) {
                (None, Some(solvable)) => first = Some((column, solvable)),
                (Some((other, known)), Some(solvable)) if known != solvable => {
                    return Err((other, column));
                }
                _ => {}
            }
        }
        Ok(first.map(|(_, solvable)| solvable.as_slice()))
    }

    /// The most memory, in MiB, that a solver took on top of what it keeps of the universe, if that
    /// is known.
    fn peak(&self, column: usize) -> Option<f64> {
        let peak = self.solvers[column].as_ref()?.memory.peak;
        (peak > 0).then(|| mebibytes(peak as u64))
    }

    fn result(&self) -> String {
        let Ok(Some(solvable)) = self.solvable() else {
            return "?".to_owned();
        };
        let solved = solvable.iter().filter(|is_solved| **is_solved).count();
        match solvable.len() {
            1 if solved == 1 => "solved".to_owned(),
            1 => "no solution".to_owned(),
            roots => format!("{solved} of {roots} solved"),
        }
    }
}

impl Comparison {
    /// How long a solver took for a case, and whether it was finished by then.
    fn time(&self, row: &Row, column: usize) -> Option<(Duration, bool)> {
        let measured = row.solvers[column].as_ref()?;
        Some(
            measured
                .time
                .map_or((self.limit, false), |time| (time, true)),
        )
    }

    /// How many times as fast as another solver this one is, counting the limit where a solver did
    /// not end.
    fn ratio(&self, row: &Row, column: usize, other: usize) -> Option<f64> {
        let (time, _) = self.time(row, column)?;
        let (other, _) = self.time(row, other)?;
        Some(other.as_secs_f64() / time.as_secs_f64())
    }

    /// The times.
    pub fn times(&self) -> String {
        self.table("result", Row::result, |row, column| {
            let (time, is_finished) = self.time(row, column)?;
            if !is_finished {
                return Some(format!("> {} s", self.limit.as_secs_f64()));
            }
            let mut cell = shown(time);
            if column != 1
                && row.solvers.len() > 1
                && let Some(ratio) = self.ratio(row, column, 1)
            {
                let (_, is_exact) = self.time(row, 1)?;
                let bound = if is_exact { "" } else { ">" };
                let _ = write!(cell, " ({bound}{})", times(ratio));
            }
            Some(cell)
        })
    }

    /// The most that solving took, and what is kept of a universe between solving.
    pub fn memory(&self) -> String {
        self.table(
            "",
            |_| String::new(),
            |row, column| {
                let Memory { index, peak } = row.solvers[column].as_ref()?.memory;
                let bytes = |bytes: usize| mebibytes(bytes as u64);
                let peak = match peak {
                    0 => "?".to_owned(),
                    peak => format!("{:.2}", bytes(peak)),
                };
                Some(format!("{peak} + {:.1}", bytes(index)))
            },
        )
    }

    fn table(
        &self,
        second: &str,
        describe: impl Fn(&Row) -> String,
        cell: impl Fn(&Row, usize) -> Option<String>,
    ) -> String {
        let mut text = "| case |".to_owned();
        if !second.is_empty() {
            let _ = write!(text, " {second} |");
        }
        for column in &self.columns {
            let _ = write!(text, " {column} |");
        }
        text.push_str(if second.is_empty() {
            "\n|---|"
        } else {
            "\n|---|---|"
        });
        text.push_str(&"---:|".repeat(self.columns.len()));
        for row in &self.rows {
            let _ = write!(text, "\n| {} |", row.case);
            if !second.is_empty() {
                let _ = write!(text, " {} |", describe(row));
            }
            for column in 0..self.columns.len() {
                let cell = cell(row, column).unwrap_or_else(|| "-".to_owned());
                let _ = write!(text, " {cell} |");
            }
        }
        text.push('\n');
        text
    }

    /// The geometric means of how many times as fast as the first peer each solver is, and of how much
    /// of its memory each takes.
    pub fn means(&self) -> String {
        let mut text = "| times as fast as ".to_owned();
        let _ = write!(text, "{} | cases |", self.columns[1]);
        for column in &self.columns {
            let _ = write!(text, " {column} |");
        }
        text.push_str("\n|---|---:|");
        text.push_str(&"---:|".repeat(self.columns.len()));
        let kinds = Kind::ALL.into_iter().map(Some);
        for kind in kinds.chain([None]) {
            let is_of_kind = |row: &&Row| kind.is_none_or(|kind| row.kind == kind);
            let rows: Vec<&Row> = self.rows.iter().filter(is_of_kind).collect();
            if rows.is_empty() {
                continue;
            }
            let name = kind.map_or("all", Kind::name);
            let _ = write!(text, "\n| {name} | {} |", rows.len());
            for column in 0..self.columns.len() {
                let ratios = rows.iter().filter_map(|row| self.ratio(row, column, 1));
                let _ = match geometric_mean(ratios) {
                    Some(mean) => write!(text, " {} |", times(mean)),
                    None => write!(text, " - |"),
                };
            }
        }
        text.push_str("\n| peak memory | |");
        for column in 0..self.columns.len() {
            let shares = self.rows.iter().filter_map(|row| {
                let [own, other] = [column, 1].map(|column| row.peak(column));
                Some(own? / other?)
            });
            let _ = match geometric_mean(shares) {
                Some(mean) => write!(text, " {mean:.2} |"),
                None => write!(text, " - |"),
            };
        }
        text.push('\n');
        text
    }

    /// A line for every peer that is clearly faster than pkgres on a case.
    pub fn losses(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            for (column, name) in self.columns.iter().enumerate().skip(1) {
                let ratio = self.ratio(row, column, 0);
                if let Some(ratio) = ratio.filter(|ratio| *ratio > FASTER) {
                    let _ = writeln!(text, "{}: {name} is {} as fast", row.case, times(ratio));
                }
            }
        }
        if text.is_empty() {
            text.push_str("No peer is clearly faster than pkgres in any case.\n");
        }
        text
    }
}

fn times(ratio: f64) -> String {
    match ratio {
        0.0..0.095 => format!("{ratio:.3}x"),
        0.095..9.95 => format!("{ratio:.1}x"),
        _ => format!("{ratio:.0}x"),
    }
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for ratio in ratios {
        sum += ratio.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}
