//! Reads the texts of inequalities.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::CheckError;
use crate::constraint::{Constraint, Literal};

/// The numbers of variables, by name.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, usize>);

impl Names {
    /// A literal; `None` if the text is none. Only the problem introduces variables.
    fn literal(&mut self, text: &str, may_be_new: bool) -> Option<Literal> {
        let (is_negated, name) = match text.strip_prefix('~') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && (name.bytes())
                .all(|byte| byte.is_ascii_alphanumeric() || b"_[]{}^-".contains(&byte));
        if !is_name {
            return None;
        }
        let next = self.0.len();
        let variable = match self.0.get(name) {
            Some(known) => *known,
            None if may_be_new => *self.0.entry(name.to_owned()).or_insert(next),
            None => return None,
        };
        Some(Literal {
            variable,
            is_negated,
        })
    }

    /// A literal of a variable of the problem.
    pub(crate) fn known(&mut self, text: &str) -> Result<Literal, String> {
        let literal = self.literal(text, false);
        literal.ok_or_else(|| format!("`{}` is no literal of the problem", shown(text)))
    }

    /// The inequality that words say.
    pub(crate) fn constraint(
        &mut self,
        words: &[&str],
        may_be_new: bool,
    ) -> Result<Constraint, String> {
        let [terms @ .., relation, degree] = words else {
            return Err("an inequality ends with `>=` and a number".to_owned());
        };
        if *relation != ">=" || !terms.len().is_multiple_of(2) {
            return Err("an inequality consists of terms, `>=` and a number".to_owned());
        }
        let mut sum = Vec::with_capacity(terms.len() / 2);
        for term in terms.chunks_exact(2) {
            let literal = self.literal(term[1], may_be_new);
            let literal = literal
                .ok_or_else(|| format!("`{}` is no literal of the problem", shown(term[1])))?;
            sum.push((number(term[0])?, literal));
        }
        let constraint = Constraint::new(sum, number(degree)?);
        constraint.ok_or_else(|| "its numbers are too large".to_owned())
    }
}

/// A number with an optional sign. Its size leaves room for sums.
fn number(text: &str) -> Result<i128, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let parsed = digits.parse::<i64>().ok();
    parsed
        .map(i128::from)
        .ok_or_else(|| format!("`{}` is no number", shown(text)))
}

/// A word of a file in a message: its beginning, without characters that could act on a terminal.
pub(crate) fn shown(word: &str) -> String {
    const CHARACTERS: usize = 40;
    let mut shown = String::new();
    for character in word.chars().take(CHARACTERS) {
        if character.is_ascii_graphic() {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    if word.chars().nth(CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Whether another problem has the inequalities of a problem in their order, but for those with these numbers, from 1.
/// They are compared as they are written.
pub fn leaves_out(problem: &str, numbers: &RangeInclusive<usize>, other: &str) -> bool {
    let kept = (1..).zip(statements(problem));
    let kept = kept.filter(|(number, _)| !numbers.contains(number));
    kept.map(|(_, (_, line))| line)
        .eq(statements(other).map(|(_, line)| line))
}

/// The lines of a problem that state inequalities, with their numbers from 1.
fn statements(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('*'))
}

/// The inequalities of a problem.
pub(crate) fn problem(text: &str, names: &mut Names) -> Result<Vec<Constraint>, CheckError> {
    let mut constraints = Vec::new();
    for (number, line) in statements(text) {
        let error = |message: String| CheckError {
            file: "problem",
            place: "line",
            number,
            message,
        };
        let Some(statement) = line.strip_suffix(';') else {
            return Err(error("an inequality ends with `;`".to_owned()));
        };
        let words: Vec<&str> = statement.split_whitespace().collect();
        constraints.push(names.constraint(&words, true).map_err(error)?);
    }
    Ok(constraints)
}
