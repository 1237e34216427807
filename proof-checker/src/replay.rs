//! Replays the steps of a proof.

use std::borrow::Cow;

use crate::CheckError;
use crate::constraint::{Constraint, Literal};
use crate::database::Database;
use crate::parse::{Names, problem, shown};

/// What a proof proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// The problem has no solution.
    Unsatisfiable,
    /// The problem has a solution.
    Satisfiable,
}

/// A proof that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// What it proves.
    pub conclusion: Conclusion,
    /// The number of inequalities of the problem.
    pub problem_count: usize,
    /// The number of inequalities that the proof derives.
    pub derived_count: usize,
}

/// How far a proof is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Begun,
    Deriving,
    Output,
    Concluded(Conclusion),
    Ended(Conclusion),
}

/// What replaying a proof may cost: a short text can name long inequalities again and again.
#[derive(Debug, Clone, Copy)]
struct CostLimits {
    /// How many terms the sums of `pol` may have altogether, which bounds memory.
    sums: usize,
    /// How many terms unit propagation may visit, which bounds time.
    visits: u64,
}

/// A few hundred megabytes, and about a minute.
const LIMITS: CostLimits = CostLimits {
    sums: 10_000_000,
    visits: 10_000_000_000,
};

/// Checks a proof against the text of its problem.
///
/// # Errors
///
/// The problem or the proof cannot be read, a step does not follow, or checking costs too much: the sums of `pol` have
/// more than 10,000,000 terms, or unit propagation visits more than 10,000,000,000.
pub fn check(problem_text: &str, proof: &str) -> Result<Verified, CheckError> {
    check_within(LIMITS, problem_text, proof)
}

fn check_within(
    limits: CostLimits,
    problem_text: &str,
    proof: &str,
) -> Result<Verified, CheckError> {
    let mut names = Names::default();
    let constraints = problem(problem_text, &mut names)?;
    let mut replay = Replay {
        problem: constraints.len(),
        database: Database::default(),
        names,
        state: State::Begun,
        limits,
        sums: 0,
    };
    for constraint in constraints {
        replay.database.add(constraint);
    }
    let error = |number: usize, message: String| CheckError {
        file: "proof",
        place: "step",
        number,
        message,
    };
    let Some((header, rest)) = proof.split_once('\n') else {
        return Err(error(1, "it ends after the header".to_owned()));
    };
    if header.trim_end() != "pseudo-Boolean proof version 3.0" {
        let message = "it does not begin with `pseudo-Boolean proof version 3.0`";
        return Err(error(1, message.to_owned()));
    }
    let mut steps = rest.split(';').enumerate().peekable();
    while let Some((at, step)) = steps.next() {
        let words: Vec<&str> = step.split_whitespace().collect();
        if steps.peek().is_none() {
            if !words.is_empty() {
                return Err(error(at + 2, "a step ends with `;`".to_owned()));
            }
            break;
        }
        replay
            .step(&words)
            .map_err(|message| error(at + 2, message))?;
    }
    match replay.state {
        State::Ended(conclusion) => Ok(Verified {
            conclusion,
            problem_count: replay.problem,
            derived_count: replay.database.count() - replay.problem,
        }),
        _ => Err(error(1, "it does not end with a conclusion".to_owned())),
    }
}

struct Replay {
    /// How many inequalities the problem has.
    problem: usize,
    database: Database,
    names: Names,
    state: State,
    limits: CostLimits,
    /// How many terms the sums of `pol` have altogether.
    sums: usize,
}

impl Replay {
    fn step(&mut self, words: &[&str]) -> Result<(), String> {
        let [rule, arguments @ ..] = words else {
            return Err("the step is empty".to_owned());
        };
        self.state = match (*rule, self.state) {
            ("f", State::Begun) => {
                if arguments != [self.problem.to_string()] {
                    return Err(format!("the problem has {} inequalities", self.problem));
                }
                State::Deriving
            }
            ("rup", State::Deriving) => {
                self.rup(arguments)?;
                State::Deriving
            }
            ("pol", State::Deriving) => {
                let derived = self.pol(arguments)?;
                self.database.add(derived);
                State::Deriving
            }
            ("output", State::Deriving) if arguments == ["NONE"] => State::Output,
            ("conclusion", State::Output) => State::Concluded(self.conclude(arguments)?),
            ("end", State::Concluded(conclusion)) if arguments == ["pseudo-Boolean", "proof"] => {
                State::Ended(conclusion)
            }
            _ => {
                return Err(format!(
                    "`{}` is no rule, or is not allowed here",
                    shown(rule)
                ));
            }
        };
        Ok(())
    }

    fn rup(&mut self, arguments: &[&str]) -> Result<(), String> {
        let mut parts = arguments.splitn(2, |word| *word == ":");
        let constraint = parts.next().unwrap_or_default();
        let constraint = self.names.constraint(constraint, false)?;
        let numbers = match parts.next() {
            Some(words) => {
                let numbers: Result<Vec<usize>, String> = words
                    .iter()
                    .map(|word| numbered(&self.database, word))
                    .collect();
                Some(numbers?)
            }
            None => None,
        };
        if !self.database.follows(&constraint, numbers.as_deref()) {
            return Err("the inequality does not follow by unit propagation".to_owned());
        }
        if self.database.visits() > self.limits.visits {
            let limit = self.limits.visits;
            return Err(format!(
                "checking takes too long: unit propagation visits more than {limit} terms"
            ));
        }
        self.database.add(constraint);
        Ok(())
    }

