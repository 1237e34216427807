//! Parses the query parameters of the catalog API.

use pkgres_manifest::Version;
use pkgres_manifest::diagnostic::Escaped;

use crate::http::query::{Query, digits};
use crate::problem::{Problem, ProblemCode};
use crate::registry::{Comparison, VersionTest};

/// The default and the greatest number of releases in a response.
const LIMIT: (usize, usize) = (20, 100);

/// The problem of an invalid parameter.
pub(super) fn invalid_query(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::QueryInvalid, detail)
}

/// Whether a parameter is true. Clients write `True`.
pub(super) fn flag(query: &Query, name: &str) -> bool {
    query
        .get(name)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// A list: a parameter that is repeated, or `in:one,"two, with a comma"`.
pub(super) fn list(query: &Query, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for value in query.all(name) {
        match value.strip_prefix("in:") {
            Some(items) => values.extend(items_of(items)),
            None => values.push(value.to_owned()),
        }
    }
    values
}

/// The items of a list with commas and quotes.
fn items_of(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut is_quoted = false;
    for character in text.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => items.push(String::new()),
            _ => items.last_mut().expect("there is one").push(character),
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// The number of releases or categories that a request is for.
pub(super) fn limit(query: &Query) -> Result<usize, Problem> {
    let Some(text) = query.get("limit") else {
        return Ok(LIMIT.0);
    };
    match digits(text).filter(|number| *number > 0) {
        Some(number) => Ok(usize::try_from(number).unwrap_or(LIMIT.1).min(LIMIT.1)),
        None => Err(invalid_query(format!(
            "`limit` is a number greater than 0, not `{}`",
            Escaped::shortened(text)
        ))),
    }
}

/// The conditions on versions: `ge:1.0.0`, `in:1.0.0,2.0.0`, `latest`, or a version.
pub(super) fn versions(query: &Query) -> Result<Vec<VersionTest>, Problem> {
    query.all("version").map(version).collect()
}

fn version(text: &str) -> Result<VersionTest, Problem> {
    let read = |text: &str| {
        Version::parse(text.trim()).map_err(|error| {
            let error = error.to_string();
            invalid_query(format!("`version` is not one: {}", Escaped::new(&error)))
        })
    };
    if text == "latest" {
        return Ok(VersionTest::Latest);
    }
    let Some((operator, rest)) = text.split_once(':') else {
        return Ok(VersionTest::Compared(Comparison::Equal, read(text)?));
    };
    let comparison = match operator {
        "lt" => Comparison::Less,
        "le" | "lte" => Comparison::AtMost,
        "eq" => Comparison::Equal,
        "ne" | "neq" => Comparison::NotEqual,
        "ge" | "gte" => Comparison::AtLeast,
        "gt" => Comparison::Greater,
        "in" => {
            let versions = items_of(rest);
            let versions = versions.iter().map(|text| read(text));
            return Ok(VersionTest::OneOf(versions.collect::<Result<_, _>>()?));
        }
        _ => {
            let operator = Escaped::shortened(operator);
            return Err(invalid_query(format!(
                "versions are compared by lt, le, eq, ne, ge, gt and in, not `{operator}`"
            )));
        }
    };
    Ok(VersionTest::Compared(comparison, read(rest)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_repeated_or_have_commas() {
        for (text, expected) in [
            ("id=a&id=b", &["a", "b"][..]),
            ("id=in:a,%22b,c%22,d", &["a", "b,c", "d"]),
            ("id=in:a&id=b", &["a", "b"]),
            ("id=in:", &[]),
            ("other=a", &[]),
        ] {
            let query = Query::read_open(text).expect("a query");
            assert_eq!(list(&query, "id"), expected, "{text}");
        }
    }

    #[test]
    fn versions_have_comparisons() {
        let read = |text: &str| {
            let query = Query::read_open(text).expect("a query");
            versions(&query).map_err(|problem| problem.code)
        };
        let version = |text: &str| Version::parse(text).expect("a version");
        let compared = |comparison, text| VersionTest::Compared(comparison, version(text));
        for (text, expected) in [
            ("version=0", compared(Comparison::Equal, "0.0.0")),
            ("version=ge:1.2", compared(Comparison::AtLeast, "1.2.0")),
            ("version=gte:1.2.0", compared(Comparison::AtLeast, "1.2.0")),
            ("version=neq:1", compared(Comparison::NotEqual, "1.0.0")),
            ("version=latest", VersionTest::Latest),
            (
                "version=in:1,2.0.1",
                VersionTest::OneOf(vec![version("1.0.0"), version("2.0.1")]),
            ),
        ] {
            assert_eq!(read(text), Ok(vec![expected]), "{text}");
        }
        for bad in [
            "version=",
            "version=like:1",
            "version=ge:pony",
            "version=in:x",
        ] {
            assert_eq!(read(bad), Err(ProblemCode::QueryInvalid), "{bad}");
        }
    }
}
