//! Decides whether a small problem has a solution, and returns the solution or a proof that there is none.
//!
//! Conflict-driven clause learning (Silva and Sakallah 1996) on inequalities: each one counts how many of its literals
//! may still fail. A clause learned from a conflict becomes a step of the proof, with the inequalities from which it
//! follows. This code need not be trusted, because a checker replays the proof and evaluates the solution.

use std::borrow::Cow;
use std::ops::Range;

use pkgres_proof_checker::Literal;

use crate::formula::{Formula, Row, write_literal, write_number};

/// The largest problem that is decided, in literals.
pub(crate) const MOST_LITERALS: usize = 200_000;

/// The number of conflicts after which there is no answer.
const MOST_CONFLICTS: usize = 20_000;

/// Whether a problem has a solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The value of each variable.
    Satisfiable(Vec<bool>),
    /// The steps of a proof, of which the last one derives a contradiction, and how many these are.
    Unsatisfiable(String, usize),
    /// There were too many conflicts.
    Unknown,
}

/// A problem to be decided as a whole and without some of its inequalities.
#[derive(Debug)]
pub(crate) struct Decider<'formula> {
    search: Search<'formula>,
    /// For each inequality, how many of its literals may fail.
    may_fail: Vec<isize>,
}

impl<'formula> Decider<'formula> {
    /// The problem of a formula.
    pub(crate) fn new(formula: &'formula Formula) -> Self {
        let mut search = Search::new(formula.meanings().len());
        for row in formula.rows() {
            search.add(Cow::Borrowed(row));
        }
        search.problem = search.rows.len();
        Self {
            may_fail: search.may_fail.clone(),
            search,
        }
    }

    /// Decides the problem without some of its inequalities. Those of a proof have the numbers of the whole problem.
    pub(crate) fn decide(&mut self, without: &Range<usize>) -> Decision {
        self.search.restart(&self.may_fail);
        for row in without.clone() {
            // However many fail, nothing follows.
            self.search.may_fail[row] = isize::MAX / 2;
        }
        self.search.run()
    }
}

/// A proof of the decision that a problem has no solution.
pub(crate) fn refutation(rows: usize, steps: &str, count: usize) -> String {
    let contradiction = rows + count;
    format!(
        "pseudo-Boolean proof version 3.0\nf {rows};\n{steps}output NONE;\nconclusion UNSAT : {contradiction};\nend pseudo-Boolean proof;\n"
    )
}

/// A proof that values satisfy all inequalities of a problem but some.
pub(crate) fn demonstration(formula: &Formula, without: &Range<usize>, values: &[bool]) -> String {
    let rows = formula.rows();
    let kept = rows[..without.start].iter().chain(&rows[without.end..]);
    let mut mentioned = vec![false; values.len()];
    for literal in kept.flat_map(|row| &row.literals) {
        mentioned[literal.variable] = true;
    }
    let count = rows.len() - without.len();
    let mut text =
        format!("pseudo-Boolean proof version 3.0\nf {count};\noutput NONE;\nconclusion SAT :");
    for variable in (0..values.len()).filter(|variable| mentioned[*variable]) {
        let literal = Literal {
            variable,
            is_negated: !values[variable],
        };
        text.push(' ');
        write_literal(literal, &mut text);
    }
    text.push_str(";\nend pseudo-Boolean proof;\n");
    text
}

/// A variable that has a value.
#[derive(Debug, Clone, Copy)]
struct Assigned {
    value: bool,
    level: usize,
    /// The inequality that implies it; `None` for decisions.
    reason: Option<usize>,
    /// Its position in the trail.
    position: usize,
}

#[derive(Debug)]
struct Search<'formula> {
    /// The inequalities of the problem, then those that were learned.
    rows: Vec<Cow<'formula, Row>>,
    /// How many are of the problem.
    problem: usize,
    /// For each inequality, how many more of its literals may fail; negative if it is violated.
    may_fail: Vec<isize>,
    /// For each literal the inequalities that have it.
    occurrences: Vec<Vec<usize>>,
    assigned: Vec<Option<Assigned>>,
    trail: Vec<Literal>,
    /// The first of the trail whose consequences were not looked at.
    next: usize,
    /// For each level the length of the trail before it.
    levels: Vec<usize>,
    /// How often each variable took part in conflicts.
    activity: Vec<u32>,
    /// The variables that did.
    active: Vec<usize>,
    /// All variables before this one have values.
    first_open: usize,
    steps: String,
    learned: usize,
}