    /// The inequality that a sequence in reverse Polish notation derives.
    fn pol(&mut self, words: &[&str]) -> Result<Constraint, String> {
        // Naming an inequality does not copy it.
        let mut stack: Vec<Cow<'_, Constraint>> = Vec::new();
        for word in words {
            if *word == "+" {
                let (Some(one), Some(other)) = (stack.pop(), stack.pop()) else {
                    return Err("`+` needs two inequalities".to_owned());
                };
                let sum = one.plus(&other);
                let sum = sum.ok_or_else(|| "its numbers become too large".to_owned())?;
                self.sums += sum.terms.len();
                if self.sums > self.limits.sums {
                    let limit = self.limits.sums;
                    return Err(format!(
                        "checking takes too much memory: the sums of `pol` have more than {limit} terms"
                    ));
                }
                stack.push(Cow::Owned(sum));
            } else {
                let number = numbered(&self.database, word)?;
                stack.extend(self.database.get(number).map(Cow::Borrowed));
            }
        }
        match (stack.pop(), stack.pop()) {
            (Some(derived), None) => Ok(derived.into_owned()),
            _ => Err("it does not derive one inequality".to_owned()),
        }
    }

    fn conclude(&mut self, arguments: &[&str]) -> Result<Conclusion, String> {
        match arguments {
            ["UNSAT", ":", number] => {
                let number = numbered(&self.database, number)?;
                let constraint = self.database.get(number);
                if constraint.is_some_and(Constraint::is_contradiction) {
                    Ok(Conclusion::Unsatisfiable)
                } else {
                    Err(format!("the inequality {number} is no contradiction"))
                }
            }
            ["SAT", ":", literals @ ..] => {
                let mut holding: Vec<Literal> = Vec::with_capacity(literals.len());
                for word in literals {
                    holding.push(self.names.known(word)?);
                }
                holding.sort_unstable();
                if holding
                    .windows(2)
                    .any(|pair| pair[0].variable == pair[1].variable)
                {
                    return Err("a variable has two values".to_owned());
                }
                let holds = |literal: &Literal| holding.binary_search(literal).is_ok();
                for number in 1..=self.problem {
                    let constraint = self.database.get(number).expect("it is of the problem");
                    let sum: i128 = (constraint.terms.iter())
                        .filter(|(_, literal)| holds(literal))
                        .map(|(coefficient, _)| coefficient)
                        .sum();
                    if sum < constraint.degree {
                        return Err(format!("the inequality {number} does not hold"));
                    }
                }
                Ok(Conclusion::Satisfiable)
            }
            _ => Err("the conclusion is neither UNSAT nor SAT".to_owned()),
        }
    }
}

/// The number of an inequality that a word says.
fn numbered(database: &Database, word: &str) -> Result<usize, String> {
    let number = word.parse().ok();
    number
        .filter(|number| database.get(*number).is_some())
        .ok_or_else(|| format!("`{}` is no number of an inequality", shown(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: &str = "1 x1 1 x2 1 x3 >= 1 ;\n1 ~x1 >= 1 ;\n1 ~x2 >= 1 ;\n1 ~x3 >= 1 ;\n";

    fn replay(limits: CostLimits, steps: &str) -> Result<Verified, String> {
        let proof = format!(
            "pseudo-Boolean proof version 3.0\nf 4;\n{steps}rup >= 1 : 1 2 3 4;\noutput NONE;\n\
             conclusion UNSAT : {};\nend pseudo-Boolean proof;\n",
            5 + steps.matches(';').count()
        );
        let checked = check_within(limits, PROBLEM, &proof);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn sums_may_not_take_more_memory_than_a_limit() {
        let limits = CostLimits { sums: 7, ..LIMITS };
        assert!(replay(limits, "pol 1 1 +;\npol 1 1 +;\n").is_ok());
        for steps in [
            "pol 1 1 +;\npol 1 1 +;\npol 1 1 +;\n",
            "pol 1 1 + 1 1 + 1 1 + + +;\n",
        ] {
            let error = replay(limits, steps).expect_err("9 terms are too many");
            let wanted = "too much memory: the sums of `pol` have more than 7 terms";
            assert!(error.ends_with(wanted), "{error}");
        }
    }

    #[test]
    fn naming_an_inequality_takes_no_memory() {
        let limits = CostLimits { sums: 0, ..LIMITS };
        let error = replay(limits, &format!("pol {};\n", "1 ".repeat(1_000)));
        let error = error.expect_err("it leaves a thousand inequalities");
        assert!(
            error.ends_with("it does not derive one inequality"),
            "{error}"
        );
    }

    #[test]
    fn propagation_may_not_take_more_time_than_a_limit() {
        let limits = CostLimits {
            visits: 60,
            ..LIMITS
        };
        assert!(replay(limits, "").is_ok());
        let steps = "rup 1 x1 1 x2 1 x3 >= 1 : 1;\n".repeat(20);
        let error = replay(limits, &steps).expect_err("twenty steps visit many terms");
        let wanted = "too long: unit propagation visits more than 60 terms";
        assert!(error.ends_with(wanted), "{error}");
    }
}
