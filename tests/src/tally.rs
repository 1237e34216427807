//! Whether random universes bite: how often each rule decides the answer.

use std::fmt;

use crate::reference::{Answer, Rule, Rules, SplitOrder, is_valid, search, search_splitting};
use crate::universe::Universe;

/// Counts over universes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All.
    pub universes: usize,
    /// Without a resolution.
    pub unsolvable: usize,
    /// By rule, in the order of [`Rule::ALL`]: another answer without it.
    pub decided: [usize; Rule::ALL.len()],
    /// Solved with several releases of a package.
    pub side_by_side: usize,
    /// Several packages are split.
    pub several_split: usize,
    /// Another answer if packages are forced to one release in the other order of names.
    pub split_order: usize,
    /// No first tier, and another answer side by side if diamonds were legal.
    pub diamond_forbids_split: usize,
    /// With a lock.
    pub locked: usize,
    /// The lock is the answer as it is.
    pub lock_kept: usize,
    /// The lock decides, but is not the answer.
    pub lock_used_partially: usize,
}

impl Tally {
    /// Counts the universes of these seeds.
    pub fn of(seeds: impl IntoIterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        for seed in seeds {
            tally.add(&Universe::random(seed));
        }
        tally
    }

    /// Counts a universe.
    pub fn add(&mut self, universe: &Universe) {
        let answer = search(universe, &Rules::default());
        let others = Rule::ALL.map(|rule| search(universe, &Rules::without(rule)));
        self.universes += 1;
        self.unsolvable += usize::from(answer == Answer::NoSolution);
        for (count, other) in self.decided.iter_mut().zip(&others) {
            *count += usize::from(*other != answer);
        }
        let without = |rule: Rule| {
            let position = Rule::ALL.iter().position(|other| *other == rule);
            &others[position.expect("every rule is in the list")]
        };
        self.side_by_side += usize::from(answer.is_side_by_side());
        self.several_split += usize::from(
            answer
                .solution()
                .is_some_and(|solution| solution.side_by_side.len() > 1),
        );
        let rules = Rules::default();
        let backwards = search_splitting(universe, &rules, SplitOrder::NamesBackwards);
        self.split_order += usize::from(backwards != answer);
        self.diamond_forbids_split += usize::from(
            *without(Rule::SecondTier) == Answer::NoSolution
                && *without(Rule::Diamonds) != answer
                && without(Rule::Diamonds).is_side_by_side(),
        );
        if let Some(lock) = &universe.locked {
            let is_kept = is_valid(universe, lock, &rules).is_ok();
            let decides = *without(Rule::Locks) != answer;
            self.locked += 1;
            self.lock_kept += usize::from(is_kept);
            self.lock_used_partially += usize::from(decides && !is_kept);
        }
    }

    /// How often a rule decides, in percent.
    pub fn percent_decided(&self, rule: Rule) -> f64 {
        let position = Rule::ALL.iter().position(|other| *other == rule);
        self.percent(self.decided[position.expect("every rule is in the list")])
    }

    /// A count in percent of all universes.
    // Counts are far below the 2^52 from which floats are no longer exact.
    #[allow(clippy::cast_precision_loss)]
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.universes as f64
    }
}

/// A table.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |title: &str, count: usize| {
            writeln!(formatter, "{title:<38}{:>6.1} %", self.percent(count))
        };
        row("no solution", self.unsolvable)?;
        for (rule, count) in Rule::ALL.iter().zip(self.decided) {
            row(&format!("decided by {rule}"), count)?;
        }
        row("solved side by side", self.side_by_side)?;
        row("several packages split", self.several_split)?;
        row("order of names decides the split", self.split_order)?;
        row("a diamond forbids a split", self.diamond_forbids_split)?;
        row("with a lock", self.locked)?;
        row("the lock is the answer", self.lock_kept)?;
        row("the lock is used partially", self.lock_used_partially)
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_universes_bite() {
        let tally = Tally::of(0..4000);
        show(&tally.to_string());
        let unsolvable = tally.percent(tally.unsolvable);
        assert!((30.0..=70.0).contains(&unsolvable), "{unsolvable} %");
        for rule in Rule::ALL {
            let decided = tally.percent_decided(rule);
            assert!(decided >= 3.0, "{rule}: {decided} %");
        }
        for (what, count, least) in [
            ("side by side", tally.side_by_side, 15.0),
            ("several split", tally.several_split, 1.0),
            ("order of names", tally.split_order, 1.0),
            ("forbidden splits", tally.diamond_forbids_split, 1.0),
            ("locks kept", tally.lock_kept, 1.0),
            ("locks used partially", tally.lock_used_partially, 1.0),
        ] {
            let percent = tally.percent(count);
            assert!(percent >= least, "{what}: {percent} %");
        }
    }

    /// `cargo test --release -p pkgres-tests -- --ignored --nocapture` tells the time it takes.
    #[test]
    #[ignore = "a measurement"]
    fn twenty_thousand_universes() {
        let start = Instant::now();
        let tally = Tally::of(0..20_000);
        let all = start.elapsed();
        let variants = Rule::ALL.map(Rules::without);
        let mut times = Vec::new();
        for seed in 0..20_000 {
            let universe = Universe::random(seed);
            for rules in [Rules::default()].iter().chain(&variants) {
                let start = Instant::now();
                black_box(search(&universe, rules));
                times.push((start.elapsed(), seed, *rules));
            }
        }
        times.sort_unstable_by_key(|(time, ..)| *time);
        let sum: Duration = times.iter().map(|(time, ..)| *time).sum();
        let slowest = &times[times.len() - 3..];
        show(&format!(
            "{tally}{all:?} for all, {sum:?} for the answers, slowest {slowest:?}"
        ));
    }

    // The table is what these tests are run for.
    #[allow(clippy::print_stdout)]
    fn show(text: &str) {
        println!("{text}");
    }
}