/// The place of a literal in a list by literals.
fn slot(literal: Literal) -> usize {
    2 * literal.variable + usize::from(literal.is_negated)
}

impl<'formula> Search<'formula> {
    fn new(variables: usize) -> Self {
        Self {
            rows: Vec::new(),
            problem: 0,
            may_fail: Vec::new(),
            occurrences: vec![Vec::new(); 2 * variables],
            assigned: vec![None; variables],
            trail: Vec::new(),
            next: 0,
            levels: Vec::new(),
            activity: vec![0; variables],
            active: Vec::new(),
            first_open: 0,
            steps: String::new(),
            learned: 0,
        }
    }

    /// Whether a literal holds, if its variable has a value.
    fn value(&self, literal: Literal) -> Option<bool> {
        self.assigned[literal.variable].map(|one| one.value != literal.is_negated)
    }

    /// Forgets what was decided and learned. `may_fail` is that of the problem.
    fn restart(&mut self, may_fail: &[isize]) {
        for row in self.rows.drain(self.problem..).rev() {
            for literal in &row.literals {
                self.occurrences[slot(*literal)].pop();
            }
        }
        self.may_fail.clear();
        self.may_fail.extend_from_slice(may_fail);
        self.assigned.fill(None);
        self.trail.clear();
        self.levels.clear();
        self.activity.fill(0);
        self.active.clear();
        (self.next, self.first_open, self.learned) = (0, 0, 0);
        self.steps.clear();
    }

    fn add(&mut self, row: Cow<'formula, Row>) {
        let number = self.rows.len();
        let mut may_fail = row.literals.len().cast_signed() - row.degree.cast_signed();
        for literal in &row.literals {
            self.occurrences[slot(*literal)].push(number);
            if self.value(*literal) == Some(false) {
                may_fail -= 1;
            }
        }
        self.may_fail.push(may_fail);
        self.rows.push(row);
    }

    fn run(&mut self) -> Decision {
        let mut violated = (0..self.rows.len()).find_map(|row| self.apply(row));
        for _ in 0..MOST_CONFLICTS {
            violated = violated.or_else(|| self.propagate());
            if let Some(row) = violated.take() {
                if self.learn(row) {
                    let steps = std::mem::take(&mut self.steps);
                    return Decision::Unsatisfiable(steps, self.learned);
                }
                violated = self.apply(self.rows.len() - 1);
                continue;
            }
            while violated.is_none() {
                if !self.decide() {
                    let values = self.assigned.iter();
                    let values = values.map(|one| one.is_some_and(|one| one.value));
                    return Decision::Satisfiable(values.collect());
                }
                violated = self.propagate();
            }
        }
        Decision::Unknown
    }

    /// Gives a value to the open variable that took part in the most conflicts; returns whether there is one.
    fn decide(&mut self) -> bool {
        let is_open = |at: &usize| self.assigned[*at].is_none();
        let active = self.active.iter().copied().filter(is_open);
        let active = active.max_by_key(|at| (self.activity[*at], usize::MAX - at));
        let variable = if let Some(active) = active {
            active
        } else {
            let mut others = self.first_open..self.assigned.len();
            let Some(first) = others.find(is_open) else {
                return false;
            };
            self.first_open = first;
            first
        };
        self.levels.push(self.trail.len());
        self.assign(Literal::positive(variable), None);
        true
    }

    fn assign(&mut self, literal: Literal, reason: Option<usize>) {
        self.assigned[literal.variable] = Some(Assigned {
            value: !literal.is_negated,
            level: self.levels.len(),
            reason,
            position: self.trail.len(),
        });
        self.trail.push(literal);
        for row in &self.occurrences[slot(literal.negated())] {
            self.may_fail[*row] -= 1;
        }
    }

