//! Replays the steps of a proof.

use crate::CheckError;
use crate::constraint::{Constraint, Literal};
use crate::database::Database;
use crate::parse::{Names, problem};

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
    /// How many inequalities the problem has.
    pub problem: usize,
    /// How many inequalities the proof derives.
    pub derived: usize,
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

/// Checks a proof against the text of its problem.
///
/// # Errors
///
/// The problem or the proof cannot be read, or a step does not follow.
pub fn check(problem_text: &str, proof: &str) -> Result<Verified, CheckError> {
    let mut names = Names::default();
    let constraints = problem(problem_text, &mut names)?;
    let mut replay = Replay {
        problem: constraints.len(),
        database: Database::default(),
        names,
        state: State::Begun,
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
            problem: replay.problem,
            derived: replay.database.count() - replay.problem,
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
            _ => return Err(format!("`{rule}` is no rule, or is not allowed here")),
        };
        Ok(())
    }

    /// The inequality of a number that words say.
    fn numbered(&self, word: &str) -> Result<usize, String> {
        let number = word.parse().ok();
        number
            .filter(|number| self.database.get(*number).is_some())
            .ok_or_else(|| format!("`{word}` is no number of an inequality"))
    }

    fn rup(&mut self, arguments: &[&str]) -> Result<(), String> {
        let mut parts = arguments.splitn(2, |word| *word == ":");
        let constraint = parts.next().unwrap_or_default();
        let constraint = self.names.constraint(constraint, false)?;
        let numbers = match parts.next() {
            Some(words) => {
                let numbers: Result<Vec<usize>, String> =
                    words.iter().map(|word| self.numbered(word)).collect();
                Some(numbers?)
            }
            None => None,
        };
        if !self.database.follows(&constraint, numbers.as_deref()) {
            return Err("the inequality does not follow by unit propagation".to_owned());
        }
        self.database.add(constraint);
        Ok(())
    }

    /// The inequality that a sequence in reverse Polish notation derives.
    fn pol(&self, words: &[&str]) -> Result<Constraint, String> {
        let too_large = || "its numbers become too large".to_owned();
        let mut stack: Vec<Constraint> = Vec::new();
        for word in words {
            if *word == "+" {
                let (Some(one), Some(other)) = (stack.pop(), stack.pop()) else {
                    return Err("`+` needs two inequalities".to_owned());
                };
                stack.push(one.plus(&other).ok_or_else(too_large)?);
            } else {
                let number = self.numbered(word)?;
                stack.extend(self.database.get(number).cloned());
            }
        }
        match (stack.pop(), stack.pop()) {
            (Some(derived), None) => Ok(derived),
            _ => Err("it does not derive one inequality".to_owned()),
        }
    }

    fn conclude(&mut self, arguments: &[&str]) -> Result<Conclusion, String> {
        match arguments {
            ["UNSAT", ":", number] => {
                let number = self.numbered(number)?;
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
