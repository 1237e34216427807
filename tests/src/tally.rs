//! A tally of random universes: how often each rule decides the answer.
//!
//! A rule *decides* a universe if the reference finds another answer without it. A generator whose
//! universes hardly ever depend on a rule does not test that rule, however many seeds are run.

use std::fmt;

use crate::reference::{Answer, Rule, Rules, SplitOrder, is_valid, search, search_splitting};
use crate::universe::Universe;

/// Counts of universes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// All universes.
    pub universes: usize,
    /// Universes without a resolution.
    pub unsolvable: usize,
    /// By rule, in the order of [`Rule::ALL`]: universes that the rule decides.
    pub decided: [usize; Rule::ALL.len()],
    /// Solved with several releases of a package.
    pub side_by_side: usize,
    /// Solved with several split packages.
    pub several_split: usize,
    /// The order of names decides which package is split.
    pub split_order: usize,
    /// A diamond forbids a split: without that rule there is another answer side by side.
    pub diamond_forbids_split: usize,
    /// With a lock.
    pub locked: usize,
    /// The lock is the answer as it is.
    pub lock_kept: usize,
    /// The lock decides the answer, but is not the answer as it is.
    pub lock_used_partially: usize,
}

/// The answers of the reference to a universe.
#[derive(Debug)]
pub struct Answers {
    /// Under all rules.
    pub answer: Answer,
    /// Without each rule, in the order of [`Rule::ALL`].
    pub without: [Answer; Rule::ALL.len()],
}

impl Tally {
    /// Counts a universe.
    pub fn add(&mut self, universe: &Universe) -> Answers {
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
        Answers {
            answer,
            without: others,
        }
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        self.universes += other.universes;
        self.unsolvable += other.unsolvable;
        for (count, others) in self.decided.iter_mut().zip(other.decided) {
            *count += others;
        }
        self.side_by_side += other.side_by_side;
        self.several_split += other.several_split;
        self.split_order += other.split_order;
        self.diamond_forbids_split += other.diamond_forbids_split;
        self.locked += other.locked;
        self.lock_kept += other.lock_kept;
        self.lock_used_partially += other.lock_used_partially;
    }

    /// Asserts that the universes exercise the rules: between 30 and 70 percent have no resolution, and
    /// every rule decides at least 3 percent.
    ///
    /// # Panics
    ///
    /// If they do not.
    pub fn assert_every_rule_decides(&self) {
        let unsolvable = self.percent(self.unsolvable);
        assert!((30.0..=70.0).contains(&unsolvable), "{unsolvable} %");
        for rule in Rule::ALL {
            let decided = self.percent_decided(rule);
            assert!(decided >= 3.0, "{rule}: {decided} %");
        }
        for (what, count, least) in [
            ("side by side", self.side_by_side, 15.0),
            ("several split", self.several_split, 1.0),
            ("order of names", self.split_order, 1.0),
            ("forbidden splits", self.diamond_forbids_split, 1.0),
            ("locks kept", self.lock_kept, 1.0),
            ("locks used partially", self.lock_used_partially, 1.0),
        ] {
            let percent = self.percent(count);
            assert!(percent >= least, "{what}: {percent} %");
        }
    }

    /// The percentage of universes that a rule decides.
    pub fn percent_decided(&self, rule: Rule) -> f64 {
        let position = Rule::ALL.iter().position(|other| *other == rule);
        self.percent(self.decided[position.expect("every rule is in the list")])
    }

    /// A count as a percentage of all universes.
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