    /// Assigns what an inequality implies; returns the inequality if it is violated.
    fn apply(&mut self, row: usize) -> Option<usize> {
        if self.may_fail[row] < 0 {
            return Some(row);
        }
        if self.may_fail[row] == 0 {
            for at in 0..self.rows[row].literals.len() {
                let literal = self.rows[row].literals[at];
                if self.value(literal).is_none() {
                    self.assign(literal, Some(row));
                }
            }
        }
        None
    }

    /// Assigns all that follows; returns a violated inequality.
    fn propagate(&mut self) -> Option<usize> {
        while let Some(literal) = self.trail.get(self.next).copied() {
            self.next += 1;
            let failed = slot(literal.negated());
            for at in 0..self.occurrences[failed].len() {
                let violated = self.apply(self.occurrences[failed][at]);
                if violated.is_some() {
                    return violated;
                }
            }
        }
        None
    }

    /// The literals of an inequality that failed before a position of the trail.
    fn failed(&self, row: usize, before: usize) -> Vec<Literal> {
        let literals = self.rows[row].literals.iter().copied();
        let has_failed = |literal: &Literal| {
            let one = self.assigned[literal.variable];
            one.is_some_and(|one| one.value == literal.is_negated && one.position < before)
        };
        literals.filter(has_failed).collect()
    }

    /// The level of a literal that has a value.
    fn level_of(&self, literal: Literal) -> usize {
        self.assigned[literal.variable].map_or(0, |one| one.level)
    }

    /// Learns from a violated inequality, and goes back to where that implies something. Returns whether it is a
    /// contradiction.
    fn learn(&mut self, violated: usize) -> bool {
        let mut open = self.failed(violated, self.trail.len());
        let levels = open.iter().map(|literal| self.level_of(*literal));
        let level = levels.max().unwrap_or(0);
        self.go_back(level);
        let mut seen = vec![false; self.assigned.len()];
        // The inequalities that the step follows from, by the position of what they imply.
        let mut used: Vec<(usize, usize)> = Vec::new();
        let mut learned: Vec<Literal> = Vec::new();
        let mut at_zero: Vec<Literal> = Vec::new();
        // How many literals of this level are not replaced by their reasons.
        let mut of_level = 0;
        let mut position = self.trail.len();
        let unique = loop {
            for literal in open.drain(..) {
                if std::mem::replace(&mut seen[literal.variable], true) {
                    continue;
                }
                let activity = &mut self.activity[literal.variable];
                *activity += 1;
                if *activity == 1 {
                    self.active.push(literal.variable);
                }
                match self.level_of(literal) {
                    0 => at_zero.push(literal),
                    one if one == level => of_level += 1,
                    _ => learned.push(literal),
                }
            }
            let mut before = self.trail[..position].iter();
            let last = before.rposition(|one| seen[one.variable] && self.level_of(*one) == level);
            let Some(last) = last.filter(|_| of_level > 0) else {
                break None;
            };
            of_level -= 1;
            let literal = self.trail[last];
            let reason = self.assigned[literal.variable].and_then(|one| one.reason);
            match reason.filter(|_| of_level > 0) {
                None => break Some(literal.negated()),
                Some(reason) => {
                    used.push((last, reason));
                    open = self.failed(reason, last);
                    position = last;
                }
            }
        };
        while let Some(literal) = at_zero.pop() {
            let Some(Assigned {
                reason: Some(reason),
                position,
                ..
            }) = self.assigned[literal.variable]
            else {
                continue;
            };
            used.push((position, reason));
            for other in self.failed(reason, position) {
                if !std::mem::replace(&mut seen[other.variable], true) {
                    at_zero.push(other);
                }
            }
        }
        used.sort_unstable();
        let others = learned.iter().map(|literal| self.level_of(*literal));
        let back_to = others.max().unwrap_or(0);
        learned.extend(unique);
        let hints = used.into_iter().map(|(_, row)| row).chain([violated]);
        let row = Row::clause(learned);
        self.write_step(&row, hints.collect());
        self.go_back(back_to);
        let is_contradiction = row.literals.is_empty();
        self.add(Cow::Owned(row));
        is_contradiction
    }

