//! The grammar of specs.

use crate::diagnostic::Escaped;
use crate::version::Version;

use super::foreign_ranges::range_of_other_systems;
use super::normal_form::normal_form;
use super::set::{VersionSet, least, next_major, next_minor};

/// The size of the longest text of a spec in bytes. A normal form may be a little longer.
pub const MAX_SPEC_BYTES: usize = 4096;

/// The most clauses in a spec. A normal form may have one more.
pub const MAX_SPEC_CLAUSES: usize = 100;

/// The bytes and clauses that a normal form may have above these limits, so that the normal form of every
/// spec can be read.
///
/// A normal form can have two bounds where the spec has one clause, as in `>=1.0.0,<2.0.0` for `1`. Nothing
/// else in it is longer than in the spec: a bound has at most three numbers, the prerelease of a clause, and
/// a few signs.
const MORE_BYTES: usize = 256;
const MORE_CLAUSES: usize = 1;

/// The spec that an empty text means.
pub(super) const UNSPECIFIED: &str = "0";

/// The error for a string that is not a spec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("`{}` is not a spec: {reason}", Escaped::shortened(.text))]
pub struct SpecError {
    /// The text as written.
    pub text: String,
    /// The reason why it is not a spec.
    pub reason: String,
    /// The spec that was probably intended, if there is one.
    pub suggestion: Option<String>,
}

impl SpecError {
    /// Returns the error for a string that is not a range of another ecosystem.
    pub fn new(text: &str, reason: String, suggestion: Option<String>) -> Self {
        Self {
            text: text.to_owned(),
            reason,
            suggestion,
        }
    }

