//! Parses the query of a request.

use pkgres_manifest::diagnostic::Escaped;

use crate::problem::{Problem, ProblemCode};

/// The longest value of a parameter, in bytes. A list of the most releases of a page is shorter.
const MAX_VALUE: usize = 10_000;

/// Parses ASCII digits; `None` for any other text. Numbers that are too large become `u64::MAX`.
pub(super) fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// An error for a value that no database takes: they reject patterns of some length, and texts with U+0000.
fn check_value(name: &str, value: &str) -> Result<(), Problem> {
    let name = Escaped::shortened(name);
    let wrong = if value.len() > MAX_VALUE {
        format!(
            "`{name}` has {} bytes, and may have {MAX_VALUE}",
            value.len()
        )
    } else if value.contains('\0') {
        format!("`{name}` has the character U+0000")
    } else {
        return Ok(());
    };
    Err(Problem::new(ProblemCode::QueryInvalid, wrong))
}

/// The parameters of a query, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// A query that may have the `known` parameters, each once.
    pub(crate) fn read(text: &str, known: &[&str]) -> Result<Self, Problem> {
        let wrong = |detail: String| Problem::new(ProblemCode::QueryInvalid, detail);
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            if !known.contains(&name.as_ref()) {
                let known = if known.is_empty() {
                    "there is none here".to_owned()
                } else {
                    format!("there are {}", known.join(", "))
                };
                let name = Escaped::shortened(&name);
                return Err(wrong(format!("`{name}` is no parameter: {known}")));
            }
            check_value(&name, &value)?;
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err(wrong(format!("the parameter `{name}` is repeated")));
            }
            parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(parameters))
    }

    /// A query that may have any parameters, any number of times.
    pub(crate) fn read_open(text: &str) -> Result<Self, Problem> {
        let mut parameters = Vec::new();
        for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
            check_value(&name, &value)?;
            parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(parameters))
    }

    /// An error unless all parameters are `known`.
    pub(crate) fn require_known(&self, known: &[&str]) -> Result<(), Problem> {
        let mut names = self.0.iter().map(|(name, _)| name.as_str());
        match names.find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(unknown) => {
                let unknown = Escaped::shortened(unknown);
                let detail = format!(
                    "`{unknown}` is no parameter: there are {}",
                    known.join(", ")
                );
                Err(Problem::new(ProblemCode::QueryInvalid, detail))
            }
        }
    }

    /// All values of a parameter.
    pub(crate) fn all<'query>(&'query self, name: &str) -> impl Iterator<Item = &'query str> {
        let parameters = self.0.iter().filter(move |(known, _)| known == name);
        parameters.map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut parameters = self.0.iter();
        let (_, value) = parameters.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// A parameter that is a number between bounds.
    pub(crate) fn number(
        &self,
        name: &str,
        default: u64,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, Problem> {
        let Some(text) = self.get(name) else {
            return Ok(default);
        };
        let number = digits(text).filter(|number| bounds.contains(number));
        number.ok_or_else(|| {
            let (least, most) = bounds.into_inner();
            let detail = format!(
                "`{name}` is a number from {least} to {most}, not `{}`",
                Escaped::shortened(text)
            );
            Problem::new(ProblemCode::QueryInvalid, detail)
        })
    }

    /// A parameter that is `true` or `false`; false if it is missing.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => {
                let detail = format!(
                    "`{name}` is true or false, not `{}`",
                    Escaped::shortened(other)
                );
                Err(Problem::new(ProblemCode::QueryInvalid, detail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_and_unique() {
        let query = Query::read("since=4&limit=%31%30", &["since", "limit"]).expect("a query");
        assert_eq!(query.number("since", 0, 0..=9), Ok(4));
        assert_eq!(query.number("limit", 1000, 1..=10), Ok(10));
        assert_eq!(query.number("other", 7, 1..=10), Ok(7));
        for bad in [
            "since=1&since=1",
            "page=1",
            "since",
            "since=",
            "since=-1",
            "since=+1",
            "since=99",
        ] {
            let read = Query::read(bad, &["since"]);
            let number = read.and_then(|query| query.number("since", 0, 0..=9));
            assert_eq!(
                number.map_err(|problem| problem.code),
                Err(ProblemCode::QueryInvalid),
                "{bad}"
            );
        }
    }

    #[test]
    fn values_can_be_looked_up_in_a_database() {
        let long = format!("q={}", "a".repeat(MAX_VALUE + 1));
        for bad in ["q=a%00b", &long] {
            for read in [Query::read(bad, &["q"]), Query::read_open(bad)] {
                let code = read.map_err(|problem| problem.code);
                assert_eq!(code, Err(ProblemCode::QueryInvalid));
            }
        }
    }
}