    /// Writes a step of the proof.
    fn write_step(&mut self, row: &Row, hints: Vec<usize>) {
        self.steps.push_str("rup ");
        row.write(&mut self.steps);
        self.steps.push(':');
        for hint in hints {
            self.steps.push(' ');
            write_number(hint + 1, &mut self.steps);
        }
        self.steps.push_str(";\n");
        self.learned += 1;
    }

    /// Takes back what was assigned above a level.
    fn go_back(&mut self, level: usize) {
        let Some(length) = self.levels.get(level).copied() else {
            return;
        };
        for literal in self.trail.drain(length..) {
            self.assigned[literal.variable] = None;
            for row in &self.occurrences[slot(literal.negated())] {
                self.may_fail[*row] += 1;
            }
        }
        self.levels.truncate(level);
        self.first_open = 0;
        self.next = self.next.min(self.trail.len());
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::PackageName;
    use pkgres_proof_checker::{Conclusion, check};

    use super::*;
    use crate::formula::Meaning;

    /// A source of numbers that is the same each time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
        }
    }

    fn problem(numbers: &mut Numbers) -> Formula {
        let mut formula = Formula::default();
        let variables = 3 + numbers.below(10);
        let name = PackageName::parse("org.example.Db").expect("a valid name");
        for _ in 0..variables {
            formula.variable(Meaning::Absent(name.clone()));
        }
        for _ in 0..numbers.below(6 * variables) {
            let mut literals: Vec<Literal> = (0..=numbers.below(4))
                .map(|_| Literal {
                    variable: numbers.below(variables),
                    is_negated: numbers.below(2) == 0,
                })
                .collect();
            literals.sort_unstable();
            literals.dedup_by_key(|literal| literal.variable);
            let degree = 1 + numbers.below(literals.len().min(2));
            formula.add(Row { literals, degree });
        }
        formula
    }

    fn is_satisfiable(formula: &Formula) -> bool {
        let count = formula.meanings().len();
        (0..1_usize << count).any(|values| {
            formula.rows().iter().all(|row| {
                let holding = row.literals.iter();
                let holding =
                    holding.filter(|one| (values >> one.variable & 1 == 1) != one.is_negated);
                holding.count() >= row.degree
            })
        })
    }

    #[test]
    fn each_decision_has_a_proof_or_a_solution() {
        let (mut with, mut without) = (0, 0);
        for seed in 0..2_000 {
            let formula = problem(&mut Numbers(seed));
            let proof = match Decider::new(&formula).decide(&(0..0)) {
                Decision::Satisfiable(values) => {
                    with += 1;
                    demonstration(&formula, &(0..0), &values)
                }
                Decision::Unsatisfiable(steps, count) => {
                    without += 1;
                    refutation(formula.rows().len(), &steps, count)
                }
                Decision::Unknown => panic!("{seed}: it is small"),
            };
            let verified = check(&formula.to_opb(), &proof);
            let verified = verified
                .unwrap_or_else(|error| panic!("{seed}: {error}\n{}{proof}", formula.to_opb()));
            let satisfiable = verified.conclusion == Conclusion::Satisfiable;
            assert_eq!(satisfiable, is_satisfiable(&formula), "{seed}");
        }
        assert!(with > 300 && without > 300, "{with}, {without}");
    }

    #[test]
    fn inequalities_can_be_left_out() {
        let mut formula = Formula::default();
        let name = PackageName::parse("org.example.Db").expect("a valid name");
        let one = formula.variable(Meaning::Absent(name));
        formula.add(Row::clause([one]));
        formula.add(Row::clause([one.negated()]));
        let mut decider = Decider::new(&formula);
        for _ in 0..2 {
            let answer = decider.decide(&(0..0));
            assert!(matches!(answer, Decision::Unsatisfiable(..)));
            let answer = decider.decide(&(0..1));
            assert_eq!(answer, Decision::Satisfiable(vec![false]));
            let answer = decider.decide(&(1..2));
            assert_eq!(answer, Decision::Satisfiable(vec![true]));
        }
        let shown = demonstration(&formula, &(0..1), &[false]);
        assert!(check("1 ~x1 >= 1 ;", &shown).is_ok(), "{shown}");
    }
}