    /// The message with the suggestion, where there is no place for a hint.
    pub fn with_suggestion(&self) -> String {
        match &self.suggestion {
            Some(suggestion) => format!("{self}; write `{suggestion}`"),
            None => self.to_string(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Caret,
    Tilde,
    Compatible,
}

/// Longer operators first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Operator); 10] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("~=", Operator::Compatible),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
    ("^", Operator::Caret),
    ("~", Operator::Tilde),
];

/// The version in a clause. A missing or starred component is `None`, and so are the components after it.
struct Operand {
    major: Option<u64>,
    minor: Option<u64>,
    patch: Option<u64>,
    prerelease: semver::Prerelease,
    has_build: bool,
}

/// Reads the versions that match, and whether a clause names a prerelease.
pub(super) fn parse(text: &str) -> Result<(VersionSet, bool), SpecError> {
    let problem = |reason: String, suggestion: Option<String>| SpecError {
        text: text.to_owned(),
        reason,
        suggestion,
    };
    let too_long = || {
        problem(
            format!(
                "a spec has at most {MAX_SPEC_BYTES} bytes, this one has {}",
                text.len()
            ),
            None,
        )
    };
    if text.len() > MAX_SPEC_BYTES + MORE_BYTES {
        return Err(too_long());
    }
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return parse(UNSPECIFIED);
    }
    let clauses: Vec<&str> = trimmed.split(',').map(without_blanks).collect();
    let count = clauses.len();
    let too_many = || {
        problem(
            format!("a spec has at most {MAX_SPEC_CLAUSES} clauses, this one has {count}"),
            None,
        )
    };
    if count > MAX_SPEC_CLAUSES + MORE_CLAUSES {
        return Err(too_many());
    }
    let all = VersionSet::all();
    let mut set = all.clone();
    let mut names_prerelease = false;
    for clause in clauses {
        if clause.is_empty() {
            return Err(problem(
                "a clause is missing beside a comma".to_owned(),
                suggestion(trimmed),
            ));
        }
        let (operator, operand) =
            read_clause(clause).map_err(|reason| problem(reason, suggestion(trimmed)))?;
        let matching =
            matching(operator, &operand).map_err(|reason| problem(reason, suggestion(trimmed)))?;
        // A clause that excludes a prerelease does not ask for one.
        let is_wanted = operator != Operator::NotEqual && matching != all;
        names_prerelease |= is_wanted && !operand.prerelease.is_empty();
        set = set.intersection(&matching);
    }
    let is_long = text.len() > MAX_SPEC_BYTES;
    if (is_long || count > MAX_SPEC_CLAUSES) && normal_form(&set) != trimmed {
        return Err(if is_long { too_long() } else { too_many() });
    }
    Ok((set, names_prerelease))
}

/// A part of a spec without the spaces and tabs around it. Other white space has no place inside of a spec, because
/// messages show specs as written: a line separator would break a line, or hide what follows.
fn without_blanks(part: &str) -> &str {
    part.trim_matches([' ', '\t'])
}

/// The signs that operators are made of, here and elsewhere.
const SIGNS: &[char] = &['<', '>', '=', '!', '~', '^', '@', '≤', '≥', '≠'];

fn read_clause(clause: &str) -> Result<(Operator, Operand), String> {
    let signs = clause.trim_start_matches(|next| SIGNS.contains(&next) || " \t".contains(next));
    let mut signs = clause[..clause.len() - signs.len()].to_owned();
    signs.retain(|sign| SIGNS.contains(&sign));
    if !signs.is_empty() && !OPERATORS.iter().any(|(symbol, _)| *symbol == signs) {
        let signs = Escaped::shortened(&signs);
        return Err(format!("`{signs}` is not an operator"));
    }
    let (operator, rest) = OPERATORS
        .iter()
        .find_map(|(symbol, operator)| {
            clause
                .strip_prefix(symbol)
                .map(|rest| (*operator, without_blanks(rest)))
        })
        .unwrap_or((Operator::Equal, clause));
    if rest.is_empty() {
        return Err("there is no version after the operator".to_owned());
    }
    Ok((operator, read_operand(rest)?))
}

fn read_operand(text: &str) -> Result<Operand, String> {
    reject_other_notation(text)?;
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (numbers, prerelease) = match text.split_once('-') {
        Some((numbers, prerelease)) => (numbers, Some(prerelease)),
        None => (text, None),
    };
    let mut components: [Option<u64>; 3] = [None; 3];
    let mut starred = false;
    for (count, part) in numbers.split('.').enumerate() {
        if count == 3 {
            return Err("a version has at most three components".to_owned());
        }
        if part == "*" {
            starred = true;
        } else {
            let number = read_number(part)?;
            if starred {
                return Err("a number follows `*`".to_owned());
            }
            components[count] = Some(number);
        }
    }
    if (prerelease.is_some() || build.is_some()) && components[2].is_none() {
        return Err("only a version with three components can be a prerelease or build".to_owned());
    }
    if let Some(build) = build {
        semver::BuildMetadata::new(build)
            .ok()
            .filter(|build| !build.is_empty())
            .ok_or_else(|| format!("`{}` is not build metadata", Escaped::shortened(build)))?;
    }
    let prerelease = match prerelease {
        None => semver::Prerelease::EMPTY,
        Some(prerelease) => semver::Prerelease::new(prerelease)
            .ok()
            .filter(|prerelease| !prerelease.is_empty())
            .ok_or_else(|| format!("`{}` is not a prerelease", Escaped::shortened(prerelease)))?,
    };
    let [major, minor, patch] = components;
    Ok(Operand {
        major,
        minor,
        patch,
        prerelease,
        has_build: build.is_some(),
    })
}

/// Rejects what is a range in other package managers, and says what it is here.
fn reject_other_notation(text: &str) -> Result<(), String> {
    let reason = if text.contains('|') {
        "there is no \"or\" in a spec; write one range that covers both"
    } else if text.contains(" - ") {
        "a range with a hyphen is written as two clauses, `>=` and `<=`"
    } else if text.contains([';', '&']) {
        "clauses are separated with commas"
    } else if text.contains(char::is_whitespace) {
        let text = Escaped::shortened(text);
        return Err(format!(
            "`{text}` contains white space; separate clauses with commas"
        ));
    } else if text.contains(SIGNS) {
        "an operator comes before a version; clauses are separated with commas"
    } else if text.contains(['"', '\'', '`']) {
        "quotation marks are not part of a spec"
    } else if text.contains(['[', ']', '(', ')']) {
        "there are no brackets in a spec"
    } else if text.ends_with('+') {
        "`+` after a version does not mean \"or newer\"; `>=` before it does"
    } else if text.len() > 1 && text.chars().all(|next| next.is_ascii_alphabetic()) {
        return Err(format!("`{}` is not a version", Escaped::shortened(text)));
    } else {
        return Ok(());
    };
    Err(reason.to_owned())
}

fn read_number(part: &str) -> Result<u64, String> {
    if part.is_empty() {
        return Err("a component is missing".to_owned());
    }
    if part.eq_ignore_ascii_case("x") {
        return Err("the wildcard is `*`, not `x`".to_owned());
    }
    let after_v = part.strip_prefix(['v', 'V']);
    if after_v.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err("a version has no `v` before it".to_owned());
    }
    if !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{}` is not a number", Escaped::shortened(part)));
    }
    if part.len() > 1 && part.starts_with('0') {
        return Err(format!("`{}` has a leading zero", Escaped::shortened(part)));
    }
    part.parse()
        .map_err(|_| format!("`{}` is too large", Escaped::shortened(part)))
}

/// The least version of `major.minor.patch`, which is a prerelease; `None` past the greatest number.
fn first_of(major: Option<u64>, minor: u64, patch: u64) -> Option<Version> {
    Version::first_prerelease_from(major?, minor, Some(patch))
}

fn matching(operator: Operator, operand: &Operand) -> Result<VersionSet, String> {
    if operand.has_build && !matches!(operator, Operator::Equal | Operator::NotEqual) {
        return Err("build metadata has no order".to_owned());
    }
    let Some(major) = operand.major else {
        return match operator {
            Operator::Equal | Operator::GreaterOrEqual => {
                Ok(VersionSet::between(Version::ZERO, None))
            }
            _ => Err("only `=`, `==` and `>=` can be followed by `*`".to_owned()),
        };
    };
    let target = Version::with_prerelease(
        major,
        operand.minor.unwrap_or(0),
        operand.patch.unwrap_or(0),
        operand.prerelease.clone(),
    );
    let (minor, patch) = (target.minor(), target.patch());
    // The least version above all versions with the written components of the target.
    let end_of_family = if operand.minor.is_none() {
        next_major(major)
    } else if operand.patch.is_none() {
        next_minor(major, minor)
    } else {
        target.successor()
    };
    let is_short = operand.patch.is_none();
    Ok(match operator {
        Operator::Equal => VersionSet::between(target, end_of_family),
        Operator::NotEqual => {
            let hole_begin = if target.is_prerelease() {
                target
            } else {
                first_of(Some(major), minor, patch).expect("every triple has prereleases")
            };
            VersionSet::between(hole_begin, end_of_family).complement()
        }
        Operator::Greater => match end_of_family {
            None => VersionSet::all().complement(),
            // A short version means `>=` the stable version that follows its family.
            Some(end) if is_short => {
                VersionSet::between(Version::new(end.major(), end.minor(), end.patch()), None)
            }
            Some(end) => VersionSet::between(end, None),
        },
        Operator::GreaterOrEqual => VersionSet::between(target, None),
        Operator::Less => {
            let until = if target.is_prerelease() {
                Some(target)
            } else {
                first_of(Some(major), minor, patch)
            };
            VersionSet::between(least(), until)
        }
        Operator::LessOrEqual => VersionSet::between(least(), end_of_family),
        Operator::Caret => {
            let until = if major > 0 {
                next_major_above(&target)
            } else if minor > 0 {
                next_minor_above(&target)
            } else if target.is_prerelease() {
                first_of(Some(0), 0, patch)
            } else {
                target.successor()
            };
            VersionSet::between(target, until)
        }
        Operator::Tilde => {
            let until = if operand.minor.is_none() {
                next_major_above(&target)
            } else {
                next_minor_above(&target)
            };
            VersionSet::between(target, until)
        }
        Operator::Compatible => {
            let until = if is_short {
                next_major_above(&target)
            } else {
                next_minor_above(&target)
            };
            VersionSet::between(target, until)
        }
    })
}

/// The major version above a target. Above `2.0.0-rc` that is 2.0.0 itself, below which its prereleases do
/// not count: `^2.0.0-rc` is empty, as in the reference implementation.
fn next_major_above(target: &Version) -> Option<Version> {
    if target.is_prerelease() && target.minor() == 0 && target.patch() == 0 {
        first_of(Some(target.major()), 0, 0)
    } else {
        next_major(target.major())
    }
}

/// The minor version above a target, with the same exception as [`next_major_above`].
fn next_minor_above(target: &Version) -> Option<Version> {
    if target.is_prerelease() && target.patch() == 0 {
        first_of(Some(target.major()), target.minor(), 0)
    } else {
        next_minor(target.major(), target.minor())
    }
}

/// The spec that was probably intended.
fn suggestion(text: &str) -> Option<String> {
    let candidate = range_of_other_systems(text)?;
    (candidate != text && parse_without_suggestion(&candidate)).then_some(candidate)
}

fn parse_without_suggestion(text: &str) -> bool {
    text.split(',').map(str::trim).all(|clause| {
        read_clause(clause).is_ok_and(|(operator, operand)| matching(operator, &operand).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_is_wrong_and_what_was_probably_meant() {
        for (text, reason, suggestion) in [
            ("^1.2.x", "the wildcard is `*`, not `x`", Some("^1.2.*")),
            (
                "1.2 - 2.0",
                "a range with a hyphen is written as two clauses, `>=` and `<=`",
                Some(">=1.2,<=2.0"),
            ),
            (
                ">=1 <2",
                "`1 <2` contains white space; separate clauses with commas",
                Some(">=1,<2"),
            ),
            (
                ">=1;<2",
                "clauses are separated with commas",
                Some(">=1,<2"),
            ),
            (
                ">=1<2",
                "an operator comes before a version; clauses are separated with commas",
                Some(">=1,<2"),
            ),
            ("~>1.2", "`~>` is not an operator", Some("~=1.2")),
            ("=>1", "`=>` is not an operator", Some(">=1")),
            ("===1", "`===` is not an operator", Some("==1")),
            ("≥1", "`≥` is not an operator", Some(">=1")),
            ("@1", "`@` is not an operator", Some("1")),
            (">==1", "`>==` is not an operator", None),
            ("latest", "`latest` is not a version", Some("*")),
            ("v1.2", "a version has no `v` before it", Some("1.2")),
            ("1.*.2", "a number follows `*`", Some("1.*")),
            (
                "[1.0,2.0)",
                "there are no brackets in a spec",
                Some(">=1.0,<2.0"),
            ),
            (
                "'1.2'",
                "quotation marks are not part of a spec",
                Some("1.2"),
            ),
            (
                "1.2+",
                "`+` after a version does not mean \"or newer\"; `>=` before it does",
                Some(">=1.2"),
            ),
            (
                "1||2",
                "there is no \"or\" in a spec; write one range that covers both",
                None,
            ),
            ("01", "`01` has a leading zero", Some("1")),
            ("1.2.3.4", "a version has at most three components", None),
            ("1.b", "`b` is not a number", None),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(
                (error.reason.as_str(), error.suggestion.as_deref()),
                (reason, suggestion),
                "{text}"
            );
        }
    }

    #[test]
    fn a_prerelease_that_is_excluded_is_not_asked_for() {
        for (text, names) in [
            ("!=2.0.0-beta", false),
            (">=1,!=2.0.0-beta", false),
            ("2.0.0-beta", true),
            ("!=2.0.0-beta,<2.0.0-rc", true),
        ] {
            assert_eq!(parse(text).expect(text).1, names, "{text}");
        }
    }

    #[test]
    fn inside_of_a_spec_white_space_is_spaces_and_tabs() {
        for blank in [" ", "\t", " \t "] {
            assert!(
                parse(&format!(">={blank}1{blank},{blank}<2")).is_ok(),
                "{blank:?}"
            );
        }
        for other in [
            "\n", "\r", "\u{85}", "\u{a0}", "\u{2028}", "\u{2029}", "\u{3000}",
        ] {
            for text in [">=X1,<2", ">=1X,<2", ">=1,X<2", ">=1,<2,X>0"] {
                let text = text.replace('X', other);
                let error = parse(&text).expect_err(&text);
                assert!(
                    error.reason.ends_with("separate clauses with commas"),
                    "{error}"
                );
            }
            assert!(
                parse(&format!("{other}>=1{other}")).is_ok(),
                "around it is no part of it"
            );
        }
    }
}
